#include "lang/cue/load/secrets.h"

#include <set>
#include <utility>

namespace tutti::cue {

bool is_secret(const Vertex* field) {
  for (const KeptConjunct& c : field->conjuncts) {
    if (!c.x->src() || c.x->src()->kind != ast::Kind::kField) continue;
    for (const ast::Node* x : static_cast<const ast::Field*>(c.x->src())->attrs)
      if (static_cast<const ast::Attribute*>(x)->text.starts_with("@secret(")) return true;
  }
  return false;
}

namespace {

struct Search {
  Sources& sources;
  std::set<std::pair<const Vertex*, bool>> seen{};

  // What is in a secret struct or list is as secret as that.
  void look(const Vertex* v, bool secret = false) {
    v = v->deref_value();
    if (!seen.insert({v, secret}).second) return;
    for (const Vertex* a : v->arcs) {
      bool hidden = secret || is_secret(a);
      if (hidden) {
        for (const KeptConjunct& c : a->conjuncts) take(expression_of(c.x));
        if (const Node* value = a->deref_value()->base) take(value);
      }
      look(a, hidden);
    }
  }

  // What is written in an expression of a secret.
  void take(const Node* x) {
    switch (x->type) {
      case NodeType::kString: add(to<String>(x)->text); return;
      case NodeType::kBytes: add(to<Bytes>(x)->text); return;
      case NodeType::kNum: add(to<Num>(x)->value.text()); return;
      case NodeType::kBinary:
        take(to<Binary>(x)->x);
        take(to<Binary>(x)->y);
        return;
      case NodeType::kInterpolation:
        for (const Node* p : to<Interpolation>(x)->parts) take(p);
        return;
      case NodeType::kDisjunctionExpr:
        for (auto& d : to<DisjunctionExpr>(x)->values) take(d.value);
        return;
      case NodeType::kDisjunction:
        for (const Node* d : to<Disjunction>(x)->values) take(d);
        return;
      default: return;
    }
  }

  void add(std::string_view text) { sources.keep_secret(text); }
};

}  // namespace

void keep_secrets(const Vertex* root, Sources& sources) {
  if (root && sources.has_secrets()) Search{sources}.look(root);  // no mark in any text, no secret
}

}  // namespace tutti::cue
