notify { 'x': message => epp('m/self.epp') }
