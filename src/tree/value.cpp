#include "tree/value.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <cstring>
#include <thread>

namespace tutti {

// The body of a list is its items, the body of a map its entries, with nothing around them: millions of small maps have
// no other cost. Before the entries of a large map lies its index, which is filled when a key is first looked up, as
// most maps are only printed. Its room is in the arena from the start (untouched memory costs nothing); threads that
// meet while it is filled wait for the one that does.
struct MapIndex {
  mutable std::atomic<u32> state;  // kEmpty, kFilling, kReady
  u32* slots;                      // open addressing, 1 + position, mask = capacity - 1
};

namespace {

constexpr u32 kEmpty = 0, kFilling = 1, kReady = 2;
constexpr u32 kScanned = 12;  // up to here a scan of 32-byte entries beats hashing

u32 capacity_for(std::size_t n) {
  u32 c = 16;
  while (c < n * 2) c *= 2;
  return c;
}

u32 slot_of(Symbol key, u32 mask) { return static_cast<u32>(std::hash<Symbol>{}(key) >> 32) & mask; }

}  // namespace

std::string_view kind_word(Kind kind) {
  switch (kind) {
    case Kind::kNull: return "null";
    case Kind::kBool: return "boolean";
    case Kind::kInt: return "integer";
    case Kind::kDecimal: return "decimal";
    case Kind::kString: return "string";
    case Kind::kBytes: return "bytes";
    case Kind::kList: return "list";
    case Kind::kMap: return "map";
    case Kind::kReference: return "reference";
    case Kind::kLazy: return "lazy";
    case Kind::kResource: return "resource";
    case Kind::kOpen: return "open";
    case Kind::kError: return "error";
  }
  return "";
}

Value Value::boolean(bool b, Origin o) {
  Value v(Kind::kBool, o);
  v.u_.integer = 0;
  v.u_.boolean = b;
  return v;
}

Value Value::integer(i64 i, Origin o) {
  Value v(Kind::kInt, o);
  v.u_.integer = i;
  return v;
}

Value Value::with_text(Kind k, std::string_view text, Origin o) {
  Value v(k, o);
  v.u_.text = text.data();
  v.size_ = static_cast<u32>(text.size());
  return v;
}

Value Value::number(std::string_view text, Origin o) {
  if (text.find_first_of(".eE") == std::string_view::npos) {
    i64 i = 0;
    auto [end, bad] = std::from_chars(text.data(), text.data() + text.size(), i);
    bool plain = bad == std::errc{} && end == text.data() + text.size() && text != "-0";
    if (plain) return integer(i, o);
    Value v = with_text(Kind::kInt, text, o);
    v.flags_ |= kText;
    return v;
  }
  Value v = with_text(Kind::kDecimal, text, o);
  v.flags_ |= kText;
  return v;
}

Value Value::resource(Symbol type, std::string_view title, Origin o) {
  return with_text(Kind::kResource, title, o).with_tag(type);
}

Value Value::error(std::string_view message, Symbol what, Origin o) {
  return with_text(Kind::kError, message, o).with_tag(what);
}

std::string Value::number_text() const { return flags_ & kText ? std::string(text()) : fmt::format("{}", u_.integer); }

std::span<const Value> Value::items() const {
  if (kind_ != Kind::kList || size_ == 0) return {};
  return {static_cast<const Value*>(u_.body), size_};
}

std::span<const Entry> Value::entries() const {
  if (kind_ != Kind::kMap || size_ == 0) return {};
  return {static_cast<const Entry*>(u_.body), size_};
}

const Entry* Value::find(Symbol key) const {
  if (kind_ != Kind::kMap || size_ == 0) return nullptr;
  auto* entries = static_cast<const Entry*>(u_.body);
  if (size_ <= kScanned) {
    for (u32 i = 0; i < size_; i++) {
      if (entries[i].key == key) return &entries[i];
    }
    return nullptr;
  }
  const MapIndex& index = *(static_cast<const MapIndex*>(u_.body) - 1);
  u32 mask = capacity_for(size_) - 1;
  u32* slots = index.slots;
  while (index.state.load(std::memory_order_acquire) != kReady) {
    u32 expected = kEmpty;
    if (!index.state.compare_exchange_strong(expected, kFilling, std::memory_order_acq_rel)) {
      std::this_thread::yield();
      continue;
    }
    std::fill_n(slots, mask + 1, 0);
    for (u32 i = 0; i < size_; i++) {
      u32 at = slot_of(entries[i].key, mask);
      while (slots[at] != 0) at = (at + 1) & mask;
      slots[at] = i + 1;
    }
    index.state.store(kReady, std::memory_order_release);
  }
  for (u32 at = slot_of(key, mask); slots[at] != 0; at = (at + 1) & mask) {
    const Entry& e = entries[slots[at] - 1];
    if (e.key == key) return &e;
  }
  return nullptr;
}

Value Value::with_origin(Origin o) const {
  Value v = *this;
  v.origin_ = o;
  return v;
}

Value Value::with_tag(Symbol tag) const {
  Value v = *this;
  v.tag_ = tag.id();
  return v;
}

Value Value::as_raw(Raw raw) const {
  Value v = *this;
  v.flags_ = static_cast<u8>((v.flags_ & ~kRaw) | static_cast<u8>(raw) << 2);
  return v;
}

namespace {
std::atomic<bool> secret_made{false};
}

bool any_secret_made() { return secret_made.load(std::memory_order_relaxed); }

Value Value::as_secret() const {
  if (!any_secret_made()) secret_made.store(true, std::memory_order_relaxed);
  Value v = *this;
  v.flags_ |= kSecret;
  return v;
}

Value TreeBuilder::list(std::span<const Value> items, Origin o) const {
  Value v(Kind::kList, o);
  v.size_ = static_cast<u32>(items.size());
  v.u_.body = items.empty() ? nullptr : arena_.copy(items).data();
  return v;
}

Value TreeBuilder::map(std::span<const Entry> entries, Origin o) const {
  Value v(Kind::kMap, o);
  v.size_ = static_cast<u32>(entries.size());
  if (entries.size() <= kScanned) {
    v.u_.body = entries.empty() ? nullptr : arena_.copy(entries).data();
    return v;
  }
  static_assert(alignof(MapIndex) == alignof(Entry));
  auto* room = static_cast<char*>(arena_.allocate(sizeof(MapIndex) + entries.size_bytes(), alignof(MapIndex)));
  new (room) MapIndex{kEmpty, arena_.array<u32>(capacity_for(entries.size()))};
  auto* copied = room + sizeof(MapIndex);
  std::memcpy(copied, entries.data(), entries.size_bytes());
  v.u_.body = copied;
  return v;
}

Value* MapDraft::find(Symbol key) {
  if (entries_.size() <= kScanned) {
    for (Entry& e : entries_) {
      if (e.key == key) return &e.value;
    }
    return nullptr;
  }
  if (slots_.empty()) index_all();
  u32 mask = static_cast<u32>(slots_.size()) - 1;
  for (u32 at = slot_of(key, mask); slots_[at] != 0; at = (at + 1) & mask) {
    Entry& e = entries_[slots_[at] - 1];
    if (e.key == key) return &e.value;
  }
  return nullptr;
}

Value& MapDraft::set(Symbol key, const Value& value, Field field) {
  if (Value* there = find(key)) {
    *there = value;
    return *there;
  }
  entries_.push_back({key, field, value});
  if (entries_.size() > kScanned) {
    if (slots_.size() < entries_.size() * 2) {
      index_all();
    } else {
      u32 mask = static_cast<u32>(slots_.size()) - 1, at = slot_of(key, mask);
      while (slots_[at] != 0) at = (at + 1) & mask;
      slots_[at] = static_cast<u32>(entries_.size());
    }
  }
  return entries_.back().value;
}

bool MapDraft::erase(Symbol key) {
  for (std::size_t i = 0; i < entries_.size(); i++) {
    if (entries_[i].key != key) continue;
    entries_.erase(entries_.begin() + static_cast<std::ptrdiff_t>(i));
    slots_.clear();
    return true;
  }
  return false;
}

void MapDraft::index_all() {
  slots_.assign(capacity_for(entries_.size() * 2), 0);
  u32 mask = static_cast<u32>(slots_.size()) - 1;
  for (u32 i = 0; i < entries_.size(); i++) {
    u32 at = slot_of(entries_[i].key, mask);
    while (slots_[at] != 0) at = (at + 1) & mask;
    slots_[at] = i + 1;
  }
}

}  // namespace tutti
