# Called by its parent, whoever includes it: assert_private() lets it pass.
class m::config inherits m {
  assert_private()
  notify { "${title}, called by '${caller_module_name}'": }
}
