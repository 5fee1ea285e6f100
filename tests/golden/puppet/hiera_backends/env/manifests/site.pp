$keys = ['name', 'twice', 'entries', 'inter', 'raw', 'undefined', 'nested', 'list', 'h', 'first', 'dug', 'dug.x.y', 'dug.0', 'h.dug',
  'digs.a.b', 'm::where', 'm::h', 'nothing', 'file']
$keys.each |$k| {
  notify { $k: message => { 'v' => lookup($k, { default_value => 'DEFAULT' }) } }
  notify { "${k} again": message => { 'v' => lookup($k, { default_value => 'DEFAULT' }) } }
}
['hash', 'deep'].each |$m| { notify { "h ${m}": message => { 'v' => lookup('h', { merge => $m }) } } }
notify { 'list unique': message => { 'v' => lookup('list', { merge => 'unique' }) } }
