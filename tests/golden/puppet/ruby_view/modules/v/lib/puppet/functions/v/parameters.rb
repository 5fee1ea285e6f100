Puppet::Functions.create_function(:'v::parameters', Puppet::Functions::InternalFunction) do
  dispatch(:parameters) { scope_param }
  def parameters(scope) = scope.resource.to_hash.map { |k, v| "#{k}=#{v}" }
end
