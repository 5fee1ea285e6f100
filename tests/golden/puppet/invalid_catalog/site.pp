file { "${facts['here']}/first": content => "x\n" }
file { "${facts['here']}/second": content => "x\n", mode => '999' }
exec { 'foo': }
package { 'a': provider => 'nobody' }
