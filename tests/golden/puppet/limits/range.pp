$all = Integer[1, 1000000000000].map |$i| { $i }
