class a { $v = 1 }
class p($q) inherits a { notify { 'p': message => $q } }
class s { include a }
define d($x) { notify { $title: message => [$x, { 'k' => 2 }['k'], [3, 4][1]] } }
$top = 5
node 'other' { notify { 'never': } }
node default {
  include s
  include a
  class { 'p': q => $::top + $::a::v }
  d { 'i': x => $top ? { 5 => 'five', default => 'else' } }
  file { '/f': owner => 'alice' }
  $f = File['/f']
  file { '/g': owner => $f['owner'] }
  unless false { notify { 'u': } }
  if true and !(false) { notify { 'y': } } else { notify { 'n': } }
}
