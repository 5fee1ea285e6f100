file { "/etc/${facts['networking']['hostname']}.conf": content => "I am ${facts['fqdn']}\nport 80\nprimary web1.example.com\n" }
