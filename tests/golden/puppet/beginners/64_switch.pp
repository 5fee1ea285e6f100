switch $facts['os'] { 'a': { notify { 'x': } } }
