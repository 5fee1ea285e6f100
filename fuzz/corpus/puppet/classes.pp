class p($x = 1, Integer *$y) { file { '/a': owner => 'bob', * => {'mode' => '0644'} } File { backup => false } }
class c inherits p { File['/a'] { owner => undef, mode +> '1' } $z = $p::x }
define d(String $n = $title) { notify { default: loglevel => 'debug'; "n-${n}": message => $::x; ['x', 'y']: } }
node /^a(b)/, 'z', default { include c contain p class { 'q': stage => 'main' } d { 'i': n => $1 } }
unless $x { $a = $b = 3 } elsif 1 { } else { case 3 { 1, *[2, 3]: { } default: { fail("x") } } }
