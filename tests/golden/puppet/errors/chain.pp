define inner(Integer $n) { file { "/x${n}": contnet => 'a' } }
define outer { inner { "i-${title}": n => 1 } }
class base { outer { 'o': } }
include base
