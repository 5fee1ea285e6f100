#include <algorithm>
#include <optional>

#include "lang/cue/eval/evidence.h"

// Closedness, checked when a vertex is complete. Every reference, embedding and struct literal that conjuncts come
// through has a number, contained in that of what it was written in. A definition that was unified in makes a
// requirement: each field must have a conjunct whose number is contained in it.
namespace tutti::cue {

DefId Context::next_def(const Node* n) {
  containments.push_back({0, n ? n->pos : Pos{}});
  return static_cast<DefId>(containments.size() - 1);
}

void State::add_replacement(ReplaceId r) {
  if (r.from == 0 || r.from == r.to) return;
  if (r.from < r.to && ctx.containments[r.to].id == 0) {
    ctx.containments[r.to].id = r.from;
    return;
  }
  computed_close_info = false;
  req_sets.clear();
  replaces.push_back(r);
}

void State::update_info(Kinds k, const CloseInfo& id, u8 flags) {
  if (ConjunctInfo* c = find_first(infos, infos_index, id.def, [](const ConjunctInfo& x) { return x.id; })) {
    c->kind &= k;
    c->flags |= flags;
    return;
  }
  infos.push_back({id.def, id.embed, k, flags});
}

CloseInfo State::add_resolver(Node* p, Vertex* v, CloseInfo id, bool force_ignore) {
  bool close_outer = id.from_def && id.from_embed && !id.opened && !id.conjunct_opened;
  if (close_outer && !force_ignore) {
    // their numbers ascend, and that of what contains one is smaller
    for (DefId outer = id.outer; outer != 0;) {
      auto x = std::lower_bound(reqs.begin(), reqs.end(), outer, [](const RefInfo& r, DefId n) { return r.id < n; });
      if (x == reqs.end() || x->id != outer) break;
      x->ignore = false;
      if (v->closed_recursive) x->recursive = true;
      outer = x->parent < outer ? x->parent : 0;
    }
  }
  bool ignore;
  if (force_ignore || id.opened)
    ignore = true;
  else if (id.embed != 0 || id.outer == 0)
    ignore = !(id.from_def || v->closed_once || v->closed_recursive);
  else
    ignore = id.from_embed;

  DefId dst = 0;
  bool looser = false;  // the one that is there admits what stands beside where it is embedded
  if (RefInfo* x =
          find_first(reqs, reqs_index, Region::place(v), [](const RefInfo& r) { return Region::place(r.v); })) {
    dst = x->id;
    looser = x->embed != 0 && !x->ignore && id.embed == 0 && !ignore && id.def == 0;
    if (x->ignore && !ignore) {
      x->ignore = false;
      x->parent = id.outer;
      x->embed = id.embed;
    }
  }
  if (dst == 0 || id.embed != 0 || looser) {
    DefId next = ctx.next_def(p);
    if (dst != 0) add_replacement({next, dst});
    dst = next;
    reqs.push_back({v, dst, id.outer, id.embed, ignore, DefKind::kReference, v->closed_recursive, id.conjunct_opened});
  }
  DefId from = id.def;
  id.def = dst;
  add_replacement({from, dst});
  return id;
}

CloseInfo State::new_req(Node* p, CloseInfo id, DefKind k) {
  DefId dst = ctx.next_def(p);
  add_replacement({id.def, dst});
  DefId parent = id.def;
  id.def = dst;
  if (k == DefKind::kEmbedding)
    id.embed = dst;
  else
    id.outer = dst;
  reqs.push_back({ctx.empty_node, dst, parent, id.embed, true, k, id.from_def, false});
  return id;
}

CloseInfo State::inject_embed(Node* x, bool explicit_open, CloseInfo id) {
  if (explicit_open) return id;
  id.from_embed = true;
  if (x->type == NodeType::kBinary && to<Binary>(x)->op != Op::kAnd) return id;
  return new_req(x, id, DefKind::kEmbedding);
}

CloseInfo State::split_struct(StructLit* s, CloseInfo id) {
  if (s->explicit_open || id.outer != 0 || id.from_embed || s->is_file) return id;
  return new_req(s, id, DefKind::kStruct);
}

namespace {
bool has_any(const List<ConjunctInfo>& infos, u8 flags) {
  return std::ranges::any_of(infos, [&](const ConjunctInfo& c) { return (c.flags & flags) != 0; });
}
}  // namespace

// One for all vertices: what it has made room for serves the next.
Evidence& Context::evidence() {
  if (!evidence_) evidence_ = std::make_unique<Evidence>(*this);
  return *evidence_;
}

void State::check_typos() {
  Vertex* v = node->deref_value();
  if (v->arcs.empty()) return;
  if (v->base && v->base->type == NodeType::kBottom) {
    auto* wrong = to<Bottom>(v->base);
    bool below = ctx.every_error && wrong->child_error && !wrong->incomplete();
    if (!wrong->close_check && !below) return;
  }
  auto& base = required();
  if (base.empty()) return;
  Bottom* err = nullptr;
  List<ReqSet> copy;
  // whether an ellipsis lifts a requirement does not depend on the arc
  bool ellipsis = has_any(infos, kHasEllipsis);
  std::vector<bool> lifted;
  auto lift = [&](List<ReqSet>& list) {
    if (!ellipsis) return;
    if (lifted.empty()) {
      lifted.resize(base.size());
      find_ellipses(infos, base);
      for (std::size_t i = 0; i < base.size(); ++i) lifted[i] = ctx.ellipsis_in.get(base[i].id) != 0;
    }
    for (std::size_t i = 0; i < list.size(); ++i)
      if (lifted[i]) list[i].removed = true;
  };
  bool base_lifted = false, saw_leaf = false;
  Evidence* evidence = nullptr;
  if (base.size() > 8) {
    ctx.requirement_at.clear();
    for (std::size_t i = base.size(); i-- > 0;) ctx.requirement_at.at(base[i].id) = static_cast<u32>(i + 1);
  }
  auto holds = [&](State& arc, List<ReqSet>& req) {
    constexpr std::size_t kBits = 32;
    bool many = base.size() > 8;
    if (many && &req == &base) {
      arc.flatten_replaces();
      if (arc.flat_replaces.empty()) {
        if (!evidence) (evidence = &ctx.evidence())->begin(base);
        return evidence->holds({arc.infos.begin(), arc.infos.end()});
      }
    }
    return many && arc.infos.size() <= kBits ? arc.evidence_for_many(req, arc.infos)
                                             : arc.evidence_for_all(req, arc.infos);
  };
  for (u32 i = 0; i < v->arcs.size(); ++i) {
    Label l = v->arcs[i]->label;
    Vertex* a = v->arcs[i]->deref_disjunct();
    State* na = a->state;
    if (a->is_leaf) {
      na = &leaf_view(a, !std::exchange(saw_leaf, true));
    } else if (!na) {
      continue;
    }
    List<ReqSet>* req = &base;
    if (!na->replaces.empty()) {
      copy = base;
      req = &copy;
      lift(copy);
    } else if (!base_lifted) {
      lift(base);
      base_lifted = true;
    }
    if (a->base && a->base->type == NodeType::kBottom && !to<Bottom>(a->base)->close_check) continue;
    if (allowed_in_closed(l)) continue;
    if (holds(*na, *req)) continue;
    Bottom* b = nullptr;
    ctx.not_allowed(a, &b);
    if (b && a->arc_type <= ArcType::kRequired) err = ctx.combine(err, b);
  }
  if (evidence) evidence->end();
  if (err) ctx.add_child_error(this, err);
}

void Context::not_allowed(Vertex* arc, Bottom** out) {
  if (arc->arc_type == ArcType::kPending || has_err()) return;
  ArcScope scope(*this, arc);
  std::vector<Pos> at;
  for (auto& c : arc->conjuncts)
    if (c.x->pos) at.push_back(c.x->pos);
  Bottom* b = fail("field not allowed");
  b->error->others = store.keep(at);
  b->error->among = arc->parent;
  b->close_check = true;
  arc->base = b;
  arc->status = Status::kFinalized;
  if (arc->state) arc->state->kind = 0;
  *out = b;
}

bool State::evidence_for_all(List<ReqSet>& a, const List<ConjunctInfo>& list) {
  for (std::size_t i = 0; i < a.size(); ++i)
    if (!a[i].ignored && !a[i].removed && !evidence_for_one(a, i, list)) return false;
  return true;
}

bool State::evidence_for_one(List<ReqSet>& all, std::size_t i, const List<ConjunctInfo>& list) {
  const ReqSet& a = all[i];
  for (auto& x : list)
    if (x.id == a.id) return true;
  for (auto& x : list)
    if (contains(a.id, x.id)) return true;
  auto set = [&](DefId id) -> const ReqSet* {
    if (id)
      for (auto& r : all)
        if (r.id == id) return &r;
    return nullptr;
  };
  const ReqSet* embed = set(a.embed);
  if (!embed) return false;
  if (a.conjunct_opened && a.parent == 0) {
    for (auto& c : list)
      if (contains(embed->id, c.embed)) return false;
    return true;
  }
  const ReqSet* outer = set(a.parent);
  for (auto& c : list) {
    if (contains(embed->id, c.embed)) continue;
    if (a.parent == 0) {
      if (embed->parent != 0 && !set(embed->parent)) continue;
      return true;
    }
    if (!outer || outer->removed) return true;
    if (contains(outer->id, c.id)) return true;
  }
  return false;
}

void State::flatten_replaces() {
  if (computed_flat) return;
  flat_replaces.clear();
  for (State* p = this; p; p = p->node->parent ? p->node->parent->state.get() : nullptr)
    flat_replaces.insert(flat_replaces.end(), p->replaces.begin(), p->replaces.end());
  std::sort(flat_replaces.begin(), flat_replaces.end(),
            [](const ReplaceId& a, const ReplaceId& b) { return a.to > b.to; });
  computed_flat = true;
  if (!flat_replaces.empty()) min_flat_to = flat_replaces.back().to;
}

// Calls each(id) for everything that child is contained in, itself included, each once.
template <class F>
void State::walk_out(DefId child, F each) {
  ctx.todo.clear();
  ctx.todo.push_back(child);
  while (!ctx.todo.empty()) {
    DefId p = ctx.todo.back();
    ctx.todo.pop_back();
    for (; p != 0 && each(p); p = ctx.containments[p].id) {
      if (p < min_flat_to || flat_replaces.empty()) continue;
      auto r = std::lower_bound(flat_replaces.begin(), flat_replaces.end(), p,
                                [](const ReplaceId& x, DefId id) { return x.to > id; });
      for (; r != flat_replaces.end() && r->to == p; ++r) ctx.todo.push_back(r->from);
    }
  }
}

bool State::contains(DefId of, DefId child) {
  if (of == child) return true;
  flatten_replaces();
  if (flat_replaces.empty()) {
    DefId p = child;
    while (p != 0 && p != of) p = ctx.containments[p].id;
    return p == of;
  }
  // A walk each is the quickest for a few questions; for many, what a number is contained in is written down once.
  constexpr u32 kMany = 64;
  if (containment_queries >= kMany) {
    auto& all = ancestry(child).all;
    return std::binary_search(all.begin(), all.end(), of);
  }
  ++containment_queries;
  bool found = false;
  ctx.visited.clear();
  walk_out(child, [&](DefId p) {
    found |= p == of;
    u32& seen = ctx.visited.at(p);
    return !found && !std::exchange(seen, 1);
  });
  return found;
}

const Ancestry& State::ancestry(DefId child) {
  auto at = std::lower_bound(ancestries.begin(), ancestries.end(), child,
                             [](const Ancestry& a, DefId id) { return a.of < id; });
  if (at != ancestries.end() && at->of == child) return *at;
  Ancestry a{child, {}};
  ctx.visited.clear();
  walk_out(child, [&](DefId p) {
    u32& seen = ctx.visited.at(p);
    if (seen) return false;
    seen = 1;
    a.all.push_back(p);
    return true;
  });
  std::sort(a.all.begin(), a.all.end());
  return *ancestries.insert(at, std::move(a));
}

// The same answers as evidence_for_all for many requirements: which conjuncts are contained in what is worked out once,
// as bits, instead of for each requirement.
bool State::evidence_for_many(List<ReqSet>& all, const List<ConjunctInfo>& list) {
  flatten_replaces();
  auto mark = [&](IdMap& map, DefId child, u32 bit) {
    walk_out(child, [&](DefId p) {
      u32& bits = map.at(p);
      if (bits & bit) return false;
      bits |= bit;
      return true;
    });
  };
  ctx.reached.clear();
  ctx.reached_embed.clear();
  for (std::size_t i = 0; i < list.size(); ++i) {
    mark(ctx.reached, list[i].id, u32{1} << i);
    if (list[i].embed) mark(ctx.reached_embed, list[i].embed, u32{1} << i);
  }
  u32 everyone = list.size() == 32 ? ~u32{0} : (u32{1} << list.size()) - 1;
  auto set = [&](DefId id) -> const ReqSet* {
    u32 at = id ? ctx.requirement_at.get(id) : 0;
    return at ? &all[at - 1] : nullptr;
  };
  for (const ReqSet& a : all) {
    if (a.ignored || a.removed || ctx.reached.get(a.id)) continue;
    const ReqSet* embed = set(a.embed);
    if (!embed) return false;
    u32 inside = ctx.reached_embed.get(embed->id);
    if (a.conjunct_opened && a.parent == 0) {
      if (inside) return false;
      continue;
    }
    u32 outside = everyone & ~inside;
    if (!outside) return false;
    if (a.parent == 0) {
      if (embed->parent != 0 && !set(embed->parent)) return false;
      continue;
    }
    const ReqSet* outer = set(a.parent);
    if (!outer || outer->removed) continue;
    if (!(outside & ctx.reached.get(outer->id))) return false;
  }
  return true;
}

List<ReqSet>& State::required() {
  if (computed_close_info) return req_sets;
  List<ReqSet>& a = req_sets;
  a.clear();
  if (Vertex* p = node->parent; p && !drop_parent_requirements && p->state) a = p->state->required();
  for (auto& e : a)
    if (e.once) e.ignored = true;
  std::size_t inherited = a.size();
  IdMap& place = ctx.required_at;  // 1 + where in `a` a number is
  place.clear();
  for (std::size_t i = reqs.empty() ? 0 : a.size(); i-- > 0;) place.at(a[i].id) = static_cast<u32>(i + 1);
  for (auto& y : reqs) {
    if (y.kind == DefKind::kReference && (y.ignore || y.v->says_nothing())) continue;
    u32& at = place.at(y.id);
    if (at) continue;
    at = static_cast<u32>(a.size() + 1);
    bool once = false;
    if (y.v && y.kind != DefKind::kEmbedding) {
      once = y.v->closed_once;
      if (!y.ignore && !y.recursive) once = true;
    }
    a.push_back({y.id, y.parent, y.embed, y.kind, once, y.ignore, false, y.conjunct_opened});
    if (y.parent != 0 && !y.ignore) {
      std::size_t below = inherited;
      for (DefId outer = y.parent; outer != 0;) {
        u32 found = place.get(outer);
        if (!found || found > below) break;
        ReqSet& x = a[found - 1];
        x.once = x.ignored ? !y.recursive : x.once && !y.recursive;
        x.ignored = false;
        outer = x.parent;
        below = found - 1;
      }
    }
  }
  computed_close_info = true;
  if (a.empty()) return a;
  if (allowed_in_closed(node->label)) {
    find_flags();
    erase_if(a, [&](ReqSet& r) { return !ctx.flags_in.get(r.id); });
  }
  static const List<ConjunctInfo> none;
  const auto& parent = node->parent && node->parent->state ? node->parent->state->infos : none;
  filter_top(a, parent);
  return a;
}

namespace {
constexpr u32 kAnything = 256;  // beside the flags of a conjunct
}

// For each number that conjuncts of this vertex are contained in: what they say together, and the last of them that is
// a struct. Every number is passed once for each flag, however many conjuncts there are.
void State::find_flags() {
  flatten_replaces();
  ctx.flags_in.clear();
  ctx.struct_in.clear();
  ctx.by_id.clear();
  for (auto& c : infos) ctx.by_id.push_back(&c);
  std::sort(ctx.by_id.begin(), ctx.by_id.end(), [](auto* a, auto* b) { return a->id > b->id; });
  for (const ConjunctInfo* c : ctx.by_id)
    walk_out(c->id, [&](DefId p) {
      u32& flags = ctx.flags_in.at(p);
      u32 more = (c->flags | kAnything) & ~flags;
      flags |= more;
      if (more & kHasStruct) ctx.struct_in.at(p) = c->id;
      return more != 0;
    });
}

// For each number that conjuncts with an ellipsis are contained in, the first of them. In `{#A & {...}}` the ellipsis
// is part of what is embedded, which is closed by #A all the same: "the result of {A} is A". Beside an #A that is open
// itself it opens what is embedded.
void State::find_ellipses(const List<ConjunctInfo>& list, const List<ReqSet>& all) {
  flatten_replaces();
  ctx.ellipsis_in.clear();
  IdMap& open = ctx.reached;
  open.clear();
  for (auto& c : list)
    if (c.flags & kHasEllipsis) walk_out(c.id, [&](DefId p) { return !std::exchange(open.at(p), 1); });
  auto beside_closed = [&](const ConjunctInfo& c) {
    return c.embed != 0 && std::ranges::any_of(all, [&](const ReqSet& r) {
             return r.kind == DefKind::kReference && !r.ignored && r.embed == c.embed && !open.get(r.id);
           });
  };
  for (auto& c : list) {
    if (!(c.flags & kHasEllipsis)) continue;
    DefId end = beside_closed(c) ? c.embed : 0;
    walk_out(c.id, [&](DefId p) {
      if (p == end) return false;
      u32& first = ctx.ellipsis_in.at(p);
      if (first) return false;
      first = c.id;
      return true;
    });
  }
}

// A bare `_` or an ellipsis lifts the requirement below.
void State::filter_top(List<ReqSet>& a, const List<ConjunctInfo>& parent) {
  if (!has_any(infos, kHasTop | kHasOpenValidator) && !has_any(parent, kHasEllipsis)) return;
  find_flags();
  find_ellipses(parent, a);
  erase_if(a, [&](ReqSet& r) {
    u32 f = ctx.flags_in.get(r.id);
    bool any = f != 0;
    if (f & kHasStruct && ctx.struct_in.get(r.id) < r.id) f &= ~u32{kHasStruct};
    if ((f & kHasTop && !(f & kHasStruct)) || f & kHasOpenValidator) return true;
    if (any && r.kind != DefKind::kStruct) return false;
    if (DefId id = ctx.ellipsis_in.get(r.id)) {
      if (!any) {
        r.removed = true;
      } else if (r.kind == DefKind::kStruct) {
        bool has = false;
        for (auto& c : infos) has |= contains(id, c.id);
        if (!has) r.removed = true;
      }
    }
    return false;
  });
}

}  // namespace tutti::cue
