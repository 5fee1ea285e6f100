class a { file { '/x' ensure => file } }
$x = = 3
class b { notify { 'n': } }
$y = [1, 2
