class m::alone {
  notify { "${title}, called by '${caller_module_name}'": }
}
