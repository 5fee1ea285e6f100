// Hostile manifests end with an error that says why, never with a crash, a hang or all of the memory.
#include <gtest/gtest.h>

#include <string>

#include "lang/puppet/ruby/process.h"
#include "lang/puppet/testing.h"

namespace tutti::puppet {
namespace {

void refused(const std::string& manifest, const char* with, const Limits& limits = {}) {
  CompileOptions options;
  options.limits = limits;
  Compiled c = compile_for_test(manifest, options);
  EXPECT_FALSE(c.ok) << manifest.substr(0, 200);
  EXPECT_NE(c.errors.find(with), std::string::npos) << c.errors.substr(0, 500);
}

TEST(PuppetLimits, EndlessRecursionOfAFunction) { refused("function f($x) { f($x + 1) } f(1)", "LIMIT"); }
TEST(PuppetLimits, EndlessRecursionOfDefines) {
  refused("define d($n) { d { \"x${n}\": n => $n + 1 } } d { 'x': n => 1 }", "LIMIT-ROUNDS");
}
// Legal, and longer than anybody waits.
TEST(PuppetLimits, EndlessLoops) {
  refused("range(1, 3000).each |$a| { range(1, 3000).each |$b| { range(1, 3000).each |$c| { $x = $a + $b } } }",
          "LIMIT-STEPS");
  Limits fewer;
  fewer.steps = 1'000'000;
  fewer.nodes = 10'000;
  refused("function f($n) { if $n < 60 { f($n + 1) + f($n + 1) } else { 1 } } $x = f(0)", "LIMIT-STEPS", fewer);
  // What one step does to a large value is as long as many.
  const std::string large =
      "$a = range(1, 20000) $h = Hash($a.map |$i| { [\"k${i}\", $i] }) range(1, 40000).each |$i| { ";
  for (const char* step : {"$x = $a.sort", "$x = 0 in $a", "$x = $h + { 'z' => 1 }", "$x = $h == $h", "$x = unique($a)",
                           "$x = $a =~ Array[Integer]", "case $h { Hash[String, Integer]: { } }"})
    refused(large + step + " }", "LIMIT-STEPS", fewer);
  refused("define d() { d { [\"${title}a\", \"${title}b\"]: } } d { 'x': }", "LIMIT-NODES", fewer);
}
TEST(PuppetLimits, GiantRange) {
  Limits fewer;
  fewer.steps = 1'000'000;
  refused("Integer[1, 1000000000000].each |$i| { }", "LIMIT-STEPS", fewer);
  refused("$x = Integer[1, 1000000000000].map |$i| { $i }", "LIMIT", fewer);
  refused("$x = Integer[1, 1000000000000].slice(2)", "LIMIT-MEMORY");
}
// What a round of a loop makes is given back: a loop of half a million strings needs no more than one of a few.
TEST(PuppetLimits, RoundsOfLoopsGiveBackWhatTheyMade) {
  Limits little;
  little.memory = 4 << 20;
  CompileOptions options;
  options.limits = little;
  for (const char* loop : {"Integer[1, 300000].each |$i| { $x = \"${i}aaaaaaaaaaaaaaaaaaaaaaaaaaaa\" }",
                           "Integer[1, 500].each |$i| { Integer[1, 500].each |$j| { $x = [$i, { 'a' => \"${j}\" }] } }",
                           "$none = Integer[1, 100000].filter |$i| { \"${i}\" == \"x${i} and much more of it\" }",
                           "$no = Integer[1, 100000].any |$i| { [$i, $i, $i, $i] == [$i] }"}) {
    Compiled c = compile_for_test(loop, options);
    EXPECT_TRUE(c.ok) << loop << c.errors;
  }
}
// What outlives its round is not given back with it.
TEST(PuppetLimits, RoundsOfLoopsKeepWhatIsHeld) {
  Compiled c = compile_for_test(R"(
    type Small = Integer[0, 9]
    define d($m) { notify { $title: message => $m } }
    $long = ['a', 'b'].filter |$i| { "${i}${i}" == 'aa' }
    [1, 2].each |Small $i| { $x = ["held ${i}"] d { "d${i}": m => $x } }
    [3].each |$i| { $i.each |Small $j| { $y = "${j} made here" [1].each |$k| { notify { "n${k}": message => "${y} ${j}" } } break() } }
    [1, 2].each |$i| { $type = Array[Small] unless [$i] =~ $type { fail("${type}") } }
    notify { 'f': message => $long })");
  ASSERT_TRUE(c.ok) << c.errors;
  EXPECT_EQ(c.resources["notify[d2]"].at(0).second, "['held 2']");
  EXPECT_EQ(c.resources["notify[n1]"].at(0).second, "'0 made here 0'");
  EXPECT_EQ(c.resources["notify[f]"].at(0).second, "['a']");
}
TEST(PuppetLimits, HostileRegularExpression) {
  refused("$s = 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!'\nif $s =~ /^(a+)+$/ { }",
          "PP-LIMIT-REGEX");
}
TEST(PuppetLimits, DeepNesting) {
  std::string open, close;
  for (int n = 0; n < 20'000; ++n) open += '[', close += ']';
  refused("$x = " + open + close, "");
  std::string strings;
  for (int n = 0; n < 400; ++n) strings += "\"${";
  refused("$x = " + strings, "");
}
TEST(PuppetLimits, SelfIncludingTemplate) { refused("$t = '<%= inline_epp($t) %>'\nnotice(inline_epp($t))", "LIMIT"); }
TEST(PuppetLimits, AliasThatIsItself) { refused("type A = B\ntype B = A\nnotice(1 =~ A)", "error"); }
TEST(PuppetLimits, AliasThatHoldsItselfWithoutAContainer) {
  Compiled c = compile_for_test(R"(
    type B = Variant[B, Integer]
    type L = Variant[R, Integer]
    type R = Variant[L, String]
    type O = Optional[O]
    type N = NotUndef[N]
    type V = Variant[V, V]
    type T = Variant[Array[T], Integer]
    $one = [1 =~ B, 'x' =~ B, 1 =~ L, 'x' =~ L, 1 =~ O, undef =~ O, 1 =~ N, 1 =~ V, [[1], 2] =~ T, [['x']] =~ T]
    $two = [B <= Integer, Integer <= B, String <= B, String <= V, Array[Array[Integer]] <= T]
    notify { 'r': message => "${one} ${two}" })");
  ASSERT_TRUE(c.ok) << c.errors;
  ASSERT_EQ(c.resources.count("notify[r]"), 1u);
  EXPECT_EQ(c.resources["notify[r]"].at(0).second,
            "'[true, false, true, true, false, true, false, false, true, false] [true, true, false, false, true]'");
}
TEST(PuppetLimits, ValuesThatDouble) {
  refused("Integer[1, 40].reduce('aaaaaaaaaa') |$m, $i| { \"${m}${m}\" }", "LIMIT-MEMORY");
  refused("Integer[1, 40].reduce([1, 2]) |$m, $i| { $m + $m }", "LIMIT-MEMORY");
  refused("$a = Integer[1, 20].reduce('aaaaaaaaaa') |$m, $i| { \"${m}${m}\" }\n$b = regsubst($a, 'a', $a, 'G')",
          "LIMIT-MEMORY");
}
// What is shared costs nothing to hold, and everything to look at.
TEST(PuppetLimits, ValuesThatHoldTheSameTwice) {
  refused("Integer[1, 60].reduce([1, 2]) |$m, $i| { [$m, $m] }", "LIMIT-MEMORY");
  refused("Integer[1, 60].reduce({ 'a' => 1 }) |$m, $i| { { 'a' => $m, 'b' => $m } }", "LIMIT-MEMORY");
  refused("Integer[1, 60].reduce(Integer) |$m, $i| { Variant[Array[$m], Hash[$m, $m]] }", "LIMIT-MEMORY");
  refused(
      "$v = Integer[1, 19].reduce([1, 2]) |$m, $i| { [$m, $m] }\nclass c(Array[String] $x) { }\nclass { 'c': x => $v }",
      "error");
}
TEST(PuppetLimits, SelfIncludingErbTemplate) {
  if (!RubyProcess::available()) GTEST_SKIP() << "no ruby";
  refused("$t = '<%= scope.function_inline_template([@t]) %>'\nnotice(inline_template($t))", "LIMIT-DEPTH");
  EXPECT_TRUE(compile_for_test("if inline_template('<%= 1 + 1 %>') != '2' { fail('ruby is lost') }").ok);
}
TEST(PuppetLimits, OverflowIsAnError) { refused("$x = 9223372036854775807 + 1", "64-bit"); }

}  // namespace
}  // namespace tutti::puppet
