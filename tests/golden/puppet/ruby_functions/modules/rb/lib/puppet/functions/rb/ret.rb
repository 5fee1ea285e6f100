Puppet::Functions.create_function(:'rb::ret') do
  dispatch :same do
    param 'Any', :value
    return_type 'Integer'
  end
  def same(value) = value
end
