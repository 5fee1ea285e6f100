// One walk, several notations; the answers are those of Ruby and of Puppet's own functions.
#include "lang/puppet/types/value_text.h"

#include <gtest/gtest.h>

namespace tutti::puppet {
namespace {

struct Sample {
  Arena arena;
  Val value;
  Sample() {
    Val items[] = {Val::integer(1), Val::undef(), Val::string("it's \"q\"\n"), Val::real(1e20), Val::boolean(true)};
    HashDraft h;
    h.set("list", make_array(arena, items));
    h.set(Val::integer(2), make_hash(arena, {}));
    h.set("regex", Val::with_text(VK::kRegex, "a/b"));
    value = h.build(arena);
  }
};

TEST(ValueText, Notations) {
  Sample s;
  EXPECT_EQ(to_text(s.value), "{list => [1, , it's \"q\"\n, 1.0e+20, true], 2 => {}, regex => /a\\/b/}");
  EXPECT_EQ(to_literal(s.value),
            "{'list' => [1, undef, 'it\\'s \"q\"\n', 1.0e+20, true], 2 => {}, 'regex' => /a\\/b/}");
  EXPECT_EQ(ruby_inspect(s.value),
            "{\"list\"=>[1, nil, \"it's \\\"q\\\"\\n\", 1.0e+20, true], 2=>{}, \"regex\"=>/a\\/b/}");
  EXPECT_EQ(python_literal(*s.value.get("list")), "[1, None, \"it's \\\"q\\\"\\n\", 1.0e+20, True]");
  EXPECT_EQ(json_text(s.value),
            "{\"list\":[1,null,\"it's \\\"q\\\"\\n\",1.0e+20,true],\"2\":{},\"regex\":\"(?-mix:a\\\\/b)\"}");
}

TEST(ValueText, LayoutOfJson) {
  Arena arena;
  Val one = Val::integer(1);
  HashDraft h;
  h.set("a", make_array(arena, std::span<const Val>(&one, 1)));
  JsonLayout pretty{"  ", " ", "\n", "\n"};
  EXPECT_EQ(json_text(h.build(arena), pretty), "{\n  \"a\": [\n    1\n  ]\n}");
  EXPECT_EQ(json_text(make_array(arena, {}), pretty), "[\n\n]");
  EXPECT_EQ(json_text(make_hash(arena, {}), pretty), "{\n}");
}

TEST(ValueText, RubyInspectEscapes) {
  EXPECT_EQ(ruby_inspect(Val::string("a\x01#{x} #$y # \x7f \x1b")), "\"a\\u0001\\#{x} \\#$y # \\u007F \\e\"");
  EXPECT_EQ(ruby_inspect(Val::default_()), ":default");
  EXPECT_EQ(ruby_to_s(Val::string("a")), "a");
}

}  // namespace
}  // namespace tutti::puppet
