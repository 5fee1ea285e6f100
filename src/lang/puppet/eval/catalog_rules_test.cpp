// Rules of catalogs that random manifests (tests/puppet/programs) showed; each answer is that of Puppet 7.23.
#include <gtest/gtest.h>

#include "lang/puppet/testing.h"

namespace tutti::puppet {
namespace {

Compiled made(const std::string& manifest) { return compile_for_test(manifest, {}); }

TEST(CatalogRules, TheTopScopeIsCalledMain) {
  Compiled c = made("notify { \"${title} ${name}\": }");
  ASSERT_TRUE(c.ok) << c.errors;
  EXPECT_TRUE(c.resources.contains("notify[main main]"));
}

TEST(CatalogRules, WhatStaysVirtualIsCheckedToo) {
  EXPECT_NE(made("define d($p) {} @d { 'x': }").errors.find("expects a value for parameter 'p'"), std::string::npos);
  EXPECT_NE(made("define d(Integer $p) {} @d { 'x': p => 'a' }").errors.find("expects an Integer"), std::string::npos);
  EXPECT_TRUE(made("define d(Integer $p = 1) {} @d { 'x': }").ok);
  EXPECT_NE(made("define d(Integer $a = 1) {} d { 'x': } D <| |> { a => 'z' }").errors.find("expects an Integer"),
            std::string::npos);
}

TEST(CatalogRules, QueriesCompareWithSimpleValuesOnly) {
  for (const char* value : {"[1]", "-1", "(if true { 1 })", "default", "{}", "size('a')"})
    EXPECT_FALSE(made(std::string("@user { 'a': uid => 1 } User <| uid == ") + value + " |>").ok) << value;
  EXPECT_TRUE(made("$x = [1] @user { 'a': uid => 1 } User <| uid == $x[0] or uid == (2) |>").ok);
}

TEST(CatalogRules, DefinesHaveAliases) {
  EXPECT_TRUE(made("define d() {} d { 'a': alias => 'q' } notify { 'b': require => D['q'] }").ok);
  EXPECT_FALSE(made("define d() {} d { 'q': } d { 'a': alias => 'q' }").ok);
  // Contained resources inherit it, which two of a type cannot.
  EXPECT_TRUE(made("define d() { notify { 'x': } } d { 'a': alias => 'q' }").ok);
  EXPECT_FALSE(made("define d() { notify { ['x', 'y']: } } d { 'a': alias => 'q' }").ok);
}

TEST(CatalogRules, ACollectorThatFindsNothingRelatesNothing) {
  EXPECT_TRUE(made("User <| |> -> Notify['none']").ok);
  EXPECT_TRUE(made("Notify['none'] -> User <| |>").ok);
  EXPECT_FALSE(made("Notify['none'] -> User <| |> -> notify { 'a': }").ok);
}

TEST(CatalogRules, AfterACollectorWithOverridesItsScopeMayOverride) {
  const std::string late = "Group['g'] { gid => 1 } include c class c { group { 'g': } } notify { 'n': } ";
  EXPECT_FALSE(made(late).ok);
  EXPECT_TRUE(made(late + "Notify <| |> { message => 'x' }").ok);
  const std::string twice = "Group['g'] { gid => 1 } Group['g'] { gid => 2 } class c { group { 'g': } } include c ";
  EXPECT_TRUE(made(twice + "notify { 'n': } Notify <| |> { message => 'x' }").ok);
  EXPECT_FALSE(made(late + "User <| |> { comment => 'x' }").ok);  // it found nothing
}

TEST(CatalogRules, DefaultsWhereACollectorStandsComeWithItsOverrides) {
  Compiled c = made(
      "class a { notify { 'a': message => 'x' } }\n"
      "class b { Notify { withpath => true, message => 'q' } Notify <| title == 'a' |> { loglevel => info } }\n"
      "include a, b");
  ASSERT_TRUE(c.ok) << c.errors;
  EXPECT_EQ(c.resources["notify[a]"],
            (decltype(c.resources)::mapped_type{{"message", "'q'"}, {"loglevel", "'info'"}, {"withpath", "true"}}));
  // A value that is a default of the resource's own scope gives way to what is there.
  c = made("Notify { message => 'p' } notify { 'c': message => 'y' } Notify <| |> { message => 'p' }");
  ASSERT_TRUE(c.ok) << c.errors;
  EXPECT_EQ(c.resources["notify[c]"], (decltype(c.resources)::mapped_type{{"message", "'y'"}}));
}

// What a query finds may change from round to round: by other collectors, by defaults, by tags that containers get.
TEST(CatalogRules, QueriesAreAskedAgainOfWhatChanged) {
  auto has = [](const std::string& manifest, const char* resource) {
    Compiled c = made(manifest);
    EXPECT_TRUE(c.ok) << c.errors;
    return c.resources.contains(resource);
  };
  EXPECT_TRUE(
      has("@user { 'a': home => '/x' } User <| home == '/y' |> User <| uid == undef |> { home => '/y' }", "user[a]"));
  EXPECT_TRUE(has("define d() { tag 'late' @user { 'a': } } User <| tag == 'late' |> d { 'x': }", "user[a]"));
  EXPECT_TRUE(has("class c { @user { 'a': } } User <| tag == 'c' and title != 'b' |> include c", "user[a]"));
  EXPECT_TRUE(has("@user { 'a': } User <| tag == 'no' or title == 'A' |>", "user[a]"));
  EXPECT_TRUE(has("@user { 'A': groups => ['X', 'y'] } User <| groups == 'x' |>", "user[A]"));
  EXPECT_TRUE(
      has("define d($n = 'z') { @user { \"u${title}\": } User <| title == \"U${title}\" |> } "
          "@d { 'x': } D <| title == 'X' |>",
          "user[ux]"));
  EXPECT_FALSE(has("@user { 'a': home => '/x' } User <| home == '/y' |>", "user[a]"));
  EXPECT_FALSE(has("@user { 'a': tag => 't' } User <| tag == 't' and title == 'b' |>", "user[a]"));
}

// Each query asked of each resource is a step: were they all asked, these would be more than a catalog may take.
TEST(CatalogRules, ManyCollectorsAreNotAskedAboutEverything) {
  for (const char* query : {"title == \"u${title}\"", "tag == \"t${title}\"", "home == \"/${title}\"", ""}) {
    Compiled c = made("define d() { @user { \"u${title}\": home => \"/${title}\", tag => \"t${title}\" } User <| " +
                      std::string(query) + " |> }\nrange(1, 12000).each |$n| { d { \"x${n}\": } }");
    EXPECT_TRUE(c.ok) << c.errors;
    EXPECT_EQ(c.resources.size(), 12000u) << query;
  }
}

TEST(CatalogRules, ManyArrowsLeaveOneResource) {
  Compiled c = made(
      "notify { 'a': } range(1, 6000).each |$n| { user { \"u${n}\": } Notify['a'] -> User[\"u${n}\"] } "
      "Notify['a'] ~> User <| |>");
  ASSERT_TRUE(c.ok) << c.errors;
  ASSERT_EQ(c.resources["notify[a]"].size(), 2u);
  EXPECT_EQ(c.resources["notify[a]"][0].second.substr(0, 40), "['User[u1]', 'User[u2]', 'User[u3]', 'Us");
}

TEST(CatalogRules, ReferencesToUndefAreUndef) {
  Compiled c = made(R"(
    $all = [Service[undef], Resource['service', undef], Service['a', undef], Service[[undef]], Service[undef, undef],
            Class[undef], Class['a', undef], Resource['class', undef], Service['a'][undef], Service['']]
    notify { 'r': message => String($all, '%p'), require => [Service[undef]] })");
  ASSERT_TRUE(c.ok) << c.errors;
  EXPECT_EQ(c.resources["notify[r]"].at(0).second,
            R"('[undef, undef, [Service[\'a\']], [], [], undef, [Class[a]], undef, undef, Service[\'\']]')");
  for (const char* wrong : {"Class['a b']", "Class['_a']", "Class['']", "Class['a::9']", "Nosuch['x']", "[Nosuch]"})
    EXPECT_FALSE(made(std::string("$x = ") + wrong).ok) << wrong;
  EXPECT_NE(made("$x = Servce['a']").errors.find("did you mean `Service`?"), std::string::npos);
}

TEST(CatalogRules, TypesAreDataOfTheirOwnTypes) {
  Compiled c = made(R"(
    notify { 'r': message => to_ruby([Pattern[/a/], Callable[String, 1, 2], Iterable[String], Enum[a, true], SemVer['>1.0.0'],
                                      Timespan[1, 2], Collection[1, 2]]) })");
  ASSERT_TRUE(c.ok) << c.errors;
  const std::string& text = c.resources["notify[r]"].at(0).second;
  for (
      const char* part :
      {R"("Pcore::PatternType", "patterns" => [{"__ptype" => "Pcore::RegexpType", "pattern" => "a"}])",
       R"("param_types" => {"__ptype" => "Pcore::TupleType", "types" => [{"__ptype" => "Pcore::StringType"}], "size_type" => )"
       R"({"__ptype" => "Pcore::IntegerType", "from" => 1, "to" => 2}}, "block_type" => nil, "return_type" => nil})",
       R"("Pcore::IterableType", "type" => {"__ptype" => "Pcore::StringType"})",
       R"("Pcore::EnumType", "values" => ["a"], "case_insensitive" => true)",
       R"("ranges" => [{"__ptype" => "SemVerRange", "__pvalue" => ">1.0.0"}])",
       R"("from" => {"__ptype" => "Timespan", "__pvalue" => "0-00:00:01.0"})",
       R"("Pcore::CollectionType", "size_type" => {"__ptype" => "Pcore::IntegerType", "from" => 1, "to" => 2})"})
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
}

// Answers of Puppet's functions and formats that random expressions (tests/puppet/differential) showed.
TEST(Answers, AreThoseOfPuppet) {
  constexpr std::pair<const char*, const char*> kAnswers[] = {
      {"String(-7, '%x')", "'..f9'"},
      {"String(-7, '%+x')", "'-7'"},
      {"String(0, '%#x')", "'0'"},
      {"String(-7, '%#o')", "'..71'"},
      {"[{} =~ Iterable[String], {'a' => 1} =~ Iterable[Tuple[String, Integer]], {'a' => 1} =~ Iterable[String]]",
       "[false, true, false]"},
      {"[Hash[String, Integer] <= Iterable[Tuple[String, Integer]], Struct[{a => Integer}] <= Iterable[String]]",
       "[true, false]"},
      {"[Hash(2), Hash('ab'), Hash(Enum['a', 'b'])]", "[{0 => 1}, {'a' => 'b'}, {'a' => 'b'}]"},
      {"[join([[], 'a'], ','), join([[[], []], 'a'], ','), join([['a', []], 'b'], ',')]", "[',a', ',,a', 'a,,b']"},
      {R"(String(['a\tb', "x'y"]))", R"("['a\\tb', 'x\\'y']")"},
      {"[unique(3), unique(Integer[1, 3])]", "[[0, 1, 2], [1, 2, 3]]"},
      {"[zip([1], [2], 't'), zip([1], [2], 'no')]", "[[1, 2], [[1, 2]]]"},
      {"join_keys_to_values({1 => 'undef'}, '=')", "['1']"},
      {"[Integer('17', 16), Integer('017', 16), Integer('101', 2), Integer('17', 8), Integer(' + 0x17', 16)]",
       "[23, 23, 5, 15, 23]"},
      {"[Integer('0b1', 16), Integer('0', 8), Integer('010', 2), Integer('-017', 16)]", "[177, 0, 2, -23]"},
      {"String(type({1 => 1, 2 => 'a', 'x' => 1}))",
       "'Hash[Variant[Integer[1, 1], Integer[2, 2], String], Variant[Integer[1, 1], String], 3, 3]'"},
      {"[Integer <= Iterable, Variant[Integer, String] <= Iterable, -1 =~ Iterable]", "[true, true, false]"},
      {"to_json_pretty([{}, { 'a' => {} }])", R"("[\n  {\n  },\n  {\n    \"a\": {\n    }\n  }\n]\n")"},
      {"[Timestamp('2000-06-01') =~ Timestamp['2000-01-01', '2001-01-01'], Timespan(90) =~ Timespan['0-00:02:00']]",
       "[true, false]"},
      {"to_json(/a/)", "'\"(?-mix:a)\"'"},
      {"[parseyaml('', false), parseyaml('', 'x')]", "[false, 'x']"},
      {"[is_numeric('017'), is_numeric('0x1f'), num2bool(1.0e20), num2bool('0.5')]", "[false, false, true, false]"},
      {"to_ruby({1 => /a/})",
       R"('{"__ptype" => "Hash", "__pvalue" => [1, {"__ptype" => "Regexp", "__pvalue" => "a"}]}')"},
      {"to_python(Integer[1, 2])", R"('{"__ptype": "Pcore::IntegerType", "from": 1, "to": 2}')"},
      {"String('a', '%#s')", "'a'"},
      {"String(Iterable, '%#p')", "'Iterable'"},
      {"String(Iterable, '%#s')", "'\"Iterable\"'"},
      {"{'a' => 1, 'b' => 2}.index |$x| { $x == 2 }", "'b'"},
      {"String([1, 2].group_by |*$x| { $x })", "'{[1] => [1], [2] => [2]}'"},
      {"convert_to('a', Scalar)", "'a'"},
      {"get({'a' => [5, 6]}, 'a.1')", "6"},
  };
  for (auto [expression, answer] : kAnswers) {
    Compiled c = made(std::string("$x = ") + expression + " if $x == " + answer + " { notify { 'same': } }");
    ASSERT_TRUE(c.ok) << expression << ": " << c.errors;
    EXPECT_TRUE(c.resources.contains("notify[same]")) << expression;
  }
  for (const char* wrong : {"sprintf(1, 2)",
                            "Array('abc', 1)",
                            "Hash({a => 1}, 'tree')",
                            "md5(1)",
                            "sha256(1.5)",
                            "fqdn_uuid(1)",
                            "shellquote(1)",
                            "URI('1a:b')",
                            "URI('%4')",
                            "URI('a#b#c')",
                            "URI('http://h:x/')",
                            "URI('http://[::1/')",
                            "basename('a/b', 5)",
                            "squeeze('aab', 5)",
                            "zip([1], [2], 1)",
                            "strip({})",
                            "Binary('aGk=').map |$x| { $x }",
                            "validate_string(/a/)",
                            "Integer('ff', 16)",
                            "Integer('1_000')",
                            "Integer('17 ', 16)",
                            "Integer('0x-1', 16)",
                            "Integer('0x17', 10)",
                            "abs('0x1f')",
                            "abs('1e2')",
                            "unix2dos('a', 2)",
                            "Timestamp['2001-01-01', '2000-01-01']",
                            "reject(['a'], 1)",
                            "delete('a', 1)",
                            "seeded_rand(3.7, 'a')",
                            "Timestamp(1.5, 2)",
                            "Timespan(1.5, undef)",
                            "Binary([104], 1)",
                            "Regexp('a', 3)"})
    EXPECT_FALSE(made(std::string("notice(") + wrong + ")").ok) << wrong;
}

}  // namespace
}  // namespace tutti::puppet
