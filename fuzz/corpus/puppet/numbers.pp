$a = 1 + 2 * 3 - 0x1F / 7 % 3 << 2 >> 1 == -017 and !('a' in ['A'] or 1.5e3 > 2) and [1, 2, 3][-1, 2] != {1 => 2}[1]
notify { 'x': message => sprintf('%05.2f %-3s %x', 1.0, 'a', 255), tag => [String([1, 'a', undef], '%#a'), Timestamp(0), SemVer('1.2.3-a')] }
$b = {'a' => {'b' => [1, 2]}}.dig('a', 'b', 0) + Integer[1, 3].reduce |$m, $x| { $m + $x } + Timespan(3).then |$t| { 1 }
