Puppet::Functions.create_function(:'v::view', Puppet::Functions::InternalFunction) do
  dispatch(:view) { scope_param }
  def view(scope)
    types = scope.environment.known_resource_types
    [Puppet[:vardir], Puppet[:certname], Puppet.lookup(:current_environment).name.to_s, Puppet.version,
     Puppet::Parser::Files.find_file('v/folder', scope.compiler.environment)[%r{modules/.*}],
     Puppet::Parser::Files.find_file('v/none', scope.compiler.environment).inspect,
     scope.compiler.loaders.private_environment_loader.load(:function, 'v::set').nil?,
     scope.compiler.loaders.private_environment_loader.load(:function, 'v::none').nil?,
     scope.compiler.environment.modules.map(&:name), Puppet::Module.find('v').path[%r{modules/.*}],
     types.hostclass('v').nil?, types.hostclass('none').nil?, types.definition('d').nil?,
     scope.catalog.resource('Notify', 'first').to_s, scope.catalog.resource('Notify', 'first')[:message], scope.catalog.resource('Notify[none]').inspect,
     Puppet::Parser::Functions.function(:v_second).inspect, Puppet::Parser::Functions.function(:v_none).inspect,
     Facter.value(:kernel), Puppet::Pops::Types::TypeParser.singleton.parse('Integer[1, 2]').to_s]
  end
end
