#include "lang/smartfrog/eval/finish.h"

#include <fmt/format.h>

#include <algorithm>

#include "lang/common/links.h"
#include "lang/smartfrog/eval/encode.h"
#include "lang/smartfrog/production/names.h"
#include "lang/smartfrog/production/production.h"

namespace tutti::smartfrog::production {
namespace {

// Of the whole tree, as often as each is in it: what is shared is printed as often.
u64 nodes_of(const Item& item) {
  if (item.is(What::kDescription)) return item.description->nodes;
  return item.is(What::kVector) ? item.vector->nodes : 1;
}

void check_size(const Budget& budget, u64 nodes) {
  if (nodes > budget.limits().nodes)
    throw LimitError("LIMIT-NODES", fmt::format("the result would have more than {} values", budget.limits().nodes));
}

}  // namespace

// Descriptions to the common tree. A component that several attributes share becomes one body.
Value Compiler::finish(Description* d) {
  if (d->finished) return d->value;
  Budget::Level level(session_.budget);
  session_.budget.node(d->slots.size + 1);
  std::vector<Entry> entries, tags;
  TreeBuilder builder = session_.builder();
  d->nodes = 1;
  for (const Slot& s : d->slots) {
    if (s.item.is(What::kTemporary) || std::find(s.tags.begin(), s.tags.end(), names().temporary) != s.tags.end())
      continue;
    check_phase_left(s);
    Symbol key = s.key;
    if (!s.path.empty()) {  // not placed: the user's list of phases leaves that one out
      std::string_view text = s.key.text();
      key = Symbol(text.substr(1, text.size() - 2));
    }
    Value value;
    if (!s.kept.empty()) {
      value = (s.item.lazy ? Value::lazy(s.kept.text()) : Value::reference(s.kept.text())).with_tag(link_tag());
    } else {
      value = finish(s.item);
    }
    if (std::find(s.tags.begin(), s.tags.end(), secret_tag()) != s.tags.end()) {
      value = value.as_secret();
      secrets_ = true;
    }
    entries.push_back({key, Field::kPlain, value.with_origin(s.item.basic.origin())});
    d->nodes += s.kept.empty() ? nodes_of(s.item) : 1;
    if (s.tags.empty()) continue;
    std::vector<Value> list;
    for (Symbol tag : s.tags) list.push_back(Value::string(tag.text()));
    tags.push_back({key, Field::kPlain, builder.list(list)});
  }
  check_size(session_.budget, d->nodes);
  if (!d->orders.empty()) apply_order(session_, d->orders, entries);
  if (!tags.empty()) entries.push_back({tags_key(), Field::kHidden, builder.map(tags)});
  d->value = builder.map(entries, d->begin);
  if (d->data) d->value = d->value.with_tag(data_tag());
  d->finished = true;
  return d->value;
}

Value Compiler::finish(const Item& item) {
  static const Symbol kLink("LINK"), kDataReference("DATA-REFERENCE");
  Origin origin = item.basic.origin();
  switch (item.what) {
    case What::kBasic: return item.basic;
    case What::kDescription: return finish(item.description);
    case What::kVector: {
      Vector& v = *item.vector;
      if (!v.finished) {
        Budget::Level level(session_.budget);
        session_.budget.node(v.items.size() + 1);
        std::vector<Value> items;
        v.nodes = 1;
        for (const Item& i : v.items) {
          items.push_back(finish(i));
          v.nodes += nodes_of(i);
        }
        check_size(session_.budget, v.nodes);
        v.value = session_.builder().list(items, origin);
        v.finished = true;
      }
      return v.value.with_origin(origin);
    }
    case What::kVariable: return Value::open(arena_.copy(std::string_view("VAR" + item.basic.number_text())), origin);
    case What::kTbd: return Value::open("TBD", origin);
    default: {
      std::string_view text = arena_.copy(std::string_view(text_of(item, false)));
      if (item.lazy) return Value::lazy(text, origin);
      return Value::reference(text, origin).with_tag(item.data ? kDataReference : kLink);
    }
  }
}

}  // namespace tutti::smartfrog::production
