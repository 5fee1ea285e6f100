#include "lang/smartfrog/levels.h"

#include <fmt/format.h>

#include <algorithm>

#include "lang/smartfrog/eval/core.h"
#include "lang/smartfrog/syntax/parser.h"
#include "tree/path.h"
#include "tree/show.h"

namespace tutti::smartfrog {
namespace {

constexpr std::size_t kMost = 10;

class Comparison {
 public:
  Comparison(Session& session, std::string_view other_level) : session_(session), other_(other_level) {}

  void compare(const Value& a, const Value& b, Pos at) {
    if (found_ >= kMost || (a.same_body(b) && a.size() > 0)) return;
    Budget::Level level(session_.budget);
    if (Pos own = place(a.origin())) at = own;
    if (!a.is(Kind::kMap) || !b.is(Kind::kMap)) {
      if (!equal(a, b)) say(at, fmt::format("is {}", show(b)));
      return;
    }
    std::size_t i = 0;
    bool order = a.size() == b.size();
    for (const Entry& e : a.entries()) {
      const Entry* other = b.find(e.key);
      order = order && b.entries()[i++].key == e.key;
      path_.push(e.key);
      if (other)
        compare(e.value, other->value, at);
      else
        say(place(e.value.origin()), "is not there");
      path_.pop();
    }
    for (const Entry& e : b.entries()) {
      if (a.find(e.key) || e.field != Field::kPlain) continue;
      path_.push(e.key);
      say(at, fmt::format("is there too, {}", show(e.value)));
      path_.pop();
    }
    if (!order && a.size() == b.size() && found_ == 0) say(at, "has its attributes in another order");
  }

 private:
  // Where the attribute has its value from, and not where that was inherited.
  Pos place(Origin o) const {
    while (o.is_step() && session_.origins[o].how == How::kInherited) o = session_.origins[o].value;
    return session_.origins.nearest(o);
  }

  void say(Pos at, std::string difference) {
    if (found_++ >= kMost) return;
    session_.diagnostics
        .warning("SF-LEVELS", at, fmt::format("at --level {}, `{}` {}", other_, path_.text(), difference))
        .note(
            "the core resolves every link and placement at once, the production compiler first all prototypes, then "
            "all "
            "placements, then all links");
  }

  Session& session_;
  std::string_view other_;
  Path path_;
  std::size_t found_ = 0;
};

}  // namespace

namespace {

// Whoever asked for one level is not to wait for the other.
Limits for_comparison(Limits limits) {
  limits.nodes = std::min<u64>(limits.nodes, 5'000'000);
  limits.memory = std::min<u64>(limits.memory, u64{1} << 30);
  return limits;
}

}  // namespace

void compare_levels(Session& session, const Request& request, Level level, const Value& value,
                    const production::Settings& settings) {
  Level other = level == Level::kCore ? Level::kProduction : Level::kCore;
  std::string_view name = other == Level::kCore ? "core" : "production";
  Session again(for_comparison(session.budget.limits()), session.sources);
  const Source* source = again.open(request.files[0]);
  if (!source) return;
  Loader loader(again, request.options.all("include"));
  const Body* body = Parser(again, other, &loader).parse(*source);
  if (!body) return;
  std::optional<Value> result;
  try {
    if (other == Level::kProduction) {
      production::Compiler compiler(again, settings);
      result = compiler.run(*body);
    } else {
      CoreCompiler compiler(again);
      compiler.warn_about_order = false;
      result = compiler.run(*body);
    }
  } catch (const LimitError& e) {
    session.diagnostics.add(Severity::kNote, "SF-LEVELS", source->first,
                            fmt::format("it is not known what this means at --level {}: {}", name, e.what()));
    return;
  }
  if (!result) {
    for (const Diagnostic& d : again.diagnostics.all()) {
      if (d.severity != Severity::kError) continue;
      session.diagnostics.warning("SF-LEVELS", d.where,
                                  fmt::format("at --level {} this is an error, {}: {}", name, d.code, d.message));
      return;
    }
    return;
  }
  Comparison(session, name).compare(value, *result, session.origins.nearest(value.origin()));
}

}  // namespace tutti::smartfrog
