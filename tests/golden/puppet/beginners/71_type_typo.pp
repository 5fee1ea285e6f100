class a(Interger $x = 1) { }
include a
