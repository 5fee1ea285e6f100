module: "x.com"
