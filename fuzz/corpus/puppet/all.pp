class a(String $x = 'y', Optional[Integer[1, 5]] $z = undef) inherits b { notify { "t ${x} ${z}": } }
class b { $v = [1, 2.5, { 'k' => /re(x)/ }, undef] }
define d($p, *$rest) { notify { $title: message => $p ? { 1 => 'one', /x/ => $1, default => "${p}" } } }
node /web\d+/, default { include a d { ['m', 'n']: p => 1; 'o': * => { p => 2 } } }
function f(Integer *$n) >> Integer { $n.reduce(0) |$m, $i| { $m + $i } }
type T = Variant[Enum['a'], Struct[{ k => Optional[String] }]]
case f(1, 2) { 3, 4: { @notify { 'v': tag => 't' } } default: { } }
Notify <| tag == 't' and title != 'z' |> { message +> 'more' }
Notify { loglevel => 'info' }
unless false { $h = @("END"/L)
  text ${f(1)} \
  | END
}
notify { 'q': } -> notify { 'r': } ~> Notify['q']
