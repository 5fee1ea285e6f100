notify { "a": message => "x ${y" }
notify { "b": }
