# Blocks of Ruby for functions in Ruby and for native ones, one within another.
Puppet::Functions.create_function(:'v::blocks') do
  def blocks(list)
    [call_function('v::with_block', 'x') { |x| "block #{x}" },
     call_function('map', list) { |x| call_function('filter', [x, 2]) { |y| y > 1 } },
     call_function('reduce', list) { |sum, x| sum + x }]
  end
end
