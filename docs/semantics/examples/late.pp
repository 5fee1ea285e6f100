class a { $v = 1 }
class p($q) inherits a { notify { 'p': message => [$q, $v] } }
class { 'p': q => 2 }
