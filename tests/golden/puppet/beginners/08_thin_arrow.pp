file { '/a':
  ensure -> file,
}
