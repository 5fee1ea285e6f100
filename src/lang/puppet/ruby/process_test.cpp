#include "lang/puppet/ruby/process.h"

#include <gtest/gtest.h>

namespace tutti::puppet {
namespace {

class Ruby : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!RubyProcess::available()) GTEST_SKIP() << "no ruby here";
  }
  std::string answer(std::string_view line) {
    Result<void> sent = process_.send(line);
    EXPECT_TRUE(sent) << sent.error().message;
    Result<std::string> got = process_.receive();
    EXPECT_TRUE(got) << got.error().message;
    return got.value_or("");
  }
  RubyProcess process_;
};

TEST_F(Ruby, RendersATemplateAndAsksForItsVariables) {
  EXPECT_EQ(answer(R"({"op":"inline","text":"<% @hosts.each do |h| -%>\n<%= h %>;\n<% end -%>\n"})"),
            R"({"ask":"vars","names":["hosts"]})");
  EXPECT_EQ(answer(R"({"value":{"hosts":["a","b"]}})"), R"({"result":"a;\nb;\n"})");
}

// Puppet has these libraries loaded; here each comes with its first use.
TEST_F(Ruby, LibrariesThatPuppetLoadsAreThere) {
  for (auto [code, result] : {std::pair{"[3, 1].to_set.include?(1)", "true"},
                              {"Set.new([1, 1]).size", "1"},
                              {"{'a' => 1}.to_yaml.inspect", "\\\"---\\\\na: 1\\\\n\\\""},
                              {"YAML.load('a: 1')['a']", "1"},
                              {"'a b'.shellescape.size", "4"},
                              {"%w[a b].shelljoin", "a b"},
                              {"Digest::MD5.hexdigest('x')[0, 6]", "9dd4e4"},
                              {"Time.parse('2020-01-01').year", "2020"},
                              {"URI.parse('http://a/b').host", "a"},
                              {"IPAddr.new('10.0.0.1').to_i", "167772161"}})
    EXPECT_EQ(answer(std::string(R"({"op":"inline","text":"<%= )") + code + R"( %>"})"),
              std::string(R"({"result":")") + result + R"("})");
}

TEST_F(Ruby, AsksForVariablesAndFunctionsOfTheScope) {
  EXPECT_EQ(answer(R"({"op":"inline","text":"<%= scope.lookupvar('::a::b') %> <%= scope.function_upcase(['x']) %>"})"),
            R"({"ask":"var","name":"a::b"})");
  EXPECT_EQ(answer(R"({"value":1})"), R"({"ask":"call","name":"upcase","args":["x"]})");
  EXPECT_EQ(answer(R"({"value":"X"})"), R"({"result":"1 X"})");
}

// Gems are left out when Ruby starts, for speed, and come on first use.
TEST_F(Ruby, HasGemsWhenTheyAreNamedOrSearched) {
  EXPECT_EQ(answer(R"({"op":"inline","text":"<%= Gem::Version.new('1.10') > Gem::Version.new('1.9') %>"})"),
            R"({"result":"true"})");
  std::string error = answer(R"({"op":"inline","text":"<% require 'no_such_library' %>"})");
  EXPECT_NE(error.find("no_such_library"), std::string::npos) << error;
  EXPECT_EQ(answer(R"({"op":"inline","text":"<% require 'date' %><%= Date.new(2020, 2, 29) %>"})"),
            R"({"result":"2020-02-29"})");
}

// Variables are reached with @ or through the scope, never by their bare names; what is set is the scope's.
TEST_F(Ruby, ATemplateIsPuppetsWrapper) {
  EXPECT_EQ(answer(R"({"op":"inline","text":"<%= to_s %> <%= __FILE__ %> <%= (x rescue 'none') %>"})"),
            R"({"result":"template[inline] (erb) none"})");
  EXPECT_EQ(answer(R"({"op":"inline","text":"<% scope.setvar('v', 1) %><%= scope['v'] %>"})"),
            R"({"ask":"set","name":"v","value":1})");
  EXPECT_EQ(answer(R"({"value":null})"), R"({"result":"1"})");
}

TEST_F(Ruby, TellsOfAnErrorAndGoesOn) {
  std::string error = answer(R"({"op":"inline","text":"<%= nil.foo %>"})");
  EXPECT_NE(error.find(R"("class":"NoMethodError")"), std::string::npos) << error;
  EXPECT_EQ(answer(R"({"op":"inline","text":"ok"})"), R"({"result":"ok"})");
}

}  // namespace
}  // namespace tutti::puppet
