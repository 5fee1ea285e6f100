#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <map>

#include "lang/smartfrog/eval/core.h"
#include "lang/smartfrog/reference/random_spec.h"
#include "lang/smartfrog/reference/reference.h"
#include "lang/smartfrog/syntax/parser.h"

// The compiler against the definitions of the paper, on random specifications.
namespace tutti::smartfrog {
namespace {

// How often each definition did something: what a campaign has looked at.
struct Tally : Steps {
  u64 valid = 0, errors = 0, by_number[8] = {};
  std::map<std::string, u64> rules;
  std::size_t widest = 0, deepest = 0;
  void step(const RuleStep& s, const std::function<Cells()>&) override {
    ++rules[s.rule];
    deepest = std::max<std::size_t>(deepest, static_cast<std::size_t>(std::ranges::count(s.path, ':')));
  }
};

std::string compare(const std::string& text, Tally& tally) {
  Session session;
  auto source = session.sources->add("spec.sf", text);
  if (!source) return "no source";
  Parser parser(session, Level::kCore, nullptr);
  const Body* body = parser.parse(**source);
  if (!body) return "does not parse: " + render(session.diagnostics, *session.sources, DiagnosticStyle::kLine, false);
  auto expected = reference::evaluate(*body, session.arena, &tally);
  CoreCompiler compiler(session);
  std::optional<Value> got = compiler.run(*body);
  if (auto* e = std::get_if<reference::Error>(&expected)) {
    tally.errors++;
    tally.by_number[e->number]++;
    if (got) return fmt::format("the reference gives error {}, the compiler a store", e->number);
    const Diagnostic* first = nullptr;
    for (const Diagnostic& d : session.diagnostics.all())
      if (d.severity == Severity::kError && !first) first = &d;
    if (!first) return "no diagnostic";
    if (first->code != fmt::format("SF-{}", e->number))
      return fmt::format("error {} expected, {} given", e->number, first->code);
    if (e->number != 7 && first->where.begin != e->where.begin)
      return fmt::format("error {} at another place: {} and {}", e->number, session.sources->show(e->where.begin),
                         session.sources->show(first->where.begin));
    return "";
  }
  tally.valid++;
  const auto& v = std::get<reference::V>(expected);
  if (!got)
    return "the compiler gives an error: " +
           render(session.diagnostics, *session.sources, DiagnosticStyle::kLine, false);
  if (!reference::unique_identifiers(v)) return "an identifier occurs twice";  // theorem 2
  if (!equal(reference::to_tree(v, session.arena), *got, true)) return "different stores";
  return "";
}

u64 campaign_size(u64 usual) {
  const char* n = std::getenv("TUTTI_CAMPAIGN");
  return n ? std::strtoull(n, nullptr, 10) : usual;
}

void campaign(u64 count, u32 errors_percent, bool merge) {
  Tally tally;
  const char* from = std::getenv("TUTTI_SEED");
  u64 first = from ? std::strtoull(from, nullptr, 10) : 1;
  for (u64 seed = first; seed < first + count; seed++) {
    reference::RandomSpec options;
    options.seed = seed;
    options.statements = 5 + seed % 60;
    options.errors_percent = errors_percent;
    options.merge = merge;
    std::string text = reference::random_spec(options);
    std::string difference = compare(text, tally);
    ASSERT_EQ(difference, "") << "seed " << seed << "\n" << text;
  }
  fmt::print("{} made, {} % accepted, {} with errors (1: {}, 2: {}, 4: {}, 5: {}, 7: {})\n", count,
             count ? 100 * tally.valid / count : 0, tally.errors, tally.by_number[1], tally.by_number[2],
             tally.by_number[4], tally.by_number[5], tally.by_number[7]);
  for (const auto& [rule, n] : tally.rules) fmt::print("  {:<16} {}\n", rule, n);
  fmt::print("  deepest          {}\n", tally.deepest);
  if (count >= 1000) {
    EXPECT_GT(tally.valid, errors_percent > 5 ? count / 10 : count / 2);
    if (errors_percent > 0) {
      for (int n : {1, 2, 4, 5, 7}) EXPECT_GT(tally.by_number[n], 0u) << "error " << n << " never tried";
    }
  }
}

TEST(Differential, Valid) { campaign(campaign_size(2000), 0, false); }
TEST(Differential, MostlyValid) { campaign(campaign_size(2000), 1, false); }
TEST(Differential, InjectedErrors) { campaign(campaign_size(2000), 10, false); }
TEST(Differential, Merge) { campaign(campaign_size(2000), 1, true); }

}  // namespace
}  // namespace tutti::smartfrog
