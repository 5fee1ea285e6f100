#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lang/cue/syntax/ast.h"

// JSON and YAML documents as the readers of data give them (structs, lists and literals), looked at as data.
namespace tutti::cue {

struct DataEntry {
  std::string key;
  Pos pos;  // of the key; inside its quotes where it has some
  ast::Node* value = nullptr;
};

// The fields of an object in the order in which they are written; a key that comes twice is there once, as its last.
// Empty for anything but an object.
std::vector<DataEntry> data_entries(ast::Node* object);
ast::Node* data_get(ast::Node* object, std::string_view key);  // nullptr where there is none
std::vector<ast::Node*> data_items(ast::Node* list);
std::optional<std::string> data_text(const ast::Node* n);
std::optional<long long> data_integer(const ast::Node* n);
std::optional<bool> data_bool(const ast::Node* n);
bool data_is_object(const ast::Node* n);
bool data_is_list(const ast::Node* n);
bool data_is_number(const ast::Node* n);
bool data_is_null(const ast::Node* n);

}  // namespace tutti::cue
