Puppet::Functions.create_function(:'v::set') do
  def set(name, value) = closure_scope[name] = value
end
