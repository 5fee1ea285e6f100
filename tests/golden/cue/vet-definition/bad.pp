file { '/tmp/tutti-example':
  ensure => file,
  mode   => '644',
}
