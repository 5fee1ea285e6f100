Puppet::Functions.create_function(:'rb::opt') do
  def opt(one, *more) = [one, more].inspect
end
