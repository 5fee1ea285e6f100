#include "lang/puppet/hiera/merge.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/near.h"

namespace tutti::puppet {
namespace {

bool contains(const std::vector<Val>& items, const Val& v) {
  return std::any_of(items.begin(), items.end(), [&](const Val& x) { return same(x, v); });
}

void flatten(const Val& v, std::vector<Val>& out) {
  if (!v.is(VK::kArray)) {
    if (!contains(out, v)) out.push_back(v);
    return;
  }
  for (const Val& item : v.items()) flatten(item, out);
}

bool less(const Val& a, const Val& b) {
  if (a.is(VK::kInt) && b.is(VK::kInt)) return a.i < b.i;
  return to_text(a) < to_text(b);
}

class Deep {
 public:
  Deep(const MergeSpec& spec, Arena& arena) : spec_(spec), arena_(arena) {}

  Val merge(const Val& high, const Val& low) const {
    if (high.is(VK::kHash) && low.is(VK::kHash)) return hashes(high, low);
    if (high.is(VK::kArray) && low.is(VK::kArray)) return arrays(high, low);
    return over_another_kind(high);
  }

 private:
  bool knocks(const Val& v) const {
    return !spec_.knockout_prefix.empty() && v.is(VK::kString) && v.text().starts_with(spec_.knockout_prefix);
  }

  // What replaces a value it cannot be merged with: a text that knocks out leaves an empty one, an array loses the
  // items that do.
  Val over_another_kind(const Val& high) const {
    if (knocks(high)) return Val::string("").with_origin(high.origin);
    if (!high.is(VK::kArray) || spec_.knockout_prefix.empty()) return high;
    std::vector<Val> out;
    for (const Val& v : high.items())
      if (!knocks(v)) out.push_back(v);
    return make_array(arena_, out).with_origin(high.origin);
  }

  // A key that only the higher level has: there is nothing to knock out, but what would have is not data either.
  Val alone(const Val& v) const {
    if (spec_.knockout_prefix.empty()) return v;
    if (v.is(VK::kHash)) {
      HashDraft out;
      for (const Pair& p : v.entries()) out.set(p.key, alone(p.value));
      return out.build(arena_).with_origin(v.origin);
    }
    if (!v.is(VK::kArray)) return over_another_kind(v);
    std::vector<Val> gone = knocked_out(v), out;
    for (const Val& item : v.items())
      if (!contains(gone, item)) out.push_back(item);
    return make_array(arena_, out).with_origin(v.origin);
  }

  // What the items with the prefix take out: what they name, and themselves.
  std::vector<Val> knocked_out(const Val& high) const {
    std::vector<Val> gone;
    for (const Val& v : high.items()) {
      if (!knocks(v)) continue;
      gone.push_back(Val::string(v.text().substr(spec_.knockout_prefix.size())));
      gone.push_back(v);
    }
    return gone;
  }

  Val hashes(const Val& high, const Val& low) const {
    HashDraft out;
    for (const Pair& p : low.entries()) {
      const Val* above = high.get(p.key);
      out.set(p.key, above != nullptr ? merge(*above, p.value) : p.value);
    }
    for (const Pair& p : high.entries()) {
      if (low.get(p.key) == nullptr) out.set(p.key, alone(p.value));
    }
    return out.build(arena_).with_origin(high.origin);
  }

  Val arrays(const Val& high, const Val& low) const {
    std::vector<Val> out;
    if (spec_.merge_hash_arrays) {
      bool all = !high.items().empty() && !low.items().empty();
      for (const Val& v : high.items()) all = all && v.is(VK::kHash);
      for (const Val& v : low.items()) all = all && v.is(VK::kHash);
      if (all) {
        std::size_t most = std::max(high.items().size(), low.items().size());
        for (std::size_t i = 0; i < most; i++) {
          if (i >= high.items().size()) {
            out.push_back(low.items()[i]);
          } else if (i >= low.items().size()) {
            out.push_back(high.items()[i]);
          } else {
            out.push_back(hashes(high.items()[i], low.items()[i]));
          }
        }
        return make_array(arena_, out).with_origin(high.origin);
      }
    }
    std::vector<Val> gone = knocked_out(high);
    for (const Val& v : low.items()) {
      if (!contains(gone, v) && !contains(out, v)) out.push_back(v);
    }
    for (const Val& v : high.items()) {
      if (!knocks(v) && !contains(out, v)) out.push_back(v);
    }
    if (spec_.sort_merged_arrays) std::stable_sort(out.begin(), out.end(), less);
    return make_array(arena_, out).with_origin(high.origin);
  }

  const MergeSpec& spec_;
  Arena& arena_;
};

std::string_view kind_name(const Val& v) {
  return v.is(VK::kHash) ? "a Hash" : v.is(VK::kArray) ? "an Array" : v.is(VK::kString) ? "a String" : "a scalar";
}

}  // namespace

bool parse_merge(const Val& value, Arena& arena, MergeSpec& out, std::string& error) {
  const Val* name = value.is(VK::kHash) ? value.get("strategy") : &value;
  if (name == nullptr || !name->is(VK::kString)) {
    error = "a merge is a strategy's name, or a hash with `strategy`";
    return false;
  }
  std::string_view strategy = name->text();
  if (strategy == "first" || strategy == "default") {
    out.strategy = MergeSpec::kFirst;
  } else if (strategy == "unique") {
    out.strategy = MergeSpec::kUnique;
  } else if (strategy == "hash") {
    out.strategy = MergeSpec::kHash;
  } else if (strategy == "deep" || strategy == "unconstrained_deep" || strategy == "reverse_deep") {
    out.strategy = MergeSpec::kDeep;
  } else {
    error = fmt::format("there is no merge strategy `{}`; there are first, unique, hash and deep", strategy);
    return false;
  }
  if (!value.is(VK::kHash)) return true;
  constexpr std::string_view kOfDeep[] = {"knockout_prefix", "merge_debug", "merge_hash_arrays", "sort_merged_arrays"};
  for (const Pair& p : value.entries()) {
    std::string_view key = p.key.is(VK::kString) ? p.key.text() : std::string_view{};
    bool known = key == "strategy" || (out.strategy == MergeSpec::kDeep &&
                                       std::find(std::begin(kOfDeep), std::end(kOfDeep), key) != std::end(kOfDeep));
    if (known) continue;
    std::string_view near = out.strategy == MergeSpec::kDeep ? nearest(key, kOfDeep) : std::string_view{};
    error = fmt::format("the merge strategy `{}` has no option `{}`{}", strategy, to_text(p.key),
                        near.empty() ? "" : fmt::format("; did you mean `{}`?", near));
    return false;
  }
  if (const Val* v = value.get("knockout_prefix"); v != nullptr && v->is(VK::kString)) out.knockout_prefix = v->text();
  if (const Val* v = value.get("sort_merged_arrays")) out.sort_merged_arrays = v->truthy();
  if (const Val* v = value.get("merge_hash_arrays")) out.merge_hash_arrays = v->truthy();
  HashDraft rest;
  for (const Pair& p : value.entries())
    if (!(p.key.is(VK::kString) && p.key.text() == "strategy")) rest.set(p.key, p.value);
  if (value.entries().size() > 1) out.given = rest.build(arena);
  return true;
}

bool merge_values(std::span<const Val> found, const MergeSpec& spec, Arena& arena, Val& out, std::string& error) {
  switch (spec.strategy) {
    case MergeSpec::kFirst: out = found.front(); return true;
    case MergeSpec::kUnique: {
      std::vector<Val> items;
      for (const Val& v : found) {
        flatten(v, items);
      }
      out = make_array(arena, items).with_origin(found.front().origin);
      return true;
    }
    case MergeSpec::kHash:
    case MergeSpec::kDeep: {
      out = found.front();
      for (std::size_t i = 1; i < found.size(); i++) {
        if (spec.strategy == MergeSpec::kHash) {
          if (!out.is(VK::kHash) || !found[i].is(VK::kHash)) {
            error = fmt::format("the strategy `hash` takes hashes, and a level has {}",
                                kind_name(out.is(VK::kHash) ? found[i] : out));
            return false;
          }
          HashDraft draft;
          for (const Pair& p : found[i].entries()) draft.set(p.key, p.value);
          for (const Pair& p : out.entries()) draft.set(p.key, p.value);
          out = draft.build(arena).with_origin(out.origin);
        } else {
          out = Deep(spec, arena).merge(out, found[i]);
        }
      }
      return true;
    }
  }
  return false;
}

}  // namespace tutti::puppet
