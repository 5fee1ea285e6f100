#pragma once

#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "lang/puppet/eval/scope.h"
#include "lang/puppet/types/value.h"

namespace tutti::puppet {

struct NativeType;

struct ResourceParam {
  Symbol name;
  Val value;
  Pos at;                              // where it was set
  const Definition* source = nullptr;  // the class or define that set it (nullptr: main)
  bool source_override = false;        // set by a collector, which may override anything
  bool add = false;                    // +>
  How how = How::kWritten;
  Origin replaced;            // what it overrode
  Symbol lower_name() const;  // as catalogs write it
};

enum class ResourceKind : u8 { kUnknown, kNative, kDefine, kClass };

struct Resource {
  Symbol type;             // "File", "Class", "Apache::Vhost"
  std::string_view title;  // of a class: lower case
  Symbol title_symbol;
  std::vector<ResourceParam> params;
  std::vector<Symbol> tags;  // a set, in order
  Pos at;                    // none for classes that were included
  Pos included_at;           // where they were
  ResourceKind kind = ResourceKind::kUnknown;
  bool is_virtual = false, exported = false, evaluated = false, finished = false, is_class = false, tags_merged = false;
  bool is_stage = false, is_node = false;
  Scope* scope = nullptr;                  // where it was declared
  const Definition* definition = nullptr;  // class, define or node
  const Definition* source = nullptr;      // whose code declared it
  bool source_override = false;
  const NativeType* native = nullptr;
  std::vector<Symbol> sensitive;
  u32 index = 0;  // in the catalog

  ResourceParam* find(Symbol name) {
    for (ResourceParam& p : params)
      if (p.name == name) return &p;
    return nullptr;
  }
  const ResourceParam* find(Symbol name) const { return const_cast<Resource*>(this)->find(name); }
  void tag(Symbol t) {
    for (Symbol x : tags)
      if (x == t) return;
    tags.push_back(t);
  }
  std::string ref() const;          // File[/x], Class[Foo::Bar]
  std::string class_title() const;  // Foo::Bar
};

struct Edge {
  Resource* source;
  Resource* target;
};

// The resources of a node in the order they were added, found by type and title.
class Catalog {
 public:
  std::vector<Resource*> resources;  // in the order they were added
  std::vector<Edge> edges;
  std::vector<Symbol> classes;  // evaluated, in order
  std::vector<Symbol> tags;

  Resource* find(Symbol type, std::string_view title) const;
  Resource* make();       // a resource that is not in the catalog yet
  void add(Resource* r);  // the caller has checked that there is none
  void alias(Symbol type, std::string_view title, Resource* r);
  void tag(Symbol t);

 private:
  std::deque<Resource> made_;
  struct Key {
    Symbol type;
    std::string_view title;
    bool operator==(const Key&) const = default;
  };
  struct KeyHash {
    std::size_t operator()(const Key& k) const {
      return std::hash<std::string_view>{}(k.title) ^ std::hash<Symbol>{}(k.type);
    }
  };
  std::unordered_map<Key, Resource*, KeyHash> index_;
};

}  // namespace tutti::puppet
