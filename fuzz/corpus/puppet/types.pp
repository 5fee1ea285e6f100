type A = Variant[Integer[1, 5], Array[A, 0, 2], Struct[{Optional['k'] => String[1], 'v' => Enum['a', 'b', true]}]]
function f(A $x, Callable[1, 2] *$r) >> Optional[Type[String]] { if $x =~ Tuple[Integer, 1, 3] { return(undef) } type($x) }
$r = [1, [2], {'v' => 'a'}].map |$i, $x| { $x ? { A => 1, /a(b+)/ => $1, default => [Pattern[/x/], Integer('0x1f', 16)] } }
notify { "${r[0]} ${r.length} ${$r.map |$y| { "<${y}>" }}": message => @("E"/tn$L) }
  | a ${r} \t \
  |- E
