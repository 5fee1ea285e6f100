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
bool is_value(const Item& item) { return !item.element || item.element->kind == ElementKind::kExpression; }
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

// Puts a shape together, element by element.
class Folding {
 public:
  Folding(Arena& arena, const Shape* prototype) : arena_(arena) {
    if (!prototype) return;
    slots_.assign(prototype->slots.begin(), prototype->slots.end());
    levels_.assign(slots_.size(), 0);
    attributes_.assign(prototype->attributes.begin(), prototype->attributes.end());
    ref_ = prototype->ref;
    lazy_ = prototype->lazy;
    has_value_ = std::any_of(slots_.begin(), slots_.end(), [](const Slot& s) { return is_value(s.item); });
  }

  void apply(const Element& e) {
    chain_.push_back(&e);
    apply_attributes(e);
    if (e.items.empty() && !e.ref) return;
    ref_ = e.ref;
    lazy_ = e.lazy;
    bool lists = std::any_of(e.items.begin(), e.items.end(), is_property);
    bool value = !lists && !std::all_of(e.items.begin(), e.items.end(), is_insertion);
    if (value || e.ref) {
      clear();
    } else {
      drop_value();
    }
    if (!replace_in_place(e)) merge(e);
  }

  Shape finish() {
    Shape shape;
    shape.ref = ref_;
    shape.lazy = lazy_;
    shape.attributes = arena_.copy(std::span<const Attribute>(attributes_));
    // What stands in a list came to the next one with that one's cdl:extends.
    for (std::size_t i = 0; i < slots_.size(); i++) {
      if (!slots_[i].via && levels_[i] < chain_.size()) slots_[i].via = chain_[levels_[i]];
    }
    shape.slots = arena_.copy(std::span<const Slot>(slots_));
    return shape;
  }

 private:
  u32 level() const { return static_cast<u32>(chain_.size()); }

  void push(const Slot& slot) {
    slots_.push_back(slot);
    levels_.push_back(level());
    has_value_ |= is_value(slot.item);
    if (indexed_ && is_property(slot.item)) note(slot.item.element->name, slots_.size() - 1);
  }

  // The place of the property called so; kNone, or kSeveral. A scan where there are few, a table where there are many.
  std::size_t find(QName name) {
    if (slots_.size() <= 16) {
      std::size_t found = kNone;
      for (std::size_t i = 0; i < slots_.size(); i++) {
        if (!is_property(slots_[i].item) || slots_[i].item.element->name != name) continue;
        if (found != kNone) return kSeveral;
        found = i;
      }
      return found;
    }
    if (!indexed_) {
      indexed_ = true;
      for (std::size_t i = 0; i < slots_.size(); i++) {
        if (is_property(slots_[i].item)) note(slots_[i].item.element->name, i);
      }
    }
    auto it = index_.find(name.key());
    return it == index_.end() ? kNone : it->second;
  }

  void forget_index() {
    indexed_ = false;
    index_.clear();
  }

  void note(QName name, std::size_t at) {
    auto [it, fresh] = index_.try_emplace(name.key(), at);
    if (!fresh) it->second = kSeveral;
  }

  void clear() {
    slots_.clear();
    levels_.clear();
    has_value_ = false;
    forget_index();
  }

  // Text or an expression was the value so far: elements replace it. Insertions stay.
  void drop_value() {
    if (!has_value_) return;
    std::size_t kept = 0;
    for (std::size_t i = 0; i < slots_.size(); i++) {
      if (is_value(slots_[i].item)) continue;
      slots_[kept] = slots_[i];
      levels_[kept++] = levels_[i];
    }
    slots_.resize(kept);
    levels_.resize(kept);
    has_value_ = false;
    forget_index();
  }

  void apply_attributes(const Element& e) {
    auto has = [&](const Attribute& a) {
      return std::any_of(e.attributes.begin(), e.attributes.end(),
                         [&](const Attribute& o) { return o.name == a.name; });
    };
    bool keep_lazy = e.items.empty() && !e.ref;
    if (e.lazy_written) lazy_ = e.lazy;
    if (e.attributes.empty() && keep_lazy) return;
    std::vector<Attribute> all(e.attributes.begin(), e.attributes.end());
    for (const Attribute& a : attributes_) {
      if (!has(a) && (keep_lazy || !is_lazy_attribute(a))) all.push_back(a);
    }
    attributes_ = std::move(all);
  }

  // Where no name is there twice, own properties take their places one by one. False: merge() must see to it.
  bool replace_in_place(const Element& e) {
    for (const Item& item : e.items) {
      std::size_t at = is_property(item) ? find(item.element->name) : kNone;
      if (at == kNone) {
        push({item});
        continue;
      }
      if (at == kSeveral || levels_[at] == level()) return false;
      slots_[at] = {item, arena_.make<Overridden>(slots_[at].item.element, slots_[at].overridden), nullptr};
      levels_[at] = level();
    }
    return true;
  }

  // The general rule of 7.2.2.1. May find own properties in place already.
  void merge(const Element& e) {
    std::vector<Slot> out;
    std::vector<u32> levels;
    OwnNames own(e.items);
    std::vector<std::size_t> mine;
    std::unordered_map<u64, std::size_t> placed;  // where the first own one of a name stands
    for (std::size_t s = 0; s < slots_.size(); s++) {
      const Slot& slot = slots_[s];
      bool fresh = levels_[s] == level() && !slot.overridden;
      if (fresh) continue;  // put at the end by replace_in_place: comes again below
      const Overridden* replaced = slot.overridden;
      if (is_property(slot.item)) own.find(slot.item.element->name, mine);
      if (!is_property(slot.item) || mine.empty()) {
        out.push_back(slot);
        levels.push_back(levels_[s]);
        continue;
      }
      if (levels_[s] != level()) replaced = arena_.make<Overridden>(slot.item.element, slot.overridden);
      u64 key = slot.item.element->name.key();
      if (own.used()[mine.front()]) {
        std::size_t at = placed[key];
        for (std::size_t i = 0; i < mine.size(); i++) {
          out[at + i].overridden = append(arena_, out[at + i].overridden, replaced);
        }
        continue;
      }
      placed[key] = out.size();
      for (std::size_t i : mine) {
        own.used()[i] = true;
        out.push_back({e.items[i], replaced, nullptr});
        levels.push_back(level());
      }
    }
    for (std::size_t i = 0; i < e.items.size(); i++) {
      if (own.used()[i]) continue;
      out.push_back({e.items[i], nullptr, nullptr});
      levels.push_back(level());
    }
    slots_ = std::move(out);
    levels_ = std::move(levels);
    forget_index();
  }

  static constexpr std::size_t kSeveral = static_cast<std::size_t>(-1), kNone = kSeveral - 1;
  Arena& arena_;
  std::vector<Slot> slots_;
  std::vector<u32> levels_;  // in which element of the chain each stands: 0 is the prototype
  std::vector<const Element*> chain_;
  std::vector<Attribute> attributes_;
  const Reference* ref_ = nullptr;
  bool lazy_ = false;
  bool has_value_ = false;
  bool indexed_ = false;
  std::unordered_map<u64, std::size_t> index_;
};

}  // namespace

Shape fold(Arena& arena, std::span<const Element* const> chain, const Shape* prototype) {
  Folding folding(arena, prototype);
  for (const Element* e : chain) folding.apply(*e);
  return folding.finish();
}

}  // namespace tutti::cdl
