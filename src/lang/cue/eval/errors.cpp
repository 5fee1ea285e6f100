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
  auto* out = arena.make<Error>();
  out->format = format;
  out->args = arena.copy(args);
  out->node = vertex;
  out->pos = pos;
  if (use_alt_path) out->path = store.keep(alt_path);
  return out;
}

Error* Context::join(Error* a, Error* b) {
  if (!a) return b;
  if (!b || a == b) return a;
  auto* out = arena.make<Error>();
  out->left = a;
  out->right = b;
  return out;
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
    return store.make<Bottom>(a->code, a->error);  // no longer the error of one vertex's child
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
  v->set_child_errors(arena, combine(v->child_errors(), b));
  if (b->incomplete()) return;
  Bottom* own = v->base && v->base->type == NodeType::kBottom ? to<Bottom>(v->base) : nullptr;
  if (!own || own->close_check) {
    auto* out = store.make<Bottom>(b->code, b->error, v);
    out->has_recursive = true;
    out->child_error = true;
    out->close_check = b->close_check;
    v->base = out;
    return;
  }
  // not changed in place: the same error may be held elsewhere
  auto* out = store.make<Bottom>(*own);
  out->has_recursive = true;
  if (out->code > b->code) out->code = b->code;
  v->base = out;
}

}  // namespace tutti::cue
