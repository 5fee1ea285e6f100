Package['x'] => File['/a']
