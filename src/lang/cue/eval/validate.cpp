#include "lang/cue/eval/validate.h"

#include <algorithm>
#include <unordered_set>

#include "lang/cue/eval/scalar.h"

namespace tutti::cue {

namespace {

struct Checker {
  Context& ctx;
  ValidateConfig config;
  Bottom* err = nullptr;
  int in_definition = 0;
  std::unordered_set<Vertex*> visited;
  std::vector<Label> path;
  std::vector<Pos> through;  // references whose values are shared, on the way here

  bool concrete() const { return config.concrete && in_definition == 0; }

  void add(Bottom* b) {
    if (config.all_errors && b->child_error) return;
    if (config.every && err && err != b)
      err = ctx.store.make<Bottom>(std::min(err->code, b->code), ctx.join(err->error, b->error));
    else
      err = ctx.combine(err, b);
  }

  // Where the data says the struct that lacks something; where it begins when that struct is not in it at all.
  void add_data_place(std::vector<Pos>& at, const Vertex* lacking) const {
    if (!config.data || !ctx.sources) return;
    const Source* data = ctx.sources->find(config.data);
    auto in_data = [&](Pos p) { return p && ctx.sources->find(p) == data; };
    if (std::ranges::any_of(at, in_data)) return;
    for (; lacking; lacking = lacking->parent)
      for (const KeptConjunct& c : lacking->conjuncts)
        if (Pos p = expression_of(c.x)->pos; in_data(p)) return at.push_back(p);
    at.push_back(config.data);
  }

  Bottom* located(Code code, const char* format, Vertex* at, const Node* arg) {
    ArcScope scope(ctx, at);
    Error* e = arg ? ctx.error_at({}, format, arg) : ctx.error_at({}, format);
    e->path = ctx.store.keep(path);
    return ctx.store.make<Bottom>(code, e, at);
  }

  void check(Vertex* x) {
    Vertex* y = x;
    x = x->deref_value();
    if (x->base && is_scalar(x->base) && x->arcs.empty()) return;  // as most are
    Level level(ctx);
    if (y != x) {
      if (in_definition > 0) return;
      if (!visited.insert(x).second) return;
    }
    std::size_t known = through.size();
    if (y->is_shared)
      for (const KeptConjunct& c : y->conjuncts) through.push_back(expression_of(c.x)->pos);
    if (Bottom* b = x->bottom()) {
      if (b->code == Code::kCycle) {
        if (((config.concrete || config.final) && in_definition == 0) || config.disallow_cycles) add(b);
      } else if (b->code == Code::kIncomplete) {
        if (config.report_incomplete || concrete()) add(b);
      } else {
        add(b);
      }
      if (!b->has_recursive) {
        through.resize(known);
        return;
      }
    } else if (concrete()) {
      Node* d = ctx.chosen(x);
      if (d->type == NodeType::kVertex) d = x = to<Vertex>(d)->deref_value();
      if (!ctx.is_concrete(d)) {
        if (d == x && x->value()) d = x->value();
        Bottom* incomplete = located(Code::kIncomplete, "incomplete value {}", y, d);
        std::vector<Pos> at = through;
        add_data_place(at, y);
        incomplete->error->others = ctx.store.keep(at);
        add(incomplete);
      }
    }
    for (u32 i = 0; i < x->arcs.size(); ++i) {
      Vertex* a = x->arcs[i];
      path.push_back(a->label);
      visit(a);
      path.pop_back();
      if (!config.all_errors && err) break;
    }
    through.resize(known);
  }

  void visit(Vertex* a) {
    bool counts = a->label.is_regular() || !config.only_regular;
    if (a->arc_type == ArcType::kRequired && config.final && in_definition == 0 && counts) {
      Bottom* b = located(Code::kIncomplete, "field is required but not present", a, nullptr);
      std::vector<Pos> at = through;
      for (auto& c : a->conjuncts)
        if (c.x->type == NodeType::kField && to<Field>(c.x)->arc == ArcType::kRequired) {
          at.push_back(c.x->pos);
          for (DefId id = c.ci->def; id != 0; id = ctx.containments[id].id)
            if (Pos by = ctx.containments[id].pos) at.push_back(by);
        }
      add_data_place(at, a->parent);
      b->error->others = ctx.store.keep(at);
      add(b);
      return;
    }
    if (a->label.is_let() || !ctx.is_defined(a) || a->told_where_used()) return;
    if (!config.all_errors && err) return;
    bool hidden = !a->label.is_regular();
    in_definition += hidden;
    check(a);
    in_definition -= hidden;
  }
};

}  // namespace

Bottom* validate_tree(Context& ctx, Vertex* v, const ValidateConfig& config) {
  Checker c{ctx, config, nullptr, 0, {}, {}};
  for (Vertex* p = v; p && p->label.valid(); p = p->parent) c.path.insert(c.path.begin(), p->label);
  c.check(v);
  return c.err;
}

}  // namespace tutti::cue
