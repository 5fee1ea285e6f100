#pragma once

#include <set>
#include <span>
#include <string>
#include <vector>

#include "lang/cue/import/decode.h"

// Expressions made out of nothing: what the readers of schemas write.
namespace tutti::cue {

class Build {
 public:
  explicit Build(Arena& a) : arena(a) {}

  ast::Node* name(std::string_view n, Pos pos = {}) { return make_ident(arena, n, place(pos)); }
  ast::Node* top(Pos pos = {}) { return name("_", pos); }
  ast::Node* text(std::string_view s, Pos pos = {});
  ast::Node* integer(long long n, Pos pos = {});
  ast::Node* number(const ast::Node* data, Pos pos = {});                         // as written
  ast::Node* member(std::string_view package, std::string_view n, Pos pos = {});  // time.Time; imports the package
  ast::Node* call(ast::Node* fun, std::vector<ast::Node*> args);
  ast::Node* call(std::string_view fun, std::vector<ast::Node*> args, Pos pos = {}) {
    return call(name(fun, pos), std::move(args));
  }
  ast::Node* unary(Tok op, ast::Node* x, Pos pos = {});
  ast::Node* all_of(const std::vector<ast::Node*>& list);  // a & b; operands in parentheses where they need them
  ast::Node* any_of(const std::vector<ast::Node*>& list);  // a | b
  ast::Node* list(std::vector<ast::Node*> elements, ast::Node* rest = nullptr, bool open = false);
  ast::Node* structure(std::vector<ast::Node*> decls, bool open);
  // Labels that are names of types, functions or packages are quoted, so that they hide nothing.
  ast::Node* label(std::string_view n, Pos pos = {});
  ast::Field* field(ast::Node* label, ast::Node* value, Tok constraint = Tok::kIllegal);
  ast::Field* pattern(ast::Node* names, ast::Node* value);
  ast::Node* attribute(const std::string& text);
  ast::Node* data(ast::Node* value, bool exact);  // a document's value; `exact`: nothing may be added or be missing
  void comment(ast::Node* n, const std::string& text, Rel rel = Rel::kNewline);
  ast::Node* embed(ast::Node* x) { return arena.make<ast::Embed>(x); }
  ast::Node* import_decl(std::span<ast::Node* const> body);  // of what the body uses; nullptr when it is nothing

  static bool is_any(const ast::Node* n);
  static bool is_none(const ast::Node* n);  // error("disallowed")  // `_`

  Arena& arena;
  std::set<std::string> imports;
  Pos brace;  // the place of structs that are made: those without one are the inner part of a: b: c

 private:
  static TokenPos place(Pos pos) { return TokenPos{pos, Rel::kNone, false}; }
};

// The lines of a comment, broken at spaces where they are long.
std::vector<std::string> comment_lines(const std::string& text);

}  // namespace tutti::cue
