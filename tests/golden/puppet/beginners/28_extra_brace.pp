file { '/a': ensure => file } }
notice('x')
