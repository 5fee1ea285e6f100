define a::d { a::d2 { "${title}-2": } }
