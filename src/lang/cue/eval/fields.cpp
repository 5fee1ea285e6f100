#include "lang/cue/eval/context.h"
#include "lang/cue/eval/scalar.h"

namespace tutti::cue {

// ---- arcs by label

// Open addressing over the positions of arcs; kept once a vertex has many.
struct ArcIndex {
  u32 mask;
  Ref<u32> slots;  // 1 + position
};

namespace {
constexpr u32 kIndexed = 16;
u32 hash_label(Label l) { return l.bits() * 0x9E3779B1u; }
// The elements of a list lie at their positions and need no index, however many there are.
bool at_its_position(Label l, u32 at) { return l == Label::integer(at); }
}  // namespace

Vertex* Vertex::copy(NodeStore& store) const {
  Vertex* v = store.make<Vertex>(*this);
  if (rare) v->rare = store.arena().make<Rare>(*rare);
  return v;
}

Vertex* Vertex::find_raw(Label l) const {
  ArcIndex* index = rare ? rare->index.get() : nullptr;
  if (!index && arcs.size() >= kIndexed) return l.is_int() && l.index() < arcs.size() ? arcs[l.index()].get() : nullptr;
  if (!index) {
    for (Vertex* a : arcs)
      if (a->label == l) return a;
    return nullptr;
  }
  for (u32 i = hash_label(l) >> 7 & index->mask;; i = (i + 1) & index->mask) {
    u32 at = index->slots.get()[i];
    if (!at) return nullptr;
    if (at <= arcs.size() && arcs[at - 1]->label == l) return arcs[at - 1];
  }
}

void Vertex::reindex(Room& room) {
  u32 row = 0;
  if (arcs.size() >= kIndexed)
    while (row < arcs.size() && at_its_position(arcs[row]->label, row)) ++row;
  if (row == arcs.size() || arcs.size() < kIndexed) {
    if (rare) rare->index = nullptr;
    return;
  }
  Ref<ArcIndex>& index = make_rare(room).index;
  u32 size = 64;
  while (size < arcs.size() * 2) size *= 2;
  if (!index || index->mask + 1 < size) {
    if (!index)
      index = room.make<ArcIndex>();
    else
      room.give(index->slots, (index->mask + 1) * sizeof(u32));
    index->slots = static_cast<u32*>(room.take(size * sizeof(u32)));
    index->mask = size - 1;
  }
  std::fill_n(index->slots.get(), index->mask + 1, 0u);
  for (u32 j = 0; j < arcs.size(); ++j) {
    u32 i = hash_label(arcs[j]->label) >> 7 & index->mask;
    while (index->slots.get()[i]) i = (i + 1) & index->mask;
    index->slots.get()[i] = j + 1;
  }
}

void Vertex::add_arc(Room& room, Vertex* arc) {
  arcs.push(room, Ref(arc));
  if (arcs.size() < kIndexed) return;
  ArcIndex* index = rare ? rare->index.get() : nullptr;
  if (!index && arcs.size() > kIndexed && at_its_position(arc->label, arcs.size() - 1)) return;
  if (!index || arcs.size() + arcs.size() / 4 > index->mask) return reindex(room);
  u32 i = hash_label(arc->label) >> 7 & index->mask;
  while (index->slots.get()[i]) i = (i + 1) & index->mask;
  index->slots.get()[i] = arcs.size();
}

bool allowed_in_closed(Label l) { return l.is_hidden() || l.is_def() || l.is_let(); }

// ---- adding fields

void Context::update_arc_type(Vertex* v, ArcType t) {
  State* s = v->state;
  if (v->arc_type == ArcType::kPending && s && s->frozen & kArcTypeKnown) {
    field_error(v->parent, src, v->label, "cyclic reference to field {}", "cyclic reference to field {}");
    return;
  }
  if (t >= v->arc_type || v->arc_type == ArcType::kNotPresent) return;
  if (v->parent && v->parent->arc_type == ArcType::kPending && v->parent->state) v->parent->state->unshare();
  v->arc_type = t;
}

bool Context::is_defined(Vertex* v) {
  if (v->arc_type == ArcType::kMember) return true;
  if (v->parent && v->parent->status == Status::kFinalized) return false;
  finalize(v);
  return v->arc_type == ArcType::kMember;
}

Vertex* State::get_arc(Label l, ArcType mode, bool* added) {
  Vertex* v = node;
  if (added) *added = false;
  if (Vertex* a = v->find_raw(l)) {
    if (l.is_let()) a->multi_let = true;
    ctx.update_arc_type(a, mode);
    return a;
  }
  Vertex* arc = ctx.new_vertex();
  ctx.budget.node();
  arc->parent = v;
  arc->label = l;
  arc->arc_type = mode;
  arc->non_rooted = v->is_dynamic || v->non_rooted;
  arc->anonymous = v->anonymous || v->label.is_let();
  if (frozen & kFieldSetKnown) {
    ++ctx.doubts;
    ctx.add_bottom(ctx.fail("adding field {} not allowed as field set was already referenced", l));
    arc->arc_type = ArcType::kNotPresent;
  }
  v->add_arc(ctx.arena, arc);
  if (added) *added = true;
  return arc;
}

namespace {
// The same for conjuncts that say the same.
u64 conjunct_key(const Conjunct& c, u64 scopes) {
  u64 h = reinterpret_cast<std::uintptr_t>(c.x);
  for (const Environment* e = c.env; e && scopes; e = e->up, scopes >>= 1)
    if (scopes & 1)
      h = (h + e->dynamic_label.bits()) * 0x9e3779b97f4a7c15u + reinterpret_cast<std::uintptr_t>(e->vertex.get());
  return h;
}
constexpr u32 kManyConjuncts = 32;
}  // namespace

// Whether the vertex may have this conjunct already. Of a vertex that is declared in thousands of places the answer is
// mostly no, and found without looking at all of them.
bool State::may_have(const Conjunct& c) {
  if (node->conjuncts.size() < kManyConjuncts || !ctx.overlays.empty()) return true;
  if (keyed > node->conjuncts.size()) keyed = 0;
  if (!keys) keys = std::make_unique<std::unordered_set<u64>>();
  auto key = [&](const Conjunct& x) { return conjunct_key(x, ctx.scopes_of(expression_of(x.x))); };
  for (; keyed < node->conjuncts.size(); ++keyed) keys->insert(key(node->conjuncts[keyed]));
  return keys->contains(key(c));
}

void Context::insert_conjunct(Vertex* v, Conjunct c, const CloseInfo& id, ArcType mode, bool check, bool* added) {
  if (added) *added = false;
  if (v->status == Status::kFinalized) return;
  State* n = v->state;
  // Most vertices are leaves that never need a state. Where one of several alternatives is being tried only those are
  // taken for leaves that have just a value.
  bool tried = !overlays.empty() || !v->parent || !v->parent->state || v->parent->state->is_disjunct;
  bool just_value = v->conjuncts.empty() && mode == ArcType::kMember && is_scalar(expression_of(c.x));
  if (!n && (v->conjuncts.size() >= kManyConjuncts || (tried && !just_value)))
    n = v->taken_in ? state(v) : bare_state(v);
  if (n)
    n->mark_non_cyclic(id);
  else if (begin(v); id.cycle == Cycle::kNone || id.cycle == Cycle::kOptional)
    v->has_plain_part = true;
  update_arc_type(v, mode);
  const KeptConjunct* same = nullptr;
  if (check && (!n || n->may_have(c))) {
    budget.step(v->conjuncts.size() / kLookedAtInAStep);
    for (auto& x : v->conjuncts)
      if (x.x == c.x && same_conjunct(x, c)) {
        same = &x;
        break;
      }
  }
  if (!same) {
    v->conjuncts.push(arena, c);
    if (added) *added = true;
  } else if (same->ci->def) {
    if (!n) n = bare_state(v);
    n->add_replacement({id.def, same->ci->def});
  }
  if (!n) return;
  // on a cycle the same comes by again and again
  if (same && (id.is_cyclic() || unfolding)) return;
  if (v->status != Status::kFinalized && n->initialized) n->schedule_conjunct(c, id);
  if (same) return;  // they have it
  for (std::size_t i = 0; i < n->notify.size(); ++i) {
    Receiver r = n->notify[i];
    if (!r.v->state || r.v->status == Status::kFinalized) continue;
    r.v->state->schedule_conjunct(c, r.ci);
  }
}

Vertex* State::insert_arc(Label l, ArcType mode, const Conjunct& c, const CloseInfo& id, bool check) {
  Vertex* v = get_arc(l, mode);
  ArcScope arc(ctx, v);
  bool added = false;
  ctx.insert_conjunct(v, c, id, mode, check, &added);
  if (!added || !node->patterns()) return v;
  auto& pairs = node->patterns()->pairs;
  for (u32 i = 0; i < pairs.size(); ++i) {
    if (!ctx.match_pattern(pairs[i].pattern, l)) continue;
    Vertex* p = pairs[i].constraint;
    for (u32 j = 0; j < p->conjuncts.size(); ++j) add_constraint(v, mode, p->conjuncts[j], check);
  }
  return v;
}

void State::add_constraint(Vertex* arc, ArcType mode, Conjunct c, bool check) {
  // what does not look at the label it is for needs no scope of its own
  if (c.env && ctx.scopes_of(expression_of(c.x)) & 1) {
    auto* env = ctx.arena.make<Environment>(*c.env);
    env->lets = nullptr;
    env->dynamic_label = arc->label;
    c.env = env;
  }
  ctx.insert_conjunct(arc, c, c.ci, mode, check, nullptr);
}

bool State::insert_constraint(Node* pattern, const Conjunct& c) {
  Ref<Patterns>& list = node->make_rare(ctx.arena).patterns;
  if (!list) list = ctx.arena.make<Patterns>();
  auto& pairs = list->pairs;
  Vertex* constraint = nullptr;
  for (auto& p : pairs)
    if (ctx.equal(p.pattern, pattern, false)) {
      constraint = p.constraint;
      break;
    }
  if (!constraint) {
    constraint = ctx.new_vertex();
    constraint->is_pattern = true;
    pairs.push(ctx.arena, {Ref(pattern), Ref(constraint)});
  } else {
    for (auto& x : constraint->conjuncts)
      if (ctx.same_conjunct(x, c)) {
        add_replacement({c.ci.def, x.ci->def});
        return false;
      }
  }
  constraint->conjuncts.push(ctx.arena, c);
  return true;
}

void State::insert_pattern(Node* pattern, const Conjunct& c) {
  if (!insert_constraint(pattern, c)) return;
  for (u32 i = 0; i < node->arcs.size(); ++i) {
    Vertex* a = node->arcs[i];
    if (a->arc_type == ArcType::kPending) continue;
    if (ctx.match_pattern(pattern, a->label)) add_constraint(a, a->arc_type, c, true);
  }
}

void State::update_list(Node* list, const CloseInfo& id, bool closed) {
  if (kind == kBottomKind) return;
  ListMarker* m;
  if (node->is_list()) {
    m = to<ListMarker>(node->base);
    // never change one that another vertex may hold
    if (m->open && closed) node->base = m = ctx.store.make<ListMarker>(false);
  } else {
    node->base = ctx.store.make<ListMarker>(!closed);
  }
  if (kind != kListKind) update_kind(kListKind, list, id);
}

}  // namespace tutti::cue
