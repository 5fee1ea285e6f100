Puppet::Functions.create_function(:'rb::total') do
  dispatch :total do
    param 'Array[Integer]', :numbers
    optional_block_param 'Callable[1]', :change
  end
  def total(numbers) = numbers.sum { |n| block_given? ? yield(n) : n }
end
