#include "lang/puppet/eval/resource_index.h"

#include <string>

namespace tutti::puppet {
namespace {

// Alike for texts that are equal in the language, which is blind to the case of ASCII letters.
std::size_t folded_hash(std::string_view text) {
  std::string folded(text);
  for (char& c : folded)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c + 32);
  return std::hash<std::string_view>{}(folded);
}

const Resource* container_of(const Resource& r) {
  const Resource* c = r.scope ? r.scope->resource : nullptr;
  return c == &r ? nullptr : c;
}

}  // namespace

const std::vector<Resource*>& ResourceIndex::events(Symbol type) {
  for (; known_ < catalog_.resources.size(); ++known_)
    events_[catalog_.resources[known_]->type].push_back(catalog_.resources[known_]);
  return events_[type];
}

const std::vector<Resource*>& ResourceIndex::having(Symbol type, Symbol attribute, std::string_view text) {
  static const Symbol title("title");
  const std::vector<Resource*>& all = events(type);
  Texts& texts = attributes_[u64{type.id()} << 32 | attribute.id()];
  for (; texts.known < all.size(); ++texts.known) {
    Resource* r = all[texts.known];
    const ResourceParam* p = attribute == title ? nullptr : r->find(attribute);
    Val value = attribute == title ? Val::string(r->title) : p ? p->value : Val::undef();
    for (const Val& v : value.is(VK::kArray) ? value.items() : std::span<const Val>(&value, 1))
      if (v.is(VK::kString)) texts.resources[folded_hash(v.text())].push_back(r);
  }
  static const std::vector<Resource*> none;
  auto found = texts.resources.find(folded_hash(text));
  return found == texts.resources.end() ? none : found->second;
}

void ResourceIndex::add_tags(const Resource& r) {
  u32& read = places_[r.index].tags;
  for (; read < r.tags.size(); ++read) tags_[r.tags.begin()[read]].push_back(catalog_.resources[r.index]);
}

void ResourceIndex::read_tags() {
  places_.resize(catalog_.resources.size());
  for (; tags_known_ < catalog_.resources.size(); ++tags_known_) {
    const Resource& r = *catalog_.resources[tags_known_];
    add_tags(r);
    if (const Resource* c = container_of(r)) {
      Place& outer = places_[c->index];
      places_[r.index].next = outer.first_in_it;
      outer.first_in_it = r.index + 1;
    }
  }
}

void ResourceIndex::tagged(Symbol type, Symbol tag, std::vector<Resource*>& out) {
  read_tags();
  auto own = tags_.find(tag);
  if (own == tags_.end()) return;
  std::vector<Resource*> todo = own->second;
  while (!todo.empty()) {
    Resource* r = todo.back();
    todo.pop_back();
    if (r->type == type) out.push_back(r);
    for (u32 n = places_[r->index].first_in_it; n; n = places_[n - 1].next) {
      Resource* inner = catalog_.resources[n - 1];
      // What has the tag itself is on the list already.
      bool has_it = false;
      for (Symbol t : inner->tags) has_it = has_it || t == tag;
      if (!has_it) todo.push_back(inner);
    }
  }
}

void ResourceIndex::changed(Resource& r) {
  if (r.index < known_ && catalog_.resources[r.index] == &r) events_[r.type].push_back(&r);
  if (r.index < tags_known_ && catalog_.resources[r.index] == &r) add_tags(r);
}

void ResourceIndex::next_round() {
  for (std::size_t n = 0; n < tags_known_; ++n) add_tags(*catalog_.resources[n]);
}

}  // namespace tutti::puppet
