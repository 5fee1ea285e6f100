#include "lang/cue/export/order.h"

#include <algorithm>
#include <optional>
#include <unordered_set>

#include "lang/cue/export/precedence.h"

namespace tutti::cue {

namespace order {

// A literal that the struct is made of.
struct Part {
  const StructLit* lit;
  u32 run;       // of a comprehension, which brought it
  Pos at;        // where it was first referred to; else where a field of it is written
  u32 said = 0;  // when that was said last
  u32 times = 1;
  u32 next = 0;  // declaration that is likely to be asked for
  const Source* file = nullptr;
  bool computed = false;  // some of its names are
  bool beside = false;    // it is an operand of `&`

  // References by which it came, by their position among them. Nearly always it is one.
  void came(u32 reference) {
    if (through_ == reference || std::ranges::find(more_, reference) != more_.end()) return;
    if (through_ == kNone)
      through_ = reference;
    else
      more_.push_back(reference);
  }
  template <class F>
  void each_through(F f) const {
    if (through_ == kNone) return;
    f(through_);
    for (u32 r : more_) f(r);
  }

 private:
  static constexpr u32 kNone = ~u32{0};
  u32 through_ = kNone;
  std::vector<u32> more_;

 public:
  Part(const StructLit* l, u32 comprehension, Pos place) : lit(l), run(comprehension), at(place) {}
};

// A reference through which parts came: they are where it stands.
struct Reference {
  const Node* node;
  u32 said = 0;  // when a field came through it last
};

// The order that cue gives to fields. The literals that a struct is made of follow each other by their places; those
// that came by one reference, and operands of `&`, stand beside each other.
class WrittenOrder {
 public:
  explicit WrittenOrder(const Sources& sources) : sources_(sources) {}

  void look_at(Vertex* v) {
    forget();
    v_ = v;
    collect();
    place();
    mark_operands();
    for (Part& p : parts_) {
      p.file = p.at ? file_of(p.at) : nullptr;
      p.computed =
          !computed_.empty() && std::ranges::any_of(p.lit->decls, [&](const Node* d) { return computed_.contains(d); });
    }
  }

  // All that the order depends on; false when that cannot be said in short.
  bool describe(std::vector<u64>& key) {
    if (!computed_.empty()) return false;
    places_.clear();
    for (const Part& p : parts_)
      if (p.at) places_.push_back(p.at);
    std::ranges::sort(places_);
    key.assign({v_->arcs.size(), parts_.size()});
    for (const Vertex* a : v_->arcs) key.push_back(a->label.bits());
    for (const Part& p : parts_) {
      auto before = (p.at ? std::ranges::lower_bound(places_, p.at) : places_.end()) - places_.begin();
      auto file = std::ranges::find(parts_, p.file, &Part::file) - parts_.begin();
      auto run = std::ranges::find(parts_, p.run, &Part::run) - parts_.begin();
      key.push_back(static_cast<u64>(before) << 40 | static_cast<u64>(file) << 20 | static_cast<u64>(run));
      key.push_back(u64{p.times} << 3 | u64{p.run != 0} << 2 | u64{p.beside} << 1 |
                    static_cast<u64>(static_cast<bool>(p.at)));
      std::size_t labels = key.size();
      key.push_back(0);
      for (const Node* d : p.lit->decls)
        if (d->type == NodeType::kField) key.push_back(to<Field>(d)->label.bits());
      key[labels] = key.size() - labels;
    }
    return true;
  }

  std::vector<Label> ordered() {
    if (parts_.empty()) {  // data, as it was read
      std::vector<Label> out;
      for (Vertex* a : v_->arcs) out.push_back(a->label);
      return out;
    }
    for (Vertex* a : v_->arcs)
      if (!a->label.is_let()) order_.number(a->label);
    std::ranges::stable_sort(parts_, [](const Part& a, const Part& b) {
      return earlier(a, b) || (a.at == b.at && a.computed < b.computed);
    });
    follow(batches());
    return order_.sorted();
  }

 private:
  static constexpr u32 kFew = 16;
  using Batch = std::vector<Part*>;

  // Structs follow each other: what was made for one serves the next.
  void forget() {
    parts_.clear();
    if (!literals_.empty()) literals_.clear();
    declarations_.clear();
    references_.clear();
    if (!reference_at_.empty()) reference_at_.clear();
    said_ = 0;
    if (!computed_.empty()) computed_.clear();
    if (!taken_.empty()) taken_.clear();
    if (!by_.empty()) by_.clear();
    order_.clear();
  }

  const Source* file_of(Pos at) {
    bool same = last_ && !(at < last_->first) && last_->offset(at) <= last_->text.size();
    if (!same) last_ = sources_.find(at);
    return last_;
  }

  // What has no place comes last.
  static bool earlier(const Part& a, const Part& b) { return a.at && (!b.at || a.at < b.at); }

  void collect() {
    auto structs = v_->structs();
    parts_.reserve(structs.size());
    for (const StructInfo& s : structs) {
      if (Part* known = literal(s.lit)) {
        ++known->times;
        continue;
      }
      if (parts_.size() == kFew)
        for (u32 i = 0; i < kFew; ++i) literals_.emplace(parts_[i].lit, i);
      if (parts_.size() >= kFew) literals_.emplace(s.lit, static_cast<u32>(parts_.size()));
      parts_.emplace_back(s.lit, s.comp_id, s.lit->pos);
    }
  }

  Part* literal(const Node* lit) {
    if (literals_.empty()) {
      auto it = std::ranges::find(parts_, lit, &Part::lit);
      return it == parts_.end() ? nullptr : &*it;
    }
    auto it = literals_.find(lit);
    return it == literals_.end() ? nullptr : &parts_[it->second];
  }

  // The part that it is a declaration of. Most are asked for in the order in which they are written, the conjuncts of
  // one field after the other from the same parts as those of the field before, or from the next ones.
  std::optional<u32> declared_in(const Node* d, std::size_t conjunct) {
    auto next_in = [&](u32 i) {
      Part& p = parts_[i];
      auto& decls = p.lit->decls;
      while (p.next < decls.size() && decls[p.next]->is_expr()) ++p.next;
      if (p.next == decls.size() || decls[p.next] != d) return false;
      ++p.next;
      return true;
    };
    u32 many = static_cast<u32>(parts_.size());
    if (many <= kFew) {
      for (u32 i = 0; i < many; ++i)
        if (next_in(i)) return i;
      return declared(d);
    }
    if (likely_.size() <= conjunct) likely_.resize(conjunct + 1);
    u32& likely = likely_[conjunct];
    for (u32 i : {likely, likely + 1, likely - 1})
      if (i < many && next_in(i)) return likely = i;
    std::optional<u32> in = declared(d);
    if (in) likely = *in;
    return in;
  }

  std::optional<u32> declared(const Node* d) {
    if (declarations_.empty()) {
      for (u32 i = 0; i < parts_.size(); ++i)
        for (const Node* x : parts_[i].lit->decls) declarations_.push_back({x, i});
      std::ranges::sort(declarations_);
    }
    auto it = std::ranges::lower_bound(declarations_, d, {}, &std::pair<const Node*, u32>::first);
    return it != declarations_.end() && it->first == d ? std::optional(it->second) : std::nullopt;
  }

  std::optional<u32> reference(const Node* x) const {
    if (references_.size() > kFew) {
      auto it = reference_at_.find(x);
      return it == reference_at_.end() ? std::nullopt : std::optional(it->second);
    }
    auto it = std::ranges::find(references_, x, &Reference::node);
    return it == references_.end() ? std::nullopt : std::optional(static_cast<u32>(it - references_.begin()));
  }

  u32 add_reference(const Node* x) {
    u32 i = static_cast<u32>(references_.size());
    references_.push_back({x});
    if (i == kFew)
      for (u32 j = 0; j < i; ++j) reference_at_.emplace(references_[j].node, j);
    if (i >= kFew) reference_at_.emplace(x, i);
    return i;
  }

  // A part came through a reference: all that came through it are where that stands, and so is the literal in which it
  // is embedded. Of all that is said about the place of a part the last counts.
  void through(const Node* ref, u32 part) {
    std::optional<u32> known = reference(ref);
    u32 i = known ? *known : add_reference(ref);
    if (ref->pos) references_[i].said = ++said_;
    parts_[part].came(i);
    if (!known)
      if (std::optional<u32> in = embeds(ref)) parts_[*in].came(i);
  }

  std::optional<u32> embeds(const Node* x) {
    if (parts_.size() > kFew && references_.size() > 2) return declared(x);
    for (u32 i = 0; i < parts_.size(); ++i)
      if (const StructLit* lit = parts_[i].lit;
          lit->has_embedding && std::ranges::find(lit->decls, x) != lit->decls.end())
        return i;
    return std::nullopt;
  }

  // A field that came through references has the place of the first of them, and so has its literal, with all that
  // came through that one and the literal in which that one is embedded.
  void place() {
    for (const Vertex* a : v_->arcs) {
      std::size_t conjunct = 0;
      for (const KeptConjunct& c : a->conjuncts) {
        if (c.x->type == NodeType::kDynamicField)
          computed_[c.x].push_back(a->label);
        else if (c.x->type != NodeType::kField && c.x->type != NodeType::kLetField)
          continue;
        std::optional<u32> in = declared_in(c.x, conjunct++);
        if (!in) continue;
        Part& p = parts_[*in];
        if (c.x->pos) p.at = c.x->pos, p.said = ++said_;
        const RefNode* r = c.ci->refs;
        if (!r) continue;
        while (r->next) r = r->next;
        through(r->ref, *in);
      }
    }
    for (Part& p : parts_)
      p.each_through([&](u32 i) {
        if (const Reference& r = references_[i]; r.said > p.said) p.at = r.node->pos, p.said = r.said;
      });
  }

  void mark_operands() {
    std::vector<const Node*>& todo = todo_;
    std::vector<u8>& operand = operand_;
    operand.assign(references_.size(), 0);
    auto see = [&](const Node* x) {
      if (x->type == NodeType::kBinary && to<Binary>(x)->op == Op::kAnd) todo.push_back(x);
    };
    for (const KeptConjunct& c : v_->conjuncts) see(expression_of(c.x));
    for (const Part& p : parts_)
      for (const Node* d : p.lit->decls) see(d);
    while (!todo.empty()) {
      const auto* both = to<Binary>(todo.back());
      todo.pop_back();
      for (const Node* x : {both->x, both->y}) {
        if (Part* p = literal(x)) p->beside = true;
        if (std::optional<u32> r = reference(x)) operand[*r] = 1;
        see(x);
      }
    }
    for (Part& p : parts_) p.each_through([&](u32 r) { p.beside |= operand[r] != 0; });
  }

  static bool beside(const Batch& b) { return b.size() > 1 || b[0]->beside; }

  // What stands beside each other.
  std::vector<Batch> batches() {
    std::vector<Batch> out;
    Batch batch;
    auto close = [&] {
      if (!out.empty() && beside(batch) && beside(out.back()) && batch[0]->file == out.back()[0]->file)
        out.back().insert(out.back().end(), batch.begin(), batch.end());
      else
        out.push_back(std::move(batch));
      batch.clear();
    };
    for (std::size_t i = 0; i < parts_.size();) {
      std::size_t end = i + 1;  // of what one run of a comprehension brought: its rounds follow each other
      if (parts_[i].run)
        while (end < parts_.size() && parts_[end].run == parts_[i].run) ++end;
      for (u32 round = 0; round < parts_[i].times; ++round)
        for (std::size_t j = i; j < end; ++j) {
          if (!batch.empty() && (batch[0]->at != parts_[j].at || parts_[j].computed)) close();
          batch.push_back(&parts_[j]);
        }
      i = end;
    }
    close();
    return out;
  }

  void follow(const std::vector<Batch>& all) {
    std::vector<Label> before;
    const Batch* last = nullptr;
    for (const Batch& b : all) {
      if (last && (*last)[0]->file != b[0]->file) before.clear();
      bool side_by_side = beside(b);
      std::vector<Label> ends;
      for (Part* p : b) {
        p->beside = side_by_side;
        std::vector<Label> end = follow(before, p);
        ends.insert(ends.end(), end.begin(), end.end());
      }
      before = std::move(ends);
      last = &b;
    }
  }

  // The labels of one part after those before it; what is last then.
  std::vector<Label> follow(std::vector<Label> before, const Part* p) {
    for (const Node* d : p->lit->decls) {
      Label l;
      if (d->type == NodeType::kField) {
        l = to<Field>(d)->label;
      } else if (auto it = computed_.find(d); it != computed_.end()) {
        u32& next = taken_[d];  // each round took one
        if (next == it->second.size()) continue;
        l = it->second[next++];
      } else {
        continue;
      }
      const Part*& by = by_[l.bits()];
      if (by == p || (by && !p->beside && p->at && by->file == p->file)) continue;
      by = p;
      order_.number(l);
      for (Label b : before) order_.add(b, l);
      before.assign(1, l);
    }
    return before;
  }

  const Sources& sources_;
  Vertex* v_ = nullptr;
  const Source* last_ = nullptr;  // file
  std::vector<Part> parts_;
  std::unordered_map<const Node*, u32> literals_;          // of more than a few parts
  std::vector<std::pair<const Node*, u32>> declarations_;  // by address: the part it is in
  std::vector<Reference> references_;
  std::unordered_map<const Node*, u32> reference_at_;  // of more than a few
  u32 said_ = 0;                                       // how often something was said about a place
  std::unordered_map<const Node*, std::vector<Label>> computed_;
  std::unordered_map<const Node*, u32> taken_;  // how many of these
  std::unordered_map<u32, const Part*> by_;     // the part that a label was taken from
  Precedence order_;
  std::vector<u32> likely_;  // by the number of the conjunct: the part of which it was last
  std::vector<const Node*> todo_;
  std::vector<u8> operand_;  // by reference
  std::vector<Pos> places_;  // of the parts
};

}  // namespace order

namespace {

using order::WrittenOrder;

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
  if (v->arcs.size() >= 2) {
    WrittenOrder written(sources);
    written.look_at(v);
    return in_order(v, written.ordered());
  }
  std::vector<Vertex*> out;
  for (Vertex* a : v->arcs)
    if (!a->label.is_let() && !a->label.is_int()) out.push_back(a);
  return out;
}

ArcOrder::ArcOrder(const Sources& sources) : sources_(sources) {}
ArcOrder::~ArcOrder() = default;

std::size_t ArcOrder::Hash::operator()(const Key& k) const {
  u64 h = k.size();
  for (u64 x : k) h = (h ^ x ^ h >> 29) * 0x9e3779b97f4a7c15u;
  return static_cast<std::size_t>(h ^ h >> 32);
}

namespace {

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
      if (structs[i].comp_id != 0 || !structs[i].direct || expression_of(v->conjuncts[i].x) != lit || !at ||
          (i > 0 && !(last < at)))
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

}  // namespace

void ArcOrder::of(Vertex* v, std::vector<Vertex*>& out) {
  constexpr std::size_t kMost = 64;  // larger ones are rarely alike
  if (as_declared(sources_, v)) {
    out.assign(v->arcs.begin(), v->arcs.end());
    return;
  }
  if (v->arcs.size() < 2 || v->arcs.size() > kMost || v->structs().size() > kMost) {
    out = ordered_arcs(sources_, v);
    return;
  }
  if (!written_) written_ = std::make_unique<WrittenOrder>(sources_);
  WrittenOrder& written = *written_;
  written.look_at(v);
  bool short_enough = written.describe(key_);
  if (auto it = short_enough ? known_.find(key_) : known_.end(); it != known_.end()) {
    out.clear();
    for (u32 i : it->second) out.push_back(v->arcs[i]);
    return;
  }
  out = in_order(v, written.ordered());
  if (!short_enough) return;
  std::vector<u32> positions;
  for (const Vertex* a : out)
    positions.push_back(static_cast<u32>(std::find(v->arcs.begin(), v->arcs.end(), a) - v->arcs.begin()));
  known_.emplace(key_, std::move(positions));
}

}  // namespace tutti::cue
