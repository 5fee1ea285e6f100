#include "lang/cue/export/order.h"

#include <algorithm>
#include <queue>
#include <unordered_map>

namespace tutti::cue {

namespace {

struct Meta {
  StructInfo info;
  Pos pos;                 // of the literal, or of the reference it came through
  bool explicit_ = false;  // an operand of &
};

struct GraphNode {
  Label label;
  std::vector<u32> out;
  const Meta* meta = nullptr;  // the literal that placed it last
};

class Order {
 public:
  Order(const Sources& sources, Vertex* v) : sources_(sources), v_(v) {}

  std::vector<Label> run() {
    if (v_->structs.empty()) {  // made, not written: as it was made
      for (Vertex* a : v_->arcs) result_.push_back(a->label);
      return result_;
    }
    if (simple()) return result_;
    analyse();
    place();
    return sorted();
  }

 private:
  const Source* file(Pos p) {
    if (!p) return nullptr;
    if (last_file_ && p.at >= last_file_->first.at && p.at <= last_file_->first.at + last_file_->text.size())
      return last_file_;
    return last_file_ = sources_.find(p);
  }

  std::string_view file_name(Pos p) {
    const Source* s = file(p);
    return s ? std::string_view(s->name) : std::string_view{};
  }

  // By file name and place; no place comes last.
  int compare(Pos a, Pos b) {
    if (a == b) return 0;
    if (!a) return 1;
    if (!b) return -1;
    const Source *fa = file(a), *fb = file(b);
    if (fa != fb && fa && fb)
      if (int c = fa->name.compare(fb->name)) return c;
    return a < b ? -1 : 1;
  }

  // One literal that declares all fields there are: its order is theirs.
  bool simple() {
    if (v_->structs.size() != 1 || v_->structs[0].comp_id != 0) return false;
    std::size_t fields = 0;
    for (Node* d : v_->structs[0].lit->decls) {
      if (d->type != NodeType::kField) {
        if (d->type == NodeType::kLetField || d->type == NodeType::kEllipsis || d->type == NodeType::kPattern) continue;
        return false;
      }
      Label l = to<Field>(d)->label;
      if (fields > 64) {
        if (!seen_.insert({l.bits(), 0}).second) continue;
      } else if (std::find(result_.begin(), result_.end(), l) != result_.end()) {
        continue;
      }
      result_.push_back(l);
      if (++fields == 65)
        for (Label x : result_) seen_.insert({x.bits(), 0});
    }
    // Are there arcs from elsewhere?
    std::size_t known = 0;
    for (Vertex* a : v_->arcs) {
      if (a->label.is_let()) continue;
      bool found = fields > 64 ? seen_.count(a->label.bits()) > 0
                               : std::find(result_.begin(), result_.end(), a->label) != result_.end();
      if (!found) {
        result_.clear();
        seen_.clear();
        return false;
      }
      ++known;
    }
    return true;
  }

  u32 node(Label l) {
    auto [it, fresh] = seen_.try_emplace(l.bits(), static_cast<u32>(nodes_.size()));
    if (fresh) nodes_.push_back({l, {}, nullptr});
    return it->second;
  }

  bool dynamic(const Meta& m) const {
    for (Node* d : m.info.lit->decls)
      if (d->type == NodeType::kDynamicField && dynamic_.count(d)) return true;
    return false;
  }

  void link(const Node* n, u32 meta) {
    auto& list = by_node_[n];
    if (std::find(list.begin(), list.end(), meta) == list.end()) list.push_back(meta);
  }

  // Finds for each literal where it came from, and which ones are operands of &.
  void analyse() {
    metas_.reserve(v_->structs.size());
    for (const StructInfo& s : v_->structs) {
      u32 i = static_cast<u32>(metas_.size());
      metas_.push_back({s, s.lit->pos, false});
      link(s.lit, i);
      for (Node* d : s.lit->decls) link(d, i);
    }
    for (Vertex* arc : v_->arcs) {
      if (arc->label.is_let()) continue;
      node(arc->label);
      for (const Conjunct& c : arc->conjuncts) {
        if (c.x->type == NodeType::kDynamicField) dynamic_[c.x].push_back(arc->label);
        auto it = by_node_.find(c.x);
        if (it == by_node_.end()) continue;
        std::vector<u32> metas = it->second;
        if (c.x->pos)
          for (u32 m : metas) metas_[m].pos = c.x->pos;
        const RefNode* ref = c.ci.refs;
        if (!ref) continue;
        while (ref->next) ref = ref->next;
        for (u32 m : metas) link(ref->ref, m);
        if (ref->ref->pos)
          for (u32 m : by_node_[ref->ref]) metas_[m].pos = ref->ref->pos;
      }
    }
    std::vector<Node*> work;
    for (const Conjunct& c : v_->conjuncts) work.push_back(expression_of(c.x));
    for (const StructInfo& s : v_->structs)
      for (Node* d : s.lit->decls)
        if (d->is_expr()) work.push_back(d);
    while (!work.empty()) {
      Node* x = work.back();
      work.pop_back();
      if (!x || x->type != NodeType::kBinary || to<Binary>(x)->op != Op::kAnd) continue;
      for (Node* side : {to<Binary>(x)->x, to<Binary>(x)->y}) {
        if (auto it = by_node_.find(side); it != by_node_.end())
          for (u32 m : it->second) metas_[m].explicit_ = true;
        work.push_back(side);
      }
    }
  }

  using Batch = std::vector<Meta*>;
  static bool explicit_batch(const Batch& b) { return b.size() > 1 || (b.size() == 1 && b[0]->explicit_); }

  void add_batch(Batch& batch) {
    if (batch.empty()) return;
    if (!batches_.empty() && explicit_batch(batch) && explicit_batch(batches_.back()) &&
        file_name(batch[0]->pos) == file_name(batches_.back()[0]->pos))
      batches_.back().insert(batches_.back().end(), batch.begin(), batch.end());
    else
      batches_.push_back(std::move(batch));
    batch.clear();
  }

  void place() {
    std::stable_sort(metas_.begin(), metas_.end(), [&](const Meta& a, const Meta& b) {
      if (int c = compare(a.pos, b.pos)) return c < 0;
      return !dynamic(a) && dynamic(b);
    });
    Batch batch;
    for (Meta& m : metas_) {
      if (batch.empty() || (batch[0]->pos == m.pos && !dynamic(m))) {
        batch.push_back(&m);
      } else {
        add_batch(batch);
        batch.push_back(&m);
      }
    }
    add_batch(batch);
    std::vector<u32> previous, next;
    const Batch* before = nullptr;
    for (Batch& b : batches_) {
      bool together = explicit_batch(b);
      if (before && file_name((*before)[0]->pos) != file_name(b[0]->pos)) previous.clear();
      for (Meta* m : b) {
        m->explicit_ = together;
        std::vector<u32> tail = chain(previous, *m);
        next.insert(next.end(), tail.begin(), tail.end());
      }
      previous = std::move(next);
      next.clear();
      before = &b;
    }
  }

  std::vector<u32> chain(std::vector<u32> previous, const Meta& m) {
    for (Node* d : m.info.lit->decls) {
      Label l;
      if (d->type == NodeType::kField) {
        l = to<Field>(d)->label;
      } else if (d->type == NodeType::kDynamicField) {
        auto it = dynamic_.find(d);
        if (it == dynamic_.end() || it->second.empty()) continue;
        l = it->second.front();
        it->second.erase(it->second.begin());
      } else {
        continue;
      }
      bool known = seen_.count(l.bits()) > 0;
      u32 n = node(l);
      const Meta* placed = nodes_[n].meta;
      if (known && placed == &m) continue;
      if (known && !m.explicit_ && m.pos && placed && file_name(placed->pos) == file_name(m.pos)) continue;
      nodes_[n].meta = &m;
      for (u32 p : previous) {
        auto& out = nodes_[p].out;
        if (out.empty() || out.back() != n)
          if (std::find(out.begin(), out.end(), n) == out.end()) out.push_back(n);
      }
      previous.assign(1, n);
    }
    return previous;
  }

  bool less(u32 a, u32 b) const {
    Label x = nodes_[a].label, y = nodes_[b].label;
    if (x.is_int() != y.is_int()) return x.is_int();
    if (x.is_int()) return x.index() < y.index();
    return x.name() < y.name();
  }

  // Strongly connected components, without recursion on the number of fields.
  void components(std::vector<u32>& component, std::vector<std::vector<u32>>& members) {
    u32 n = static_cast<u32>(nodes_.size()), counter = 0;
    constexpr u32 kNone = 0xFFFFFFFF;
    std::vector<u32> index(n, kNone), low(n, 0), stack;
    std::vector<bool> on_stack(n, false);
    component.assign(n, kNone);
    struct Frame {
      u32 node;
      std::size_t edge;
    };
    std::vector<Frame> work;
    for (u32 start = 0; start < n; ++start) {
      if (index[start] != kNone) continue;
      work.push_back({start, 0});
      while (!work.empty()) {
        u32 cur = work.back().node;
        if (work.back().edge == 0) {
          index[cur] = low[cur] = counter++;
          stack.push_back(cur);
          on_stack[cur] = true;
        }
        bool deeper = false;
        while (work.back().edge < nodes_[cur].out.size()) {
          u32 to = nodes_[cur].out[work.back().edge++];
          if (index[to] == kNone) {
            work.push_back({to, 0});
            deeper = true;
            break;
          }
          if (on_stack[to]) low[cur] = std::min(low[cur], index[to]);
        }
        if (deeper) continue;
        if (low[cur] == index[cur]) {
          members.emplace_back();
          for (;;) {
            u32 m = stack.back();
            stack.pop_back();
            on_stack[m] = false;
            component[m] = static_cast<u32>(members.size() - 1);
            members.back().push_back(m);
            if (m == cur) break;
          }
        }
        work.pop_back();
        if (!work.empty()) {
          u32 parent = work.back().node;
          low[parent] = std::min(low[parent], low[cur]);
        }
      }
    }
  }

  std::vector<Label> sorted() {
    std::vector<u32> component;
    std::vector<std::vector<u32>> members;
    components(component, members);
    u32 n = static_cast<u32>(members.size());
    for (auto& m : members) std::sort(m.begin(), m.end(), [&](u32 a, u32 b) { return less(a, b); });
    std::vector<std::vector<u32>> out(n);
    std::vector<u32> waiting(n, 0);
    for (u32 i = 0; i < nodes_.size(); ++i)
      for (u32 to : nodes_[i].out)
        if (component[i] != component[to]) out[component[i]].push_back(component[to]);
    for (auto& o : out) {
      std::sort(o.begin(), o.end());
      o.erase(std::unique(o.begin(), o.end()), o.end());
      for (u32 to : o) ++waiting[to];
    }
    auto later = [&](u32 a, u32 b) { return less(members[b][0], members[a][0]); };
    std::priority_queue<u32, std::vector<u32>, decltype(later)> ready(later);
    for (u32 i = 0; i < n; ++i)
      if (waiting[i] == 0) ready.push(i);
    result_.clear();
    while (!ready.empty()) {
      u32 c = ready.top();
      ready.pop();
      for (u32 m : members[c]) result_.push_back(nodes_[m].label);
      for (u32 to : out[c])
        if (--waiting[to] == 0) ready.push(to);
    }
    return std::move(result_);
  }

  const Sources& sources_;
  Vertex* v_;
  const Source* last_file_ = nullptr;
  std::vector<Label> result_;
  std::unordered_map<u32, u32> seen_;
  std::vector<GraphNode> nodes_;
  std::vector<Meta> metas_;
  std::unordered_map<const Node*, std::vector<u32>> by_node_;
  std::unordered_map<const Node*, std::vector<Label>> dynamic_;
  std::vector<Batch> batches_;
};

}  // namespace

std::vector<Label> field_order(const Sources& sources, Vertex* v) { return Order(sources, v).run(); }

std::vector<Vertex*> ordered_arcs(const Sources& sources, Vertex* v) {
  std::vector<Vertex*> out;
  out.reserve(v->arcs.size());
  for (Label l : field_order(sources, v)) {
    if (l.is_int() || l.is_let()) continue;
    if (Vertex* a = v->find_raw(l)) out.push_back(a);
  }
  return out;
}

}  // namespace tutti::cue
