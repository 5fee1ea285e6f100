include apche
