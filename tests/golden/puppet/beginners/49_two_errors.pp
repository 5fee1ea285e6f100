file { '/a' ensure => file }
notice('ok')
service { 'b': ensure = running }
if true { notice('x') else { notice('y') }
