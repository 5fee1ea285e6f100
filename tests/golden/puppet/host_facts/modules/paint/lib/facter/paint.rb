puts 'what a fact prints is not its value'
Facter.add(:paint) { { 'name' => 'red' } }
Facter.add('brush') { 3 }
%w[a b].each { |x| Facter.add("can_#{x}") { x } }
