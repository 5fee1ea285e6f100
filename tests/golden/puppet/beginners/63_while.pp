while true { notify { 'x': } }
