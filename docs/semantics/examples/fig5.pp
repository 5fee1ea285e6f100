class c ($backupArg = false, $pathArg = "/default", $modeArg = 123) {
  file { "from_class":
    backup => $backupArg, source => $pathArg, mode => $modeArg
  }
}
define d ($backupArg = false, $pathArg = "/default", $modeArg = 123) {
  file { "from_define":
    backup => $backupArg, source => $pathArg, path => $path, mode => $modeArg
  }
}
node default {
  $backup = true
  $path = "/path"
  class { 'c': backupArg => $backup }
  d { "service3": backupArg => $backup }
}
