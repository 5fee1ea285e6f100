function m::digger(Array[Puppet::LookupKey] $keys, Hash $options, Puppet::LookupContext $context) {
  notice("dig ${keys} ${options}")
  case $keys[0] {
    'dug': { if $keys.size > 1 { "the ${keys[-1]}" } else { { 'all' => 'of it' } } }
    'h': { { 'dug' => true, 'deep' => { 'dug' => 2 } } }
    default: { $context.not_found() }
  }
}
