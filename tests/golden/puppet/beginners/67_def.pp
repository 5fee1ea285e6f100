def f($x) {
  $x
}
