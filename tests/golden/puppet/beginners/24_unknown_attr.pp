file { '/a': ensrue => file }
