#include <fmt/format.h>

#include <algorithm>

#include "base/near.h"
#include "lang/smartfrog/production/names.h"
#include "lang/smartfrog/production/production.h"
#include "tree/secret.h"

namespace tutti::smartfrog::production {
Compiler::Compiler(Session& session, const Settings& settings)
    : session_(session), settings_(settings), arena_(session.arena) {}

std::optional<Value> Compiler::run(const Body& spec) {
  std::size_t errors = session_.diagnostics.errors();
  Description* root = make_description(spec.begin, spec.end, nullptr);
  fill(root, spec);
  std::vector<Symbol> phases = phases_of(root);
  Description* at = root;
  bool linked = false;  // and nothing stands in the way of a tree
  for (Symbol phase : phases) {
    if (session_.diagnostics.errors() != errors) return std::nullopt;
    const Names& n = names();
    if (phase == n.type) {
      type_phase(at);
    } else if (phase == n.place) {
      place_phase(at);
    } else if (phase == n.config) {
      at = select_config(root);
      if (!at) return std::nullopt;
      result_ = at;
    } else if (phase == n.link) {
      if (settings_.keep_links) keep_links(at);
      link_phase(at);
      linked = result_ && !endless_;
    } else if (phase != n.print) {
      function_phase(at, phase);
    }
  }
  auto ended = [&] { return session_.diagnostics.errors() != errors && !(partial && linked); };
  if (ended()) return std::nullopt;
  result_ = at;
  if (warn_about_order) order_.report(session_);
  Value result = finish(at).with_origin(at->begin);
  if (ended()) return std::nullopt;
  return secrets_ ? spread_secrets(result, session_.builder()) : result;
}

Compiler::Position Compiler::position(std::span<const Symbol> path) const {
  const Description* d = result_;
  Position found;
  for (Symbol key : path) {
    const Slot* s = d ? d->slots.find(key) : nullptr;
    if (!s) return {};
    found = {s->placed, rule_about(d->orders, key)};
    d = s->item.is(What::kDescription) ? s->item.description : nullptr;
  }
  return found;
}

// The list of phases is itself data: an attribute `phaseList` of the file.
std::vector<Symbol> Compiler::phases_of(Description* root) {
  const Names& n = names();
  Slot* list = root->slots.find(n.phase_list);
  if (!list) return {n.type, n.place, n.function, n.config, n.link};
  phase_list_ = list->placed;
  std::vector<Symbol> phases;
  bool ok = list->item.is(What::kVector);
  if (ok) {
    for (const Item& i : list->item.vector->items) {
      ok &= i.is(What::kBasic) && i.basic.is(Kind::kString);
      if (ok) phases.push_back(Symbol(i.basic.text()));
    }
  }
  if (!ok) {
    session_.diagnostics.error("SF-PARSE", list->placed,
                               "phaseList must be a vector of names: [| \"type\", \"place\" |]");
    return {};
  }
  u32 at = static_cast<u32>(list - root->slots.slots);
  for (u32 i = at; i + 1 < root->slots.size; i++) root->slots.slots[i] = root->slots.slots[i + 1];
  root->slots.size--;
  root->slots.reindex(arena_);
  return phases;
}

void Compiler::trouble(Span where, std::string message, std::string help) {
  if (troubles_.size() < 1000) troubles_.push_back({where, std::move(message), std::move(help), {}, {}});
}

bool Compiler::report(const char* code) {
  bool ok = troubles_.empty();
  for (Trouble& t : troubles_) {
    auto& d = session_.diagnostics.error(code, t.where, std::move(t.message));
    if (t.other.begin)
      d.relate(t.other, t.other_text);
    else if (!t.other_text.empty())
      d.note(t.other_text);
    if (!t.help.empty()) d.did_you_mean(t.help);
  }
  troubles_.clear();
  return ok;
}

// ---- place: `a:b value` goes into the component a, wherever in the file that comes to be

bool Compiler::place_phase(Description* root) {
  do {
    troubles_.clear();
    progress_ = false;
    place_all(root);
  } while ((!troubles_.empty() || root->places) && progress_);
  return report("SF-PLACE");
}

void Compiler::place_all(Description* d) {
  if (!d->places) return;
  Budget::Level level(session_.budget);
  session_.budget.step(d->slots.size);
  d->places = false;
  bool removed = false;
  for (u32 i = 0; i < d->slots.size; i++) {
    Slot s = d->slots.slots[i];
    if (!s.path.empty()) {
      if (place(d, s)) {
        d->slots.slots[i].key = {};
        removed = true;
      } else {
        mark_places(d);
      }
    } else if (s.item.is(What::kDescription)) {
      place_all(s.item.description);
      if (s.item.description->places) mark_places(d);
    }
  }
  if (!removed) return;
  Slot* to = d->slots.slots;
  for (Slot& s : d->slots)
    if (!s.key.empty()) *to++ = s;
  d->slots.size = static_cast<u32>(to - d->slots.slots);
  d->slots.reindex(arena_);
}

bool Compiler::place(Description* d, const Slot& s) {
  std::vector<RefPart> parts;
  for (std::size_t i = 0; i + 1 < s.path.size(); i++) parts.push_back({Part::kHere, s.path[i]});
  Item found;
  own(d, parts);
  Found f = walk(d, parts, nullptr, found);
  std::string name;
  for (std::size_t i = 0; i + 1 < s.path.size(); i++) name += (i ? ":" : "") + std::string(s.path[i].text());
  if (f != Found::kYes || !found.is(What::kDescription)) {
    trouble(s.placed,
            f == Found::kYes ? fmt::format("`{}` is not a component: nothing can be placed in it", name)
                             : fmt::format("there is no component `{}` to place `{}` in", name, s.path.back().text()),
            help_);
    return false;
  }
  Description* to = found.description;
  Slot* there = to->slots.find(s.path.back());
  if (there && there->has_tag(names().final)) {
    trouble(s.placed, fmt::format("`{}` is tagged sfFinal: nothing may be placed over it", s.path.back().text()));
    troubles_.back().other = there->placed;
    troubles_.back().other_text = "tagged here";
    return false;
  }
  progress_ = true;
  Origin before = there ? there->item.basic.origin() : Origin{};
  Item item = s.item;
  item.basic = item.basic.with_origin(session_.origins.add(How::kPlaced, s.placed, item.basic.origin(), before));
  if (item.is(What::kDescription)) {
    item.description->parent = to;
    if (item.description->places) mark_places(to);
  }
  Slot* slot = put(to, s.path.back(), item, s.placed);
  set_tags(slot, s.tags);
  return true;
}

// ---- function (and phases of the user's own): components with an attribute phase.NAME are replaced, innermost first

bool Compiler::function_phase(Description* root, Symbol phase) {
  static const Symbol kBuiltIn[] = {names().type,   names().place, names().function,
                                    names().config, names().link,  names().print};
  troubles_.clear();
  bool any = construct_all(root, Symbol(fmt::format("phase.{}", phase.text())));
  if (!any && phase != names().function) {
    session_.diagnostics
        .warning("SF-PHASE", phase_list_,
                 fmt::format("the phase `{}` does nothing: no component has an attribute `phase.{}`", phase.text(),
                             phase.text()))
        .did_you_mean(nearest(phase, kBuiltIn).text());
  }
  std::string code = "SF-";
  for (char c : phase.text()) code += static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return report(code.c_str());
}

// Whether there was anything to do.
bool Compiler::construct_all(Description* d, Symbol phase) {
  if (d->plain) return false;
  Budget::Level level(session_.budget);
  bool any = false;
  session_.budget.step(d->slots.size);
  for (u32 i = 0; i < d->slots.size; i++) {
    Item item = d->slots.slots[i].item;
    if (!item.is(What::kDescription)) continue;
    any |= construct_all(item.description, phase);
    Slot* action = item.description->slots.find(phase);
    if (!action) continue;
    any = true;
    if (action->item.is(What::kBasic) && action->item.basic.is(Kind::kString)) {
      construct(d, i, *action);
    } else {
      trouble(action->placed, fmt::format("`{}` must be the name of a class", phase.text()));
    }
  }
  return any;
}

void Compiler::construct(Description* parent, u32 slot, const Slot& wanted) {
  std::string_view action = wanted.item.basic.text();
  if (action == kConstructFunction)
    construct_function(parent, slot);
  else if (action == kConstructAssertions)
    construct_assertions(parent, slot);
  else if (action == kConstructSchema)
    construct_schema(parent, slot);
  else
    unknown_action(wanted);
}

// Told once, where it is written, however many components inherit it.
void Compiler::unknown_action(const Slot& wanted) {
  for (const Trouble& t : troubles_)
    if (t.where.begin == wanted.placed) return;
  static constexpr std::string_view kKnown[] = {kConstructFunction, kConstructAssertions, kConstructSchema};
  std::string_view action = wanted.item.basic.text();
  trouble(wanted.placed, fmt::format("the phase action {} is not known", action), std::string(nearest(action, kKnown)));
  troubles_.back().other_text = fmt::format("known are {}", fmt::join(kKnown, ", "));
}

// An action that no phase of this file takes would be passed over without a word, and what it should have checked with
// it. The production compiler leaves it in the result as an attribute like others, and so do we.
void Compiler::check_phase_left(const Slot& s) {
  if (!s.key.text().starts_with("phase.") || s.key == names().phase_function || !s.item.is(What::kBasic)) return;
  if (!phases_left_.insert(s.placed).second) return;
  session_.diagnostics
      .warning("SF-PHASE", s.placed,
               fmt::format("`{}` has no effect: `{}` is not among the phases of this file", s.key.text(),
                           s.key.text().substr(6)))
      .note(fmt::format("assertions and schemas are checked where `phase.function` is \"{}\" or \"{}\"",
                        kConstructAssertions, kConstructSchema));
}

void Compiler::construct_function(Description* parent, u32 slot) {
  Slot& s = parent->slots.slots[slot];
  Description* d = s.item.description;
  const Slot* class_slot = d->slots.find(names().function_class);
  Item name;
  if (!class_slot || value_of(d, static_cast<u32>(class_slot - d->slots.slots), name) != Found::kYes) {
    trouble(s.placed, fmt::format("`{}` has no sfFunctionClass: no function can be made of it", s.key.text()));
    return;
  }
  bool lazy = false;
  if (const Slot* l = d->slots.find(names().function_lazy)) {
    Item answer;
    if (value_of(d, static_cast<u32>(l - d->slots.slots), answer) == Found::kYes) {
      if (!answer.is(What::kBasic) || !answer.basic.is(Kind::kBool)) {
        trouble(l->placed, "sfFunctionLazy is true or false");
        return;
      }
      lazy = answer.basic.as_bool();
    }
  }
  Description* call = make_description(d->begin, d->end, parent);
  call->data = true;
  call->expression = d->expression;
  put(call, names().function_class, name, class_slot->placed);
  for (const Slot& a : d->slots) {
    if (a.key == names().phase_function || a.key == names().function_class) continue;
    Slot* made = put(call, a.key, a.item, a.placed);
    made->tags = a.tags;
    if (a.item.is(What::kDescription)) a.item.description->parent = call;
  }
  s.item.what = What::kApply;
  s.item.description = call;
  s.item.lazy = lazy;
}

void Compiler::construct_assertions(Description* parent, u32 slot) {
  Slot& s = parent->slots.slots[slot];
  Description* d = s.item.description;
  Description* call = make_description(d->begin, d->end, parent);
  call->data = true;
  put_text(call, names().function_class, kCheckAssertions);
  for (const Slot& a : d->slots) {
    if (a.key == names().phase_function || a.key == names().function_class) continue;
    put(call, a.key, a.item, a.placed);
    if (a.item.is(What::kDescription)) a.item.description->parent = call;
  }
  s.item.what = What::kAssert;
  s.item.description = call;
}

void Compiler::construct_schema(Description* parent, u32 slot) {
  Slot& s = parent->slots.slots[slot];
  Description* d = s.item.description;
  Description* call = make_description(d->begin, d->end, parent);
  call->data = true;
  const Names& n = names();
  for (const Slot& a : d->slots) {
    if (a.key == n.phase_function || a.key == n.assertion_phase || a.key == n.schema_description) continue;
    if (!a.item.is(What::kApply)) {
      trouble(a.placed, fmt::format("`{}` in a schema must extend the description of an attribute, such as Integer",
                                    a.key.text()));
      return;
    }
    put_text(a.item.description, n.name, a.key.text());
    put(call, a.key, a.item, a.placed);
  }
  put_text(call, n.function_class, kCheckAssertions);
  Item when;
  when.basic = Value::string("dynamic");
  if (const Slot* p = d->slots.find(n.assertion_phase)) {
    Item found;
    if (value_of(d, static_cast<u32>(p - d->slots.slots), found) == Found::kYes) when = found;
  }
  put(call, n.assertion_phase, when, d->begin);
  s.item.what = What::kAssert;
  s.item.description = call;
}

// ---- sfConfig and link

Description* Compiler::select_config(Description* root) {
  Slot* s = root->slots.find(names().config);
  if (!s) {
    std::vector<Symbol> keys;
    for (const Slot& k : root->slots) keys.push_back(k.key);
    session_.diagnostics.error("SF-SFCONFIG", root->end, "there is no sfConfig component")
        .note("what a file describes is its component `sfConfig`; a file without one can only be included")
        .did_you_mean(nearest(names().config, keys).text());
    return nullptr;
  }
  Item found;
  if (value_of(root, static_cast<u32>(s - root->slots.slots), found) != Found::kYes || !found.is(What::kDescription)) {
    session_.diagnostics.error("SF-SFCONFIG", s->placed, "sfConfig is not a component");
    return nullptr;
  }
  return found.description;
}

bool Compiler::link_phase(Description* root) {
  troubles_.clear();
  linking_ = true;
  link(root);
  linking_ = false;
  return report("SF-LINK");
}

void Compiler::link(Description* d) {
  if (d->links_done || d->plain) return;
  if (d->links_busy) {
    endless_ = true;
    tell_endless(d);
    return;
  }
  Budget::Level level(session_.budget);
  d->links_busy = true;
  linking_in_.emplace_back(d, 0);
  for (u32 i = 0; i < d->slots.size; i++) {
    session_.budget.step();
    Slot& s = d->slots.slots[i];
    linking_in_.back().second = i;
    if (s.item.is_link() && !s.has_tag(names().ignore_link)) {
      Item found;
      Pos at = s.item.is(What::kReference) ? s.item.ref->begin : s.placed;
      Found f = value_of(d, i, found);
      Slot& after = d->slots.slots[i];
      if (f == Found::kYes) {
        if (after.item.is(What::kReference)) {
          Origin o =
              session_.origins.add(How::kReferenced, at, found.basic.origin(), {}, Symbol(text_of(*after.item.ref)));
          found.basic = found.basic.with_origin(o);
        }
        after.item = found;
      } else if (f == Found::kLazy) {
        after.item.lazy = true;
      }
    }
    Item now = d->slots.slots[i].item;
    if (now.is(What::kDescription)) {
      if (!now.description->parent) now.description->parent = d;
      link(now.description);
    }
  }
  linking_in_.pop_back();
  d->links_busy = false;
  d->links_done = true;
}

// Names the attributes on the way from a component to the link that leads back to it.
void Compiler::tell_endless(Description* d) {
  std::string way;
  Pos last = d->begin;
  auto at = std::find_if(linking_in_.begin(), linking_in_.end(), [&](const auto& x) { return x.first == d; });
  for (; at != linking_in_.end(); ++at) {
    const Slot& s = at->first->slots.slots[at->second];
    way += fmt::format("{}{}", way.empty() ? "" : ":", s.key.text());
    last = s.placed;
  }
  trouble(last, fmt::format("a component would contain itself: its `{}` is a link to it", way));
  if (last != d->begin) {
    troubles_.back().other = d->begin;
    troubles_.back().other_text = "the component";
  }
}

}  // namespace tutti::smartfrog::production
