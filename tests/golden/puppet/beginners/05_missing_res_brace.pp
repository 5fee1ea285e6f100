class a {
  file { '/a':
    ensure => file,

  service { 'x': ensure => running }
}
