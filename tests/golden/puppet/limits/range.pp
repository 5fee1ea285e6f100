Integer[1, 9000000000000000000].each |$i| { notice($i) }
