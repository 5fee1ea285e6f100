function m::by_key(Puppet::LookupKey $key, Hash $options, Puppet::LookupContext $context) >> Puppet::LookupValue {
  $context.explain || { "looking for ${key} (${options['prefix']})" }
  if $context.cache_has_key($key) { notice("cached ${key}") $context.cached_value($key) } else {
  case $key {
    'name': { "${options['prefix']} in ${context.environment_name} of ${type($context.module_name)}" }
    'twice': { $context.cache('n', 5); $context.cache_all({ 'a' => 1, 'b' => [2] })
      $context.cached_entries.map |$e| { "${e[0]}=${e[1]}" } }
    'entries': { $context.cached_entries |$k, $v| { notice("${k} is ${v}") } $context.cached_entries |$p| { notice("pair ${p}") } 'e' }
    'inter': { $context.interpolate({ 'x' => "%{facts.fqdn} %{lookup('plain')}", 'y' => ["%{alias('list')}"] }) }
    'raw': { "%{facts.fqdn} stays" }
    'undefined': { undef }
    'nested': { lookup('plain') }
    'circle': { lookup("circle") }
    'file': { [$context.cached_file_data("${facts['here']}/one.txt") |$c| { "<${c.strip}>" }, $context.cached_file_data("${facts['here']}/one.txt")] }
    'list': { ['k'] }
    'h': { { 'from' => 'key', 'key' => 1 } }
    default: { $context.not_found }
  } }
}
