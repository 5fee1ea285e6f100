$x = splitt('a,b', ',')
