case 'a' {
  'a' { notice('x') }
  default { notice('y') }
}
