class web(Integer $port = 80, Hash $options = { 'a' => [1, 2] }) {
  file { '/etc/web[1]': content => "${port}\n", mode => '0644' }
}
