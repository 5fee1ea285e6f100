foreach $x in ['a', 'b'] {
  notify { $x: }
}
notify { 'after': }
