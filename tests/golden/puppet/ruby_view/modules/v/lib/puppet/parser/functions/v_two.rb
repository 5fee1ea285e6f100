module Puppet::Parser::Functions
  newfunction(:v_second, type: :rvalue) { |args| "second #{args.inspect}" }
  newfunction(:v_two, type: :rvalue) { |args| "two #{function_v_second([1])}" }
end
