// What the language means, construct by construct: each line a manifest and the message it must end up with.
#include <gtest/gtest.h>

#include "lang/puppet/testing.h"

namespace tutti::puppet {
namespace {

// The message of notify { 'r': message => EXPRESSION }, or "error".
std::string value_of(const std::string& expression, const std::string& before = "") {
  Compiled c = compile_for_test(before + "\nnotify { 'r': message => " + expression + " }");
  if (!c.ok) return "error";
  for (const auto& [k, v] : c.resources["notify[r]"])
    if (k == "message") return v;
  return "undef";
}

TEST(PuppetLanguage, NumbersAndPrecedence) {
  EXPECT_EQ(value_of("-7 / 2"), "-4");
  EXPECT_EQ(value_of("-7 % 3"), "2");
  EXPECT_EQ(value_of("1 + 2 * 3 - 4"), "3");
  EXPECT_EQ(value_of("1 in [1] == true"), "true");
  EXPECT_EQ(value_of("0x1F + 010"), "39");
  EXPECT_EQ(value_of("1.0 / 3"), "0.3333333333333333");
  EXPECT_EQ(value_of("1 / 0"), "error");
  EXPECT_EQ(value_of("'1' == 1"), "false");
  EXPECT_EQ(value_of("1 == 1.0"), "true");
}

TEST(PuppetLanguage, Strings) {
  EXPECT_EQ(value_of("\"${a[0]}-${a[-1]} $a\"", "$a = ['x', 'y']"), "'x-y [x, y]'");
  EXPECT_EQ(value_of("\"${h['k']['l']}\"", "$h = { 'k' => { 'l' => 1.0e16 } }"), "'1.0e+16'");
  EXPECT_EQ(value_of("'ABC' == 'abc'"), "true");
  EXPECT_EQ(value_of("'b' in 'ABC'"), "true");
  EXPECT_EQ(value_of("$s", "$s = @(\"E\"/L)\n    one ${1 + 1} \\\n    two\n    | - E\n"), "'one 2 two'");
  EXPECT_EQ(value_of("'abc'[1]"), "'b'");
  EXPECT_EQ(value_of("'abc'[1, -1]"), "'bc'");
}

TEST(PuppetLanguage, TimesAndTimeSpans) {
  EXPECT_EQ(value_of("String(Timestamp('2001-02-03', '%Y-%m-%d', 'CET'))"), "'2001-02-02T23:00:00.000000000 UTC'");
  EXPECT_EQ(value_of("String(Timestamp('03/02/2001 5:07 pm', '%d/%m/%Y %I:%M %p'))"),
            "'2001-02-03T17:07:00.000000000 UTC'");
  EXPECT_EQ(value_of("String(Timestamp('2016-08-01T12:30:45.25 EST'))"), "'2016-08-01T17:30:45.250000000 UTC'");
  EXPECT_EQ(value_of("Timestamp('2016-08-01 nowhere')"), "error");
  EXPECT_EQ(value_of("strftime(Timestamp(1500000000.25), '%FT%T%z', 'CET')"), "'2017-07-14T03:40:00+0100'");
  EXPECT_EQ(value_of("[Float(Timestamp('2016-08-01T12:30:45.123 UTC')), Integer(Timestamp(-1.5))]"),
            "[1470054645.123, -2]");
  EXPECT_EQ(value_of("String(Timespan('2:30', '%H:%M'))"), "'0-02:30:00.0'");
  EXPECT_EQ(value_of("String(Timespan({string => '90 s', format => ['%M m', '%S s']}))"), "'0-00:01:30.0'");
  EXPECT_EQ(value_of("Timespan('2:30')"), "error");
  EXPECT_EQ(value_of("Timespan(1, 2, 3)"), "error");
  EXPECT_EQ(value_of("Timespan({hour => 1})"), "error");
  EXPECT_EQ(value_of("[String(Timespan(90), '%d'), String(Timespan(0.25), '%f'), strftime(Timespan(90.5), '%S|%3N')]"),
            "['90', '0.250000', '90|500']");
  EXPECT_EQ(value_of("strftime(Timespan(90), '%Y')"), "error");
  EXPECT_EQ(value_of("[1 < Timestamp(2), Timespan(1.5) > 1, Timespan(1.5) > 1.0, Timespan(7.9) % 5]"),
            "[true, false, true, 2]");
  EXPECT_EQ(value_of("String(Timespan(90) / 4 - 0.5)"), "'0-00:00:22.0'");
  EXPECT_EQ(value_of("compare(Timespan(1), Timestamp(1))"), "error");
  EXPECT_EQ(value_of("Timestamp(2) * 2"), "error");
}

TEST(PuppetLanguage, PartsOfUris) {
  EXPECT_EQ(value_of("$u.nope", "$u = URI('http://h/p')"), "error");
  EXPECT_EQ(value_of("[$u.scheme, $u.userinfo, $u.host, $u.port, $u.path, $u.query, $u.fragment]",
                     "$u = URI('http://u:p@h:8080/p?x=1#f')"),
            "['http', 'u:p', 'h', 8080, '/p', 'x=1', 'f']");
  EXPECT_EQ(value_of("[$u.port, $u.opaque]", "$u = URI('https://h/')"), "[443, undef]");
  EXPECT_EQ(value_of("String(URI({scheme => 'http', host => 'h', path => '/p'}))"), "'http://h/p'");
}

TEST(PuppetLanguage, WhatIsWrongIsSaidInPuppetsWords) {
  auto wrong = [](const std::string& expression) { return compile_for_test("$x = " + expression).errors; };
  auto says = [&](const std::string& expression, const std::string& text) {
    EXPECT_NE(wrong(expression).find(text), std::string::npos) << wrong(expression);
  };
  says("[1] * 2", "the value '[1]' cannot be converted to Numeric");
  says("-{}", "the value '{}' cannot be converted to Numeric");
  says("'a' < 1", "comparison of: String < Integer, is not possible. Caused by 'A String is not comparable");
  says("undef =~ /a/", "left match operand must result in a String value. Got an Undef Value");
  says("'a'['b']", "a substring operation does not accept a String as a character index. Expected an Integer");
  says("Integer('x')", "The string 'x' cannot be converted to Integer");
  says("String([1], '%x')", "illegal format 'x' specified for value of Array type");
  says("\"${true}\"", "`true` is neither a variable nor a call");
}

TEST(PuppetLanguage, CollectionsAndLambdas) {
  EXPECT_EQ(value_of("[1, 2] + [3] << [4]"), "[1, 2, 3, [4]]");
  EXPECT_EQ(value_of("{ 'a' => 1 } + { 'a' => 2, 'b' => 3 }"), "{'a' => 2, 'b' => 3}");
  EXPECT_EQ(value_of("[1, 2, 3].map |$x| { if $x == 2 { next('two') } $x }"), "[1, 'two', 3]");
  EXPECT_EQ(value_of("{ 'a' => 1, 'b' => 2 }.filter |$k, $v| { $v > 1 }"), "{'b' => 2}");
  EXPECT_EQ(value_of("[1, 2, 3].reduce(10) |$m, $x| { $m + $x }"), "16");
  EXPECT_EQ(value_of("[3, 1, 2].any |$x| { $x > 2 }"), "true");
  EXPECT_EQ(value_of("sort([['b'], ['a', 2], ['a', 1], []])"), "[[], ['a', 1], ['a', 2], ['b']]");
  EXPECT_EQ(value_of("sort([undef, undef])"), "[undef, undef]");
  EXPECT_EQ(value_of("sort([1, 'a'])"), "error");
}

TEST(PuppetLanguage, TypesAndConversions) {
  EXPECT_EQ(value_of("[5 =~ Integer[1, 10], 'x' =~ Enum['x', 'y'], [1, 'a'] =~ Tuple[Integer, String], {} =~ Struct[{ "
                     "a => Optional[String] }]]"),
            "[true, true, true, true]");
  EXPECT_EQ(value_of("1 =~ Float"), "false");
  EXPECT_EQ(value_of("Integer('0x1F') + Integer('10', 10)"), "41");
  EXPECT_EQ(value_of("String(255, '%#x')"), "'0xff'");
  EXPECT_EQ(value_of("\"${type([1, 'a'])}\""), "'Tuple[Integer[1, 1], String]'");
  EXPECT_EQ(value_of("\"${Optional[Array[P]]}\"", "type P = Integer[1, 9]"), "'Optional[Array[P]]'");
  EXPECT_EQ(value_of("Array[Integer] < Array[Numeric]"), "true");
  EXPECT_EQ(value_of("Integer('x')"), "error");
}

TEST(PuppetLanguage, MatchVariablesStayInTheirBranch) {
  EXPECT_EQ(value_of("[$r, $1]", "if 'abc' =~ /(b)/ { $r = $1 }"), "['b', undef]");
  EXPECT_EQ(value_of("$r", "case 'x12' { /x(\\d+)/: { $r = $1 } default: { $r = 'no' } }"), "'12'");
}

TEST(PuppetLanguage, FunctionsSeeTopScopeOnly) {
  EXPECT_EQ(value_of("f(1)", "$t = 'top' function f($x) { \"${t}${x}\" }"), "'top1'");
  EXPECT_EQ(value_of("f()", "function f() >> String { return('a') 'b' }"), "'a'");
  EXPECT_EQ(value_of("f('x')", "function f(Integer $x) { $x }"), "error");
}

TEST(PuppetLanguage, AllWrongParametersAtOnce) {
  Compiled c = compile_for_test(
      "class c(Integer $a, Enum['x', 'y'] $b, String $d) { } class { 'c': a => 'no', b => 'z', e => 1 }");
  EXPECT_FALSE(c.ok);
  for (const char* part : {"parameter 'a' expects an Integer value, got String",
                           "parameter 'b' expects a match for Enum['x', 'y'], got 'z'",
                           "expects a value for parameter 'd'", "has no parameter named 'e'"})
    EXPECT_NE(c.errors.find(part), std::string::npos) << part << "\n" << c.errors;
}

TEST(PuppetLanguage, OrderOfEvaluation) {
  Compiled c = compile_for_test(
      "include b, a notify { 'm': } d { 'x': } node default { notify { 'n': } } class a { } class b { notify { 'b': } "
      "} define d { notify { 'd': } }");
  ASSERT_TRUE(c.ok) << c.errors;
  std::vector<std::string> wanted{"Stage[main]",   "Class[Settings]", "Class[Main]", "Class[B]",
                                  "Class[A]",      "Notify[b]",       "Notify[m]",   "D[x]",
                                  "Node[default]", "Notify[n]",       "Notify[d]"};
  EXPECT_EQ(c.order, wanted);
}

TEST(PuppetLanguage, EmptyCollectorsInAChainHandOn) {
  Compiled c = compile_for_test(
      "notify { 'a': } ~> Notify <| tag == 'none' |> ~> File <| title == 'none' |> ~> notify { 'b': }");
  ASSERT_TRUE(c.ok) << c.errors;
  using Attributes = std::vector<std::pair<std::string, std::string>>;
  EXPECT_EQ(c.resources["notify[a]"], (Attributes{{"notify", "['Notify[b]']"}}));
}

TEST(PuppetLanguage, ResultsOfRegexesAndRestParameters) {
  EXPECT_EQ(value_of("[5, 6].map |*$x| { $x }"), "[[0, 5], [1, 6]]");
  EXPECT_EQ(value_of("concat([/a+/], [])"), "['/a+/']");  // the old interface knows no regular expressions
  EXPECT_EQ(value_of("[1, 2].step(2) |$x| { $x }"), "undef");
  EXPECT_EQ(value_of("Integer[4, 1]"), "error");
  EXPECT_EQ(value_of("2.5 % 2"), "error");
  EXPECT_EQ(value_of("try_get_value({'a' => {'b' => [7, 8]}}, 'a/b/1', 0)"), "8");
}

TEST(PuppetLanguage, ScopesOfManyDefinesServeAgain) {
  Compiled c = compile_for_test(
      "define d($n) { $twice = $n * 2 [1].each |$i| { notify { \"${title}-${i}\": message => $twice } } }\n"
      "Integer[1, 50].each |$i| { d { \"d${i}\": n => $i } }");
  ASSERT_TRUE(c.ok) << c.errors;
  for (int n = 1; n <= 50; ++n)
    EXPECT_EQ(c.resources["notify[d" + std::to_string(n) + "-1]"][0].second, std::to_string(2 * n));
}

TEST(PuppetLanguage, BreakEndsSomeIterationsOnly) {
  EXPECT_TRUE(compile_for_test("$x = [1, 2].map |$v| { if $v == 2 { break() } $v }").ok);
  for (const char* name : {"any", "all", "index", "partition", "group_by"}) {
    Compiled c = compile_for_test(std::string("$x = [1, 2].") + name + " |$v| { break() }");
    EXPECT_FALSE(c.ok) << name;
    EXPECT_NE(c.errors.find("break()"), std::string::npos) << c.errors;
  }
  EXPECT_TRUE(compile_for_test("[1].each |$a| { [2].any |$b| { break() } }").ok);  // it is the outer one that ends
}

TEST(PuppetLanguage, SmallThingsThatPuppetHas) {
  Compiled c = compile_for_test(
      "notify { 'd': message => \"${Deferred('f', [1, 'x'])} ${[Deferred('g')]}\" }\n"
      "notify { 's': message => \"${settings::strict} ${settings::storeconfigs}\" }\n"
      "notify { 'e': message => inline_epp('a<%= 1 %> b<%# lost %>') }\n"
      "notify { \"t\\n\": }\n");
  ASSERT_TRUE(c.ok) << c.errors;
  EXPECT_EQ(c.resources["notify[d]"][0].second,
            R"('Deferred({\'name\' => \'f\', \'arguments\' => [1, \'x\']}) [Deferred({\'name\' => \'g\'})]')");
  EXPECT_EQ(c.resources["notify[s]"][0].second, "'warning false'");
  EXPECT_EQ(c.resources["notify[e]"][0].second, "'a1'");
  EXPECT_TRUE(compile_for_test("notify { 'x': tag => \"t\\n\" }").ok);
  EXPECT_FALSE(compile_for_test("notify { 'x': tag => \"t\\n\\n\" }").ok);
}

TEST(PuppetLanguage, TypesAsText) {
  EXPECT_EQ(value_of("\"${[Callable[1], Callable[0, 0], Callable[String, 1], Callable[[1], Float]]}\""),
            "'[Callable[1], Callable[0, 0], Callable[String, 1], Callable[[1], Float]]'");
  EXPECT_EQ(value_of("\"${type(Timestamp('2020-01-01T00:00:00Z'))}\""),
            "'Timestamp[\\'2020-01-01T00:00:00.000000000 UTC\\']'");
  EXPECT_EQ(value_of("\"${Timespan['1-00:00:00', '2-00:00:00']}\""),
            "'Timespan[\\'1-00:00:00.0\\', \\'2-00:00:00.0\\']'");
  EXPECT_EQ(value_of("\"${Resource[Notify['a']]} ${Resource['notify']}\""), "'Notify[\\'a\\'] Notify'");
}

// A word keeps what it begins with; only defines are declared so.
TEST(PuppetLanguage, WordsThatBeginAtTheTop) {
  EXPECT_EQ(value_of("::foo::bar"), "'::foo::bar'");
  EXPECT_EQ(value_of("1", "define d { }\n::d { 'x': }"), "1");
  EXPECT_EQ(value_of("1", "::notify { 'x': }"), "error");
}

// Numbers beyond 64 bits are written out where only their digits are asked for, and refused otherwise.
TEST(PuppetLanguage, NumbersThatDoNotFit) {
  EXPECT_EQ(value_of("sprintf('%+d', 1.0e20)"), "'+100000000000000000000'");
  EXPECT_EQ(value_of("sprintf('%x', 1.0e20)"), "error");
  EXPECT_EQ(value_of("String(1.0e20, '%x')"), "error");
  EXPECT_EQ(value_of("Integer('10', 10, 'yes')"), "error");
  EXPECT_EQ(value_of("Float(1.5, undef)"), "error");
  EXPECT_EQ(value_of("Timespan(10, 'x')"), "error");
}

TEST(PuppetLanguage, WhatACatalogCannotHold) {
  EXPECT_EQ(value_of("1", "notify { 'x': require => Class['main'] }"), "error");
  EXPECT_EQ(value_of("1.0e308 * 10.0"), "error");
}

}  // namespace
}  // namespace tutti::puppet
