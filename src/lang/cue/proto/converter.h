#pragma once

#include "lang/cue/proto/convert.h"

namespace tutti::cue {

// One file: messages to definitions, enums to disjunctions, oneofs to alternatives.
class ProtoConverter {
 public:
  ProtoConverter(ProtoImporter& owner, ProtoImporter::Unit& unit, std::string package)
      : owner_(owner), unit_(unit), package_(std::move(package)), b_(owner.arena_) {}
  ast::File* run();

 private:
  using Scope = std::vector<const ProtoNode*>;

  void message(const ProtoNode& m, std::vector<ast::Node*>& out);
  void body(const ProtoNode& m, std::vector<ast::Node*>& out);
  void enumeration(const ProtoNode& e, std::vector<ast::Node*>& out);
  void field(const ProtoNode& f, std::vector<ast::Node*>& out, bool in_oneof);
  ast::Node* oneof(const ProtoNode& o);
  void constraints(const ProtoNode& n, const std::string& name, Tok optional, std::vector<ast::Node*>& out);
  ast::Node* type(const std::string& name, Pos pos);
  ast::Node* well_known(const std::string& name);
  ast::Node* in_unit(const ProtoImporter::Unit& u, const std::string& full, bool own);
  std::string attribute(const ProtoNode& f, const std::string& type_text, const std::string& name) const;
  ast::Node* parse(const ProtoOption& o, Pos pos);
  bool flag(const ProtoNode& n, std::string_view name) const;
  void doc(ast::Node* n, const std::vector<std::string>& lines, Rel rel);
  void trailing(ast::Node* n, const std::string& text);
  void fail(Pos pos, std::string message) { owner_.errors_.push_back({pos, std::move(message)}); }
  std::string import_name(const ProtoImporter::Unit& u);

  ProtoImporter& owner_;
  ProtoImporter::Unit& unit_;
  std::string package_;
  Build b_;
  Scope scope_;
  std::vector<std::string> used_;  // import paths in the order of their first use
};

}  // namespace tutti::cue
