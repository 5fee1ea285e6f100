fil { '/a': ensure => file }
