// Structs, lists, validators and whole documents.
#include <fmt/format.h>

#include <algorithm>

#include "lang/cue/compile/compile.h"
#include "lang/cue/eval/context.h"
#include "lang/cue/eval/validate.h"
#include "lang/cue/export/export.h"
#include "lang/cue/export/schema.h"
#include "lang/cue/format/literal.h"
#include "lang/cue/schema/writer.h"

namespace tutti::cue {

using ast::as;

namespace {

std::string string_of(const ast::Node* n) {
  return n && n->kind == ast::Kind::kLit ? unquote(as<ast::Lit>(n)->text).text : "";
}

// Whether an arm of a disjunction is marked.
bool has_default(const ast::Node* x) {
  if (x->kind == ast::Kind::kParen) return has_default(as<ast::Paren>(x)->x);
  if (x->kind == ast::Kind::kUnary) return as<ast::Unary>(x)->op == Tok::kMul;
  if (x->kind != ast::Kind::kBinary || as<ast::Binary>(x)->op != Tok::kOr) return false;
  return has_default(as<ast::Binary>(x)->x) || has_default(as<ast::Binary>(x)->y);
}

// strings.MinRunes
std::string function_name(const ast::Node* fun) {
  if (fun->kind == ast::Kind::kIdent) return std::string(as<ast::Ident>(fun)->name.text());
  if (fun->kind != ast::Kind::kSelector) return {};
  auto* s = as<ast::Selector>(fun);
  if (s->x->kind != ast::Kind::kIdent || s->sel->kind != ast::Kind::kIdent) return {};
  return std::string(as<ast::Ident>(s->x)->name.text()) + "." + std::string(as<ast::Ident>(s->sel)->name.text());
}

// Layouts of time.Format that have a name in schemas; cue has fewer of them for OpenAPI.
struct TimeFormat {
  std::string_view layout, format;
  bool open_api;
};
constexpr TimeFormat kTimeFormats[] = {
    {"2006-01-02", "date", true},
    {"15:04:05", "time", false},
    {"2006-01-02T15:04:05Z07:00", "date-time", false},
    {"2006-01-02T15:04:05.999999999Z07:00", "date-time", true},
};

}  // namespace

// Data without the field passes: it is optional, or it has a value of its own. OpenAPI asks for what it describes, the
// configuration with its values, so that only optional fields may be missing there.
bool SchemaWriter::may_be_left_out(const ast::Field* f, const Place& at) {
  if (f->constraint != Tok::kIllegal) return f->constraint == Tok::kOption;
  if (at.validator) return true;
  return !is_open_api() && has_value(f->value, at);
}

bool SchemaWriter::has_value(const ast::Node* x, const Place& at) {
  if (at.depth > kMaxDepth) return true;
  if (at.vertex) {
    ValidateConfig concrete;
    concrete.concrete = concrete.final = true;
    return !validate_tree(c_, at.vertex, concrete);
  }
  // Within a pattern there is only what is written; what cannot be told from it is not asked for.
  Place inner{nullptr, at.closed, at.depth + 1, at.evaluated};
  auto all = [&](std::span<ast::Node* const> list, auto&& test) { return std::all_of(list.begin(), list.end(), test); };
  switch (x->kind) {
    case ast::Kind::kParen: return has_value(as<ast::Paren>(x)->x, inner);
    case ast::Kind::kIdent: {
      std::string name(as<ast::Ident>(x)->name.text());
      if (!name.starts_with('#')) return name != "_" && !std::ranges::count(predeclared_names(), name);
      auto definition = definitions_.find(name.substr(1));
      if (definition == definitions_.end()) return true;
      auto [known, fresh] = have_value_.try_emplace(definition->first, true);
      if (fresh) {
        bool has = has_value(definition->second, inner);
        have_value_[definition->first] = has;
        return has;
      }
      return known->second;
    }
    case ast::Kind::kUnary: return as<ast::Unary>(x)->op == Tok::kSub || as<ast::Unary>(x)->op == Tok::kAdd;
    case ast::Kind::kBinary: {
      auto* b = as<ast::Binary>(x);
      if (b->op == Tok::kOr) return has_default(x);
      return b->op != Tok::kAnd || has_value(b->x, inner) || has_value(b->y, inner);
    }
    case ast::Kind::kList:
      return all(as<ast::List>(x)->elts,
                 [&](const ast::Node* e) { return e->kind == ast::Kind::kEllipsis || has_value(e, inner); });
    case ast::Kind::kStruct:
      return all(as<ast::Struct>(x)->elts, [&](const ast::Node* d) {
        if (d->kind != ast::Kind::kField) return true;
        auto* f = as<ast::Field>(d);
        return f->label->kind == ast::Kind::kList || may_be_left_out(f, inner);
      });
    default: return true;
  }
}

SchemaWriter::Schema SchemaWriter::list(ast::List* l, const Place& at) {
  Schema s;
  s.set("type", text("array"));
  std::vector<ast::Node*> prefix;
  ast::Node* rest = nullptr;
  bool open = false;
  Place inner = at;
  inner.vertex = nullptr;
  Vertex* v = at.vertex ? at.vertex->deref_value() : nullptr;
  for (ast::Node* e : l->elts) {
    if (e->kind == ast::Kind::kEllipsis) {
      open = true;
      if (ast::Node* t = as<ast::Ellipsis>(e)->type) rest = node(expression(t, inner));
      continue;
    }
    if (e->kind == ast::Kind::kComprehension) return at.evaluated ? s : value_of(at);
    Place one = at;
    one.vertex = v ? v->find_raw(Label::integer(static_cast<u32>(prefix.size()))) : nullptr;
    prefix.push_back(node(expression(e, one)));
  }
  auto count = [&](const char* key) { s.set(key, b_.integer(static_cast<long long>(prefix.size()))); };
  if (prefix.empty()) {
    if (rest) s.set("items", rest);
    if (!open) count("maxItems");
    if (is_open_api() && !rest) s.set("items", node({}));
    return s;
  }
  count("minItems");
  if (is_open_api()) {
    if (!open) count("maxItems");
    if (rest) prefix.push_back(rest);
    loose_ = true;  // which of them stands where is not said
    s.set("items", open && !rest ? node({}) : prefix.size() == 1 ? prefix[0] : node(any_of(prefix)));
    return s;
  }
  s.set("prefixItems", b_.list(prefix));
  if (rest) s.set("items", rest);
  if (!open) count("maxItems");
  return s;
}

SchemaWriter::Schema SchemaWriter::selector(ast::Node* x, const Place& at) {
  static const std::map<std::string_view, std::string_view> kFormats = {
      {"time.Time", "date-time"}, {"net.IPv4", "ipv4"},   {"net.IPv6", "ipv6"},
      {"net.FQDN", "hostname"},   {"net.AbsURL", "uri"},  {"net.URL", "uri-reference"},
      {"regexp.Valid", "regex"},  {"uuid.Valid", "uuid"}, {"time.Duration", "duration"}};
  std::string n = function_name(x);
  Schema s;
  if (auto it = kFormats.find(n); it != kFormats.end()) {
    s.set("type", text("string"));
    loose_ = true;
    // A duration is written as Go writes one, which the format of that name is not.
    if (it->second != "duration") s.set("format", text(it->second));
    return s;
  }
  return value_of(at);
}

SchemaWriter::Schema SchemaWriter::call(ast::Call* x, const Place& at) {
  struct Known {
    std::string_view function, type, key;
  };
  static constexpr Known kKnown[] = {
      {"strings.MinRunes", "string", "minLength"},     {"strings.MaxRunes", "string", "maxLength"},
      {"list.MinItems", "array", "minItems"},          {"list.MaxItems", "array", "maxItems"},
      {"struct.MinFields", "object", "minProperties"}, {"struct.MaxFields", "object", "maxProperties"},
      {"math.MultipleOf", "number", "multipleOf"},
  };
  std::string n = function_name(x->fun);
  Schema s;
  for (const Known& k : kKnown)
    if (n == k.function && x->args.size() == 1 &&
        (x->args[0]->kind == ast::Kind::kLit || x->args[0]->kind == ast::Kind::kUnary)) {
      s.set("type", text(k.type));
      s.set(std::string(k.key), b_.data(x->args[0], false));
      return s;
    }
  if (n == "list.UniqueItems" && x->args.empty()) {
    s.set("type", text("array"));
    s.set("uniqueItems", truth(true));
    return s;
  }
  if (n == "time.Format" && x->args.size() == 1) {
    if (x->args[0]->kind != ast::Kind::kLit && !at.evaluated) return value_of(at);
    std::string layout = string_of(x->args[0]);
    s.set("type", text("string"));
    for (const TimeFormat& f : kTimeFormats)
      if (f.layout == layout && (f.open_api || !is_open_api())) s.set("format", text(f.format));
    return s;
  }
  if (n == "close" && x->args.size() == 1) {
    Place inner = at;
    inner.closed = true;
    return expression(x->args[0], inner);
  }
  if (n == "matchN" && x->args.size() == 2) return match_n(x, at);
  if (n == "matchIf" && x->args.size() == 3 && !is_open_api()) {
    bool before = loose_;
    loose_ = false;
    Schema condition = expression(x->args[0], at.argument());
    if (loose_) return {};  // which of the others holds cannot be told
    s.set("if", node(condition));
    s.set("then", node(expression(x->args[1], at.argument())));
    s.set("else", node(expression(x->args[2], at.argument())));
    loose_ = loose_ || before;
    return s;
  }
  if (n == "list.MatchN" && x->args.size() == 2 && !is_open_api()) {
    s.set("type", text("array"));
    Place inner = at.argument();
    ast::Node* count = x->args[0];
    if (count->kind == ast::Kind::kUnary && as<ast::Unary>(count)->op == Tok::kGeq) {
      s.set("contains", node(expression(x->args[1], inner)));
      if (as<ast::Unary>(count)->x->kind == ast::Kind::kLit && as<ast::Lit>(as<ast::Unary>(count)->x)->text != "1")
        s.set("minContains", b_.data(as<ast::Unary>(count)->x, false));
    } else {
      loose_ = true;
    }
    return s;
  }
  return value_of(at);
}

SchemaWriter::Schema SchemaWriter::match_n(ast::Call* x, const Place& at) {
  Schema s;
  ast::Node* count = x->args[0];
  bool before = loose_;
  loose_ = false;
  std::vector<ast::Node*> arms;
  if (x->args[1]->kind == ast::Kind::kList) {
    Place inner = at.argument();
    for (ast::Node* a : as<ast::List>(x->args[1])->elts) {
      loose_ = loose_ || a->kind == ast::Kind::kEllipsis || a->kind == ast::Kind::kComprehension;
      arms.push_back(node(expression(a, inner)));
    }
  }
  // What says that a schema does not hold may only be said of one that says everything.
  bool exact = !loose_;
  loose_ = true;
  auto number = [](const ast::Node* n) {
    return n->kind == ast::Kind::kLit ? std::string(as<ast::Lit>(n)->text) : std::string();
  };
  if (arms.empty()) return s;
  if (count->kind == ast::Kind::kUnary && as<ast::Unary>(count)->op == Tok::kGeq &&
      number(as<ast::Unary>(count)->x) == "1") {
    s.set("anyOf", b_.list(arms));
  } else if (number(count) == std::to_string(arms.size())) {
    s.set("allOf", b_.list(arms));
  } else if (number(count) == "1") {
    s.set(exact || exclude_each_other(arms) ? "oneOf" : "anyOf", b_.list(arms));
  } else if (number(count) == "0" && exact) {
    Schema any;
    any.set("anyOf", b_.list(arms));
    s.set("not", arms.size() == 1 ? arms[0] : node(any));
  } else {
    return s;
  }
  loose_ = before || !exact;
  return s;
}

// ---- documents

ast::File* SchemaWriter::definition_file() {
  ExportProfile profile;
  profile.show_docs = true;
  profile.show_optional = profile.show_definitions = profile.show_hidden = true;
  profile.add_package = profile.guest_definitions = profile.inline_imports = true;
  return export_definition(c_, sources_, "", root_, profile);
}

// The schema of a definition, by its name without the #; none while it is being made.
ast::Node* SchemaWriter::definition_schema(const std::string& name) {
  auto [at, fresh] = schemas_.try_emplace(name, nullptr);
  if (!fresh) return at->second;
  auto field = fields_.find(name);
  if (field == fields_.end()) return nullptr;
  if (++making_ > kMostAtOnce) {
    --making_;
    schemas_.erase(at);
    return nullptr;
  }
  Schema s = expression(field->second->value, Place{vertices_["#" + name], true, 0, false});
  describe(s, field->second);
  --making_;
  return schemas_[name] = node(s);
}

SchemaWriter::Schema SchemaWriter::schemas_of(std::span<ast::Field* const> definitions) {
  Schema all;
  for (ast::Field* d : definitions) fields_[label_name(d->label).substr(1)] = d;
  for (Vertex* a : root_->deref_value()->arcs)
    if (a->label.is_def()) vertices_[std::string(a->label.name())] = a;
  for (ast::Field* d : definitions) {
    std::string name = label_name(d->label).substr(1);
    all.keys.emplace_back(name, definition_schema(name));
  }
  return all;
}

ast::Node* SchemaWriter::json_schema() {
  ast::File* f = definition_file();
  std::vector<ast::Node*> decls;
  std::vector<ast::Field*> definitions;
  for (ast::Node* d : f->decls) {
    if (d->kind == ast::Kind::kPackage || d->kind == ast::Kind::kImport || d->kind == ast::Kind::kAttribute) continue;
    decls.push_back(d);
    if (d->kind != ast::Kind::kField) continue;
    std::string name = label_name(as<ast::Field>(d)->label);
    if (name.starts_with('#') && name.size() > 1) {
      definitions_[name.substr(1)] = as<ast::Field>(d)->value;
      definitions.push_back(as<ast::Field>(d));
    }
  }
  Place top{root_, closed_by_definition(root_), 0, false};
  Schema out;
  out.set("$schema", text("https://json-schema.org/draft/2020-12/schema"));
  Schema body = structure(as<ast::Struct>(make_struct(b_.arena, decls)), top);
  for (auto& [k, x] : body.keys) out.set(k, x);
  Schema defs = schemas_of(definitions);
  if (!defs.empty()) out.set("$defs", members(defs));
  return node(out);
}

// An `info` of one's own need not say everything that OpenAPI asks for.
ast::Node* SchemaWriter::with_missing(ast::Node* info, const Schema& standard) {
  if (info->kind != ast::Kind::kStruct) return info;
  std::vector<ast::Node*> fields(as<ast::Struct>(info)->elts.begin(), as<ast::Struct>(info)->elts.end());
  for (const auto& [key, value] : standard.keys)
    if (std::ranges::none_of(fields, [&](const ast::Node* d) {
          return d->kind == ast::Kind::kField && label_name(as<ast::Field>(d)->label) == key;
        }))
      fields.push_back(make_field(b_.arena, make_label(b_.arena, key), value));
  return make_struct(b_.arena, fields);
}

ast::Node* SchemaWriter::openapi() {
  ast::File* f = definition_file();
  Vertex* v = root_->deref_value();
  std::string title, version;
  auto comment = [&](const ast::Node* n) {
    for (const ast::CommentGroup& g : n->comments())
      for (const ast::Comment& c : g.list) {
        std::string_view line = c.text.substr(std::min<std::size_t>(2, c.text.size()));
        if (line.starts_with(' ')) line.remove_prefix(1);
        if (title.empty()) title = line;
      }
  };
  for (const KeptConjunct& c : root_->conjuncts)
    if (c.x->src() && c.x->src()->kind == ast::Kind::kFile) {
      auto* file = static_cast<const ast::File*>(c.x->src());
      comment(file);
      for (ast::Node* d : file->decls) {
        if (d->kind == ast::Kind::kPackage || (!title.empty() ? false : d == file->decls[0])) comment(d);
      }
    }
  std::vector<ast::Field*> definitions;
  for (ast::Node* d : f->decls) {
    if (d->kind == ast::Kind::kEmbed || d->kind == ast::Kind::kComprehension) {
      error = "unsupported top-level value: only definitions, info and $version can be written as OpenAPI";
      return nullptr;
    }
    if (d->kind != ast::Kind::kField) continue;
    auto* field = as<ast::Field>(d);
    std::string name = label_name(field->label);
    if (name.starts_with('#')) {
      definitions_[name.substr(1)] = field->value;
      definitions.push_back(field);
    } else if (name == "$version") {
      version = string_of(field->value);
    } else if (name == "info" && info) {
      continue;
    } else if (name == "info") {
      ExportProfile profile;
      profile.take_defaults = true;
      if (Vertex* i = v->find_raw(Label::string("info"))) info = export_expression(c_, sources_, i, profile);
    } else if (!name.starts_with('_') && field->constraint != Tok::kOption) {
      const Vertex* a = v->find_raw(Label::string(name));
      problems.push_back({fmt::format("openapi: unsupported top-level field {}", quote(name)), {}});
      if (a && !a->conjuncts.empty() && a->conjuncts[0].x->pos) problems.back().places = {a->conjuncts[0].x->pos};
    }
  }
  if (!problems.empty()) return nullptr;
  std::sort(definitions.begin(), definitions.end(),
            [](ast::Field* a, ast::Field* b) { return label_name(a->label) < label_name(b->label); });
  Schema out, head, components;
  out.set("openapi", text("3.0.0"));
  head.set("title", text(title.empty() ? "Generated by cue." : title));
  head.set("version", text(version.empty() ? "no version" : version));
  out.set("info", info ? with_missing(info, head) : node(head));
  out.set("paths", node({}));
  components.set("schemas", members(schemas_of(definitions)));
  out.set("components", node(components));
  return node(out);
}

ast::Node* generate_openapi(Context& c, const Sources& sources, Vertex* v, std::string& error,
                            std::vector<LoadProblem>& problems) {
  SchemaWriter w(c, sources, v, SchemaWriter::Target::kOpenApi);
  ast::Node* n = w.openapi();
  error = w.error;
  problems = std::move(w.problems);
  return error.empty() ? n : nullptr;
}

ast::Node* generate_json_schema(Context& c, const Sources& sources, Vertex* v, std::string& error,
                                std::vector<LoadProblem>&) {
  SchemaWriter w(c, sources, v, SchemaWriter::Target::kJsonSchema);
  ast::Node* n = w.json_schema();
  error = w.error;
  return error.empty() ? n : nullptr;
}

}  // namespace tutti::cue
