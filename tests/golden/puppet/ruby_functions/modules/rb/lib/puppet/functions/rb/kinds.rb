Puppet::Functions.create_function(:'rb::kinds') do
  local_types { type 'Small = Variant[Integer[1, 3], Enum[a]]' }
  dispatch(:small) { param 'Small', :what }
  dispatch(:text) { param 'String', :what }
  dispatch(:list) { param 'Array', :what }
  def small(_) = 'small'
  def text(_) = 'text'
  def list(_) = 'list'
end
