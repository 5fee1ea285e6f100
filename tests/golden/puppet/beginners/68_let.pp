let $x = 1
