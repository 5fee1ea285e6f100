class paint { notice(template("paint/x.erb")) }
