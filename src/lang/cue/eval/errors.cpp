#include <cstring>

#include "lang/cue/eval/context.h"

namespace tutti::cue {

ErrorArg Context::arg(std::string_view s) {
  std::string_view kept = store.keep(s);
  ErrorArg a;
  a.kind = ErrorArg::kText;
  a.text = {kept.data(), static_cast<u32>(kept.size())};
  return a;
}

Error* Context::make_error(Pos pos, const char* format, std::span<const ErrorArg> args) {
  auto* e = arena.make<Error>();
  e->format = format;
  e->args = arena.copy(args);
  e->node = vertex;
  e->pos = pos;
  if (use_alt_path) e->path = store.keep(alt_path);
  return e;
}

Error* Context::join(Error* a, Error* b) {
  if (!a) return b;
  if (!b || a == b) return a;
  auto* e = arena.make<Error>();
  e->left = a;
  e->right = b;
  return e;
}

Bottom* Context::as_bottom(Node* v) {
  Node* u = unwrap(v);
  return u && u->type == NodeType::kBottom ? to<Bottom>(u) : nullptr;
}

// The worse of two errors; both when they are equally bad.
Bottom* Context::combine(Bottom* a, Bottom* b) {
  if (!a) return b;
  if (!b) return a;
  if (a == b) {
    if (a == cycle) return a;
    return a;
  }
  if (a->code != b->code) {
    if (a->code > b->code) std::swap(a, b);
    if (b->code >= Code::kIncomplete) return a;
  }
  auto* c = store.make<Bottom>(a->code, join(a->error, b->error));
  c->close_check = a->close_check || b->close_check;
  return c;
}

// An error below: the vertex is in error too unless it is only incomplete.
void Context::add_child_error(State* n, Bottom* b) {
  Vertex* v = n->node;
  v->child_errors = combine(v->child_errors, b);
  if (b->incomplete()) return;
  Bottom* own = v->base && v->base->type == NodeType::kBottom ? to<Bottom>(v->base) : nullptr;
  if (!own || own->close_check) {
    auto* e = store.make<Bottom>(b->code, b->error, v);
    e->has_recursive = true;
    e->child_error = true;
    e->close_check = b->close_check;
    v->base = e;
    return;
  }
  // not changed in place: the same error may be held elsewhere
  auto* e = store.make<Bottom>(*own);
  e->has_recursive = true;
  if (e->code > b->code) e->code = b->code;
  v->base = e;
}

}  // namespace tutti::cue
