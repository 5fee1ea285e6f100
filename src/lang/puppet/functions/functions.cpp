#include <fmt/format.h>

#include <algorithm>

#include "lang/puppet/eval/compiler.h"
#include "lang/puppet/functions/function.h"
#include "lang/puppet/functions/stdlib.h"
#include "lang/puppet/types/signature.h"
#include "lang/puppet/types/type_parse.h"

namespace tutti::puppet {

Arena& FunctionCall::arena() const { return compiler.arena(); }
Val FunctionCall::yield(std::span<const Val> values, bool wanted) const {
  return compiler.call_closure(*block, values, at, wanted);
}
std::size_t FunctionCall::block_params() const { return block ? block->params() : 0; }
bool FunctionCall::block_takes_any() const { return block && block->rest(); }
std::size_t Closure::required() const {
  if (foreign) return foreign->params - (foreign->rest ? 1 : 0);
  std::size_t n = 0;
  for (const Param& p : lambda->params)
    if (!p.rest && !p.value) ++n;
  return n;
}
Val FunctionCall::string(std::string_view s) const { return make_string(arena(), s); }
Val FunctionCall::array(const std::vector<Val>& items) const { return make_array(arena(), items); }
Val FunctionCall::hash(const HashDraft& draft) const { return draft.build(arena()); }
void FunctionCall::fail(const std::string& message) const { compiler.fail(at, message, "PP-FUNCTION"); }
void FunctionCall::warn(const std::string& message) const { compiler.warn(at, message); }

const Functions& Functions::all() {
  static const Functions* const functions = [] {
    auto* f = new Functions;
    f->keeping_nothing(true);
    add_iteration_functions(*f);
    add_string_functions(*f);
    add_collection_functions(*f);
    add_text_functions(*f);
    f->of_module("stdlib");
    add_stdlib_collection_functions(*f);
    add_stdlib_string_functions(*f);
    f->of_module("");
    f->keeping_nothing(false);
    add_core_functions(*f);
    add_catalog_functions(*f);
    add_type_functions(*f);
    add_lookup_functions(*f);
    add_value_functions(*f);
    f->of_module("apache");
    add_module_functions(*f);
    f->of_module("stdlib");
    add_stdlib_check_functions(*f);
    add_stdlib_data_functions(*f);
    add_stdlib_random_functions(*f);
    return f;
  }();
  return *functions;
}

const Builtin* Functions::find(Symbol name) const {
  return name.id() < by_symbol_.size() ? by_symbol_[name.id()] : nullptr;
}

namespace {
Builtin*& slot(std::vector<Builtin*>& by_symbol, std::string_view name) {
  Symbol s(name);
  if (s.id() >= by_symbol.size()) by_symbol.resize(s.id() + 64, nullptr);
  return by_symbol[s.id()];
}
}  // namespace

namespace {

Builtin::Form parse_signature(const Overload& o, Arena& arena) {
  Builtin::Form form;
  form.signature = o.signature;
  form.run = o.run;
  std::string_view rest = o.signature;
  while (!rest.empty()) {
    std::size_t end = 0;
    for (int depth = 0; end < rest.size() && (depth > 0 || rest[end] != ','); ++end) {
      if (rest[end] == '[') ++depth;
      if (rest[end] == ']') --depth;
    }
    std::string_view part = rest.substr(0, end);
    rest.remove_prefix(std::min(rest.size(), end + 1));
    while (!part.empty() && part.front() == ' ') part.remove_prefix(1);
    while (!part.empty() && part.back() == ' ') part.remove_suffix(1);
    if (part.empty()) continue;
    if (part[0] == '&') {
      part.remove_prefix(1);
      if (part[0] == '?') form.block_optional = true, part.remove_prefix(1);
      form.block = type_of_text(arena, part, {});
      continue;
    }
    Param3 p{nullptr, 0};
    char last = part.back();
    if (last == '?' || last == '*' || last == '+') p.repeat = last, part.remove_suffix(1);
    p.type = type_of_text(arena, part, {});
    form.params.push_back(p);
    if (p.repeat == 0 || p.repeat == '+') ++form.least;
    form.most = p.repeat == '*' || p.repeat == '+' ? SIZE_MAX : form.most == SIZE_MAX ? SIZE_MAX : form.most + 1;
  }
  return form;
}

}  // namespace

const std::vector<Builtin::Form>& Builtin::forms() const {
  std::call_once(parsed_, [this] {
    for (const Overload& o : overloads_) forms_.push_back(parse_signature(o, arena_));
  });
  return forms_;
}

void Functions::add(const char* name, std::initializer_list<Overload> overloads) {
  auto f = std::make_unique<Builtin>();
  f->name = name;
  f->module = module_;
  f->keeps_nothing = keeping_nothing_;
  f->overloads_ = overloads;
  slot(by_symbol_, name) = f.get();
  all_.push_back(std::move(f));
}

void Functions::add3x(const char* name, Implementation run) {
  auto f = std::make_unique<Builtin>();
  f->name = name;
  f->module = module_;
  f->keeps_nothing = keeping_nothing_;
  f->run3x = run;
  slot(by_symbol_, name) = f.get();
  all_.push_back(std::move(f));
}

std::vector<std::string_view> Functions::names() const {
  std::vector<std::string_view> out;
  for (const auto& f : all_) out.push_back(f->name);
  return out;
}

namespace {

const Type* param_at(const Builtin::Form& form, std::size_t n) {
  if (n < form.params.size()) return form.params[n].type;
  return form.params.back().type;
}

bool block_fits(const Type* wanted, const Closure& block) {
  const Type* t = resolved(wanted);
  if (t->kind == TK::kOptional && !t->types.empty()) t = resolved(t->types[0]);
  if (t->kind == TK::kVariant) {
    for (const Type* i : t->types)
      if (block_fits(i, block)) return true;
    return false;
  }
  if (t->kind != TK::kCallable || !t->sized) return true;
  return static_cast<i64>(block.required()) <= t->max && (block.rest() || static_cast<i64>(block.params()) >= t->min);
}

bool fits(const Builtin::Form& form, const FunctionCall& call) {
  if (call.args.size() < form.least || call.args.size() > form.most) return false;
  for (std::size_t n = 0; n < call.args.size(); ++n)
    if (!is_instance(param_at(form, n), call.args[n])) return false;
  if (call.block) return form.block && block_fits(form.block, *call.block);
  return !form.block || form.block_optional;
}

Signature signature_of(const Builtin::Form& form) {
  Signature s;
  for (const Param3& p : form.params) s.types.push_back(p.type);
  s.least = static_cast<i64>(form.least);
  s.most = form.most == SIZE_MAX ? kNoMax : static_cast<i64>(form.most);
  s.block = form.block;
  s.block_optional = form.block_optional;
  return s;
}

}  // namespace

// The old interface knows no regular expressions: they arrive as text, `/a+/`, also within containers.
// What functions of the old interface are given as text.
static bool extended(const Val& v) {
  return v.is(VK::kRegex) || v.is(VK::kSemVer) || v.is(VK::kSemVerRange) || v.is(VK::kBinary) || v.is(VK::kTimespan) ||
         v.is(VK::kTimestamp);
}

static bool holds_extended(const Val& v) {
  if (extended(v)) return true;
  if (v.is(VK::kArray)) return std::any_of(v.items().begin(), v.items().end(), holds_extended);
  if (v.is(VK::kHash))
    return std::any_of(v.entries().begin(), v.entries().end(), [](const Pair& p) { return holds_extended(p.value); });
  return false;
}

static Val extended_as_text(Arena& arena, const Val& v) {
  if (extended(v)) return make_string(arena, to_text(v));
  if (!holds_extended(v)) return v;
  if (v.is(VK::kArray)) {
    std::vector<Val> items(v.items().begin(), v.items().end());
    for (Val& i : items) i = extended_as_text(arena, i);
    return make_array(arena, items);
  }
  std::vector<Pair> pairs(v.entries().begin(), v.entries().end());
  for (Pair& p : pairs) p.value = extended_as_text(arena, p.value);
  return make_hash(arena, pairs);
}

Val call_builtin(const Builtin& f, const FunctionCall& call) {
  if (f.run3x) {
    bool any = false;
    for (const Val& v : call.args) any = any || v.undefined() || holds_extended(v);
    if (!any) return f.run3x(call);
    std::vector<Val> args(call.args.begin(), call.args.end());
    for (Val& v : args) v = v.undefined() ? Val::string("") : extended_as_text(call.arena(), v);
    FunctionCall copy{call.compiler, call.scope, call.name, args, call.block, call.at};
    return f.run3x(copy);
  }
  const std::vector<Builtin::Form>& forms = f.forms();
  for (const Builtin::Form& form : forms)
    if (fits(form, call)) return form.run(call);
  std::vector<Signature> signatures;
  for (const Builtin::Form& form : forms) signatures.push_back(signature_of(form));
  const Type* block = call.block ? call.compiler.callable_type(*call.block) : nullptr;
  call.fail(describe_call(f.name, signatures, call.args, block));
}

}  // namespace tutti::puppet
