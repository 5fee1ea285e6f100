Puppet::Type.newtype(:rbt) do
  ensurable
  newparam(:name, :namevar => true)
  newparam(:port)
  newproperty(:color)
  def self.title_patterns; [[/(^([^:]*)$)/m, [[:name]]], [/^(.*):(.*)$/, [[:name],[:port]]]]; end
end
