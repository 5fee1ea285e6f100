define again($n) { again { "x${n}": n => $n + 1 } }
again { 'x': n => 0 }
