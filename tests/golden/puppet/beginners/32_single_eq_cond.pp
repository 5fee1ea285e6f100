if $facts['x'] = 'y' { notice('a') }
