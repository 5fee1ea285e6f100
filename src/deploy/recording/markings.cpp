#include "deploy/recording/markings.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace tutti::deploy {

std::vector<Symbol> left_by(const model::ComponentType& type, const model::Marking& marking) {
  // What is done and waits for nobody who would have to come, but only may not go on, is as good as there.
  auto arrived = [&](const model::Transition& t, const model::Station& station) {
    bool alone = station.needs == 1;
    for (u32 q = 0; q < type.uses && alone; ++q)
      alone = !type.group.test(q, station.place) || type.group.test(q, t.source);
    return alone;
  };
  std::set<u32> elements(marking.begin(), marking.end());
  std::map<std::pair<u32, u32>, std::set<u32>> not_done;  // (place, behaviour) -> of what leaves it together
  for (u32 e : marking) {
    if (type.is_place(e)) continue;
    model::HalfWay h = type.half_way(e);
    const model::Transition& t = type.transitions[h.transition];
    if (h.ended && arrived(t, type.stations[h.ended->station])) {
      elements.erase(e);
      elements.insert(type.stations[h.ended->station].place);
    } else if (!h.ended || type.action_of(t).what.is(Kind::kNull)) {
      not_done[{t.source, t.behaviour}].insert(e);
    }
  }
  for (auto& [from, tokens] : not_done) {
    auto [place, behaviour] = from;
    if (behaviour == model::kNone || tokens.size() != type.out(place, behaviour).size()) continue;
    for (u32 e : tokens) elements.erase(e);
    elements.insert(place);
  }
  return names_of(type, model::Marking(elements.begin(), elements.end()));
}

std::vector<Symbol> names_of(const model::ComponentType& type, const model::Marking& marking) {
  std::vector<Symbol> names;
  for (u32 e : marking) names.push_back(Symbol(type.element_name(e)));
  return names;
}

bool has_not_left(const model::ComponentType& type, const model::Marking& now, u32 place) {
  return std::all_of(now.begin(), now.end(), [&](u32 e) {
    if (type.is_place(e)) return e == place;
    model::HalfWay h = type.half_way(e);
    return !h.ended && type.transitions[h.transition].source == place;
  });
}

bool came_no_further(const model::ComponentType& type, model::Marking now, model::Marking began) {
  std::sort(now.begin(), now.end());
  std::sort(began.begin(), began.end());
  return now == began && std::any_of(now.begin(), now.end(), [&](u32 e) { return !type.is_place(e); });
}

}  // namespace tutti::deploy
