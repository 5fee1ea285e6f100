# Not the type of that name that the program knows: it has other attributes.
Puppet::Type.newtype(:sysctl) do
  ensurable
  newparam(:name, namevar: true)
  newproperty(:goal) { newvalues(/\A\d+\z/) }
end
