# Another one than the function of that name in the old interface, which the program knows.
Puppet::Functions.create_function(:has_ip_address) do
  dispatch(:deprecated) { repeated_param 'Any', :args }
  def deprecated(*args) = "the newer one: #{args.inspect}"
end
