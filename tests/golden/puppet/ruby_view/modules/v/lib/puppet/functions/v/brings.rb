Puppet::Functions.create_function(:'v::brings') do
  def brings(name) = call_function('include', name)
end
