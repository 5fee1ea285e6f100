file { '/a': ensure => file }
file { '/a': ensure => absent }
