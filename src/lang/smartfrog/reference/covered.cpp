#include "lang/smartfrog/reference/covered.h"

#include <fmt/format.h>

namespace tutti::smartfrog::reference {
namespace {

bool refuse(Session& session, Span at, std::string_view what, std::string_view why) {
  session.diagnostics.error("REF-OUTSIDE", at, fmt::format("the published semantics has no {}: {}", what, why))
      .suggest("leave out --reference, or what it does not speak of");
  return false;
}

bool covered_component(Session& session, const Component& c) {
  bool fine = true;
  if (c.data) fine = refuse(session, Span(c.begin), "`extends DATA`", "it is of the production language");
  for (const Prototype& p : c.prototypes)
    if (p.body) fine &= covered(session, *p.body);
  return fine;
}

}  // namespace

bool covered(Session& session, const Body& body) {
  Budget::Level level(session.budget);
  bool fine = true;
  for (const OrderRule& rule : body.orders)
    fine = refuse(session, Span(rule.begin, rule.end), "order rules", "figure 19 only supposes them");
  for (const Attribute& a : body.attributes) {
    if (!a.tags.empty()) fine = refuse(session, a.name_span(), "secrets", "by it `[sfSecret]` would be printed");
    if (a.value.kind == ExprKind::kComponent) fine &= covered_component(session, *a.value.component);
  }
  return fine;
}

}  // namespace tutti::smartfrog::reference
