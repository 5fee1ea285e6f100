class b inherits a { }
class a { }
include b
