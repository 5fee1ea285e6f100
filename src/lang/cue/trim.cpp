#include "lang/cue/trim.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <unordered_map>

#include "lang/cue/eval/context.h"
#include "lang/cue/format/format.h"
#include "lang/cue/format/literal.h"
#include "lang/cue/format/walk.h"
#include "lang/cue/import/decode.h"

namespace tutti::cue {

using ast::as;

namespace {

// A value written at its own place: of a field, or an element of a list.
struct Slot {
  ast::Field* field = nullptr;
  ast::Node* element = nullptr;
  ast::Node* scope = nullptr;  // the struct or file it is declared in
  bool may_change = false;
  ast::Node* value() const { return field ? field->value : element; }
  const ast::Node* node() const { return field ? static_cast<const ast::Node*>(field) : element; }
};

enum class Action { kDrop, kTop };

struct Edit {
  const ast::Node* node = nullptr;
  Action action = Action::kDrop;
};

bool is_type_name(std::string_view n) {
  static const std::set<std::string_view> kTypes = {
      "_",      "bool", "number", "int",   "float", "string", "bytes",   "uint",    "uint8",  "uint16", "uint32",
      "uint64", "int8", "int16",  "int32", "int64", "rune",   "float32", "float64", "int128", "uint128"};
  return kTypes.count(n) > 0;
}

// Made of literals, types and bounds: nothing else can depend on how it is written.
bool is_plain(const ast::Node* n) {
  switch (n->kind) {
    case ast::Kind::kLit: return true;
    case ast::Kind::kIdent: return is_type_name(as<ast::Ident>(n)->name.text());
    case ast::Kind::kUnary: return is_plain(as<ast::Unary>(n)->x);
    case ast::Kind::kParen: return is_plain(as<ast::Paren>(n)->x);
    case ast::Kind::kBinary: return is_plain(as<ast::Binary>(n)->x) && is_plain(as<ast::Binary>(n)->y);
    case ast::Kind::kList: {
      for (const ast::Node* e : as<ast::List>(n)->elts)
        if (e->kind == ast::Kind::kEllipsis || !is_plain(e)) return false;
      return true;
    }
    case ast::Kind::kStruct: {
      for (const ast::Node* d : as<ast::Struct>(n)->elts) {
        if (d->kind != ast::Kind::kField) return false;
        auto* f = as<ast::Field>(d);
        bool named = f->label->kind == ast::Kind::kIdent || f->label->kind == ast::Kind::kLit;
        if (!named || f->constraint != Tok::kIllegal || !f->attrs.empty() || f->alias || !f->value ||
            !is_plain(f->value))
          return false;
      }
      return true;
    }
    default: return false;
  }
}

// Struct literals whose fields can be looked at one by one. What embeds something is kept as it is.
bool can_enter(const ast::Node* n) {
  if (n->kind != ast::Kind::kStruct) return false;
  for (const ast::Node* d : as<ast::Struct>(n)->elts)
    if (d->kind == ast::Kind::kEmbed) return false;
  return true;
}

// Those that an expression is made of: {...} itself, or operands of &.
void literals_of(ast::Node* n, std::vector<ast::Struct*>& out) {
  if (can_enter(n)) out.push_back(as<ast::Struct>(n));
  if (n->kind != ast::Kind::kBinary || as<ast::Binary>(n)->op != Tok::kAnd) return;
  literals_of(as<ast::Binary>(n)->x, out);
  literals_of(as<ast::Binary>(n)->y, out);
}

bool plain_list(const ast::Node* n) {
  if (n->kind != ast::Kind::kList) return false;
  for (const ast::Node* e : as<ast::List>(n)->elts)
    if (e->kind == ast::Kind::kEllipsis || e->kind == ast::Kind::kComprehension) return false;
  return true;
}

class Trimmer {
 public:
  Trimmer(Context& c, const std::set<const ast::Node*>& added) : c_(c), added_(added) {}

  void file(ast::File* f, bool may_change) {
    for (ast::Node* d : f->decls) {
      declaration(d, f, may_change, top_);
      if (d->kind == ast::Kind::kField) declared_[label_name(as<ast::Field>(d)->label)].push_back(as<ast::Field>(d));
    }
    find_arms(f, false);
  }
  void search(Vertex* root) {
    // What an arm is called is an arm itself, wherever else it is used.
    while (!named_arms_.empty()) {
      std::vector<ast::Field*> meant = std::move(declared_[named_arms_.back()]);
      named_arms_.pop_back();
      for (ast::Field* f : meant)
        if (f->value) find_arms(f->value, true);
    }
    fields(top_, root);
  }
  std::vector<Edit> edits;

 private:
  using Level = std::map<std::pair<std::string, bool>, std::vector<Slot>>;  // by name, and whether it is a string label

  static void references(ast::Node* n, std::set<std::string>& out) {
    if (n->kind == ast::Kind::kField) {
      auto* field = as<ast::Field>(n);
      if (field->label->kind != ast::Kind::kIdent) references(field->label, out);
      if (field->value) references(field->value, out);
      return;
    }
    if (n->kind == ast::Kind::kIdent) out.insert(std::string(as<ast::Ident>(n)->name.text()));
    if (n->kind == ast::Kind::kSelector) return references(as<ast::Selector>(n)->x, out);
    for_children(n, [&](ast::Node* x) { references(x, out); });
  }
  // Does an expression inside the scope look a name up that may be this one?
  bool referenced(ast::Node* scope, const std::string& name) {
    auto [it, fresh] = used_.try_emplace(scope);
    if (fresh) references(scope, it->second);
    return it->second.count(name) > 0;
  }

  // Fields of the arms of disjunctions, and what the arms refer to: which arm it is may be known only by what is
  // written where it is used.
  void find_arms(ast::Node* n, bool in_arm) {
    if (in_arm && n->kind == ast::Kind::kField) {
      arms_.insert(n);
      arms_.insert(as<ast::Field>(n)->value);
    }
    if (in_arm && (n->kind == ast::Kind::kIdent || n->kind == ast::Kind::kSelector)) arms_.insert(n);
    if (in_arm && n->kind == ast::Kind::kIdent) named_arms_.emplace_back(as<ast::Ident>(n)->name.text());
    in_arm = in_arm || (n->kind == ast::Kind::kBinary && as<ast::Binary>(n)->op == Tok::kOr);
    for_children(n, [&](ast::Node* c) { find_arms(c, in_arm); });
  }

  void declaration(ast::Node* d, ast::Node* scope, bool may_change, Level& level) {
    if (d->kind != ast::Kind::kField) return;
    auto* f = as<ast::Field>(d);
    bool ident = f->label->kind == ast::Kind::kIdent;
    std::string name = label_name(f->label);
    if (name.empty() || f->constraint != Tok::kIllegal || !f->attrs.empty() || f->alias || !f->value) return;
    if (ident && (name.starts_with('#') || name.starts_with("_#"))) return;
    Slot s;
    s.field = f;
    s.scope = scope;
    s.may_change = may_change;
    level[{name, !ident}].push_back(s);
  }

  void fields(const Level& level, Vertex* v) {
    cue::Level deeper(c_);
    std::unordered_map<std::string_view, Vertex*> hidden;
    for (Vertex* a : v->arcs)
      if (a->label.is_hidden()) hidden.emplace(a->label.name(), a);
    for (const auto& [key, slots] : level) {
      const auto& [name, quoted] = key;
      if (quoted || !name.starts_with('_')) {
        if (Vertex* a = v->find_raw(Label::string(name))) place(slots, a);
      } else if (auto it = hidden.find(name); it != hidden.end()) {
        place(slots, it->second);
      }
    }
  }

  bool from_arm(const Conjunct& x) const {
    if (arms_.count(x.x->src()) > 0) return true;
    for (const RefNode* r = x.ci.refs; r; r = r->next)
      if (arms_.count(r->ref->src()) > 0) return true;
    return false;
  }

  // One place of the result, and everything that is written at it directly.
  void place(const std::vector<Slot>& slots, Vertex* v) {
    if (v->is_shared) return;
    std::set<const ast::Node*> written;
    for (const Slot& s : slots) {
      written.insert(s.node());
      written.insert(s.value());
    }
    std::vector<Conjunct> rest;
    bool member = false, chosen = false;
    for (const KeptConjunct& x : v->conjuncts) {
      if (x.x->src() && written.count(x.x->src())) {
        // A reference is what other values are compared with.
        const Slot* own = nullptr;
        for (const Slot& s : slots)
          if (s.node() == x.x->src() || s.value() == x.x->src()) own = &s;
        if (own && (is_plain(own->value()) || can_enter(own->value()) || plain_list(own->value()))) continue;
      } else if (x.x->type == NodeType::kField) {
        member = member || to<Field>(x.x)->arc == ArcType::kMember;
      } else if (x.x->type != NodeType::kPattern) {
        member = member || x.x->type == NodeType::kDynamicField;
      }
      chosen = chosen || from_arm(x);
      rest.push_back(x);
    }
    std::set<const ast::Node*> gone;
    Vertex* other = nullptr;
    if (!rest.empty() && !v->is_err() && !chosen) {
      other = alone(v, rest);
      for (const Slot& s : slots) {
        if (!s.may_change || added_.contains(s.value()) || !is_plain(s.value()) || is_top(s.value()) ||
            (s.element && is_empty(s.value())))
          continue;
        if (!implied(other, v, s.value())) continue;
        remove(s, member);
        gone.insert(s.node());
      }
    } else if (rest.empty()) {
      duplicates(slots, gone);
    }
    descend(slots, gone, v);
    // what is left of a struct when all its fields are gone
    if (!other || other->is_err() || c_.kinds(other) != kStructKind) return;
    for (const Slot& s : slots)
      if (s.field && s.may_change && !gone.count(s.node()) && emptied(s.value())) remove(s, member);
  }

  bool emptied(const ast::Node* n) const {
    if (!can_enter(n) || is_empty(n)) return false;
    ast::Nodes fields = as<ast::Struct>(n)->elts;
    return std::all_of(fields.begin(), fields.end(), [&](const ast::Node* d) { return dropped_.count(d) > 0; });
  }

  static bool is_empty(const ast::Node* n) { return n->kind == ast::Kind::kStruct && as<ast::Struct>(n)->elts.empty(); }
  static bool is_top(const ast::Node* n) {
    return n->kind == ast::Kind::kIdent && as<ast::Ident>(n)->name.text() == "_";
  }

  // The value of a place without what is written at it.
  Vertex* alone(Vertex* v, const std::vector<Conjunct>& rest) {
    Vertex* out = c_.new_vertex();
    out->label = v->label;
    out->parent = v->parent;
    out->arc_type = v->arc_type;
    for (const Conjunct& x : rest) out->conjuncts.push(c_.arena, x);
    c_.finalize(out);
    return out;
  }

  bool implied(Vertex* other, Vertex* v, const ast::Node* value) {
    if (other->is_err()) return false;
    bool scalar = value->kind != ast::Kind::kStruct && value->kind != ast::Kind::kList;
    if (c_.equal(other, v, true)) return true;
    // A default may stand for a scalar that says the same.
    return scalar && c_.equal(other, v, false);
  }

  void remove(const Slot& s, bool member) {
    bool drop = s.field && member && !is_empty(s.value()) &&
                !(s.field->label->kind == ast::Kind::kIdent && referenced(s.scope, label_name(s.field->label)));
    edits.push_back({s.node(), drop ? Action::kDrop : Action::kTop});
    if (drop) dropped_.insert(s.node());
  }

  // The same scalar written twice at one place.
  void duplicates(const std::vector<Slot>& slots, std::set<const ast::Node*>& gone) {
    std::set<std::string> seen;
    for (const Slot& s : slots) {
      ast::Node* x = s.value();
      if (!s.field || x->kind == ast::Kind::kStruct || x->kind == ast::Kind::kList || !is_plain(x)) continue;
      if (seen.insert(format_node(x)).second || !s.may_change) continue;
      edits.push_back({s.node(), Action::kDrop});
      dropped_.insert(s.node());
      gone.insert(s.node());
    }
  }

  void descend(const std::vector<Slot>& slots, const std::set<const ast::Node*>& gone, Vertex* v) {
    Level inner;
    std::map<std::size_t, std::vector<Slot>> elements;
    for (const Slot& s : slots) {
      if (gone.count(s.node()) || added_.contains(s.value())) continue;
      std::vector<ast::Struct*> literals;
      literals_of(s.value(), literals);
      for (ast::Struct* l : literals)
        for (ast::Node* d : l->elts) declaration(d, l, s.may_change, inner);
      if (plain_list(s.value())) {
        std::size_t i = 0;
        for (ast::Node* e : as<ast::List>(s.value())->elts) {
          Slot x;
          x.element = e;
          x.scope = s.scope;
          x.may_change = s.may_change;
          elements[i++].push_back(x);
        }
      }
    }
    Vertex* at = v->deref_value();
    if (!inner.empty()) fields(inner, at);
    if (!elements.empty()) {
      cue::Level deeper(c_);
      std::size_t i = 0;
      for (Vertex* a : at->arcs) {
        if (!a->label.is_int()) continue;
        if (auto it = elements.find(i); it != elements.end()) place(it->second, a);
        ++i;
      }
    }
  }

  Context& c_;
  const std::set<const ast::Node*>& added_;
  Level top_;
  std::set<const ast::Node*> dropped_, arms_;
  std::map<std::string, std::vector<ast::Field*>> declared_;  // at the top, by name
  std::vector<std::string> named_arms_;                       // names in arms that are still to be looked at
  std::map<const ast::Node*, std::set<std::string>> used_;    // names that expressions in a scope look up
};

// A copy of the tree with the edits made; parts without any are shared with the original.
class Rewriter {
 public:
  Rewriter(Arena& arena, std::span<const Edit> edits, const std::set<const ast::Node*>& added)
      : arena_(arena), added_(added) {
    for (const Edit& e : edits) edits_[e.node] = e.action;
  }
  bool changed = false;

  ast::File* file(ast::File* f) {
    auto* out = arena_.make<ast::File>(*f);
    out->decls = decls(f->decls);
    return out;
  }

 private:
  ast::Nodes decls(ast::Nodes list) {
    std::vector<ast::Node*> out;
    for (ast::Node* d : list) {
      if (d->kind != ast::Kind::kField) {
        out.push_back(d);
        continue;
      }
      auto* f = as<ast::Field>(d);
      auto it = edits_.find(f);
      if (it != edits_.end()) changed = true;
      if (it != edits_.end() && it->second == Action::kDrop) continue;
      auto* copy = arena_.make<ast::Field>(*f);
      copy->value = it != edits_.end() ? top(f->value) : value(f->value);
      if (!copy->value) continue;  // a: b: c with c gone
      out.push_back(copy);
    }
    return make_nodes(arena_, out);
  }

  ast::Node* top(const ast::Node* instead_of) {
    TokenPos at = ast::first(instead_of);
    at.rel = Rel::kBlank;
    return make_ident(arena_, "_", at);
  }

  ast::Node* value(ast::Node* n) {
    if (!n || added_.contains(n)) return n;
    if (n->kind == ast::Kind::kStruct) {
      auto* s = as<ast::Struct>(n);
      auto* copy = arena_.make<ast::Struct>(*s);
      copy->elts = decls(s->elts);
      if (copy->elts.empty() && !s->elts.empty()) {
        if (!s->lbrace) return top(n);  // a: b: c
        copy->rbrace.rel = Rel::kNoSpace;
      }
      return copy;
    }
    if (n->kind == ast::Kind::kBinary && as<ast::Binary>(n)->op == Tok::kAnd) {
      auto* copy = arena_.make<ast::Binary>(*as<ast::Binary>(n));
      // An operand of which nothing is left says nothing any more.
      auto emptied = [](const ast::Node* was, const ast::Node* now) {
        return was->kind == ast::Kind::kStruct && !as<ast::Struct>(was)->elts.empty() &&
               now->kind == ast::Kind::kStruct && as<ast::Struct>(now)->elts.empty();
      };
      ast::Node *left = value(copy->x), *right = value(copy->y);
      if (emptied(copy->y, right)) return left;
      if (emptied(copy->x, left)) return right;
      copy->x = left;
      copy->y = right;
      return copy;
    }
    if (n->kind == ast::Kind::kList) {
      auto* l = as<ast::List>(n);
      auto* copy = arena_.make<ast::List>(*l);
      std::vector<ast::Node*> out;
      for (ast::Node* e : l->elts) {
        if (edits_.count(e)) {
          changed = true;
          ast::Node* t = top(e);
          as<ast::Ident>(t)->pos.rel = ast::first(e).rel;
          out.push_back(t);
        } else {
          out.push_back(value(e));
        }
      }
      copy->elts = make_nodes(arena_, out);
      return copy;
    }
    return n;
  }

  Arena& arena_;
  const std::set<const ast::Node*>& added_;
  std::map<const ast::Node*, Action> edits_;
};

}  // namespace

std::vector<ast::File*> trim_files(Context& c, Arena& arena, Vertex* root, const std::vector<ast::File*>& files,
                                   const std::set<const ast::Node*>& added,
                                   const std::function<bool(const ast::File*)>& own,
                                   const std::function<Vertex*(const std::vector<ast::File*>&)>& rebuild) {
  Trimmer t(c, added);
  for (ast::File* f : files) t.file(f, own(f));
  t.search(root);
  if (t.edits.empty()) return files;
  auto apply = [&](std::span<const Edit> edits) {
    std::vector<ast::File*> out;
    for (ast::File* f : files) {
      Rewriter r(arena, edits, added);
      ast::File* changed = r.file(f);
      out.push_back(r.changed ? changed : f);
    }
    return out;
  };
  auto same = [&](std::span<const Edit> edits) {
    Vertex* v = rebuild(apply(edits));
    return v && c.equal(root, v, false);
  };
  if (same(t.edits)) return apply(t.edits);
  // Some removals belong together with others that must stay: halves, then their halves.
  std::vector<Edit> kept;
  std::function<void(std::span<const Edit>)> add = [&](std::span<const Edit> some) {
    if (some.empty()) return;
    std::vector<Edit> tried = kept;
    tried.insert(tried.end(), some.begin(), some.end());
    if (same(tried)) {
      kept = std::move(tried);
      return;
    }
    if (some.size() == 1) return;
    add(some.first(some.size() / 2));
    add(some.subspan(some.size() / 2));
  };
  add(std::span<const Edit>(t.edits).first(t.edits.size() / 2));
  add(std::span<const Edit>(t.edits).subspan(t.edits.size() / 2));
  return kept.empty() ? files : apply(kept);
}

namespace {

// Takes the values of embedded files out again. Nodes are changed in place: the tree has been used by then.
class AsWritten {
 public:
  AsWritten(Arena& arena, const std::set<const ast::Node*>& added) : arena_(arena), added_(added) {}
  void decls(ast::Nodes& list) {
    std::vector<ast::Node*> out;
    for (ast::Node* d : list) {
      if (added_.contains(d)) continue;
      out.push_back(d);
      walk(d);
    }
    if (out.size() != list.size()) list = make_nodes(arena_, out);
  }

 private:
  void walk(ast::Node* n) {
    if (n->kind == ast::Kind::kStruct) return decls(as<ast::Struct>(n)->elts);
    if (auto* f = n->kind == ast::Kind::kField ? as<ast::Field>(n) : nullptr; f && f->value)
      while (added_.contains(f->value)) f->value = as<ast::Binary>(f->value)->x;
    for_children(n, [&](ast::Node* c) { walk(c); });
  }

  Arena& arena_;
  const std::set<const ast::Node*>& added_;
};

}  // namespace

std::vector<ast::File*> without_added(Arena& arena, const std::vector<ast::File*>& files,
                                      const std::set<const ast::Node*>& added) {
  if (!added.empty())
    for (ast::File* f : files) AsWritten(arena, added).decls(f->decls);
  return files;
}

}  // namespace tutti::cue
