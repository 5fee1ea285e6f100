// What is shown must stand on its own: what it refers to that is not part of it is written in its place, or is taken
// along under a name when it is used often, refers to itself, or is closed.
#include <algorithm>

#include "lang/cue/builtin/registry.h"
#include "lang/cue/export/exporter.h"
#include "lang/cue/format/literal.h"
#include "lang/cue/import/decode.h"

namespace tutti::cue {

bool closed_by_definition(const Vertex* v) {
  for (; v; v = v->parent)
    if (v->label.is_def() || v->closed_recursive) return true;
  return false;
}

// What a reference to something outside refers to; nullptr for one to what is shown, and for packages that are to be
// imported.
Vertex* Exporter::outside(Environment* env, const Node* x) const {
  Vertex* found = nullptr;
  if (x->type == NodeType::kFieldRef) {
    auto* r = to<FieldRef>(x);
    const Environment* at = outer_scope(env, r->up);
    if (scopes_.find(env, r->up) || !at || !at->vertex) return nullptr;
    found = at->vertex->deref_value()->find_raw(r->label);
  } else if (x->type == NodeType::kImportRef) {
    if (p_.inline_imports && c_.import_package) found = c_.import_package(to<ImportRef>(x)->path);
  } else if (x->type == NodeType::kSelector) {
    Vertex* of = outside(env, to<Selector>(x)->x);
    if (of) found = of->deref_value()->find_raw(to<Selector>(x)->label);
  }
  if (found) c_.finalize(found);
  return found;
}

// The value that an expression is about: `-e '#A'` shows what #A is.
Vertex* Exporter::root_of(Vertex* v) const {
  if (v->deref_value() != v && v->conjuncts.size() == 1) return v->deref_value();
  if (v->conjuncts.size() != 1) return v;
  Vertex* target = outside(v->conjuncts[0].env, expression_of(v->conjuncts[0].x));
  return target && !target->conjuncts.empty() ? target : v;
}

bool Exporter::taken_along(Vertex* v, const Guest& g) const {
  if (g.cyclic || (p_.guest_definitions && v->label.is_def())) return true;
  if (!(c_.kinds(v) & (kStructKind | kListKind))) return false;
  return g.mentions > 1 || closed_by_definition(v);
}

// Each is followed once, to learn how often it is mentioned and whether it comes back to itself.
void Exporter::survey(Vertex* v) {
  Guest& g = guests_[v];
  ++g.mentions;
  if (g.underway) {
    auto from = std::find(underway_.begin(), underway_.end(), v);
    for (auto i = from; i != underway_.end(); ++i) {
      guests_[*i].cyclic = true;
      guests_[*i].through |= underway_.end() - from > 1;
    }
  }
  if (g.mentions > 1) return;
  g.underway = true;
  underway_.push_back(v);
  fold(v);
  underway_.pop_back();
  guests_[v].underway = false;
}

ast::Node* Exporter::brought_in(Vertex* v) {
  if (v == root_ && !root_name_.empty()) return ident(root_name_);
  if (surveying_) {
    survey(v);
    return ident("_");
  }
  Guest& g = guests_[v];
  if (!taken_along(v, g)) return v->conjuncts.empty() ? value(v, v) : fold(v);
  bool definition = v->label.is_def();
  // A let cannot refer to itself; what comes back to itself is a hidden field, or a definition inside the let.
  bool hidden = !p_.guest_definitions && (g.through || (g.cyclic && !definition));
  if (g.name.empty()) {
    std::string plain(v->label.name());
    plain.erase(0, std::min(plain.find_first_not_of("_#"), plain.size()));
    if (plain.empty() || !is_identifier(plain)) plain = "X";
    if (p_.guest_definitions)
      plain.insert(0, "#");
    else if (hidden)
      plain.insert(0, definition ? "_#" : "_");
    else
      std::transform(plain.begin(), plain.end(), plain.begin(), [](unsigned char c) { return std::toupper(c); });
    // A definition that is taken along keeps its name, by which it is referred to, unless two have the same.
    auto taken = [&](Vertex* other) { return guests_[other].name == plain; };
    bool keep = p_.guest_definitions && std::none_of(arrived_.begin(), arrived_.end(), taken);
    g.name = keep ? plain : scopes_.fresh_name(plain);
    arrived_.push_back(v);
  }
  if (hidden || p_.guest_definitions || !definition) return ident(g.name);
  if (g.underway) return ident("#x");  // inside its own let
  return arena_.make<ast::Selector>(ident(g.name), TokenPos{}, ident("#x"));
}

std::string Exporter::guest_comment(const Vertex* v) const {
  std::string path;
  for (; v && v->label.valid(); v = v->parent) {
    std::string l = v->label.is_string() ? label_text(v->label.name()) : std::string(v->label.name());
    path = path.empty() ? l : l + "." + path;
  }
  return "//cue:path: " + path;
}

// Those taken along, each after the last: writing one may bring in more.
std::vector<ast::Node*> Exporter::guests() {
  std::vector<ast::Node*> out;
  for (std::size_t i = 0; i < arrived_.size(); ++i) {
    Vertex* v = arrived_[i];
    bool definition = v->label.is_def();
    std::string name = guests_[v].name;
    bool field = p_.guest_definitions || name.starts_with('_');
    guests_[v].underway = !field;
    ast::Node* body = fold(v);
    guests_[v].underway = false;
    if (definition && !field) body = make_struct({make_field(arena_, ident("#x"), body)}, true);
    ast::Node* decl = field ? static_cast<ast::Node*>(make_field(arena_, ident(name), body))
                            : arena_.make<ast::Let>(TokenPos{}, ident(name), TokenPos{}, body);
    out.push_back(decl);
    if (p_.guest_definitions) continue;
    ast::Comment comment{{{}, Rel::kNewSection}, arena_.copy(guest_comment(v))};
    ast::CommentGroup group;
    group.doc = true;
    group.list = arena_.copy(std::span<const ast::Comment>(&comment, 1));
    ast::add_comment(arena_, decl, group);
  }
  return out;
}

}  // namespace tutti::cue
