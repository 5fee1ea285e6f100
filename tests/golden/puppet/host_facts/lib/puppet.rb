# There is no Puppet.
