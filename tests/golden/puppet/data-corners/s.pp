notice(lookup('nowhere'), lookup('text'), lookup('dup'))
notice("[${lookup('alias')}]")
class r { contain b contain w }
class b { notify { 'b': } }
class w { notify { 'w': } }
include b
include r
@@notify { 'e': }
Notify <| title == 'e' |>
[1, [2]].tree_each |$x| { notice($x) }
