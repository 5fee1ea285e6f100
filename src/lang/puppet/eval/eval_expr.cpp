#include <fmt/format.h>

#include "base/near.h"
#include "lang/puppet/eval/compiler.h"
#include "lang/puppet/eval/growth.h"
#include "lang/puppet/types/regex.h"
#include "lang/puppet/types/value_text.h"

namespace tutti::puppet {

Val Compiler::evaluate(const Node* n, Scope& scope) {
  if (!n) return Val::undef();
  budget_.step();
  switch (n->kind) {
    case NodeKind::kNop:
    case NodeKind::kUndef: return Val::undef().with_origin(n->begin);
    case NodeKind::kDefault: return Val::default_().with_origin(n->begin);
    case NodeKind::kBoolean: return Val::boolean(as<Literal>(n).boolean).with_origin(n->begin);
    case NodeKind::kInteger: return Val::integer(as<Literal>(n).integer).with_origin(n->begin);
    case NodeKind::kFloat: return Val::real(as<Literal>(n).real).with_origin(n->begin);
    case NodeKind::kString: return Val::string(as<Literal>(n).text).with_origin(n->begin);
    case NodeKind::kName: {
      const Named& word = as<Named>(n);
      Symbol text = word.absolute ? Symbol(fmt::format("::{}", word.name.text())) : word.name;
      return Val::string(text.text()).with_origin(n->begin);
    }
    case NodeKind::kVariable: return variable(as<Named>(n), scope);
    default: break;
  }
  at_ = n->begin;
  Budget::Level level(budget_);
  switch (n->kind) {
    case NodeKind::kRegex: {
      std::string error;
      if (!Regex::get(as<Literal>(n).text, &error))
        fail(n->span(), fmt::format("invalid regular expression: {}", error));
      return Val::with_text(VK::kRegex, as<Literal>(n).text).with_origin(n->begin);
    }
    case NodeKind::kConcat: {
      std::string out;
      for (const Node* i : as<Kids>(n).items) {
        if (i->kind == NodeKind::kString)
          out += as<Literal>(i).text;
        else
          append_text(out, evaluate(i, scope));
        grown(budget_, out.size());
      }
      return make_string(arena(), out).with_origin(n->begin);
    }
    case NodeKind::kTypeName: {
      const Type* t = find_type_name(as<Named>(n).name.text(), n->begin);
      if (!t) throw unknown_type(n);
      return Val::type(t).with_origin(n->begin);
    }
    case NodeKind::kReserved: fail(n->span(), "use of a reserved word");
    case NodeKind::kArray: {
      std::vector<Val> items;
      for (const Node* i : as<Kids>(n).items) splat_into(items, i, scope);
      return make_array(arena(), items).with_origin(n->begin);
    }
    case NodeKind::kHash: return hash_literal(as<Kids>(n), scope);
    case NodeKind::kParen: return evaluate(as<Unary>(n).expr, scope);
    case NodeKind::kNot: return Val::boolean(!evaluate(as<Unary>(n).expr, scope).truthy()).with_origin(n->begin);
    case NodeKind::kNegate: {
      Val v = evaluate(as<Unary>(n).expr, scope);
      if (v.is(VK::kString) && !parse_number(v.text(), v))
        fail(n->span(), fmt::format("the value {} cannot be converted to Numeric", to_literal(v)));
      if (v.is(VK::kInt)) {
        if (v.i == kNoMin) fail(n->span(), "the result does not fit a 64-bit integer");
        return Val::integer(-v.i).with_origin(n->begin);
      }
      if (v.is(VK::kFloat)) return Val::real(-v.d).with_origin(n->begin);
      if (v.is(VK::kTimespan)) return Val::nanoseconds(VK::kTimespan, -v.i);
      fail(n->span(), fmt::format("the value '{}' cannot be converted to Numeric", ruby_inspect(v)));
    }
    case NodeKind::kSplat: {
      std::vector<Val> items;
      splat_into(items, n, scope);
      return make_array(arena(), items);
    }
    case NodeKind::kBinary: return binary(as<Binary>(n), scope);
    case NodeKind::kAssign: return assign(as<Binary>(n), scope);
    case NodeKind::kRelation: return relation(as<Binary>(n), scope);
    case NodeKind::kAccess: {
      auto items = as<Kids>(n).items;
      std::vector<Val> keys;
      Val base;
      if (settings().facts_of_host && is_facts(items[0])) {
        for (std::size_t i = 1; i < items.size(); ++i) splat_into(keys, items[i], scope);
        const Val* found = facts_with(scope, keys.size() == 1 && keys[0].is(VK::kString) ? keys[0].text() : "");
        base = found ? *found : Val::undef();
      } else {
        base = evaluate(items[0], scope);
        for (std::size_t i = 1; i < items.size(); ++i) splat_into(keys, items[i], scope);
      }
      try {
        Val v = access(base, keys, scope, n->begin);
        if (!v.origin) v.origin = n->begin;
        return v;
      } catch (EvalError& e) {
        // package['x'] is an index into the text 'package'.
        if (items[0]->kind == NodeKind::kName && e.help.empty())
          e.help = fmt::format("a reference to a resource begins with a capital letter: `{}[...]`",
                               capitalize_segments(as<Named>(items[0]).name.text()));
        throw;
      }
    }
    case NodeKind::kSelector:
    case NodeKind::kCase: return select(as<Select>(n), scope);
    case NodeKind::kIf: return if_then(as<If>(n), scope);
    case NodeKind::kBlock: return block(as<Kids>(n), scope);
    case NodeKind::kCall:
    case NodeKind::kMethodCall: return call(as<Call>(n), scope);
    case NodeKind::kLambda: {
      Val v;
      v.kind = VK::kClosure;
      Closure c;
      c.lambda = &as<Lambda>(n);
      c.scope = &scope;
      v.c = arena().make<Closure>(c);
      return v;
    }
    case NodeKind::kResource: return resource_expression(as<ResourceDecl>(n), scope, true);
    case NodeKind::kDefaults: resource_defaults(as<ResourceDecl>(n), scope); return Val::undef();
    case NodeKind::kOverride: return resource_override(as<ResourceDecl>(n), scope);
    case NodeKind::kCollect: return collect_expression(as<Collect>(n), scope);
    case NodeKind::kClass:
    case NodeKind::kDefine:
    case NodeKind::kFunction:
    case NodeKind::kNodeDef:
    case NodeKind::kTypeAlias:
    case NodeKind::kTypeDef: return Val::undef();  // known since the file was parsed
    case NodeKind::kRenderText:
      if (!epp_out_.empty()) *epp_out_.back() += as<Literal>(n).text;
      return Val::undef();
    case NodeKind::kRender: {
      Val v = evaluate(as<Unary>(n).expr, scope);
      if (!epp_out_.empty()) append_text(*epp_out_.back(), v);
      return Val::undef();
    }
    default: return Val::undef();
  }
}

Val Compiler::block(const Kids& b, Scope& scope) {
  for (std::size_t n = 0; n + 1 < b.items.size(); ++n) execute(b.items[n], scope);
  return b.items.empty() ? Val::undef() : evaluate(b.items.back(), scope);
}

void Compiler::execute(const Node* n, Scope& scope) {
  if (!n) return;
  if (n->kind == NodeKind::kBlock) {
    for (const Node* i : as<Kids>(n).items) execute(i, scope);
  } else if (n->kind == NodeKind::kResource) {
    budget_.step();
    Budget::Level level(budget_);
    resource_expression(as<ResourceDecl>(n), scope, false);
  } else {
    evaluate(n, scope);
  }
}

void Compiler::splat_into(std::vector<Val>& out, const Node* n, Scope& scope) {
  if (n->kind != NodeKind::kSplat) {
    out.push_back(evaluate(n, scope));
    return;
  }
  Val v = evaluate(as<Unary>(n).expr, scope);
  if (v.is(VK::kArray)) {
    out.insert(out.end(), v.items().begin(), v.items().end());
  } else if (v.is(VK::kHash)) {
    for (const Pair& p : v.entries()) {
      Val both[2] = {p.key, p.value};
      out.push_back(make_array(arena(), both));
    }
  } else if (!v.undefined()) {
    out.push_back(v);
  }
}

Val Compiler::hash_literal(const Kids& k, Scope& scope) {
  HashDraft h;
  for (std::size_t i = 0; i + 1 < k.items.size(); i += 2) {
    Val key = evaluate(k.items[i], scope);
    if (h.get(key))
      strict(k.items[i]->span(), fmt::format("the key {} is declared more than once", to_literal(key)),
             "PP-DUPLICATE-KEY");
    h.set(key, evaluate(k.items[i + 1], scope));
  }
  return h.build(arena()).with_origin(k.begin);
}

// --- variables

Scope* Compiler::class_scope(Symbol name) {
  auto it = class_scopes_.find(name);
  return it == class_scopes_.end() ? nullptr : it->second;
}

const Val* Compiler::find_variable(Scope& scope, Symbol local, Symbol scope_name, bool absolute) {
  if (scope_name.empty()) {
    for (Scope* s = absolute ? top_ : &scope; s; s = s->parent)
      if (const Val* v = s->vars.find(local)) return v;
    return settings().facts_of_host && gather_module_facts(local.text()) ? top_->vars.find(local) : nullptr;
  }
  Scope* c = class_scope(scope_name);
  for (; c && c->kind == Scope::Kind::kClass; c = c->parent)
    if (const Val* v = c->vars.find(local)) return v;
  return nullptr;
}

const Val* Compiler::find_variable(Scope& scope, std::string_view name) {
  bool absolute = name.substr(0, 2) == "::";
  if (absolute) name.remove_prefix(2);
  std::size_t cut = name.rfind("::");
  if (cut == std::string_view::npos) return find_variable(scope, Symbol(name), {}, absolute);
  return find_variable(scope, Symbol(name.substr(cut + 2)), Symbol(name.substr(0, cut)), true);
}

bool Compiler::set_variable(Scope& scope, Symbol name, const Val& value) {
  if (scope.vars.find(name)) return false;
  scope.vars.add(var_room_, name, value);
  return true;
}

Val Compiler::variable(const Named& v, Scope& scope) {
  if (v.capture >= 0) {
    std::size_t n = static_cast<std::size_t>(v.capture);
    return n < scope.match.size() ? scope.match[n] : Val::undef();
  }
  if (unset_ && unset_->scope == &scope && v.scope.empty() && !v.absolute)
    for (const Param& p : unset_->params) {
      if (p.name != v.local) continue;
      const ResourceParam* given = unset_->given ? unset_->given->find(p.name) : nullptr;
      if (given && !given->value.undefined()) return given->value;
      fail(v.span(),
           fmt::format("{}: default expression for ${} tries to illegally access not yet evaluated ${}", unset_->what,
                       unset_->params[0].name.text(), p.name.text()),
           "PP-UNKNOWN-VARIABLE");
    }
  if (settings().facts_of_host && is_facts(&v)) {
    if (const Val* found = facts_with(scope, "")) return *found;
  }
  if (const Val* found = find_variable(scope, v.local, v.scope, v.absolute)) return *found;
  std::string name(v.name.text());
  std::string_view near;
  if (v.scope.empty()) {
    std::vector<std::string_view> names;
    for (Scope* s = &scope; s; s = s->parent)
      for (const Vars::Entry& e : s->vars.all()) names.push_back(e.name.text());
    if (settings().strict_variables) near = nearest(v.local.text(), names);
  }
  std::string why;
  if (!v.scope.empty() && !class_scope(v.scope))
    why = environment_.find_class(v.scope, diagnostics())
              ? fmt::format(": class {} has not been evaluated", v.scope.text())
              : fmt::format(": class {} could not be found", v.scope.text());
  std::string message = fmt::format("unknown variable: '{}'{}", name, why);
  if (settings().strict_variables || settings().strict == Settings::Strict::kError) {
    EvalError e("PP-UNKNOWN-VARIABLE", v.span(), message);
    if (!near.empty()) e.help = fmt::format("did you mean `${}`?", near);
    throw e;
  }
  if (settings().strict == Settings::Strict::kWarning) warn(v.span(), message, "PP-UNKNOWN-VARIABLE");
  return Val::undef().with_origin(v.begin);
}

void Compiler::assign_to(const Node* target, const Val& value, Scope& scope) {
  if (target->kind == NodeKind::kVariable) {
    const Named& v = as<Named>(target);
    std::string_view name = v.local.text();
    if (name == "facts" || name == "trusted" || name == "server_facts")
      fail(target->span(), fmt::format("attempt to assign to a reserved variable name: '${}'", name), "PP-RESERVED");
    if (!set_variable(scope, v.local, value)) {
      EvalError e("PP-REASSIGN", target->span(), fmt::format("cannot reassign variable '${}'", name));
      if (const Val* old = scope.vars.find(v.local); old && session_.origins.written(old->origin))
        e.notes.push_back("set first at " + session_.sources->show(session_.origins.written(old->origin)));
      throw e;
    }
    return;
  }
  if (target->kind == NodeKind::kArray) {
    auto names = as<Kids>(target).items;
    if (value.is(VK::kHash)) {
      for (const Node* n : names) {
        if (n->kind != NodeKind::kVariable) fail(n->span(), "only variables can take values of a hash");
        const Val* v = value.get(as<Named>(n).local.text());
        if (!v)
          fail(n->span(), fmt::format("no value for required variable '${}' in the hash", as<Named>(n).local.text()));
        assign_to(n, *v, scope);
      }
      return;
    }
    if (value.is(VK::kType)) {
      const Type* t = resolved(value.t);
      Scope* c = t->kind == TK::kClass && t->has_title ? class_scope(Symbol(t->name)) : nullptr;
      if (!c) fail(target->span(), "cannot take variables from this class: it has not been evaluated");
      for (const Node* n : names) {
        const Val* v = c->vars.find(as<Named>(n).local);
        if (!v)
          fail(n->span(), fmt::format("no value for required variable '${}' in the class", as<Named>(n).local.text()));
        assign_to(n, *v, scope);
      }
      return;
    }
    std::vector<Val> one{value};
    std::span<const Val> items = value.is(VK::kArray) ? value.items() : std::span<const Val>(one);
    if (items.size() != names.size())
      fail(target->span(), fmt::format("mismatched number of assignable entries and values: expected {}, got {}",
                                       names.size(), items.size()));
    for (std::size_t n = 0; n < names.size(); ++n) assign_to(names[n], items[n], scope);
    return;
  }
  fail(target->span(), "illegal assignment: not a variable");
}

Val Compiler::assign(const Binary& b, Scope& scope) {
  Val value = evaluate(b.right, scope);
  assign_to(b.left, value, scope);
  return value;
}

// --- choices

namespace {
// Puts the match variables back when a branch is left.
struct MatchGuard {
  explicit MatchGuard(Scope& s) : scope(s), saved(s.match) {}
  ~MatchGuard() { scope.match = saved; }
  Scope& scope;
  std::span<const Val> saved;
};
}  // namespace

Val Compiler::if_then(const If& n, Scope& scope) {
  MatchGuard guard(scope);
  bool yes = evaluate(n.test, scope).truthy();
  if (n.unless) yes = !yes;
  return evaluate(yes ? n.yes : n.no, scope);
}

Val Compiler::select(const Select& s, Scope& scope) {
  MatchGuard guard(scope);
  Val value = evaluate(s.value, scope);
  const Option* otherwise = nullptr;
  for (const Option& o : s.options) {
    for (const Node* v : o.values) {
      if (v->kind == NodeKind::kDefault) {
        otherwise = &o;
        continue;
      }
      if (v->kind == NodeKind::kSplat) {
        std::vector<Val> options;
        splat_into(options, v, scope);
        for (const Val& x : options) {
          if (x.is(VK::kDefault))
            otherwise = &o;
          else if (matches_option(value, x, scope, v->begin))
            return evaluate(o.result, scope);
        }
        continue;
      }
      if (matches_option(value, evaluate(v, scope), scope, v->begin)) return evaluate(o.result, scope);
    }
  }
  if (otherwise) return evaluate(otherwise->result, scope);
  if (s.kind == NodeKind::kSelector)
    fail(s.span(), fmt::format("no matching entry for selector parameter with value {}", to_literal(value)),
         "PP-NO-MATCH");
  return Val::undef();
}

bool Compiler::matches_option(const Val& value, const Val& option, Scope& scope, Pos at) {
  looked_at(budget_, value);
  switch (option.kind) {
    case VK::kRegex: return value.is(VK::kString) && match_regex(value.text(), option.text(), scope, at);
    case VK::kType: return is_instance(option.t, value);  // also of types: Integer is none of its own instances
    case VK::kSemVerRange: {
      SemVer v;
      return value.is(VK::kSemVer) && parse_semver(value.text(), v) && semver_in_range(option.text(), v);
    }
    case VK::kArray: {
      if (!value.is(VK::kArray) || value.size != option.size) return false;
      for (u32 n = 0; n < value.size; ++n)
        if (!option.list[n].is(VK::kDefault) && !matches_option(value.list[n], option.list[n], scope, at)) return false;
      return true;
    }
    case VK::kHash: {
      if (!value.is(VK::kHash)) return false;
      for (const Pair& p : option.entries()) {
        const Val* v = value.get(p.key);
        if (!v && p.key.is(VK::kString))
          for (const Pair& q : value.entries())
            if (equal(q.key, p.key)) v = &q.value;
        if (!v || !(p.value.is(VK::kDefault) || matches_option(*v, p.value, scope, at))) return false;
      }
      return true;
    }
    default: return equal(value, option);
  }
}

bool Compiler::match_regex(std::string_view text, std::string_view pattern, Scope& scope, Pos at) {
  std::string error;
  const Regex* r = Regex::get(pattern, &error);
  if (!r) fail(at, fmt::format("invalid regular expression: {}", error));
  Groups groups;
  if (!r->search(text, 0, &groups)) return false;
  std::vector<Val> captures;
  for (std::size_t n = 0; n + 1 < groups.size(); n += 2)
    captures.push_back(groups[n] < 0
                           ? Val::undef()
                           : make_string(arena(), text.substr(static_cast<std::size_t>(groups[n]),
                                                              static_cast<std::size_t>(groups[n + 1] - groups[n]))));
  scope.match = arena().copy(std::span<const Val>(captures));
  return true;
}

}  // namespace tutti::puppet
