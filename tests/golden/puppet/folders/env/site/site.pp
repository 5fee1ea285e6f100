node default { include web }
