// Answers to what Ruby code asks: each question is a small function, found by its name.
#include "lang/puppet/ruby/questions.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <unordered_map>

#include "base/base64.h"
#include "lang/puppet/catalog/native_type.h"
#include "lang/puppet/eval/compiler.h"
#include "lang/puppet/hiera/context.h"
#include "lang/puppet/hiera/hiera.h"
#include "lang/puppet/ruby/bridge.h"
#include "lang/puppet/ruby/names.h"
#include "lang/puppet/types/signature.h"
#include "lang/puppet/types/type_parse.h"

namespace tutti::puppet {
namespace {

std::string_view text_in(const Value& question, std::string_view key) {
  const Entry* e = question.find(key);
  return e != nullptr ? e->value.text() : std::string_view{};
}

bool truth_in(const Value& question, std::string_view key) {
  const Entry* e = question.find(key);
  return e != nullptr && e->value.is(Kind::kBool) && e->value.as_bool();
}

// What a resource is made of, with what its title says of its name first, as Puppet's resources tell it.
Val parameters_of(Compiler& compiler, const Resource& r) {
  HashDraft params;
  static const Symbol name("name");
  if (r.native == nullptr) params.set(Val::string(name.text()), Val::string(r.title));
  if (r.native != nullptr)
    for (const auto& [part, text] : title_parts(*r.native, r.title))
      params.set(Val::string(part.text()), make_string(compiler.arena(), text));
  for (const ResourceParam& p : r.params)
    if (!p.value.undefined()) params.set(Val::string(p.name.text()), p.value);
  return params.build(compiler.arena());
}

}  // namespace

std::string Questions::answer(const Value& question) {
  using Answer = std::string (Questions::*)(const Value&, Scope&);
  static const std::unordered_map<std::string_view, Answer> kAnswers = {
      {"var", &Questions::variable},    {"vars", &Questions::variables},    {"all", &Questions::all_variables},
      {"fact", &Questions::fact},       {"call", &Questions::call},         {"yield", &Questions::yield},
      {"method", &Questions::method},   {"instance", &Questions::instance}, {"defaults", &Questions::defaults},
      {"known", &Questions::known},     {"resource", &Questions::resource}, {"resources", &Questions::resources},
      {"file", &Questions::file},       {"module", &Questions::module},     {"modules", &Questions::modules},
      {"context", &Questions::context}, {"set", &Questions::set},           {"changed", &Questions::changed},
      {"log", &Questions::log},         {"dns", &Questions::dns},
  };
  auto found = kAnswers.find(text_in(question, "ask"));
  if (found == kAnswers.end()) return "null";
  return (this->*found->second)(question, truth_in(question, "top") ? compiler_.top() : caller_);
}

std::vector<Val> Questions::args_of(const Value& question) {
  std::vector<Val> args;
  if (const Entry* given = question.find("args"))
    for (const Value& v : given->value.items()) args.push_back(from_wire(v, compiler_.arena(), &compiler_));
  return args;
}

std::string Questions::variable(const Value& q, Scope& scope) {
  const Val* v = compiler_.find_variable(scope, text_in(q, "name"));
  return v != nullptr ? to_wire(*v) : "null";
}

std::string Questions::variables(const Value& q, Scope& scope) {
  HashDraft found;
  for (const Value& name : q.find("names")->value.items()) {
    const Val* v = compiler_.find_variable(scope, name.text());
    if (v != nullptr && !v->undefined()) found.set(make_string(compiler_.arena(), name.text()), *v);
  }
  return to_wire(found.build(compiler_.arena()));
}

// From the outermost scope to the innermost. One that is undef in an inner scope is none at all.
std::string Questions::all_variables(const Value&, Scope& scope) {
  HashDraft all;
  std::vector<const Scope*> chain;
  for (const Scope* s = &scope; s != nullptr; s = s->parent) chain.push_back(s);
  for (auto it = chain.rbegin(); it != chain.rend(); ++it) {
    for (const Vars::Entry& e : (*it)->vars.all()) {
      if (e.value.undefined())
        all.erase(Val::string(e.name.text()));
      else
        all.set(Val::string(e.name.text()), e.value);
    }
  }
  return to_wire(all.build(compiler_.arena()));
}

// One of the node's facts, also by its name of before Facter 3 or with dots.
std::string Questions::fact(const Value& q, Scope&) {
  std::string_view name = text_in(q, "name");
  const Val* found = compiler_.find_variable(compiler_.top(), name.substr(0, name.find('.')));
  while (found != nullptr && name.find('.') != std::string_view::npos) {
    name.remove_prefix(name.find('.') + 1);
    found = found->is(VK::kHash) ? found->get(name.substr(0, name.find('.'))) : nullptr;
  }
  return found != nullptr ? to_wire(*found) : "null";
}

std::string Questions::call(const Value& q, Scope& scope) {
  std::vector<Val> args = args_of(q);
  const Entry* given = q.find("block");
  if (given == nullptr) return to_wire(compiler_.call_function(Symbol(text_in(q, "name")), args, nullptr, scope, at_));
  ForeignBlock foreign;
  foreign.params = static_cast<std::size_t>(given->value.find("params")->value.as_i64());
  foreign.rest = truth_in(given->value, "rest");
  foreign.call = [this, number = given->value.find("number")->value.as_i64()](std::span<const Val> values) {
    return call_block_(number, values);
  };
  Closure block;
  block.scope = &scope;
  block.foreign = &foreign;
  return to_wire(compiler_.call_function(Symbol(text_in(q, "name")), args, &block, scope, at_));
}

std::string Questions::yield(const Value& q, Scope&) {
  if (block_ == nullptr) compiler_.fail(at_, "no block was given", "PP-RUBY");
  return to_wire(compiler_.call_closure(*block_, args_of(q), at_));
}

std::string Questions::instance(const Value& q, Scope&) {
  const Type* type = type_of_text(compiler_.arena(), text_in(q, "type"),
                                  [this](std::string_view name) { return compiler_.find_type_name(name, at_); });
  return is_instance(type, args_of(q)[0]) ? "true" : "false";
}

std::string Questions::method(const Value& q, Scope&) {
  Val context = compiler_.hiera().context(q.find("number")->value.as_i64());
  if (!context.is(VK::kObject)) compiler_.fail(at_, "there is no such context", "PP-RUBY");
  std::vector<Val> args = args_of(q);
  if (text_in(q, "name") != "explain")
    return to_wire(context.o->methods->call(text_in(q, "name"), args, nullptr).value_or(Val::undef()));
  static_cast<const LookupContext*>(context.o->methods)->tell(to_text(args[0]));
  return "null";
}

std::string Questions::defaults(const Value& q, Scope& scope) {
  HashDraft found;
  if (const auto* params = compiler_.defaults_of(scope, compiler_.resource_type_name(text_in(q, "type"))))
    for (const DefaultParam& p : *params) found.set(Val::string(p.name.text()), p.value);
  return to_wire(found.build(compiler_.arena()));
}

std::string Questions::resource(const Value& q, Scope&) {
  std::string_view ref = text_in(q, "ref");
  std::size_t open = ref.find('[');
  if (open == std::string_view::npos || !ref.ends_with(']')) return "null";
  Arena& arena = compiler_.arena();
  std::string_view type = ref.substr(0, open), title = ref.substr(open + 1, ref.size() - open - 2);
  for (char quote : {'\'', '"'})
    if (title.size() > 1 && title.front() == quote && title.back() == quote) title = title.substr(1, title.size() - 2);
  Resource* r = compiler_.find_resource(downcase(type) == "class"
                                            ? class_type(arena, arena.copy(std::string_view(downcase(title))))
                                            : resource_type(arena, arena.copy(type), arena.copy(title)));
  return r != nullptr ? to_wire(parameters_of(compiler_, *r)) : "null";
}

std::string Questions::resources(const Value&, Scope&) {
  std::vector<Val> refs;
  for (const Resource* r : compiler_.catalog().resources) refs.push_back(make_string(compiler_.arena(), r->ref()));
  return to_wire(make_array(compiler_.arena(), refs));
}

std::string Questions::known(const Value& q, Scope&) {
  std::string_view kind = text_in(q, "kind");
  Symbol name(text_in(q, "name"));
  Diagnostics not_asked_for;
  bool found = false;
  if (kind == "function") found = compiler_.function_exists(name);
  if (kind == "class") found = compiler_.environment().find_class(name, not_asked_for) != nullptr;
  if (kind == "define") found = compiler_.environment().find_define(name, not_asked_for) != nullptr;
  if (kind == "type") found = !compiler_.resource_type_name(name.text()).empty();
  return found ? "true" : "false";
}

std::string Questions::file(const Value& q, Scope&) {
  std::string path = compiler_.environment().module_file(text_in(q, "folder"), text_in(q, "name"));
  return path.empty() ? "null" : to_wire(Val::string(path));
}

std::string Questions::module(const Value& q, Scope&) {
  const Module* m = compiler_.environment().module(text_in(q, "name"));
  return m != nullptr ? to_wire(Val::string(m->path)) : "null";
}

std::string Questions::modules(const Value&, Scope&) {
  HashDraft found;
  for (const Module* m : compiler_.environment().modules())
    found.set(Val::string(m->name.text()), Val::string(m->path));
  return to_wire(found.build(compiler_.arena()));
}

std::string Questions::context(const Value&, Scope& scope) {
  HashDraft c;
  Arena& arena = compiler_.arena();
  std::vector<Val> classes, tags, tags_of_catalog, path;
  for (Symbol s : compiler_.catalog().classes) classes.push_back(Val::string(s.text()));
  if (scope.resource != nullptr) {
    for (Symbol s : scope.resource->tags) tags.push_back(Val::string(s.text()));
    c.set("resource", make_string(arena, scope.resource->ref()));
  }
  for (const std::string& p : compiler_.settings().modulepath) path.push_back(Val::string(p));
  tags_of_catalog.push_back(Val::string("settings"));
  for (Symbol s : compiler_.catalog().tags) tags_of_catalog.push_back(Val::string(s.text()));
  c.set("catalog_tags", make_array(arena, tags_of_catalog));
  c.set("classes", make_array(arena, classes));
  c.set("tags", make_array(arena, tags));
  c.set("modulepath", make_array(arena, path));
  c.set("environment", Val::string(compiler_.settings().environment_name));
  static constexpr std::string_view kStrict[] = {"off", "warning", "error"};
  c.set("strict", Val::string(kStrict[static_cast<std::size_t>(compiler_.settings().strict)]));
  c.set("module", Val::string(scope.module.text()));
  c.set("class", Val::string(scope.name.text()));
  const NodeInfo& node = compiler_.node();
  c.set("node", Val::string(node.name));
  c.set("node_parameters", make_hash(arena, node.parameters));
  c.set("node_classes", make_hash(arena, node.classes));
  return to_wire(c.build(arena));
}

std::string Questions::set(const Value& q, Scope& scope) {
  std::string_view name = text_in(q, "name");
  if (!compiler_.set_variable(scope, Symbol(name), from_wire(q.find("value")->value, compiler_.arena(), &compiler_)))
    compiler_.fail(at_, fmt::format("Cannot reassign variable '${}'", name), "PP-RUBY");
  return "null";
}

std::string Questions::changed(const Value& q, Scope& scope) {
  for (const Entry& e : q.find("values")->value.entries())
    change_variable(compiler_, scope, e.key, from_wire(e.value, compiler_.arena(), &compiler_));
  return "null";
}

std::string Questions::dns(const Value& q, Scope&) {
  auto number = [&](const char* key) { return static_cast<int>(q.find(key)->value.as_i64()); };
  std::optional<std::string> answer = dns_answer(std::string(text_in(q, "name")), number("class"), number("type"));
  return answer ? to_wire(Val::string(base64_encode(*answer))) : "null";
}

std::string Questions::log(const Value& q, Scope& scope) {
  std::string level(text_in(q, "level"));
  if (level != "debug" && level != "info") compiler_.log(level, std::string(text_in(q, "text")), scope, at_);
  return "null";
}

}  // namespace tutti::puppet
