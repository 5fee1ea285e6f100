$a = 'x' ? {
  'x': 1,
  default: 2,
}
