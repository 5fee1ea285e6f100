#include "lang/puppet/catalog/resource.h"

#include "lang/puppet/types/type.h"

namespace tutti::puppet {

Symbol ResourceParam::lower_name() const {
  for (char c : name.text())
    if (c >= 'A' && c <= 'Z') return Symbol(downcase(name.text()));
  return name;
}

std::string Resource::class_title() const { return capitalize_segments(title); }

std::string Resource::ref() const {
  std::string out(type.text());
  out += '[';
  out += is_class ? class_title() : std::string(title);
  out += ']';
  return out;
}

namespace {
u32 hash_of(Symbol type, std::string_view title) {
  return static_cast<u32>(std::hash<std::string_view>{}(title) ^ (std::hash<Symbol>{}(type) >> 7));
}
}  // namespace

Resource* Catalog::find(Symbol type, std::string_view title) const {
  if (slots_.empty()) return nullptr;
  u32 hash = hash_of(type, title);
  std::size_t mask = slots_.size() - 1;
  for (std::size_t at = hash & mask; slots_[at].resource; at = (at + 1) & mask) {
    const Slot& s = slots_[at];
    if (s.hash != hash || s.resource->type != type) continue;
    if ((s.alias ? aliases_[s.alias - 1] : s.resource->title) == title) return s.resource;
  }
  return nullptr;
}

void Catalog::grow() {
  std::vector<Slot> bigger(slots_.empty() ? 64 : slots_.size() * 2);
  std::size_t mask = bigger.size() - 1;
  for (const Slot& s : slots_) {
    if (!s.resource) continue;
    std::size_t at = s.hash & mask;
    while (bigger[at].resource) at = (at + 1) & mask;
    bigger[at] = s;
  }
  slots_ = std::move(bigger);
}

void Catalog::index(std::string_view title, Resource* r) {
  if (find(r->type, title)) return;
  if ((used_ + 1) * 4 > slots_.size() * 3) grow();
  Slot slot{hash_of(r->type, title), 0, r};
  if (title != r->title) {
    aliases_.push_back(title);
    slot.alias = static_cast<u32>(aliases_.size());
  }
  std::size_t mask = slots_.size() - 1, at = slot.hash & mask;
  while (slots_[at].resource) at = (at + 1) & mask;
  slots_[at] = slot;
  ++used_;
}

Resource* Catalog::make() { return &made_.emplace_back(); }

void Catalog::add(Resource* r) {
  r->index = static_cast<u32>(resources.size());
  resources.push_back(r);
  index(r->title, r);
}
void Catalog::alias(std::string_view title, Resource* r) { index(title, r); }

void Catalog::tag(Symbol t) {
  for (Symbol x : tags)
    if (x == t) return;
  tags.push_back(t);
}

}  // namespace tutti::puppet
