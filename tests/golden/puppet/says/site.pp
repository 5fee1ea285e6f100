define loud { warning("in a define") info("quiet") debug("quiet") alert("al") crit("cr") emerg("em") err("er") }
class foo::bar { notice("in a class") loud { 'x y': } }
node default { notice("in a node") include foo::bar }
notice("top", 3)
package { 'x1': ensure => present, provider => yum }
-> file { "${facts['here']}/dep": content => "x" }
file { "${facts['here']}/indep": content => "x" }
