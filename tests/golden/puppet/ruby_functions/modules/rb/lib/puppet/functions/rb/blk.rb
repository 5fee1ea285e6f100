Puppet::Functions.create_function(:'rb::blk') do
  dispatch :doubled do
    param 'Integer', :number
    block_param 'Callable[1, 1]', :block
  end
  def doubled(number) = 2 * yield(number)
end
