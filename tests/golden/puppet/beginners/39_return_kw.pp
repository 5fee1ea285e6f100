function f() {
  return 5
}
notice(f())
foreach $x in [1] { }
