@notify { 'a': tag => 't' } @@notify { 'b': message => "m${1}" }
Notify <| tag == 't' or (title != 'x' and message == undef) |> { message +> ['n'] } -> notify { 'c': } ~> Notify <<| |>>
realize(Notify['b'])
