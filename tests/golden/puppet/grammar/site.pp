file { '/x':, ensure => file }
@notify { 'collected': message => 'm' }
Notify <| 'message' == 'm' |>
$words = 1 ? { 1 => 'x y', default => 'z' }.split(' ')
file { default: ensure => file, mode => '0644'; '/q': source => '/x', mode => '0600' }
notify { 'words': message => [$words, epp('m/x.pl'), epp('m/one', { x => 1, y => undef }), inline_epp('<%- | $x | -%>v=<%= $x %>', { x => 1, y => undef })] }
service { 'httpd': alias => 'web' }
File['/q'] ~> Service['web']
package { ['a', 'b']: before => [File['/q'], File['/x']] }
$list = [File['/q'], File['/x']]
package { 'c': before => $list }
package { 'd': before => $list }
service { 's': }
Package['a'] -> Service['s']
Package['c'] -> Service['s']
type Small = Integer[1, 2]
type Smalls = Array[Small]
type Tree = Array[Variant[Small, Tree]]
notify { 'types':
  message => [
    case Integer { Integer: { 'type' } default: { 'none' } },
    case 5 { Integer: { 'number' } default: { 'none' } },
    Integer ? { Type[Integer] => 'type of types', default => 'none' },
    "${Smalls} ${Array[Smalls]} ${Tree}",
  ],
}
