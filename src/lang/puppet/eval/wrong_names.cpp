// Where a name that nothing has ends the compilation, the other such names of the manifests are told with it.
#include <fmt/format.h>

#include "base/near.h"
#include "lang/puppet/eval/compiler.h"

namespace tutti::puppet {
namespace {

class WrongNames {
 public:
  WrongNames(Compiler& compiler, Pos told) : compiler_(compiler), told_(told) {}

  void walk(const Node* n) {
    if (n == nullptr) return;
    switch (n->kind) {
      case NodeKind::kBlock:
      case NodeKind::kConcat:
      case NodeKind::kArray:
      case NodeKind::kHash:
      case NodeKind::kAccess: return all(as<Kids>(n).items);
      case NodeKind::kParen:
      case NodeKind::kNot:
      case NodeKind::kNegate:
      case NodeKind::kSplat:
      case NodeKind::kRender: return walk(as<Unary>(n).expr);
      case NodeKind::kBinary:
      case NodeKind::kRelation:
      case NodeKind::kAssign: return walk(as<Binary>(n).left), walk(as<Binary>(n).right);
      case NodeKind::kIf: return walk(as<If>(n).test), walk(as<If>(n).yes), walk(as<If>(n).no);
      case NodeKind::kCall:
      case NodeKind::kMethodCall: return call(as<Call>(n));
      case NodeKind::kLambda: return walk(as<Lambda>(n).body);
      case NodeKind::kResource: return resource(as<ResourceDecl>(n));
      case NodeKind::kClass:
      case NodeKind::kDefine:
      case NodeKind::kFunction:
      case NodeKind::kNodeDef: return walk(as<Definition>(n).body);
      default: return;
    }
  }

 private:
  void all(std::span<const Node* const> nodes) {
    for (const Node* n : nodes) walk(n);
  }

  bool known(const Node* n) {
    bool named = n->kind == NodeKind::kCall || n->kind == NodeKind::kMethodCall;
    return !named || as<Call>(n).callee != nullptr || compiler_.function_exists(as<Call>(n).name);
  }

  void call(const Call& c) {
    walk(c.callee);
    all(c.args);
    if (c.block != nullptr) walk(c.block);
    if (c.callee != nullptr || c.name.text().starts_with("::") || known(&c)) return;
    // What follows a wrong name in a chain follows from it: facts.os.family.
    if (c.kind == NodeKind::kMethodCall && !known(c.args[0])) return;
    tell("PP-UNKNOWN-FUNCTION", c.name_at ? c.name_at : c.begin, fmt::format("unknown function: '{}'", c.name.text()),
         nearest(c.name.text(), Functions::all().names()));
  }

  void resource(const ResourceDecl& r) {
    for (const Body& b : r.bodies) {
      walk(b.title);
      for (const Attribute& a : b.attributes) walk(a.value);
    }
    if (r.type->kind != NodeKind::kName || r.bodies.empty()) return;
    std::string_view type = as<Named>(r.type).name.text();
    if (type == "class") return;
    if (compiler_.resource_type_name(type).empty()) {
      const Body& first = r.bodies.front();
      return tell("PP-UNKNOWN-TYPE", first.title != nullptr ? first.title->begin : first.begin,
                  fmt::format("unknown resource type: '{}'", type), nearest(type, native_type_names()));
    }
    const NativeType* native = compiler_.native(type);
    if (native == nullptr || native->open) return;
    for (const Body& b : r.bodies) {
      for (const Attribute& a : b.attributes) {
        if (a.name.empty() || a.name.text() == "name" || native->has_attribute(a.name) || is_metaparameter(a.name))
          continue;
        tell("PP-UNKNOWN-PARAMETER", a.begin,
             fmt::format("no parameter named '{}' on {}", a.name.text(), native->name.text()),
             nearest(a.name, native->attributes).text());
      }
    }
  }

  void tell(std::string code, Pos at, std::string message, std::string_view near) {
    if (at == told_) return;
    Diagnostic& d = compiler_.diagnostics().error(std::move(code), at, std::move(message));
    if (!near.empty()) d.help = fmt::format("did you mean `{}`?", near);
  }

  Compiler& compiler_;
  Pos told_;  // the one that ended it
};

}  // namespace

void Compiler::tell_other_wrong_names(std::span<const Program* const> manifests, const EvalError& first) {
  bool of_a_name =
      first.code == "PP-UNKNOWN-FUNCTION" || first.code == "PP-UNKNOWN-TYPE" || first.code == "PP-UNKNOWN-PARAMETER";
  if (!of_a_name) return;
  WrongNames names(*this, first.where.begin);
  for (const Program* p : manifests) names.walk(p->body);
}

}  // namespace tutti::puppet
