notice("abc)
notice('x')
