file { '/a':
  ensure: file,
}
