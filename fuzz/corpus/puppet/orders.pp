notify { 'a': } -> Notify['b'] <~ [notify { 'b': }, File['/x']] <- Class['main']
file { '/x': require => [Notify['a'], [Notify['b']]], noop => true, audit => all, alias => 'y', before => File['y'] }
