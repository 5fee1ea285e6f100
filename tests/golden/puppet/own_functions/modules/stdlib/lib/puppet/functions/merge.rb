Puppet::Functions.create_function(:merge) do
  dispatch(:merge) { repeated_param 'Hash', :all }
  def merge(*all) = all.reduce({}) { |a, b| a.merge(b) }
end
