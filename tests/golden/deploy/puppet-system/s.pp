define tutti::component(String $type, Hash $config = {}, Hash $uses = {}, Array $after = []) {}
define tutti::system(Hash $types = {}, Array $invariants = []) {}

tutti::system { 'shop':
  types      => { 'note' => { 'extends' => 'file', 'config' => { 'path' => { 'default' => '/tmp/none/${name}' } } } },
  invariants => [{ 'at_least' => 1, 'of' => ['a'] }],
}
tutti::component { 'a': type => 'note', config => { 'content' => 'A' } }
