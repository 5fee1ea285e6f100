#include <fmt/format.h>

#include <algorithm>

#include "base/utf8.h"
#include "lang/puppet/eval/compiler.h"
#include "lang/puppet/eval/growth.h"
#include "lang/puppet/functions/stdlib.h"
#include "lang/puppet/types/regex.h"

namespace tutti::puppet {
namespace {

bool holds(std::span<const Val> items, const Val& v) {
  return std::any_of(items.begin(), items.end(), [&](const Val& x) { return same(x, v); });
}

const Val& need_array(const FunctionCall& c, std::size_t n) {
  if (!c.arg(n).is(VK::kArray)) c.fail(fmt::format("{}(): Requires array to work with", c.name));
  return c.arg(n);
}

void flatten(const Val& v, std::vector<Val>& out) {
  if (!v.is(VK::kArray)) {
    out.push_back(v);
    return;
  }
  for (const Val& item : v.items()) flatten(item, out);
}

std::span<const Val> as_items(const Val& v, Val& one) {
  if (v.is(VK::kArray)) return v.items();
  one = v;
  return {&one, 1};
}

const Regex& need_regex(const FunctionCall& c, std::string_view pattern) {
  std::string error;
  const Regex* r = Regex::get(pattern, &error);
  if (r == nullptr) c.fail(fmt::format("{}(): {}", c.name, error));
  return *r;
}

Val any2array(const FunctionCall& c) {
  if (c.count() == 1) {
    const Val& v = c.arg(0);
    if (v.is(VK::kArray)) return v;
    if (v.is(VK::kString) && v.size == 0) return c.array({});
    if (v.is(VK::kHash)) {
      std::vector<Val> out;
      for (const Pair& p : v.entries()) {
        out.push_back(p.key);
        out.push_back(p.value);
      }
      return c.array(out);
    }
  }
  return c.array({c.args.begin(), c.args.end()});
}

Val concat(const FunctionCall& c) {
  expect_count(c, 2, SIZE_MAX);
  std::vector<Val> out(need_array(c, 0).items().begin(), c.arg(0).items().end());
  for (const Val& v : c.args.subspan(1)) {
    Val one;
    for (const Val& item : as_items(v, one)) out.push_back(item);
  }
  return c.array(out);
}

Val count(const FunctionCall& c) {
  expect_count(c, 1, 2);
  bool wanted = c.count() == 2 && c.arg(1).truthy();
  i64 n = 0;
  auto look = [&](const Val& v) { n += wanted ? same(v, c.arg(1)) : !is_empty_text(v); };
  if (c.arg(0).is(VK::kHash)) {
    n = static_cast<i64>(c.arg(0).entries().size());
  } else {
    // Ruby's Array(): what is no list is a list of one, nothing is an empty one.
    const Val& all = c.arg(0);
    if (all.is(VK::kArray))
      for (const Val& v : all.items()) look(v);
    else if (c.count() < 2 || all.is(VK::kBool) || all.is(VK::kInt) || all.is(VK::kFloat))
      c.fail("count(): Requires array to work with");
    else if (!all.undefined())
      look(all);
  }
  return Val::integer(n);
}

Val deep_merge_two(const FunctionCall& c, const Val& a, const Val& b) {
  HashDraft out;
  for (const Pair& p : a.entries()) out.set(p.key, p.value);
  for (const Pair& p : b.entries()) {
    const Val* there = a.get(p.key);
    bool both = there != nullptr && there->is(VK::kHash) && p.value.is(VK::kHash);
    out.set(p.key, both ? deep_merge_two(c, *there, p.value) : p.value);
  }
  return c.hash(out);
}

Val deep_merge(const FunctionCall& c) {
  if (c.count() < 2) c.fail(fmt::format("deep_merge(): wrong number of arguments ({}; must be at least 2)", c.count()));
  Val result = make_hash(c.arena(), {});
  for (const Val& v : c.args) {
    if (is_empty_text(v)) continue;
    if (!v.is(VK::kHash))
      c.fail(fmt::format("deep_merge: unexpected argument type {}, only expects hash arguments", ruby_class(v)));
    result = deep_merge_two(c, result, v);
  }
  return result;
}

std::string replaced(std::string_view text, std::string_view what, std::string_view by) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t found = what.empty() ? std::string_view::npos : text.find(what, at);
    out += text.substr(at, found - at);
    if (found == std::string_view::npos) break;
    out += by;
    at = found + what.size();
  }
  return out;
}

Val delete_(const FunctionCall& c) {
  expect_count(c, 2, 2);
  Val one;
  std::span<const Val> gone = as_items(c.arg(1), one);
  const Val& from = c.arg(0);
  if (from.is(VK::kArray)) {
    std::vector<Val> out;
    for (const Val& v : from.items()) {
      if (!holds(gone, v)) out.push_back(v);
    }
    return c.array(out);
  }
  if (from.is(VK::kHash)) {
    HashDraft out;
    for (const Pair& p : from.entries()) {
      if (!holds(gone, p.key)) out.set(p.key, p.value);
    }
    return c.hash(out);
  }
  if (!from.is(VK::kString)) {
    c.fail(fmt::format("delete(): First argument must be an Array, String, or Hash. Given an argument of class {}.",
                       ruby_class(from)));
  }
  std::string text(from.text());
  for (const Val& v : gone) {
    if (!v.is(VK::kString)) c.fail(fmt::format("delete(): {} is no string", ruby_inspect(v)));
    text = replaced(text, v.text(), "");
  }
  return c.string(text);
}

Val delete_at(const FunctionCall& c) {
  expect_count(c, 2, SIZE_MAX);
  need_array(c, 0);
  if (c.arg(1).is(VK::kString) &&
      (c.arg(1).size == 0 || c.text(1).find_first_not_of("0123456789") != std::string_view::npos)) {
    c.fail("delete_at(): You must provide non-negative numeric index");
  }
  if (c.arg(1).is(VK::kBool) || c.arg(1).is(VK::kArray) || c.arg(1).is(VK::kHash))
    c.fail(fmt::format("delete_at(): {} is no index", ruby_inspect(c.arg(1))));
  i64 index = ruby_to_i(c.arg(1)), size = static_cast<i64>(c.arg(0).items().size());
  if (index > size - 1) c.fail("delete_at(): Given index exceeds size of array given");
  if (index < 0) index += size;
  std::vector<Val> out(c.arg(0).items().begin(), c.arg(0).items().end());
  if (index >= 0) out.erase(out.begin() + index);
  return c.array(out);
}

Val delete_regex(const FunctionCall& c) {
  expect_count(c, 2, 2);
  Val one;
  auto gone = [&](const Val& v) {
    for (const Val& pattern : as_items(c.arg(1), one)) {
      if (v.is(VK::kString) && need_regex(c, fmt::format("\\b{}\\b", to_text(pattern))).search(v.text(), 0))
        return true;
    }
    return false;
  };
  if (c.arg(0).is(VK::kHash)) {
    HashDraft out;
    for (const Pair& p : c.arg(0).entries()) {
      if (!gone(p.key)) out.set(p.key, p.value);
    }
    return c.hash(out);
  }
  std::vector<Val> out;
  for (const Val& v : need_array(c, 0).items()) {
    if (!gone(v)) out.push_back(v);
  }
  return c.array(out);
}

Val delete_values(const FunctionCall& c) {
  expect_count(c, 2, 2);
  if (!c.arg(0).is(VK::kHash)) {
    c.fail(fmt::format("delete_values(): First argument must be a Hash. Given an argument of class {}.",
                       ruby_class(c.arg(0))));
  }
  HashDraft out;
  for (const Pair& p : c.arg(0).entries()) {
    if (!same(p.value, c.arg(1))) out.set(p.key, p.value);
  }
  return c.hash(out);
}

Val delete_undef_values(const FunctionCall& c) {
  expect_count(c, 1, SIZE_MAX);
  if (c.arg(0).is(VK::kHash)) {
    HashDraft out;
    for (const Pair& p : c.arg(0).entries()) {
      if (!p.value.undefined()) out.set(p.key, p.value);
    }
    return c.hash(out);
  }
  if (!c.arg(0).is(VK::kArray)) {
    c.fail(fmt::format("delete_undef_values(): expected an array or hash, got {} type  {} ", to_text(c.arg(0)),
                       ruby_class(c.arg(0))));
  }
  std::vector<Val> out;
  for (const Val& v : c.arg(0).items()) {
    if (!v.undefined()) out.push_back(v);
  }
  return c.array(out);
}

void two_arrays(const FunctionCall& c) {
  expect_count(c, 2, 2);
  if (c.arg(0).is(VK::kArray) && c.arg(1).is(VK::kArray)) return;
  c.fail(fmt::format("{}(): Requires 2 arrays, got {} and {}", c.name, ruby_class(c.arg(0)), ruby_class(c.arg(1))));
}

Val difference(const FunctionCall& c) {
  two_arrays(c);
  std::vector<Val> out;
  for (const Val& v : c.arg(0).items()) {
    if (!holds(c.arg(1).items(), v)) out.push_back(v);
  }
  return c.array(out);
}

Val intersection(const FunctionCall& c) {
  two_arrays(c);
  std::vector<Val> out;
  for (const Val& v : c.arg(0).items()) {
    if (holds(c.arg(1).items(), v) && !holds(out, v)) out.push_back(v);
  }
  return c.array(out);
}

Val union_(const FunctionCall& c) {
  expect_count(c, 2, SIZE_MAX);
  std::vector<Val> out;
  for (const Val& a : c.args) {
    if (!a.is(VK::kArray)) c.fail("union(): Every parameter must be an array");
    for (const Val& v : a.items()) {
      if (!holds(out, v)) out.push_back(v);
    }
  }
  return c.array(out);
}

Val grep(const FunctionCall& c) {
  expect_count(c, 2, 2);
  const Regex& r = need_regex(c, to_text(c.arg(1)));
  std::vector<Val> out;
  for (const Val& v : need_array(c, 0).items()) {
    if (v.is(VK::kString) && r.search(v.text(), 0)) out.push_back(v);
  }
  return c.array(out);
}

Val reject(const FunctionCall& c) {
  expect_count(c, 2, 2);
  if (!c.arg(1).is(VK::kString)) c.fail(fmt::format("reject(): {} is no string", ruby_inspect(c.arg(1))));
  const Regex& r = need_regex(c, to_text(c.arg(1)));
  std::vector<Val> out;
  for (const Val& v : need_array(c, 0).items()) {
    if (!v.is(VK::kString) || !r.search(v.text(), 0)) out.push_back(v);
  }
  return c.array(out);
}

Val has_key(const FunctionCall& c) {
  if (c.count() != 2) c.fail(fmt::format("has_key(): wrong number of arguments ({}; must be 2)", c.count()));
  if (!c.arg(0).is(VK::kHash)) {
    c.fail(fmt::format("has_key(): expects the first argument to be a hash, got {} which is of type {}",
                       ruby_inspect(c.arg(0)), ruby_class(c.arg(0))));
  }
  return Val::boolean(c.arg(0).get(c.arg(1)) != nullptr);
}

Val hash_(const FunctionCall& c) {
  expect_count(c, 1, SIZE_MAX);
  std::vector<Val> flat;
  flatten(need_array(c, 0), flat);
  if (flat.size() % 2 != 0) c.fail("hash(): Unable to compute hash from array given");
  HashDraft out;
  for (std::size_t i = 0; i < flat.size(); i += 2) out.set(flat[i], flat[i + 1]);
  return c.hash(out);
}

Val join_keys_to_values(const FunctionCall& c) {
  if (c.count() != 2)
    c.fail(fmt::format("join_keys_to_values(): Takes exactly two arguments, but {} given.", c.count()));
  if (!c.arg(0).is(VK::kHash))
    c.fail(fmt::format("join_keys_to_values(): The first argument must be a hash, but a {} was given.",
                       ruby_class(c.arg(0))));
  if (!c.arg(1).is(VK::kString))
    c.fail(fmt::format("join_keys_to_values(): The second argument must be a string, but a {} was given.",
                       ruby_class(c.arg(1))));
  std::vector<Val> out;
  for (const Pair& p : c.arg(0).entries()) {
    std::string key = to_text(p.key);
    auto join = [&](const Val& v) { out.push_back(c.string(key + std::string(c.text(1)) + ruby_to_s(v))); };
    if (p.value.is(VK::kArray)) {
      for (const Val& v : p.value.items()) join(v);
    } else if (p.value.is(VK::kString) && p.value.text() == "undef") {
      out.push_back(c.string(key));
    } else {
      join(p.value);
    }
  }
  return c.array(out);
}

Val member(const FunctionCall& c) {
  expect_count(c, 2, SIZE_MAX);
  need_array(c, 0);
  const Val& item = c.arg(1);
  if (!item.is(VK::kString) && !item.is(VK::kInt) && !item.is(VK::kArray)) {
    c.fail("member(): Item to search for must be a string, fixnum, or array");
  }
  if (item.is(VK::kArray) && item.items().empty())
    c.fail("member(): You must provide item to search for within array given");
  Val one;
  for (const Val& v : as_items(item, one)) {
    if (!holds(c.arg(0).items(), v)) return Val::boolean(false);
  }
  return Val::boolean(true);
}

Val merge(const FunctionCall& c) {
  HashDraft out;
  if (c.block == nullptr) {
    for (const Val& v : c.args) {
      for (const Pair& p : v.is(VK::kHash) ? v.entries() : std::span<const Pair>{}) out.set(p.key, p.value);
    }
    return c.hash(out);
  }
  auto add = [&](const Val& got) {
    for (const Pair& p : got.is(VK::kHash) ? got.entries() : std::span<const Pair>{}) out.set(p.key, p.value);
  };
  bool three = c.block_params() >= 3;
  const Val& from = c.arg(0);
  if (from.is(VK::kHash)) {
    for (const Pair& p : from.entries()) {
      Val both[2] = {p.key, p.value};
      Val args3[3] = {c.hash(out), p.key, p.value}, args2[2] = {args3[0], make_array(c.arena(), both)};
      add(three ? c.yield(std::span<const Val>(args3)) : c.yield(std::span<const Val>(args2)));
    }
  } else {
    i64 index = 0;
    for (const Val& v : from.items()) {
      Val args3[3] = {c.hash(out), Val::integer(index++), v}, args2[2] = {args3[0], v};
      add(three ? c.yield(std::span<const Val>(args3)) : c.yield(std::span<const Val>(args2)));
    }
  }
  return c.hash(out);
}

Val affix(const FunctionCall& c, bool before) {
  expect_count(c, 1, SIZE_MAX);
  const Val& all = c.arg(0);
  if (!all.is(VK::kArray) && !all.is(VK::kHash)) {
    c.fail(fmt::format("{}(): expected first argument to be an Array or a Hash, got {}", c.name, ruby_inspect(all)));
  }
  std::string add;
  if (c.count() > 1 && c.arg(1).truthy()) {
    if (!c.arg(1).is(VK::kString)) {
      c.fail(fmt::format("{}(): expected second argument to be a String, got {}", c.name, ruby_inspect(c.arg(1))));
    }
    add = c.text(1);
    grown(c.compiler.budget(), add.size() * all.size);
  }
  auto made = [&](const Val& v) { return c.string(before ? add + ruby_to_s(v) : ruby_to_s(v) + add); };
  if (all.is(VK::kHash)) {
    HashDraft out;
    for (const Pair& p : all.entries()) out.set(made(p.key), p.value);
    return c.hash(out);
  }
  std::vector<Val> out;
  for (const Val& v : all.items()) out.push_back(made(v));
  return c.array(out);
}
Val prefix(const FunctionCall& c) { return affix(c, true); }
Val suffix(const FunctionCall& c) { return affix(c, false); }

// The next text as Ruby's String#succ makes it, for ranges of words.
std::string successor(std::string s) {
  auto alnum = [](char ch) { return std::isalnum(static_cast<u8>(ch)) != 0; };
  std::size_t last = s.size();
  for (std::size_t i = s.size(); i-- > 0;) {
    if (!alnum(s[i])) {
      if (last != s.size()) break;
      continue;
    }
    last = i;
    if (s[i] == 'z') {
      s[i] = 'a';
    } else if (s[i] == 'Z') {
      s[i] = 'A';
    } else if (s[i] == '9') {
      s[i] = '0';
    } else {
      s[i]++;
      return s;
    }
  }
  if (last == s.size()) {
    if (!s.empty()) s.back()++;
    return s;
  }
  s.insert(last, 1, s[last] == '0' ? '1' : s[last]);
  return s;
}

Val range(const FunctionCall& c) {
  expect_count(c, 1, SIZE_MAX);
  std::string from, to;
  i64 step = 1;
  bool exclusive = false;
  if (c.count() > 1) {
    if (c.arg(0).is(VK::kBool) || c.arg(1).is(VK::kBool)) c.fail("range(): true and false have no place in a range");
    from = to_text(c.arg(0));
    to = to_text(c.arg(1));
    if (c.count() > 2) step = std::abs(ruby_to_i(c.arg(2)));
    if (step == 0) c.fail("range(): 3rd arg (step size) must be a non zero integer (e.g. 1 or -1)");
  } else {
    std::string text = to_text(c.arg(0));
    Groups g;
    if (!need_regex(c, "^(\\w+)(\\.\\.\\.?|\\-)(\\w+)$").search(text, 0, &g)) {
      c.fail(fmt::format("range(): {}: {}",
                         text.empty() ? "Unknown range format" : "Unable to compute range from the value", text));
    }
    auto group = [&](std::size_t n) {
      return text.substr(static_cast<std::size_t>(g[2 * n]), static_cast<std::size_t>(g[2 * n + 1] - g[2 * n]));
    };
    from = group(1);
    to = group(3);
    exclusive = group(2) == "...";
  }
  constexpr std::size_t kMost = 1'000'000;
  std::vector<Val> out;
  if (from.empty()) return c.array({Val::string("")});  // nothing comes after no text
  if (!from.empty() && from.find_first_not_of("0123456789") == std::string::npos) {
    if (c.count() > 1 && (c.arg(1).is(VK::kArray) || c.arg(1).is(VK::kHash)))
      c.fail(fmt::format("range(): {} is no number", ruby_inspect(c.arg(1))));
    i64 a = ruby_to_i(Val::string(from)), b = ruby_to_i(Val::string(to));
    for (i64 n = a; (exclusive ? n < b : n <= b) && out.size() < kMost; n += step) out.push_back(Val::integer(n));
    return c.array(out);
  }
  // As text goes up to text: the first is there when it is not behind the last, however long it is.
  if (from > to || (c.count() > 1 && c.arg(1).is(VK::kArray))) return c.array(out);
  if (from.size() > to.size()) out.push_back(c.string(from));
  i64 skip = 0;
  for (std::string s = from; out.size() < kMost && s.size() <= to.size(); s = successor(s)) {
    if (exclusive && s == to) break;
    if (skip == 0) out.push_back(c.string(s));
    skip = (skip + 1) % step;
    if (s == to) break;
  }
  return c.array(out);
}

Val reverse(const FunctionCall& c) {
  expect_count(c, 1, SIZE_MAX);
  if (c.arg(0).is(VK::kString)) {
    std::string out;
    std::string_view s = c.text(0);
    for (std::size_t at = 0; at < s.size();) {
      std::size_t start = at;
      utf8::decode(s, at);
      out.insert(0, s.substr(start, at - start));
    }
    return c.string(out);
  }
  if (!c.arg(0).is(VK::kArray)) c.fail("reverse(): Requires either array or string to work with");
  std::vector<Val> out(c.arg(0).items().begin(), c.arg(0).items().end());
  std::reverse(out.begin(), out.end());
  return c.array(out);
}

Val values_at(const FunctionCall& c) {
  expect_count(c, 2, SIZE_MAX);
  std::span<const Val> from = need_array(c, 0).items();
  std::vector<Val> indexes, out;
  flatten(c.arg(1), indexes);
  if (indexes.empty()) c.fail("values_at(): You must provide at least one positive index to collect");
  const Regex& form = need_regex(c, "^(\\d+)(\\.\\.\\.?|\\-)(\\d+)$");
  i64 size = static_cast<i64>(from.size());
  auto take = [&](i64 i) {
    if (!from[static_cast<std::size_t>(i)].undefined()) out.push_back(from[static_cast<std::size_t>(i)]);
  };
  for (const Val& v : indexes) {
    std::string text = to_text(v);
    Groups g;
    if (form.search(text, 0, &g)) {
      auto group = [&](std::size_t n) {
        return text.substr(static_cast<std::size_t>(g[2 * n]), static_cast<std::size_t>(g[2 * n + 1] - g[2 * n]));
      };
      i64 start = ruby_to_i(Val::string(group(1))), stop = ruby_to_i(Val::string(group(3)));
      if (start > stop) c.fail("values_at(): Stop index in given indices range is smaller than the start index");
      if (stop > size - 1) c.fail("values_at(): Stop index in given indices range exceeds array size");
      for (i64 i = start; group(2) == "..." ? i < stop : i <= stop; i++) take(i);
      continue;
    }
    if (text.empty() || text.find_first_not_of("0123456789") != std::string::npos)
      c.fail("values_at(): Unknown format of given index");
    i64 i = ruby_to_i(Val::string(text));
    if (i > size - 1) c.fail("values_at(): Given index exceeds array size");
    take(i);
  }
  return c.array(out);
}

Val zip(const FunctionCall& c) {
  expect_count(c, 2, SIZE_MAX);
  if (!c.arg(0).is(VK::kArray) || !c.arg(1).is(VK::kArray)) c.fail("zip(): Requires array to work with");
  bool flat = c.count() > 2 && c.arg(2).truthy() &&
              c.compiler.call_function(Symbol("str2bool"), c.args.subspan(2, 1), nullptr, c.scope, c.at).truthy();
  std::vector<Val> out;
  for (std::size_t i = 0; i < c.arg(0).items().size(); i++) {
    Val second = i < c.arg(1).items().size() ? c.arg(1).items()[i] : Val::undef();
    if (flat) {
      flatten(c.arg(0).items()[i], out);
      flatten(second, out);
    } else {
      Val both[2] = {c.arg(0).items()[i], second};
      out.push_back(make_array(c.arena(), both));
    }
  }
  return c.array(out);
}

Val pick(const FunctionCall& c) {
  for (const Val& v : c.args) {
    if (!is_empty_text(v)) {
      if (to_text(v).empty()) break;
      return v;
    }
  }
  c.fail("pick(): must receive at least one non empty value");
}

Val pick_default(const FunctionCall& c) {
  if (c.count() == 0) c.fail("Must receive at least one argument.");
  for (const Val& v : c.args.first(c.count() - 1)) {
    if (!is_empty_text(v)) return v;
  }
  return c.args.back();
}

Val clamp(const FunctionCall& c) {
  std::vector<Val> flat;
  for (const Val& v : c.args) flatten(v, flat);
  if (flat.size() != 3) c.fail("clamp(): Wrong number of arguments, need three to clamp");
  std::vector<i64> numbers;
  for (const Val& v : flat) {
    if (v.is(VK::kHash)) c.fail(fmt::format("clamp(): The Hash type is not allowed ({})", ruby_inspect(v)));
    if (v.is(VK::kString) && (v.size == 0 || v.text().find_first_not_of("0123456789") != std::string_view::npos)) {
      c.fail(fmt::format("clamp(): Required explicit numeric ({}:String)", v.text()));
    }
    numbers.push_back(ruby_to_i(v));
  }
  std::sort(numbers.begin(), numbers.end());
  return Val::integer(numbers[1]);
}

bool position(const Val& key) {
  return key.is(VK::kInt) ||
         (key.is(VK::kString) && key.size > 0 && key.text().find_first_not_of("0123456789") == std::string_view::npos);
}

Val dig_along(const FunctionCall& c, std::span<const Val> path) {
  Val at = c.arg(0);
  for (const Val& key : path) {
    const Val* next = nullptr;
    if (at.is(VK::kHash)) next = at.get(key);
    if (at.is(VK::kArray) && position(key) && ruby_to_i(key) >= 0 &&
        static_cast<std::size_t>(ruby_to_i(key)) < at.items().size()) {
      next = &at.items()[static_cast<std::size_t>(ruby_to_i(key))];
    }
    if (next == nullptr || next->undefined()) return c.count() > 2 ? c.arg(2) : Val::undef();
    at = *next;
  }
  return at;
}

Val dig_down(const FunctionCall& c) {
  expect_count(c, 2, 3);
  if (!c.arg(0).is(VK::kHash) && !c.arg(0).is(VK::kArray))
    c.fail(fmt::format("{}(): first argument must be a hash or an array, given {}", c.name, ruby_class(c.arg(0))));
  if (!c.arg(1).is(VK::kArray)) c.fail(fmt::format("{}(): second argument must be an array, the path", c.name));
  return dig_along(c, c.arg(1).items());
}

// The old way to dig: the path is one text, its parts separated by `/` or the fourth argument; digits are positions.
Val try_get_value(const FunctionCall& c) {
  expect_count(c, 1, 4);
  std::string path = c.count() > 1 ? to_text(c.arg(1)) : "", separator = c.count() > 3 ? to_text(c.arg(3)) : "/";
  if (!(c.arg(0).is(VK::kHash) || c.arg(0).is(VK::kArray)) || path.empty())
    return c.count() > 2 && c.arg(2).truthy() ? c.arg(2) : c.arg(0);
  if (!c.arg(1).is(VK::kString)) c.fail(fmt::format("{}(): a path is a string, not {}", c.name, ruby_class(c.arg(1))));
  std::vector<Val> keys;
  for (std::string_view rest = path; !rest.empty();) {
    std::size_t cut = separator.empty() ? 1 : rest.find(separator);
    std::string_view part = rest.substr(0, cut);
    keys.push_back(position(Val::string(part)) ? Val::integer(ruby_to_i(Val::string(part))) : c.string(part));
    rest.remove_prefix(std::min(rest.size(), part.size() + separator.size()));
  }
  return dig_along(c, keys);
}

}  // namespace

void add_stdlib_collection_functions(Functions& f) {
  f.add3x("any2array", any2array);
  f.add3x("concat", concat);
  f.add3x("count", count);
  f.add3x("deep_merge", deep_merge);
  f.add3x("delete", delete_);
  f.add3x("delete_at", delete_at);
  f.add3x("delete_regex", delete_regex);
  f.add3x("delete_values", delete_values);
  f.add3x("delete_undef_values", delete_undef_values);
  f.add3x("difference", difference);
  f.add3x("intersection", intersection);
  f.add3x("union", union_);
  f.add3x("grep", grep);
  f.add3x("reject", reject);
  f.add3x("has_key", has_key);
  f.add3x("hash", hash_);
  f.add3x("join_keys_to_values", join_keys_to_values);
  f.add3x("member", member);
  f.add("merge", {{"Variant[Hash[Scalar, Any], Undef, String[0, 0]]*", merge},
                  {"Iterable, &Callable[3, 3]", merge},
                  {"Iterable, &Callable[2, 2]", merge}});
  f.add3x("prefix", prefix);
  f.add3x("suffix", suffix);
  f.add3x("range", range);
  f.add3x("reverse", reverse);
  f.add3x("values_at", values_at);
  f.add3x("zip", zip);
  f.add3x("pick", pick);
  f.add3x("pick_default", pick_default);
  f.add3x("clamp", clamp);
  f.add3x("dig44", dig_down);
  f.add3x("try_get_value", try_get_value);
}

}  // namespace tutti::puppet
