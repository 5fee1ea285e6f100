#pragma once

#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "lang/puppet/catalog/packed_list.h"
#include "lang/puppet/eval/scope.h"
#include "lang/puppet/types/value.h"

namespace tutti::puppet {

struct NativeType;

struct ResourceParam {
  Val value;
  const Definition* source = nullptr;  // the class or define that set it (nullptr: main)
  Symbol name;
  Pos at;           // where it was set
  Origin replaced;  // what it overrode
  How how = How::kWritten;
  bool source_override = false;  // set by a collector, which may override anything
  bool add = false;              // +>
  Symbol lower_name() const;     // as catalogs write it
  bool of_body = false;          // the list is that of all titles of a resource body
};
static_assert(sizeof(ResourceParam) == 48);

enum class ResourceKind : u8 { kUnknown, kNative, kDefine, kClass };

struct Resource {
  std::string_view title;            // of a class: lower case
  PackedList<ResourceParam> params;  // in the order they were set
  PackedList<Symbol> tags;           // a set, in order
  PackedList<Symbol> sensitive;
  Scope* scope = nullptr;                  // where it was declared
  const Definition* definition = nullptr;  // class, define or node
  const Definition* source = nullptr;      // whose code declared it
  const NativeType* native = nullptr;
  Symbol type;      // "File", "Class", "Apache::Vhost"
  Pos at;           // of the title; none for classes that were included
  Pos statement;    // as catalogs give its line: that of the whole expression, for all of its titles
  Pos included_at;  // where they were
  u32 index = 0;    // in the catalog
  ResourceKind kind = ResourceKind::kUnknown;
  bool is_virtual = false, exported = false, evaluated = false, is_class = false, tags_merged = false;
  bool is_stage = false, is_node = false;
  bool number_title = false;  // create_resources was given a number: it is no tag, and the name is written out

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
  void alias(std::string_view title, Resource* r);
  void tag(Symbol t);

 private:
  void index(std::string_view title, Resource* r);
  void grow();

  std::deque<Resource> made_;
  // Open addressing by type and title. A name is that of the resource itself, or an alias of it.
  struct Slot {
    u32 hash = 0;
    u32 alias = 0;  // 1 + number in aliases_; 0: the resource's own title
    Resource* resource = nullptr;
  };
  std::vector<Slot> slots_;
  std::size_t used_ = 0;
  std::vector<std::string_view> aliases_;
};

}  // namespace tutti::puppet
