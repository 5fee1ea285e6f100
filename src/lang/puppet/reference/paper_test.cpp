// The figures of the muPuppet paper, and every row of its Table 1: what Puppet does today, the rows that muPuppet
// leaves out included.
#include <gtest/gtest.h>

#include "lang/puppet/testing.h"

namespace tutti::puppet {
namespace {

using Attributes = std::vector<std::pair<std::string, std::string>>;

constexpr const char* kFigure2 = R"(
node default {
  $source = "/source"
  include service1
}
class service1 {
  $mode = 123
  include service2
  file { "config1":
    path => "path1", source => $source, mode => $mode, checksum => $checksum, provider => $provider, recurse => $recurse
  }
  $checksum = "md5"
}
class service2 inherits service3 {
  $recurse = true
  file { "config2":
    path => "path2", source => $source, mode => $mode, checksum => $checksum, provider => $provider, recurse => $recurse
  }
}
class service3 {
  $provider = posix
  file { "config3": path => "path3", mode => $mode, checksum => $checksum, recurse => $recurse }
}
)";

TEST(MuPuppetPaper, Figure2) {
  Compiled c = compile_for_test(kFigure2);
  ASSERT_TRUE(c.ok) << c.errors;
  EXPECT_EQ(c.resources["file[config3]"], (Attributes{{"path", "'path3'"}}));
  EXPECT_EQ(c.resources["file[config2]"],
            (Attributes{{"path", "'path2'"}, {"source", "'/source'"}, {"provider", "'posix'"}, {"recurse", "true"}}));
  EXPECT_EQ(c.resources["file[config1]"], (Attributes{{"path", "'path1'"}, {"source", "'/source'"}, {"mode", "123"}}));
  EXPECT_FALSE(compile_for_test(kFigure2, {true, {}, "x"}).ok);  // strict, as muPuppet is
}

TEST(MuPuppetPaper, Figure4) {
  const char* manifest = R"(
class ssh::params {
  case $::osfamily {
    "Debian": { $sshd_package = "ssh" }
    "RedHat": { $sshd_package = "openssh-server" }
    default: { fail("SSH class not supported") }
  }
}
class ssh ($ssh_pkg = $::ssh::params::sshd_package) inherits ssh::params {
  package { $ssh_pkg: ensure => installed }
}
node "ssh.example.com" { include ssh }
)";
  Compiled c = compile_for_test(manifest, {true, {{"osfamily", "Debian"}}, "ssh.example.com"});
  ASSERT_TRUE(c.ok) << c.errors;
  EXPECT_EQ(c.resources["package[ssh]"], (Attributes{{"ensure", "'installed'"}}));
  EXPECT_FALSE(compile_for_test(manifest, {true, {{"osfamily", "Plan9"}}, "ssh.example.com"}).ok);
}

TEST(MuPuppetPaper, Figure5) {
  const char* manifest = R"(
class c ($backupArg = false, $pathArg = "/default", $modeArg = 123) {
  file { "from_class": backup => $backupArg, source => $pathArg, path => $path, mode => $modeArg }
}
define d ($backupArg = false, $pathArg = "/default", $modeArg = 123) {
  file { "from_define": backup => $backupArg, source => $pathArg, path => $path, mode => $modeArg }
}
node default {
  $backup = true
  class { c: backupArg => $backup, pathArg => $path }
  d { "service3": backupArg => $backup, pathArg => $path }
  $path = "/path"
}
)";
  Compiled c = compile_for_test(manifest);
  ASSERT_TRUE(c.ok) << c.errors;
  EXPECT_EQ(c.resources["file[from_class]"],
            (Attributes{{"backup", "true"}, {"source", "'/default'"}, {"mode", "123"}}));
  EXPECT_EQ(c.resources["file[from_define]"],
            (Attributes{{"backup", "true"}, {"source", "'/default'"}, {"path", "'/path'"}, {"mode", "123"}}));
}

struct Row {
  const char* name;  // section and row of Table 1
  const char* manifest;
  const char* wanted;  // references with attributes, separated by "; "; "error" when it must be refused
};

// Native resources as text, in the order of their references.
std::string shown(const Compiled& c) {
  if (!c.ok) return "error";
  std::string out;
  for (const auto& [ref, attributes] : c.resources) {
    out += (out.empty() ? "" : "; ") + ref;
    for (const auto& [k, v] : attributes) out += " " + k + "=" + v;
  }
  return out;
}

class Table1 : public testing::TestWithParam<Row> {};

TEST_P(Table1, Row) {
  Compiled c = compile_for_test(GetParam().manifest);
  EXPECT_EQ(shown(c), GetParam().wanted) << c.errors;
}

const Row kRows[] = {
    {"StatementsAssignment", "$x = 1 $y = $x + 1 notify { 'a': message => $y }", "notify[a] message=2"},
    {"StatementsAssignmentTwice", "$x = 1 $x = 2", "error"},
    {"StatementsCase", "case 2 { 1: { notify { 'a': } } 2, 3: { notify { 'b': } } default: { notify { 'c': } } }",
     "notify[b]"},
    {"StatementsIf", "if 1 > 2 { notify { 'a': } } elsif true { notify { 'b': } } else { notify { 'c': } }",
     "notify[b]"},
    {"StatementsIfScope", "if true { $x = 1 } notify { 'a': message => $x }", "notify[a] message=1"},
    {"StatementsUnless", "unless false { notify { 'a': } } else { notify { 'b': } }", "notify[a]"},
    {"StatementsUnlessElsif", "unless true { } elsif true { notify { 'a': } }", "error"},
    {"ResourcesBasics", "file { '/a': owner => 'x' }", "file[/a] owner='x'"},
    {"ResourcesDuplicate", "file { '/a': } file { '/a': }", "error"},
    {"ResourcesVariables", "$t = '/a' file { $t: owner => $t }", "file[/a] owner='/a'"},
    {"ResourcesReference", "file { '/a': owner => 'x' } $r = File['/a'] file { '/b': owner => $r['owner'] }",
     "file[/a] owner='x'; file[/b] owner='x'"},
    {"ResourcesDefined", "define d($x = 1) { notify { $title: message => $x } } d { 'a': } d { 'b': x => 2 }",
     "notify[a] message=1; notify[b] message=2"},
    {"ResourcesDefinedLate", "define d { notify { $title: message => $v } } d { 'a': } $v = 5", "notify[a] message=5"},
    {"ResourcesVirtual", "@notify { 'a': } @notify { 'b': } realize(Notify['b'])", "notify[b]"},
    {"ResourcesVirtualBeforeDeclared", "realize(Notify['a']) @notify { 'a': }", "notify[a]"},
    {"ResourcesDefaultValues", "Notify { message => 'd' } notify { 'a': } notify { 'b': message => 'own' }",
     "notify[a] message='d'; notify[b] message='own'"},
    {"ResourcesExtension", "class c { file { '/a': owner => 'x' } File['/a'] { mode => '0755' } } include c",
     "file[/a] owner='x' mode='0755'"},
    {"ResourcesExtensionChange", "class c { file { '/a': owner => 'x' } File['/a'] { owner => 'y' } } include c",
     "error"},
    {"ResourcesExtensionMissing", "File['/a'] { owner => 'y' }", "error"},
    {"ResourcesExtensionElsewhere",
     "class c { file { '/a': } } class e { File['/a'] { owner => 'y' } } include c include e", "error"},
    {"ResourcesOrdering", "notify { 'a': require => Notify['b'] } notify { 'b': }",
     "notify[a] require=Notify['b']; notify[b]"},
    {"ResourcesOrderingArrow", "notify { 'a': } -> notify { 'b': }", "notify[a] before=['Notify[b]']; notify[b]"},
    {"ClassesBasics", "class c { notify { 'a': } } include c include c", "notify[a]"},
    {"ClassesBeforeDefinition", "include c class c { notify { 'a': } }", "notify[a]"},
    {"ClassesNotDeclared", "class c { notify { 'a': } }", ""},
    {"ClassesUnknown", "include nosuch", "error"},
    {"ClassesInheritance",
     "class p { $x = 1 notify { 'p': } } class c inherits p { notify { 'c': message => $x } } include c",
     "notify[c] message=1; notify[p]"},
    {"ClassesInheritanceCycle", "class a inherits b { } class b inherits a { } include a", "error"},
    {"ClassesScope", "class a { $x = 1 include b } class b { notify { 'b': message => $x } } include a", "notify[b]"},
    {"ClassesScopeNode", "class b { notify { 'b': message => $x } } node default { $x = 1 include b }",
     "notify[b] message=1"},
    {"ClassesVariables", "class a { $x = 1 } include a notify { 'n': message => $a::x }", "notify[n] message=1"},
    {"ClassesVariablesTop", "$x = 1 class a { $x = 2 notify { 'n': message => [$x, $::x] } } include a",
     "notify[n] message=[2, 1]"},
    {"ClassesParameters", "class a($x = 1) { notify { 'n': message => $x } } class { 'a': x => 2 }",
     "notify[n] message=2"},
    {"ClassesParametersIncludeAfter",
     "class a($x = 1) { notify { 'n': message => $x } } class { 'a': x => 2 } include a", "notify[n] message=2"},
    {"ClassesParametersTwice", "class a($x = 1) { } class { 'a': } class { 'a': }", "error"},
    {"ClassesParametersAfterInclude", "class a($x = 1) { } include a class { 'a': x => 2 }", "error"},
    {"ClassesParametersMissing", "class a($x) { } include a", "error"},
    {"ClassesOverriding",
     "class p { file { '/a': owner => 'bob', mode => '1' } } class c inherits p { File['/a'] { owner => 'alice', mode "
     "=> undef } } include c",
     "file[/a] owner='alice'"},
    {"ClassesOverridingAdd",
     "class p { file { '/a': tag => 'x' } } class c inherits p { File['/a'] { tag +> 'y' } } include c",
     "file[/a] tag=['x', 'y']"},
    {"ClassesOverridingNotChild",
     "class p { file { '/a': owner => 'bob' } } class c { include p File['/a'] { owner => 'alice' } } include c",
     "error"},
    {"ClassesNesting", "class a { class b { notify { 'b': } } } include a::b", "notify[b]"},
    {"ClassesRedefinition", "class a { class b { } } class a::b { } include a", "error"},
    {"NodesDefault", "node default { notify { 'd': } } node 'other' { notify { 'o': } }", "notify[d]"},
    {"NodesName", "node default { notify { 'd': } } node 'test.example.com' { notify { 't': } }", "notify[t]"},
    {"NodesList", "node 'a', 'test.example.com' { notify { 't': } }", "notify[t]"},
    {"NodesPattern", "node /^test/ { notify { 'p': } } node default { notify { 'd': } }", "notify[p]"},
    {"NodesNone", "node 'other' { }", "error"},
    {"NodesTwice", "node 'a' { } node 'a' { }", "error"},
    {"NodesAfterTop", "node default { $n = $x notify { 'd': message => $n } } $x = 3", "notify[d] message=3"},
    {"CollectorsBasics", "@notify { 'a': tag => 't' } @notify { 'b': } Notify <| tag == 't' |>", "notify[a] tag='t'"},
    {"CollectorsOverride", "notify { 'a': message => 'm' } Notify <| title == 'a' |> { message => 'n' }",
     "notify[a] message='n'"},
    {"CollectorsReferences",
     "notify { 'a': message => 'm' } Notify <| title == 'a' |> { message => 'n' } notify { 'b': message => "
     "Notify['a']['message'] }",
     "notify[a] message='n'; notify[b] message='m'"},
    {"CollectorsVariables", "$t = 'a' @notify { 'a': } Notify <| title == $t |>", "notify[a]"},
    {"CollectorsOrderLastWins", "notify { 'a': } Notify <| |> { message => '1' } Notify <| |> { message => '2' }",
     "notify[a] message='2'"},
    {"CollectorsOrderDefine", "define d($x) { notify { $title: message => $x } } d { 'a': x => 1 } D <| |> { x => 2 }",
     "notify[a] message=2"},
};

INSTANTIATE_TEST_SUITE_P(MuPuppet, Table1, testing::ValuesIn(kRows),
                         [](const auto& i) { return std::string(i.param.name); });

}  // namespace
}  // namespace tutti::puppet
