$x = [1, 2].inject |$a, $b| { $a + $b }
