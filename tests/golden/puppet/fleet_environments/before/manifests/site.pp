node /^web/ {
  file { '/etc/motd': content => "host ${facts['fqdn']}\n", mode => '0644' }
  service { 'nginx': ensure => running }
}
node default {
  file { '/etc/motd': content => "a database\n", mode => '0644' }
}
