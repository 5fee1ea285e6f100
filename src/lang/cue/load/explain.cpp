#include "lang/cue/load/explain.h"

#include <fmt/format.h>

#include <algorithm>

#include "lang/cue/eval/validate.h"

namespace tutti::cue {

namespace {

constexpr std::size_t kMostConjuncts = 30, kMostArms = 12, kMostErrors = 3;

bool is_named(const Node* ref) {
  switch (ref->type) {
    case NodeType::kFieldRef: return to<FieldRef>(ref)->label.is_def();
    case NodeType::kSelector: return to<Selector>(ref)->label.is_def() || is_named(to<Selector>(ref)->x);
    default: return false;
  }
}

class Teller {
 public:
  Teller(Instance& in, std::string path) : in_(in), ctx_(in.context()), path_(std::move(path)) {}

  std::string tell(Vertex* v) {
    std::vector<Conjunct> list = conjuncts_of(v);
    if (!list.empty()) out_ += fmt::format("  {} conjunct{} of {}:\n", list.size(), list.size() == 1 ? "" : "s", path_);
    std::size_t shown = 0;
    for (const Conjunct& c : list) {
      if (shown++ == kMostConjuncts) {
        out_ += fmt::format("    ... and {} more\n", list.size() - kMostConjuncts);
        break;
      }
      conjunct(c);
    }
    choice(v);
    if (Bottom* b = v->bottom(); b && !b->incomplete())
      for (const Conjunct& c : list)
        if (branches(v, list, c)) break;
    return std::move(out_);
  }

 private:
  std::string place(Pos p) { return in_.session().sources->show(p); }
  std::string line(Pos p) {
    std::string_view t = in_.session().sources->locate(p).text;
    std::size_t from = t.find_first_not_of(" \t");
    if (from == t.npos) return {};
    return std::string(t.substr(from, 100));
  }

  static std::vector<Conjunct> conjuncts_of(Vertex* v) {
    std::vector<Conjunct> out(v->conjuncts.begin(), v->conjuncts.end());
    if (out.empty() && v->base && v->base->type == NodeType::kVertex) return conjuncts_of(to<Vertex>(v->base));
    return out;
  }

  void conjunct(const Conjunct& c) {
    Node* x = expression_of(c.x);
    Pos at = c.x->pos ? c.x->pos : x->pos;
    if (at) {
      out_ += fmt::format("    {}: {}\n", place(at), line(at));
    } else {
      out_ += fmt::format("    {}\n", compact(x));
    }
    for (std::string& how : ways(c)) out_ += "      " + how + "\n";
    told_.clear();
    references(c.env, x, 6, 2);
  }

  // The pattern whose struct the conjunct stands in, however far out.
  static const Pattern* pattern_around(const Conjunct& c) {
    const Node* inside = c.x;
    for (Environment* e = c.env; e && e->vertex; e = e->up) {
      for (const Conjunct& o : conjuncts_of(e->vertex)) {
        Node* x = expression_of(o.x);
        if (x->type != NodeType::kStruct) continue;
        auto& decls = to<StructLit>(x)->decls;
        if (std::find(decls.begin(), decls.end(), inside) == decls.end()) continue;
        if (o.x->type == NodeType::kPattern) return to<Pattern>(o.x);
        inside = o.x;
        break;
      }
    }
    return nullptr;
  }

  // How the conjunct came to the field, the farthest step first.
  std::vector<std::string> ways(const Conjunct& c) {
    std::vector<std::string> out;
    for (RefNode* r = c.ci.refs; r && out.size() < 8; r = r->next)
      out.push_back(fmt::format("through the {} {} at {}", is_named(r->ref) ? "definition" : "reference",
                                compact(r->ref), place(r->ref->pos)));
    std::reverse(out.begin(), out.end());
    if (c.ci.embed && c.ci.embed < ctx_.containments.size())
      if (Pos p = ctx_.containments[c.ci.embed].pos) out.push_back(fmt::format("embedded at {}", place(p)));
    if (c.x->type == NodeType::kPattern)
      out.push_back(fmt::format("by the pattern [{}]", compact(to<Pattern>(c.x)->filter)));
    else if (const Pattern* p = pattern_around(c))
      out.push_back(fmt::format("by the pattern [{}]", compact(p->filter)));
    if (c.x->type == NodeType::kEllipsis) out.push_back("as a further element, by ...");
    if (c.x->type == NodeType::kDynamicField)
      out.push_back(fmt::format("as the field ({})", compact(to<DynamicField>(c.x)->key)));
    for (Environment* e = c.env; e; e = e->up)
      if (e->comp_id) {
        out.push_back("by a comprehension");
        break;
      }
    return out;
  }

  // The vertex a plain reference leads to, without evaluating anything.
  Vertex* target(Environment* env, const Node* x) {
    if (x->type == NodeType::kFieldRef) {
      auto* r = to<FieldRef>(x);
      for (u32 n = r->up; n > 0 && env; --n) env = env->up;
      return env && env->vertex ? env->vertex->deref_value()->find_raw(r->label) : nullptr;
    }
    if (x->type == NodeType::kSelector) {
      Vertex* v = target(env, to<Selector>(x)->x);
      return v ? v->deref_value()->find_raw(to<Selector>(x)->label) : nullptr;
    }
    return nullptr;
  }

  void references(Environment* env, Node* x, std::size_t indent, int follow) {
    switch (x->type) {
      case NodeType::kBinary:
        references(env, to<Binary>(x)->x, indent, follow);
        references(env, to<Binary>(x)->y, indent, follow);
        return;
      case NodeType::kUnary: references(env, to<Unary>(x)->x, indent, follow); return;
      case NodeType::kDisjunctionExpr:
        for (auto& d : to<DisjunctionExpr>(x)->values) references(env, d.value, indent, follow);
        return;
      case NodeType::kInterpolation:
        for (Node* p : to<Interpolation>(x)->parts) references(env, p, indent, follow);
        return;
      case NodeType::kCall:
        for (Node* a : to<Call>(x)->args) references(env, a, indent, follow);
        return;
      case NodeType::kFieldRef:
      case NodeType::kSelector: {
        Vertex* v = target(env, x);
        if (!v || std::find(told_.begin(), told_.end(), v) != told_.end()) return;
        told_.push_back(v);
        for (const Conjunct& c : conjuncts_of(v)) {
          Pos at = c.x->pos;
          if (!at) continue;
          out_ += fmt::format("{:{}}{} is {}: {}\n", "", indent, compact(x), place(at), line(at));
          if (follow > 0) references(c.env, expression_of(c.x), indent + 2, follow - 1);
        }
        return;
      }
      default: return;
    }
  }

  void choice(Vertex* v) {
    v = v->deref_value();
    if (!v->base || v->base->type != NodeType::kDisjunction) return;
    auto* d = to<Disjunction>(v->base);
    std::string rest;
    for (std::size_t i = d->defaults; i < d->values.size() && i < d->defaults + kMostArms; ++i)
      rest += (rest.empty() ? "" : " | ") + compact(d->values[i]);
    if (d->defaults == 1)
      out_ +=
          fmt::format("  {} is the default{}\n", compact(d->values[0]), rest.empty() ? "" : "; it could be " + rest);
    else
      out_ += fmt::format("  not decided: {}\n", compact(d));
  }

  // ---- which branch came closest

  // The disjunction that a conjunct is, perhaps behind references and beside other operands.
  static DisjunctionExpr* as_disjunction(Node* x) {
    return x->type == NodeType::kDisjunctionExpr ? to<DisjunctionExpr>(x) : nullptr;
  }

  struct Trial {
    Node* arm;
    std::size_t errors = 0, agreeing = 0;
    std::vector<FlatError> told;
  };

  void operands(const Conjunct& c, int follow, std::vector<Conjunct>& out) {
    Node* x = expression_of(c.x);
    if (x->type == NodeType::kBinary && to<Binary>(x)->op == Op::kAnd) {
      operands({c.env, to<Binary>(x)->x, c.ci}, follow, out);
      operands({c.env, to<Binary>(x)->y, c.ci}, follow, out);
      return;
    }
    if (follow > 0)
      if (Vertex* v = target(c.env, x)) {
        auto list = conjuncts_of(v);
        if (list.size() == 1 && as_disjunction(expression_of(list[0].x))) {
          out.push_back({list[0].env, expression_of(list[0].x), c.ci});
          return;
        }
      }
    out.push_back({c.env, x, c.ci});
  }

  bool branches(Vertex* v, const std::vector<Conjunct>& all, const Conjunct& chosen) {
    std::vector<Conjunct> parts, mine;
    operands(chosen, 1, mine);
    std::size_t at = 0;
    while (at < mine.size() && !as_disjunction(mine[at].x)) ++at;
    if (at == mine.size()) return false;
    for (const Conjunct& c : all)
      if (c.x != chosen.x || c.env != chosen.env) parts.push_back(c);
    for (std::size_t i = 0; i < mine.size(); ++i)
      if (i != at) parts.push_back(mine[i]);
    std::vector<Trial> trials;
    for (auto& d : as_disjunction(mine[at].x)->values)
      trials.push_back(attempt(v, parts, {mine[at].env, d.value, mine[at].ci}));
    if (trials.empty()) return false;
    auto best = std::min_element(trials.begin(), trials.end(), [](const Trial& a, const Trial& b) {
      return a.errors != b.errors ? a.errors < b.errors : a.agreeing > b.agreeing;
    });
    if (best->errors == 0) return false;  // it is another conjunct that does not fit
    out_ += fmt::format("  no branch of the disjunction fits:\n");
    std::size_t shown = 0;
    for (const Trial& t : trials) {
      if (&t != &*best && shown++ >= kMostArms) continue;
      out_ += fmt::format("    {}{}: {} error{}{}\n", t.arm->pos ? place(t.arm->pos) + ": " : "",
                          compact(t.arm).substr(0, 80), t.errors, t.errors == 1 ? "" : "s",
                          &t == &*best ? ", comes closest" : "");
      if (&t != &*best) continue;
      for (std::size_t i = 0; i < t.told.size() && i < kMostErrors; ++i) {
        const FlatError& e = t.told[i];
        out_ += fmt::format("      {}{}\n", e.path.empty() ? "" : e.path + ": ", e.message);
        std::vector<Pos> places = e.others;
        if (e.pos) places.insert(places.begin(), e.pos);
        for (Pos p : places) out_ += fmt::format("        {}: {}\n", place(p), line(p));
      }
    }
    return true;
  }

  Trial attempt(Vertex* v, const std::vector<Conjunct>& parts, const Conjunct& arm) {
    Vertex* t = ctx_.new_vertex();
    t->parent = v->parent;
    t->label = v->label;
    for (const Conjunct& c : parts) t->conjuncts.push(ctx_.arena, c);
    t->conjuncts.push(ctx_.arena, arm);
    ctx_.finalize(t);
    Trial out{expression_of(arm.x)};
    if (Bottom* b = validate_tree(ctx_, t, {.all_errors = true})) out.told = flatten(b);
    out.errors = out.told.size();
    count(t, out.agreeing, 0);
    return out;
  }

  // Fields about which more than one conjunct says the same.
  void count(Vertex* v, std::size_t& n, int depth) {
    v = v->deref_value();
    if (depth > 8) return;
    for (Vertex* a : v->arcs) {
      if (a->is_err()) continue;
      if (a->conjuncts.size() > 1 && ctx_.is_concrete(a->deref_value()->value())) ++n;
      count(a, n, depth + 1);
    }
  }

  Instance& in_;
  Context& ctx_;
  std::string path_, out_;
  std::vector<Vertex*> told_;
};

}  // namespace

std::string explain(Instance& instance, const Path& path) {
  Context& ctx = instance.context();
  Vertex* v = instance.root();
  for (const Path::Step& step : path.steps()) {
    Node* d = ctx.default_of(v);
    Vertex* in = d && d->type == NodeType::kVertex ? to<Vertex>(d)->deref_value() : v->deref_value();
    Vertex* next = nullptr;
    for (Vertex* a : in->arcs) {
      if (a->label.is_let()) continue;
      if (step.is_key() ? !a->label.is_int() && a->label.plain() == step.key.text()
                        : a->label.is_int() && a->label.index() == step.index)
        next = a;
    }
    if (!next) return {};
    v = next;
  }
  if (path.steps().empty()) return {};
  return Teller(instance, path.text()).tell(v);
}

}  // namespace tutti::cue
