#include "deploy/shared/share.h"

#include <algorithm>

namespace tutti::deploy {
namespace {

void read_texts(const Value& list, std::set<std::string>& out) {
  if (list.is(Kind::kList))
    for (const Value& v : list.items()) out.insert(std::string(v.text()));
}

}  // namespace

std::vector<std::string> things_of(const resource::Resource& r) {
  const resource::Provider* provider = resource::find_provider(r.type);
  return provider ? provider->writes(r) : std::vector<std::string>{};
}

resource::Resource resource_of(const Value& held) {
  return {std::string(held.find("type")->value.text()), std::string(held.find("title")->value.text()),
          held.find("parameters")->value};
}

Value held_as_value(const resource::Resource& r, const resource::Scrubber& scrub, const TreeBuilder& b) {
  std::vector<Entry> one{{Symbol("type"), Field::kPlain, b.string(r.type)},
                         {Symbol("title"), Field::kPlain, scrub.marked(b.string(r.title), b)},
                         {Symbol("parameters"), Field::kPlain, scrub.marked(r.parameters, b)}};
  return b.map(one);
}

Value as_list(const std::set<std::string>& texts, const TreeBuilder& b) {
  if (texts.empty()) return Value::null();
  std::vector<Value> list;
  for (auto& text : texts) list.push_back(b.string(text));
  return b.list(list);
}

Value as_tree(const std::map<std::string, resource::Former>& formerly, const TreeBuilder& b) {
  if (formerly.empty()) return Value::null();
  std::vector<Entry> things;
  for (auto& [thing, former] : formerly) {
    std::vector<Entry> words;
    for (auto& [key, text] : former) words.push_back({Symbol(key), Field::kPlain, b.string(text)});
    things.push_back({Symbol(thing), Field::kPlain, b.map(words)});
  }
  return b.map(things);
}

bool was_acted_on(const std::map<std::string, resource::Former>& acted, const resource::Resource& r,
                  const resource::Scrubber& scrub) {
  return acted.count(resource::key_of(r)) || acted.count(scrub.clean(resource::key_of(r)));
}

// What is held and nothing is said of is its own, as it always was before this was told apart by resource.
Share Share::of(const engine::RecordedComponent& c) {
  Share s;
  read_texts(c.before, s.before);
  read_texts(c.touched, s.touched);
  if (c.formerly.is(Kind::kMap))
    for (const Entry& thing : c.formerly.entries())
      for (const Entry& e : thing.value.entries())
        s.formerly[std::string(thing.key.text())][std::string(e.key.text())] = e.value.text();
  for (auto& h : c.held)
    for (auto& thing : things_of(resource_of(h)))
      if (c.found)
        s.before.insert(thing);
      else if (!s.before.count(thing))
        s.touched.insert(thing);
  return s;
}

bool Share::is_left(const resource::Resource& r) const {
  auto things = things_of(r);
  return std::all_of(things.begin(), things.end(), [&](auto& thing) { return before.count(thing) != 0; });
}

bool Share::was_otherwise(const resource::Resource& r) const {
  auto things = things_of(r);
  return std::any_of(things.begin(), things.end(), [&](auto& thing) { return formerly.count(thing) != 0; });
}

}  // namespace tutti::deploy
