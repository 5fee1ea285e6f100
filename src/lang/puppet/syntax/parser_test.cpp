#include "lang/puppet/syntax/parser.h"

#include <gtest/gtest.h>

namespace tutti::puppet {
namespace {

struct Parsed {
  Sources sources;
  Arena arena;
  Diagnostics diagnostics;
  Budget budget;
  std::unique_ptr<Program> program;
  explicit Parsed(std::string text, LexMode mode = LexMode::kManifest) {
    program = parse(**sources.add("t.pp", std::move(text)), mode, arena, diagnostics, budget);
  }
  std::string errors() const { return render(diagnostics, sources, DiagnosticStyle::kLine, false); }
};

TEST(PuppetParser, AcceptsEveryConstruct) {
  for (const char* text :
       {"file { '/x': ensure => file, mode => '0644' }",
        "@file { ['/a', '/b']: ; '/c': * => $h }",
        "class a::b(String $x = 'y', Optional[Integer[1, 2]] $z = undef) inherits c { include d, e }",
        "define d($x) { notify { $title: } }",
        "node a.b.c, 'x', /re/, default { }",
        "$a = $b ? { 1 => 2, default => 3, }",
        "[1,2].each |$x| { notice $x }",
        "File <| title == 'x' and mode != 1 |> { owner => 'r' }",
        "File['/x'] -> Service['y'] ~> Exec['z']",
        "function f::g(Integer *$x) >> String { \"${x[0]}\" }",
        "type A = Variant[String, Array[Integer]]",
        "unless $x { } else { }",
        "case $x { 1, 2: { } default: { } }",
        "$s = @(\"END\"/L)\n  a ${b}\n  | END\n",
        "File { mode => '0644' }",
        "File['/x'] { mode => '0644' }",
        "class { 'a': x => 1 }",
        "notice({a => 1}['a'])",
        "$x = -1 - 2 * 3 in [1]",
        "foo(*$x, a => 1)",
        "Integer('1').with |$x| { $x }",
        "include foo",
        "if $a =~ /x/ { notice $1 } elsif $b { } else { }"}) {
    Parsed p(text);
    EXPECT_TRUE(p.program->ok) << text << "\n" << p.errors();
  }
}

TEST(PuppetParser, ReportsAllErrorsOfAFile) {
  Parsed p("file { '/x' ensure => file }\n$ok = 1\nclass A { }\nnotify { 'b': message = 1 }\n");
  EXPECT_GE(p.diagnostics.errors(), 3u) << p.errors();
}

TEST(PuppetParser, RefusesMisplacedConstructs) {
  for (const char* text : {"if true { class c { } }", "function f() { class c { } }", "class v { $x = 1 'idle' 'x' }",
                           "$x::y = 2", "$a = 1 ? { default => 1, default => 2 }", "file { 'a': b +> 1 }", "$Foo = 1",
                           "define d($1) { }", "class ::c { }", "define ::d() { }", "function ::f() { }",
                           "type ::T = Integer", "notify { \"unclosed: }", "$f = |$x| { $x }"}) {
    Parsed p(text);
    EXPECT_FALSE(p.program->ok) << text;
  }
}

TEST(PuppetParser, EppTemplate) {
  Parsed p("<%- | $x | -%>\nHello <%= $x %>\n<% if $x { -%>\nyes\n<% } -%>\n", LexMode::kEpp);
  EXPECT_TRUE(p.program->ok) << p.errors();
  EXPECT_EQ(p.program->params.size(), 1u);
}

TEST(PuppetParser, SemicolonsStandBetweenStatements) {
  EXPECT_EQ(Parsed("$a = 1; $b = 2\nif $a { $c = 1; notice $c }").errors(), "");
  for (const char* text : {"$a = 1;", "; $a = 1", "$a = 1;; $b = 2", "if $a { $b = 1; }", "class c { ; }"})
    EXPECT_NE(Parsed(text).errors().find("syntax error at"), std::string::npos) << text;
}

TEST(PuppetParser, RegularExpressionsAreReadWithTheFile) {
  EXPECT_NE(Parsed("if false { $x =~ /(/ }").errors().find("unmatched"), std::string::npos);
  EXPECT_NE(Parsed("node /[/ { }").errors().find("char-class"), std::string::npos);
}

TEST(PuppetParser, NodesMayStandInClasses) {
  EXPECT_EQ(Parsed("class c { node 'a' { } }").errors(), "");
  EXPECT_NE(Parsed("define d { node 'a' { } }").errors(), "");
}

}  // namespace
}  // namespace tutti::puppet
