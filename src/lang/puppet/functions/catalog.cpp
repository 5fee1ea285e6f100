// Functions that put classes and resources into the catalog, or ask what is in it.
#include <fmt/format.h>

#include "lang/puppet/catalog/native_type.h"
#include "lang/puppet/eval/compiler.h"
#include "lang/puppet/functions/function.h"
#include "lang/puppet/types/type_parse.h"

namespace tutti::puppet {
namespace {

Val references(const FunctionCall& c, const std::vector<Resource*>& resources) {
  std::vector<Val> out;
  for (const Resource* r : resources) out.push_back(Val::type(class_type(c.arena(), r->title)));
  return c.array(out);
}

Val f_include(const FunctionCall& c) { return references(c, c.compiler.include_classes(c.args, c.scope, c.at)); }

Val f_contain(const FunctionCall& c) {
  std::vector<Resource*> classes = c.compiler.include_classes(c.args, c.scope, c.at);
  Resource* container = c.scope.real->resource;
  if (container)
    for (Resource* r : classes)
      if (r != container) c.compiler.contain(container, r);
  return references(c, classes);
}

Val f_require(const FunctionCall& c) {
  std::vector<Resource*> classes = c.compiler.include_classes(c.args, c.scope, c.at);
  static const Symbol require("require");
  if (Resource* container = c.scope.real->resource) {
    for (Resource* r : classes) {
      Val ref = Val::type(class_type(c.arena(), r->title));
      ResourceParam* p = container->find(require);
      std::vector<Val> list;
      if (p && p->value.is(VK::kArray))
        list.assign(p->value.items().begin(), p->value.items().end());
      else if (p && !p->value.undefined())
        list.push_back(p->value);
      list.push_back(ref);
      Val value = list.size() == 1 && false ? list[0] : c.array(list);
      if (p) {
        p->value = value;
      } else {
        ResourceParam n;
        n.name = require;
        n.value = value.with_origin(c.at);
        n.at = c.at;
        container->params.push_back(n);
      }
    }
  }
  return references(c, classes);
}

Val f_realize(const FunctionCall& c) {
  c.compiler.realize(c.args, c.scope, c.at);
  return Val::undef();
}

Val f_tag(const FunctionCall& c) {
  c.compiler.tag_scope(c.scope, c.args, c.at);
  return Val::undef();
}

Val f_tagged(const FunctionCall& c) {
  const Resource* r = c.scope.real->resource;
  for (const Val& v : c.args) {
    Symbol t(downcase(to_text(v)));
    bool found = false;
    for (const Resource* x = r; x && !found; x = x->scope && x->scope->resource != x ? x->scope->resource : nullptr)
      for (Symbol s : x->tags) found = found || s == t;
    for (Symbol s : c.compiler.catalog().tags) found = found || s == t;
    if (!found) return Val::boolean(false);
  }
  return Val::boolean(true);
}

Val f_create_resources(const FunctionCall& c) {
  if (c.args.size() < 2 || c.args.size() > 3)
    c.fail(fmt::format("create_resources(): wrong number of arguments ({}; must be 2 or 3)", c.args.size()));
  if (!c.arg(0).is(VK::kString)) c.fail("create_resources(): the type must be a String");
  if (!c.arg(1).is(VK::kHash)) c.fail("create_resources(): the second argument must be a Hash");
  std::string_view type = c.text(0);
  Form form = Form::kRegular;
  if (type.substr(0, 2) == "@@")
    form = Form::kExported, type.remove_prefix(2);
  else if (type.substr(0, 1) == "@")
    form = Form::kVirtual, type.remove_prefix(1);
  for (const Pair& p : c.arg(1).entries()) {
    bool number = p.key.is(VK::kInt) || p.key.is(VK::kFloat);
    if (!p.key.is(VK::kString) && !number) c.fail("create_resources(): titles must be strings");
    std::string_view title = number ? c.string(to_text(p.key)).text() : p.key.text();
    HashDraft params;
    if (c.args.size() > 2 && c.arg(2).is(VK::kHash))
      for (const Pair& d : c.arg(2).entries()) params.set(d.key, d.value);
    if (p.value.is(VK::kHash))
      for (const Pair& v : p.value.entries()) params.set(v.key, v.value);
    else if (!p.value.undefined() && !(p.value.is(VK::kString) && p.value.size == 0))
      c.fail(fmt::format("create_resources(): the value for '{}' must be a Hash", title));
    Compiler::NewResource wanted;
    wanted.type = Symbol(type);
    wanted.title = title;
    wanted.number_title = number;
    wanted.form = form;
    wanted.at = c.at;
    for (const Pair& v : params.pairs()) {
      ResourceParam x;
      x.name = Symbol(to_text(v.key));
      x.value = v.value;
      x.at = c.at;
      x.source = c.scope.source;
      wanted.params.push_back(x);
    }
    c.compiler.create_resource(wanted, c.scope);
  }
  return Val::undef();
}

bool is_defined(const FunctionCall& c, const Val& v) {
  Compiler& k = c.compiler;
  if (v.is(VK::kString)) {
    std::string_view s = v.text();
    if (s.empty()) return false;
    if (s[0] == '$') return k.find_variable(c.scope, s.substr(1)) != nullptr;
    std::string lower = downcase(s);
    if (lower.substr(0, 2) == "::") lower.erase(0, 2);
    if (lower == "main" || lower == "") return true;
    if (s[0] >= 'A' && s[0] <= 'Z') {
      if (s.find('[') != std::string_view::npos) {  // a reference written as a string
        try {
          return is_defined(
              c, Val::type(type_of_text(c.arena(), s, [&](std::string_view n) { return k.find_type_name(n, c.at); })));
        } catch (const TypeError&) {
          c.fail(fmt::format("defined(): '{}' is not a valid name", s));
        }
      }
      if (plain_named(s) || k.find_type_name(s, c.at)) return true;
    }
    return !k.resource_type_name(lower).empty() || k.environment().find_class(Symbol(lower), k.diagnostics()) ||
           plain_named(capitalize_segments(lower));
  }
  if (v.is(VK::kType)) {
    const Type* t = resolved(v.t);
    if (t->kind == TK::kType && !t->types.empty()) t = resolved(t->types[0]);
    if ((t->kind == TK::kResource || t->kind == TK::kClass) && t->has_title) return k.find_resource(t) != nullptr;
    if (t->kind == TK::kResource && !t->name.empty()) return !k.resource_type_name(t->name).empty();
    return true;
  }
  c.fail("defined() takes names and references");
}

Val f_defined(const FunctionCall& c) {
  for (const Val& v : c.args) {
    if (is_defined(c, v)) return Val::boolean(true);
  }
  return Val::boolean(false);
}

}  // namespace

void add_catalog_functions(Functions& f) {
  f.add("include", {{"Any+", f_include}});
  f.add("contain", {{"Any+", f_contain}});
  f.add("require", {{"Any+", f_require}});
  f.add3x("realize", f_realize);
  f.add3x("tag", f_tag);
  f.add3x("tagged", f_tagged);
  f.add3x("create_resources", f_create_resources);
  f.add("defined", {{"Variant[String, Type[CatalogEntry], Type[Type[CatalogEntry]]]+", f_defined}});
}

}  // namespace tutti::puppet
