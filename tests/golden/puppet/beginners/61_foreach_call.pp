foreach(['a', 'b']) |$x| { notice($x) }
