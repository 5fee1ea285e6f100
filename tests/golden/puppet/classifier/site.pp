class role(Integer $port = 80) { notify { "port ${port} in ${datacentre}": } }
class base { notify { 'base': } }
