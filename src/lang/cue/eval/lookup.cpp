#include <re2/re2.h>

#include "lang/cue/eval/context.h"

namespace tutti::cue {

namespace {
Vertex* root_of(Vertex* v) {
  while (v->parent) v = v->parent;
  return v;
}
}  // namespace

// The arc of a vertex by label, or nullptr with an error. The vertex may still be growing: then an arc is made that is
// not yet known to be there.
Vertex* Context::lookup(Vertex* v, Pos pos, Label l, Flags f) {
  Cond want = f.condition;
  v = v->deref_value();
  if (!l.valid()) return nullptr;
  State* s = state(v);
  if (s) {
    if (s->has_err()) {
      Bottom* err = s->get_err();
      if (err && err->node && root_of(err->node) != root_of(v)) add_bottom(err);
    }
    Vertex* n = s->node;
    if (n->is_dynamic || n->label.is_let() || parents_done(n->parent)) s->signal(kAncestorsDone);
    if (!s->all_tasks_started()) {
      s->process(kValueKnown | kFieldConjunctsKnown | kTasksDone, Mode::kAttempt);
      s->update_scalar();
    }
  }
  if (Vertex* w = v->deref_value(); w != v) {
    v = w;
    s = state(v);
  }
  Vertex* arc = v->find_raw(l);
  Vertex* result = arc;
  if (arc) arc = arc->deref_non_rooted();

  State* as = nullptr;
  if (arc) {
    if (arc->arc_type == ArcType::kMember) return result;
    as = state(arc);
  } else if (!s || s->meets(kNeedTasksDone)) {
    index_error(v, pos, l);
    return nullptr;
  } else {
    if (!v->is_open_struct() && !accept(v, l)) {
      index_error(v, pos, l);
      return nullptr;
    }
    arc = new_vertex();
    arc->parent = s->node;
    arc->label = l;
    arc->arc_type = ArcType::kPending;
    if (f.mode != Mode::kFinalize && f.mode != Mode::kIgnore) v->add_arc(arena, arc);
    as = state(arc);
  }

  if (as && (!as->meets(kNeedTasksDone) || !as->meets(kArcTypeKnown))) {
    want |= kArcTypeKnown;
    switch (f.mode) {
      case Mode::kIgnore:
      case Mode::kAttempt:
        if (arc->arc_type == ArcType::kPending) {
          if (f.mode == Mode::kIgnore) return result;
          if (s) {
            if (s->has_active_parent_task()) {
              pending_parent = true;
              return result;
            }
            // others may still make the field; what looks for it in the struct it stands in will not
            bool asks_itself = s->has_struct && current() && current()->node == s && current()->completes & kTasksDone;
            if (s->provided & kTasksDone && s->counters[kTasksIndex] > (asks_itself ? 1 : 0)) return result;
          }
          if (as->has_active_parent_task()) {
            pending_parent = true;
            return result;
          }
          arc->arc_type = ArcType::kNotPresent;
        }
        break;
      case Mode::kYield: as->process(want, Mode::kYield); break;
      case Mode::kFinalize: {
        if (arc->arc_type == ArcType::kPending || arc->arc_type == ArcType::kOptional) {
          Task* now = current();
          bool wait = false;
          for (Task* t : as->parent_tasks)
            if (t->state == TaskState::kRunning && t != now) wait = true;
          if (wait) {
            as->process(kArcTypeKnown, Mode::kYield);
            break;
          }
        }
        if (want == (kArcTypeKnown | kFieldSetKnown)) {
          unify(arc, {.condition = want, .mode = Mode::kFinalize});
        } else if (!unify(arc, {.condition = want, .mode = Mode::kAttempt})) {
          if (arc->state == as) as->process(want, Mode::kAttempt);
        }
        if (arc->arc_type == ArcType::kPending && !(arc->state && arc->state->has_active_parent_task()))
          arc->arc_type = ArcType::kNotPresent;
        break;
      }
      default: break;
    }
  }

  switch (arc->arc_type) {
    case ArcType::kRequired:
      add_bottom(store.make<Bottom>(Code::kIncomplete, error_at(pos, "required field missing: {}", l), v));
      return result;
    case ArcType::kMember: return result;
    case ArcType::kOptional:
      add_bottom(store.make<Bottom>(Code::kIncomplete, error_at(pos, "cannot reference optional field: {}", l), v));
      return nullptr;
    case ArcType::kPending:
      if (as && arc->state == as)
        for (Task* t : as->parent_tasks)
          if (t->state == TaskState::kRunning || t->state == TaskState::kWaiting || t->state == TaskState::kFailed) {
            add_bottom(store.make<Bottom>(Code::kCycle, error_at(pos, "cyclic reference to field {}", l), v));
            return nullptr;
          }
      break;
    default: break;
  }
  index_error(v, pos, l);
  return nullptr;
}

// Where a disjunct of v is being tried while the task that runs now lies outside of it; nullptr otherwise.
const Context::Overlay* Context::trying_elsewhere(Vertex* v) {
  Vertex* tried = v->deref_value();
  Task* t = current();
  if (tried != v && tried->status == Status::kEvaluating) ++met_again;
  if (!t || tried == v || !tried->is_disjunct || tried->status != Status::kEvaluating) return nullptr;
  for (Vertex* p = t->node->node; p; p = p->parent)
    if (p == tried || (!p->parent && p != root_of(v))) return nullptr;
  for (const Overlay& o : overlays)
    if (o.orig == v) return &o;
  return nullptr;
}

// A disjunct that is only being tried is nothing to go by for what lies outside of it: that waits until it is decided
// what v is.
void Context::wait_while_tried(Vertex* v) {
  if (overlays.empty() || !v->state || v->state->meets(kDisjunctionTask)) return;
  if (const Overlay* o = trying_elsewhere(v)) {
    current()->for_tried = v;
    v->state->wait_for(current(), kDisjunctionTask, *o->blocking);
  }
}

Bottom* Context::field_error(Vertex* v, Pos pos, Label l, const char* int_format, const char* format) {
  ++doubts;
  Code code = Code::kIncomplete;
  Bottom* b = v->bottom();
  if (b && !is_cycle(b))
    code = b->code;
  else if (v->state && v->state->errs && v->state->errs->code == Code::kCycle)
    code = Code::kCycle;
  else if (!accept(v, l))
    code = Code::kEval;
  Error* text;
  if (l.is_int()) {
    int n = 0;
    for (Vertex* a : v->arcs) n += a->label.is_int();
    text = error_at(pos, int_format, l.index(), n);
  } else {
    text = error_at(pos, format, l);
    text->among = v;
  }
  auto* out = store.make<Bottom>(code, text, v);
  add_bottom(out);
  return out;
}

// Whether a closed vertex lets a field of this name in.
bool Context::accept(Vertex* v, Label l) {
  if (allowed_in_closed(l)) return true;
  v = v->deref_value();
  if (v->base && v->base->type == NodeType::kDisjunction) {
    for (Node* x : to<Disjunction>(v->base)->values)
      if (x->type == NodeType::kVertex && accept(to<Vertex>(x), l)) return true;
    return false;
  }
  Kinds k = kinds(v);
  if (l.is_int()) {
    if (!v->is_list()) return k & kListKind;
    u32 n = 0;
    for (Vertex* a : v->arcs) n += a->label.is_int();
    return l.index() < n || !v->is_closed_list();
  }
  if (!(k & kStructKind) && l.is_string() && (k != kBottomKind || v->structs().empty())) return false;
  if (v->is_open_struct() && !v->will_be_closed()) return true;
  if (Vertex* a = v->find_raw(l); a && a->arc_type != ArcType::kNotPresent) return true;
  if (Patterns* list = v->patterns())
    for (u32 i = 0; i < list->pairs.size(); ++i)  // matching may evaluate, and add to them
      if (match_pattern(list->pairs[i].pattern, l)) return true;
  return false;
}

bool Vertex::is_closed_struct() {
  if (!base) return false;
  if (base->type == NodeType::kVertex) return closed_recursive && !has_ellipsis;
  if (base->type != NodeType::kStructMarker && base->type != NodeType::kDisjunction) return false;
  return closed_recursive || closed_once;
}

bool Vertex::is_open_struct() { return has_ellipsis || !(closed_once || is_closed_struct()); }

bool Vertex::will_be_closed() const {
  return state && rooted() && state->a_struct && status != Status::kFinalized && (closed_recursive || closed_once) &&
         !has_ellipsis;
}

// Matches the name of a field (or a position of a list) against the value of a pattern.
bool Context::match_pattern(Node* p, Label l) {
  if (!p || !l.is_regular()) return false;
  if (p->type == NodeType::kVertex) unify(to<Vertex>(p), {.condition = kScalarKnown, .mode = Mode::kFinalize});
  p = unwrap(p);
  if (!p) return false;
  Kinds k = l.is_string() ? kStringKind : kIntKind;
  if (p->type != NodeType::kBottom && !(k & kinds(p))) return false;
  switch (p->type) {
    case NodeType::kBottom:
      if (p == cycle) add_bottom(bottom(Code::kEval, p->pos, "cyclic pattern constraint"));
      if (!errs) add_bottom(to<Bottom>(p));
      return false;
    case NodeType::kTop: return true;
    case NodeType::kBasicType: return (to<BasicType>(p)->kind & k) == k;
    case NodeType::kBound: {
      auto* b = to<Bound>(p);
      if (b->op == Op::kMatch || b->op == Op::kNotMatch) {
        const re2::RE2* re = regexp(b->value);  // reports a wrong one
        std::string_view s = l.is_string() ? l.symbol().text() : std::string_view{};
        return re && l.is_string() &&
               re2::RE2::PartialMatch(re2::StringPiece(s.data(), s.size()), *re) == (b->op == Op::kMatch);
      }
      Node* y = label_value(l);
      return !validate({nullptr, b, {}}, y);
    }
    case NodeType::kNum: {
      auto i = to<Num>(p)->value.to_i64();
      return l.is_int() && i && *i == l.index();
    }
    case NodeType::kString: return l.is_string() && l.symbol().text() == to<String>(p)->text;
    case NodeType::kConjunction:
      for (Node* x : to<Conjunction>(p)->values)
        if (!match_pattern(x, l)) return false;
      return true;
    case NodeType::kDisjunction:
      for (Node* x : to<Disjunction>(p)->values)
        if (match_pattern(x, l)) return true;
      return false;
    default: break;
  }
  Conjunct a{e, p, ci};
  Vertex* n = inline_vertex(nullptr, &a);
  n->conjuncts.push(arena, {e, label_value(l), ci});
  finalize(n);
  return !n->is_err();
}

Node* Context::from_index(u32 i) {
  if (i >= from_index_.size()) from_index_.resize(i + 1);
  if (!from_index_[i]) from_index_[i] = store.make<Bound>(Op::kGe, store.integer(i));
  return from_index_[i];
}

Node* Context::label_value(Label l) {
  if (l.is_int()) return store.integer(l.index());
  return store.make<String>(l.name());
}

}  // namespace tutti::cue
