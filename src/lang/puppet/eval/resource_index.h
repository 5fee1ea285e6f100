#pragma once

#include <string_view>
#include <unordered_map>
#include <vector>

#include "lang/puppet/catalog/resource.h"

namespace tutti::puppet {

// What a collector's query may find, without looking at every resource for every collector in every round. All of it is
// built when it is first asked for: most catalogs have no collectors. The answers are resources that may match, a query
// is still asked of each.
class ResourceIndex {
 public:
  explicit ResourceIndex(const Catalog& catalog) : catalog_(catalog) {}

  // The resources of a type in the order they were added, and again each time one was changed. The list only grows.
  const std::vector<Resource*>& events(Symbol type);
  // Those of a type whose attribute (or title) is or was the text, or a list with it. Not sorted, some more than once.
  const std::vector<Resource*>& having(Symbol type, Symbol attribute, std::string_view text);
  // Those of a type that have the tag, or are in something that has it. Not sorted.
  void tagged(Symbol type, Symbol tag, std::vector<Resource*>& out);

  void changed(Resource& r);  // its parameters or tags
  void next_round();          // while definitions were evaluated, any resource may have got tags

 private:
  void add_tags(const Resource& r);
  void read_tags();

  const Catalog& catalog_;
  std::size_t known_ = 0, tags_known_ = 0;  // resources read
  std::unordered_map<Symbol, std::vector<Resource*>> events_;
  struct Texts {
    std::size_t known = 0;                                              // events read
    std::unordered_map<std::size_t, std::vector<Resource*>> resources;  // by a hash of the text
  };
  std::unordered_map<u64, Texts> attributes_;                // by the numbers of type and attribute
  std::unordered_map<Symbol, std::vector<Resource*>> tags_;  // those that have it themselves
  // Of each resource: how many of its tags were read, the first one in it, and the next in the same container. Numbers
  // are 1 + its own in the catalog, 0 is none.
  struct Place {
    u32 tags = 0, first_in_it = 0, next = 0;
  };
  std::vector<Place> places_;
};

}  // namespace tutti::puppet
