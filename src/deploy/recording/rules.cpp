// The table of rules by which an ended run is recorded; see rules.h. A rule begins with the question that it answers.
//
// Three words run through all of them. An instance is *complete* when everything that the plan had for it was done:
// only then its new settings count. It has *acted* when an action of it was run in this run: where none was, nothing
// that an earlier run left of it is forgotten. It *came anew* when it left its initial place: then nothing of an
// earlier life counts.
#include "deploy/recording/rules.h"

#include <algorithm>

#include "deploy/recording/markings.h"
#include "model/template.h"
#include "resource/catalog_result.h"

namespace tutti::deploy {
namespace {

using engine::RecordedComponent;

bool is_null(const Value& v) { return v.is(Kind::kNull); }

Value wanted_config(const EndedInstance& e, const TreeBuilder& b) {
  return is_null(e.planned->config) ? b.map({}) : e.planned->config;
}

// Which thing is this?
void identity(const EndedInstance& e, const TreeBuilder&, RecordedComponent& c) {
  c.name = e.name;
  c.instance = e.planned->name;
  c.generation = e.planned->generation;
  c.type = e.planned->kind;
  c.host = e.planned->host;
  c.protect = e.planned->protect;
  c.orders = e.planned->orders;
  if (!e.old) return;
  c.former = e.old->former;
  c.forgotten = e.old->forgotten;
}

// Where does it stand?
void stands_where_the_run_left_it(const EndedInstance& e, const TreeBuilder&, RecordedComponent& c) {
  c.marking = left_by(*e.type, e.stands);
}

// What failed, in this run or, where this one did nothing with it, in an earlier one?
void keeps_its_failure(const EndedInstance& e, const TreeBuilder&, RecordedComponent& c) {
  if (!e.failed.empty()) {
    c.failed = e.failed;
    c.untouched = !e.touched && (!e.old || e.old->untouched);
  } else if (e.old && !e.acted) {
    c.failed = e.old->failed;
    c.untouched = e.old->untouched;
  }
}

// Did the plan take it to be up, so that it could go down, when it was not?
bool was_taken_as_up(const EndedInstance& e) {
  if (!e.old || e.goal.empty() || e.began.size() != 1) return false;
  return e.began[0] == e.type->find_place(e.goal) && e.old->marking != std::vector<Symbol>{e.goal};
}

// What never came up and goes down as if it had is not up where it has not got away from there: it stands where it
// stood, or half way down where that has begun.
void is_not_up_for_having_been_taken_so(const EndedInstance& e, const TreeBuilder&, RecordedComponent& c) {
  if (!was_taken_as_up(e) || !has_not_left(*e.type, e.stands, e.began[0])) return;
  if (e.touched) {
    c.marking = names_of(*e.type, e.stands);
    return;
  }
  c.marking = e.old->marking;
  c.failed = e.old->failed;
  c.untouched = e.old->untouched;
}

// Where it was half way and is still exactly there, what was recorded of that is true still.
void stays_half_way(const EndedInstance& e, const TreeBuilder&, RecordedComponent& c) {
  if (e.old && came_no_further(*e.type, e.stands, e.began)) c.marking = e.old->marking;
}

// Is there anything of it anywhere?
void is_untouched_until_it_acts(const EndedInstance& e, const TreeBuilder&, RecordedComponent& c) {
  if (!e.complete && !e.touched && !e.ended && (!e.old || e.old->untouched)) c.untouched = true;
}

// Whose doing are the things that it is about?
void keeps_its_share(const EndedInstance& e, const TreeBuilder& b, RecordedComponent& c) {
  c.before = as_list(e.share.before, b);
  c.touched = as_list(e.share.touched, b);
  c.formerly = as_tree(e.share.formerly, b);
}

// Was all that it holds there before it came? Then it was found, and is left when it goes.
void was_found(const EndedInstance& e, const TreeBuilder&, RecordedComponent& c) {
  auto& held = e.holding.all();
  c.found = !held.empty() && c.failed.empty() && !c.untouched && e.share.touched.empty() &&
            std::all_of(held.begin(), held.end(), [&](auto& h) { return e.share.is_left(resource_of(h.second)); });
}

// Of what does not become what it should be, the files that are written: the next plan may know nothing of them.
void remembers_strays(const EndedInstance& e, const TreeBuilder& b, RecordedComponent& c) {
  if (e.complete && (e.acted || !e.old)) return;
  std::set<std::string> files = e.written;
  if (e.old && e.old->stray.is(Kind::kList))
    for (const Value& v : e.old->stray.items()) files.insert(std::string(v.text()));
  c.stray = as_list(files, b);
}

// What only went on from where it was left was made with the values that it had then.
bool went_on(const EndedInstance& e, const Value& wanted) {
  return e.old && equal(e.old->tried, wanted) && equal(e.old->config, wanted);
}

bool is_renewed(const EndedInstance& e, const TreeBuilder& b) {
  return e.acted && (e.holding.came_anew() || (e.complete && !went_on(e, wanted_config(e, b))));
}

// Which settings does it have? The new ones count only once everything was done for them, or it has come anew, with
// nothing of the old.
void has_its_settings(const EndedInstance& e, const TreeBuilder& b, RecordedComponent& c) {
  Value wanted = wanted_config(e, b);
  c.config = e.complete || is_renewed(e, b) || is_null(e.planned->old) ? wanted : e.planned->old;
}

// Which settings was it to get, where it did not come to that?
void remembers_what_was_tried(const EndedInstance& e, const TreeBuilder& b, RecordedComponent& c) {
  if (e.old && !e.acted)
    c.tried = e.old->tried;
  else if (!e.complete)
    c.tried = wanted_config(e, b);
}

// With which values of others was it made?
void remembers_what_it_was_made_with(const EndedInstance& e, const TreeBuilder& b, RecordedComponent& c) {
  if (!model::has_placeholders(c.config)) return;
  bool as_before = e.old && !is_renewed(e, b) && !is_null(e.old->made);
  c.made = as_before ? e.old->made : e.settled(c.config);
}

// What did its actions take from others, beside its settings?
void remembers_what_it_read(const EndedInstance& e, const TreeBuilder& b, RecordedComponent& c) {
  c.reads = e.old ? e.old->reads : Value::null();
  if (e.reads.empty()) return;
  MapDraft m;
  if (c.reads.is(Kind::kMap))
    for (const Entry& one : c.reads.entries()) m.set(one.key, one.value);
  for (auto& [path, value] : e.reads) m.set(Symbol(path), value);
  c.reads = m.build(b);
}

// What does it use? As long as it has not become what it should be it needs what it needed, too.
void needs_what_it_uses(const EndedInstance& e, const TreeBuilder&, RecordedComponent& c) {
  c.needs = e.uses;
  for (auto& need : c.needs)
    for (auto& planned : e.planned->needs)
      if (planned.port == need.port) need.hold = planned.hold;
  if (!e.old || e.complete) return;
  for (auto& before : e.used)
    if (std::none_of(c.needs.begin(), c.needs.end(), [&](auto& n) { return n.port == before.port; }))
      c.needs.push_back(before);
}

// What do others get from it? Of a catalog's resource that says, too, whether it failed.
void keeps_its_outputs(const EndedInstance& e, const TreeBuilder&, RecordedComponent& c) {
  c.outputs = e.outputs;
  c.secret = e.secret;
  if (e.planned->of_catalog() && resource::CatalogResult::read(c.outputs).failed()) c.failed = "apply";
}

// What is it looked at by?
void holds_its_resources(const EndedInstance& e, const TreeBuilder& b, RecordedComponent& c) {
  Holding holding = e.holding;
  if (e.complete && e.acted) holding.renew_checks(e.meant_checks, b);
  for (auto& [key, held] : holding.all()) c.held.push_back(held);
}

constexpr Rule kRules[] = {
    {"it is the instance that the plan says", identity},
    {"it stands where the run left it", stands_where_the_run_left_it},
    {"a failure stays until an action was run again", keeps_its_failure},
    {"what was only taken as up is not up", is_not_up_for_having_been_taken_so},
    {"what came no further stands where it stood", stays_half_way},
    {"there is nothing of it until it has begun to act", is_untouched_until_it_acts},
    {"whose doing each thing is", keeps_its_share},
    {"what was there before it came was found", was_found},
    {"files of what did not come to its end are remembered", remembers_strays},
    {"new settings count when everything was done for them", has_its_settings},
    {"settings that it did not come to are remembered", remembers_what_was_tried},
    {"the values that it was made with are remembered", remembers_what_it_was_made_with},
    {"what its actions took from others is remembered", remembers_what_it_read},
    {"it needs what it uses", needs_what_it_uses},
    {"others get what its actions gave", keeps_its_outputs},
    {"it holds what its actions brought about", holds_its_resources},
};

}  // namespace

std::span<const Rule> recording_rules() { return kRules; }

RecordedComponent recorded_after(const EndedInstance& end, const TreeBuilder& builder) {
  RecordedComponent next;
  for (const Rule& rule : kRules) rule.apply(end, builder, next);
  return next;
}

}  // namespace tutti::deploy
