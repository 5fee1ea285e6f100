#include "lang/puppet/catalog/native_type.h"

#include <algorithm>
#include <array>
#include <mutex>
#include <unordered_map>

#include "lang/puppet/catalog/native_type_table.h"
#include "lang/puppet/types/regex.h"
#include "lang/puppet/types/type.h"

namespace tutti::puppet {
namespace {

template <class F>
void split(std::string_view s, std::string_view by, F f) {
  while (!s.empty()) {
    std::size_t cut = s.find(by);
    f(s.substr(0, cut));
    if (cut == std::string_view::npos) return;
    s.remove_prefix(cut + by.size());
  }
}

NativeType parse_line(std::string_view line) {
  NativeType t;
  std::array<std::string_view, 5> fields;
  for (std::string_view& f : fields) {
    std::size_t tab = line.find('\t');
    f = line.substr(0, tab);
    line.remove_prefix(tab == std::string_view::npos ? line.size() : tab + 1);
  }
  t.name = Symbol(capitalize_segments(fields[0]));
  t.isomorphic = fields[1] == "1";
  split(fields[2], " ", [&](std::string_view s) { t.namevars.push_back(Symbol(s)); });
  split(fields[3], " ;; ", [&](std::string_view s) {
    TitlePattern p;
    std::size_t cut = s.rfind(" => ");
    p.regex = s.substr(0, cut);
    split(s.substr(cut + 4), ",", [&](std::string_view a) { p.attributes.push_back(Symbol(a)); });
    t.patterns.push_back(std::move(p));
  });
  split(fields[4], " ", [&](std::string_view s) { t.attributes.push_back(Symbol(s)); });
  return t;
}

}  // namespace

bool NativeType::has_attribute(Symbol s) const {
  return open || std::find(attributes.begin(), attributes.end(), s) != attributes.end();
}

namespace {

// Parsed when first asked for: a catalog uses a handful of the types.
std::mutex types_mutex;
std::unordered_map<Symbol, std::unique_ptr<NativeType>>& known_types() {
  static std::unordered_map<Symbol, std::unique_ptr<NativeType>> known;
  return known;
}
std::unordered_map<Symbol, const NativeType*>& types_of_thread() {
  thread_local std::unordered_map<Symbol, const NativeType*> mine;
  return mine;
}

}  // namespace

const NativeType* native_type(std::string_view name) {
  auto& mine = types_of_thread();
  Symbol key(name);
  if (auto it = mine.find(key); it != mine.end()) return it->second;
  std::string lower = downcase(name);
  auto at = std::lower_bound(kNativeTypes, kNativeTypes + kNativeTypeCount, lower,
                             [](const char* line, const std::string& wanted) {
                               std::string_view l(line);
                               return l.substr(0, l.find('\t')) < wanted;
                             });
  const NativeType* found = nullptr;
  if (at != kNativeTypes + kNativeTypeCount) {
    std::string_view l(*at);
    if (l.substr(0, l.find('\t')) == lower) {
      std::lock_guard lock(types_mutex);
      auto& slot = known_types()[Symbol(lower)];
      if (!slot) slot = std::make_unique<NativeType>(parse_line(l));
      found = slot.get();
    }
  }
  return mine[key] = found;
}

std::vector<std::string_view> native_type_names() {
  std::vector<std::string_view> out;
  for (const char* const* line = kNativeTypes; line != kNativeTypes + kNativeTypeCount; ++line) {
    std::string_view l(*line);
    out.push_back(l.substr(0, l.find('\t')));
  }
  return out;
}

const NativeType* declare_type(std::string_view name, NativeType known) {
  std::string lower = downcase(name);
  const NativeType* type = nullptr;
  {
    std::lock_guard lock(types_mutex);
    auto& slot = known_types()[Symbol(lower)];
    if (!slot) {
      slot = std::make_unique<NativeType>(std::move(known));
      slot->name = Symbol(capitalize_segments(lower));
      if (slot->namevars.empty()) slot->namevars.push_back(Symbol("name"));
      slot->attributes.push_back(Symbol("provider"));  // every type has it
    }
    type = slot.get();
  }
  types_of_thread()[Symbol(name)] = type;
  types_of_thread()[Symbol(lower)] = type;
  types_of_thread()[type->name] = type;
  return type;
}

std::vector<std::pair<Symbol, std::string>> title_parts(const NativeType& type, std::string_view title) {
  std::vector<std::pair<Symbol, std::string>> out;
  if (type.patterns.empty()) {
    if (type.namevars.size() == 1) out.emplace_back(type.namevars[0], std::string(title));
    return out;
  }
  for (const TitlePattern& p : type.patterns) {
    const Regex* r = Regex::get(p.regex, nullptr);
    Groups g;
    if (!r || !r->search(title, 0, &g)) continue;
    for (std::size_t n = 0; n < p.attributes.size() && 2 * n + 3 < g.size(); ++n)
      if (g[2 * n + 2] >= 0)
        out.emplace_back(p.attributes[n],
                         std::string(title.substr(static_cast<std::size_t>(g[2 * n + 2]),
                                                  static_cast<std::size_t>(g[2 * n + 3] - g[2 * n + 2]))));
    return out;
  }
  return out;
}

std::span<const Symbol> metaparameters() {
  static const std::vector<Symbol> all = [] {
    std::vector<Symbol> v;
    for (const char* s :
         {"noop", "schedule", "audit", "loglevel", "alias", "tag", "require", "subscribe", "before", "notify", "stage"})
      v.emplace_back(s);
    return v;
  }();
  return all;
}

bool is_metaparameter(Symbol s) {
  auto all = metaparameters();
  return std::find(all.begin(), all.end(), s) != all.end();
}

}  // namespace tutti::puppet
