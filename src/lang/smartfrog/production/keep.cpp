#include <fmt/format.h>

#include "lang/smartfrog/production/names.h"
#include "lang/smartfrog/production/production.h"

// References kept for another language: where a link leads to an attribute of the result itself, the way to it is
// written down before links are resolved (lang/common/links.h). Links to prototypes and other things outside the
// result, through other links, or with conditions are not kept: their values are.
namespace tutti::smartfrog::production {

void Compiler::keep_links(Description* d) {
  Budget::Level level(session_.budget);
  for (Slot& s : d->slots) {
    if (s.item.is(What::kReference) && !s.item.data && !s.item.ref->optional)
      s.kept = way_to(d, *s.item.ref);
    else if (s.item.is(What::kDescription))
      keep_links(s.item.description);
  }
}

Symbol Compiler::way_to(Description* from, const Reference& r) {
  Description* d = from;
  std::vector<Symbol> down;  // from the component in which the first name was found
  Description* top = nullptr;
  for (std::size_t i = 0; i < r.parts.size(); i++) {
    const RefPart& p = r.parts[i];
    switch (p.kind) {
      case Part::kParent: d = d->parent; break;
      case Part::kRoot:
        while (d->parent) d = d->parent;
        break;
      case Part::kThis: break;
      case Part::kAttrib:
        while (d && !d->slots.find(p.name)) d = d->parent;
        [[fallthrough]];
      case Part::kHere: {
        const Slot* s = d ? d->slots.find(p.name) : nullptr;
        if (!s) return {};
        if (!top)
          top = d;
        else if (p.kind == Part::kAttrib && down.empty())
          top = d;
        down.push_back(p.name);
        if (i + 1 == r.parts.size()) break;
        if (!s->item.is(What::kDescription)) return {};
        d = s->item.description;
        break;
      }
      default: return {};
    }
    if (!d) return {};
    if (down.empty()) top = d;
  }
  if (down.empty() || !top) return {};
  // By way of the file: ROOT:sfConfig:x.
  const Slot* first = top->slots.find(down[0]);
  if (first && first->item.is(What::kDescription) && first->item.description == result_ && down.size() > 1)
    return from_root(result_, std::span<const Symbol>(down).subspan(1));
  // Up from the component that holds the link to the one the names begin in; that must be part of the result.
  std::string way;
  Description* up = from;
  bool inside = false;
  for (Description* o = top; o; o = o->parent) inside |= o == result_;
  if (!inside) return {};
  while (up && up != top) {
    if (up == result_) return from_root(top, down);
    up = up->parent;
    way += "../";
  }
  if (!up) return from_root(top, down);
  for (Symbol name : down) {
    if (name.text().find('/') != std::string_view::npos) return {};
    way += fmt::format("{}{}", way.empty() || way.back() == '/' ? "" : "/", name.text());
  }
  return Symbol(way);
}

// The way from the root of the result, for what is neither around the link nor in what is.
Symbol Compiler::from_root(Description* top, std::span<const Symbol> down) {
  std::vector<Symbol> names;
  for (Description* o = top; o != result_; o = o->parent) {
    Symbol key;
    for (const Slot& s : o->parent->slots)
      if (s.item.is(What::kDescription) && s.item.description == o) key = s.key;
    if (key.empty()) return {};
    names.insert(names.begin(), key);
  }
  names.insert(names.end(), down.begin(), down.end());
  std::string way;
  for (Symbol name : names) {
    if (name.text().find('/') != std::string_view::npos) return {};
    way += fmt::format("/{}", name.text());
  }
  return Symbol(way);
}

}  // namespace tutti::smartfrog::production
