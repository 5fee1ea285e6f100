Puppet::Functions.create_function(:'v::with_block') do
  dispatch(:given) { param 'Any', :value; block_param 'Callable[1, 1]', :block }
  def given(value) = yield(value)
end
