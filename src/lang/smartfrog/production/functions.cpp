#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <ctime>
#include <limits>

#include "lang/smartfrog/production/names.h"
#include "lang/smartfrog/production/production.h"
#include "lang/smartfrog/syntax/java_number.h"
#include "lang/smartfrog/syntax/parser.h"

// The functions of org/smartfrog/functions.sf, with Java's arithmetic: int < long < float < double, results wrap.
namespace tutti::smartfrog::production {
namespace {

constexpr std::size_t kBytesOfAStep = 64;  // texts can be doubled often: making one takes steps by its size

void check_text(const std::string& text, Pos at = {}) {
  constexpr std::size_t kLongest = std::size_t{1} << 28;
  if (text.size() > kLongest) throw LimitError("LIMIT-MEMORY", "a text grows past 256 MB", at.at);
}

const Symbol kLong("LONG"), kFloat("FLOAT"), kDouble("DOUBLE");

enum class Num : u8 { kInt32, kInt64, kSingle, kDoubled, kNone };

Num number_type(const Item& i) {
  if (!i.is(What::kBasic)) return Num::kNone;
  const Value& v = i.basic;
  if (v.tag() == kFloat) return Num::kSingle;
  if (v.tag() == kDouble) return Num::kDoubled;
  if (v.is(Kind::kInt)) return v.tag() == kLong ? Num::kInt64 : Num::kInt32;
  return Num::kNone;
}

double as_double(const Item& i) {
  const Value& v = i.basic;
  if (v.is(Kind::kInt)) return static_cast<double>(v.as_i64());
  std::string text = v.is(Kind::kString) ? std::string(v.text()) : v.number_text();
  if (text == "NaN") return std::nan("");
  if (text == "Infinity") return std::numeric_limits<double>::infinity();
  if (text == "-Infinity") return -std::numeric_limits<double>::infinity();
  return number_type(i) == Num::kSingle ? java_parse_float(text) : java_parse_double(text);
}

float as_float(const Item& i) {
  if (i.basic.is(Kind::kInt)) return static_cast<float>(i.basic.as_i64());
  return static_cast<float>(as_double(i));
}

Item of(Value v) {
  Item i;
  i.basic = v;
  return i;
}

bool is_bool(const Item& i) { return i.is(What::kBasic) && i.basic.is(Kind::kBool); }
bool is_string(const Item& i) { return i.is(What::kBasic) && i.basic.is(Kind::kString) && i.basic.tag().empty(); }

std::string_view last_part(std::string_view name) { return name.substr(kFunctions.size()); }

template <class T>
T compute(Tok op, T a, T b) {
  switch (op) {
    case Tok::kPlus: return a + b;
    case Tok::kMinus: return a - b;
    case Tok::kTimes: return a * b;
    default: return a / b;
  }
}

template <class T>
bool compares(Tok op, T a, T b) {
  switch (op) {
    case Tok::kLess: return a < b;
    case Tok::kLessEqual: return a <= b;
    case Tok::kGreater: return a > b;
    default: return a >= b;
  }
}

}  // namespace

Compiler::Found Compiler::arithmetic(Tok op, const Item& a, const Item& b, Item& out) {
  Num ta = number_type(a), tb = number_type(b);
  for (const Item* i : {&a, &b})
    if (number_type(*i) == Num::kNone) return no(fmt::format("{} is not a number", shown(*i)));
  Num t = std::max(ta, tb);
  bool comparison = op == Tok::kLess || op == Tok::kLessEqual || op == Tok::kGreater || op == Tok::kGreaterEqual;
  if (t == Num::kDoubled) {
    out = of(comparison ? Value::boolean(compares(op, as_double(a), as_double(b)))
                        : java_double(compute(op, as_double(a), as_double(b)), arena_));
    return Found::kYes;
  }
  if (t == Num::kSingle) {
    out = of(comparison ? Value::boolean(compares(op, as_float(a), as_float(b)))
                        : java_float(compute(op, as_float(a), as_float(b)), arena_));
    return Found::kYes;
  }
  i64 x = a.basic.as_i64(), y = b.basic.as_i64();
  if (comparison) {
    out = of(Value::boolean(compares(op, x, y)));
    return Found::kYes;
  }
  i64 r = 0;
  if (op == Tok::kDivide || op == Tok::kModulo) {
    if (y == 0) return no("division by zero");
    if (y == -1)
      r = op == Tok::kDivide ? static_cast<i64>(0 - static_cast<u64>(x)) : 0;
    else
      r = op == Tok::kDivide ? x / y : x % y;
  } else {
    r = static_cast<i64>(compute(op, static_cast<u64>(x), static_cast<u64>(y)));
  }
  out = of(t == Num::kInt64 ? Value::integer(r).with_tag(kLong)
                            : Value::integer(static_cast<i32>(static_cast<u32>(static_cast<u64>(r)))));
  return Found::kYes;
}

// For messages.
std::string Compiler::shown(const Item& item) {
  return item.is(What::kBasic) && item.basic.secret() ? "a secret" : text_of(item);
}

// Java's equals: never between different types of numbers.
bool Compiler::equal_items(const Item& a, const Item& b) {
  if (a.what != b.what) return false;
  if (a.is(What::kVector)) {
    if (a.vector == b.vector) return true;
    session_.budget.step(a.vector->items.size());
    if (a.vector->items.size() != b.vector->items.size()) return false;
    for (std::size_t i = 0; i < a.vector->items.size(); i++)
      if (!equal_items(a.vector->items[i], b.vector->items[i])) return false;
    return true;
  }
  if (a.is(What::kReference)) return text_of(*a.ref) == text_of(*b.ref);
  if (!a.is(What::kBasic)) return a.description == b.description;
  if (number_type(a) != number_type(b)) return false;
  if (number_type(a) == Num::kDoubled || number_type(a) == Num::kSingle) return java_string(a) == java_string(b);
  return equal(a.basic, b.basic);
}

std::string Compiler::java_string(const Item& i) {
  if (i.is(What::kVector)) {
    Budget::Level level(session_.budget);
    std::string out = "[";
    for (const Item& e : i.vector->items) {
      session_.budget.step();
      if (out.size() > 1) out += ", ";
      out += java_string(e);
      check_text(out);
    }
    return out + "]";
  }
  if (!i.is(What::kBasic)) return text_of(i);
  const Value& v = i.basic;
  switch (v.kind()) {
    case Kind::kNull: return "NULL";
    case Kind::kBool: return v.as_bool() ? "true" : "false";
    case Kind::kString: session_.budget.step(v.text().size() / kBytesOfAStep); return std::string(v.text());
    case Kind::kInt:
    case Kind::kDecimal: return v.number_text();
    default: return text_of(i);
  }
}

Compiler::Found Compiler::call(std::string_view name, std::vector<Argument>& args, Description* at, Description* own,
                               Item& out) {
  if (!name.starts_with(kFunctions)) return no(fmt::format("there is no function {}", name));
  std::string_view f = last_part(name);
  auto argument = [&](std::string_view key) -> const Item* {
    Symbol s(key);
    for (const Argument& a : args)
      if (a.name == s) return &a.item;
    return nullptr;
  };

  struct Binary {
    std::string_view name;
    Tok op;
  };
  static constexpr Binary kFolds[] = {
      {"Sum", Tok::kPlus}, {"Product", Tok::kTimes}, {"Concatenate", Tok::kConcat}, {"And", Tok::kAnd},
      {"Or", Tok::kOr},    {"Xor", Tok::kXor},       {"Implies", Tok::kImplies}};
  static constexpr Binary kPairs[] = {{"Minus", Tok::kMinus},  {"Divide", Tok::kDivide}, {"Mod", Tok::kModulo},
                                      {"EQ", Tok::kEqual},     {"NE", Tok::kNotEqual},   {"GE", Tok::kGreaterEqual},
                                      {"LE", Tok::kLessEqual}, {"GT", Tok::kGreater},    {"LT", Tok::kLess}};

  for (const Binary& fold : kFolds) {
    if (fold.name != f) continue;
    if (args.empty()) return no(fmt::format("{} needs arguments", f));
    Item result = args[0].item;
    std::string text;
    if (fold.op == Tok::kConcat && args.size() > 1) {
      for (const Argument& a : args) {
        text += java_string(a.item);
        check_text(text, own->begin);
      }
      out = of(Value::string(arena_.copy(std::string_view(text))));
      return Found::kYes;
    }
    for (std::size_t i = 1; i < args.size(); i++) {
      const Item& next = args[i].item;
      if (fold.op == Tok::kPlus || fold.op == Tok::kTimes) {
        Item made;
        if (Found r = arithmetic(fold.op, result, next, made); r != Found::kYes) return r;
        result = made;
        continue;
      }
      for (const Item* b : {static_cast<const Item*>(&result), &next})
        if (!is_bool(*b)) return no(fmt::format("{} is neither true nor false", shown(*b)));
      bool x = result.basic.as_bool(), y = next.basic.as_bool();
      bool r = fold.op == Tok::kAnd ? x && y : fold.op == Tok::kOr ? x || y : fold.op == Tok::kXor ? x != y : !x || y;
      result = of(Value::boolean(r));
    }
    out = result;
    return Found::kYes;
  }
  for (const Binary& pair : kPairs) {
    if (pair.name != f) continue;
    const Item *a = argument("left"), *b = argument("right");
    if (!a || !b) return no(fmt::format("{} needs `left` and `right`", f));
    if (pair.op == Tok::kEqual || pair.op == Tok::kNotEqual) {
      out = of(Value::boolean(equal_items(*a, *b) == (pair.op == Tok::kEqual)));
      return Found::kYes;
    }
    if (pair.op == Tok::kModulo && (number_type(*a) > Num::kInt64 || number_type(*b) > Num::kInt64))
      return no("a remainder is taken of whole numbers only");
    return arithmetic(pair.op, *a, *b, out);
  }
  if (f == "Not") {
    const Item* a = argument("data");
    if (!a) return no("Not needs `data`");
    if (!is_bool(*a)) return no(fmt::format("{} is neither true nor false", shown(*a)));
    out = of(Value::boolean(!a->basic.as_bool()));
    return Found::kYes;
  }
  if (f == "Vector" || f == "Append") {
    std::vector<Item> items;
    for (const Argument& a : args) {
      if (f == "Vector") {
        items.push_back(a.item);
        if (a.item.is(What::kDescription)) a.item.description->parent = nullptr;
      } else if (a.item.is(What::kVector)) {
        session_.budget.step(a.item.vector->items.size());
        items.insert(items.end(), a.item.vector->items.begin(), a.item.vector->items.end());
      }
    }
    out = {};
    out.what = What::kVector;
    out.vector = arena_.make<Vector>();
    out.vector->items = arena_.copy(std::span<const Item>(items));
    return Found::kYes;
  }
  if (f == "IfThenElse") {
    const Item *c = argument("if"), *t = argument("then"), *e = argument("else");
    if (!c || !t || !e) return no("IF needs a condition, THEN and ELSE");
    if (!is_bool(*c)) return no(fmt::format("the condition is {}, neither true nor false", shown(*c)));
    out = c->basic.as_bool() ? *t : *e;
    return Found::kYes;
  }
  if (f == "Switch") {
    for (const Argument& a : args) {
      if (!a.name.text().starts_with("IF")) continue;
      const Item* then = argument(fmt::format("THEN{}", a.name.text().substr(2)));
      if (!then) return no("a case without a value");
      if (!is_bool(a.item)) return no(fmt::format("the condition is {}, neither true nor false", shown(a.item)));
      if (a.item.basic.as_bool()) {
        out = *then;
        return Found::kYes;
      }
    }
    out = of(Value::null());
    return Found::kYes;
  }
  if (f == "Format") {
    const Item* format = argument("format");
    std::string text = format && is_string(*format) ? std::string(format->basic.text()) : "";
    for (int i = 0; i < 10; i++) {
      const Item* s = argument(fmt::format("s{}", i));
      std::string mark = fmt::format("${}", i);
      bool used = text.find(mark) != std::string::npos;
      if (!s && used) return no(fmt::format("the format uses {}, but there is no attribute s{}", mark, i));
      std::string value = s && is_string(*s) ? std::string(s->basic.text()) : "";
      std::string done;
      std::size_t from = 0;
      for (std::size_t p; (p = text.find(mark, from)) != std::string::npos; from = p + mark.size()) {
        session_.budget.step(1 + value.size() / kBytesOfAStep);
        done += text.substr(from, p - from) + value;
      }
      text = done + text.substr(from);
    }
    out = of(Value::string(arena_.copy(std::string_view(text))));
    return Found::kYes;
  }
  if (f == "Next") {
    const Item* base = argument("base");
    i64 b = base && number_type(*base) == Num::kInt32 ? base->basic.as_i64() : 0;
    next_last_ = b > next_last_ ? b : next_last_ + 1;
    out = of(Value::integer(next_last_));
    return Found::kYes;
  }
  if (f == "Random") {
    // Java's generator, so that a seed gives the numbers it gives there.
    auto integer = [&](std::string_view key, i64 otherwise) {
      const Item* i = argument(key);
      return i && i->basic.is(Kind::kInt) ? i->basic.as_i64() : otherwise;
    };
    if (!random_seeded_) {
      random_seeded_ = true;
      u64 seed = argument("seed") ? static_cast<u64>(integer("seed", 0))
                                  : static_cast<u64>(std::chrono::steady_clock::now().time_since_epoch().count());
      random_state_ = (seed ^ 0x5DEECE66DULL) & ((1ULL << 48) - 1);
    }
    random_state_ = (random_state_ * 0x5DEECE66DULL + 0xBULL) & ((1ULL << 48) - 1);
    float number = static_cast<float>(random_state_ >> 24) / static_cast<float>(1 << 24);
    const Item* whole = argument("integer");
    if (!whole || !is_bool(*whole) || !whole->basic.as_bool()) {
      out = of(java_float(number, arena_));
      return Found::kYes;
    }
    i64 min = integer("min", 0), max = integer("max", 10);
    out = of(Value::integer(
        max < min ? min : min + static_cast<i64>(static_cast<double>(number) * static_cast<double>(max - min + 1))));
    return Found::kYes;
  }
  if (f == "Date") {
    std::time_t now = std::time(nullptr);
    std::tm tm{};
    localtime_r(&now, &tm);
    char buffer[64];
    std::size_t n = std::strftime(buffer, sizeof buffer, "%a %b %d %H:%M:%S %Z %Y", &tm);
    out = of(Value::string(arena_.copy(std::string_view(buffer, n))));
    return Found::kYes;
  }
  if (f == "NSumProduct") {
    const Item* kind = argument("sfFunctionQual");
    bool sum = kind && is_string(*kind) && kind->basic.text() == "sum";
    bool first = true;
    for (const Argument& a : args) {
      if (a.name.text() == "sfFunctionQual") continue;
      Item made = a.item;
      if (!first)
        if (Found r = arithmetic(sum ? Tok::kPlus : Tok::kTimes, out, a.item, made); r != Found::kYes) return r;
      out = made;
      first = false;
    }
    return first ? no("nothing to add up") : Found::kYes;
  }
  if (f == "Set") return call_set(args, own, out);
  if (f == "Ref") {
    const Item* text = argument("reference");
    const Reference* r = text && is_string(*text) ? parse_reference_text(session_, text->basic.text()) : nullptr;
    if (!r) return no("Ref needs the text of a reference in `reference`");
    const Item* lazy = argument("lazy");
    if (lazy && is_bool(*lazy) && lazy->basic.as_bool()) {
      out = {};
      out.what = What::kReference;
      out.ref = r;
      out.lazy = true;
      return Found::kYes;
    }
    Found found = resolve_reference(at, *r, r->parts, out);
    if (found == Found::kNo && argument("returnNULLOnException")) {
      out = of(Value::null());
      return Found::kYes;
    }
    return found;
  }
  if (f == "CheckAssertions") {
    std::string wrong;
    for (const Argument& a : args) {
      if (a.name.text().starts_with("sf")) continue;
      if (is_bool(a.item) && a.item.basic.as_bool()) continue;
      if (!wrong.empty()) wrong += ", ";
      wrong += is_bool(a.item) ? fmt::format("`{}` is false", a.name.text())
                               : fmt::format("`{}` is neither true nor false", a.name.text());
    }
    if (!wrong.empty()) return no(fmt::format("assertions about `{}` do not hold: {}", name_of(at), wrong));
    out = of(Value::boolean(true));
    return Found::kYes;
  }
  if (f == "CheckSchemaElement") return call_schema(args, at, out);
  for (std::string_view solver : {"Constraint", "Aggregator", "Array", "PrettyPrint", "AllDifferent", "ApplyEffects",
                                  "DynamicPolicyEvaluation", "ForAllExists"})
    if (f == solver) return no(fmt::format("{} belongs to the constraint extension, which is not supported", f));
  return no(fmt::format("there is no function {}", name));
}

// Set: as many copies of an element as asked for, by number.
Compiler::Found Compiler::call_set(std::vector<Argument>& args, Description* own, Item& out) {
  i64 min = 0, max = -1, step = 1, size = -1;
  std::string prefix = "elem";
  const Item* element = nullptr;
  std::vector<Argument> rest;
  for (const Argument& a : args) {
    std::string_view n = a.name.text();
    i64* number = n == "setMin"    ? &min
                  : n == "setMax"  ? &max
                  : n == "setInc"  ? &step
                  : n == "setSize" ? &size
                                   : nullptr;
    if (number) {
      if (number_type(a.item) != Num::kInt32) return no(fmt::format("{} of a Set is a whole number", n));
      *number = a.item.basic.as_i64();
    } else if (n == "setElem") {
      element = &a.item;
    } else if (n == "setPrefix" && is_string(a.item)) {
      prefix = a.item.basic.text();
    } else {
      rest.push_back(a);
    }
  }
  if ((max == -1) == (size == -1)) return no("a Set has either setMax or setSize");
  if (!element || !element->is(What::kDescription)) return no("a Set needs a component in setElem");
  if (step == 0) return no("setInc of a Set is not 0");
  if (size == -1) size = 1 + (max - min) / step;
  if (size < 0) return no("a Set cannot have a negative size");
  Description* d = make_description(own->begin, own->end, nullptr);
  d->data = own->data;
  for (const Argument& a : rest) put(d, a.name, a.item, own->begin);
  for (i64 i = 0; i < size; i++) {
    session_.budget.step();
    put(d, Symbol(fmt::format("{}{}", prefix, min + i * step)), copy(*element, d), own->begin);
  }
  out = {};
  out.what = What::kDescription;
  out.description = d;
  return Found::kYes;
}

namespace {

std::string_view java_class(const Item& i) {
  switch (i.what) {
    case What::kReference:
    case What::kTbd: return "org.smartfrog.sfcore.languages.sf.sfreference.SFReference";
    case What::kApply: return "org.smartfrog.sfcore.languages.sf.sfreference.SFApplyReference";
    case What::kAssert: return "org.smartfrog.sfcore.languages.sf.sfreference.SFAssertReference";
    case What::kDescription: return "org.smartfrog.sfcore.componentdescription.ComponentDescription";
    case What::kVector: return "java.util.Vector";
    default: break;
  }
  switch (number_type(i)) {
    case Num::kInt32: return "java.lang.Integer";
    case Num::kInt64: return "java.lang.Long";
    case Num::kSingle: return "java.lang.Float";
    case Num::kDoubled: return "java.lang.Double";
    case Num::kNone: break;
  }
  switch (i.basic.kind()) {
    case Kind::kNull: return "org.smartfrog.sfcore.common.SFNull";
    case Kind::kBool: return "java.lang.Boolean";
    case Kind::kString: return "java.lang.String";
    default: return "org.smartfrog.sfcore.common.SFByteArray";
  }
}

bool is_class(std::string_view wanted, const Item& i) {
  if (wanted == "anyClass" || wanted == "java.lang.Object" || wanted == "java.io.Serializable") return true;
  if (wanted == "java.lang.Number") return number_type(i) != Num::kNone;
  if (wanted == "java.util.List" || wanted == "java.util.Collection") return i.is(What::kVector);
  if (wanted == "org.smartfrog.sfcore.reference.Reference")
    return i.is(What::kReference) || i.is(What::kApply) || i.is(What::kAssert);
  if (wanted == "org.smartfrog.sfcore.languages.sf.sfreference.SFReference" && i.is(What::kApply)) return true;
  return java_class(i) == wanted;
}

}  // namespace

// One attribute of a schema: is it there, of the right class, bound as it should be?
Compiler::Found Compiler::call_schema(std::vector<Argument>& args, Description* at, Item& out) {
  auto argument = [&](std::string_view key) -> const Item* {
    for (const Argument& a : args)
      if (a.name.text() == key) return &a.item;
    return nullptr;
  };
  const Item *name = argument("name"), *optional = argument("optional"), *binding = argument("binding"),
             *wanted = argument("class"), *about = argument("description");
  if (!name || !is_string(*name)) return no("an attribute of a schema needs a name");
  if (!binding || !is_string(*binding) || !optional || !is_bool(*optional) || !wanted)
    return no(fmt::format("`{}` in a schema needs optional, binding and class", name->basic.text()));
  std::string_view bound = binding->basic.text();
  if (bound != "anyBinding" && bound != "eager" && bound != "lazy")
    return no(fmt::format("the binding of `{}` in a schema is eager, lazy or anyBinding", name->basic.text()));
  std::string owner = at->parent ? name_of(at->parent) : "";
  std::string shown = fmt::format("`{}{}{}`", owner, owner.empty() ? "" : ":", name->basic.text());
  if (about && is_string(*about) && !about->basic.text().empty()) shown += fmt::format(" ({})", about->basic.text());

  RefPart parts[] = {{Part::kParent, {}}, {Part::kHere, Symbol(name->basic.text())}};
  Item value;
  std::size_t troubles = troubles_.size();
  Found f = walk(at, parts, nullptr, value);
  if (f == Found::kCycle) return f;
  forget_troubles(troubles);
  out = of(Value::boolean(true));
  if (f == Found::kNo) {
    if (optional->basic.as_bool()) return Found::kYes;
    return no(fmt::format("the schema asks for {}, which is missing", shown));
  }
  bool any_class = is_string(*wanted) && wanted->basic.text() == "anyClass";
  auto fits = [&] {
    if (is_string(*wanted)) return is_class(wanted->basic.text(), value);
    if (!wanted->is(What::kVector)) return false;
    for (const Item& w : wanted->vector->items)
      if (is_class(java_string(w), value)) return true;
    return false;
  };
  if (f == Found::kLazy || value.is(What::kReference) || value.is(What::kApply)) {
    if (f == Found::kLazy) value.what = What::kReference;
    if (bound == "lazy" || bound == "anyBinding" || any_class || fits()) return Found::kYes;
    return no(fmt::format("the schema wants a value for {} now, not at run time", shown));
  }
  if (bound == "lazy") return no(fmt::format("the schema wants {} to be LAZY", shown));
  if (!fits())
    return no(fmt::format("the schema wants {} to be {}, not {}", shown, text_of(*wanted), java_class(value)));
  return Found::kYes;
}

}  // namespace tutti::smartfrog::production
