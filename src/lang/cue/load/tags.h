#pragma once

#include <string>
#include <vector>

#include "lang/cue/eval/print.h"
#include "lang/cue/syntax/ast.h"
#include "text/source.h"

namespace tutti::cue {

// Values given from outside for fields marked @tag(name), and conditions of files: @if(expr), @ignore().
class Tags {
 public:
  Tags(Sources& sources, Arena& arena, const std::vector<std::string>& given);

  // Whether the attributes before its package clause leave the file out.
  bool excluded(const ast::File* file, std::vector<FlatError>& errors);
  // Joins the given values to the fields that ask for them.
  void inject(ast::File* file, std::vector<FlatError>& errors);
  // Tags that no file asked for are errors.
  void check_used(std::vector<FlatError>& errors) const;

 private:
  struct Tag {
    std::string name, value;
    bool has_value = false, used = false;
  };
  bool condition(const ast::Node* x, const ast::File* file, std::vector<FlatError>& errors);
  void fields(ast::Nodes decls, std::vector<FlatError>& errors);
  void field(ast::Field* f, const ast::Attribute* a, std::vector<FlatError>& errors);

  Sources& sources_;
  Arena& arena_;
  std::vector<Tag> tags_;
};

// The parts of an attribute's body: a,b=c,"d" as (key, value) pairs; quotes and brackets hold commas together.
std::vector<std::pair<std::string, std::string>> attribute_parts(std::string_view body);

}  // namespace tutti::cue
