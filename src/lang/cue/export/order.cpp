#include "lang/cue/export/order.h"

#include <algorithm>
#include <map>
#include <queue>
#include <string>
#include <unordered_map>
#include <unordered_set>

namespace tutti::cue {

namespace {

// Which label comes before which, as numbers in order of first mention.
class Precedence {
 public:
  u32 number(Label l) {
    auto [it, fresh] = numbers_.try_emplace(l.bits(), static_cast<u32>(labels_.size()));
    if (fresh) {
      labels_.push_back(l);
      after_.emplace_back();
    }
    return it->second;
  }
  void add(Label before, Label after) {
    u32 a = number(before), b = number(after);
    if (a != b) after_[a].push_back(b);
  }

  // Labels on a cycle come together, by name or as they were first mentioned.
  std::vector<Label> sorted(bool by_name) const {
    std::vector<u32> alone(labels_.size());
    for (u32 i = 0; i < alone.size(); ++i) alone[i] = i;
    std::vector<Label> out = in_order(alone, by_name);
    return out.size() == labels_.size() ? out : in_order(components(), by_name);
  }

 private:
  // Of the groups that nothing must precede any more, always the one with the smallest name. Labels on a cycle of
  // groups are left out.
  std::vector<Label> in_order(const std::vector<u32>& group, bool by_name) const {
    u32 n = static_cast<u32>(labels_.size());
    struct Group {
      std::vector<std::pair<std::string, u32>> members;
      u32 waiting = 0;
    };
    std::vector<Group> groups(n);
    for (u32 i = 0; i < n; ++i) groups[group[i]].members.push_back({labels_[i].plain(), i});
    std::vector<std::string> smallest(n);
    for (u32 g = 0; g < n; ++g) {
      auto& m = groups[g].members;
      if (m.empty()) continue;
      smallest[g] = std::min_element(m.begin(), m.end())->first;
      if (by_name) std::sort(m.begin(), m.end());
    }
    for (u32 i = 0; i < n; ++i)
      for (u32 j : after_[i])
        if (group[i] != group[j]) ++groups[group[j]].waiting;
    auto later = [&](u32 a, u32 b) { return smallest[a] > smallest[b]; };
    std::priority_queue<u32, std::vector<u32>, decltype(later)> ready(later);
    for (u32 g = 0; g < n; ++g)
      if (!groups[g].members.empty() && groups[g].waiting == 0) ready.push(g);
    std::vector<Label> out;
    while (!ready.empty()) {
      u32 g = ready.top();
      ready.pop();
      for (const auto& [name, i] : groups[g].members) {
        out.push_back(labels_[i]);
        for (u32 j : after_[i])
          if (group[j] != g && --groups[group[j]].waiting == 0) ready.push(group[j]);
      }
    }
    return out;
  }

  // For each label the number of one label of its strongly connected component: two walks without recursion, the
  // second against the edges in the order in which the first one left the labels.
  std::vector<u32> components() const {
    u32 n = static_cast<u32>(labels_.size());
    std::vector<std::vector<u32>> before(n);
    for (u32 i = 0; i < n; ++i)
      for (u32 j : after_[i]) before[j].push_back(i);
    std::vector<u32> left;
    std::vector<char> seen(n, 0);
    std::vector<std::pair<u32, std::size_t>> path;
    for (u32 i = 0; i < n; ++i) {
      if (seen[i]) continue;
      seen[i] = 1;
      path.push_back({i, 0});
      while (!path.empty()) {
        auto& [at, next] = path.back();
        if (next == after_[at].size()) {
          left.push_back(at);
          path.pop_back();
          continue;
        }
        u32 to = after_[at][next++];
        if (seen[to]) continue;
        seen[to] = 1;
        path.push_back({to, 0});
      }
    }
    constexpr u32 kNone = ~u32{0};
    std::vector<u32> group(n, kNone), work;
    for (std::size_t k = left.size(); k-- > 0;) {
      if (group[left[k]] != kNone) continue;
      group[left[k]] = left[k];
      work.push_back(left[k]);
      while (!work.empty()) {
        u32 at = work.back();
        work.pop_back();
        for (u32 from : before[at])
          if (group[from] == kNone) {
            group[from] = left[k];
            work.push_back(from);
          }
      }
    }
    return group;
  }

  std::vector<Label> labels_;
  std::vector<std::vector<u32>> after_;
  std::unordered_map<u32, u32> numbers_;
};

u32 run_of(const Environment* env) {
  for (; env; env = env->up)
    if (env->comp_id) return env->comp_id;
  return 0;
}

// Where references look: in the literals of `inside` that are being gone through, then in the scope around them.
struct Scope {
  const Environment* env;
  Vertex* inside = nullptr;
  u32 literals = 0;

  Scope within(Vertex* v) const { return env ? Scope{env, v, literals + 1} : Scope{nullptr}; }
  Vertex* up(u32 n) const {
    if (n < literals) return inside;
    const Environment* e = env;
    for (n -= literals; e && n > 0; --n) e = e->up;
    return e ? e->vertex.get() : nullptr;
  }
};

// What a plain reference refers to; nullptr for what would have to be evaluated.
Vertex* resolve(const Node* x, const Scope& env) {
  Vertex* v = nullptr;
  if (x->type == NodeType::kFieldRef) {
    Vertex* from = env.up(to<FieldRef>(x)->up);
    v = from ? from->find_raw(to<FieldRef>(x)->label) : nullptr;
  } else if (x->type == NodeType::kSelector) {
    if (Vertex* from = resolve(to<Selector>(x)->x, env)) v = from->find_raw(to<Selector>(x)->label);
  }
  return v ? v->deref_value() : nullptr;
}

using Chain = std::vector<Label>;

// One declaration of the struct: a literal, an embedded one, one run of a comprehension, a reference, operands of `&`.
// Its chains stand side by side; declarations of a file follow each other.
struct Declaration {
  Pos at;  // of the field of it that was made last, or of its reference
  u32 run;
  std::vector<Chain> chains;
  bool computed = false;  // has a part that only evaluation knows
};

Chain side_by_side(const std::vector<Chain>& chains, bool by_name = true) {
  if (chains.size() == 1) return chains[0];
  Precedence order;
  for (const Chain& c : chains)
    for (std::size_t i = 0; i < c.size(); ++i) {
      order.number(c[i]);
      if (i > 0) order.add(c[i - 1], c[i]);
    }
  return order.sorted(by_name);
}

class Declarations {
 public:
  Declarations(const Sources& sources, Vertex* v) : sources_(sources), v_(v) {}

  // Whether the order depends on nothing but the literals, the expressions of the conjuncts and the labels.
  bool by_shape() const { return by_shape_ && computed_.empty(); }

  std::vector<Label> ordered() {
    if (v_->structs().empty()) return as_made();
    collect_computed();
    if (v_->structs().size() == 1 && computed_.empty()) {
      Chain only = labels(v_->structs()[0], nullptr);
      if (covers(only)) return only;
    }
    std::vector<Chain> all = chains();
    return side_by_side(all, only_one());
  }

 private:
  std::vector<Label> as_made() const {
    std::vector<Label> out;
    for (Vertex* a : v_->arcs) out.push_back(a->label);
    return out;
  }

  // What is said about the order, without deciding more than that.
  std::vector<Chain> chains() {
    for (u32 i = 0; i < v_->arcs.size(); ++i) made_.emplace(v_->arcs[i]->label.bits(), i);
    for (const KeptConjunct& c : v_->conjuncts) declare(expression_of(c.x), {c.env});
    // What came in otherwise (functions, other packages) belongs to what was computed, or stands beside all else.
    std::vector<Chain> others = by_literal([&](const StructInfo& s) { return !taken_.count(s.lit); });
    std::vector<Chain> beside_all;
    auto computed =
        std::find_if(declarations_.begin(), declarations_.end(), [](const Declaration& d) { return d.computed; });
    for (Chain& c : others) (computed != declarations_.end() ? computed->chains : beside_all).push_back(std::move(c));
    std::erase_if(declarations_, [](const Declaration& d) { return d.chains.empty(); });
    // What was made rather than written (the results of tasks) says nothing where something was written.
    auto has_place = [](const Declaration& d) { return static_cast<bool>(d.at); };
    if (std::any_of(declarations_.begin(), declarations_.end(), has_place))
      std::erase_if(declarations_, [&](const Declaration& d) { return !has_place(d); });
    std::vector<Chain> out = only_one() ? std::move(declarations_[0].chains) : by_file();
    for (Chain& c : beside_all) out.push_back(std::move(c));
    std::unordered_set<u32> known;
    auto is_new = [&](Label l) { return !known.count(l.bits()); };
    for (const Chain& c : out)
      for (Label l : c) known.insert(l.bits());
    for (Vertex* a : v_->arcs)
      if (!a->label.is_let() && is_new(a->label)) out.push_back({a->label});
    return out;
  }

  bool only_one() const { return declarations_.size() == 1 && !repeated_; }

  bool covers(const Chain& chain) const {
    if (chain.size() < v_->arcs.size()) return false;
    std::unordered_set<u32> known;
    for (Label l : chain) known.insert(l.bits());
    return std::all_of(v_->arcs.begin(), v_->arcs.end(),
                       [&](Vertex* a) { return a->label.is_let() || known.count(a->label.bits()); });
  }

  // Fields whose names were computed: which declaration, in which run, made which label.
  void collect_computed() {
    bool any = false;
    for (const StructInfo& s : v_->structs())
      for (const Node* d : s.lit->decls) any |= d->type == NodeType::kDynamicField;
    if (!any) return;
    for (Vertex* a : v_->arcs)
      for (const KeptConjunct& c : a->conjuncts)
        if (c.x->type == NodeType::kDynamicField) computed_[{c.x, run_of(c.env)}].push_back(a->label);
  }

  // A chain for each literal; the runs of a comprehension follow each other in one.
  template <class Wanted>
  std::vector<Chain> by_literal(Wanted&& wanted) const {
    std::vector<Chain> out;
    std::unordered_map<const Node*, std::size_t> place;
    std::map<std::pair<const Node*, u32>, u32> times;
    for (const StructInfo& s : v_->structs()) {
      // all rounds of one run have the same labels: after the second time nothing new is said
      if (!wanted(s) || ++times[{s.lit, s.comp_id}] > 2) continue;
      Chain c = labels(s, nullptr);
      if (c.empty()) continue;
      auto [it, fresh] = place.try_emplace(s.lit, out.size());
      if (fresh) out.emplace_back();
      out[it->second].insert(out[it->second].end(), c.begin(), c.end());
    }
    return out;
  }

  // The labels a literal declares as they are written, each once.
  // Where it stands among the others (`last`) is told by the field of it that was made last, where that is said last:
  // `a: 1, b: 2, a: 1` stands at b.
  Chain labels(const StructInfo& s, Pos* last) const {
    Chain out;
    std::unordered_set<u32> seen;
    u32 latest = 0;
    auto add = [&](Label l, const Node* d) {
      if (last)
        if (auto it = made_.find(l.bits()); it != made_.end() && it->second >= latest) {
          latest = it->second;
          *last = d->pos;
        }
      if (seen.insert(l.bits()).second) out.push_back(l);
    };
    for (Node* d : s.lit->decls) {
      if (d->type == NodeType::kField) add(to<Field>(d)->label, d);
      if (d->type != NodeType::kDynamicField) continue;
      if (auto it = computed_.find({d, s.comp_id}); it != computed_.end())
        for (Label l : it->second) add(l, d);
    }
    return out;
  }

  void declare(Node* x, const Scope& env) {
    if (x->type == NodeType::kStruct) return literal(to<StructLit>(x), env);
    if (x->type == NodeType::kComprehension) return comprehension(to<Comprehension>(x));
    Declaration d{x->pos, 0, {}};
    beside(x, env, d);
    declarations_.push_back(std::move(d));
  }

  void comprehension(const Comprehension* c) {
    literal(c->value, {nullptr});
    if (c->fallback) literal(c->fallback, {nullptr});
  }

  // A declaration for each time the literal came in; what it embeds by name stands beside its own fields.
  void literal(StructLit* lit, const Scope& env) {
    if (!taken_.insert(lit).second) return;
    Scope inside = env.within(v_);
    std::unordered_set<u32> runs;
    for (const StructInfo* at : of_literal(lit)) {
      const StructInfo& s = *at;
      if (!runs.insert(s.comp_id).second) {
        repeated_ = true;
        continue;
      }
      Declaration d{lit->pos, s.comp_id, {}};
      if (Chain own = labels(s, &d.at); !own.empty()) d.chains.push_back(std::move(own));
      for (Node* e : lit->decls)
        if (e->is_expr() && e->type != NodeType::kStruct && !has_literal(e)) beside(e, inside, d);
      declarations_.push_back(std::move(d));
    }
    for (Node* e : lit->decls) {
      if (e->type == NodeType::kStruct) literal(to<StructLit>(e), inside);
      if (e->is_expr() && e->type != NodeType::kStruct && has_literal(e)) declare(e, inside);
      if (e->type == NodeType::kComprehension) comprehension(to<Comprehension>(e));
    }
  }

  // Each time the literal came in.
  const std::vector<const StructInfo*>& of_literal(const StructLit* lit) {
    if (by_lit_.empty())
      for (const StructInfo& s : v_->structs()) by_lit_[s.lit].push_back(&s);
    return by_lit_[lit];
  }

  // Is a literal an operand of it?
  static bool has_literal(const Node* x) {
    if (x->type == NodeType::kStruct) return true;
    return x->type == NodeType::kBinary && to<Binary>(x)->op == Op::kAnd &&
           (has_literal(to<Binary>(x)->x) || has_literal(to<Binary>(x)->y));
  }

  void beside(Node* x, const Scope& env, Declaration& d) {
    if (x->type == NodeType::kBinary && to<Binary>(x)->op == Op::kAnd) {
      beside(to<Binary>(x)->x, env, d);
      beside(to<Binary>(x)->y, env, d);
    } else if (x->type == NodeType::kDisjunctionExpr) {
      for (const Disjunct& v : to<DisjunctionExpr>(x)->values) beside(v.value, env, d);
    } else if (x->type == NodeType::kStruct) {
      auto* lit = to<StructLit>(x);
      taken_.insert(lit);
      std::unordered_set<u32> runs;
      for (const StructInfo* s : of_literal(lit))
        if (runs.insert(s->comp_id).second)
          if (Chain c = labels(*s, nullptr); !c.empty()) d.chains.push_back(std::move(c));
    } else if (Vertex* target = resolve(x, env)) {
      // the same reference leads to another vertex elsewhere, unless that is a definition of the package
      if (!target->label.is_def() || !target->parent || target->parent->parent) by_shape_ = false;
      Declarations there(sources_, target);
      there.collect_computed();
      for (const StructInfo& s : target->structs()) taken_.insert(s.lit);
      for (Chain& c : there.by_literal([](const StructInfo&) { return true; })) d.chains.push_back(std::move(c));
    } else if (!x->is_value()) {
      d.computed = true;
    }
  }

  // For each file one chain: its declarations one after the other, a label where it is mentioned first.
  std::vector<Chain> by_file() {
    std::stable_sort(declarations_.begin(), declarations_.end(), [](const Declaration& a, const Declaration& b) {
      return a.at != b.at ? a.at < b.at : a.run < b.run;
    });
    std::vector<Chain> out;
    std::unordered_set<u32> seen;
    const Source* file = nullptr;
    for (const Declaration& d : declarations_) {
      const Source* in = sources_.find(d.at);
      if (out.empty() || in != file) {
        out.emplace_back();
        seen.clear();
        file = in;
      }
      for (Label l : side_by_side(d.chains))
        if (seen.insert(l.bits()).second) out.back().push_back(l);
    }
    return out;
  }

  const Sources& sources_;
  Vertex* v_;
  std::map<std::pair<const Node*, u32>, Chain> computed_;
  std::unordered_map<u32, u32> made_;      // where a label comes among the arcs
  std::unordered_set<const Node*> taken_;  // literals that are in a declaration
  std::unordered_map<const Node*, std::vector<const StructInfo*>> by_lit_;
  std::vector<Declaration> declarations_;
  bool repeated_ = false;  // a declaration came in several times and is there once
  bool by_shape_ = true;
};

}  // namespace

std::vector<Label> field_order(const Sources& sources, Vertex* v) { return Declarations(sources, v).ordered(); }

namespace {

std::vector<Vertex*> in_order(Vertex* v, const std::vector<Label>& labels) {
  std::vector<Vertex*> out;
  out.reserve(v->arcs.size());
  for (Label l : labels) {
    Vertex* a = v->find_raw(l);
    if (a && !l.is_let() && !l.is_int()) out.push_back(a);
  }
  return out;
}

}  // namespace

std::vector<Vertex*> ordered_arcs(const Sources& sources, Vertex* v) {
  if (v->arcs.size() >= 2) return in_order(v, field_order(sources, v));
  std::vector<Vertex*> out;
  for (Vertex* a : v->arcs)
    if (!a->label.is_let() && !a->label.is_int()) out.push_back(a);
  return out;
}

std::size_t ArcOrder::Hash::operator()(const Key& k) const {
  u64 h = k.size();
  for (u64 x : k) h = (h ^ x ^ h >> 29) * 0x9e3779b97f4a7c15u;
  return static_cast<std::size_t>(h ^ h >> 32);
}

namespace {

// A literal whose fields are all named: only which they are matters, and where it stands.
bool plain_literal(const StructLit* lit) {
  return std::all_of(lit->decls.begin(), lit->decls.end(), [](const Node* d) { return d->type == NodeType::kField; });
}

// The fields as one plain literal declares them, or several of one file that follow each other, which is how they were
// made: what has just been written down most often.
bool as_declared(const Sources& sources, const Vertex* v) {
  auto structs = v->structs();
  if (structs.empty() || (structs.size() > 1 && structs.size() != v->conjuncts.size())) return false;
  u32 made = 0, known = 0;
  std::unordered_set<u32> before;  // the first `known` labels, where there are many
  auto again = [&](Label l) {
    auto same = [&](const Vertex* a) { return a->label == l; };
    if (made <= 16) return std::any_of(v->arcs.begin(), v->arcs.begin() + made, same);
    for (; known < made; ++known) before.insert(v->arcs[known]->label.bits());
    return before.contains(l.bits());
  };
  Pos last;
  const Source* file = nullptr;
  for (u32 i = 0; i < structs.size(); ++i) {
    const StructLit* lit = structs[i].lit;
    if (structs.size() > 1) {
      Pos at = lit->decls.empty() ? lit->pos : lit->decls.back()->pos;
      if (structs[i].comp_id != 0 || expression_of(v->conjuncts[i].x) != lit || !at || (i > 0 && !(last < at)))
        return false;
      last = at;
      if (i == 0) file = sources.find(at);
      if (!file || file->offset(at) > file->text.size()) return false;
    }
    for (const Node* d : lit->decls) {
      if (d->type != NodeType::kField) return false;
      Label l = to<Field>(d)->label;
      if (made < v->arcs.size() && v->arcs[made]->label == l)
        ++made;
      else if (!again(l))
        return false;
    }
  }
  return made == v->arcs.size();
}

// What `v` is made of, for structs written in many places alike: plain literals are known by their labels and by the
// order in which they are written, references by what they refer to.
class Shape {
 public:
  Shape(const Sources& sources, const Vertex* v, std::vector<u64>& key) : sources_(sources), v_(v), key_(key) {}

  // false: it is too special to be compared like this
  bool describe() {
    for (const StructInfo& s : v_->structs()) {
      if (s.comp_id != 0 || !literal(s)) return false;
    }
    for (const KeptConjunct& c : v_->conjuncts) {
      Node* x = expression_of(c.x);
      if (x->type != NodeType::kStruct) places_.push_back(x->pos);
      if (!expression(x, {c.env})) return false;
    }
    return places();
  }

 private:
  enum : u64 { kAgain = 1, kPlain, kOther, kLiteral, kBoth, kReference };

  bool literal(const StructInfo& s) {
    auto structs = v_->structs();
    auto first = std::find_if(structs.begin(), structs.end(), [&](const StructInfo& o) { return o.lit == s.lit; });
    if (&*first != &s) {
      key_.push_back(kAgain);
      key_.push_back(static_cast<u64>(first - structs.begin()));
      return true;
    }
    places_.push_back(s.lit->decls.empty() ? s.lit->pos : s.lit->decls.back()->pos);
    if (!s.direct) {
      key_.push_back(kOther);
      key_.push_back(reinterpret_cast<std::uintptr_t>(s.lit.get()));
      return true;
    }
    if (!plain_literal(s.lit)) return false;
    key_.push_back(kPlain);
    key_.push_back(s.lit->decls.size());
    for (const Node* d : s.lit->decls) key_.push_back(to<Field>(d)->label.bits());
    return true;
  }

  bool expression(Node* x, const Scope& env) {
    if (x->type == NodeType::kStruct) {
      auto structs = v_->structs();
      auto at = std::find_if(structs.begin(), structs.end(), [&](const StructInfo& s) { return s.lit == x; });
      key_.push_back(kLiteral);
      key_.push_back(static_cast<u64>(at - structs.begin()));
      return at != structs.end();
    }
    if (x->type == NodeType::kBinary && to<Binary>(x)->op == Op::kAnd) {
      key_.push_back(kBoth);
      return expression(to<Binary>(x)->x, env) && expression(to<Binary>(x)->y, env);
    }
    Vertex* target = resolve(x, env);
    key_.push_back(kReference);
    key_.push_back(reinterpret_cast<std::uintptr_t>(target));
    return target != nullptr;
  }

  // Which comes before which, and which are of one file.
  bool places() {
    for (Pos at : places_) {
      auto before = std::count_if(places_.begin(), places_.end(), [&](Pos other) { return other < at; });
      key_.push_back(static_cast<u64>(before));
    }
    std::sort(places_.begin(), places_.end());
    const Source* file = nullptr;
    for (std::size_t i = 0; i < places_.size(); ++i) {
      if (file && file->offset(places_[i]) <= file->text.size()) continue;
      file = sources_.find(places_[i]);
      if (!file) return false;
      key_.push_back(i);
    }
    return true;
  }

  const Sources& sources_;
  const Vertex* v_;
  std::vector<u64>& key_;
  std::vector<Pos> places_;
};

}  // namespace

// Into key_. Structs with the same one have the same order.
void ArcOrder::describe(const Vertex* v) {
  auto structs = v->structs();
  key_.assign({v->arcs.size(), structs.size(), v->conjuncts.size()});
  for (const Vertex* a : v->arcs) key_.push_back(a->label.bits());
  std::size_t fields = key_.size();
  key_.push_back(1);
  if (Shape(sources_, v, key_).describe()) return;
  key_.resize(fields);
  key_.push_back(0);
  for (const StructInfo& s : structs) {
    // of the runs of comprehensions only matters which are the same and which came before
    auto rank =
        std::count_if(structs.begin(), structs.end(), [&](const StructInfo& o) { return o.comp_id < s.comp_id; });
    key_.push_back(reinterpret_cast<std::uintptr_t>(s.lit.get()));
    key_.push_back(static_cast<u64>(rank));
  }
  for (const KeptConjunct& c : v->conjuncts) key_.push_back(reinterpret_cast<std::uintptr_t>(c.x.get()));
}

void ArcOrder::of(Vertex* v, std::vector<Vertex*>& out) {
  constexpr std::size_t kMost = 64;  // larger ones are rarely alike
  auto structs = v->structs();
  if (as_declared(sources_, v)) {
    out.assign(v->arcs.begin(), v->arcs.end());
    return;
  }
  if (v->arcs.size() < 2 || v->arcs.size() > kMost || structs.size() > kMost || v->conjuncts.size() > kMost) {
    out = ordered_arcs(sources_, v);
    return;
  }
  describe(v);
  if (auto it = known_.find(key_); it != known_.end()) {
    out.clear();
    for (u32 i : it->second) out.push_back(v->arcs[i]);
    return;
  }
  Declarations declarations(sources_, v);
  out = in_order(v, declarations.ordered());
  if (!declarations.by_shape()) return;
  std::vector<u32> positions;
  for (const Vertex* a : out)
    positions.push_back(static_cast<u32>(std::find(v->arcs.begin(), v->arcs.end(), a) - v->arcs.begin()));
  known_.emplace(key_, std::move(positions));
}

}  // namespace tutti::cue
