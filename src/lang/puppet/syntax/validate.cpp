#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <set>

#include "lang/puppet/syntax/parser.h"

namespace tutti::puppet {
namespace {

constexpr std::array<std::string_view, 30> kReservedTypes{
    "type",       "any",       "unit",     "scalar",  "boolean",  "numeric",   "integer",  "float",
    "collection", "array",     "hash",     "tuple",   "struct",   "variant",   "optional", "enum",
    "regexp",     "pattern",   "runtime",  "init",    "object",   "sensitive", "semver",   "semverrange",
    "string",     "timestamp", "timespan", "typeset", "callable", "undef"};

bool numeric(std::string_view s) { return !s.empty() && s.find_first_not_of("0123456789") == std::string_view::npos; }

// Whether evaluating it has no effect but its value.
bool idle(const Node* n) {
  if (!n) return true;
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
    case NodeKind::kArray:
    case NodeKind::kHash:
    case NodeKind::kAccess: return true;
    case NodeKind::kBinary: return n->op != Op::kMatch && n->op != Op::kNoMatch;
    case NodeKind::kParen:
    case NodeKind::kNot:
    case NodeKind::kNegate:
    case NodeKind::kSplat: return idle(as<Unary>(n).expr);
    case NodeKind::kConcat:
    case NodeKind::kBlock: {
      auto items = as<Kids>(n).items;
      return std::all_of(items.begin(), items.end(), idle);
    }
    case NodeKind::kIf: return idle(as<If>(n).test) && idle(as<If>(n).yes) && idle(as<If>(n).no);
    case NodeKind::kSelector:
    case NodeKind::kCase: {
      const Select& s = as<Select>(n);
      return idle(s.value) && std::all_of(s.options.begin(), s.options.end(), [](const Option& o) {
               return std::all_of(o.values.begin(), o.values.end(), idle) && idle(o.result);
             });
    }
    default: return false;
  }
}

std::string_view label(const Node* n) {
  switch (n->kind) {
    case NodeKind::kString: return "string";
    case NodeKind::kInteger:
    case NodeKind::kFloat: return "number";
    case NodeKind::kBoolean: return "boolean";
    case NodeKind::kName: return "name";
    case NodeKind::kTypeName: return "type name";
    case NodeKind::kVariable: return "variable";
    case NodeKind::kArray: return "array";
    case NodeKind::kHash: return "hash";
    case NodeKind::kConcat: return "string";
    case NodeKind::kAccess: return "access by []";
    case NodeKind::kBinary: return "operation";
    case NodeKind::kResource: return "resource";
    case NodeKind::kDefaults: return "resource defaults";
    case NodeKind::kOverride: return "resource override";
    case NodeKind::kCollect: return "collector";
    case NodeKind::kClass: return "class definition";
    case NodeKind::kDefine: return "define";
    default: return "expression";
  }
}

class Validator {
 public:
  explicit Validator(Diagnostics& d, std::optional<Severity> keys = std::nullopt) : diagnostics_(d), keys_(keys) {}

  enum class Place : u8 { kTop, kClass, kInner };

  void walk(const Node* n, Place place) {
    if (!n) return;
    switch (n->kind) {
      case NodeKind::kBlock: {
        auto items = as<Kids>(n).items;
        for (std::size_t i = 0; i < items.size(); ++i) {
          walk(items[i], place);
          if (i + 1 < items.size() && idle(items[i])) no_effect(items[i]);
        }
        return;
      }
      case NodeKind::kConcat:
      case NodeKind::kArray: return all(as<Kids>(n).items);
      case NodeKind::kHash:
        if (keys_) keys(as<Kids>(n).items);
        return all(as<Kids>(n).items);
      case NodeKind::kAccess: return all(as<Kids>(n).items);
      case NodeKind::kParen:
      case NodeKind::kNot:
      case NodeKind::kNegate:
      case NodeKind::kSplat:
      case NodeKind::kRender: return value(as<Unary>(n).expr);
      case NodeKind::kBinary: return value(as<Binary>(n).left), value(as<Binary>(n).right);
      case NodeKind::kRelation:
        return walk(as<Binary>(n).left, Place::kInner), walk(as<Binary>(n).right, Place::kInner);
      case NodeKind::kAssign: return assignment(as<Binary>(n));
      case NodeKind::kVariable: return variable(as<Named>(n));
      case NodeKind::kSelector:
      case NodeKind::kCase: return select(as<Select>(n));
      case NodeKind::kIf:
        value(as<If>(n).test);
        walk(as<If>(n).yes, Place::kInner);
        walk(as<If>(n).no, Place::kInner);
        return;
      case NodeKind::kCall:
      case NodeKind::kMethodCall: {
        const Call& c = as<Call>(n);
        if (c.callee) walk(c.callee, Place::kInner);
        all(c.args);
        if (c.block) walk(c.block, Place::kInner);
        return;
      }
      case NodeKind::kLambda:
        params(as<Lambda>(n).params, false, false);
        walk(as<Lambda>(n).body, Place::kInner);
        return;
      case NodeKind::kResource:
      case NodeKind::kDefaults:
      case NodeKind::kOverride: return resource(as<ResourceDecl>(n));
      case NodeKind::kCollect: return collect(as<Collect>(n));
      case NodeKind::kClass:
      case NodeKind::kDefine:
      case NodeKind::kFunction:
      case NodeKind::kNodeDef:
      case NodeKind::kTypeAlias: return definition(as<Definition>(n), place);
      default: return;
    }
  }

  // `named`: they are given by name, so that their order does not matter.
  void params(std::span<const Param> list, bool container, bool named) {
    bool optional = false;
    for (std::size_t i = 0; i < list.size(); ++i) {
      const Param& p = list[i];
      std::string_view name = p.name.text();
      if (numeric(name))
        error(p.begin, fmt::format("the numeric parameter name `${}` cannot be used", name));
      else if (!variable_name(name))
        error(p.begin, fmt::format("`${}` is not a valid parameter name", name));
      for (std::size_t j = 0; j < i; ++j)
        if (list[j].name == p.name) error(p.begin, fmt::format("the parameter `{}` is declared more than once", name));
      if (container && (name == "title" || name == "name"))
        error(p.begin, fmt::format("the parameter `${}` redefines a built-in parameter", name));
      if (p.rest && container) error(p.begin, fmt::format("the parameter `*${}` is not possible here", name));
      if (p.rest && i + 1 < list.size()) error(p.begin, fmt::format("the parameter `*${}` must be the last one", name));
      if (p.rest && p.value) error(p.begin, fmt::format("the parameter `*${}` cannot have a default", name));
      if (!named && !p.value && !p.rest && optional)
        error(p.begin, fmt::format("the required parameter `${}` comes after an optional one", name));
      optional = optional || p.value;
      value(p.value);
      value(p.type);
    }
  }

 private:
  void error(Span where, std::string message, std::string help = {}) {
    diagnostics_.error("PP-VALIDATE", where, std::move(message)).suggest(std::move(help));
  }
  void no_effect(const Node* n) {
    bool compares = n->kind == NodeKind::kBinary && as<Binary>(n).op == Op::kEqual;
    error(n->span(), fmt::format("this {} has no effect: a value was produced and then forgotten", label(n)),
          compares && as<Binary>(n).left->kind == NodeKind::kVariable ? "`=` sets a variable, `==` compares" : "");
  }
  void all(std::span<const Node* const> items) {
    for (const Node* i : items) value(i);
  }

  // Where a value is wanted, not a definition.
  void value(const Node* n) {
    if (!n) return;
    switch (n->kind) {
      case NodeKind::kDefaults:
      case NodeKind::kOverride:
      case NodeKind::kCollect:
      case NodeKind::kClass:
      case NodeKind::kDefine:
      case NodeKind::kNodeDef:
      case NodeKind::kFunction:
      case NodeKind::kTypeAlias: error(n->span(), fmt::format("a {} cannot be used as a value", label(n))); break;
      default: break;
    }
    walk(n, Place::kInner);
  }

  static bool variable_name(std::string_view s) {
    if (s.empty()) return false;
    if (!((s[0] >= 'a' && s[0] <= 'z') || s[0] == '_')) return false;
    return true;
  }

  void variable(const Named& v) {
    std::string_view name = v.name.text();
    if (numeric(name)) {
      if (name.size() > 1 && name[0] == '0') error(v.span(), fmt::format("`${}` is not a valid variable name", name));
      return;
    }
    std::string_view rest = v.scope.text();
    bool good = variable_name(v.local.text());
    while (good && !rest.empty()) {
      std::size_t cut = rest.find("::");
      std::string_view part = rest.substr(0, cut);
      good = !part.empty() && part[0] >= 'a' && part[0] <= 'z';
      rest = cut == std::string_view::npos ? std::string_view{} : rest.substr(cut + 2);
    }
    if (!good)
      error(v.span(), fmt::format("`${}` is not a valid variable name", name),
            "names of variables begin with a lower case letter or `_`");
  }

  void assignment(const Binary& a) {
    if (a.op != Op::kAssign)
      error(a.span(), fmt::format("the operator `{}` is no longer part of the language", op_text(a.op)),
            fmt::format("a variable is set once: write `$other = $this {} ...`", op_text(a.op).substr(0, 1)));
    target(a.left);
    value(a.right);
  }
  void target(const Node* t) {
    if (t->kind == NodeKind::kArray) {
      for (const Node* i : as<Kids>(t).items) target(i);
      return;
    }
    if (t->kind == NodeKind::kHash) {
      auto items = as<Kids>(t).items;
      for (std::size_t i = 0; i + 1 < items.size(); i += 2) target(items[i]);
      return;
    }
    if (t->kind != NodeKind::kVariable)
      return error(
          t->span(), fmt::format("illegal attempt to assign to {}: not assignable", label(t)),
          t->kind == NodeKind::kName ? fmt::format("variables begin with `$`: `${}`", as<Named>(t).name.text()) : "");
    const Named& v = as<Named>(t);
    std::string_view name = v.name.text();
    if (numeric(name))
      return error(t->span(), fmt::format("illegal attempt to assign to the numeric match variable `${}`", name));
    if (!v.scope.empty() || v.absolute)
      return error(t->span(),
                   fmt::format("illegal attempt to assign to `${}`: cannot assign to variables of other scopes", name));
    variable(v);
  }

  void select(const Select& s) {
    value(s.value);
    bool seen = false;
    for (const Option& o : s.options) {
      for (const Node* v : o.values) {
        if (v->kind == NodeKind::kDefault) {
          if (seen)
            error(v->span(),
                  fmt::format("this {} already has a default", s.kind == NodeKind::kCase ? "case" : "selector"));
          seen = true;
        }
        value(v);
      }
      walk(o.result, Place::kInner);
    }
  }

  void attributes(std::span<const Attribute> list, bool may_add) {
    bool splat = false;
    for (const Attribute& a : list) {
      if (a.name.empty()) {
        if (splat) error(a.begin, "unfolding of attributes (`* =>`) can be used only once in a resource body");
        splat = true;
      }
      if (a.add && !may_add)
        error(a.begin, fmt::format("illegal `+>` operation on attribute `{}`: only in overrides", a.name.text()));
      value(a.value);
    }
  }

  void resource(const ResourceDecl& r) {
    if (r.kind == NodeKind::kResource && r.form != Form::kRegular && r.type->kind == NodeKind::kName &&
        as<Named>(r.type).name.text() == "class")
      error(r.span(), "classes cannot be virtual or exported");
    if (r.kind == NodeKind::kResource) {
      int defaults = 0;
      for (const Body& b : r.bodies) {
        if (b.title && b.title->kind == NodeKind::kDefault && ++defaults > 1)
          error(b.title->span(), "a resource expression can have only one default body");
        value(b.title);
      }
    }
    value(r.type);
    for (const Body& b : r.bodies) attributes(b.attributes, r.kind == NodeKind::kOverride);
  }

  void collect(const Collect& c) {
    if (c.type->kind != NodeKind::kTypeName) error(c.type->span(), "the left of a collector must be a type name");
    attributes(c.attributes, true);
    query(c.query);
  }
  void query(const Node* q) {
    if (!q) return;
    if (q->kind == NodeKind::kParen) return query(as<Unary>(q).expr);
    if (q->kind != NodeKind::kBinary)
      return error(q->span(), "a query may use `==`, `!=`, `and`, `or` and parentheses only");
    const Binary& b = as<Binary>(q);
    if (b.op == Op::kAnd || b.op == Op::kOr) return query(b.left), query(b.right);
    if (b.op != Op::kEqual && b.op != Op::kNotEqual)
      return error(q->span(),
                   fmt::format("`{}` cannot be used in a query: only `==`, `!=`, `and`, `or`", op_text(b.op)));
    if (b.left->kind != NodeKind::kName && b.left->kind != NodeKind::kVariable && b.left->kind != NodeKind::kString)
      error(b.left->span(), "the left of a comparison in a query must be the name of an attribute");
    value(b.right);
  }

  void definition(const Definition& d, Place place) {
    bool may_nest = d.kind == NodeKind::kClass || d.kind == NodeKind::kDefine || d.kind == NodeKind::kNodeDef;
    if (place != Place::kTop && !(place == Place::kClass && may_nest)) {
      std::string_view what = d.kind == NodeKind::kFunction    ? "functions may only appear at top level"
                              : d.kind == NodeKind::kTypeAlias ? "type aliases may only appear at top level"
                                                               : "classes, definitions, and nodes may only appear at "
                                                                 "toplevel or inside other classes";
      error(d.begin, std::string(what));
    }
    if (d.kind == NodeKind::kClass || d.kind == NodeKind::kDefine) {
      std::string_view name = d.name.text();
      if (std::find(kReservedTypes.begin(), kReservedTypes.end(), name) != kReservedTypes.end())
        error(d.begin, fmt::format("the name `{}` is already used for a built-in type", name));
      if (d.kind == NodeKind::kClass && (name == "main" || name == "settings"))
        error(d.begin, fmt::format("the name `{}` is reserved for a class of the system", name));
    }
    bool container = d.kind == NodeKind::kClass || d.kind == NodeKind::kDefine;
    params(d.params, container, container);
    if (d.kind == NodeKind::kTypeAlias) return value(d.body);
    for (const Node* h : d.hosts) {
      if (h->kind == NodeKind::kConcat) error(h->span(), "host names cannot be interpolated");
      if (h->kind == NodeKind::kString) {
        for (char c : as<Literal>(h).text)
          if (!(std::isalnum(static_cast<unsigned char>(c)) || c == '-' || c == '_' || c == '.')) {
            error(h->span(), fmt::format("the hostname `{}` contains illegal characters", as<Literal>(h).text));
            break;
          }
      }
    }
    walk(d.body, d.kind == NodeKind::kClass ? Place::kClass : Place::kInner);
    if (d.kind == NodeKind::kClass || d.kind == NodeKind::kDefine || d.kind == NodeKind::kNodeDef) {
      const Node* last = d.body;
      while (last && last->kind == NodeKind::kBlock)
        last = as<Kids>(last).items.empty() ? nullptr : as<Kids>(last).items.back();
      if (last && idle(last)) no_effect(last);
    }
  }

  void keys(std::span<const Node* const> items) {
    std::set<std::string> seen;
    for (std::size_t i = 0; i + 1 < items.size(); i += 2) {
      const Node* key = items[i];
      std::string text;
      if (key->kind == NodeKind::kString)
        text = fmt::format("'{}'", as<Literal>(key).text);
      else if (key->kind == NodeKind::kName)
        text = fmt::format("'{}'", as<Named>(key).name.text());
      else if (key->kind == NodeKind::kInteger)
        text = fmt::format("{}", as<Literal>(key).integer);
      else
        continue;
      if (!seen.insert(text).second)
        diagnostics_.add(*keys_, "PP-DUPLICATE-KEY", key->span(),
                         fmt::format("the key {} is declared more than once", text));
    }
  }

  Diagnostics& diagnostics_;
  std::optional<Severity> keys_;  // what a key that comes twice is; none: they are not looked for
};

}  // namespace

void find_duplicate_keys(const Program& program, Diagnostics& diagnostics, Severity as) {
  Validator(diagnostics, as).walk(program.body, Validator::Place::kTop);
}

void validate(const Program& program, Diagnostics& diagnostics) {
  Validator v(diagnostics);
  if (program.epp) v.params(program.params, false, true);
  v.walk(program.body, Validator::Place::kTop);
}

}  // namespace tutti::puppet
