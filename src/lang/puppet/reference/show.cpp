// Terms, definitions and manifests of muPuppet as the paper writes them.
#include <fmt/format.h>

#include "lang/puppet/reference/mupuppet.h"

namespace tutti::puppet::mu {
namespace {

std::string listed(const Hash& h, const char* between) {
  std::string out;
  for (const auto& [k, v] : h) out += fmt::format("{}{} => {}", out.empty() ? "" : between, k, show(*v));
  return out;
}

std::string show_params(const std::vector<Param>& params) {
  std::string out;
  for (const Param& p : params)
    out += fmt::format("{}{}{}", out.empty() ? "" : ", ", p.name, p.value ? " = " + show(*p.value) : "");
  return out;
}

std::string show(const S& s) { return s ? show(*s) : "skip"; }

std::string braces(const S& s) { return fmt::format("{{ {} }}", show(s)); }

// Statements that follow each other, without the skip at the end of a block.
std::string sequence(const Stmt& s) {
  std::string out = show(s.first);
  if (s.second && s.second->kind != Sk::kSkip) out += " " + show(s.second);
  return out;
}

}  // namespace

std::string as_reference(std::string_view type) {
  std::string out(type);
  bool first = true;
  for (char& c : out) {
    if (first && c >= 'a' && c <= 'z') c = static_cast<char>(c - 32);
    first = c == ':';
  }
  return out;
}

std::string show(const Expr& e) {
  switch (e.kind) {
    case Ek::kInt: return std::to_string(e.integer);
    case Ek::kBool: return e.boolean ? "true" : "false";
    case Ek::kString: return "'" + e.text + "'";
    case Ek::kVar: return "$" + e.text;
    case Ek::kTopVar: return "$::" + e.text;
    case Ek::kClassVar: return fmt::format("$::{}::{}", e.cls, e.text);
    case Ek::kBinary: return fmt::format("({} {} {})", show(*e.kids[0]), e.text, show(*e.kids[1]));
    case Ek::kNot: return "!" + show(*e.kids[0]);
    case Ek::kDeref: return fmt::format("{}[{}]", show(*e.kids[0]), show(*e.kids[1]));
    case Ek::kRef: return fmt::format("{}[{}]", as_reference(e.text), show(*e.kids[0]));
    case Ek::kArray: {
      std::string out = "[";
      for (const E& k : e.kids) out += (out.size() > 1 ? ", " : "") + show(*k);
      return out + "]";
    }
    case Ek::kHash: {
      std::string out = "{";
      for (const auto& [k, v] : e.hash) out += (out.size() > 1 ? ", '" : "'") + k + "' => " + show(*v);
      return out + "}";
    }
    case Ek::kSelector: {
      std::string out = show(*e.kids[0]) + " ? { ";
      for (const auto& [c, v] : e.matches)
        out += fmt::format("{}{} => {}", out.ends_with("{ ") ? "" : ", ", c ? show(*c) : "default", show(*v));
      return out + " }";
    }
  }
  return {};
}

std::string show(const Stmt& s) {
  switch (s.kind) {
    case Sk::kSkip: return "skip";
    case Sk::kExpr: return show(*s.expr);
    case Sk::kSeq: return sequence(s);
    case Sk::kAssign: return fmt::format("${} = {}", s.name, show(*s.expr));
    case Sk::kUnless: return fmt::format("unless {} {}", show(*s.expr), braces(s.first));
    case Sk::kIf: return fmt::format("if {} {} else {}", show(*s.expr), braces(s.first), braces(s.second));
    case Sk::kCase: {
      std::string out = fmt::format("case {} {{", show(*s.expr));
      for (const auto& [c, body] : s.cases) out += fmt::format(" {}: {}", c ? show(*c) : "default", braces(body));
      return out + " }";
    }
    case Sk::kResource:
    case Sk::kDefined: return fmt::format("{} {{ {}: {} }}", s.name, show(*s.expr), listed(s.hash, ", "));
    case Sk::kClassDecl: return fmt::format("class {{ {}: {} }}", s.name, listed(s.hash, ", "));
    case Sk::kInclude: return "include " + s.name;
    case Sk::kScope: return fmt::format("scope {} {}", s.name, braces(s.first));
  }
  return {};
}

std::string show(const Def& d) {
  switch (d.kind) {
    case Def::kClassDef:
      return fmt::format("ClassDef({}, ({}), {})", d.parent.empty() ? "⊥" : d.parent, show_params(d.params),
                         braces(d.body));
    case Def::kDeclaredClass: return fmt::format("DeclaredClass({})", d.parent);
    case Def::kResourceDef: return fmt::format("ResourceDef(({}), {})", show_params(d.params), braces(d.body));
  }
  return {};
}

std::string show(const Manifest& m) {
  std::string out;
  for (const Item& i : m) {
    if (!out.empty()) out += "\n";
    switch (i.kind) {
      case Item::kStmt: out += show(i.body); break;
      case Item::kNode: out += fmt::format("node {} {}", fmt::join(i.hosts, ", "), braces(i.body)); break;
      case Item::kDefine: out += fmt::format("define {}({}) {}", i.name, show_params(i.params), braces(i.body)); break;
      case Item::kClass:
        out += fmt::format("class {}({}){} {}", i.name, show_params(i.params),
                           i.parent.empty() ? "" : " inherits " + i.parent, braces(i.body));
    }
  }
  return out.empty() ? "skip" : out;
}

}  // namespace tutti::puppet::mu
