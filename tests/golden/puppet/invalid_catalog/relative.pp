file { "relative": ensure => file }
