#pragma once

#include <string>
#include <vector>

#include "base/sink.h"
#include "lang/puppet/eval/compiler.h"

namespace tutti::puppet {

// The catalog as a tree: `resources` by reference ("File[/x]") in catalog order, each with type, title, tags,
// parameters; `edges`, `classes`. Values that data formats do not have keep their kind: references are resources,
// Sensitive is secret.
Value catalog_tree(Compiler& compiler);

// Puppet's own catalog JSON: of a tree, or straight from the compiler, one resource at a time, without a tree of it
// all. With `hidden`, what is secret or holds one of these is written as `(secret)`.
void write_catalog(const Value& tree, Sink& sink, const SecretWords* hidden = nullptr);
void write_catalog(Compiler& compiler, Sink& sink, bool reveal);
void write_catalog_value(const Value& value, Sink& sink, const SecretWords* hidden = nullptr);  // references as text
// What the node exports, as other nodes would collect it: the items of a JSON list, without its brackets.
std::string exported_json(Compiler& compiler);

// A value of the language as a tree, and back (facts, data files).
Value to_tree(const TreeBuilder& builder, const Val& v, Origin otherwise);
Val from_tree(Arena& arena, const Value& v);

// The parts of a catalog's tree, made in an arena of the caller's.
class CatalogTree {
 public:
  // Without `origins` only places are kept.
  CatalogTree(Arena& arena, const Sources& sources, Origins* origins)
      : b_(arena), sources_(sources), origins_(origins) {}
  void head(MapDraft& root, Compiler& compiler);  // what comes before the resources
  Value resource(const Resource& r);
  Value names(std::span<const Symbol> all);

 private:
  void put(Symbol key, const Value& value);
  Value take(std::size_t first, Origin o);
  Value parameters(const Resource& r);
  std::string_view absolute_path(const Source& source);

  TreeBuilder b_;
  const Sources& sources_;
  Origins* origins_;
  std::vector<Entry> entries_;
  std::vector<Value> items_;
  const Source* last_source_ = nullptr;
  Symbol last_path_;
};

bool in_catalog(const Resource& r);          // what stayed virtual is not
std::string catalog_ref(const Resource& r);  // File[/x], Class[main]

}  // namespace tutti::puppet
