#include "lang/puppet/format.h"

#include <gtest/gtest.h>

namespace tutti::puppet {
namespace {

std::string formatted(const std::string& text) {
  Session session;
  auto out = format_manifest(session, **session.sources->add("t.pp", text));
  return out ? *out : "error";
}

TEST(PuppetFormat, IndentsAndAlignsArrows) {
  EXPECT_EQ(
      formatted(
          "class a {\nfile { '/x':\nensure => file,\n  content=> 'y',   \n      # why\n      mode => '0644',\n}\n}\n"),
      "class a {\n  file { '/x':\n    ensure  => file,\n    content => 'y',\n    # why\n    mode    => '0644',\n  "
      "}\n}\n");
}

TEST(PuppetFormat, PutsBlanksWhereTheGuideWantsThem) {
  const std::pair<const char*, const char*> rows[] = {
      {"class   a( $x=1,Integer   $y   = 2 ) inherits   b  {}\n", "class a ($x = 1, Integer $y = 2) inherits b {}\n"},
      {"if $a==1 and ( $b>2 ){ notice( 1 ) }\nelse{\n# why\n}\n",
       "if $a == 1 and ($b > 2) { notice(1) } else {\n  # why\n}\n"},
      {"$x=[ 1,-2 ]\n$y={'a'=>$x[0],'b'=>!$z}\n", "$x = [1, -2]\n$y = { 'a' => $x[0], 'b' => !$z }\n"},
      {"$z=$x.map|$q|{ $q*2 } . filter |$r| {$r}\n", "$z = $x.map |$q| { $q * 2 }.filter |$r| { $r }\n"},
      {"File<|title=='x'|>{mode=>'1'}\n@@ foo{'x':*=>$y}\n",
       "File <| title == 'x' |> { mode => '1' }\n@@foo { 'x': * => $y }\n"},
      {"class b\n{\n}\ncase $a{1,2:{}\ndefault:{}}\n", "class b {\n}\ncase $a { 1, 2: {}\n  default: {} }\n"},
      {"function a::b(Integer $x)>>String{ \"${x}\" }\n", "function a::b(Integer $x) >> String { \"${x}\" }\n"},
      {"$v=$a?{1=>2,default=>3}\n", "$v = $a ? { 1 => 2, default => 3 }\n"},
      {"foo('a',{\nb=>1})\n", "foo('a', {\n  b => 1 })\n"},
      {"$a = $b\n.map |$x| {\n$x\n}\n", "$a = $b\n  .map |$x| {\n    $x\n  }\n"},
  };
  for (const auto& [from, to] : rows) {
    EXPECT_EQ(formatted(from), to);
    EXPECT_EQ(formatted(to), to);
  }
}

TEST(PuppetFormat, GivesAttributesTheirLines) {
  EXPECT_EQ(formatted("file{'/a':ensure=>file,mode=>'0644'}\n"),
            "file { '/a':\n  ensure => file,\n  mode   => '0644',\n}\n");
  EXPECT_EQ(formatted("file{'/a':ensure=>file,mode=>'0644';'/b':ensure=>absent}\n"),
            "file {\n  '/a':\n    ensure => file,\n    mode   => '0644';\n  '/b':\n    ensure => absent,\n}\n");
  EXPECT_EQ(formatted("file { '/a': ensure => file }\n"), "file { '/a': ensure => file }\n");
  EXPECT_EQ(formatted("file { '/a':\n  ensure => file # why\n}\n"), "file { '/a':\n  ensure => file, # why\n}\n");
}

TEST(PuppetFormat, KeepsColumns) {
  for (const char* text : {"class a (\n  Integer          $port = 80,\n  Optional[String] $word = undef,\n) {}\n",
                           "set {\n  'a/b':   value => 1;\n  'a/bcd': value => 2, secret => true;\n}\n"})
    EXPECT_EQ(formatted(text), text);
  EXPECT_EQ(formatted("class a (\n  Enum['x','y'] $a = 1,\n  Integer       $b = 2\n) {}\n"),
            "class a (\n  Enum['x', 'y'] $a = 1,\n  Integer        $b = 2,\n) {}\n");
}

TEST(PuppetFormat, LeavesStringsAndHeredocsAlone) {
  std::string two = "foo(@(A), @(B))\n  a  \n  | A\n b\nB\n$x = 1\n";
  EXPECT_EQ(formatted(two), two);
  EXPECT_EQ(formatted("foo( @(A),1 )\n\tA\nif $x{ }\n"), "foo(@(A), 1)\n\tA\nif $x {}\n");
  std::string text = "$a = \"x\n   y  \n\"\n$b = @(END)\n      text  \n  | END\nnotice $a\n";
  EXPECT_EQ(formatted(text), text);
}

TEST(PuppetFormat, IsIdempotent) {
  for (const char* text : {"if $x {\n notice 1\n} else {\n   notice 2\n}\n\n\n\n$y = [\n1,\n  2,\n]\n",
                           "foo({\n'a' => 1,\n'bcd' => [\n1,\n],\n})\n", "node default {\n\tinclude a, b\n}\n",
                           "$x = $y ? {\n1 => 2,\n default => 3,\n}\n"}) {
    std::string once = formatted(text);
    EXPECT_EQ(formatted(once), once) << text;
  }
}

TEST(PuppetFormat, RefusesWhatDoesNotParse) { EXPECT_EQ(formatted("class {"), "error"); }

}  // namespace
}  // namespace tutti::puppet
