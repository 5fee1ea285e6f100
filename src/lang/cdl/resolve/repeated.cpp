// "A property with a particular name MUST NOT appear more than once in a property list" (5.1). Documents that do it are
// read all the same, as lists of values, which is what their writers mean; `vet` says what the specification says.
#include <fmt/format.h>

#include <set>
#include <unordered_map>

#include "lang/cdl/resolve/system.h"

namespace tutti::cdl {
namespace {

class Repeated {
 public:
  explicit Repeated(Session& session) : session_(session) {}

  void look(const Node& n) {
    Budget::Level level(session_.budget);
    session_.budget.step();
    std::unordered_map<std::string, const Element*> first;
    for (const Content& c : n.items()) {
      if (!c.node || c.node->source->kind != ElementKind::kProperty) continue;
      auto [it, fresh] = first.emplace(c.node->name().text(), c.node->source);
      if (!fresh) tell(n, *it->second, *c.node->source);
      if (seen_.insert(c.node->source).second) look(*c.node);  // what is copied is looked at where it first stands
    }
  }

 private:
  void tell(const Node& list, const Element& one, const Element& other) {
    if (!told_.insert(&other).second) return;
    session_.diagnostics
        .warning("CDL-REPEATED-PROPERTY", Span(other.pos),
                 fmt::format("`{}` is in {} more than once", other.name.local.text(), path_of(list)))
        .relate(Span(one.pos), "it is here already")
        .suggest("the specification allows a name once in a property list (5.1); a reference to it cannot be resolved");
  }

  Session& session_;
  std::set<const Element*> seen_, told_;
};

}  // namespace

void warn_about_repeated(const System& system) { Repeated(system.session()).look(system.root()); }

}  // namespace tutti::cdl
