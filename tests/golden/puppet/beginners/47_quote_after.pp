notice('it's')
