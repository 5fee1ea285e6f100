// Structs: what several of them say about one object is gathered by field before it is written, since together they say
// which fields there are.
#include <algorithm>

#include "lang/cue/eval/context.h"
#include "lang/cue/format/literal.h"
#include "lang/cue/schema/writer.h"

namespace tutti::cue {

using ast::as;

struct SchemaWriter::Object {
  struct Named {
    std::string name;
    std::vector<ast::Field*> said;
  };
  std::vector<Named> fields;  // in the order in which they are first met
  std::vector<ast::Field*> patterns;
  std::vector<Schema> validators;
  std::vector<Schema> beside;       // what else must hold: references, choices
  std::set<std::string> elsewhere;  // fields that choices say something about
  bool open = false;
  bool choice = false;
  bool validated = false;

  void add(const std::string& name, ast::Field* f) {
    auto at = std::ranges::find(fields, name, &Named::name);
    if (at == fields.end()) at = fields.insert(fields.end(), Named{name, {}});
    at->said.push_back(f);
  }
};

namespace {

ast::Node* without_parens(ast::Node* x) {
  while (x->kind == ast::Kind::kParen) x = as<ast::Paren>(x)->x;
  return x;
}

std::string literal_text(const ast::Node* n) {
  return n && n->kind == ast::Kind::kLit ? unquote(as<ast::Lit>(n)->text).text : "";
}

// A struct with a value in it is that value, with definitions beside it.
bool is_its_embedding(const ast::Struct* s) {
  int embedded = 0;
  for (const ast::Node* d : s->elts) {
    if (d->kind == ast::Kind::kEmbed) ++embedded;
    if (d->kind == ast::Kind::kComprehension || d->kind == ast::Kind::kEllipsis) return false;
    if (d->kind == ast::Kind::kField && !label_name(as<ast::Field>(d)->label).starts_with('#') &&
        !label_name(as<ast::Field>(d)->label).starts_with('_'))
      return false;
  }
  return embedded == 1;
}

void operands_of(ast::Node* x, Tok op, std::vector<ast::Node*>& out) {
  x = without_parens(x);
  if (x->kind == ast::Kind::kBinary && as<ast::Binary>(x)->op == op) {
    operands_of(as<ast::Binary>(x)->x, op, out);
    operands_of(as<ast::Binary>(x)->y, op, out);
    return;
  }
  if (op == Tok::kAnd && x->kind == ast::Kind::kStruct && is_its_embedding(as<ast::Struct>(x)))
    for (ast::Node* d : as<ast::Struct>(x)->elts)
      if (d->kind == ast::Kind::kEmbed) return operands_of(as<ast::Embed>(d)->x, op, out);
  out.push_back(x);
}

}  // namespace

SchemaWriter::Schema SchemaWriter::structure(ast::Struct* s, const Place& at) {
  if (is_its_embedding(s))
    for (ast::Node* d : s->elts)
      if (d->kind == ast::Kind::kEmbed) return expression(as<ast::Embed>(d)->x, at);
  Object o;
  if (!gather(s, at, o)) {
    // Its value, unless it is several validators.
    std::vector<ast::Node*> embedded;
    for (ast::Node* d : s->elts)
      if (d->kind == ast::Kind::kEmbed) embedded.push_back(without_parens(as<ast::Embed>(d)->x));
    auto validates = [](const ast::Node* x) { return x->kind == ast::Kind::kUnary || x->kind == ast::Kind::kCall; };
    if (at.evaluated || embedded.empty() || !o.fields.empty() || !std::ranges::all_of(embedded, validates))
      return value_of(at);
    return conjunction(embedded, at);
  }
  return object(o, at);
}

// Adds what a struct says to what is known of the object. False when it holds something that cannot be written as it
// is: then its value must be.
bool SchemaWriter::gather(ast::Struct* s, const Place& at, Object& o) {
  for (ast::Node* d : s->elts) {
    if (d->kind == ast::Kind::kEllipsis) o.open = true;
    if (d->kind == ast::Kind::kComprehension) {
      if (!at.evaluated) return false;
      o.open = loose_ = true;
    }
    if (d->kind == ast::Kind::kEmbed && !gather_embedded(as<ast::Embed>(d)->x, at, o)) {
      if (!at.evaluated) return false;
      o.open = loose_ = true;
    }
    if (d->kind != ast::Kind::kField) continue;
    auto* f = as<ast::Field>(d);
    ast::Node* label = f->label;
    if (label->kind == ast::Kind::kAlias) label = as<ast::Alias>(label)->x;
    if (label->kind == ast::Kind::kList) {
      o.patterns.push_back(f);
      continue;
    }
    if (label->kind != ast::Kind::kIdent && label->kind != ast::Kind::kLit) {
      if (!at.evaluated) return false;
      o.open = loose_ = true;
      continue;
    }
    std::string name = label_name(label);
    if (label->kind == ast::Kind::kIdent && (name.starts_with('#') || name.starts_with('_'))) continue;
    o.add(name, f);
  }
  return true;
}

bool SchemaWriter::gather_embedded(ast::Node* x, const Place& given, Object& o) {
  Place at = given;
  if (++at.depth > kMaxDepth) return false;
  x = without_parens(x);
  switch (x->kind) {
    case ast::Kind::kStruct: return gather(as<ast::Struct>(x), at, o);
    case ast::Kind::kIdent: {
      std::string name(as<ast::Ident>(x)->name.text());
      auto definition = definitions_.find(name.substr(std::min<std::size_t>(1, name.size())));
      if (!name.starts_with('#') || definition == definitions_.end()) return false;
      if (is_open_api()) {
        Schema ref;
        ref.set("$ref", reference(name.substr(1)));
        o.beside.push_back(std::move(ref));
        return true;
      }
      // A reference to what is closed would refuse the fields beside it.
      if (!following_.insert(name).second) return true;
      bool told = gather_embedded(const_cast<ast::Node*>(definition->second), at, o);
      following_.erase(name);
      return told;
    }
    case ast::Kind::kBinary: {
      std::vector<ast::Node*> parts;
      Tok op = as<ast::Binary>(x)->op;
      if (op != Tok::kAnd && op != Tok::kOr) return false;
      operands_of(x, op, parts);
      if (op == Tok::kAnd) return std::ranges::all_of(parts, [&](ast::Node* p) { return gather_embedded(p, at, o); });
      // The arms say only what they add, so that nothing in them is closed.
      Place inner = at;
      inner.closed = false;
      std::vector<ast::Node*> arms;
      for (ast::Node* p : parts) {
        if (p->kind == ast::Kind::kUnary && as<ast::Unary>(p)->op == Tok::kMul) p = as<ast::Unary>(p)->x;
        Object arm;
        if (!gather_embedded(p, inner, arm)) return false;
        o.open = o.open || arm.open;
        o.validated = o.validated || arm.validated;
        for (const Object::Named& f : arm.fields) o.elsewhere.insert(f.name);
        o.elsewhere.insert(arm.elsewhere.begin(), arm.elsewhere.end());
        if (!arm.patterns.empty()) o.open = true;
        arms.push_back(node(object(arm, inner)));
      }
      o.choice = true;
      o.beside.push_back(any_of(arms));
      return true;
    }
    case ast::Kind::kCall: {
      auto* c = as<ast::Call>(x);
      if (c->fun->kind == ast::Kind::kIdent && as<ast::Ident>(c->fun)->name.text() == "close" && c->args.size() == 1)
        return gather_embedded(c->args[0], at, o);
      // A validator says nothing of which fields there are, and opens the struct and those in it.
      Place inner = at;
      inner.vertex = nullptr;
      inner.closed = false;
      o.validated = true;
      o.validators.push_back(expression(x, inner));
      return true;
    }
    default: return false;
  }
}

SchemaWriter::Schema SchemaWriter::object(const Object& o, const Place& given) {
  Place at = given;
  at.closed = at.closed && !o.validated;
  Schema out, patterns, properties;
  std::vector<std::string> required;
  bool open = o.open, has_values = false;
  ast::Node* additional = nullptr;
  const Vertex* v = at.vertex ? at.vertex->deref_value() : nullptr;
  // A pattern and the fields that it is for have their fields together.
  bool alone = o.patterns.empty() || (o.fields.empty() && o.elsewhere.empty() && o.patterns.size() == 1);
  for (ast::Field* f : o.patterns) {
    Place inner = at;
    inner.vertex = nullptr;
    inner.closed = at.closed && alone;
    ast::Node* label = f->label->kind == ast::Kind::kAlias ? as<ast::Alias>(f->label)->x : f->label;
    ast::Node* names = as<ast::List>(label)->elts.empty() ? nullptr : as<ast::List>(label)->elts[0];
    if (names && names->kind == ast::Kind::kAlias) names = as<ast::Alias>(names)->x;
    Schema value = expression(f->value, inner);
    describe(value, f);
    if (names && names->kind == ast::Kind::kUnary && as<ast::Unary>(names)->op == Tok::kMat && !is_open_api())
      patterns.set(literal_text(as<ast::Unary>(names)->x), node(value));
    else if (names && names->kind == ast::Kind::kIdent && as<ast::Ident>(names)->name.text() == "string")
      additional = node(value);
    else
      open = loose_ = true;
  }
  for (const Object::Named& field : o.fields) {
    Place inner = at;
    inner.vertex = v ? v->find_raw(Label::string(field.name)) : nullptr;
    inner.closed = at.closed && alone && !o.elsewhere.contains(field.name);
    std::vector<ast::Node*> values;
    bool needed = false;
    for (ast::Field* f : field.said) {
      values.push_back(f->value);
      needed = needed || !may_be_left_out(f, inner);
      has_values = has_values || (f->constraint == Tok::kIllegal && !needed);
    }
    Schema value = conjunction(values, inner);
    for (ast::Field* f : field.said)
      if (!value.find("description")) describe(value, f);
    properties.set(field.name, node(value));
    if (needed) required.push_back(field.name);
  }
  out.set("type", text("object"));
  if (!is_open_api()) std::sort(required.begin(), required.end());
  std::vector<ast::Node*> names;
  for (const std::string& name : required) names.push_back(text(name));
  if (!names.empty()) out.set("required", b_.list(names));
  if (!properties.empty()) out.set("properties", members(properties));
  if (!patterns.empty()) out.set("patternProperties", members(patterns));
  if (additional && o.choice && !o.elsewhere.empty()) {
    // It would hold for the fields of the choices, too, which have the pattern's type only beside their own.
    if (is_open_api())
      loose_ = true;
    else
      out.set("unevaluatedProperties", additional);
  } else if (additional)
    out.set("additionalProperties", additional);
  else if (open && at.closed && !is_open_api())
    out.set("additionalProperties", truth(true));
  else if (at.closed && !open && !is_open_api())
    out.set(o.choice ? "unevaluatedProperties" : "additionalProperties", truth(false));
  else if (at.closed && !open)
    loose_ = true;
  std::vector<ast::Node*> all;
  std::vector<Schema> beside = o.beside;
  // A validator looks at the object with its values, which data need not have.
  if (!has_values) beside.insert(beside.end(), o.validators.begin(), o.validators.end());
  for (const Schema& s : beside) {
    if (s.empty()) continue;
    if (s.keys.size() == 1 && !s.find("$ref") && !s.find("allOf") && !out.find(s.keys[0].first))
      out.set(s.keys[0].first, s.keys[0].second);
    else
      all.push_back(node(s));
  }
  if (!all.empty()) out.set("allOf", b_.list(all));
  return out;
}

// All of them hold.
SchemaWriter::Schema SchemaWriter::conjunction(std::span<ast::Node* const> given, const Place& at) {
  std::vector<ast::Node*> parts, rest;
  for (ast::Node* x : given) operands_of(x, Tok::kAnd, parts);
  if (parts.size() == 1) return expression(parts[0], at);
  // Structs beside a definition or a choice only add to it: which fields there are is not for them to say.
  auto is_struct = [](const ast::Node* p) { return p->kind == ast::Kind::kStruct; };
  Schema s;
  bool first = true;
  Place inner = at;
  if (std::ranges::any_of(parts, is_struct)) {
    Object o;
    if (std::ranges::all_of(parts, [&](ast::Node* p) { return is_struct(p) || is_choice(p); })) {
      for (ast::Node* p : parts)
        if (!gather_embedded(p, at, o)) return value_of(at);
      return object(o, at);
    }
    if (Object whole; gives_values(parts, at, whole)) return object(whole, at);
    inner.closed = false;
    for (ast::Node* p : parts)
      if (is_struct(p) && !gather(as<ast::Struct>(p), inner, o)) return value_of(at);
    for (ast::Node* p : parts)
      if (!is_struct(p)) rest.push_back(p);
    Schema own = object(o, inner);
    for (ast::Node* p : rest) {
      Schema one = expression(p, inner);
      s = first ? one : merged(s, one);
      first = false;
    }
    return merged(s, own);
  }
  if (std::ranges::count_if(parts, is_choice) > 0) inner.closed = false;
  for (ast::Node* p : parts) {
    Schema one = expression(p, inner);
    s = first ? one : merged(s, one);
    first = false;
  }
  return s;
}

// Whether one of them gives a value to what another asks for: data need not have that field, though a reference to the
// other would ask for it.
bool SchemaWriter::gives_values(std::span<ast::Node* const> parts, const Place& at, Object& whole) {
  if (is_open_api() || !at.vertex) return false;
  for (ast::Node* p : parts)
    if (!gather_embedded(p, at, whole)) return false;
  Place inner = at;
  return std::ranges::any_of(whole.fields, [&](const Object::Named& field) {
    inner.vertex = at.vertex->deref_value()->find_raw(Label::string(field.name));
    return field.said.size() > 1 && inner.vertex && has_value(field.said[0]->value, inner);
  });
}

bool SchemaWriter::is_choice(const ast::Node* x) {
  while (x->kind == ast::Kind::kParen) x = as<ast::Paren>(x)->x;
  return x->kind == ast::Kind::kBinary && as<ast::Binary>(x)->op == Tok::kOr;
}

}  // namespace tutti::cue
