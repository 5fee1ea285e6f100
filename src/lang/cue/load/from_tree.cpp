#include "lang/cue/eval/error_code.h"
#include "lang/cue/load/instance.h"

// The tree of another language as a literal that can be unified: its values keep the places where they were written.
namespace tutti::cue {

namespace {

struct Importer {
  Session& session;
  NodeStore& store;
  Budget& budget;

  Node* scalar(const Value& v, Pos at) {
    Node* n = nullptr;
    switch (v.kind()) {
      case Kind::kNull: n = store.make<Null>(); break;
      case Kind::kBool: n = store.make<Bool>(v.as_bool()); break;
      case Kind::kInt:
      case Kind::kDecimal: {
        auto d = v.fits_i64() ? std::optional(Decimal(v.as_i64())) : Decimal::parse(v.text());
        if (!d) return at_place(store.make<String>(store.keep(v.text())), at);
        n = store.num(v.is(Kind::kInt) ? kIntKind : kFloatKind, *d);
        break;
      }
      case Kind::kBytes: n = store.make<Bytes>(store.keep(v.text())); break;
      case Kind::kOpen: n = store.make<Top>(); break;
      case Kind::kResource:  // as catalogs have it: the type belongs to what is referred to
        n = store.make<String>(store.keep(std::string(v.tag().text()) + '[' + std::string(v.text()) + ']'));
        break;
      default: n = store.make<String>(store.keep(v.text())); break;
    }
    return at_place(n, at);
  }

  static Node* at_place(Node* n, Pos at) {
    n->pos = at;
    return n;
  }

  Node* value(const Value& v) {
    Budget::Level level(budget);
    Pos at = session.origins.written(v.origin());
    if (v.is(Kind::kMap)) {
      auto* s = store.make<StructLit>();
      s->pos = at;
      std::vector<Node*> decls;
      for (const Entry& e : v.entries()) {
        auto* f = store.make<cue::Field>(Label::string(e.key), ArcType::kMember, value(e.value), nullptr);
        f->pos = session.origins.written(e.value.origin());
        decls.push_back(f);
      }
      s->decls = store.keep(decls);
      return s;
    }
    if (v.is(Kind::kList)) {
      auto* l = store.make<ListLit>();
      l->pos = at;
      std::vector<Node*> elems;
      for (const Value& x : v.items()) elems.push_back(value(x));
      l->elems = store.keep(elems);
      return l;
    }
    return scalar(v, at);
  }
};

}  // namespace

Vertex* Instance::evaluate_with(std::span<const Value> data, const std::string& schema) {
  if (!root_) return nullptr;
  Importer importer{session_, store_, budget_};
  if (!schema.empty()) {
    Node* wanted = expression(schema);
    if (!wanted) return nullptr;
    Environment* in = context_->new_env(nullptr, evaluate()->deref_value());
    root_ = context_->new_vertex();
    root_->conjuncts.push(arena_, {in, wanted, {}});
  }
  for (const Value& tree : data) root_->conjuncts.push(arena_, {arena_.make<Environment>(), importer.value(tree), {}});
  return evaluate();
}

Node* Instance::expression(const std::string& text) {
  Result<const Source*> source = session_.sources->add("--schema", text);
  std::vector<SyntaxError> wrong;
  ast::Node* x = source ? parse_expression(**source, arena_, wrong) : nullptr;
  for (const SyntaxError& e : wrong) errors_.push_back({"", e.message, e.pos, {}, "", kSyntaxCode});
  if (!x || !wrong.empty()) return nullptr;
  Compiler compiler(store_);
  CompileInput in = scope();
  Node* n = compiler.expression(x, &in);
  for (const CompileError& e : compiler.errors()) errors_.push_back({e.path, e.message, e.pos, {}, e.near});
  return compiler.errors().empty() ? n : nullptr;
}

}  // namespace tutti::cue
