function m::data($key, $options, $context) {
  if $key == 'lookup_options' { return({ 'm::h' => { 'merge' => 'deep' } }) }
  if $key == 'm::where' { return $context.module_name }
  if $key == 'm::h' { return({ 'a' => "${context.environment_name}" }) }
  $context.not_found()
}
