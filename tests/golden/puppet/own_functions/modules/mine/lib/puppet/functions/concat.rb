Puppet::Functions.create_function(:concat) do
  def concat(*lists) = "the module's own: #{lists.inspect}"
end
