class a(Integer $x) { }
class { 'a': x => '80' }
