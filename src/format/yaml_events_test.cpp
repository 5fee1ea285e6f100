#include "format/yaml_events.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <random>

namespace tutti {
namespace {

std::string shown(const YamlEvent& e) {
  auto mark = [](const yaml_mark_t& m) { return fmt::format("{}/{}:{}", m.index, m.line, m.column); };
  return fmt::format("{} {}-{} flow {} style {} tag {} anchor {} '{}'\n", static_cast<int>(e.type), mark(e.start),
                     mark(e.end), e.flow, static_cast<int>(e.style), e.tag ? e.tag : "-", e.anchor ? e.anchor : "-",
                     e.value);
}

std::string error_of(const yaml_parser_t& p) {
  return fmt::format("error {} {} at {} {}:{}, {} at {}:{}, {} {}\n", static_cast<int>(p.error),
                     p.problem ? p.problem : "-", p.problem_mark.index, p.problem_mark.line, p.problem_mark.column,
                     p.context ? p.context : "-", p.context_mark.line, p.context_mark.column, p.problem_offset,
                     p.problem_value);
}

std::string all_events(std::string_view text, bool by_lines) {
  YamlEvents events(text, YAML_UTF8_ENCODING, by_lines);
  std::string out;
  YamlEvent e;
  do {
    if (!events.next(e)) return out + error_of(events.parser());
    out += shown(e);
  } while (e.type != YAML_STREAM_END_EVENT);
  return out;
}

bool read_by_lines(std::string_view text) {
  YamlLines lines(text);
  const YamlEvent* e = nullptr;
  while ((e = lines.next()))
    if (e->type == YAML_STREAM_END_EVENT) return true;
  return false;
}

TEST(YamlEvents, LinesOfMapsAndLists) {
  for (std::string_view text : {
           "a: 1\n",
           "a: 1",
           "a:",
           "# note\n\na: b # c\nb:\n  c: 'd'\n  \"e f\": \"g\\n\"\n",
           "a:\n- 1\n- b: 2\n  c: 3\n-\n- - x\n  - y\nd: e\n",
           "- a:\n    b: c\n  d:\n  - e\n  f:\n- g: it's # h\n",
           "  a:\n     b: 1\n   ",
           "---\na: 1\n---\n- b\n",
           "n: 'Ren\xC3\xA9' # \xC3\xA9\nm: \xE4\xB8\xAD\xE6\x96\x87\n\xC3\xA9: -x\n",
           "url: http://a.b:80/#c\ntime: 12:30\nempty: ''\n",
       }) {
    EXPECT_TRUE(read_by_lines(text)) << text;
    EXPECT_EQ(all_events(text, true), all_events(text, false)) << text;
  }
}

TEST(YamlEvents, WhatLinesLeaveToTheLibrary) {
  for (std::string_view text : {"",
                                "# nothing\n",
                                "a",
                                "a: [1, 2]\n",
                                "a: {}\n",
                                "a: |\n  text\n",
                                "a: b\n  c\n",
                                "a: &x 1\nb: *x\n",
                                "a: !t b\n",
                                "a: 1\n b: 2\n",
                                "a: b: c\n",
                                "a: \"b\n",
                                "a:\tb\n",
                                "a: 1\r\n",
                                "---\n---\na: 1\n",
                                "a: 1\n...\n",
                                "? a\n: b\n",
                                "- a\nb: 1\n",
                                "a: \"\\x41\"\n",
                                "a: 1\nb\n",
                                "a: b\xC2\x85 c\n",
                                "a: %\n",
                                "\xEF\xBB\xBF"
                                "a: 1\n",
                                "a: \x01\n"}) {
    EXPECT_FALSE(read_by_lines(text)) << text;
    EXPECT_EQ(all_events(text, true), all_events(text, false)) << text;
  }
}

// Lines put together from pieces, mostly well indented; whatever comes of it, both ways must be the same, errors
// included.
class RandomText {
 public:
  explicit RandomText(unsigned seed) : random_(seed) {}

  std::string text() {
    std::string out;
    std::size_t column = 0;
    for (std::size_t lines = below(12) + 1; lines > 0; --lines) {
      if (below(3) == 0) column = 2 * below(4);
      if (below(12) == 0) column = below(7);
      std::string line = below(9) == 0 ? std::string(pick(kWhole)) : std::string(column, ' ') + entry();
      if (below(9) == 0) line += pick(kBehind);
      out += line + (lines > 1 || below(4) != 0 ? "\n" : "");
      if (line.ends_with(":") && below(3) != 0) column += 2 * below(2);
    }
    if (below(6) == 0 && !out.empty()) out[below(out.size())] = kAny[below(kAny.size())];
    return out;
  }

 private:
  static constexpr std::string_view kAny = "-:# '\"\\\n\t[]{}&*!|>%@?a,\x7f\xc3";
  static constexpr std::array<std::string_view, 7> kWhole = {"", "   ", "# a", "  # b", "---", "--- # c", "..."};
  static constexpr std::array<std::string_view, 6> kBehind = {" # c", "  ", " #", "#", ":", ": d"};
  static constexpr std::array<std::string_view, 31> kScalars = {
      "a",         "b c",     "1",   "-1",   "-",   "'q'",  "'it''s'", "\"d\"", "\"e\\n\\\"\"",
      "\"\\x41\"", "",        "a:b", "a #b", "a#b", "''",   "\"\"",    "null",  "<<",
      "~",         "- x",     "[a]", "{}",   "|",   "&a b", "*a",      "!t c",  "\xC3\xA9",
      "x: y",      "\"a\" b", "'",   "-a"};

  std::size_t below(std::size_t n) { return random_() % n; }
  template <std::size_t N>
  std::string_view pick(const std::array<std::string_view, N>& from) {
    return from[below(N)];
  }
  std::string_view scalar() { return kScalars[below(below(4) == 0 ? kScalars.size() : 9)]; }
  std::string entry() {
    std::string out;
    while (below(3) == 0) out += below(8) == 0 ? "-  " : "- ";
    std::size_t kind = below(10);
    if (kind < 5)
      out += fmt::format("{}: {}", scalar(), scalar());
    else if (kind < 8)
      out += fmt::format("{}:", scalar());
    else if (kind < 9)
      out += scalar();
    return out;
  }

  std::mt19937 random_;
};

TEST(YamlEvents, RandomLinesAreReadAsByTheLibrary) {
  const char* wanted = std::getenv("TUTTI_YAML_RANDOM");
  unsigned count = wanted ? static_cast<unsigned>(std::atoi(wanted)) : 20'000, wholly = 0;
  for (unsigned seed = 1; seed <= count; ++seed) {
    std::string text = RandomText(seed).text();
    ASSERT_EQ(all_events(text, true), all_events(text, false)) << "seed " << seed << ":\n" << text;
    wholly += read_by_lines(text);
  }
  EXPECT_GT(wholly, count / 20);
}

// More lines than are read at a time, with texts of their own, and something at the end that only the library reads.
TEST(YamlEvents, ManyLines) {
  std::string text;
  for (int i = 0; i < 1000; ++i) text += fmt::format("- k{}: \"a\\t{}\"\n  l: 'it''s'\n", i, i);
  EXPECT_TRUE(read_by_lines(text));
  EXPECT_EQ(all_events(text, true), all_events(text, false));
  for (std::string_view last : {"- [x]\n", "- x: *y\n", "x", "- \"open\n"})
    EXPECT_EQ(all_events(text + std::string(last), true), all_events(text + std::string(last), false)) << last;
}

}  // namespace
}  // namespace tutti
