#include "lang/cue/format/literal.h"
#include "lang/cue/import/decode.h"

namespace tutti::cue {

using namespace ast;

Nodes make_nodes(Arena& arena, const std::vector<Node*>& nodes) { return arena.copy(std::span<Node* const>(nodes)); }

Lit* make_lit(Arena& arena, Tok kind, std::string_view text, TokenPos pos) {
  return arena.make<Lit>(kind, pos, arena.copy(text));
}

Lit* make_string(Arena& arena, std::string_view text, TokenPos pos) {
  return make_lit(arena, Tok::kString, quote(text, {.tabs = 1}), pos);
}

Lit* make_bytes(Arena& arena, std::string_view text, TokenPos pos) {
  return make_lit(arena, Tok::kString, quote(text, {.bytes = true, .tabs = 1}), pos);
}

Ident* make_ident(Arena& arena, std::string_view name, TokenPos pos) { return arena.make<Ident>(pos, Symbol(name)); }

Node* make_label(Arena& arena, std::string_view name, TokenPos pos) {
  if (!label_needs_quotes(name)) return make_ident(arena, name, pos);
  return make_lit(arena, Tok::kString, quote(name), pos);
}

Field* make_field(Arena& arena, Node* label, Node* value) {
  Field* f = arena.make<Field>(label);
  f->value = value;
  return f;
}

Struct* make_struct(Arena& arena, const std::vector<Node*>& decls) {
  return arena.make<Struct>(TokenPos{{}, Rel::kNoSpace}, make_nodes(arena, decls), TokenPos{});
}

List* make_list(Arena& arena, const std::vector<Node*>& elements) {
  return arena.make<List>(TokenPos{}, make_nodes(arena, elements), TokenPos{});
}

}  // namespace tutti::cue
