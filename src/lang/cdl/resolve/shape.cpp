#include "lang/cdl/resolve/shape.h"

#include <algorithm>
#include <unordered_map>

namespace tutti::cdl {

bool is_lazy_attribute(const Attribute& a) {
  static const Symbol kLazy("lazy");
  return a.name.local == kLazy && is_cdl_namespace(a.name.ns);
}

std::span<const Attribute> join_attributes(Arena& arena, std::span<const Attribute> own,
                                           std::span<const Attribute> inherited) {
  auto has = [&](const Attribute& a) {
    return std::any_of(own.begin(), own.end(), [&](const Attribute& o) { return o.name == a.name; });
  };
  std::size_t more = 0;
  for (const Attribute& a : inherited) more += !is_lazy_attribute(a) && !has(a);
  if (more == 0) return own;
  Attribute* all = arena.array<Attribute>(own.size() + more);
  std::copy(own.begin(), own.end(), all);
  std::size_t n = own.size();
  for (const Attribute& a : inherited) {
    if (!is_lazy_attribute(a) && !has(a)) all[n++] = a;
  }
  return {all, n};
}

namespace {

bool is_property(const Item& item) { return item.element && item.element->kind == ElementKind::kProperty; }
bool is_insertion(const Item& item) { return item.element && item.element->kind == ElementKind::kInsertion; }

// The own properties by name: a scan for few, a table for many.
class OwnNames {
 public:
  explicit OwnNames(std::span<const Item> items) : items_(items), used_(items.size()) {
    if (items.size() <= 8) return;
    for (std::size_t i = 0; i < items.size(); i++) {
      if (is_property(items[i])) table_[items[i].element->name.key()].push_back(i);
    }
  }

  // Indices of the own properties called so, in order.
  void find(QName name, std::vector<std::size_t>& out) const {
    out.clear();
    if (items_.size() > 8) {
      if (auto it = table_.find(name.key()); it != table_.end()) out = it->second;
      return;
    }
    for (std::size_t i = 0; i < items_.size(); i++) {
      if (is_property(items_[i]) && items_[i].element->name == name) out.push_back(i);
    }
  }
  std::vector<bool>& used() { return used_; }

 private:
  std::span<const Item> items_;
  std::vector<bool> used_;
  std::unordered_map<u64, std::vector<std::size_t>> table_;
};

// The two lists of replaced elements one after the other.
const Overridden* append(Arena& arena, const Overridden* first, const Overridden* second) {
  if (!first) return second;
  return arena.make<Overridden>(first->element, append(arena, first->next, second));
}

std::span<const Slot> merge(Arena& arena, const Element& e, std::span<const Slot> inherited) {
  std::vector<Slot> out;
  out.reserve(inherited.size() + e.items.size());
  OwnNames own(e.items);
  std::vector<std::size_t> mine;
  std::unordered_map<u64, std::size_t> placed;  // where the first own one of a name stands, for names replaced twice
  for (const Slot& slot : inherited) {
    if (!is_property(slot.item)) {
      // Text or an expression was the prototype's value: replaced by elements. Insertions stay.
      if (is_insertion(slot.item)) {
        out.push_back(slot);
        if (!out.back().via) out.back().via = &e;
      }
      continue;
    }
    own.find(slot.item.element->name, mine);
    if (mine.empty()) {
      out.push_back(slot);
      if (!out.back().via) out.back().via = &e;
      continue;
    }
    const Overridden* replaced = arena.make<Overridden>(slot.item.element, slot.overridden);
    if (own.used()[mine.front()]) {
      std::size_t at = placed[slot.item.element->name.key()];
      for (std::size_t i = 0; i < mine.size(); i++) {
        out[at + i].overridden = append(arena, out[at + i].overridden, replaced);
      }
      continue;
    }
    placed[slot.item.element->name.key()] = out.size();
    for (std::size_t i : mine) {
      own.used()[i] = true;
      out.push_back({e.items[i], replaced, nullptr});
    }
  }
  for (std::size_t i = 0; i < e.items.size(); i++) {
    if (!own.used()[i]) out.push_back({e.items[i], nullptr, nullptr});
  }
  return arena.copy(std::span<const Slot>(out));
}

}  // namespace

Shape fold(Arena& arena, const Element& e, const Shape* prototype) {
  Shape shape;
  shape.attributes = e.attributes;
  shape.ref = e.ref;
  shape.lazy = e.lazy;
  bool lists = std::any_of(e.items.begin(), e.items.end(), [](const Item& i) { return is_property(i); });
  bool value = !lists && std::any_of(e.items.begin(), e.items.end(), [](const Item& i) { return !is_insertion(i); });
  std::span<const Slot> inherited;
  if (prototype) {
    inherited = prototype->slots;
    if (e.items.empty() && !e.ref) {
      shape.ref = prototype->ref;
      if (!e.lazy_written && prototype->lazy) {
        shape.lazy = true;
        auto it = std::find_if(prototype->attributes.begin(), prototype->attributes.end(), is_lazy_attribute);
        if (it != prototype->attributes.end()) {
          std::vector<Attribute> own(e.attributes.begin(), e.attributes.end());
          own.push_back(*it);
          shape.attributes = arena.copy(std::span<const Attribute>(own));
        }
      }
    }
    shape.attributes = join_attributes(arena, shape.attributes, prototype->attributes);
  }
  if (!value && !inherited.empty() && !(e.items.empty() && !e.ref)) {
    shape.slots = merge(arena, e, inherited);
  } else if (e.items.empty() && !inherited.empty()) {
    Slot* slots = arena.array<Slot>(inherited.size());
    for (std::size_t i = 0; i < inherited.size(); i++) {
      slots[i] = inherited[i];
      if (!slots[i].via) slots[i].via = &e;
    }
    shape.slots = {slots, inherited.size()};
  } else {
    Slot* slots = arena.array<Slot>(e.items.size());
    for (std::size_t i = 0; i < e.items.size(); i++) slots[i] = {e.items[i], nullptr, nullptr};
    shape.slots = {slots, e.items.size()};
  }
  return shape;
}

}  // namespace tutti::cdl
