notify { 'x': message => Sensitive(Deferred('f', [1, Binary('aGk='), /r/, default])), * => [[1, 2]].convert_to(Hash) }
$h = { 'a' => 1, 'a' => 2, default => 3, Integer => 4 } - ['a'] + { b => undef }
[$p, $q] = [1, 2, 3] { 'k' => $z } = $h
