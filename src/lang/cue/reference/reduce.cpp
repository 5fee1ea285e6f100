#include "lang/cue/reference/reduce.h"

#include <algorithm>

namespace tutti::cue::kcue {

namespace {

struct Scope {
  const Term* literal;
  int level;
};

bool declares(const Term* literal, const std::string& label) {
  return std::ranges::any_of(literal->all, [&](auto& x) { return x->kind == TermKind::kField && x->text == label; });
}

// The term with the depths that lexical scoping gives its references; nullptr when one of them names nothing.
TermPtr bound(const TermPtr& t, std::vector<Scope>& scopes, int level) {
  switch (t->kind) {
    case TermKind::kConst: return t;
    case TermKind::kRef:
      for (std::size_t i = scopes.size(); i-- > 0;)
        if (declares(scopes[i].literal, t->text)) return reference(t->text, level - scopes[i].level);
      return nullptr;
    case TermKind::kField: {
      TermPtr in = bound(t->inner, scopes, level + 1);
      return in ? field(t->text, in) : nullptr;
    }
    case TermKind::kProject: {
      TermPtr in = bound(t->inner, scopes, level + 1);
      return in ? project(in, t->text) : nullptr;
    }
    case TermKind::kAll: {
      scopes.push_back({t.get(), level});
      std::vector<TermPtr> out;
      for (auto& x : t->all) out.push_back(bound(x, scopes, level));
      scopes.pop_back();
      return std::ranges::find(out, nullptr) == out.end() ? all(std::move(out)) : nullptr;
    }
  }
  return t;
}

// Every term that has one part less.
void smaller(const TermPtr& t, const std::function<void(TermPtr)>& yield) {
  switch (t->kind) {
    case TermKind::kConst: return;
    case TermKind::kRef: yield(constant("_")); return;
    case TermKind::kField: smaller(t->inner, [&](TermPtr x) { yield(field(t->text, std::move(x))); }); return;
    case TermKind::kProject:
      yield(constant("_"));
      if (t->inner->kind != TermKind::kAll) yield(t->inner);
      smaller(t->inner, [&](const TermPtr& x) {
        if (x->kind != TermKind::kConst) yield(project(x, t->text));
      });
      return;
    case TermKind::kAll:
      for (std::size_t i = 0; i < t->all.size(); ++i) {
        std::vector<TermPtr> rest = t->all;
        rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(i));
        if (!rest.empty()) yield(all(rest));
        rest.insert(rest.begin() + static_cast<std::ptrdiff_t>(i), nullptr);
        smaller(t->all[i], [&](TermPtr x) {
          rest[i] = std::move(x);
          yield(all(rest));
        });
      }
      return;
  }
}

}  // namespace

TermPtr reduced(TermPtr program, const std::function<bool(const TermPtr&)>& still) {
  for (bool changed = true; changed;) {
    changed = false;
    std::vector<TermPtr> candidates;
    smaller(program, [&](TermPtr x) { candidates.push_back(std::move(x)); });
    for (auto& c : candidates) {
      std::vector<Scope> scopes;
      TermPtr b = bound(c, scopes, 0);
      if (!b || !still(b)) continue;
      program = b;
      changed = true;
      break;
    }
  }
  return program;
}

}  // namespace tutti::cue::kcue
