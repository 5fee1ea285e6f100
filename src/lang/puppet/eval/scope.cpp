#include "lang/puppet/eval/scope.h"

#include <bit>
#include <cstring>

namespace tutti::puppet {

const Val* Vars::find(Symbol name) const {
  if (!slots_) {
    for (u32 n = 0; n < size_; ++n)
      if (entries_[n].name == name) return &entries_[n].value;
    return nullptr;
  }
  for (u32 at = static_cast<u32>(std::hash<Symbol>{}(name) >> 20) & mask_; slots_[at]; at = (at + 1) & mask_)
    if (entries_[slots_[at] - 1].name == name) return &entries_[slots_[at] - 1].value;
  return nullptr;
}

Vars::Entry* VarRoom::take(u32 capacity) {
  int which = std::countr_zero(capacity) - 3;
  if (which < 4 && !spare_[which].empty()) {
    Vars::Entry* e = spare_[which].back();
    spare_[which].pop_back();
    return e;
  }
  return arena_.array<Vars::Entry>(capacity);
}

void VarRoom::give_back(Vars::Entry* entries, u32 capacity) {
  int which = std::countr_zero(capacity) - 3;
  if (entries && which < 4) spare_[which].push_back(entries);
}

void Vars::give_back(VarRoom& room) {
  if (capacity_) room.give_back(entries_, capacity_);
  *this = Vars{};
}

void Vars::add(VarRoom& room, Symbol name, const Val& value) {
  if (size_ == capacity_) {
    u32 wanted = capacity_ ? capacity_ * 2 : 8;
    Entry* more = room.take(wanted);
    if (size_) std::memcpy(static_cast<void*>(more), entries_, size_ * sizeof(Entry));
    if (capacity_) room.give_back(entries_, capacity_);
    entries_ = more;
    capacity_ = wanted;
    if (wanted > 16) {
      mask_ = wanted * 2 - 1;
      slots_ = room.arena().array<u32>(mask_ + 1);
      std::memset(slots_, 0, (mask_ + 1) * sizeof(u32));
      for (u32 n = 0; n < size_; ++n) {
        u32 at = static_cast<u32>(std::hash<Symbol>{}(entries_[n].name) >> 20) & mask_;
        while (slots_[at]) at = (at + 1) & mask_;
        slots_[at] = n + 1;
      }
    }
  }
  new (&entries_[size_++]) Entry{name, value};
  if (slots_) {
    u32 at = static_cast<u32>(std::hash<Symbol>{}(name) >> 20) & mask_;
    while (slots_[at]) at = (at + 1) & mask_;
    slots_[at] = size_;
  }
}

}  // namespace tutti::puppet
