// Functions that call a block for each element.
#include <fmt/format.h>

#include "lang/puppet/eval/compiler.h"
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
      if (v.i > 50'000'000) c.fail("too many iterations");
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
        if (t->max - t->min > 50'000'000) c.fail("too many iterations");
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

// Calls the block with (value), (index, value) or, for a hash, (pair) or (key, value), whichever it takes; `f` gets the
// element and the answer and returns false to stop.
enum class Splat : u8 { kTwo, kOne };  // how many a block that takes any number is given
template <class F>
void walk(const FunctionCall& c, const Val& over, F f, bool wanted = true, Splat splat = Splat::kTwo) {
  bool two = c.block_takes_any() ? splat == Splat::kTwo : c.block_params() == 2;
  i64 index = 0;
  if (over.is(VK::kHash)) {
    for (const Pair& p : over.entries()) {
      c.compiler.budget().step();
      Val both[2] = {p.key, p.value};
      Val pair = two ? Val{} : make_array(c.arena(), both);
      Val answer = c.yield(two ? std::span<const Val>(both) : std::span<const Val>(&pair, 1), wanted);
      if (!f(p.key, p.value, answer)) return;
    }
    return;
  }
  std::vector<Val> held;
  std::span<const Val> items;
  if (over.is(VK::kArray))
    items = over.items();
  else
    held = iterate(c, over), items = held;
  for (const Val& v : items) {
    c.compiler.budget().step();
    Val both[2] = {Val::integer(index), v};
    Val answer = c.yield(two ? std::span<const Val>(both) : std::span<const Val>(&v, 1), wanted);
    ++index;
    if (!f(Val::integer(index - 1), v, answer)) return;
  }
}

// For the functions that break() ends; it is not allowed in the blocks of the others.
template <typename F>
void walk_to_break(const FunctionCall& c, F f, bool wanted = true) {
  try {
    walk(c, c.arg(0), f, wanted);
  } catch (BreakSignal&) {
  }
}

Val f_each(const FunctionCall& c) {
  walk_to_break(
      c, [](const Val&, const Val&, const Val&) { return true; }, false);
  return c.arg(0);
}

Val f_map(const FunctionCall& c) {
  std::vector<Val> out;
  walk_to_break(c, [&](const Val&, const Val&, const Val& a) { return out.push_back(a), true; });
  return c.array(out);
}

Val f_filter(const FunctionCall& c) {
  if (c.arg(0).is(VK::kHash)) {
    HashDraft h;
    walk_to_break(c,
                  [&](const Val& k, const Val& v, const Val& a) { return (a.truthy() ? h.set(k, v) : void()), true; });
    return c.hash(h);
  }
  std::vector<Val> out;
  walk_to_break(c,
                [&](const Val&, const Val& v, const Val& a) { return (a.truthy() ? out.push_back(v) : void()), true; });
  return c.array(out);
}

Val f_partition(const FunctionCall& c) {
  std::vector<Val> yes, no;
  bool hash = c.arg(0).is(VK::kHash);
  walk(c, c.arg(0), [&](const Val& k, const Val& v, const Val& a) {
    Val item = v;
    if (hash) {
      Val both[2] = {k, v};
      item = make_array(c.arena(), both);
    }
    (a.truthy() ? yes : no).push_back(item);
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
  walk(c, c.arg(0), [&](const Val&, const Val&, const Val& a) { return !(found = a.truthy()); });
  return Val::boolean(found);
}

Val f_all(const FunctionCall& c) {
  bool good = true;
  if (!c.block) {
    for (const Val& v : iterate(c, c.arg(0))) good = good && v.truthy();
    return Val::boolean(good);
  }
  walk(c, c.arg(0), [&](const Val&, const Val&, const Val& a) { return good = a.truthy(); });
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
  walk(c, c.arg(0), [&](const Val& k, const Val&, const Val& a) {
    if (a.truthy()) found = k;
    return !a.truthy();
  });
  return found;
}

Val f_reduce(const FunctionCall& c) {
  std::vector<Val> items = iterate(c, c.arg(0));
  std::size_t n = 0;
  Val memo;
  if (c.args.size() > 1)
    memo = c.arg(1);
  else if (items.empty())
    return Val::undef();
  else
    memo = items[n++];
  try {
    for (; n < items.size(); ++n) memo = c.yield(memo, items[n]);
  } catch (BreakSignal&) {
  }
  return memo;
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
        c.yield(s);
        continue;
      }
      std::vector<Val> args(s.items().begin(), s.items().end());
      while (args.size() < c.block_params() && !c.block_takes_any()) args.push_back(Val::undef());
      c.yield(args);
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
    for (const Val& v : out) c.yield(v);
  } catch (BreakSignal&) {
  }
  return Val::undef();
}

Val f_reverse_each(const FunctionCall& c) {
  std::vector<Val> items = iterate(c, c.arg(0));
  std::vector<Val> out(items.rbegin(), items.rend());
  if (!c.block) return c.array(out);
  try {
    for (const Val& v : out) c.yield(v);
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
  walk(c, c.arg(0), group, true, Splat::kOne);
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
  f.add("any", {{"Iterable, &?Callable[1, 2]", f_any}});
  f.add("all", {{"Iterable, &?Callable[1, 2]", f_all}});
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
  f.add("return", {{"Any?", f_return}});
  f.add("tree_each", {{"Variant[Iterator, Array, Hash, Object], Hash?, &?Callable[1, 2]", f_tree_each}});
}

}  // namespace tutti::puppet
