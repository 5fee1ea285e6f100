#pragma once

#include <memory>

#include "lang/cue/eval/id_map.h"
#include "lang/cue/eval/list.h"

namespace tutti::cue {

// Where in a list that only grows the first with a key is; made when there are many.
struct ListIndex {
  IdMap places;  // 1 + the place, by key
  u32 size = 0;  // how many are in it
};

template <class T, class Key>
T* find_first(List<T>& list, std::unique_ptr<ListIndex>& index, u32 wanted, Key key) {
  constexpr std::size_t kFew = 16;
  if (list.size() <= kFew) {
    for (T& x : list)
      if (key(x) == wanted) return &x;
    return nullptr;
  }
  if (!index) index = std::make_unique<ListIndex>();
  for (; index->size < list.size(); ++index->size) {
    u32& at = index->places.at(key(list[index->size]));
    if (!at) at = index->size + 1;
  }
  u32 at = index->places.get(wanted);
  return at ? &list[at - 1] : nullptr;
}

}  // namespace tutti::cue
