class a { a::d { 'x': } }
