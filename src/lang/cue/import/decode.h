#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/arena.h"
#include "lang/cue/syntax/ast.h"
#include "lang/cue/syntax/scanner.h"

// Data formats read as CUE syntax: every node has its place in the data file, and the layout is such that the formatter
// shows it as `import` does.
namespace tutti::cue {

struct Decoded {
  std::vector<ast::Node*> documents;  // expressions
  std::vector<SyntaxError> errors;    // when not empty, the documents before it are good
  bool ok() const { return errors.empty(); }
};

Decoded decode_json(const Source& source, Arena& arena);         // exactly one value
Decoded decode_json_stream(const Source& source, Arena& arena);  // any number of values, JSON Lines among them
Decoded decode_yaml(const Source& source, Arena& arena);         // the documents of a stream
Decoded decode_toml(const Source& source, Arena& arena);
Decoded decode_xml(const Source& source, Arena& arena);  // the "koala" mapping of XML to fields

// Nodes without a place.
ast::Lit* make_string(Arena& arena, std::string_view text, TokenPos pos = {});
ast::Lit* make_bytes(Arena& arena, std::string_view text, TokenPos pos = {});
ast::Lit* make_lit(Arena& arena, Tok kind, std::string_view text, TokenPos pos = {});
ast::Node* make_label(Arena& arena, std::string_view name, TokenPos pos = {});  // an identifier where that will do
ast::Field* make_field(Arena& arena, ast::Node* label, ast::Node* value);
ast::Struct* make_struct(Arena& arena, const std::vector<ast::Node*>& decls);
ast::List* make_list(Arena& arena, const std::vector<ast::Node*>& elements);
ast::Ident* make_ident(Arena& arena, std::string_view name, TokenPos pos = {});
ast::Nodes make_nodes(Arena& arena, const std::vector<ast::Node*>& nodes);

}  // namespace tutti::cue
