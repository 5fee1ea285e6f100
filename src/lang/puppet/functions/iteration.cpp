// Functions that call a block for each element.
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "lang/puppet/eval/compiler.h"
#include "lang/puppet/eval/growth.h"
#include "lang/puppet/functions/function.h"

namespace tutti::puppet {

// The elements of anything that can be iterated over; a hash gives pairs.
std::vector<Val> iterate(const FunctionCall& c, const Val& v) {
  std::vector<Val> out;
  switch (v.kind) {
    case VK::kArray: out.assign(v.items().begin(), v.items().end()); return out;
    case VK::kHash:
      for (const Pair& p : v.entries()) {
        Val both[2] = {p.key, p.value};
        out.push_back(make_array(c.arena(), both));
      }
      return out;
    case VK::kInt:
      grown(c.compiler.budget(), static_cast<std::size_t>(v.i) * sizeof(Val));
      for (i64 n = 0; n < v.i; ++n) out.push_back(Val::integer(n));
      return out;
    case VK::kString:
      for (std::size_t p = 0; p < v.size;) {
        std::size_t q = p + 1;
        while (q < v.size && (static_cast<unsigned char>(v.s[q]) & 0xC0) == 0x80) ++q;
        out.push_back(Val::string(v.text().substr(p, q - p)));
        p = q;
      }
      return out;
    case VK::kBinary:
      for (char b : v.text()) out.push_back(Val::integer(static_cast<unsigned char>(b)));
      return out;
    case VK::kType: {
      const Type* t = resolved(v.t);
      if (t->kind == TK::kInteger && t->min != kNoMin && t->max != kNoMax) {
        u64 count = static_cast<u64>(t->max) - static_cast<u64>(t->min) + 1;
        grown(c.compiler.budget(), static_cast<std::size_t>(std::min(count, u64{1} << 40)) * sizeof(Val));
        for (i64 n = t->min; n <= t->max; ++n) out.push_back(Val::integer(n));
        return out;
      }
      if (t->kind == TK::kEnum) {
        out.assign(t->values.begin(), t->values.end());
        return out;
      }
      break;
    }
    default: break;
  }
  c.fail(fmt::format("'{}' cannot iterate over {}", c.name, to_literal(v)));
}

namespace {

// Goes through anything that can be iterated over: `f` is given what a block is to be called with ((value), (index,
// value) or, for a hash, (pair) or (key, value), whichever it takes), the key or index, and the value, and returns
// false to stop. Numbers are counted up, not listed.
enum class Splat : u8 { kTwo, kOne };  // how many a block that takes any number is given
template <class F>
void go_through(const FunctionCall& c, const Val& over, bool two, F f) {
  i64 index = 0;
  auto item = [&](const Val& v) {
    c.compiler.budget().step();
    Val both[2] = {Val::integer(index++), v};
    return f(two ? std::span<const Val>(both) : std::span<const Val>(&both[1], 1), both[0], v);
  };
  if (over.is(VK::kHash)) {
    for (const Pair& p : over.entries()) {
      c.compiler.budget().step();
      Val both[2] = {p.key, p.value};
      Val pair = two ? Val{} : make_array(c.arena(), both);
      if (!f(two ? std::span<const Val>(both) : std::span<const Val>(&pair, 1), p.key, p.value)) return;
    }
    return;
  }
  const Type* range = over.is(VK::kType) ? resolved(over.t) : nullptr;
  if (range && (range->kind != TK::kInteger || range->min == kNoMin || range->max == kNoMax)) range = nullptr;
  if (range || over.is(VK::kInt)) {
    i64 last = range ? range->max : over.i - 1;
    for (i64 n = range ? range->min : 0; n <= last; ++n)
      if (!item(Val::integer(n))) return;
    return;
  }
  std::vector<Val> held;
  std::span<const Val> items;
  if (over.is(VK::kArray))
    items = over.items();
  else
    held = iterate(c, over), items = held;
  for (const Val& v : items)
    if (!item(v)) return;
}

bool takes_two(const FunctionCall& c, Splat splat = Splat::kTwo) {
  return c.block_takes_any() ? splat == Splat::kTwo : c.block_params() == 2;
}

// Calls the block for each element; `f` gets the key, the element and the answer.
template <class F>
void walk(const FunctionCall& c, F f, Splat splat = Splat::kTwo) {
  go_through(c, c.arg(0), takes_two(c, splat),
             [&](std::span<const Val> args, const Val& k, const Val& v) { return f(k, v, c.yield(args)); });
}

// The same where only the truth of the answer counts, or nothing of it: a round leaves nothing behind.
template <class F>
void walk_rounds(const FunctionCall& c, F f, bool wanted = true) {
  go_through(c, c.arg(0), takes_two(c), [&](std::span<const Val> args, const Val& k, const Val& v) {
    return f(k, v, c.compiler.call_round(*c.block, args, c.at, wanted));
  });
}

// For the functions that break() ends; it is not allowed in the blocks of the others.
template <typename F>
void to_break(F f) {
  try {
    f();
  } catch (BreakSignal&) {
  }
}

Val f_each(const FunctionCall& c) {
  to_break([&] {
    walk_rounds(
        c, [](const Val&, const Val&, bool) { return true; }, false);
  });
  return c.arg(0);
}

// An answer that is put together item by item may not grow without bound.
void push(const FunctionCall& c, std::vector<Val>& out, const Val& v) {
  if (out.size() == out.capacity()) grown(c.compiler.budget(), 2 * out.size() * sizeof(Val));
  out.push_back(v);
}

Val f_map(const FunctionCall& c) {
  std::vector<Val> out;
  to_break([&] { walk(c, [&](const Val&, const Val&, const Val& a) { return push(c, out, a), true; }); });
  return c.array(out);
}

Val f_filter(const FunctionCall& c) {
  if (c.arg(0).is(VK::kHash)) {
    HashDraft h;
    to_break([&] {
      walk_rounds(c, [&](const Val& k, const Val& v, bool yes) { return (yes ? h.set(k, v) : void()), true; });
    });
    return c.hash(h);
  }
  std::vector<Val> out;
  to_break([&] {
    walk_rounds(c, [&](const Val&, const Val& v, bool yes) { return (yes ? push(c, out, v) : void()), true; });
  });
  return c.array(out);
}

Val f_partition(const FunctionCall& c) {
  std::vector<Val> yes, no;
  bool hash = c.arg(0).is(VK::kHash);
  walk_rounds(c, [&](const Val& k, const Val& v, bool fits) {
    Val item = v;
    if (hash) {
      Val both[2] = {k, v};
      item = make_array(c.arena(), both);
    }
    (fits ? yes : no).push_back(item);
    return true;
  });
  return c.array({c.array(yes), c.array(no)});
}

Val f_any(const FunctionCall& c) {
  bool found = false;
  if (!c.block) {
    for (const Val& v : iterate(c, c.arg(0))) found = found || v.truthy();
    return Val::boolean(found);
  }
  walk_rounds(c, [&](const Val&, const Val&, bool yes) { return !(found = yes); });
  return Val::boolean(found);
}

Val f_all(const FunctionCall& c) {
  bool good = true;
  if (!c.block) {
    for (const Val& v : iterate(c, c.arg(0))) good = good && v.truthy();
    return Val::boolean(good);
  }
  walk_rounds(c, [&](const Val&, const Val&, bool yes) { return good = yes; });
  return Val::boolean(good);
}

Val f_index(const FunctionCall& c) {
  Val found;
  if (!c.block) {
    if (c.arg(0).is(VK::kHash)) {
      for (const Pair& p : c.arg(0).entries())
        if (equal(p.value, c.arg(1))) return p.key;
      return found;
    }
    if (c.arg(0).is(VK::kString)) {
      std::size_t at = c.text(0).find(to_text(c.arg(1)));
      return at == std::string_view::npos ? Val::undef() : Val::integer(static_cast<i64>(at));
    }
    i64 n = 0;
    for (const Val& v : iterate(c, c.arg(0))) {
      if (equal(v, c.arg(1))) return Val::integer(n);
      ++n;
    }
    return found;
  }
  if (c.arg(0).is(VK::kHash) && c.block_params() == 1 && !c.block_takes_any()) {  // the values, not pairs
    for (const Pair& p : c.arg(0).entries())
      if (c.yield(p.value).truthy()) return p.key;
    return found;
  }
  walk_rounds(c, [&](const Val& k, const Val&, bool yes) {
    if (yes) found = k;
    return !yes;
  });
  return found;
}

Val f_reduce(const FunctionCall& c) {
  std::optional<Val> memo;
  if (c.args.size() > 1) memo = c.arg(1);
  to_break([&] {
    go_through(c, c.arg(0), false, [&](std::span<const Val> item, const Val&, const Val&) {
      memo = memo ? c.yield(*memo, item[0]) : item[0];
      return true;
    });
  });
  return memo.value_or(Val::undef());
}

Val f_slice(const FunctionCall& c) {
  if (!c.arg(1).is(VK::kInt) || c.arg(1).i < 1) c.fail("'slice' expects a size of at least 1");
  std::vector<Val> items = iterate(c, c.arg(0)), out;
  std::size_t size = static_cast<std::size_t>(c.arg(1).i);
  for (std::size_t n = 0; n < items.size(); n += size)
    out.push_back(make_array(c.arena(), std::span<const Val>(items).subspan(n, std::min(size, items.size() - n))));
  if (!c.block) return c.array(out);
  try {
    for (const Val& s : out) {
      if (c.block_params() == 1 && !c.block_takes_any()) {
        c.compiler.call_round(*c.block, std::span<const Val>(&s, 1), c.at, false);
        continue;
      }
      std::vector<Val> args(s.items().begin(), s.items().end());
      while (args.size() < c.block_params() && !c.block_takes_any()) args.push_back(Val::undef());
      c.compiler.call_round(*c.block, args, c.at, false);
    }
  } catch (BreakSignal&) {
  }
  return c.arg(0);
}

Val f_step(const FunctionCall& c) {
  if (!c.arg(1).is(VK::kInt) || c.arg(1).i < 1) c.fail("'step' expects a step of at least 1");
  std::vector<Val> out, items = iterate(c, c.arg(0));
  for (std::size_t n = 0; n < items.size(); n += static_cast<std::size_t>(c.arg(1).i)) out.push_back(items[n]);
  if (!c.block) return c.array(out);
  try {
    for (const Val& v : out) c.compiler.call_round(*c.block, std::span<const Val>(&v, 1), c.at, false);
  } catch (BreakSignal&) {
  }
  return Val::undef();
}

Val f_reverse_each(const FunctionCall& c) {
  std::vector<Val> items = iterate(c, c.arg(0));
  std::vector<Val> out(items.rbegin(), items.rend());
  if (!c.block) return c.array(out);
  try {
    for (const Val& v : out) c.compiler.call_round(*c.block, std::span<const Val>(&v, 1), c.at, false);
  } catch (BreakSignal&) {
  }
  return Val::undef();
}

Val f_group_by(const FunctionCall& c) {
  std::vector<Pair> groups;
  std::vector<std::vector<Val>> members;
  HashDraft at;
  bool hash = c.arg(0).is(VK::kHash);
  auto group = [&](const Val& k, const Val& v, const Val& a) {
    Val item = v;
    if (hash) {
      Val both[2] = {k, v};
      item = make_array(c.arena(), both);
    }
    if (const Val* n = at.get(a)) {
      members[static_cast<std::size_t>(n->i)].push_back(item);
    } else {
      at.set(a, Val::integer(static_cast<i64>(members.size())));
      members.push_back({item});
    }
    return true;
  };
  walk(c, group, Splat::kOne);
  HashDraft out;
  for (const Pair& p : at.pairs()) out.set(p.key, c.array(members[static_cast<std::size_t>(p.value.i)]));
  return c.hash(out);
}

Val f_with(const FunctionCall& c) { return c.yield(c.args); }
Val f_then(const FunctionCall& c) { return c.arg(0).undefined() ? Val::undef() : c.yield(c.arg(0)); }
Val f_lest(const FunctionCall& c) { return c.arg(0).undefined() ? c.yield(std::span<const Val>{}) : c.arg(0); }

Val f_next(const FunctionCall& c) { throw NextSignal{c.args.empty() ? Val::undef() : c.arg(0), c.at}; }
Val f_break(const FunctionCall& c) { throw BreakSignal{c.at}; }
Val f_return(const FunctionCall& c) { throw ReturnSignal{c.args.empty() ? Val::undef() : c.arg(0), c.at}; }

// Visits all values of nested arrays and hashes with their path.
struct TreeWalk {
  const FunctionCall& c;
  bool containers = true, values = true, root = true, depth_first = true;
  const Type* container_type = nullptr;
  bool include_refs = false;
  std::vector<Val> found;  // [path, value]

  bool descend(const Val& v) const {
    if (!v.is(VK::kArray) && !v.is(VK::kHash)) return false;
    return !container_type || is_instance(container_type, v);
  }
  void emit(const std::vector<Val>& path, const Val& v) {
    Val both[2] = {make_array(c.arena(), path), v};
    found.push_back(make_array(c.arena(), both));
  }
  void visit(std::vector<Val>& path, const Val& v, int level) {
    if (level > 1000) c.fail("nested too deeply");
    bool inner = descend(v);
    if (inner ? containers && (root || !path.empty()) : values) emit(path, v);
    if (!inner) return;
    auto child = [&](const Val& key, const Val& x) {
      path.push_back(key);
      visit(path, x, level + 1);
      path.pop_back();
    };
    if (v.is(VK::kArray))
      for (u32 n = 0; n < v.size; ++n) child(Val::integer(n), v.list[n]);
    else
      for (const Pair& p : v.entries()) child(p.key, p.value);
  }
  void breadth(const Val& start) {
    std::vector<std::pair<std::vector<Val>, Val>> queue{{{}, start}};
    for (std::size_t n = 0; n < queue.size(); ++n) {
      auto [path, v] = queue[n];
      bool inner = descend(v);
      if (inner ? containers && (root || !path.empty()) : values) emit(path, v);
      if (!inner) continue;
      auto child = [&](const Val& key, const Val& x) {
        auto longer = path;
        longer.push_back(key);
        queue.push_back({longer, x});
      };
      if (v.is(VK::kArray))
        for (u32 i = 0; i < v.size; ++i) child(Val::integer(i), v.list[i]);
      else
        for (const Pair& p : v.entries()) child(p.key, p.value);
    }
  }
};

Val f_tree_each(const FunctionCall& c) {
  TreeWalk w{c};
  if (c.args.size() > 1)
    for (const Pair& p : c.arg(1).entries()) {
      std::string_view k = p.key.text();
      if (k == "include_containers")
        w.containers = p.value.truthy();
      else if (k == "include_values")
        w.values = p.value.truthy();
      else if (k == "include_root")
        w.root = p.value.truthy();
      else if (k == "order")
        w.depth_first = p.value.text() != "breadth_first";
      else if (k == "container_type" && p.value.is(VK::kType))
        w.container_type = p.value.t;
    }
  std::vector<Val> path;
  if (w.depth_first)
    w.visit(path, c.arg(0), 0);
  else
    w.breadth(c.arg(0));
  if (!c.block) return c.array(w.found);
  try {
    for (const Val& f : w.found) {
      if (c.block_params() == 2)
        c.yield(f.list[0], f.list[1]);
      else
        c.yield(f.list[1]);
    }
  } catch (BreakSignal&) {
  }
  return c.arg(0);
}

}  // namespace

void add_iteration_functions(Functions& f) {
  f.add("each", {{"Iterable, &Callable[1, 2]", f_each}});
  f.add("map", {{"Iterable, &Callable[1, 2]", f_map}});
  f.add("filter", {{"Iterable, &Callable[1, 2]", f_filter}});
  f.add("partition", {{"Iterable, &Callable[1, 2]", f_partition}});
  f.add("any", {{"Iterable, &Callable[1, 2]", f_any}});
  f.add("all", {{"Iterable, &Callable[1, 2]", f_all}});
  f.add("index", {{"Iterable, &Callable[1, 2]", f_index}, {"Iterable, Any", f_index}});
  f.add("reduce", {{"Iterable, &Callable[2, 2]", f_reduce}, {"Iterable, Any, &Callable[2, 2]", f_reduce}});
  f.add("slice", {{"Iterable, Integer[1], &?Callable", f_slice}});
  f.add("step", {{"Iterable, Integer[1], &?Callable[1, 1]", f_step}});
  f.add("reverse_each", {{"Iterable, &?Callable[1, 1]", f_reverse_each}});
  f.add("group_by", {{"Collection, &Callable[1, 2]", f_group_by}});
  f.add("with", {{"Any*, &Callable", f_with}});
  f.add("then", {{"Any, &Callable[1, 1]", f_then}});
  f.add("lest", {{"Any, &Callable[0, 0]", f_lest}});
  f.add("next", {{"Any?", f_next}});
  f.add("break", {{"", f_break}});
  f.keeping_nothing(false);  // its value leaves the loop
  f.add("return", {{"Any?", f_return}});
  f.keeping_nothing(true);
  f.add("tree_each", {{"Variant[Iterator, Array, Hash, Object], Hash?, &?Callable[1, 2]", f_tree_each}});
}

}  // namespace tutti::puppet
