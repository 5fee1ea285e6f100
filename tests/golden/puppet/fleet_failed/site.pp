if $facts['fqdn'] == 'b' { fail('not here') } notify { "n-${facts['fqdn']}": }
