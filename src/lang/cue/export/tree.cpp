// Vertices as syntax: what a vertex is shown as is decided first, then made.
#include <algorithm>

#include "lang/cue/export/constraint.h"
#include "lang/cue/export/exporter.h"
#include "lang/cue/export/order.h"
#include "lang/cue/import/decode.h"

namespace tutti::cue {

namespace {

bool has_elements(const Vertex* v) {
  return std::any_of(v->arcs.begin(), v->arcs.end(), [](const Vertex* a) { return a->label.is_int(); });
}

}  // namespace

// Definitions and hidden fields that are to be shown beside a list or a scalar.
bool Exporter::has_side_fields(Vertex* v) const {
  return std::any_of(v->arcs.begin(), v->arcs.end(), [&](const Vertex* a) {
    return (p_.show_definitions && a->label.is_def()) || (p_.show_hidden && a->label.is_hidden());
  });
}

Exporter::Shape Exporter::shape(Vertex* v, bool attributes) const {
  if (!v->base) return Shape::kUnresolved;
  bool beside = attributes || has_side_fields(v);
  switch (v->base->type) {
    case NodeType::kStructMarker: return Shape::kStruct;
    case NodeType::kListMarker: return beside ? Shape::kStruct : Shape::kList;
    case NodeType::kBottom: {
      auto* b = to<Bottom>(v->base);
      if (v->arc_type == ArcType::kOptional) return Shape::kUnresolved;
      if (v->arc_type == ArcType::kRequired && b->code == Code::kStructuralCycle) return Shape::kUnresolved;
      // The error is shown below, where it is.
      if (p_.show_errors && b->child_error)
        return !beside && !v->arcs.empty() && v->arcs[0]->label.is_int() ? Shape::kList : Shape::kStruct;
      bool final = !b->incomplete() || v->conjuncts.empty() || p_.final;
      return final ? Shape::kError : Shape::kUnresolved;
    }
    default: return beside ? Shape::kStruct : Shape::kValue;
  }
}

ast::Node* Exporter::vertex(Vertex* v) {
  written_.syntax();
  v = v->deref_value();
  // Nobody may have asked yet for an optional field within another.
  if (!v->base && v->status != Status::kFinalized) c_.finalize(v);
  if (scopes_.showing(v)) return ident("_");
  std::vector<ast::Node*> attributes;
  if (p_.show_attributes) attributes = decl_attrs(v);
  scopes_.open(v);
  for (const KeptConjunct& c : v->conjuncts) note_lets(expression_of(c.x));
  Shape s = shape(v, !attributes.empty());
  ast::Node* out = nullptr;
  switch (s) {
    case Shape::kStruct: out = structure(v, attributes); break;
    case Shape::kList: out = list(v); break;
    case Shape::kValue: out = value(v->base, v); break;
    case Shape::kError: out = bottom(to<Bottom>(v->base)); break;
    case Shape::kUnresolved: out = as_written(v); break;
  }
  // What needs a let is shown in the struct that has it.
  if (s != Shape::kStruct && uses_lets()) out = fold(v);
  scopes_.close();
  return out;
}

// What is not a value yet: the expressions that were said about it.
ast::Node* Exporter::as_written(Vertex* v) {
  std::vector<Said> said;
  for (const KeptConjunct& c : v->conjuncts) said.push_back({c.env, expression_of(c.x)});
  std::stable_sort(said.begin(), said.end(), [](const Said& a, const Said& b) { return constraint_before(a.x, b.x); });
  std::vector<ast::Node*> parts;
  for (auto s = said.begin(); s != said.end(); ++s) {
    bool again = std::any_of(said.begin(), s, [&](const Said& before) { return before.x == s->x; });
    if (again) continue;
    if (ast::Node* e = written(s->env, s->x)) parts.push_back(e);
  }
  return parts.empty() ? ident("_") : join(Tok::kAnd, parts);
}

ast::Node* Exporter::list(Vertex* v) {
  std::vector<ast::Node*> items;
  for (Vertex* a : v->arcs) {
    if (!a->label.is_int()) continue;
    items.push_back(vertex(a));
    if (p_.show_docs) add_docs(items.back(), docs(a));
  }
  bool open = v->is_list() && to<ListMarker>(v->base)->open && !p_.take_defaults;
  if (open) items.push_back(arena_.make<ast::Ellipsis>(TokenPos{}, element_type(v)));
  return make_list(arena_, items);
}

// What all `...T` of a list say about further elements; nullptr for nothing.
ast::Node* Exporter::element_type(Vertex* v) {
  Vertex* type = nullptr;
  for (const KeptConjunct& c : v->conjuncts) {
    Node* x = expression_of(c.x);
    if (!x || x->type != NodeType::kList) continue;
    for (Node* e : to<ListLit>(x)->elems) {
      if (e->type != NodeType::kEllipsis || !to<Ellipsis>(e)->value) continue;
      if (!type) {
        type = c_.new_vertex();
        type->parent = v;
      }
      type->conjuncts.push(c_.arena, Conjunct{c_.new_env(c.env, v), to<Ellipsis>(e)->value, {}});
    }
  }
  if (!type) return nullptr;
  c_.finalize(type);
  return c_.kinds(type) == kTopKind ? nullptr : value(type, type);
}

bool Exporter::shown(const Vertex* arc, bool regular) const {
  if (arc->arc_type > ArcType::kOptional) return false;
  if (arc->arc_type == ArcType::kOptional && !p_.show_optional) return false;
  Label l = arc->label;
  switch (l.kind()) {
    case LabelKind::kString: return regular;
    case LabelKind::kDefinition: return p_.show_definitions;
    case LabelKind::kHidden:
    case LabelKind::kHiddenDefinition: return p_.show_hidden && l == Label::ident(l.name(), package_);
    default: return false;
  }
}

// Braces: the value or list that is embedded, attributes, fields in their order.
ast::Node* Exporter::structure(Vertex* v, const std::vector<ast::Node*>& attributes) {
  auto add = [&](ast::Node* d) { scopes_.innermost().decls.push_back(d); };
  auto embed = [&](ast::Node* x) { add(arena_.make<ast::Embed>(x)); };
  bool failed = v->base->type == NodeType::kBottom;  // in one of its arcs
  bool regular = failed || v->base->type == NodeType::kStructMarker;
  bool elements = v->base->type == NodeType::kListMarker || (failed && has_elements(v));
  if (!regular && !elements) embed(value(v->base));
  for (ast::Node* a : attributes) add(a);
  std::vector<Vertex*> fields;
  order_.of(v, fields);
  for (Vertex* arc : fields)
    if (shown(arc, regular)) add(field(arc->label, arc));
  if (elements) embed(list(v));
  return take_scope();
}

ast::Field* Exporter::field(Label l, Vertex* arc) {
  ast::Field* f = make_field(arena_, label(l, arc->conjuncts), nullptr);
  OutputScope::Name& name = scopes_.innermost().names[l.bits()];
  name.field = f;
  if (!name.alias.empty()) set_alias(name, name.alias);
  f->constraint = arc_token(arc->arc_type);
  f->value = vertex(arc);
  if (p_.show_attributes) {
    std::vector<ast::Node*> attributes;
    for (const KeptConjunct& c : arc->conjuncts) field_attrs(attributes, c.x);
    f->attrs = make_nodes(arena_, attributes);
  }
  if (p_.show_docs) add_docs(f, docs(arc));
  return f;
}

}  // namespace tutti::cue
