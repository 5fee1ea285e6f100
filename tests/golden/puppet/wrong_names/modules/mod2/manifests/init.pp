class mod2 { $x = 
}
