// Random trees written in each format and read back: the same tree, in the same order, numbers as they were written.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <random>

#include "format/json.h"
#include "format/toml.h"
#include "format/write.h"
#include "format/xml.h"
#include "format/yaml.h"

namespace tutti {
namespace {

class Maker {
 public:
  Maker(Session& session, u32 seed) : builder_(session.arena), random_(seed) {}

  bool nulls = true, large_integers = true;

  Value value(int depth) {
    switch (pick(depth > 0 ? 10 : 6)) {
      case 0: return nulls ? Value::null() : Value::boolean(true);
      case 1: return Value::boolean(pick(2) == 0);
      case 2: return number();
      case 3:
      case 4: return builder_.string(text());
      case 5: return builder_.string(word());
      case 6:
      case 7: {
        std::vector<Value> items;
        for (u32 i = pick(4); i > 0; i--) items.push_back(value(depth - 1));
        return builder_.list(items);
      }
      default: return map(depth);
    }
  }

  Value map(int depth) {
    MapDraft draft;
    for (u32 i = pick(5); i > 0; i--) draft.set(Symbol(pick(4) == 0 ? text() : word()), value(depth - 1));
    return draft.build(builder_);
  }

 private:
  u32 pick(u32 n) { return static_cast<u32>(random_() % n); }

  Value number() {
    switch (pick(large_integers ? 6 : 5)) {
      case 0: return Value::integer(static_cast<i64>(random_()));
      case 1: return builder_.number(fmt::format("{}.{}", pick(1000), pick(1000)));
      case 2: return builder_.number(fmt::format("-{}.50", pick(10)));
      case 3:
        return builder_.number(
            fmt::format("{}e{}{}", 1 + pick(9), pick(2) ? "+" : "-", pick(large_integers ? 400 : 300)));
      case 4: return Value::integer(-static_cast<i64>(pick(10)) - 1);
      default: return builder_.number(fmt::format("-1{:020}{:020}", random_(), random_()));
    }
  }

  std::string word() {
    static const std::vector<std::string> words = {
        "port", "host",       "a-b",       "x.y", "yes",  "no",    "null", "~",    "true", "1",
        "0x1f", "012",        "1e3",       "-",   "- a",  "a: b",  "#c",   "a #b", "<<",   "=",
        "1:30", "2001-01-01", ".inf",      "-.5", "item", "entry", "type", "xml",  "[",    "{}",
        "&a",   "*a",         "!t",        "|",   ">",    "%",     "@",    "`",    "'",    "\"",
        "\\",   "it's",       "say \"x\"", "...", "---",  "a:",    ":a",   "?",    "? a"};
    return words[pick(static_cast<u32>(words.size()))];
  }

  std::string text() {
    static const std::vector<std::string> pieces = {
        "a",      "B",      " ",      "\n", "\t", "\"", "'", "\\", "é", "漢",  "😀", "\x01", "\x7f", "\r",
        "\u0085", "\u2028", "\ufeff", ":",  "#",  "- ", "<", "&",  ">", "]]>", "0",  "\n\n", "  "};
    std::string s;
    for (u32 i = pick(7); i > 0; i--) s += pieces[pick(static_cast<u32>(pieces.size()))];
    return s;
  }

  TreeBuilder builder_;
  std::mt19937_64 random_;
};

using Read = std::optional<Value> (*)(Session&, const Source&);

void round_trips(std::string_view format, Read read, bool nulls, bool large_integers, bool map_at_top) {
  for (u32 seed = 1; seed <= 3000; seed++) {
    Session session;
    Maker maker(session, seed);
    maker.nulls = nulls;
    maker.large_integers = large_integers;
    Value value = map_at_top ? maker.map(4) : maker.value(4);
    StringSink sink, before;
    ASSERT_TRUE(write_tree(session, value, format, {}, sink)) << seed;
    std::string text = sink.take();
    write_json(value, {}, before);
    auto source = session.sources->add("written", text);
    std::optional<Value> back = read(session, **source);
    ASSERT_TRUE(back) << seed << "\n"
                      << text << render(session.diagnostics, *session.sources, DiagnosticStyle::kExcerpt, false);
    StringSink after;
    write_json(*back, {}, after);
    ASSERT_EQ(before.take(), after.take()) << seed << "\n" << text;
    ASSERT_TRUE(equal(value, *back, true));
    ASSERT_EQ(hash(value), hash(*back));
  }
}

TEST(RoundTrip, Json) { round_trips("json", read_json, true, true, false); }
TEST(RoundTrip, Yaml) {
  round_trips(
      "yaml", [](Session& session, const Source& source) { return read_yaml(session, source); }, true, true, false);
}
TEST(RoundTrip, Xml) { round_trips("xml", read_xml, true, true, false); }
TEST(RoundTrip, Toml) { round_trips("toml", read_toml, false, false, true); }

}  // namespace
}  // namespace tutti
