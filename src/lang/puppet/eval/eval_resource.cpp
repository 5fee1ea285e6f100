#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "base/boundary.h"
#include "base/near.h"
#include "base/utf8.h"
#include "lang/puppet/catalog/native_type.h"
#include "lang/puppet/eval/compiler.h"
#include "lang/puppet/ruby/bridge.h"
#include "lang/puppet/ruby/process.h"
#include "lang/puppet/types/type_parse.h"

namespace tutti::puppet {
namespace {

const Symbol& sym_class() {
  static const Symbol s("Class");
  return s;
}
const Symbol& sym_tag() {
  static const Symbol s("tag");
  return s;
}
const Symbol& sym_stage() {
  static const Symbol s("stage");
  return s;
}
const Symbol& sym_before() {
  static const Symbol s("before");
  return s;
}
const Symbol& sym_notify() {
  static const Symbol s("notify");
  return s;
}
const Symbol& sym_alias() {
  static const Symbol s("alias");
  return s;
}

// [[:alnum:]_][[:alnum:]_:.-]* ; letters beyond ASCII count.
bool valid_tag(std::string_view s) {
  if (s.ends_with('\n')) s.remove_suffix(1);  // Puppet's pattern ends in \Z
  if (s.empty()) return false;
  for (std::size_t n = 0; n < s.size(); ++n) {
    unsigned char c = static_cast<unsigned char>(s[n]);
    bool word = c >= 128 || std::isalnum(c) || c == '_';
    if (!word && (n == 0 || (c != ':' && c != '.' && c != '-'))) return false;
  }
  return true;
}

}  // namespace

const NativeType* Compiler::native(std::string_view type) {
  if (type.find(':') != std::string_view::npos) return nullptr;
  auto [at, fresh] = native_types_.try_emplace(Symbol(type));
  if (!fresh) return at->second;
  std::string lower = downcase(type);
  if (lower != type) return native_types_[Symbol(type)] = native(lower);
  std::string warning;
  at->second = environment_.native_type(type, &warning);
  if (!warning.empty()) warn({}, std::move(warning), "PP-OPEN-TYPE");
  return at->second;
}

Symbol Compiler::resource_type_name(std::string_view name) {
  if (name.substr(0, 2) == "::") name.remove_prefix(2);
  Symbol key(name);
  if (auto it = type_names_.find(key); it != type_names_.end()) return it->second;
  std::string lower = downcase(name);
  Symbol found;
  if (const NativeType* t = native(lower)) found = t->name;
  if (found.empty() && environment_.find_define(Symbol(lower), diagnostics()))
    found = Symbol(capitalize_segments(lower));
  return type_names_[key] = found;
}

void Compiler::tag_if_valid(Resource& r, std::string_view name) {
  if (!valid_tag(name)) return;
  std::string lower = downcase(name);
  r.tag(Symbol(lower));
  if (lower.find("::") == std::string::npos) return;
  std::string_view rest = lower;
  while (!rest.empty()) {
    std::size_t cut = rest.find("::");
    if (cut != 0) r.tag(Symbol(rest.substr(0, cut)));
    rest = cut == std::string_view::npos ? std::string_view{} : rest.substr(cut + 2);
  }
}

void Compiler::tag_all(Resource& r, const Val& v, Pos at) {
  if (v.is(VK::kArray)) {
    for (const Val& i : v.items()) tag_all(r, i, at);
    return;
  }
  if (v.undefined()) return;
  std::string name = to_text(v);
  if (!valid_tag(name)) fail(at, fmt::format("invalid tag '{}'", name), "PP-TAG");
  tag_if_valid(r, name);
}

void Compiler::set_param(Resource& r, const ResourceParam& p) {
  if (p.name == sym_tag()) tag_all(r, p.value, p.at);
  if (ResourceParam* old = r.find(p.name))
    *old = p;
  else
    r.params.push_back(p);
  index_.changed(r);
}

// The defaults that apply in a scope for a type: those of whoever declared it first, its own over them.
const std::vector<DefaultParam>* Compiler::defaults_of(Scope& scope, Symbol type) {
  thread_local std::vector<DefaultParam> all;
  all.clear();
  Scope* chain[256];
  std::size_t n = 0;
  for (Scope* s = scope.real; s && n < 256; s = s->dynamic)
    if (!s->defaults.empty()) chain[n++] = s;
  while (n-- > 0)
    for (const TypeDefaults& d : chain[n]->defaults) {
      if (d.type != type) continue;
      for (const DefaultParam& p : d.params) {
        auto it = std::find_if(all.begin(), all.end(), [&](const DefaultParam& x) { return x.name == p.name; });
        if (it == all.end())
          all.push_back(p);
        else
          *it = p;
      }
    }
  return all.empty() ? nullptr : &all;
}

Resource* Compiler::create_resource(NewResource& wanted, Scope& scope_given) {
  Scope& scope = *scope_given.real;
  budget_.step();
  if (u64 most = budget_.limits().nodes; catalog_.resources.size() >= most)
    throw LimitError("LIMIT-NODES", fmt::format("more than {} resources (--limit nodes=N)", most), wanted.at.at);
  std::string_view written = wanted.type.text();
  bool is_class = equal_text(written, "class");
  Symbol type = is_class ? sym_class() : resource_type_name(written);
  if (type.empty()) {
    EvalError e("PP-UNKNOWN-TYPE", wanted.at, fmt::format("unknown resource type: '{}'", written));
    std::vector<std::string_view> names = native_type_names();
    std::string define = environment_.nearest_name(NodeKind::kDefine, written);
    if (environment_.find_define(Symbol(define), diagnostics())) names.push_back(define);
    if (equal_text(written, "tutti::system") || equal_text(written, "tutti::component"))
      e.help = "define it: `define tutti::system() {}`, `define tutti::component(String $type, Hash $config = {}) {}`";
    else if (std::string_view near = nearest(downcase(written), names); !near.empty())
      e.help = fmt::format("did you mean `{}`?", near);
    else if (environment_.find_class(Symbol(downcase(written)), diagnostics()))
      e.help = fmt::format("it is a class: `include {}`, or `class {{ '{}': ... }}`", written, written);
    throw e;
  }
  const Definition* definition = nullptr;
  std::string_view title = wanted.title;
  if (is_class) {
    std::string lower = downcase(title);
    if (lower.substr(0, 2) == "::") lower.erase(0, 2);
    definition = environment_.find_class(Symbol(lower), diagnostics());
    if (!definition)
      throw unknown_class(Symbol(lower), wanted.at, fmt::format("could not find declared class {}", title));
    title = definition->name.text();
  }
  Resource& r = *catalog_.make();
  r.type = type;
  r.title = title;
  r.at = wanted.at;
  r.statement = wanted.statement ? wanted.statement : wanted.at;
  r.is_class = is_class;
  r.scope = &scope;
  r.source = scope.source;
  r.number_title = wanted.number_title;
  r.exported = wanted.form == Form::kExported;
  r.is_virtual = wanted.form != Form::kRegular;
  static const Symbol stage_type("Stage");
  r.is_stage = type == stage_type;
  r.params.reserve(wanted.params.size());
  for (const ResourceParam& p : wanted.params) {
    if (r.find(p.name))
      fail(p.at, fmt::format("duplicate parameter '{}' on {}", p.name.text(), r.ref()), "PP-DUPLICATE-PARAMETER");
    set_param(r, p);
  }
  if (is_class) {
    r.kind = ResourceKind::kClass;
    r.definition = definition;
  } else {
    r.native = native(type.text());
    if (r.native) {
      r.kind = ResourceKind::kNative;
    } else {
      r.kind = ResourceKind::kDefine;
      r.definition = environment_.find_define(Symbol(downcase(type.text())), diagnostics());
    }
  }
  tag_if_valid(r, type.text());
  if (!r.number_title) tag_if_valid(r, title);
  if (const auto* defaults = defaults_of(scope, type)) {
    std::vector<DefaultParam> copy = *defaults;
    for (const DefaultParam& d : copy)
      if (!r.find(d.name)) {
        ResourceParam p;
        p.name = d.name;
        p.value = d.value;
        p.at = d.at;
        p.source = d.source;
        p.how = How::kDefault;
        set_param(r, p);
      }
  }
  if (is_class) {
    if (!definition->parent.empty() && !catalog_.find(sym_class(), definition->parent.text()))
      include_class(definition->parent, scope, wanted.at, false);
    for (Symbol t : r.tags) catalog_.tag(t);
  }
  add_to_catalog(&r, scope);
  if (is_class) evaluate_resource(r);
  return &r;
}

// What the title and the parameters say a native resource is called; several parts are joined.
static bool unique_key(const Resource& r, std::string& out) {
  if (!r.native || !r.native->isomorphic || r.native->namevars.empty()) return false;
  std::vector<Symbol> names = r.native->namevars;
  std::sort(names.begin(), names.end(), [](Symbol a, Symbol b) { return a.text() < b.text(); });
  auto parsed = title_parts(*r.native, r.title);
  bool first = true, any = false;
  for (Symbol n : names) {
    if (!first) out += '\0';
    first = false;
    std::string part;
    for (const auto& [k, v] : parsed)
      if (k == n) part = v, any = true;
    if (const ResourceParam* p = r.find(n); p && !p->value.undefined()) part = to_text(p->value), any = true;
    out += part;
  }
  return any;
}

// The names that `alias` gives it, in the catalog: nothing else may have them.
void Compiler::add_aliases(Resource& r) {
  const ResourceParam* alias = r.is_class ? nullptr : r.find(sym_alias());
  if (!alias) return;
  const Val* all = &alias->value;
  bool several = all->is(VK::kArray);
  for (const Val& v : several ? all->items() : std::span<const Val>(all, 1)) {
    if (!v.is(VK::kString)) continue;
    if (Resource* old = catalog_.find(r.type, v.text()); old && old != &r)
      fail(r.at, fmt::format("cannot alias {} to {}: {} is already declared", r.ref(), v.text(), old->ref()),
           "PP-DUPLICATE");
    catalog_.alias(v.text(), &r);
  }
}

void Compiler::add_to_catalog(Resource* r, Scope& scope) {
  if (Resource* old = catalog_.find(r->type, r->title)) {
    EvalError e("PP-DUPLICATE",
                r->at            ? r->at
                : scope.resource ? scope.resource->at
                                 : Pos{},
                fmt::format("duplicate declaration: {} is already declared", r->ref()));
    if (old->at) e.notes.push_back("declared first at " + session_.sources->show(old->at));
    if (old->is_class && !old->at)
      e.notes.push_back("it was included before; `class { ... }` must come first, or the class be included everywhere");
    throw e;
  }
  std::string key;
  if (unique_key(*r, key) && key != r->title) {
    if (Resource* old = catalog_.find(r->type, key)) {
      // the parts that name it, of which some types have several: ["curl"]
      std::string parts;
      for (std::size_t at = 0; at <= key.size();) {
        std::size_t end = std::min(key.find('\0', at), key.size());
        if (end > at) parts += fmt::format("{}\"{}\"", parts.empty() ? "" : ", ", key.substr(at, end - at));
        at = end + 1;
      }
      fail(r->at, fmt::format("cannot alias {} to [{}]: {} is already declared", r->ref(), parts, old->ref()),
           "PP-DUPLICATE");
    }
    catalog_.alias(arena().copy(std::string_view(key)), r);
  }
  catalog_.add(r);
  if (!r->evaluated && (r->is_class || r->kind == ResourceKind::kDefine)) unevaluated_.push_back(r);
  add_aliases(*r);
  if (!r->is_class)
    if (const ResourceParam* s = r->find(sym_stage()); s && !s->value.undefined())
      fail(r->at,
           fmt::format("only classes can set 'stage'; normal resources like {} cannot change run stage", r->ref()),
           "PP-STAGE");
  if (r->is_stage) return;
  if (!r->is_class && scope.resource) catalog_.edges.push_back({scope.resource, r});
}

// --- resource expressions

void Compiler::attributes(std::span<const Attribute> list, Scope& scope, std::vector<ResourceParam>& out,
                          bool may_repeat) {
  auto add = [&](Symbol name, const Val& v, Pos at, bool plus) {
    if (!may_repeat)
      for (const ResourceParam& p : out)
        if (p.name == name)
          fail(at, fmt::format("the attribute '{}' has already been set", name.text()), "PP-DUPLICATE-PARAMETER");
    ResourceParam p;
    p.name = name;
    p.value = v;
    p.at = at;
    p.source = scope.source;
    p.add = plus;
    out.push_back(p);
  };
  for (const Attribute& a : list) {
    Val v = evaluate(a.value, scope);
    if (!a.name.empty()) {
      add(a.name, v, a.begin, a.add);
      continue;
    }
    if (!v.is(VK::kHash))
      fail(a.begin, fmt::format("unfolding of attributes needs a Hash, got {}", to_literal(v)), "PP-SPLAT");
    for (const Pair& p : v.entries()) {
      if (!p.key.is(VK::kString)) fail(a.begin, "the keys of unfolded attributes must be strings", "PP-SPLAT");
      add(Symbol(p.key.text()), p.value, a.begin, false);
    }
  }
}

void Compiler::titles(const Val& v, std::vector<std::string_view>& out, Pos at) {
  if (v.is(VK::kArray)) {
    for (const Val& i : v.items()) titles(i, out, at);
    return;
  }
  if (v.undefined()) fail(at, "missing title: the title expression resulted in undef", "PP-TITLE");
  if (!v.is(VK::kString))
    fail(at, fmt::format("illegal title type: expected String, got {}", to_literal(v)), "PP-TITLE");
  if (v.size == 0) fail(at, "empty string title: the title must not be empty", "PP-TITLE");
  out.push_back(v.text());
}

Val Compiler::resource_expression(const ResourceDecl& r, Scope& scope, bool wanted_result) {
  std::string_view type;
  if (r.type->kind == NodeKind::kName) {
    const Named& name = as<Named>(r.type);
    type = name.name.text();
    if (name.absolute && native(downcase(type)) && !environment_.find_define(Symbol(downcase(type)), diagnostics())) {
      EvalError e("PP-UNKNOWN-TYPE", name.span(), fmt::format("unknown resource type: '::{}'", type));
      e.help = fmt::format("only defines are named so: `{}`", type);
      throw e;
    }
  } else {
    Val t = evaluate(r.type, scope);
    if (t.is(VK::kString)) {
      type = t.text();
    } else if (t.is(VK::kType)) {
      const Type* x = resolved(t.t);
      if (x->kind == TK::kResource && !x->has_title && !x->name.empty())
        type = x->name;
      else if (x->kind == TK::kClass && !x->has_title)
        type = "class";
      else
        fail(r.type->span(), fmt::format("illegal resource type expression: {}", type_text(x)), "PP-RESOURCE-TYPE");
    } else {
      fail(r.type->span(), "illegal resource type expression", "PP-RESOURCE-TYPE");
    }
  }
  Symbol type_symbol(type);
  struct Titled {
    const Body* body;
    std::vector<std::string_view> titles;
  };
  std::vector<Titled> bodies;
  const Body* fallback = nullptr;
  for (const Body& b : r.bodies) {
    Val t = evaluate(b.title, scope);
    if (t.is(VK::kDefault)) {
      fallback = &b;
      continue;
    }
    Titled titled{&b, {}};
    titles(t, titled.titles, b.title->begin);
    bodies.push_back(std::move(titled));
  }
  if (r.bodies.size() > 1 || (bodies.size() == 1 && bodies[0].titles.size() > 1)) {
    std::unordered_map<std::string_view, bool> seen;
    for (const Titled& t : bodies)
      for (std::string_view s : t.titles)
        if (!seen.emplace(s, true).second)
          fail(t.body->begin, fmt::format("the title '{}' has already been used in this resource expression", s),
               "PP-DUPLICATE-TITLE");
  }
  std::vector<ResourceParam> defaults;
  if (fallback) attributes(fallback->attributes, scope, defaults, false);
  std::vector<Val> made;
  for (const Titled& t : bodies) {
    std::vector<ResourceParam> own, params = defaults;  // what takes the place of a default stands where that stood
    attributes(t.body->attributes, scope, own, false);
    for (const ResourceParam& p : own) {
      auto same = [&](const ResourceParam& d) { return d.name == p.name; };
      auto there = std::find_if(params.begin(), params.begin() + static_cast<std::ptrdiff_t>(defaults.size()), same);
      if (there != params.begin() + static_cast<std::ptrdiff_t>(defaults.size()))
        *there = p;
      else
        params.push_back(p);
    }
    if (t.titles.size() > 1)
      for (ResourceParam& p : params)
        if ((p.name == sym_before() || p.name == sym_notify()) && p.value.is(VK::kArray)) {
          p.value = make_array(arena(), p.value.items()).with_origin(p.value.origin);
          p.of_body = true;
        }
    for (std::string_view title : t.titles) {
      NewResource wanted;
      wanted.type = type_symbol;
      wanted.title = title;
      wanted.params = params;
      wanted.form = r.form;
      wanted.at = t.body->begin;
      wanted.statement = r.begin;
      Resource* res = create_resource(wanted, scope);
      if (!wanted_result) continue;
      made.push_back(Val::type(res->is_class ? class_type(arena(), res->title)
                                             : resource_type(arena(), res->type.text(), res->title)));
    }
  }
  return make_array(arena(), made);
}

void Compiler::resource_defaults(const ResourceDecl& r, Scope& given) {
  Scope& scope = *given.real;
  std::string_view written = as<Named>(r.type).name.text();
  if (equal_text(written, "class"))
    fail(r.type->span(), "classes have no defaults: a parameter of a class is given by data or where it is declared",
         "PP-RESOURCE-TYPE");
  Symbol type = resource_type_name(written);
  if (type.empty()) type = Symbol(capitalize_segments(written));
  std::vector<ResourceParam> params;
  attributes(r.bodies[0].attributes, given, params, false);
  TypeDefaults* mine = nullptr;
  for (TypeDefaults& d : scope.defaults)
    if (d.type == type) mine = &d;
  if (!mine) {
    scope.defaults.push_back({type, {}});
    mine = &scope.defaults.back();
  }
  for (const ResourceParam& p : params) {
    for (const DefaultParam& d : mine->params)
      if (d.name == p.name)
        fail(p.at,
             fmt::format("default already defined for {} {{ {} => {} }}; cannot redefine", type.text(), p.name.text(),
                         to_literal(d.value)),
             "PP-DUPLICATE-DEFAULT");
    mine->params.push_back({p.name, p.value, p.at, scope.source});
  }
}

// --- overrides

bool Compiler::child_of(const Definition* a, const Definition* b) {
  for (int n = 0; a && !a->parent.empty() && n < 1000; ++n) {
    a = environment_.find_class(a->parent, diagnostics());
    if (a == b) return true;
  }
  return false;
}

Val Compiler::resource_override(const ResourceDecl& r, Scope& scope) {
  Val refs = evaluate(r.type, scope);
  std::vector<ResourceParam> params;
  attributes(r.bodies[0].attributes, scope, params, false);
  std::vector<Val> one{refs};
  for (const Val& v : refs.is(VK::kArray) ? refs.items() : std::span<const Val>(one)) {
    const Type* t = v.is(VK::kType) ? resolved(v.t) : nullptr;
    if (!t || !t->has_title) fail(r.type->span(), "only references to resources can be overridden", "PP-OVERRIDE");
    if (Resource* res = find_resource(t)) {
      override_params(*res, params, scope.source, false, r.begin);
    } else {
      overrides_.push_back({t, params, scope.source, false, r.begin, false});
    }
  }
  return refs;
}

void Compiler::override_params(Resource& r, std::span<const ResourceParam> params, const Definition* source,
                               bool from_collector, Pos at) {
  if (!from_collector && source != r.source && !child_of(source, r.source) && !may_override_.contains(source))
    fail(at, fmt::format("only subclasses can override parameters of {}", r.ref()), "PP-OVERRIDE");
  if (r.evaluated)
    strict(at, fmt::format("attempt to override an already evaluated resource, {}, with new values", r.ref()),
           "PP-OVERRIDE-LATE");
  if (r.evaluated && r.definition) changed_late_.insert(&r);
  for (const ResourceParam& p : params) {
    ResourceParam copy = p;
    copy.source_override = from_collector && p.how != How::kDefault;
    override_param(r, copy);
  }
}

void Compiler::override_param(Resource& r, const ResourceParam& given) {
  ResourceParam* current = r.find(given.name);
  ResourceParam p = given;
  if (!current) return set_param(r, p);
  auto is_default = [&](const Val& value) {
    for (Scope* s = r.scope; s; s = s->dynamic)
      for (const TypeDefaults& d : s->defaults)
        if (d.type == r.type)
          for (const DefaultParam& x : d.params)
            if (x.name == p.name) return same(x.value, value);
    return false;
  };
  if (is_default(p.value)) return;  // what a default says gives way to what is there, whoever says it
  if (!p.source_override) {
    bool allowed = child_of(p.source, current->source) || may_override_.contains(p.source) ||
                   (p.source == current->source && is_default(current->value));
    if (!allowed) {
      EvalError e("PP-OVERRIDE", p.at,
                  fmt::format("parameter '{}' is already set on {}; cannot redefine", p.name.text(), r.ref()));
      if (current->at) e.notes.push_back("set first at " + session_.sources->show(current->at));
      throw e;
    }
  }
  if (p.add) {
    std::vector<Val> all;
    auto flatten = [&](auto&& self, const Val& v) -> void {
      if (v.is(VK::kArray))
        for (const Val& i : v.items()) self(self, i);
      else
        all.push_back(v);
    };
    flatten(flatten, current->value);
    flatten(flatten, p.value);
    p.value = make_array(arena(), all).with_origin(p.value.origin);
  }
  p.how = How::kOverridden;
  p.replaced = current->value.origin ? current->value.origin : Origin(current->at);
  set_param(r, p);
}

// --- classes

Symbol Compiler::class_name_of(const Val& v, Pos at) {
  if (v.is(VK::kString)) {
    std::string lower = downcase(v.text());
    if (lower.substr(0, 2) == "::") lower.erase(0, 2);
    if (lower.empty()) fail(at, "cannot use an empty string as the name of a class", "PP-CLASS-NAME");
    return Symbol(lower);
  }
  if (v.is(VK::kType)) {
    const Type* t = resolved(v.t);
    if (t->kind == TK::kClass && t->has_title) return Symbol(t->name);
    if (t->kind == TK::kResource && t->has_title && equal_text(t->name, "class")) return Symbol(downcase(t->title));
    fail(at, fmt::format("cannot use {} where the name of a class is required", type_text(t)), "PP-CLASS-NAME");
  }
  fail(at, fmt::format("cannot use {} where the name of a class is required", v.undefined() ? "undef" : to_literal(v)),
       "PP-CLASS-NAME");
}

EvalError Compiler::unknown_class(Symbol name, Pos at, std::string message) {
  // What is wrong with the file that should define it has been told.
  if (diagnostics().errors() > 0) return {"", at, ""};
  if (message.empty()) message = fmt::format("could not find class ::{} for {}", name.text(), node_.name);
  EvalError e("PP-UNKNOWN-CLASS", at, message);
  std::string near = environment_.nearest_name(NodeKind::kClass, name.text());
  if (environment_.find_define(name, diagnostics()))
    e.help = fmt::format("it is a defined type: `{} {{ 'title': ... }}`", name.text());
  else if (native(name.text()))
    e.help = fmt::format("it is a resource type: `{} {{ 'title': ... }}`", name.text());
  else if (Diagnostics not_asked_for; !near.empty() && environment_.find_class(Symbol(near), not_asked_for))
    e.help = fmt::format("did you mean `{}`?", near);
  else if (settings().modulepath.empty())
    e.help = "no modules are read: name their folder with --modulepath, or that of an environment";
  return e;
}

Resource* Compiler::include_class(Symbol name, Scope& given, Pos at, bool evaluate_now) {
  Scope& scope = *given.real;
  Resource* r = catalog_.find(sym_class(), name.text());
  if (!r) {
    const Definition* d = environment_.find_class(name, diagnostics());
    if (!d) {
      throw unknown_class(name, at);
    }
    r = catalog_.make();
    r->type = sym_class();
    r->title = name.text();
    r->is_class = true;
    r->definition = d;
    r->scope = &scope;
    r->source = d;
    r->included_at = at;
    tag_if_valid(*r, "class");
    tag_if_valid(*r, name.text());
    if (const auto* defaults = defaults_of(scope, sym_class())) {
      std::vector<DefaultParam> copy = *defaults;
      for (const DefaultParam& x : copy) {
        ResourceParam p;
        p.name = x.name;
        p.value = x.value;
        p.at = x.at;
        set_param(*r, p);
      }
    }
    if (!d->parent.empty() && !catalog_.find(sym_class(), d->parent.text())) {
      Budget::Level level(budget_);
      if (d->parent == name || class_busy_[name]++ > 0)
        fail(d->span(), fmt::format("class {} inherits from itself", name.text()), "PP-INHERIT-CYCLE");
      include_class(d->parent, scope, d->begin, false);
      class_busy_[name] = 0;
    }
    for (Symbol t : r->tags) catalog_.tag(t);
    add_to_catalog(r, scope);
  }
  if (evaluate_now) evaluate_resource(*r);
  return r;
}

std::vector<Resource*> Compiler::include_classes(std::span<const Val> names, Scope& scope, Pos at) {
  std::vector<Symbol> all;
  auto add = [&](auto&& self, const Val& v) -> void {
    if (v.is(VK::kArray))
      for (const Val& i : v.items()) self(self, i);
    else
      all.push_back(class_name_of(v, at));
  };
  for (const Val& v : names) add(add, v);
  // All must exist before any is added; then all enter the catalog before any is evaluated.
  for (Symbol s : all)
    if (!catalog_.find(sym_class(), s.text()) && !environment_.find_class(s, diagnostics())) {
      throw unknown_class(s, at);
    }
  std::vector<Resource*> out;
  for (Symbol s : all) out.push_back(include_class(s, scope, at, false));
  for (Resource* r : out) evaluate_resource(*r);
  return out;
}

void Compiler::contain(Resource* container, Resource* inner) {
  if (contained_.insert(u64{container->index} << 32 | inner->index).second)
    catalog_.edges.push_back({container, inner});
}

Resource* Compiler::find_resource(const Type* t) {
  t = resolved(t);
  if (t->kind == TK::kClass && t->has_title) return catalog_.find(sym_class(), t->name);
  if (t->kind != TK::kResource || !t->has_title) return nullptr;
  Symbol type = resource_type_name(t->name);
  if (type.empty()) type = Symbol(t->name);
  if (Resource* r = catalog_.find(type, t->title)) return r;
  if (const NativeType* n = native(type.text())) {
    Resource probe;
    probe.native = n;
    probe.title = t->title;
    std::string key;
    if (unique_key(probe, key) && key != t->title) return catalog_.find(type, arena().copy(std::string_view(key)));
  }
  return nullptr;
}

const Val* Compiler::resource_parameter(Resource& r, Symbol name) {
  static const Symbol title("title");
  if (name == title) return arena().make<Val>(Val::string(r.title));
  if (ResourceParam* p = r.find(name)) return p->value.undefined() ? nullptr : &p->value;
  if (r.native && r.native->namevars.size() == 1 && r.native->namevars[0] == name) {
    for (const auto& [k, v] : title_parts(*r.native, r.title))
      if (k == name) return arena().make<Val>(make_string(arena(), v));
  }
  if (const auto* defaults = defaults_of(*r.scope, r.type))
    for (const DefaultParam& d : *defaults)
      if (d.name == name) return arena().make<Val>(d.value);
  return nullptr;
}

void Compiler::tag_scope(Scope& scope, std::span<const Val> tags, Pos at) {
  if (!scope.real->resource) return;
  for (const Val& v : tags) tag_all(*scope.real->resource, v, at);
}

// --- relationships

namespace {
struct Operand {
  std::vector<Val> refs;  // each once
  std::unordered_set<std::string> named;
  std::vector<Collector*> collectors;
  bool empty() const { return refs.empty() && collectors.empty(); }
};
}  // namespace

// a -> b -> c: each link relates what stands on its sides, and stands for its right side in the next.
Val Compiler::relation(const Binary& top, Scope& scope) {
  auto add_ref = [&](auto&& self, Operand& o, const Val& v, Pos at) -> void {
    if (v.is(VK::kArray)) {
      for (const Val& i : v.items()) self(self, o, i, at);
      return;
    }
    Val ref = v;
    if (v.is(VK::kString)) {
      try {
        ref = Val::type(type_of_text(arena(), v.text(), [&](std::string_view n) { return find_type_name(n, at); }));
      } catch (const TypeError& e) {
        fail(at, fmt::format("{} is not a reference to a resource", to_literal(v)), "PP-RELATIONSHIP");
      }
    }
    const Type* t = ref.is(VK::kType) ? resolved(ref.t) : nullptr;
    if (!t || !(t->kind == TK::kResource || t->kind == TK::kClass) || !t->has_title)
      fail(at,
           fmt::format("illegal relationship operand: {}; only references to resources can be related", to_literal(v)),
           "PP-RELATIONSHIP");
    std::string name =
        t->kind == TK::kClass ? fmt::format("class {}", t->name) : fmt::format("{}[{}", downcase(t->name), t->title);
    if (o.named.insert(std::move(name)).second) o.refs.push_back(Val::type(t));
  };
  auto operand = [&](auto&& self, const Node* n) -> Operand {
    Operand o;
    if (n->kind == NodeKind::kCollect) {
      std::size_t before = collectors_.size();
      collect_expression(as<Collect>(n), scope);
      if (collectors_.size() > before) o.collectors.push_back(&collectors_.back()), collectors_.back().related = true;
      return o;
    }
    if (n->kind == NodeKind::kParen && as<Unary>(n).expr->kind == NodeKind::kRelation)
      return self(self, as<Unary>(n).expr);
    if (n->kind == NodeKind::kRelation) {
      const Binary& b = as<Binary>(n);
      Operand left = self(self, b.left), right = self(self, b.right);
      bool reverse = b.op == Op::kAfter || b.op == Op::kSubscribe;
      bool notify = b.op == Op::kNotify || b.op == Op::kSubscribe;
      const Operand& source = reverse ? right : left;
      const Operand& target = reverse ? left : right;
      std::span<const Val> targets = arena().copy(std::span<const Val>(target.refs));  // one list for all sources
      auto relate_all = [&](const Val* s, Collector* sc) {
        if (!targets.empty()) relationships_.push_back({s ? *s : Val{}, targets, sc, nullptr, notify, b.begin});
        for (Collector* t : target.collectors) relationships_.push_back({s ? *s : Val{}, {}, sc, t, notify, b.begin});
      };
      for (const Val& s : source.refs) relate_all(&s, nullptr);
      for (Collector* s : source.collectors) relate_all(nullptr, s);
      if (right.empty()) return left;
      if (right.refs.empty() && right.collectors.size() == 1) {
        right.collectors[0]->empty_alternative = left.refs;
        if (left.refs.empty() && left.collectors.size() == 1) right.collectors[0]->left_collector = left.collectors[0];
      }
      return right;
    }
    Val v = evaluate(n, scope);
    // A bare class name is not a reference, but a list of titles just declared is.
    add_ref(add_ref, o, v, n->begin);
    return o;
  };
  Operand o = operand(operand, &top);
  return make_array(arena(), o.refs);
}

void Compiler::add_relationship(const Val& left, const Val& right, bool notify, Pos at) {
  relationships_.push_back({left, arena().copy(std::span<const Val>(&right, 1)), nullptr, nullptr, notify, at});
}

}  // namespace tutti::puppet
