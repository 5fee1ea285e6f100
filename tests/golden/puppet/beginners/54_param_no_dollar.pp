class a(port = 80) { }
