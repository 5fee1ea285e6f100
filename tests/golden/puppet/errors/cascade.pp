class c {
  $a = { 'x' => 1 'y' => 2 }
  file { '/a': ensure => file mode => '0644', }
  if $a { notice('x') } else if $b { notice('y') }
}
define d($a, $b { }
node { }
class e {
  package { 'x': ensure => present
}
