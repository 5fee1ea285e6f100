# A system in Puppet: a component is a resource of a define that does nothing itself.
define tutti::component(String $type, Hash $config = {}, Hash $uses = {}, Array $after = []) {}
define tutti::system() {}

tutti::system { 'hello': }

$port = 7902
$root = '/tmp/tutti-four'

tutti::component { 'page':
  type   => 'file',
  config => { 'path' => "${root}/index.html", 'content' => 'Hello.' },
}
tutti::component { 'web':
  type   => 'process',
  uses   => { 'page' => 'page' },
  config => {
    'command' => "python3 -m http.server ${port} --bind 127.0.0.1 --directory ${root}",
    'port'    => $port,
  },
}
