$Foo = 3
notice($Foo)
