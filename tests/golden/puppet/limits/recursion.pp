function f($n) { f($n + 1) }
notice(f(1))
