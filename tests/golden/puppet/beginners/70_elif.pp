if $facts['a'] { notify { 'x': } }
elif $facts['b'] { notify { 'y': } }
