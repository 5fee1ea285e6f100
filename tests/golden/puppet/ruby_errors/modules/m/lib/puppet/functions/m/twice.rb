Puppet::Functions.create_function(:'m::twice') do
  dispatch :twice do
    param 'String', :text
  end

  def twice(text)
    text * 2
  end
end
