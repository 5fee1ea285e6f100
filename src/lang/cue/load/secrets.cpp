#include "lang/cue/load/secrets.h"

#include <algorithm>
#include <unordered_set>

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
  std::vector<std::string> texts;
  std::unordered_set<const Vertex*> seen;

  void look(const Vertex* v) {
    v = v->deref_value();
    if (!seen.insert(v).second) return;
    for (const Vertex* a : v->arcs) {
      if (is_secret(a)) {
        for (const KeptConjunct& c : a->conjuncts) take(expression_of(c.x));
        if (const Node* value = a->deref_value()->base) take(value);
      }
      look(a);
    }
  }

  // What is written in an expression of a secret.
  void take(const Node* x) {
    switch (x->type) {
      case NodeType::kString: add(std::string(to<String>(x)->text)); return;
      case NodeType::kBytes: add(std::string(to<Bytes>(x)->text)); return;
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

  void add(std::string text) {
    if (text.size() > 3) texts.push_back(std::move(text));
  }
};

}  // namespace

const std::vector<std::string>& SecretTexts::texts() const {
  if (!looked_ && root_) {
    Search search;
    search.look(root_);
    texts_ = std::move(search.texts);
    // The longest first: one may be in another.
    std::sort(texts_.begin(), texts_.end(), [](const auto& a, const auto& b) { return a.size() > b.size(); });
  }
  looked_ = true;
  return texts_;
}

std::string SecretTexts::mask(std::string text) const {
  constexpr std::string_view kShown = "(secret)";
  for (const std::string& secret : texts())
    for (std::size_t at = text.find(secret); at != text.npos; at = text.find(secret, at + kShown.size()))
      text.replace(at, secret.size(), kShown);
  return text;
}

bool SecretTexts::in(std::string_view text) const {
  return std::any_of(texts().begin(), texts().end(), [&](const std::string& s) { return text.find(s) != text.npos; });
}

}  // namespace tutti::cue
