module Puppet::Parser::Functions
  newfunction(:old_fn, type: :rvalue, arity: -2) { |args| args.inspect }
end
