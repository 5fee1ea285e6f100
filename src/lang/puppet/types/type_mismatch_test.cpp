// What is wrong with a value or a call, in the words that Puppet 7.23 uses for it.
#include <gtest/gtest.h>

#include "lang/puppet/testing.h"

namespace tutti::puppet {
namespace {

std::string error_of(const std::string& manifest) {
  Compiled c = compile_for_test(manifest);
  EXPECT_FALSE(c.ok) << manifest;
  std::string text = c.errors.substr(c.errors.find("]: ") + 3);  // after the code
  while (text.ends_with('\n')) text.pop_back();
  return text;
}

std::string refused(const std::string& type, const std::string& value) {
  std::string text = error_of("define t(" + type + " $a) { }\nt { 'x': a => " + value + " }");
  return text.substr(0, 6) == "T[x]: " ? text.substr(6) : text;
}

TEST(PuppetMismatch, ValuesOfTheWrongType) {
  for (auto [type, value, wrong] : {
           std::tuple{"Integer[1, 5]", "7", "parameter 'a' expects an Integer[1, 5] value, got Integer[7, 7]"},
           {"Array[Integer, 1]", "[]", "parameter 'a' expects size to be at least 1, got 0"},
           {"Hash[String, Integer]", "{ 'a' => 'b' }", "parameter 'a' entry 'a' expects an Integer value, got String"},
           {"Tuple[Integer, String]", "[1]", "parameter 'a' expects size to be 2, got 1"},
           {"Tuple[Integer, String]", "[1, 2]", "parameter 'a' index 1 expects a String value, got Integer"},
           {"Optional[Enum[a, b]]", "'c'",
            "parameter 'a' expects an undef value or a match for Enum['a', 'b'], got 'c'"},
           {"Variant[Enum[a], Enum[b]]", "'c'", "parameter 'a' expects a match for Enum['a', 'b'], got 'c'"},
           {"Variant[Enum[a], Integer]", "'c'",
            "parameter 'a' expects a match for Variant[Enum['a'], Integer], got 'c'"},
           {"Optional[Variant[Integer, Array[Integer]]]", "'q'",
            "parameter 'a' expects a value of type Undef, Integer, or Array, got String"},
           {"Array[Struct[{ n => Variant[Integer, String] }]]", "[{ n => [] }]",
            "parameter 'a' index 0 entry 'n' expects a value of type Integer or String, got Array"},
           {"Sensitive[String]", "Sensitive(1)",
            "parameter 'a' expects a Sensitive[String] value, got Sensitive[Integer]"},
           {"Type[Integer]", "String", "parameter 'a' expects a Type[Integer] value, got Type[String]"},
       })
    EXPECT_EQ(refused(type, value), wrong) << type << " " << value;
}

TEST(PuppetMismatch, EachAlternativeSaysWhatItMisses) {
  EXPECT_EQ(refused("Variant[Integer, Array[String]]", "[1, 'b']"),
            "  parameter 'a' variant 0 expects an Integer value, got Tuple "
            "  parameter 'a' variant 1 index 0 expects a String value, got Integer");
}

TEST(PuppetMismatch, WhatIsUnknownComesFirst) {
  EXPECT_EQ(error_of("define t(Boolean $a, Integer $b) { }\nt { 'x': a => 1, b => 'c', other => 5 }"),
            "T[x]:   has no parameter named 'other'   parameter 'a' expects a Boolean value, got Integer "
            "  parameter 'b' expects an Integer value, got String");
}

TEST(PuppetMismatch, Calls) {
  for (auto [call, wrong] : {
           std::pair{"[1].each |$a, $b, $c| { }", "'each' block expects between 1 and 2 arguments, got 3"},
           {"[1].reduce |$a| { }", "'reduce' block expects 2 arguments, got 1"},
           {"$x = [1].filter", "'filter' expects a block"},
           {"$x = split('a')", "'split' expects 2 arguments, got 1"},
           {"function f(Integer $x, String *$y) { $x }\nf()", "'f' expects at least 1 argument, got none"},
           {"function f(Integer $x) >> String { $x }\nf(3)",
            "value returned from f has wrong type, expects a String value, got Integer"},
           {"$x = with(1) |$y| >> String { $y }",
            "value returned from lambda has wrong type, expects a String value, got Integer"},
           {"$x = lookup('a', undef, 'hash')",
            "The function 'lookup' was called with arguments it does not accept. It expects one of:"},
       })
    EXPECT_EQ(error_of(call).substr(0, std::string_view(wrong).size()), wrong) << call;
}

}  // namespace
}  // namespace tutti::puppet
