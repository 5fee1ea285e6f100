class apache($port=1,$mods={}) {}
