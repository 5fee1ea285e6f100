#pragma once

#include <ranges>
#include <unordered_map>
#include <vector>

#include "lang/cue/eval/context.h"
#include "lang/cue/eval/limits.h"
#include "lang/cue/export/export.h"
#include "lang/cue/export/order.h"
#include "lang/cue/export/scope.h"

namespace tutti::cue {

// One export: evaluated values (scalar.cpp, tree.cpp), what was written where there is no value yet or where
// definitions are asked for (written.cpp, fold.cpp), references to what is not part of the output (outside.cpp), and
// the file around it all (docs.cpp).
class Exporter {
 public:
  Exporter(Context& c, const Sources& sources, std::string_view package, const ExportProfile& p)
      : c_(c),
        written_(c.budget.limits()),
        sources_(sources),
        order_(sources),
        arena_(c.arena),
        package_(package),
        p_(p) {}

  ast::Node* value(Node* n, const Vertex* field = nullptr);
  ast::Node* vertex(Vertex* n);
  ast::Node* written(Environment* env, Node* x);
  ast::File* finish(Vertex* v, ast::Node* x);
  ast::File* definition(Vertex* v);
  Vertex* root_of(Vertex* v) const;
  void reserve_names(const Node* x);
  void look_at_files(const Vertex* v);

 private:
  // An expression with the scope in which it was said; or a declaration of a struct.
  struct Said {
    Environment* env;
    Node* x;
  };
  struct Member {
    Label label;
    std::vector<Said> said;
  };
  // What several expressions say together about one value, sorted by how it is shown.
  struct Folded {
    std::vector<Said> operands;      // references, calls: joined with &
    std::vector<Said> embedded;      // in the struct
    std::vector<Said> constants;     // one value when unified
    std::vector<StructLit*> opened;  // literals whose fields are among the members
    std::vector<Member> members;     // in order of first mention
    std::unordered_map<u32, std::size_t> member_at;
    std::vector<ast::Node*> attributes;
    bool data = false, ellipsis = false;

    Member& member(Label l);
    bool nothing() const { return operands.empty() && embedded.empty() && constants.empty(); }
  };
  // Something outside the output that it refers to.
  struct Guest {
    u32 mentions = 0;
    bool underway = false;
    bool cyclic = false;   // refers to itself
    bool through = false;  // by way of others
    std::string name;      // under which it was taken along
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
  bool shown(const Vertex* arc, bool regular) const;
  ast::Node* structure(Vertex* v, const std::vector<ast::Node*>& attributes);
  ast::Field* field(Label l, Vertex* arc);
  ast::Node* list(Vertex* v);
  ast::Node* element_type(Vertex* v);
  ast::Node* as_written(Vertex* v);
  ast::Node* schemas(Vertex* list);

  // fold.cpp
  ast::Node* fold(Vertex* about, const std::vector<Said>& said);
  ast::Node* fold(Vertex* v);
  void sort_in(Folded& f, Said s, const Vertex* about, bool embedded);
  void open_literal(Folded& f, Environment* env, StructLit* s);
  void take_vertex(Folded& f, Environment* env, Vertex* v, const Vertex* about);
  ast::Node* shown_alone(Folded& f, std::vector<ast::Node*>& inside, std::vector<ast::Node*>& beside,
                         const Vertex* about);
  ast::Field* member(const Member& m, Vertex* about);
  ast::Node* closed_if(ast::Node* x, const Folded& f, const Vertex* about);
  void note_lets(const Node* x);
  void name_value(const std::vector<Said>& said);
  bool uses_lets();
  ast::Node* take_scope();  // the struct of the innermost scope

  // written.cpp
  ast::Node* operation(Environment* env, Node* x);
  ast::Node* chain(Environment* env, const Binary* x);
  ast::Node* list_literal(Environment* env, const ListLit* x);
  ast::Node* struct_literal(Environment* env, const StructLit* x, const Vertex* about);
  ast::Node* declaration(Environment* env, Node* d);
  ast::Field* declared_field(Environment* env, const Field* x);
  ast::Field* declared_pattern(Environment* env, const Pattern* x);
  ast::Field* declared_dynamic(Environment* env, const DynamicField* x);
  ast::Node* element(Environment* env, Node* d);
  ast::Node* comprehension(Environment* env, const Comprehension* x);
  ast::Node* clause(Environment*& env, const Node* x);
  Environment* clause_scope(Environment* env);
  ast::Node* interpolation(Environment* env, const Interpolation* x);

  // names.cpp
  ast::Node* reference(Environment* env, Node* x);
  std::string field_name(Environment* env, const FieldRef* x);
  std::string value_name(const ValueRef* x) const;
  std::string predeclared_name(std::string name) const;
  std::string import_name_of(const ImportRef* x);
  ast::Node* pattern_label(Environment* env, const LabelRef* x);
  ast::Node* let_name(Environment* env, const LetRef* x);
  void set_alias(OutputScope::Name& n, std::string name);

  // outside.cpp
  Vertex* outside(Environment* env, const Node* x) const;
  ast::Node* brought_in(Vertex* v);
  void survey(Vertex* v);
  bool taken_along(Vertex* v, const Guest& g) const;
  std::vector<ast::Node*> guests();
  std::string guest_comment(const Vertex* v) const;

  // file.cpp
  std::vector<ast::Node*> heading(Vertex* v, ast::File* file);
  ast::CommentGroup placeless(const ast::CommentGroup& g, Rel rel);
  ast::Node* import_declaration();
  void import(std::string path, std::string name);

  // docs.cpp
  void add_docs(ast::Node* to, const std::vector<ast::CommentGroup>& docs);
  static void close_up(const std::vector<ast::Node*>& decls);
  std::vector<ast::CommentGroup> docs(Vertex* v);
  std::vector<ast::CommentGroup> docs_of(const std::vector<Conjunct>& list, Vertex* parent);
  static void field_attrs(std::vector<ast::Node*>& out, const Node* x);
  static void decl_attrs(std::vector<ast::Node*>& out, const ast::Node* src);
  std::vector<ast::Node*> decl_attrs(Vertex* v);

  // nodes
  ast::Ident* ident(std::string_view name) { return arena_.make<ast::Ident>(TokenPos{}, Symbol(name)); }
  ast::Node* label(Label l);
  // In quotes where all that declare the field wrote it so: then nothing refers to it by that name.
  template <class Declared>
  ast::Node* label(Label l, const Declared& declared) {
    bool quoted = l.is_string() && !std::ranges::empty(declared);
    for (const auto& d : declared) quoted = quoted && written_in_quotes(d.x);
    return quoted ? quoted_label(l) : label(l);
  }
  ast::Node* quoted_label(Label l);
  static bool written_in_quotes(const Node* declared);
  ast::Node* join(Tok op, const std::vector<ast::Node*>& list);
  ast::Struct* make_struct(const std::vector<ast::Node*>& decls, bool brace = false);
  ast::Node* unary(Tok op, ast::Node* x) { return arena_.make<ast::Unary>(TokenPos{}, op, x); }
  ast::Node* call(ast::Node* function, const std::vector<ast::Node*>& args);

  Context& c_;
  WritingLimit written_;
  const Sources& sources_;
  ArcOrder order_;
  Arena& arena_;
  std::string package_;
  ExportProfile p_;
  OutputScopes scopes_;
  bool quoted_labels_ = false;
  bool alias_v2_ = false;                                     // a file has aliases behind labels
  std::vector<std::pair<std::string, std::string>> imports_;  // path and name, as they are mentioned first
  // Only definitions must stand on their own.
  bool self_contained_ = false, surveying_ = false;
  Vertex* root_ = nullptr;
  std::string root_name_;  // under which the whole can be referred to
  std::unordered_map<Vertex*, Guest> guests_;
  std::vector<Vertex*> underway_, arrived_;
};

Tok op_token(Op op);
Tok arc_token(ArcType t);

}  // namespace tutti::cue
