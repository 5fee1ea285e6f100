#include "lang/puppet/reference/mupuppet.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace tutti::puppet::mu {
namespace {

E make(Expr e) { return std::make_shared<const Expr>(std::move(e)); }
S make(Stmt s) { return std::make_shared<const Stmt>(std::move(s)); }
S skip() { return make(Stmt{}); }

E integer(i64 i) {
  Expr e;
  e.integer = i;
  return make(std::move(e));
}
E boolean(bool b) {
  Expr e;
  e.kind = Ek::kBool;
  e.boolean = b;
  return make(std::move(e));
}

S seq(S a, S b) {
  Stmt s;
  s.kind = Sk::kSeq;
  s.first = std::move(a);
  s.second = std::move(b);
  return make(std::move(s));
}
S scope_of(std::string name, S body) {
  Stmt s;
  s.kind = Sk::kScope;
  s.name = std::move(name);
  s.first = std::move(body);
  return make(std::move(s));
}
S include(std::string name) {
  Stmt s;
  s.kind = Sk::kInclude;
  s.name = std::move(name);
  return make(std::move(s));
}

bool same(const Expr& a, const Expr& b) { return show(a) == show(b); }

// The rule that has just been applied.
void by(const State& st, const char* rule) { st.redex.rules.push_back(rule); }
void by(const State& st, const char* rule, std::string what) {
  by(st, rule);
  st.redex.what = std::move(what);
}

bool is_def_scope(const std::string& scope) {
  return scope.size() > 4 && scope.compare(scope.size() - 4, 4, " def") == 0;
}

// baseof: BTOP, BNODE, BDEFRES, BCLASS
std::string base_of(const State& st, std::string scope) {
  for (;;) {
    if (scope == "::" || scope == "::nd") return scope;
    if (is_def_scope(scope)) {
      scope.resize(scope.size() - 4);
      continue;
    }
    auto it = st.kappa.find(scope.substr(2));
    if (it == st.kappa.end() || it->second.kind != Def::kDeclaredClass)
      throw Stuck{"base of a class that is not declared"};
    scope = it->second.parent;
  }
}

// parentof: PNODE, PDEFRES, PCLASS; nothing for the top scope.
std::optional<std::string> parent_of(const State& st, const std::string& scope) {
  if (scope == "::") return std::nullopt;
  if (scope == "::nd") return "::";
  if (is_def_scope(scope)) return base_of(st, scope);
  auto it = st.kappa.find(scope.substr(2));
  if (it == st.kappa.end() || it->second.kind != Def::kDeclaredClass)
    throw Stuck{"parent of a class that is not declared"};
  return it->second.parent;
}

E lookup(const State& st, const std::string& scope, const std::string& x) {
  auto s = st.sigma.find(scope);
  if (s == st.sigma.end()) return nullptr;
  auto v = s->second.find(x);
  return v == s->second.end() ? nullptr : v->second;
}

E apply(const std::string& op, const Expr& a, const Expr& b) {
  auto ints = [&] {
    if (a.kind != Ek::kInt || b.kind != Ek::kInt) throw Stuck{"'" + op + "' needs integers"};
  };
  if (op == "==") return boolean(same(a, b));
  if (op == "!=") return boolean(!same(a, b));
  if (op == "and" || op == "or") {
    if (a.kind != Ek::kBool || b.kind != Ek::kBool) throw Stuck{"'" + op + "' needs booleans"};
    return boolean(op == "and" ? a.boolean && b.boolean : a.boolean || b.boolean);
  }
  ints();
  i64 x = a.integer, y = b.integer;
  if (op == "+") return integer(x + y);
  if (op == "-") return integer(x - y);
  if (op == "*") return integer(x * y);
  if (op == "/") {
    if (y == 0) throw Stuck{"division by zero"};
    return integer(x / y - ((x % y != 0 && (x < 0) != (y < 0)) ? 1 : 0));
  }
  if (op == ">") return boolean(x > y);
  if (op == "<") return boolean(x < y);
  if (op == ">=") return boolean(x >= y);
  if (op == "<=") return boolean(x <= y);
  throw Stuck{"operator " + op};
}

// e : H  ->_R  e' : H'
bool step_hash(const State& st, const std::string& scope, Hash& h) {
  for (auto& [k, v] : h)
    if (auto n = step(st, scope, v)) {
      v = *n;
      return true;
    }
  return false;
}

// merge(rho, v_H): assignments of the parameters, to what was given or to their defaults.
S merge(const std::vector<Param>& params, const Hash& given, S body) {
  for (const auto& [k, v] : given)
    if (std::none_of(params.begin(), params.end(), [&](const Param& p) { return p.name == k; }))
      throw Stuck{"no parameter named " + k};
  for (std::size_t n = params.size(); n-- > 0;) {
    E value = params[n].value;
    for (const auto& [k, v] : given)
      if (k == params[n].name) value = v;
    if (!value) throw Stuck{"no value for parameter " + params[n].name};
    Stmt a;
    a.kind = Sk::kAssign;
    a.name = params[n].name;
    a.expr = value;
    body = seq(make(std::move(a)), body);
  }
  return body;
}

void check_cycle(const State& st, const std::string& name) {
  std::set<std::string> seen;
  for (std::string c = name;;) {
    if (!seen.insert(c).second) throw Stuck{"class " + name + " inherits from itself"};
    auto it = st.kappa.find(c);
    if (it == st.kappa.end() || it->second.kind != Def::kClassDef || it->second.parent.empty()) return;
    c = it->second.parent;
  }
}

Def& class_def(State& st, const std::string& name) {
  auto it = st.kappa.find(name);
  if (it == st.kappa.end() || it->second.kind == Def::kResourceDef) throw Stuck{"class " + name + " is not defined"};
  return it->second;
}

// INCU, INCPU, INCPD and CDECU, CDECPU, CDECPD: alike but for the parameters and what is done first.
S declare_class(State& st, const std::string& scope, const S& self, const std::string& name, const Hash& given) {
  const bool resource_like = self->kind == Sk::kClassDecl;
  Def& d = class_def(st, name);
  if (!d.parent.empty()) {
    check_cycle(st, name);
    Def& parent = class_def(st, d.parent);
    if (parent.kind == Def::kClassDef) {
      by(st, resource_like ? "CDECPU" : "INCPU", fmt::format("{} first, the parent of {}", d.parent, name));
      return seq(include(d.parent), self);
    }
  }
  by(st,
     resource_like      ? (d.parent.empty() ? "CDECU" : "CDECPD")
     : d.parent.empty() ? "INCU"
                        : "INCPD",
     fmt::format("the body of class {}, in ::{}", name, name));
  S body = merge(d.params, given, d.body);
  Def declared;
  declared.kind = Def::kDeclaredClass;
  declared.parent = d.parent.empty() ? base_of(st, scope) : "::" + d.parent;
  d = declared;
  return scope_of("::" + name, body);
}

bool node_match(const std::string& node, const std::vector<std::string>& hosts) {
  for (const std::string& h : hosts)
    if (h == node || h == "default") return true;
  return false;
}

}  // namespace

bool is_value(const Expr& e) {
  switch (e.kind) {
    case Ek::kInt:
    case Ek::kString:
    case Ek::kBool: return true;
    case Ek::kHash: return std::all_of(e.hash.begin(), e.hash.end(), [](const auto& p) { return is_value(*p.second); });
    case Ek::kArray:
    case Ek::kRef: return std::all_of(e.kids.begin(), e.kids.end(), [](const E& k) { return is_value(*k); });
    default: return false;
  }
}

std::optional<E> step(const State& st, const std::string& scope, const E& e) {
  if (is_value(*e)) return std::nullopt;
  Expr copy = *e;
  auto step_kid = [&](std::size_t n, const char* rule) {
    if (auto k = step(st, scope, copy.kids[n])) {
      by(st, rule);
      copy.kids[n] = *k;
      return true;
    }
    return false;
  };
  switch (e->kind) {
    case Ek::kVar: {
      if (E v = lookup(st, scope, e->text))
        return by(st, "LVAR", fmt::format("${} is {} in {}", e->text, show(*v), scope)), v;
      auto parent = parent_of(st, scope);
      if (!parent) throw Stuck{"variable $" + e->text + " is not set"};
      auto found = step(st, *parent, e);
      by(st, "PVAR");
      return found;
    }
    case Ek::kTopVar:
      if (E v = lookup(st, "::", e->text)) return by(st, "TVAR", fmt::format("$::{} is {}", e->text, show(*v))), v;
      throw Stuck{"variable $::" + e->text + " is not set"};
    case Ek::kClassVar:
      if (E v = lookup(st, "::" + e->cls, e->text))
        return by(st, "QVAR", fmt::format("$::{}::{} is {}", e->cls, e->text, show(*v))), v;
      throw Stuck{"variable $::" + e->cls + "::" + e->text + " is not set"};
    case Ek::kBinary:
      if (step_kid(0, "operand")) return make(copy);
      if ((copy.text == "and" || copy.text == "or") && copy.kids[0]->kind == Ek::kBool &&
          copy.kids[0]->boolean == (copy.text == "or"))
        return by(st, "operator"), copy.kids[0];
      if (step_kid(1, "operand")) return make(copy);
      by(st, "operator");
      return apply(copy.text, *copy.kids[0], *copy.kids[1]);
    case Ek::kNot:
      if (step_kid(0, "operand")) return make(copy);
      by(st, "operator");
      if (copy.kids[0]->kind != Ek::kBool) throw Stuck{"'!' needs a boolean"};
      return boolean(!copy.kids[0]->boolean);
    case Ek::kArray:
    case Ek::kRef:
      for (std::size_t n = 0; n < copy.kids.size(); ++n)
        if (step_kid(n, e->kind == Ek::kRef ? "REFRES" : "array")) return make(copy);
      return std::nullopt;
    case Ek::kHash:
      if (step_hash(st, scope, copy.hash)) return by(st, "hash"), make(copy);
      return std::nullopt;
    case Ek::kDeref: {
      if (step_kid(0, "DEREFEXP")) return make(copy);
      if (step_kid(1, "DEREFINDEX")) return make(copy);
      const Expr &d = *copy.kids[0], &k = *copy.kids[1];
      if (d.kind == Ek::kArray && k.kind == Ek::kInt) {
        by(st, "DEREFARRAY");
        if (k.integer < 0 || k.integer >= static_cast<i64>(d.kids.size())) throw Stuck{"index out of range"};
        return d.kids[static_cast<std::size_t>(k.integer)];
      }
      if (d.kind == Ek::kHash && k.kind == Ek::kString) {
        by(st, "DEREFHASH");
        for (const auto& [key, v] : d.hash)
          if (key == k.text) return v;
        throw Stuck{"no key " + k.text};
      }
      if (d.kind == Ek::kRef && k.kind == Ek::kString) {
        by(st, "DEREFRES");
        for (const ResourceValue& r : st.catalog)
          if (r.type == d.text && d.kids[0]->kind == Ek::kString && r.title == d.kids[0]->text)
            for (const auto& [name, v] : r.values)
              if (name == k.text) return v;
        throw Stuck{"no such resource or parameter"};
      }
      throw Stuck{"illegal index"};
    }
    case Ek::kSelector: {
      if (step_kid(0, "selector")) return make(copy);
      for (auto& [c, v] : copy.matches) {
        if (!c) continue;
        if (auto n = step(st, scope, c)) {
          by(st, "selector");
          c = *n;
          return make(copy);
        }
        if (same(*c, *copy.kids[0])) return by(st, "selector"), v;
      }
      by(st, "selector");
      for (const auto& [c, v] : copy.matches)
        if (!c) return v;
      throw Stuck{"no matching entry for the selector"};
    }
    default: return std::nullopt;
  }
}

std::optional<S> step(State& st, const std::string& scope, const S& s) {
  Stmt copy = *s;
  if (s->at) st.redex.at = s->at;
  st.redex.scope = scope;
  switch (s->kind) {
    case Sk::kSkip: return std::nullopt;
    case Sk::kExpr:
      if (auto n = step(st, scope, copy.expr)) {
        by(st, "expression");
        copy.expr = *n;
        return make(copy);
      }
      by(st, "expression");
      return skip();
    case Sk::kSeq:
      if (copy.first->kind == Sk::kSkip) return by(st, "sequence"), copy.second;
      copy.first = *step(st, scope, copy.first);
      by(st, "sequence");
      return make(copy);
    case Sk::kAssign:
      if (auto n = step(st, scope, copy.expr)) {
        by(st, "ASSIGNSTEP");
        copy.expr = *n;
        return make(copy);
      }
      if (lookup(st, scope, copy.name)) throw Stuck{"variable $" + copy.name + " is set already"};
      by(st, "ASSIGN", fmt::format("${} = {} in {}", copy.name, show(*copy.expr), scope));
      st.sigma[scope][copy.name] = copy.expr;
      return skip();
    case Sk::kUnless:
    case Sk::kIf: {
      if (auto n = step(st, scope, copy.expr)) {
        by(st, copy.kind == Sk::kIf ? "if" : "unless");
        copy.expr = *n;
        return make(copy);
      }
      by(st, copy.kind == Sk::kIf ? "if" : "unless");
      if (copy.expr->kind != Ek::kBool) throw Stuck{"a condition must be a boolean"};
      bool yes = copy.expr->boolean != (copy.kind == Sk::kUnless);
      S next = yes ? copy.first : copy.second;
      return next ? next : skip();
    }
    case Sk::kCase: {
      if (auto n = step(st, scope, copy.expr)) {
        by(st, "case");
        copy.expr = *n;
        return make(copy);
      }
      for (auto& [c, body] : copy.cases) {
        if (!c) continue;
        if (auto n = step(st, scope, c)) {
          by(st, "case");
          c = *n;
          return make(copy);
        }
        if (same(*c, *copy.expr)) return by(st, "case"), body;
      }
      by(st, "case");
      for (const auto& [c, body] : copy.cases)
        if (!c) return body;
      return skip();
    }
    case Sk::kResource:
    case Sk::kDefined: {
      auto def = st.kappa.find(copy.name);
      bool defined = def != st.kappa.end() && def->second.kind == Def::kResourceDef;
      if (auto n = step(st, scope, copy.expr)) {  // the title
        by(st, defined ? "DEFSTEP" : "RESSTEP");
        copy.expr = *n;
        return make(copy);
      }
      if (step_hash(st, scope, copy.hash))
        return by(st, defined ? "DEFSTEP" : "RESSTEP"), make(copy);  // ... then those
      if (copy.expr->kind != Ek::kString) throw Stuck{"a title must be a string"};
      if (defined) {
        by(st, "DEF", fmt::format("the body of {}, for the title {}", copy.name, show(*copy.expr)));
        Stmt title;
        title.kind = Sk::kAssign;
        title.name = "title";
        title.expr = copy.expr;
        return scope_of(scope + " def", seq(make(title), merge(def->second.params, copy.hash, def->second.body)));
      }
      if (s->kind == Sk::kDefined) throw Stuck{"unknown resource type " + copy.name};
      for (const ResourceValue& r : st.catalog)
        if (r.type == copy.name && r.title == copy.expr->text)
          throw Stuck{"duplicate declaration of " + copy.name + "[" + r.title + "]"};
      by(st, "RESDECL", fmt::format("{}[{}] goes to the end of the catalog", copy.name, show(*copy.expr)));
      ResourceValue r;
      r.type = copy.name;
      r.title = copy.expr->text;
      r.values = copy.hash;
      for (const auto& [k, v] : copy.hash) r.attributes.emplace_back(k, show(*v));
      st.catalog.push_back(std::move(r));
      return skip();
    }
    case Sk::kClassDecl: {
      Def& d = class_def(st, copy.name);
      if (d.kind == Def::kDeclaredClass) throw Stuck{"class " + copy.name + " is declared already"};
      if (step_hash(st, scope, copy.hash)) return by(st, "CDECSTEP"), make(copy);
      return declare_class(st, scope, s, copy.name, copy.hash);
    }
    case Sk::kInclude:
      if (class_def(st, copy.name).kind == Def::kDeclaredClass)
        return by(st, "INCD", fmt::format("class {} is declared already", copy.name)), skip();
      return declare_class(st, scope, s, copy.name, {});
    case Sk::kScope:
      if (copy.first->kind == Sk::kSkip) {
        by(st, is_def_scope(copy.name) ? "DEFSCOPEDONE" : "SCOPEDONE");
        if (is_def_scope(copy.name)) st.sigma.erase(copy.name);
        return skip();
      }
      copy.first = *step(st, copy.name, copy.first);
      by(st, is_def_scope(copy.name) ? "DEFSCOPESTEP" : "SCOPESTEP");
      return make(copy);
  }
  return std::nullopt;
}

std::optional<Manifest> step(State& st, const std::string& node, const Manifest& m) {
  if (m.empty()) return std::nullopt;
  Manifest out = m;
  Item& i = out.front();
  st.redex = {{}, i.at, "::", ""};
  auto drop = [&] {
    out.erase(out.begin());
    return out;
  };
  switch (i.kind) {
    case Item::kStmt:
      if (i.body->kind == Sk::kSkip) return by(st, "sequence"), drop();
      i.body = *step(st, "::", i.body);
      by(st, "TOPSCOPE");
      return out;
    case Item::kNode:
      if (!node_match(node, i.hosts)) return by(st, "NODENOMATCH", fmt::format("{} is another node", node)), drop();
      by(st, "NODEMATCH", fmt::format("the body for {}, in ::nd", node));
      i.kind = Item::kStmt;
      i.body = scope_of("::nd", i.body);
      return out;
    case Item::kDefine:
    case Item::kClass: {
      by(st,
         i.kind == Item::kDefine ? "RDEF"
         : i.params.empty()      ? (i.parent.empty() ? "CDEF" : "CDEFI")
         : i.parent.empty()      ? "CDEFP"
                                 : "CDEFPI",
         i.name + " is defined");
      if (st.kappa.count(i.name)) throw Stuck{i.name + " is defined already"};
      Def d;
      d.kind = i.kind == Item::kDefine ? Def::kResourceDef : Def::kClassDef;
      d.parent = i.parent;
      d.params = i.params;
      d.body = i.body;
      st.kappa[i.name] = d;
      return drop();
    }
  }
  return std::nullopt;
}

namespace {

// `facts`: variables that were there from the start, of which there are very many: only their number is told.
Steps::Cells cells_of(const State& st, const Manifest& m, std::size_t facts) {
  std::string sigma, kappa, catalog;
  if (facts) sigma = fmt::format("(::, ...) = {} facts", facts);
  for (const auto& [scope, vars] : st.sigma)
    for (const auto& [x, v] : vars)
      if (!st.facts.contains(v.get()))
        sigma += fmt::format("{}({}, {}) = {}", sigma.empty() ? "" : "\n", scope, x, show(*v));
  for (const auto& [name, d] : st.kappa) kappa += fmt::format("{}{} = {}", kappa.empty() ? "" : "\n", name, show(d));
  for (const ResourceValue& r : st.catalog) {
    catalog += fmt::format("{}{} {{ '{}':", catalog.empty() ? "" : "\n", r.type, r.title);
    for (const auto& [k, v] : r.attributes) catalog += fmt::format(" {} => {},", k, v);
    if (catalog.ends_with(',')) catalog.pop_back();
    catalog += " }";
  }
  return {{"manifest", show(m)}, {"environment", sigma}, {"definitions", kappa}, {"catalog", catalog}};
}

void tell(Steps& steps, const State& st, const Manifest& m) {
  const Redex& r = st.redex;
  std::string within = fmt::format("{}", fmt::join(r.rules.begin() + 1, r.rules.end(), ", "));
  std::string what = r.what.empty() ? "" : r.what + (within.empty() ? "" : "; ");
  if (!within.empty()) what += "by " + within;
  steps.step({r.rules[0], r.scope, Span(r.at), what}, [&] { return cells_of(st, m, st.facts.size()); });
}

// nodeMatch is left open by the rules; `default` is for nodes that no other definition names (section 2.1.1).
void default_for_others(Manifest& m, const std::string& node) {
  bool named = std::any_of(m.begin(), m.end(), [&](const Item& i) {
    return i.kind == Item::kNode && std::find(i.hosts.begin(), i.hosts.end(), node) != i.hosts.end();
  });
  if (!named) return;
  for (Item& i : m) i.hosts.erase(std::remove(i.hosts.begin(), i.hosts.end(), std::string("default")), i.hosts.end());
}

}  // namespace

State run(Manifest m, const std::string& node, State st, const std::function<void(const State&, const State&)>& watch,
          Steps* steps) {
  default_for_others(m, node);
  if (steps)
    for (const auto& [x, v] : st.sigma["::"]) st.facts.insert(v.get());
  if (steps) steps->step({"start", "::", {}, "the whole manifest"}, [&] { return cells_of(st, m, st.facts.size()); });
  for (int taken = 0;; ++taken) {
    if (taken > 2'000'000) throw Stuck{"does not end"};
    State before;
    if (watch) before = st;
    std::optional<Manifest> next;
    try {
      next = step(st, node, m);
    } catch (const Stuck& s) {
      if (steps)
        steps->step({"stuck", st.redex.scope, Span(st.redex.at), "no rule goes on: " + s.why},
                    [&] { return cells_of(st, m, st.facts.size()); });
      throw Stuck{s.why, st.redex.at};
    }
    if (!next) return st;
    if (watch) watch(before, st);
    m = std::move(*next);
    if (steps) tell(*steps, st, m);
  }
}

}  // namespace tutti::puppet::mu
