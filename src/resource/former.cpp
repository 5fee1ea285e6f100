#include "resource/former.h"

#include <fmt/format.h>

#include "resource/text_file.h"

namespace tutti::resource {

std::string former_list(const std::vector<std::string>& items) { return fmt::format("{}", fmt::join(items, "\n")); }

bool was_there(const Context& c, const Findings& f) {
  if (f.changes.empty() || c.catalog || c.params.has("former")) return false;
  std::string ensure = c.params.text("ensure");
  const Change& first = f.changes[0];
  return ensure != "absent" && ensure != "purged" &&
         (first.property != "ensure" || (first.from != "absent" && first.from != "purged"));
}

Resource given_back(const Resource& removal, const Value& former, const Value& held, const Sealing* sealing,
                    Arena& arena) {
  TreeBuilder b(arena);
  MapDraft m;
  for (const Entry& e : removal.parameters.entries()) m.set(e.key, e.value);
  for (const Entry& e : former.entries()) {
    std::string name(e.key.text()), text(e.value.text());
    bool always = name.ends_with('!');
    if (always) name.pop_back();
    bool list = name.ends_with("[]");
    if (list) name.resize(name.size() - 2);
    if (!always && !(held.is(Kind::kMap) && Params(held).has(name))) continue;
    if (name == "password") {
      auto opened = sealing && sealing->open ? sealing->open(text) : std::nullopt;
      if (!opened) continue;
      text = std::move(*opened);
    }
    std::vector<Value> items;
    if (list)
      for (auto& item : lines_of(text)) items.push_back(b.string(item));
    m.set(Symbol(name), list ? b.list(items) : b.string(text));
    if (name == "groups") m.set(Symbol("membership"), Value::string("inclusive"));
  }
  m.set(Symbol("former"), former);
  return {removal.type, removal.title, m.build(b), removal.let_go};
}

}  // namespace tutti::resource
