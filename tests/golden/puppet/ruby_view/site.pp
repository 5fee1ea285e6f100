notify { 'first': message => 'm' }
define d($x, $y = 2) { notify { 'of d': message => v::parameters() } }
d { 'q': x => 1 }
class outer { v::brings('v') }
include outer
v::set('set_by_ruby', 5)
$nothing = undef
notify { 'all':
  message => [v::blocks([1, 2, 3]), $set_by_ruby, v_two(), v_second(2), v::view()],
}
notify { 'deferred': message => v::deferred(Deferred('f', [1])) }
notify { 'erb': message => inline_template('<%= scope.call_function("size", "abc") %> <%= scope.call_function("join", [["a", "b"], "-"]) %> <% require "set" -%><%= scope.to_hash.has_key?("nothing") %> <%= scope.to_hash.has_key?("set_by_ruby") %> <%= scope.call_function("v::blocks", [[1]]).inspect %>') }
notify { 'splat': message => inline_template('<%= scope.call_function("join", { "a" => "b" }) %>') }
