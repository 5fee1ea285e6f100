// What a run left on its way: where a component counts as standing, and how much of what was done still holds.
#include <algorithm>

#include "engine/plan/planner.h"

namespace tutti::engine {
namespace {

using model::Transition;

// The places that these transitions lead to from where the component begins.
template <class Allowed>
std::vector<bool> reached(const ComponentType& type, Allowed allowed) {
  std::vector<bool> seen(type.places.size());
  for (u32 place : type.initial) seen[place] = true;
  for (bool more = true; more;) {
    more = false;
    for (const Transition& t : type.transitions) {
      if (!seen[t.source] || !allowed(t)) continue;
      for (const model::Outcome& o : type.outcomes_of(t))
        if (u32 place = type.stations[o.station].place; !seen[place]) seen[place] = more = true;
    }
  }
  return seen;
}

// Whether nothing was done to bring it to where it stands. (What failed there is done again in any case.)
bool nothing_done(const ComponentType& type, const Marking& at) {
  auto idle = [&](const Transition& t) { return type.action_of(t).what.is(Kind::kNull); };
  auto seen = reached(type, idle);
  return std::all_of(at.begin(), at.end(), [&](u32 e) {
    if (type.is_place(e)) return static_cast<bool>(seen[e]);
    model::HalfWay h = type.half_way(e);
    const Transition& t = type.transitions[h.transition];
    return seen[t.source] && (!h.ended || idle(t));
  });
}

// Whether it has been up: it stands where only that place leads.
bool came_up(const ComponentType& type, const Marking& at, u32 up) {
  auto seen = reached(type, [&](const Transition& t) { return t.source != up; });
  return std::any_of(at.begin(), at.end(), [&](u32 e) {
    if (type.is_place(e)) return !seen[e];
    u32 source = type.transitions[type.half_way(e).transition].source;
    return source == up || !seen[source];
  });
}

}  // namespace

bool never_came_to_it(const RecordedComponent& was) { return was.untouched && was.touched.is(Kind::kNull); }

bool Planner::between(const Item& item) {
  return !item.was->failed.empty() || item.was->untouched || !item.was->tried.is(Kind::kNull) || item.half_way();
}

void Planner::take_as_made(Item& item) {
  auto stand = [&](Symbol place) {
    item.stands = {place};
    item.at = {item.type->find_place(place)};
  };
  if (never_came_to_it(*item.was)) return stand(item.kind.removed);
  u32 removed = item.type->find_place(item.kind.removed), up = item.type->find_place(item.kind.goal);
  auto word = word_to(*item.type, item.at, [&](const Marking& m) { return m == Marking{removed}; });
  if (item.at == Marking{up}) return;
  if (!word || visits(item, item.at, *word, up)) stand(item.kind.goal);
}

std::vector<Symbol> Planner::changed_since_tried(const Item& item) const {
  const Value& tried = item.was->tried;
  if (tried.is(Kind::kNull)) return between(item) ? std::vector<Symbol>{} : changed_settings(*item.want, *item.was);
  // The values it was made with are those of `config`.
  return equal(tried, item.was->config) ? changed_settings(*item.want, *item.was)
                                        : changed_keys(tried, item.want->config);
}

bool Planner::done_otherwise(const Item& item) {
  u32 removed = item.type->find_place(item.kind.removed), goal = item.type->find_place(item.goal);
  auto on = word_to(*item.type, item.at, [&](const Marking& m) { return m == Marking{goal}; });
  bool up = item.at == Marking{item.type->find_place(item.kind.goal)};  // and wanted elsewhere
  return on && !up && !visits(item, item.at, *on, removed) && !nothing_done(*item.type, item.at);
}

std::vector<u32> Planner::begin_again(Item& item, const std::vector<u32>& word) {
  u32 up = item.type->find_place(item.kind.goal), goal = item.type->find_place(item.goal);
  if (!item.half_way()) {
    Passage first = pass(*item.type, item.at, word[0]);
    auto on = word_to(*item.type, item.at, [&](const Marking& m) { return m == Marking{goal}; });
    if (first.moved && first.finishes && on && (*on)[0] != word[0]) return word;
  }
  bool was_up = came_up(*item.type, item.at, up);
  take_as_made(item);
  if (was_up && item.at == Marking{up}) return word;
  auto down = path(item, item.at, item.kind.removed);
  return down ? *down : std::vector<u32>{};
}

}  // namespace tutti::engine
