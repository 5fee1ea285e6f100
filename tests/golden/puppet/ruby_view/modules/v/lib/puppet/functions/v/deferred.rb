Puppet::Functions.create_function(:'v::deferred') do
  def deferred(value) = [value, value.name]
end
