file { "/etc/${facts['networking']['hostname']}.conf": content => "I am ${facts['fqdn']}\nport 8080\nprimary db1.example.com\n" }
file { "/srv/${trusted['certname']}": ensure => directory }
file { '/etc/primary': content => "web1.example.com\n" }
