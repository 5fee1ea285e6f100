#include "lang/puppet/functions/yaml_text.h"

#include <gtest/gtest.h>

#include "base/arena.h"

namespace tutti::puppet {
namespace {

// What Ruby 3.1 prints for a string on its own, after "--- ".
TEST(YamlText, QuotesWhatRubyQuotes) {
  const std::pair<const char*, const char*> cases[] = {{"plain", "plain\n"},
                                                       {"/etc/x", "\"/etc/x\"\n"},
                                                       {"%d", "\"%d\"\n"},
                                                       {"- a", "\"- a\"\n"},
                                                       {"-\"b", "-\"b\n"},
                                                       {"y", "\"y\"\n"},
                                                       {"Y", "Y\n"},
                                                       {"a: b", "'a: b'\n"},
                                                       {"a ", "'a '\n"},
                                                       {"0.5", "'0.5'\n"},
                                                       {"08", "'08'\n"},
                                                       {"true", "'true'\n"},
                                                       {"<<", "!!str '<<'\n"},
                                                       {"", "''\n"},
                                                       {"a\tb", "\"a\\tb\"\n"},
                                                       {"a\n", "'a\n\n  '\n"},
                                                       {"a\n\n", "\"a\\n\\n\"\n"},
                                                       {"a\nb\n", "|\n  a\n  b\n"},
                                                       {"\na", "|2-\n\n  a\n"}};
  for (const auto& [text, wanted] : cases)
    EXPECT_EQ(yaml_text(Val::string(text)), std::string("--- ") + wanted) << text;
}

TEST(YamlText, NamesWhatStandsInSeveralPlaces) {
  Arena arena;
  Val one = make_array(arena, std::vector<Val>{Val::integer(1)});
  EXPECT_EQ(yaml_text(make_array(arena, std::vector<Val>{one, one, Val::undef()})), "---\n- &1\n  - 1\n- *1\n-\n");
  Val same = make_array(arena, std::vector<Val>{Val::integer(1)});
  EXPECT_EQ(yaml_text(make_array(arena, std::vector<Val>{one, same})), "---\n- - 1\n- - 1\n");
}

TEST(YamlText, KeepsToTheLayoutAskedFor) {
  Arena arena;
  Val inner = make_hash(arena, std::vector<Pair>{{Val::string("b"), Val::string("x")}});
  Val outer = make_hash(arena, std::vector<Pair>{{Val::string("a"), inner}});
  YamlLayout layout;
  layout.indent = 4;
  EXPECT_EQ(yaml_text(outer, layout), "---\na:\n    b: x\n");
}

}  // namespace
}  // namespace tutti::puppet
