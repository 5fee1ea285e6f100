$s = "a\u{1F600}\n$x ${x} ${x[1]['k']} ${$x} ${facts.size} $$ \${no} ${if true { 'y' } else { "n${1}" }}"
$t = regsubst($s, '(a)(?<n>b)?', '\1-\2', 'GI').split(/[,\s]+/).join('-').upcase.capitalize
notify { $t: message => [strftime(Timestamp(0), '%Y-%m-%d %H:%M:%S.%L'), versioncmp('1.0', '2'), shellquote('a b'), md5('x'), unique([1, 1.0, '1'])] }
