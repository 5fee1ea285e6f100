#pragma once

#include <functional>
#include <string>
#include <vector>

#include "lang/cue/eval/vertex.h"
#include "lang/cue/syntax/parser.h"

namespace tutti::cue {

struct CompileError {
  Pos pos;
  std::string path;  // labels joined with dots
  std::string message;
  std::string near = {};  // the name that may have been meant; "" for none
};

struct CompileInput {
  std::vector<ast::File*> files;
  std::string package;  // names hidden fields apart; the import path, or "" for loose files
  bool data = false;    // nothing in it refers to anything
  // The name a package declares, for imports whose path does not tell; "" when the package does not exist.
  std::function<std::string(std::string_view path)> package_name;
};

// Turns files into expressions, one struct literal a file, with every identifier resolved: to a field so many scopes
// up, an alias, a let, an import or a predeclared name.
class Compiler {
 public:
  explicit Compiler(NodeStore& store) : store_(store) {}

  std::vector<StructLit*> files(const CompileInput& input);
  // An expression in the scope of compiled files (nullptr: of none).
  Node* expression(ast::Node* x, const CompileInput* scope);

  // Names of builtin packages mean the packages without an import (`-e 'strings.ToUpper(x)'`).
  void infer_packages(bool on) { infer_packages_ = on; }

  const std::vector<CompileError>& errors() const { return errors_; }
  const std::vector<Symbol>& imports() const { return imports_; }  // all paths that are used

 private:
  enum class EntryKind : u8 { kField, kAlias, kLet, kLabel, kValueAlias, kImport, kClause };
  struct Entry {
    EntryKind kind;
    const ast::Node* node = nullptr;  // what it stands for
    const ast::Field* field = nullptr;
    bool used = false;
    enum : u8 { kFresh, kCompiling, kDone } let_state = kFresh;
    Label let_label;
    Symbol import_path;
    Node* label_expr = nullptr;  // of a dynamic field with an alias
  };
  struct Frame {
    u32 up = 0;
    bool is_field = false;  // scope of one field: pattern or value alias
    bool in_field = false;  // a value of this scope is being compiled
    bool comprehension_var = false;
    std::vector<std::pair<Symbol, Entry>> names;
    std::vector<std::pair<u32, u32>> index;  // hash table once there are many
    const ast::Node* label_node = nullptr;   // of the field being compiled, for paths
  };

  Frame& push(u32 up);
  void pop();
  Entry* find(Frame& f, Symbol name);
  Entry* lookup(Symbol name, std::size_t* frame = nullptr);
  bool is_hidden(const ast::Node* let) const;
  void insert(const ast::Node* at, Symbol name, Entry entry);
  void error(Pos at, std::string message, std::string near = {});
  Node* bad(const ast::Node* n, std::string message, std::string near = {});
  std::string path() const;

  void declare(ast::Nodes decls);
  void declare_postfix(const ast::Field* f, const ast::PostfixAlias* a);
  void dynamic_aliases(ast::Nodes decls);
  void struct_body(StructLit* s, ast::Nodes decls);
  Node* decl(ast::Node* d);
  Node* field(const ast::Field* f);
  Node* labeled(const ast::Node* label, ast::Node* value);
  Node* expr(ast::Node* n);
  Node* binary(const ast::Binary* n);
  Node* unary(const ast::Unary* n);
  Node* interpolation(const ast::Interpolation* n);
  Node* literal(const ast::Lit* n);
  Node* postfix(const ast::Postfix* n);
  Node* comprehension(const ast::Comprehension* c, bool in_list);
  void disjuncts(std::vector<Disjunct>& out, bool& marked, ast::Node* n, bool mark);
  Node* resolve(const ast::Ident* n);
  Node* reference(const ast::Ident* n, Entry& e, std::size_t frame);
  std::string meant(Symbol name) const;
  Node* predeclared(const ast::Ident* n);
  void check_let(Entry& e, std::size_t frame, const ast::Ident* n);
  void check_pattern_names(ast::Node* n);
  Label label(const ast::Node* n);
  std::string_view kept(std::string_view text);
  void assert_concrete(const ast::Node* n, Op op, const Node* x);
  u32 depth_to(std::size_t frame) const;

  NodeStore& store_;
  std::vector<Frame> stack_;
  std::vector<CompileError> errors_;
  std::vector<Symbol> imports_;
  std::string package_;
  Symbol anything_{"_"};
  std::string_view source_;  // the text of the file that is being compiled
  std::vector<Label> file_scope_;
  std::vector<Node*> gathered_;  // of the literals that are being compiled, one behind the other
  std::vector<std::pair<std::size_t, const ast::Node*>> hidden_;  // lets whose own expression is being compiled
  std::function<std::string(std::string_view)> package_name_;
  ast::Experiments experiments_;
  bool refers_to_variable_ = false, infer_packages_ = false;
  int in_try_ = 0;
  bool data_ = false;
};

// The last element of an import path and the name given after a colon: "a.b/c@v1:d" is d.
std::string import_name(std::string_view path);

// The names that need no declaration, for "did you mean".
std::vector<std::string_view> predeclared_names();

// BasicType, range or builtin of a predeclared name; nullptr for none. (compile/predeclared.cpp)
Node* predeclared_value(NodeStore& store, std::string_view name, const ast::Node* src);

}  // namespace tutti::cue
