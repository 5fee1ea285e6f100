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

Resource* Catalog::find(Symbol type, std::string_view title) const {
  auto it = index_.find(Key{type, title});
  return it == index_.end() ? nullptr : it->second;
}

Resource* Catalog::make() { return &made_.emplace_back(); }

void Catalog::add(Resource* r) {
  r->index = static_cast<u32>(resources.size());
  resources.push_back(r);
  index_.emplace(Key{r->type, r->title}, r);
}
void Catalog::alias(Symbol type, std::string_view title, Resource* r) { index_.emplace(Key{type, title}, r); }

void Catalog::tag(Symbol t) {
  for (Symbol x : tags)
    if (x == t) return;
  tags.push_back(t);
}

}  // namespace tutti::puppet
