file { '/a': ensure => file, require => package['x'] }
