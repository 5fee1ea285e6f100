module Puppet::Parser::Functions
  newfunction(:old_set) { |_| setvar('newvar', 5) }
end
