node /^web/ {
  @@host { $trusted['certname']: ip => "192.0.2.${trusted['hostname'][3]}", tag => 'web' }
}
node default {
  Host <<| tag == 'web' |>>
}
