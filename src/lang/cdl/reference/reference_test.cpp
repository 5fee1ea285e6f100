#include "lang/cdl/reference/reference.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>

#include "lang/cdl/reference/random.h"
#include "lang/cdl/resolve/canonical.h"
#include "lang/cdl/resolve/system.h"
#include "lang/cdl/syntax/format.h"

namespace tutti::cdl {
namespace {

reference::Outcome resolve_fast(const std::string& text) {
  Limits limits;
  limits.errors = 1'000'000;  // of each kind one must be among them
  Session session(limits);
  reference::Outcome out;
  const Source* source = *session.sources->add("random.cdl", text);
  std::unique_ptr<System> system = System::load(session, *source, {});
  for (const Diagnostic& d : session.diagnostics.all()) {
    if (d.severity == Severity::kError) out.errors.emplace(d.code, 0);
  }
  if (out.errors.empty()) out.text = canonical_text(system->root());
  return out;
}

std::set<std::string> codes(const reference::Outcome& o) {
  std::set<std::string> out;
  for (const auto& [code, line] : o.errors) out.insert(code);
  return out;
}

std::string join(const reference::Outcome& o) { return fmt::format("{} {}", fmt::join(codes(o), " "), o.text); }

// How often each section did something.
struct Tally : Steps {
  std::map<std::string, u64> rules;
  void step(const RuleStep& s, const std::function<Cells()>&) override { ++rules[s.rule]; }
};

// Random documents through both resolvers. TUTTI_CDL_RANDOM=N runs N of them (and TUTTI_CDL_SEED sets the first).
TEST(CdlReference, RandomDocumentsAgree) {
  u64 count = 1000, first = 1;
  if (const char* n = std::getenv("TUTTI_CDL_RANDOM")) count = std::strtoull(n, nullptr, 10);
  if (const char* n = std::getenv("TUTTI_CDL_SEED")) first = std::strtoull(n, nullptr, 10);
  u64 resolved = 0, open = 0, different = 0;
  std::map<std::string, u64> kinds;
  Tally tally;
  for (u64 seed = first; seed < first + count; seed++) {
    std::string text = reference::random_document(seed);
    reference::Outcome slow = reference::resolve(text, &tally), fast = resolve_fast(text);
    if (codes(slow) != codes(fast) || slow.text != fast.text) {
      if (++different <= 3) {
        ADD_FAILURE() << "seed " << seed << "\n"
                      << text << "reference: " << join(slow) << "\nfast:      " << join(fast);
      }
      continue;
    }
    for (const std::string& e : codes(fast)) kinds[e]++;
    resolved += fast.errors.empty();
    open += fast.text.find(" open") != std::string::npos;
  }
  EXPECT_EQ(different, 0u);
  fmt::print("{} made, {} % resolved, {} with something open\n", count, count ? 100 * resolved / count : 0, open);
  for (const auto& [code, n] : kinds) fmt::print("  {:<26} {}\n", code, n);
  for (const auto& [rule, n] : tally.rules) fmt::print("  section {:<18} {}\n", rule, n);
  // A campaign that meets only errors, or none, would prove little.
  EXPECT_GT(resolved, count / 4);
  EXPECT_GT(open, count / 50);
  for (const char* code :
       {"CDL-CYCLIC-REFERENCE", "CDL-NO-SUCH-NODE", "CDL-AMBIGUOUS-REFERENCE", "CDL-RECURSIVE-EXTENDS"}) {
    EXPECT_GT(kinds[code], 0u) << code;
  }
}

// A resolved document written out is resolved: read again it means the same, and written again it is the same.
TEST(CdlDocument, WrittenOutTheResultStaysWhatItIs) {
  u64 written = 0;
  for (u64 seed = 1; seed <= 1500; seed++) {
    Session session;
    const Source* source = *session.sources->add("random.cdl", reference::random_document(seed));
    std::unique_ptr<System> system = System::load(session, *source, {});
    if (!system || !session.diagnostics.ok()) continue;
    written++;
    std::string text = to_document(*system, seed % 2 == 0, true);
    ASSERT_TRUE(session.diagnostics.ok());
    Session other;
    std::unique_ptr<System> again = System::load(other, **other.sources->add("again.cdl", text), {});
    ASSERT_TRUE(again && other.diagnostics.ok()) << source->text << "\n" << text;
    ASSERT_EQ(canonical_text(again->root()), canonical_text(system->root())) << source->text << "\n" << text;
    ASSERT_EQ(to_document(*again, seed % 2 == 0, true), text) << source->text;
  }
  EXPECT_GT(written, 300u);
}

// Laid out, random documents mean what they meant; laid out again they do not change.
TEST(CdlFormat, RandomDocumentsKeepTheirMeaning) {
  u64 formatted = 0, changed = 0;
  for (u64 seed = 1; seed <= 1500; seed++) {
    std::string text = reference::random_document(seed);
    auto format = [](const std::string& t) {
      Session session;
      return format_document(session, **session.sources->add("random.cdl", t));
    };
    // Something for the formatter to do: lines joined, comments put between.
    std::string odd;
    for (std::size_t i = 0; i < text.size(); i++) {
      if (text[i] == '\n' && (i + seed) % 3 == 0) continue;
      odd += text[i];
      if (text[i] == '\n' && (i + seed) % 5 == 0) odd += "\n\n\t<!-- c" + std::to_string(i) + "\n two lines -->";
    }
    std::optional<std::string> once = format(odd);
    if (!once) continue;  // broken on purpose
    formatted++;
    changed += *once != odd;
    EXPECT_EQ(format(*once), once) << odd;
    reference::Outcome before = resolve_fast(odd), after = resolve_fast(*once);
    ASSERT_EQ(codes(before), codes(after)) << odd << "\n" << *once;
    ASSERT_EQ(before.text, after.text) << odd << "\n" << *once;
    EXPECT_EQ(std::count(odd.begin(), odd.end(), '!'), std::count(once->begin(), once->end(), '!'));
  }
  EXPECT_GT(formatted, 700u);
  EXPECT_GT(changed, 700u);
}

}  // namespace
}  // namespace tutti::cdl
