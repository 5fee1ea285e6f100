# one line more, so that every line number changes
node /^web/ {
  file { '/etc/motd': content => "host ${facts['fqdn']}\n", mode => '0444' }
  package { 'nginx': ensure => installed }
  -> service { 'nginx': ensure => running }
}
node default {
  file { '/etc/motd': content => "a database\n", mode => '0644' }
}
