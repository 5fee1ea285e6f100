notify {
  'a': message => 'x';
  'b':
    message => 'y',
    require => Notify['a'],
}
class c {
  @notify { ['d',
    'e']: }
  realize(Notify['d'], Notify['e'])
}
class {
  'c':
}
