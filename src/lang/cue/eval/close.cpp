#include <algorithm>

#include "lang/cue/eval/context.h"

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
  for (auto& c : infos)
    if (c.id == id.def) {
      c.kind &= k;
      c.flags |= flags;
      return;
    }
  infos.push_back({id.def, id.embed, k, flags});
}

CloseInfo State::add_resolver(Node* p, Vertex* v, CloseInfo id, bool force_ignore) {
  bool close_outer = id.from_def && id.from_embed && !id.opened && !id.conjunct_opened;
  if (close_outer && !force_ignore) {
    DefId outer = id.outer;
    for (std::size_t i = reqs.size(); i-- > 0;) {
      RefInfo& x = reqs[i];
      if (x.id == outer && outer != 0) {
        x.ignore = false;
        if (v->closed_recursive) x.recursive = true;
        outer = x.parent;
      }
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
  for (auto& x : reqs)
    if (x.v == v) {
      dst = x.id;
      if (x.ignore && !ignore) {
        x.ignore = false;
        x.parent = id.outer;
        x.embed = id.embed;
      }
      break;
    }
  if (dst == 0 || id.embed != 0) {
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

void State::check_typos() {
  Vertex* v = node->deref_value();
  if (v->arcs.empty()) return;
  if (v->base && v->base->type == NodeType::kBottom && !to<Bottom>(v->base)->close_check) return;
  auto& base = required();
  if (base.empty()) return;
  Bottom* err = nullptr;
  std::vector<ReqSet> copy;
  for (u32 i = 0; i < v->arcs.size(); ++i) {
    Label l = v->arcs[i]->label;
    Vertex* a = v->arcs[i]->deref_disjunct();
    State* na = a->state;
    if (!na) continue;
    std::vector<ReqSet>* req = &base;
    if (!na->replaces.empty()) {
      copy = base;
      req = &copy;
    }
    for (auto& r : *req)
      if (parent_ellipsis(r, infos)) r.removed = true;
    if (a->base && a->base->type == NodeType::kBottom && !to<Bottom>(a->base)->close_check) continue;
    if (allowed_in_closed(l)) continue;
    if (na->evidence_for_all(*req, na->infos)) continue;
    Bottom* b = nullptr;
    ctx.not_allowed(a, &b);
    if (b && a->arc_type <= ArcType::kRequired) err = ctx.combine(err, b);
  }
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
  b->close_check = true;
  arc->base = b;
  arc->status = Status::kFinalized;
  if (arc->state) arc->state->kind = 0;
  *out = b;
}

bool State::evidence_for_all(std::vector<ReqSet>& a, const std::vector<ConjunctInfo>& list) {
  for (std::size_t i = 0; i < a.size(); ++i)
    if (!a[i].ignored && !a[i].removed && !evidence_for_one(a, i, list)) return false;
  return true;
}

bool State::evidence_for_one(std::vector<ReqSet>& all, std::size_t i, const std::vector<ConjunctInfo>& list) {
  const ReqSet& a = all[i];
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

bool State::contains(DefId of, DefId child) {
  if (!computed_flat) {
    flat_replaces.clear();
    for (State* p = this; p; p = p->node->parent ? p->node->parent->state : nullptr)
      flat_replaces.insert(flat_replaces.end(), p->replaces.begin(), p->replaces.end());
    std::sort(flat_replaces.begin(), flat_replaces.end(),
              [](const ReplaceId& a, const ReplaceId& b) { return a.to > b.to; });
    computed_flat = true;
    if (!flat_replaces.empty()) min_flat_to = flat_replaces.back().to;
  }
  return contains_rec(of, child, child, 0);
}

bool State::contains_rec(DefId of, DefId child, DefId start, int level) {
  if (level > 200) return false;
  std::size_t cursor = 0;
  for (DefId p = child; p != 0;) {
    if (p == of) return true;
    if (p >= min_flat_to) {
      while (cursor < flat_replaces.size() && flat_replaces[cursor].to > p) ++cursor;
      for (; cursor < flat_replaces.size() && flat_replaces[cursor].to == p; ++cursor) {
        DefId from = flat_replaces[cursor].from;
        if (from != child && contains_rec(of, from, start, level + 1)) return true;
      }
    }
    p = ctx.containments[p].id;
    if (p == start) return false;
  }
  return child == of;
}

std::vector<ReqSet>& State::required() {
  if (computed_close_info) return req_sets;
  std::vector<ReqSet> a;
  if (Vertex* p = node->parent; p && !drop_parent_requirements && p->state) a = p->state->required();
  for (auto& e : a)
    if (e.once) e.ignored = true;
  std::size_t inherited = a.size();
  for (auto& y : reqs) {
    if (y.ignore && y.kind == DefKind::kReference) continue;
    bool has = false;
    for (auto& x : a) has |= x.id == y.id;
    if (has) continue;
    bool once = false;
    if (y.v && y.kind != DefKind::kEmbedding) {
      once = y.v->closed_once;
      if (!y.ignore && !y.recursive) once = true;
    }
    a.push_back({y.id, y.parent, y.embed, y.kind, once, y.ignore, false, y.conjunct_opened});
    if (y.parent != 0 && !y.ignore) {
      DefId outer = y.parent;
      for (std::size_t i = inherited; i-- > 0 && outer != 0;) {
        if (a[i].id != outer) continue;
        a[i].once = a[i].ignored ? !y.recursive : a[i].once && !y.recursive;
        a[i].ignored = false;
        outer = a[i].parent;
      }
    }
  }
  if (allowed_in_closed(node->label))
    std::erase_if(a, [&](ReqSet& r) {
      for (auto& c : infos)
        if (contains(r.id, c.id)) return false;
      return true;
    });
  static const std::vector<ConjunctInfo> none;
  const auto& parent = node->parent && node->parent->state ? node->parent->state->infos : none;
  filter_top(a, parent);
  computed_close_info = true;
  req_sets = std::move(a);
  return req_sets;
}

// A bare `_` or an ellipsis lifts the requirement below.
void State::filter_top(std::vector<ReqSet>& a, const std::vector<ConjunctInfo>& parent) {
  std::erase_if(a, [&](ReqSet& r) {
    u8 f = 0;
    bool any = false;
    for (auto& c : infos)
      if (contains(r.id, c.id)) {
        any = true;
        u8 flags = c.flags;
        if (c.id < r.id) flags &= static_cast<u8>(~kHasStruct);
        f |= flags;
      }
    if ((f & kHasTop && !(f & kHasStruct)) || f & kHasOpenValidator) return true;
    if (any && r.kind != DefKind::kStruct) return false;
    if (DefId id = parent_ellipsis(r, parent)) {
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

DefId State::parent_ellipsis(const ReqSet& a, const std::vector<ConjunctInfo>& list) {
  for (auto& c : list)
    if (c.flags & kHasEllipsis && contains(a.id, c.id)) return c.id;
  return 0;
}

}  // namespace tutti::cue
