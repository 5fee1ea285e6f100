#include "lang/puppet/catalog/native_type.h"

#include <algorithm>
#include <array>
#include <mutex>
#include <unordered_map>

#define XXH_INLINE_ALL
#include <xxhash.h>

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

std::string_view made_from(std::string_view name, std::string_view text) {
  auto before = [](const NativeTypeFile& file, std::string_view wanted) { return file.type < wanted; };
  const NativeTypeFile* end = kNativeTypeFiles + kNativeTypeFileCount;
  unsigned long long digest = 0;
  for (const NativeTypeFile* f = std::lower_bound(kNativeTypeFiles, end, name, before); f != end && f->type == name;
       ++f) {
    if (digest == 0) digest = XXH3_64bits(text.data(), text.size());
    if (f->digest == digest) return f->module;
  }
  return {};
}

std::vector<std::string_view> native_type_names() {
  std::vector<std::string_view> out;
  for (const char* const* line = kNativeTypes; line != kNativeTypes + kNativeTypeCount; ++line) {
    std::string_view l(*line);
    out.push_back(l.substr(0, l.find('\t')));
  }
  return out;
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
