#pragma once

#include <map>
#include <unordered_map>
#include <vector>

#include "lang/cue/eval/context.h"
#include "lang/cue/export/export.h"

namespace tutti::cue {

// One export. The frames mirror the scopes of what is being printed, so that a reference can be given the name under
// which its target appears in the output.
class Exporter {
 public:
  Exporter(Context& c, const Sources& sources, std::string_view package, const ExportProfile& p)
      : c_(c), sources_(sources), arena_(c.arena), package_(package), p_(p) {}

  ast::Node* value(Node* n, const Vertex* field = nullptr);
  ast::Node* vertex(Vertex* n);
  ast::Node* expr(Environment* env, Node* x);
  ast::File* finish(Vertex* v, ast::Node* x);
  ast::File* definition(Vertex* v);
  void mark_used(Node* x);

 private:
  struct Entry {
    std::string alias;
    ast::Field* field = nullptr;
    std::vector<ast::Ident*> references;
  };
  struct Frame {
    Vertex* node = nullptr;
    std::vector<ast::Node*> scope;  // declarations of the struct being made
    ast::Field* field = nullptr;    // of a pattern
    std::vector<std::pair<std::string, ast::Field*>> dynamic;
    i32 up = 0;
    std::map<u32, Entry> fields;  // by label
  };
  struct Conj {
    Conjunct c;
    i32 up = 0;
  };
  struct Merged {  // what several conjuncts say together about one struct
    Vertex* values = nullptr;
    std::vector<ast::Node*> embed, conjuncts, attrs;
    std::vector<StructLit*> structs;
    struct FieldInfo {
      ArcType arc_type = ArcType::kNotPresent;
      Vertex* arc = nullptr;
      std::vector<Conj> conjuncts;
    };
    std::vector<Label> order;  // of first mention
    std::unordered_map<u32, FieldInfo> fields;
    bool ellipsis = false, data = false;
  };
  struct LetInfo {
    ast::Let* let = nullptr;
    bool filled = false;
  };

  // scalar.cpp
  ast::Node* bottom(const Bottom* b);
  ast::Node* literal(const Node* n, const Vertex* field);
  ast::Node* conjunction(const Conjunction* n);
  ast::Node* disjunction(const Disjunction* n);
  ast::Node* builtin(const Builtin* b);
  ast::Node* validator(const Validator* v);

  // tree.cpp
  enum class Shape : u8 { kStruct, kList, kValue, kError, kUnresolved };
  Shape shape(Vertex* v, bool attributes) const;
  bool has_side_fields(Vertex* v) const;
  bool shown(Label l, const Vertex* arc, bool regular) const;
  ast::Node* structure(Vertex* v, const std::vector<ast::Node*>& attributes);
  ast::Field* field(Label l, Vertex* arc);
  ast::Node* list(Vertex* v);
  ast::Node* element_type(Vertex* v);
  ast::Node* as_written(Vertex* v);
  ast::Node* take_scope();  // the struct of the top frame

  // merge.cpp
  ast::Node* merge(Label label, Vertex* src, const std::vector<Conj>& list);
  void add_expr(Merged& m, Environment* env, Vertex* src, Node* x, bool embed);
  void add_value(Merged& m, Vertex* src, Environment* env, Node* x);
  void add_field(Merged& m, Label l, ArcType t, Environment* env, Node* x);
  std::vector<Label> merged_order(const Merged& m) const;
  ast::Node* wrap_close(const Merged& m, ast::Node* s, Vertex* v);

  // expr.cpp
  ast::Node* adt(Environment* env, Node* x);
  ast::Node* inner(Environment* env, Node* x) { return expr(env, x); }
  ast::Node* decl(Environment* env, Node* d);
  ast::Node* elem(Environment* env, Node* d);
  ast::Node* comprehension(Environment* env, const Comprehension* x);
  ast::Node* resolve(Environment* env, Node* x);
  ast::Node* resolve_let(Environment* env, const LetRef* x);
  ast::Node* interpolation(Environment* env, const Interpolation* x);
  ast::Node* sorted_binary(Environment* env, const Binary* x);
  ast::Node* field_ident(const ast::Node* src, Label l, u32 up);
  void mark_lets(Node* x);
  Environment* new_env(Environment* up) { return c_.new_env(up, node()); }

  // frames
  Frame& top() { return stack_.back(); }
  Frame* frame(i32 up, bool need_field);
  Vertex* node() { return stack_.empty() || !stack_.back().node ? c_.empty_node : stack_.back().node; }
  void push(Vertex* v) {
    stack_.emplace_back();
    stack_.back().node = v;
  }
  void pop();
  static void set_alias(Arena& arena, ast::Field* f, std::string_view name);
  std::string unique_name(std::string_view base);

  // docs.cpp
  void set_docs(ast::Node* to, Vertex* v);
  std::vector<ast::CommentGroup> docs(Vertex* v);
  std::vector<ast::CommentGroup> docs_of(const std::vector<Conjunct>& list, Vertex* parent);
  static void field_attrs(std::vector<ast::Node*>& out, const Node* x);
  static void decl_attrs(std::vector<ast::Node*>& out, const ast::Node* src);
  std::vector<ast::Node*> decl_attrs(Vertex* v);

  // nodes
  ast::Ident* ident(std::string_view name) { return arena_.make<ast::Ident>(TokenPos{}, Symbol(name)); }
  ast::Node* label(Label l);
  ast::Node* join(Tok op, const std::vector<ast::Node*>& list);
  ast::Struct* make_struct(const std::vector<ast::Node*>& decls, bool brace = false);
  ast::Node* unary(Tok op, ast::Node* x) { return arena_.make<ast::Unary>(TokenPos{}, op, x); }

  Context& c_;
  const Sources& sources_;
  Arena& arena_;
  std::string package_;
  ExportProfile p_;
  std::vector<Frame> stack_;
  int in_definition_ = 0;
  std::map<u32, LetInfo> lets_;                           // by label
  std::map<std::string, const Node*, std::less<>> used_;  // names taken, and by which let
  std::map<const ast::Node*, std::string> value_alias_;
  std::map<std::string, std::string> imports_;  // path to name
};

Tok op_token(Op op);
Tok arc_token(ArcType t);

}  // namespace tutti::cue
