// Our syntax as terms of muPuppet; what is not in the subset is refused.
#include "lang/puppet/reference/mupuppet.h"

namespace tutti::puppet::mu {
namespace {

[[noreturn]] void outside(const char* what, Pos at) { throw Outside{what, at}; }

E make(Expr e) { return std::make_shared<const Expr>(std::move(e)); }
S make(Stmt s) { return std::make_shared<const Stmt>(std::move(s)); }

std::string lower(std::string_view s) {
  std::string out(s);
  for (char& c : out)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c + 32);
  return out;
}

E expr(const Node* n);

Hash attributes(std::span<const Attribute> list) {
  Hash h;
  for (const Attribute& a : list) {
    if (a.name.empty() || a.add) outside("attribute operations other than =>", a.begin);
    h.emplace_back(std::string(a.name.text()), expr(a.value));
  }
  return h;
}

E expr(const Node* n) {
  Expr e;
  switch (n->kind) {
    case NodeKind::kInteger: e.integer = as<Literal>(n).integer; return make(std::move(e));
    case NodeKind::kString:
      e.kind = Ek::kString;
      e.text = as<Literal>(n).text;
      return make(std::move(e));
    case NodeKind::kName:
      e.kind = Ek::kString;
      e.text = as<Named>(n).name.text();
      return make(std::move(e));
    case NodeKind::kBoolean:
      e.kind = Ek::kBool;
      e.boolean = as<Literal>(n).boolean;
      return make(std::move(e));
    case NodeKind::kParen: return expr(as<Unary>(n).expr);
    case NodeKind::kVariable: {
      const Named& v = as<Named>(n);
      e.text = v.local.text();
      e.kind = !v.scope.empty() ? Ek::kClassVar : v.absolute ? Ek::kTopVar : Ek::kVar;
      e.cls = v.scope.text();
      return make(std::move(e));
    }
    case NodeKind::kBinary:
      if (n->op == Op::kIn || n->op == Op::kMatch || n->op == Op::kNoMatch || n->op == Op::kLShift ||
          n->op == Op::kRShift || n->op == Op::kModulo)
        outside("such operators", n->begin);
      e.kind = Ek::kBinary;
      e.text = op_text(n->op);
      e.kids = {expr(as<Binary>(n).left), expr(as<Binary>(n).right)};
      return make(std::move(e));
    case NodeKind::kNot:
      e.kind = Ek::kNot;
      e.kids = {expr(as<Unary>(n).expr)};
      return make(std::move(e));
    case NodeKind::kArray:
      e.kind = Ek::kArray;
      for (const Node* i : as<Kids>(n).items) e.kids.push_back(expr(i));
      return make(std::move(e));
    case NodeKind::kHash: {
      e.kind = Ek::kHash;
      auto items = as<Kids>(n).items;
      for (std::size_t i = 0; i + 1 < items.size(); i += 2) {
        E key = expr(items[i]);
        if (key->kind != Ek::kString) outside("keys that are not constant strings", n->begin);
        e.hash.emplace_back(key->text, expr(items[i + 1]));
      }
      return make(std::move(e));
    }
    case NodeKind::kAccess: {
      auto items = as<Kids>(n).items;
      if (items.size() != 2) outside("access with several keys", n->begin);
      if (items[0]->kind == NodeKind::kTypeName) {
        e.kind = Ek::kRef;
        e.text = lower(as<Named>(items[0]).name.text());
        e.kids = {expr(items[1])};
        return make(std::move(e));
      }
      e.kind = Ek::kDeref;
      e.kids = {expr(items[0]), expr(items[1])};
      return make(std::move(e));
    }
    case NodeKind::kSelector: {
      e.kind = Ek::kSelector;
      e.kids = {expr(as<Select>(n).value)};
      for (const Option& o : as<Select>(n).options)
        e.matches.emplace_back(o.values[0]->kind == NodeKind::kDefault ? nullptr : expr(o.values[0]), expr(o.result));
      return make(std::move(e));
    }
    case NodeKind::kConcat: outside("interpolated strings", n->begin);
    case NodeKind::kUndef: outside("undef", n->begin);
    case NodeKind::kFloat: outside("floating-point numbers", n->begin);
    case NodeKind::kCall:
    case NodeKind::kMethodCall: outside("functions", n->begin);
    default: outside("such expressions", n->begin);
  }
}

S stmt(const Node* n);

S block(const Node* n) {
  if (!n) return make(Stmt{});
  if (n->kind != NodeKind::kBlock) return stmt(n);
  auto items = as<Kids>(n).items;
  S out = make(Stmt{});
  for (std::size_t i = items.size(); i-- > 0;) {
    Stmt s;
    s.kind = Sk::kSeq;
    s.first = stmt(items[i]);
    s.second = out;
    out = make(std::move(s));
  }
  return out;
}

S stmt(const Node* n) {
  Stmt s;
  s.at = n->begin;
  switch (n->kind) {
    case NodeKind::kBlock: return block(n);
    case NodeKind::kAssign:
      if (as<Binary>(n).left->kind != NodeKind::kVariable) outside("such assignments", n->begin);
      s.kind = Sk::kAssign;
      s.name = as<Named>(as<Binary>(n).left).local.text();
      s.expr = expr(as<Binary>(n).right);
      return make(std::move(s));
    case NodeKind::kIf: {
      const If& i = as<If>(n);
      s.kind = i.unless ? Sk::kUnless : Sk::kIf;
      s.expr = expr(i.test);
      s.first = block(i.yes);
      s.second = i.no ? block(i.no) : nullptr;
      return make(std::move(s));
    }
    case NodeKind::kCase:
      s.kind = Sk::kCase;
      s.expr = expr(as<Select>(n).value);
      for (const Option& o : as<Select>(n).options)
        for (const Node* v : o.values)
          s.cases.emplace_back(v->kind == NodeKind::kDefault ? nullptr : expr(v), block(o.result));
      return make(std::move(s));
    case NodeKind::kResource: {
      const ResourceDecl& r = as<ResourceDecl>(n);
      if (r.form != Form::kRegular || r.type->kind != NodeKind::kName || r.bodies.size() != 1)
        outside("such resource declarations (several, virtual, exported)", n->begin);
      s.name = as<Named>(r.type).name.text();
      s.expr = expr(r.bodies[0].title);
      s.hash = attributes(r.bodies[0].attributes);
      s.kind = Sk::kResource;
      if (s.name == "class") {
        if (s.expr->kind != Ek::kString) outside("class names that are not constant", n->begin);
        s.kind = Sk::kClassDecl;
        s.name = s.expr->text;
      }
      return make(std::move(s));
    }
    case NodeKind::kCall: {
      const Call& c = as<Call>(n);
      if (c.name.text() == "include") {
        // Of several Puppet declares all before it evaluates the first, which no rule says (figure 6 has one).
        if (c.args.size() != 1) outside("include with several classes", n->begin);
        E name = expr(c.args[0]);
        if (name->kind != Ek::kString) outside("class names that are not constant", n->begin);
        s.kind = Sk::kInclude;
        s.name = name->text;
        return make(std::move(s));
      }
      if (c.name.text() == "fail") {  // figure 4 uses it for "cannot happen": a term that is stuck
        Expr stuck;
        stuck.kind = Ek::kVar;
        stuck.text = "fail";
        s.kind = Sk::kExpr;
        s.expr = make(std::move(stuck));
        return make(std::move(s));
      }
      outside("function calls", n->begin);
    }
    case NodeKind::kRelation:
    case NodeKind::kDefaults:
    case NodeKind::kOverride:
    case NodeKind::kCollect: outside("relations, defaults, overrides and collectors", n->begin);
    default:
      s.kind = Sk::kExpr;
      s.expr = expr(n);
      return make(std::move(s));
  }
}

void item(Manifest& out, const Node* n) {
  Item i;
  i.at = n->begin;
  switch (n->kind) {
    case NodeKind::kClass:
    case NodeKind::kDefine: {
      const Definition& d = as<Definition>(n);
      i.kind = n->kind == NodeKind::kClass ? Item::kClass : Item::kDefine;
      i.name = d.name.text();
      i.parent = d.parent.text();
      for (const puppet::Param& p : d.params) {
        if (p.type) outside("types of parameters", p.begin);
        i.params.push_back({std::string(p.name.text()), p.value ? expr(p.value) : nullptr});
      }
      i.body = block(d.body);
      break;
    }
    case NodeKind::kNodeDef: {
      const Definition& d = as<Definition>(n);
      i.kind = Item::kNode;
      for (const Node* h : d.hosts) {
        if (h->kind == NodeKind::kRegex) outside("patterns of node names", h->begin);
        i.hosts.push_back(h->kind == NodeKind::kDefault ? "default" : std::string(as<Literal>(h).text));
      }
      i.body = block(d.body);
      break;
    }
    case NodeKind::kFunction:
    case NodeKind::kTypeAlias: outside("functions and types of its own", n->begin);
    default: i.body = stmt(n);
  }
  out.push_back(std::move(i));
}

}  // namespace

Manifest from_syntax(const Program& program) {
  Manifest out;
  if (program.body->kind == NodeKind::kBlock)
    for (const Node* n : as<Kids>(program.body).items) item(out, n);
  else
    item(out, program.body);
  return out;
}

}  // namespace tutti::puppet::mu
