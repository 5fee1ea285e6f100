#include "lang/puppet/erb/value.h"

#include <algorithm>

#include "lang/puppet/erb/syntax.h"
#include "lang/puppet/eval/growth.h"
#include "lang/puppet/text/ruby_format.h"
#include "lang/puppet/types/value_text.h"

namespace tutti::puppet::erb {
namespace {

constexpr std::size_t kFew = 8;  // keys that are looked for one by one

thread_local Budget* budget_here = nullptr;  // of the rendering

// One value that is looked at, and one level of nesting as long as it is.
class Look {
 public:
  Look() : level_(*budget_here) { budget_here->step(); }

 private:
  Budget::Level level_;
};

}  // namespace

Heap::Heap(Budget& budget) : budget_(budget) { budget_here = &budget; }
Heap::~Heap() { budget_here = nullptr; }

bool reaches(const Any& v, const void* container) {
  const Look look;
  if (v.is(Kind::kArray)) {
    auto in = [&](const Any& item) { return reaches(item, container); };
    return v.list == container || std::any_of(v.list->items.begin(), v.list->items.end(), in);
  }
  if (!v.is(Kind::kHash)) return false;
  auto in = [&](const auto& p) { return reaches(p.first, container) || reaches(p.second, container); };
  return v.map == container || std::any_of(v.map->pairs.begin(), v.map->pairs.end(), in);
}

std::size_t Map::find(const Any& key) {
  if (key.is(Kind::kString) && pairs.size() > kFew) {
    if (!indexed_) {
      texts_.clear();
      for (std::size_t i = 0; i < pairs.size(); i++)
        if (pairs[i].first.is(Kind::kString)) texts_.emplace(pairs[i].first.str(), i);
      indexed_ = true;
    }
    auto found = texts_.find(key.str());
    return found != texts_.end() ? found->second : npos;
  }
  for (std::size_t i = 0; i < pairs.size(); i++)
    if (eql(pairs[i].first, key)) return i;
  return npos;
}

void Map::set(const Any& key, const Any& value) {
  std::size_t at = find(key);
  if (at != npos) {
    pairs[at].second = value;
    return;
  }
  if (indexed_ && key.is(Kind::kString)) texts_.emplace(key.str(), pairs.size());
  pairs.emplace_back(key, value);
}

void Map::erase(std::size_t at) {
  pairs.erase(pairs.begin() + static_cast<std::ptrdiff_t>(at));
  indexed_ = false;
}

void Heap::count(std::size_t bytes) {
  bytes_ += bytes;
  grown(budget_, bytes_ > (std::size_t{1} << 20) ? bytes_ : 0);
}

Any Heap::text(Kind kind, std::string s, bool foreign) {
  count(sizeof(Text) + s.size());
  Any v;
  v.kind = kind;
  v.text = &texts_.emplace_back(Text{std::move(s), foreign});
  return v;
}

Any Heap::list(std::vector<Any> items, bool foreign) {
  count(sizeof(List) + items.size() * sizeof(Any));
  Any v;
  v.kind = Kind::kArray;
  v.list = &lists_.emplace_back(List{std::move(items), foreign});
  return v;
}

Any Heap::map() {
  count(sizeof(Map));
  Any v;
  v.kind = Kind::kHash;
  v.map = &maps_.emplace_back();
  return v;
}

Any Heap::from(const Val& v) {
  Budget::Level level(budget_);
  switch (v.kind) {
    case VK::kUndef: return {};
    case VK::kDefault: return text(Kind::kSymbol, "default", true);
    case VK::kBool: return Any::boolean(v.b);
    case VK::kInt: return Any::integer(v.i);
    case VK::kFloat: return Any::real(v.d);
    case VK::kString: return text(Kind::kString, std::string(v.text()), true);
    case VK::kArray: {
      std::vector<Any> items;
      items.reserve(v.size);
      for (const Val& item : v.items()) items.push_back(from(item));
      return list(std::move(items), true);
    }
    case VK::kHash: {
      Any m = map();
      m.map->foreign = true;
      count(v.size * sizeof(std::pair<Any, Any>));
      for (const Pair& p : v.entries()) {
        Any key = from(p.key);
        m.map->pairs.emplace_back(key, from(p.value));
      }
      return m;
    }
    default: throw Unsupported{"a value of a type that only Puppet has"};
  }
}

Val Heap::to(const Any& v, Arena& arena, bool symbols_as_text) {
  const Look look;
  switch (v.kind) {
    case Kind::kNil: return Val::undef();
    case Kind::kBool: return Val::boolean(v.b);
    case Kind::kInt: return Val::integer(v.i);
    case Kind::kFloat: return Val::real(v.d);
    case Kind::kString: return make_string(arena, v.str());
    case Kind::kArray: {
      std::vector<Val> items;
      for (const Any& item : v.list->items) items.push_back(to(item, arena, symbols_as_text));
      return make_array(arena, items);
    }
    case Kind::kHash: {
      HashDraft draft;
      for (const auto& [key, value] : v.map->pairs)
        draft.set(to(key, arena, symbols_as_text), to(value, arena, symbols_as_text));
      return draft.build(arena);
    }
    case Kind::kSymbol:
      if (symbols_as_text) return make_string(arena, v.str());
      [[fallthrough]];
    default: throw Unsupported{"an argument of a type that only Ruby has"};
  }
}

namespace {

template <bool kExact>
bool same_value(const Any& a, const Any& b) {
  const Look look;
  if (a.kind != b.kind) {
    if (kExact) return false;
    if (a.is(Kind::kInt) && b.is(Kind::kFloat)) return static_cast<double>(a.i) == b.d;
    if (a.is(Kind::kFloat) && b.is(Kind::kInt)) return a.d == static_cast<double>(b.i);
    return false;
  }
  switch (a.kind) {
    case Kind::kNil:
    case Kind::kScope: return true;
    case Kind::kBool: return a.b == b.b;
    case Kind::kInt: return a.i == b.i;
    case Kind::kFloat: return a.d == b.d;
    case Kind::kSymbol:
    case Kind::kString:
    case Kind::kRegex:
    case Kind::kClass: return a.str() == b.str();
    case Kind::kArray:
    case Kind::kMatch:
    case Kind::kRange:
      return a.list->items.size() == b.list->items.size() &&
             std::equal(a.list->items.begin(), a.list->items.end(), b.list->items.begin(), same_value<kExact>);
    case Kind::kHash: {
      if (a.map->pairs.size() != b.map->pairs.size()) return false;
      return std::all_of(a.map->pairs.begin(), a.map->pairs.end(), [&](const auto& p) {
        std::size_t at = b.map->find(p.first);
        return at != Map::npos && same_value<kExact>(p.second, b.map->pairs[at].second);
      });
    }
  }
  return false;
}

}  // namespace

bool equal(const Any& a, const Any& b) { return same_value<false>(a, b); }
bool eql(const Any& a, const Any& b) { return same_value<true>(a, b); }

int compare(const Any& a, const Any& b) {
  const Look look;
  auto number = [](const Any& v) { return v.is(Kind::kInt) ? static_cast<double>(v.i) : v.d; };
  auto order = [](auto x, auto y) { return x < y ? -1 : x > y ? 1 : 0; };
  if (a.is(Kind::kInt) && b.is(Kind::kInt)) return order(a.i, b.i);
  bool numbers = (a.is(Kind::kInt) || a.is(Kind::kFloat)) && (b.is(Kind::kInt) || b.is(Kind::kFloat));
  if (numbers) return order(number(a), number(b));
  if (a.kind == b.kind && (a.is(Kind::kString) || a.is(Kind::kSymbol))) return order(a.str().compare(b.str()), 0);
  if (a.is(Kind::kArray) && b.is(Kind::kArray)) {
    const std::vector<Any>&x = a.list->items, &y = b.list->items;
    for (std::size_t i = 0; i < std::min(x.size(), y.size()); i++)
      if (int c = compare(x[i], y[i]); c != 0) return c;
    return order(x.size(), y.size());
  }
  if (a.kind == b.kind && (a.nil() || (a.is(Kind::kBool) && a.b == b.b))) return 0;
  throw Unsupported{"a comparison of what has no order"};
}

void append_inspect(std::string& out, const Any& v) {
  const Look look;
  if (out.size() > (std::size_t{1} << 20)) grown(*budget_here, out.size());
  switch (v.kind) {
    case Kind::kNil: out += "nil"; return;
    case Kind::kString: out += ruby_inspect(Val::string(v.str())); return;
    case Kind::kSymbol: out += ":" + v.str(); return;
    case Kind::kArray: {
      out += '[';
      const char* between = "";
      for (const Any& item : v.list->items) {
        out += between;
        append_inspect(out, item);
        between = ", ";
      }
      out += ']';
      return;
    }
    case Kind::kHash: {
      out += '{';
      const char* between = "";
      for (const auto& [key, value] : v.map->pairs) {
        out += between;
        if (key.is(Kind::kSymbol)) throw Unsupported{"symbols as keys, in text"};
        append_inspect(out, key);
        out += "=>";
        append_inspect(out, value);
        between = ", ";
      }
      out += '}';
      return;
    }
    default: append_s(out, v);
  }
}

void append_s(std::string& out, const Any& v) {
  switch (v.kind) {
    case Kind::kNil: return;
    case Kind::kBool: out += v.b ? "true" : "false"; return;
    case Kind::kInt: out += std::to_string(v.i); return;
    case Kind::kFloat: out += ruby_float(v.d); return;
    case Kind::kSymbol:
    case Kind::kString: out += v.str(); return;
    case Kind::kArray:
    case Kind::kHash: append_inspect(out, v); return;
    case Kind::kRange:
    case Kind::kMatch:
    case Kind::kRegex:
    case Kind::kClass:
    case Kind::kScope: throw Unsupported{"the text of a value of a type that only Ruby has"};
  }
}

std::string to_s(const Any& v) {
  std::string out;
  append_s(out, v);
  return out;
}

}  // namespace tutti::puppet::erb
