#include <fmt/format.h>

#include <deque>

#include "base/utf8.h"
#include "lang/cue/compile/compile.h"
#include "lang/cue/eval/context.h"
#include "lang/cue/eval/limits.h"
#include "lang/cue/eval/print.h"
#include "lang/cue/eval/validate.h"
#include "lang/cue/syntax/parser.h"

namespace tutti::cue {

namespace {
// Whether a call means the same wherever it stands.
bool same_everywhere(const Call* x) {
  if (x->fun->type != NodeType::kSelector || to<Selector>(x->fun)->x->type != NodeType::kImportRef) return false;
  for (const Node* a : x->args)
    if (a->type > NodeType::kBytes) return false;
  return true;
}

// A string of CUE is UTF-8: each run of bytes of a result that is not becomes U+FFFD.
std::string valid_text(std::string_view s) {
  std::string out;
  bool before = false;
  for (std::size_t i = 0; i < s.size();) {
    std::size_t from = i;
    bool valid = utf8::decode(s, i) != utf8::kInvalid;
    if (valid)
      out += s.substr(from, i - from);
    else if (!before)
      out += "\uFFFD";
    before = !valid;
  }
  return out;
}

// A name that a package does not have will never be a function of it, so that a call is wrong for good; nullptr for
// what may still come.
Bottom* missing_function(Context& c, const Call* x) {
  const Vertex* among = c.errs->error ? c.errs->error->among : nullptr;
  if (!among || !c.errs->incomplete() || x->fun->type != NodeType::kSelector ||
      to<Selector>(x->fun)->x->type != NodeType::kImportRef)
    return nullptr;
  Bottom* b = c.bottom(Code::kEval, c.src, "cannot call non-function {} (type {})", static_cast<const Node*>(x->fun),
                       kBottomKind);
  b->error->among = among;
  return b;
}
}  // namespace

Node* Context::call(Call* x, Flags f) {
  if (x->made) return x->made;
  Node* fun = value(x->fun, {Status::kPartial, kScalarKnown, Mode::kYield});
  const Builtin* b = nullptr;
  if (fun && fun->type == NodeType::kBuiltin) {
    b = to<Builtin>(fun);
  } else if (fun && fun->type == NodeType::kValidator) {
    auto* v = to<Validator>(fun);
    if (v->call) {
      add_errf(Code::kEval, src, "cannot call previously called validator {}", static_cast<const Node*>(x->fun));
      return nullptr;
    }
    if (v->builtin->is_validator(x->args.size())) {
      auto* out = store.make<Validator>(x, v->builtin, v->args);
      return out;
    }
    b = v->builtin;
  } else {
    if (errs) {
      if (Bottom* missing = missing_function(*this, x)) errs = missing;
      return nullptr;
    }
    Kinds k = kinds(fun);
    if (fun && !is_concrete(fun) && k & kFuncKind)
      add_errf(Code::kIncomplete, x->fun->pos, "cannot call non-concrete value {} (type {})",
               static_cast<const Node*>(x->fun), k);
    else
      add_errf(Code::kEval, src, "cannot call non-function {} (type {})", static_cast<const Node*>(x->fun), k);
    return nullptr;
  }
  if (b->raw) {
    if (x->args.size() != b->params.size()) {
      add_errf(Code::kEval, x->pos,
               x->args.size() > b->params.size() ? "too many arguments in call to {} (have {}, want {})"
                                                 : "not enough arguments in call to {} (have {}, want {})",
               static_cast<const Node*>(b), static_cast<i64>(x->args.size()), static_cast<i64>(b->params.size()));
      return nullptr;
    }
    return b->raw(*this, x);
  }
  bool from_def = ci.from_def, from_embed = ci.from_embed;
  ci.from_def = ci.from_embed = false;
  struct Back {
    Context& c;
    bool d, em;
    ~Back() {
      c.ci.from_def = d;
      c.ci.from_embed = em;
    }
  } back{*this, from_def, from_embed};

  std::vector<Node*> args;
  for (Node* a : x->args) {
    Bottom* saved = errs;
    errs = nullptr;
    Node* v;
    if (b->non_concrete)
      v = eval(a, {f.status, f.condition, f.mode});
    else
      v = value(a,
                {f.status, static_cast<Cond>(f.condition | kFieldSetKnown | kScalarKnown | kDisjunctionTask), f.mode});
    if (!v) {
      if (!errs) add_errf(Code::kIncomplete, a->pos, "incomplete argument {}", static_cast<const Node*>(a));
    } else if (v->type == NodeType::kBottom) {
      auto* e1 = to<Bottom>(v);
      if (e1 == cycle && (b->result == kStructKind || b->result == kListKind)) e1 = store.make<Bottom>(*e1);
      errs = combine(errs, e1);
    } else {
      args.push_back(v);
    }
    errs = combine(saved, errs);
  }
  if (errs) return nullptr;
  if (b->is_validator(args.size())) {
    auto* out = store.make<Validator>(x, b, store.keep(args));
    if (same_everywhere(x)) x->made = out;
    return out;
  }
  bool made = std::ranges::any_of(args, [](Node* a) { return made_by_function(a); });
  std::vector<Node*> lists = made ? args : std::vector<Node*>();
  Node* r = call_builtin(b, x, std::move(args), false);
  if (!r) return nullptr;
  if (made && !errs) give_back_arguments(x, lists, r);
  if (r->type == NodeType::kBottom) {
    auto* rb = to<Bottom>(r);
    if (rb->flags & 1) return rb;  // a check that speaks for itself
    return in_call(b, x, rb);
  }
  CloseInfo used;
  Node* v = eval_ci(r, {Status::kPartial, f.condition, f.mode}, &used);
  bool d = ci.from_def, em = ci.from_embed;
  ci = used;
  ci.from_def = d;
  ci.from_embed = em;
  return v;
}

// An argument of any kind that may still become something else, before the function looks at what it is: a type, a
// bound, a choice that nobody made. Arguments of one kind say so themselves when they are asked for.
Bottom* Context::undecided_argument(const Builtin* b, std::span<Node* const> args, bool validating) {
  if (b->non_concrete || b->package.empty() || !b->function) return nullptr;
  for (std::size_t i = validating ? 1 : 0; i < args.size(); ++i) {
    if (b->params[i].kind != kTopKind) continue;
    Node* v = unwrap(default_of(args[i]));
    if (v && concreteness(v) > 1)
      return bottom(Code::kIncomplete, v->pos, "non-concrete argument {}", static_cast<i64>(i));
  }
  return nullptr;
}

// What a function says of arguments in which something is open is not the last word: with what is still to come it may
// say otherwise. The kinds of its arguments are checked where they are taken, and are wrong for good.
Node* Context::open_while_arguments_are(const Builtin* b, std::span<Node* const> args, Node* said) {
  if (b->non_concrete || b->package.empty() || !said || said->type != NodeType::kBottom ||
      to<Bottom>(said)->code != Code::kEval)
    return said;
  for (Node* a : args)
    if (Bottom* open = what_is_open(a)) return store.make<Bottom>(open->code, to<Bottom>(said)->error, open->node);
  return said;
}

// What of a list or struct is not decided; nullptr when all is, and for other values.
Bottom* Context::what_is_open(Node* v) {
  if (v->type != NodeType::kVertex || !(kinds(v) & kCompositeKinds)) return nullptr;
  finalize(to<Vertex>(v));
  Bottom* open = validate_tree(*this, to<Vertex>(v), {.concrete = true, .final = true});
  return open && open->incomplete() ? open : nullptr;
}

Bottom* Context::in_call(const Builtin* b, const Call* x, const Bottom* cause) {
  Error* out = error_at(x->pos, "error in call to {}", std::string_view(b->qualified()));
  out->wrapped = cause->error;
  return store.make<Bottom>(cause->code, out, vertex);
}

Node* Context::call_builtin(const Builtin* b, const Call* x, std::vector<Node*> args, bool validating) {
  Pos at = x ? x->pos : src;
  if (args.size() > b->params.size()) {
    add_errf(Code::kEval, at, "too many arguments in call to {} (have {}, want {})", static_cast<const Node*>(b),
             static_cast<i64>(args.size()), static_cast<i64>(b->params.size()));
    return nullptr;
  }
  for (std::size_t i = args.size(); i < b->params.size(); ++i) {
    if (!b->params[i].otherwise) {
      add_errf(Code::kEval, at, "not enough arguments in call to {} (have {}, want {})", static_cast<const Node*>(b),
               static_cast<i64>(args.size()), static_cast<i64>(b->params.size()));
      return nullptr;
    }
    args.push_back(b->params[i].otherwise);
  }
  for (std::size_t i = 0; i < args.size(); ++i) {
    Node* a = args[i];
    Node* u = a->type == NodeType::kVertex ? to<Vertex>(a)->value() : a;
    if (u && u->type == NodeType::kBottom) return u;
    Kinds k = kinds(a);
    if (!(b->params[i].kind & k)) {
      add_errf(Code::kEval, a->pos, "cannot use {} (type {}) as {} in argument {} to {}", static_cast<const Node*>(a),
               k, b->params[i].kind, static_cast<i64>(i + 1), static_cast<const Node*>(b));
      return nullptr;
    }
  }
  // a check that has to be passed to pass itself
  if (x && !args.empty() && !b->package.empty())
    for (auto& [other, self] : active_calls_)
      if (other == x && self->type == args[0]->type && equal(self, args[0], true))
        return bottom(Code::kStructuralCycle, at, "structural cycle");
  struct Active {
    std::vector<std::pair<const Call*, Node*>>& list;
    std::size_t size;
    ~Active() { list.resize(size); }
  } active{active_calls_, active_calls_.size()};
  if (x && !args.empty() && !b->package.empty()) active_calls_.emplace_back(x, args[0]);
  Restore<bool> v(is_validator, validating);
  bool from_def = ci.from_def, from_embed = ci.from_embed;
  ci.from_def = ci.from_embed = false;
  if (!b->function) return bottom(Code::kUser, at, "");  // `error` on its own, as a check
  Node* r = undecided_argument(b, args, validating);
  if (!r) {
    CallContext cc(*this, x, b, args, validating);
    r = open_while_arguments_are(b, args, b->function(cc));
  }
  ci.from_def = from_def;
  ci.from_embed = from_embed;
  if (validating && errs) {
    // what a validator reports on the way is its answer
    Bottom* e1 = take_err();
    if (!r || r->type == NodeType::kBool) return r && to<Bool>(r)->value ? r : e1;
    if (r->type == NodeType::kBottom) return combine(to<Bottom>(r), e1);
  }
  // What is wrong with an argument is told already, and for the functions of packages that is all there is to say.
  bool told = errs && r && (r->type != NodeType::kBottom || !b->package.empty());
  return told ? nullptr : r;
}

bool Context::in_same_check(const Call* x) const {
  auto same_place = [](const Vertex* a, const Vertex* b) {
    while (a && b && a != b && a->label == b->label) a = a->parent, b = b->parent;
    return a == b;
  };
  for (const Check* c = checking_; c; c = c->outer)
    if (c->call == x && same_place(c->at, vertex)) return true;
  return false;
}

// ---- packages of functions

Vertex* Context::package_vertex(Symbol path, Pos at) {
  auto it = packages_.find(path);
  if (it != packages_.end()) return it->second;
  Vertex* v = import_package ? import_package(path) : nullptr;
  if (!v) {
    if (const PackageTable* t = find_package(path.text())) {
      auto* lit = store.make<StructLit>();
      std::vector<Node*> decls;
      for (auto& [name, b] : t->functions)
        decls.push_back(store.make<Field>(Label::string(name), ArcType::kMember, static_cast<Node*>(b), nullptr));
      static Sources texts;
      for (auto& c : t->constants) {
        auto source = texts.add("builtin", std::string(c.source));
        if (!source) continue;
        std::vector<SyntaxError> errors;
        ast::Node* x = parse_expression(**source, arena, errors);
        if (!x) continue;
        Compiler compiler(store);
        Node* n = compiler.expression(x, nullptr);
        if (n && c.name.empty() && n->type == NodeType::kStruct) {  // the whole package
          for (Node* d : to<StructLit>(n)->decls) decls.push_back(d);
        } else if (n) {
          n->pos = {};
          std::string_view name = c.name;
          decls.push_back(store.make<Field>(Label::ident(name, ""), ArcType::kMember, n, nullptr));
        }
      }
      lit->decls = store.keep(decls);
      StructLit* one[] = {lit};
      v = new_root(one);
    }
  }
  packages_[path] = v;
  if (!v) add_errf(Code::kEval, at, "cannot find package {}", path.text());
  return v;
}

// ---- what functions see

namespace {
// A scalar argument; reports one that is not decided.
Node* scalar(CallContext& c, std::size_t i, NodeType want, Kinds k) {
  Node* v = i < c.args.size() ? c.context.unwrap(c.context.default_of(c.args[i])) : nullptr;
  if (v && v->type == want) return v;
  if (c.context.has_err()) return nullptr;
  if (v && v->type == NodeType::kBottom) {
    c.context.add_bottom(to<Bottom>(v));
  } else if (v && c.context.concreteness(v) > 1 && c.context.kinds(v) & k) {
    c.context.add_errf(Code::kIncomplete, v->pos, "error in call to {}: non-concrete argument {}",
                       std::string_view(c.builtin->qualified()), static_cast<i64>(i));
  } else {
    c.context.add_errf(Code::kEval, v ? v->pos : Pos{}, "cannot use {} (type {}) as {} in argument {} to {}",
                       static_cast<const Node*>(v), v ? c.context.kinds(v) : Kinds{0}, k, static_cast<i64>(i + 1),
                       static_cast<const Node*>(c.builtin));
  }
  return nullptr;
}
}  // namespace

std::string_view CallContext::string(std::size_t i) {
  Node* v = scalar(*this, i, NodeType::kString, kStringKind);
  return v ? to<String>(v)->text : std::string_view{};
}

std::string_view CallContext::bytes(std::size_t i) {
  Node* v = i < args.size() ? context.unwrap(context.default_of(args[i])) : nullptr;
  if (v && v->type == NodeType::kString) return to<String>(v)->text;
  v = scalar(*this, i, NodeType::kBytes, kBytesKind | kStringKind);
  return v ? to<Bytes>(v)->text : std::string_view{};
}

bool CallContext::boolean(std::size_t i) {
  Node* v = scalar(*this, i, NodeType::kBool, kBoolKind);
  return v && to<Bool>(v)->value;
}

i64 CallContext::integer(std::size_t i) {
  Node* v = scalar(*this, i, NodeType::kNum, kIntKind);
  if (!v) return 0;
  auto n = to<Num>(v)->value.to_i64();
  if (!n) {
    // What needs one bit more than fits is the nearest that does, as in Go's conversion.
    static const Decimal bits = *Decimal::parse("18446744073709551616");
    bool negative = to<Num>(v)->value.negative();
    if (to<Num>(v)->value.abs() < bits)
      return negative ? std::numeric_limits<i64>::min() : std::numeric_limits<i64>::max();
    report(context.bottom(Code::kEval, {}, "int {} overflows int64 in argument {}", std::string_view(compact(v)),
                          static_cast<i64>(i)));
    return 0;
  }
  return *n;
}

const Decimal& CallContext::number(std::size_t i) {
  static const Decimal zero;
  Node* v = scalar(*this, i, NodeType::kNum, kNumberKind);
  return v ? to<Num>(v)->value : zero;
}

std::vector<Node*> CallContext::list(std::size_t i) {
  std::vector<Node*> out;
  bool ok = true;
  Node* v = i < args.size() ? context.get_default(args[i], &ok) : nullptr;
  if (v && v->type == NodeType::kVertex) v = to<Vertex>(v)->deref_value();
  if (!v || v->type != NodeType::kVertex || !to<Vertex>(v)->is_list()) {
    if (!context.has_err()) {
      if (v && context.concreteness(v) > 1 && context.kinds(v) & kListKind)
        context.add_errf(Code::kIncomplete, v->pos, "error in call to {}: non-concrete list for argument {}",
                         std::string_view(builtin->qualified()), static_cast<i64>(i));
      else
        context.add_errf(Code::kEval, v ? v->pos : Pos{}, "cannot use {} (type {}) as type list",
                         static_cast<const Node*>(v), context.kinds(v));
    }
    return out;
  }
  auto* l = to<Vertex>(v);
  context.finalize(l);
  if (Bottom* b = l->bottom(); b && !b->incomplete()) {
    report(b);
    return out;
  }
  for (u32 j = 0; j < l->arcs.size(); ++j) {
    if (!l->arcs[j]->label.is_int()) continue;
    context.finalize(l->arcs[j]);
    out.push_back(l->arcs[j]);
  }
  return out;
}

std::vector<std::string_view> CallContext::strings(std::size_t i) {
  std::vector<std::string_view> out;
  std::size_t n = 0;
  for (Node* v : list(i)) {
    Node* u = context.unwrap(context.default_of(v));
    if (u && u->type == NodeType::kString) {
      out.push_back(to<String>(u)->text);
    } else if (u && u->type == NodeType::kBottom) {
      context.add_bottom(to<Bottom>(u));
    } else if (u && context.concreteness(u) > 1 && context.kinds(u) & kStringKind) {
      context.add_errf(Code::kIncomplete, u->pos,
                       "error in call to {}: non-concrete value {} for element {} of string list argument {}",
                       std::string_view(builtin->qualified()), static_cast<const Node*>(u), static_cast<i64>(n),
                       static_cast<i64>(i));
    } else {
      report(context.bottom(Code::kEval, u ? u->pos : Pos{},
                            "invalid list element {} in argument {} to call: cannot use value {} ({}) as string",
                            static_cast<i64>(n), static_cast<i64>(i), static_cast<const Node*>(u), context.kinds(u)));
    }
    if (context.has_err()) return {};
    ++n;
  }
  return out;
}

Vertex* CallContext::structure(std::size_t i) {
  bool ok = true;
  Node* v = i < args.size() ? context.get_default(args[i], &ok) : nullptr;
  if (v && v->type == NodeType::kVertex) {
    context.finalize(to<Vertex>(v));
    return to<Vertex>(v)->deref_value();
  }
  if (!context.has_err())
    context.add_errf(v && context.concreteness(v) > 1 ? Code::kIncomplete : Code::kEval, v ? v->pos : Pos{},
                     "cannot use {} (type {}) as type struct", static_cast<const Node*>(v), context.kinds(v));
  return context.empty_node;
}

bool CallContext::is_null(std::size_t i) {
  Node* v = i < args.size() ? context.unwrap(args[i]) : nullptr;
  return v && v->type == NodeType::kNull;
}

Node* CallContext::placed(Node* n) const {
  if (call) n->pos = call->pos;
  return n;
}

void CallContext::report(Bottom* b) { context.add_bottom(validating || !call ? b : context.in_call(builtin, call, b)); }

Node* CallContext::wrong_for_good(std::string_view message) {
  report(context.bottom(Code::kEval, {}, "{}", message));
  return nullptr;
}

bool CallContext::failed() const { return context.has_err(); }

Node* CallContext::make_string(std::string_view s) {
  check_text(s.size());
  if (utf8::first_invalid(s) != std::string_view::npos) return placed(context.make_string(valid_text(s)));
  return placed(context.make_string(s));
}
Node* CallContext::make_bytes(std::string_view s) {
  check_text(s.size());
  return placed(context.make_bytes(s));
}
Node* CallContext::make_bool(bool b) { return placed(context.store.make<Bool>(b)); }
Node* CallContext::make_int(i64 i) { return placed(context.store.integer(i)); }
Node* CallContext::make_number(const Decimal& d, Kinds kind) { return placed(context.store.num(kind, d)); }
Node* CallContext::make_null() { return placed(context.store.make<Null>()); }
Node* CallContext::make_list(std::span<Node* const> items) { return context.new_list(items); }

Node* CallContext::make_struct(std::span<const std::pair<std::string_view, Node*>> fields) {
  auto* s = context.store.make<StructLit>();
  std::vector<Node*> decls;
  for (auto& [name, v] : fields)
    decls.push_back(context.store.make<Field>(Label::string(name), ArcType::kMember, v, nullptr));
  s->decls = context.store.keep(decls);
  Conjunct c{nullptr, s, {}};
  Vertex* out = context.inline_vertex(nullptr, &c);
  context.finalize(out);
  return out;
}

Node* CallContext::error(std::string_view message) { return context.bottom(Code::kEval, {}, "{}", message); }
Node* CallContext::incomplete(std::string_view message) { return context.bottom(Code::kIncomplete, {}, "{}", message); }

// ---- the registry

namespace {
std::vector<PackageTable>& tables() {
  static std::vector<PackageTable> all;
  return all;
}
}  // namespace

void add_package(std::string_view path, std::span<const BuiltinSpec> functions,
                 std::span<const ConstantSpec> constants) {
  static std::deque<std::vector<Param>> lists;  // a function refers to its own for ever
  static Room& room = *new Room;
  PackageTable t{path, {}, constants};
  for (auto& f : functions) {
    auto& params = lists.emplace_back();
    for (Kinds k : f.params) params.push_back({k, nullptr});
    if (f.last) params.back().otherwise = room.make<String>(f.last);
    auto* b = room.make<Builtin>(path, f.name, params, f.result, f.function);
    b->non_concrete = f.non_concrete;
    t.functions.emplace_back(f.name, b);
  }
  tables().push_back(std::move(t));
}

const PackageTable* find_package(std::string_view path) {
  static const bool once = (register_packages(), true);
  (void)once;
  for (auto& t : tables())
    if (t.path == path) return &t;
  return nullptr;
}

}  // namespace tutti::cue
