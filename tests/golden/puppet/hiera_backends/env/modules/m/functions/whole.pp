function m::whole(Hash $options, Puppet::LookupContext $context) >> Hash[String, RichData] {
  notice("whole of ${options['path'][-7,7]}")
  $r = { 'first' => "${options['path'][-7,7]} %{facts.fqdn}", 'list' => [$options['path'][-7,7]], 'h' => { 'file' => $options['path'][-7,7], 'deep' => { $options['path'][-7,7] => 1 } } }
  $r
}
