class a {
  file { '/a': ensure => file }

class b { }
