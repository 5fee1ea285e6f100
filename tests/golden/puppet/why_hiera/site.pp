class web(Integer $port, String $owner = 'root', String $mode = '0644') { }
include web
