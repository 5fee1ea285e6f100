file { '/tmp/tutti-c': content => Sensitive('SEKRET-FOUR'), mode => 'zz' }
