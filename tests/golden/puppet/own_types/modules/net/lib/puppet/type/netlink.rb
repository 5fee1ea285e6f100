require_relative '../../puppet_x/net'
require 'puppet/parameter/boolean'
require 'puppet/type/file/owner'

Puppet::Type.newtype(:netlink) do
  @doc = 'Attributes made in a loop, from classes of Puppet and from another file.'
  feature :fast, 'it is fast'
  newparam(:interface) { isnamevar; munge { |v| v.downcase } }
  newparam(:force, boolean: true, parent: Puppet::Parameter::Boolean)
  newparam(:owner, parent: Puppet::Type::File::Owner) { desc 'whose it is' }
  PuppetX::ATTRIBUTES.each { |name| newproperty(name) }
  autorequire(:file) { ['/etc/net'] }
  validate { raise ArgumentError, 'never reached' }
end
