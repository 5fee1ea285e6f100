file { "${facts['here']}/aud": audit => 'content', notify => Exec['told'] }
exec { 'told': command => '/bin/echo it changed', refreshonly => true, logoutput => true }
exec { 'fails': command => '/bin/false' }
notify { 'one': require => Exec['fails'] }
notify { 'two': require => Exec['fails'] }
file { "${facts['here']}/made": content => "x\n" }
class inner { file { "${facts['here']}/only": content => 'y', noop => true } }
include inner
