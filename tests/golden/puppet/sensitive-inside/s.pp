exec { 'a': command => '/bin/true', environment => Sensitive(["PW=tOpSeCrEt1"]) }
exec { 'b': command => Sensitive("/bin/echo tOpSeCrEt2") }
notify { 'c': message => Sensitive({'k' => ['tOpSeCrEt3', 'tOp']}) }
