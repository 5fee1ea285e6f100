Puppet::Functions.create_function(:'rb::mis') do
  dispatch(:text) { param 'String', :what }
  argument_mismatch(:no_number) { param 'Integer', :what }
  def text(what) = what
  def no_number(what) = "wants text, not #{what}"
end
