#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/near.h"
#include "lang/puppet/catalog/native_type.h"
#include "lang/puppet/eval/compiler.h"
#include "lang/puppet/eval/growth.h"
#include "lang/puppet/hiera/context.h"
#include "lang/puppet/ruby/bridge.h"
#include "lang/puppet/types/signature.h"
#include "lang/puppet/types/type_parse.h"
#include "lang/puppet/types/uri.h"

namespace tutti::puppet {

namespace {

bool literal_only(const Node* n) {
  switch (n->kind) {
    case NodeKind::kVariable:
    case NodeKind::kCall:
    case NodeKind::kMethodCall:
    case NodeKind::kConcat: return false;
    case NodeKind::kAccess:
    case NodeKind::kArray:
    case NodeKind::kHash:
      for (const Node* i : as<Kids>(n).items)
        if (!literal_only(i)) return false;
      return true;
    case NodeKind::kParen:
    case NodeKind::kNegate: return literal_only(as<Unary>(n).expr);
    case NodeKind::kTypeName:
    case NodeKind::kString:
    case NodeKind::kInteger:
    case NodeKind::kFloat:
    case NodeKind::kRegex:
    case NodeKind::kDefault:
    case NodeKind::kUndef:
    case NodeKind::kBoolean:
    case NodeKind::kName: return true;
    default: return false;
  }
}

// What a function that other languages have is called in this one.
std::string_view own_word(std::string_view foreign) {
  static constexpr std::pair<std::string_view, std::string_view> kWords[] = {
      {"collect", "map"},       {"echo", "notice"},      {"find_all", "filter"},      {"fold", "reduce"},
      {"for", "each"},          {"foreach", "each"},     {"forEach", "each"},         {"gsub", "regsubst"},
      {"inject", "reduce"},     {"len", "length"},       {"log", "notice"},           {"print", "notice"},
      {"println", "notice"},    {"puts", "notice"},      {"raise", "fail"},           {"replace", "regsubst"},
      {"select", "filter"},     {"sub", "regsubst"},     {"throw", "fail"},           {"to_f", "Float(...)"},
      {"to_i", "Integer(...)"}, {"to_s", "String(...)"}, {"toLowerCase", "downcase"}, {"toUpperCase", "upcase"},
      {"uniq", "unique"},
  };
  for (auto [theirs, ours] : kWords)
    if (theirs == foreign) return ours;
  return {};
}

}  // namespace

// --- types by name

const Type* Compiler::find_type_name(std::string_view name, Pos at) {
  if (name.substr(0, 2) == "::") name.remove_prefix(2);
  if (const Type* t = plain_named(name)) return t;
  if (const Type* t = lookup_type_named(name)) return t;
  Symbol s(name);
  if (auto it = aliases_.find(s); it != aliases_.end()) return it->second;
  const Making in_session(*this, Making::Where::kSession);  // aliases are kept
  if (const Definition* d = environment_.find_type(s, diagnostics())) {
    Type alias;
    alias.kind = TK::kAlias;
    alias.name = s.text();
    const Type* kept = make_type(arena(), alias);
    aliases_[s] = kept;  // before its body, which may name it
    if (d->body->kind != NodeKind::kTypeName && d->body->kind != NodeKind::kAccess)
      fail(d->body->span(), "the right side of a type alias must be a type", "PP-TYPE");
    Val v = evaluate(d->body, *top_);
    if (!v.is(VK::kType)) fail(d->body->span(), "the right side of a type alias must be a type", "PP-TYPE");
    if (v.t->kind == TK::kObject && v.t->name.empty()) {
      Type object = *v.t;
      object.name = s.text();
      return aliases_[s] = make_type(arena(), object);
    }
    // An alias that leads to itself through nothing but aliases has no meaning.
    for (const Type* t = v.t; t && t->kind == TK::kAlias; t = t->inner)
      if (t == kept)
        fail(d->span(), fmt::format("the type alias `{}` cannot be resolved to a real type", name), "PP-TYPE");
    kept->inner = v.t;
    return kept;
  }
  (void)at;
  if (Symbol type = resource_type_name(name); !type.empty()) return aliases_[s] = resource_type(arena(), type.text());
  return nullptr;
}

const Type* Compiler::type_of_node(const Node* n, Scope& scope) {
  if (auto it = types_.find(n); it != types_.end()) return it->second;
  bool kept = literal_only(n);
  std::optional<Making> in_session;
  if (kept) in_session.emplace(*this, Making::Where::kSession);
  Val v = evaluate(n, scope);
  if (!v.is(VK::kType)) fail(n->span(), "this expression is not a type", "PP-TYPE");
  if (kept) types_[n] = v.t;
  return v.t;
}

// Written as types are: what else may have been meant.
EvalError Compiler::unknown_type(const Node* n) {
  std::string_view name = as<Named>(n).name.text();
  EvalError e("PP-UNKNOWN-TYPE", n->span(), fmt::format("the type `{}` is not known", name));
  std::vector<std::string> names(plain_type_names().begin(), plain_type_names().end());
  for (std::string_view native : native_type_names()) names.push_back(capitalize_segments(native));
  names.push_back(capitalize_segments(environment_.nearest_name(NodeKind::kDefine, downcase(name))));
  std::vector<std::string_view> views(names.begin(), names.end());
  if (std::string_view near = nearest(name, views); !near.empty()) e.help = fmt::format("did you mean `{}`?", near);
  return e;
}

// --- calls

Val Compiler::call(const Call& c, Scope& scope) {
  std::vector<Val> args;
  args.reserve(c.args.size());
  // $facts.dig('os', 'family'): of the facts this one is wanted.
  bool one_fact =
      settings().facts_of_host && c.kind == NodeKind::kMethodCall && c.args.size() > 1 && is_facts(c.args[0]);
  for (const Node* a : one_fact ? c.args.subspan(1) : c.args) splat_into(args, a, scope);
  if (one_fact) {
    const Val* found = facts_with(scope, !args.empty() && args[0].is(VK::kString) ? args[0].text() : "");
    args.insert(args.begin(), found ? *found : Val::undef());
  }
  Closure closure;
  const Closure* block = nullptr;
  if (c.block) {
    closure.lambda = c.block;
    closure.scope = &scope;
    block = &closure;
  }
  if (c.callee) {
    Val callee = evaluate(c.callee, scope);
    if (callee.is(VK::kType)) {
      Val made = construct(callee.t, args, c.begin);
      return block ? call_closure(*block, std::span<const Val>(&made, 1), c.begin) : made;
    }
    if (callee.is(VK::kClosure)) return call_closure(*callee.c, args, c.begin);
    fail(c.callee->span(), "this value cannot be called", "PP-FUNCTION");
  }
  if (c.kind == NodeKind::kMethodCall && !args.empty() && args[0].is(VK::kObject)) {
    const ObjectBody& object = *args[0].o;
    if (args.size() == 1)
      for (const Pair& p : object.fields)
        if (p.key.text() == c.name.text()) return p.value;
    if (object.methods) {
      try {
        if (auto answer = object.methods->call(c.name.text(), std::span(args).subspan(1), block)) return *answer;
      } catch (const TypeError& e) {
        fail(c.begin, e.what(), "PP-ARGUMENTS");
      }
    }
  }
  if (c.kind == NodeKind::kMethodCall && args.size() == 1 && args[0].is(VK::kUri))
    if (std::optional<Val> part = uri_part(arena(), args[0].text(), c.name.text())) return *part;
  Val v = call_function(c.name, args, block, scope, c.name_at ? c.name_at : c.begin);
  if (!v.origin) v.origin = c.begin;
  return v;
}

const Builtin* Compiler::native_function(Symbol name) {
  const Builtin* builtin = Functions::all().find(name);
  // What is made after a function of the old interface says nothing of one of the newer.
  if (builtin != nullptr && builtin->run3x != nullptr && !builtin->module.empty())
    if (const RubyFunction* theirs = environment_.ruby_function(name); theirs != nullptr && !theirs->old)
      return nullptr;
  bool counts = builtin == nullptr || builtin->module.empty() || settings().modulepath.empty() ||
                environment_.native_function_counts(name, builtin->module);
  return counts ? builtin : nullptr;
}

bool Compiler::function_exists(Symbol name) {
  return environment_.find_function(name, diagnostics()) || native_function(name) || environment_.ruby_function(name);
}

Val Compiler::call_function(Symbol name, std::span<const Val> args, const Closure* block, Scope& scope, Pos at) {
  std::string_view text = name.text();
  if (text.substr(0, 2) == "::") name = Symbol(text.substr(2));
  const Builtin* builtin = native_function(name);
  // A function of the environment hides the built-in one of the same name.
  if (const Definition* d = environment_.find_function(name, diagnostics())) {
    if (block) fail(at, fmt::format("'{}' does not expect a block", name.text()), "PP-FUNCTION");
    return call_definition(*d, args, scope, at);
  }
  if (builtin) {
    // Most go through the values of the first level, few deeper.
    for (const Val& v : args)
      if (v.is(VK::kArray) || v.is(VK::kHash))
        budget_.step(v.size);
      else if (v.is(VK::kString))
        looked_at(budget_, v);
    return call_builtin(*builtin, FunctionCall{*this, scope, builtin->name, args, block, at});
  }
  if (const RubyFunction* ruby = environment_.ruby_function(name))
    return call_ruby_function(*this, scope, *ruby, name.text(), args, block, at);
  if (ruby_knows_function(*this, name))  // the file of another function has it
    return call_ruby_function(*this, scope, {"", true, nullptr}, name.text(), args, block, at);
  EvalError e("PP-UNKNOWN-FUNCTION", at, fmt::format("unknown function: '{}'", name.text()));
  std::string_view near = nearest(name.text(), Functions::all().names());
  if (std::string_view own = own_word(name.text()); !own.empty())
    e.help = fmt::format("write `{}`", own);
  else if (!args.empty() && args[0].is(VK::kString) && find_variable(scope, args[0].text()))
    e.help = fmt::format("a variable begins with `$`, and a value of a hash is reached with `['...']`: `${}['{}']`",
                         args[0].text(), name.text());
  else if (args.size() == 1 && args[0].is(VK::kHash) && (near.empty() || args[0].get(name.text())))
    e.help = fmt::format("a value of a hash is reached with `['{}']`", name.text());
  else if (name.text() == "import")
    e.help = "classes and defines are found by their names; name a folder to read all manifests in it";
  else if (const Builtin* gone = Functions::all().find(name))
    e.help = fmt::format("the module {} had it in earlier releases: the one that is installed does not", gone->module);
  else if (!near.empty())
    e.help = fmt::format("did you mean `{}`?", near);
  throw e;
}

void Compiler::bind_params(std::span<const Param> params, std::span<const Val> args, Scope& inner,
                           std::string_view what, Pos at) {
  std::size_t least = 0, most = 0;
  bool rest = false;
  for (const Param& p : params) {
    if (p.rest)
      rest = true;
    else
      ++most;
    if (!p.rest && !p.value) ++least;
  }
  if (args.size() < least || (args.size() > most && !rest))
    fail(at,
         fmt::format("{} {}", what,
                     describe_count(static_cast<i64>(least), rest ? kNoMax : static_cast<i64>(most), args.size())),
         "PP-ARGUMENTS");
  for (std::size_t n = 0; n < params.size(); ++n) {
    const Param& p = params[n];
    Val v;
    const Type* type = p.type ? type_of_node(p.type, inner) : nullptr;
    if (p.rest) {
      std::vector<Val> items(args.begin() + static_cast<std::ptrdiff_t>(std::min(n, args.size())), args.end());
      if (type)
        for (std::size_t i = 0; i < items.size(); ++i)
          if (!is_instance(type, items[i]))
            fail(at,
                 fmt::format("{} {}", what,
                             describe_mismatch(fmt::format("parameter '{}'", p.name.text()), type, items[i])[0]),
                 "PP-TYPE-MISMATCH");
      v = make_array(arena(), items);
    } else {
      v = n < args.size() ? args[n] : default_of(p, inner, {&inner, params.subspan(n), nullptr, what});
      if (type) looked_at(budget_, v);
      if (type && !is_instance(type, v)) {
        auto wrong = describe_mismatch(fmt::format("parameter '{}'", p.name.text()), type, v);
        fail(at, fmt::format("{} {}", what, wrong.empty() ? std::string("has the wrong type") : wrong[0]),
             "PP-TYPE-MISMATCH");
      }
    }
    if (!set_variable(inner, p.name, v))
      fail(at, fmt::format("cannot reassign variable '${}'", p.name.text()), "PP-REASSIGN");
  }
}

Val Compiler::call_definition(const Definition& d, std::span<const Val> args, Scope& caller, Pos at) {
  Budget::Level level(budget_);
  CallScope inner(var_room_);
  inner.kind = Scope::Kind::kFunction;
  inner.parent = top_;
  inner.real = top_;  // resources that a function declares belong to main, whoever calls it
  inner.resource = top_->resource;
  inner.module = caller.module;
  std::string what = fmt::format("'{}'", d.name.text());
  bind_params(d.params, args, inner, what, at);
  return run_body(d.body, inner, d.returns, d.name.text());
}

Val Compiler::run_body(const Node* body, Scope& scope, const Node* returns, std::string_view what) {
  Val v;
  try {
    v = evaluate(body, scope);
  } catch (ReturnSignal& r) {
    v = r.value;
  }
  if (returns) {
    const Type* t = type_of_node(returns, scope);
    if (!is_instance(t, v))
      fail(returns->span(),
           fmt::format("value returned from {} has wrong type, {}", what, describe_mismatch("", t, v)[0]),
           "PP-TYPE-MISMATCH");
  }
  return v;
}

const Type* Compiler::callable_type(const Closure& closure) {
  std::vector<const Type*> types;
  Type t = *plain(TK::kCallable);
  t.sized = true;
  t.min = t.max = 0;
  if (closure.foreign) {
    types.assign(closure.params(), plain(TK::kAny));
    t.types = arena().copy(std::span<const Type* const>(types));
    t.min = static_cast<i64>(closure.required());
    t.max = closure.rest() ? kNoMax : static_cast<i64>(closure.params());
    return make_type(arena(), t);
  }
  for (const Param& p : closure.lambda->params) {
    types.push_back(p.type ? type_of_node(p.type, *closure.scope) : plain(TK::kAny));
    if (!p.value && !p.rest) ++t.min;
    t.max = p.rest ? kNoMax : t.max + 1;
  }
  t.types = arena().copy(std::span<const Type* const>(types));
  if (closure.lambda->returns) t.inner = type_of_node(closure.lambda->returns, *closure.scope);
  return make_type(arena(), t);
}

Val Compiler::call_closure(const Closure& closure, std::span<const Val> args, Pos at, bool wanted) {
  Budget::Level level(budget_);
  if (closure.foreign) return closure.foreign->call(args);
  CallScope inner(var_room_);
  inner.kind = Scope::Kind::kLocal;
  inner.parent = closure.scope;
  inner.real = closure.scope->real;
  inner.dynamic = closure.scope->dynamic;
  inner.resource = closure.scope->resource;
  inner.source = closure.scope->source;
  inner.module = closure.scope->module;
  inner.in_node = closure.scope->in_node;
  inner.match = closure.scope->match;
  bind_params(closure.lambda->params, args, inner, "block", at);
  Val v;
  try {
    if (wanted || closure.lambda->returns)
      v = evaluate(closure.lambda->body, inner);
    else
      execute(closure.lambda->body, inner);
  } catch (NextSignal& n) {
    v = n.value;
  }
  if (closure.lambda->returns) {
    const Type* t = type_of_node(closure.lambda->returns, inner);
    if (!is_instance(t, v))
      fail(closure.lambda->returns->span(),
           fmt::format("value returned from lambda has wrong type, {}", describe_mismatch("", t, v)[0]),
           "PP-TYPE-MISMATCH");
  }
  return v;
}

// --- rounds of loops

Compiler::Making::Making(Compiler& compiler, Where where)
    : compiler_(compiler), before_(compiler.arena_), round_(where == Where::kRound) {
  if (!round_) {
    compiler_.arena_ = &compiler_.session_.arena;
    return;
  }
  if (compiler_.rounds_ == compiler_.round_arenas_.size()) {
    compiler_.round_arenas_.emplace_back();
    compiler_.round_arenas_.back().set_limit(compiler_.budget_.limits().memory);
  }
  compiler_.arena_ = &compiler_.round_arenas_[compiler_.rounds_++];
}

Compiler::Making::~Making() {
  compiler_.arena_ = before_;
  if (!round_) return;
  Arena& used = compiler_.round_arenas_[--compiler_.rounds_];
#ifdef NDEBUG
  used.clear();
#else
  used = Arena();  // freed, so that sanitizers find whoever still holds something of it
  used.set_limit(compiler_.budget_.limits().memory);
#endif
}

// Whether nothing of what the code makes can be held by anything when it is done: it declares nothing, and calls no
// function but built-in ones that keep nothing. Variables that it sets end with the block's scope.
bool Compiler::leaves_nothing(const Node* n) {
  if (!n) return true;
  auto all = [&](std::span<const Node* const> nodes) {
    return std::all_of(nodes.begin(), nodes.end(), [&](const Node* i) { return leaves_nothing(i); });
  };
  switch (n->kind) {
    case NodeKind::kNop:
    case NodeKind::kUndef:
    case NodeKind::kDefault:
    case NodeKind::kBoolean:
    case NodeKind::kInteger:
    case NodeKind::kFloat:
    case NodeKind::kString:
    case NodeKind::kRegex:
    case NodeKind::kName:
    case NodeKind::kTypeName:
    case NodeKind::kVariable:
    case NodeKind::kRenderText: return true;
    case NodeKind::kConcat:
    case NodeKind::kArray:
    case NodeKind::kHash:
    case NodeKind::kAccess:
    case NodeKind::kBlock: return all(as<Kids>(n).items);
    case NodeKind::kParen:
    case NodeKind::kNot:
    case NodeKind::kNegate:
    case NodeKind::kSplat:
    case NodeKind::kRender: return leaves_nothing(as<Unary>(n).expr);
    case NodeKind::kBinary:
    case NodeKind::kAssign: return leaves_nothing(as<Binary>(n).left) && leaves_nothing(as<Binary>(n).right);
    case NodeKind::kSelector:
    case NodeKind::kCase: {
      const Select& s = as<Select>(n);
      return leaves_nothing(s.value) && std::all_of(s.options.begin(), s.options.end(), [&](const Option& o) {
               return all(o.values) && leaves_nothing(o.result);
             });
    }
    case NodeKind::kIf: {
      const If& i = as<If>(n);
      return leaves_nothing(i.test) && leaves_nothing(i.yes) && leaves_nothing(i.no);
    }
    case NodeKind::kCall:
    case NodeKind::kMethodCall: {
      const Call& c = as<Call>(n);
      if (c.callee || !all(c.args) || (c.block && !leaves_nothing(*c.block))) return false;
      const Builtin* f = Functions::all().find(c.name);
      return f && f->keeps_nothing && !environment_.find_function(c.name, diagnostics());
    }
    default: return false;
  }
}

bool Compiler::leaves_nothing(const Lambda& lambda) {
  if (auto known = leaves_nothing_.find(&lambda); known != leaves_nothing_.end()) return known->second;
  bool nothing = leaves_nothing(lambda.body);
  for (const Param& p : lambda.params) nothing = nothing && leaves_nothing(p.type) && leaves_nothing(p.value);
  nothing = nothing && leaves_nothing(lambda.returns);
  return leaves_nothing_[&lambda] = nothing;
}

bool Compiler::call_round(const Closure& closure, std::span<const Val> args, Pos at, bool wanted) {
  if (closure.foreign || !leaves_nothing(*closure.lambda)) return call_closure(closure, args, at, wanted).truthy();
  const Making round(*this, Making::Where::kRound);
  return call_closure(closure, args, at, wanted).truthy();
}

// --- EPP

std::string Compiler::render_epp(const Program& program, std::span<const Pair> args, Scope& scope, Pos at) {
  Budget::Level level(budget_);
  CallScope inner(var_room_);
  inner.kind = Scope::Kind::kLocal;
  inner.parent = &scope;
  inner.real = scope.real;
  inner.resource = scope.resource;
  inner.source = scope.source;
  inner.module = scope.module;
  std::vector<bool> used(args.size());
  std::vector<std::string> wrong;
  for (const Param& p : program.params) {
    const Val* given = nullptr;
    for (std::size_t n = 0; n < args.size(); ++n)
      if (args[n].key.is(VK::kString) && args[n].key.text() == p.name.text()) given = &args[n].value, used[n] = true;
    Val v;
    if (given && !(given->undefined() && p.value))
      v = *given;
    else if (p.value)
      v = evaluate(p.value, inner);
    else if (!given)
      wrong.push_back(fmt::format("expects a value for parameter '{}'", p.name.text()));
    if (p.type && (given || p.value)) {
      const Type* t = type_of_node(p.type, inner);
      if (!is_instance(t, v))
        for (std::string& w : describe_mismatch(fmt::format("parameter '{}'", p.name.text()), t, v))
          wrong.push_back(std::move(w));
    }
    set_variable(inner, p.name, v);
  }
  std::size_t unknown = 0;
  for (std::size_t n = 0; n < args.size(); ++n)
    if (!used[n] && program.epp_params &&
        !args[n].value.undefined())  // told first: most often it is another one, misspelt
      wrong.insert(wrong.begin() + static_cast<std::ptrdiff_t>(unknown++),
                   fmt::format("has no parameter named '{}'", to_text(args[n].key)));
  if (!wrong.empty())
    fail(at, fmt::format("{}:{}{}", program.source->name, wrong.size() > 1 ? "\n  " : " ", fmt::join(wrong, "\n  ")),
         "PP-EPP-PARAMETER");
  for (std::size_t n = 0; n < args.size(); ++n) {
    if (used[n] || program.epp_params) continue;
    set_variable(inner, Symbol(args[n].key.text()), args[n].value);
  }
  std::string out;
  epp_out_.push_back(&out);
  try {
    evaluate(program.body, inner);
  } catch (...) {
    epp_out_.pop_back();
    throw;
  }
  epp_out_.pop_back();
  return out;
}

}  // namespace tutti::puppet
