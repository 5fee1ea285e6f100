#pragma once

#include <string>

#include "lang/cue/eval/vertex.h"
#include "lang/cue/syntax/ast.h"

// Evaluated values turned back into syntax, which the formatter then lays out.
namespace tutti::cue {

class Context;

struct ExportProfile {
  bool simplify = true;  // int & >=0 & <=255 as uint8
  bool final = false;    // what is incomplete shows as an error
  bool take_defaults = false;
  bool show_optional = false;
  bool show_definitions = false;
  bool show_hidden = false;
  bool show_docs = false;
  bool show_attributes = false;
  bool show_errors = false;  // errors where they are instead of nothing
  bool fragment = false;     // references may be left dangling
  bool add_package = false;
  bool inline_imports = false;
  std::string package;             // to be called so whatever the files say
  bool guest_definitions = false;  // what is taken along becomes definitions, for a writer of schemas
};

// The syntax of an evaluated vertex: with its values (eval, export) or with the expressions it was written as (def).
// What the result uses of other packages is imported at its top.
ast::File* export_value(Context& c, const Sources& sources, std::string_view package, Vertex* v,
                        const ExportProfile& p);
ast::File* export_definition(Context& c, const Sources& sources, std::string_view package, Vertex* v,
                             const ExportProfile& p);

// What `-e X` is about: X itself where that is a plain reference.
Vertex* definition_root(Context& c, const Sources& sources, Vertex* v);
// Is a value closed because a definition is, or is around it?
bool closed_by_definition(const Vertex* v);

// As an expression on its own (no package, no imports): for messages and for encoders.
ast::Node* export_expression(Context& c, const Sources& sources, Node* v, const ExportProfile& p = {});

// What has only an embedded value is that value, else a struct.
ast::Node* as_expression(Arena& arena, ast::File* file);

}  // namespace tutti::cue
