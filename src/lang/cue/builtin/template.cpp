// text/template: Go's templates over CUE values.
#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "base/utf8.h"
#include "lang/cue/builtin/encodings.h"
#include "lang/cue/builtin/go_value.h"
#include "lang/cue/builtin/support.h"
#include "lang/cue/builtin/template_parse.h"
#include "lang/cue/eval/context.h"
#include "lang/cue/eval/limits.h"
#include "lang/cue/format/literal.h"

namespace tutti::cue {

namespace {

using templates::Failed;
using templates::Tree;

// An action of a template is worth many steps of the evaluator.
constexpr u64 kStepsOfAction = 10;

std::string escape_js(std::string_view s) {
  std::string out;
  for (std::size_t i = 0; i < s.size();) {
    std::size_t from = i;
    char32_t ch = utf8::decode(s, i);
    switch (ch) {
      case '\\': out += "\\\\"; break;
      case '\'': out += "\\'"; break;
      case '"': out += "\\\""; break;
      case '<': out += "\\u003C"; break;
      case '>': out += "\\u003E"; break;
      case '&': out += "\\u0026"; break;
      case '=': out += "\\u003D"; break;
      default:
        if (ch < 0x20 || (ch > 0x7F && ch != utf8::kInvalid && !is_printable(ch)))
          out += fmt::format("\\u{:04X}", static_cast<u32>(ch));
        else
          out += s.substr(from, i - from);
    }
  }
  return out;
}

std::string escape_query(std::string_view s) {
  std::string out;
  for (char c : s) {
    if (std::isalnum(static_cast<unsigned char>(c)) || c == '-' || c == '_' || c == '.' || c == '~')
      out += c;
    else if (c == ' ')
      out += '+';
    else
      out += fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return out;
}

GoValue unboxed(GoValue v) {
  v.boxed = false;
  if (v.is_nil()) v.kind = GoValue::kInvalid;  // what was in no interface but nil is nothing
  return v;
}

bool truth(const GoValue& v) {
  switch (v.kind) {
    case GoValue::kInvalid:
    case GoValue::kNil: return false;
    case GoValue::kBool: return v.truth;
    case GoValue::kInt:
    case GoValue::kByte: return v.integer != 0;
    case GoValue::kFloat: return v.real != 0;
    case GoValue::kBigInt: return true;
    default: return v.length() > 0;
  }
}

// What a function says is wrong.
struct Refused {
  std::string what;
};

i64 position(const GoValue& index, std::size_t most) {
  if (!index.valid() || index.is_nil()) throw Refused{"cannot index slice/array with nil"};
  if (index.kind != GoValue::kInt && index.kind != GoValue::kByte)
    throw Refused{fmt::format("cannot index slice/array with type {}", index.type())};
  if (index.integer < 0 || index.integer > static_cast<i64>(most))
    throw Refused{fmt::format("index out of range: {}", index.integer)};
  return index.integer;
}

GoValue element(GoValue item, std::span<const GoValue> indexes) {
  if (!item.valid() || item.is_nil()) throw Refused{"index of untyped nil"};
  for (const GoValue& index : indexes) {
    if (!item.valid() || item.is_nil()) throw Refused{"index of nil pointer"};
    switch (item.kind) {
      case GoValue::kList:
      case GoValue::kString:
      case GoValue::kBytes: {
        auto at = static_cast<std::size_t>(position(index, item.length()));
        if (at == item.length())
          throw Refused{item.kind == GoValue::kString ? "reflect: string index out of range"
                                                      : "reflect: slice index out of range"};
        if (item.kind == GoValue::kList) {
          item = GoValue((*item.list)[at]);
        } else {
          GoValue byte = GoValue::of(GoValue::kByte);
          byte.integer = static_cast<unsigned char>(item.text[at]);
          item = byte;
        }
        break;
      }
      case GoValue::kMap: {
        if (!index.valid() || index.is_nil()) throw Refused{"value is nil; should be of type string"};
        if (index.kind != GoValue::kString)
          throw Refused{fmt::format("value has type {}; should be string", index.type())};
        auto it = item.map->find(index.text);
        GoValue found = it == item.map->end() ? GoValue::nil() : it->second;
        item = std::move(found);
        break;
      }
      default: throw Refused{fmt::format("can't index item of type {}", item.type())};
    }
  }
  return item;
}

GoValue part(GoValue item, std::span<const GoValue> indexes) {
  if (!item.valid() || item.is_nil()) throw Refused{"slice of untyped nil"};
  if (indexes.size() > 3) throw Refused{fmt::format("too many slice indexes: {}", indexes.size())};
  bool text = item.kind == GoValue::kString;
  if (text && indexes.size() == 3) throw Refused{"cannot 3-index slice a string"};
  if (!text && item.kind != GoValue::kList && item.kind != GoValue::kBytes)
    throw Refused{fmt::format("can't slice item of type {}", item.type())};
  std::size_t at[3] = {0, item.length(), 0};
  for (std::size_t i = 0; i < indexes.size(); ++i)
    at[i] = static_cast<std::size_t>(position(indexes[i], item.length()));
  if (at[0] > at[1]) throw Refused{fmt::format("invalid slice index: {} > {}", at[0], at[1])};
  if (indexes.size() == 3 && at[1] > at[2]) throw Refused{fmt::format("invalid slice index: {} > {}", at[1], at[2])};
  item.boxed = false;
  if (item.kind == GoValue::kList)
    item.list = std::make_shared<GoValue::List>(item.list->begin() + static_cast<long>(at[0]),
                                                item.list->begin() + static_cast<long>(at[1]));
  else
    item.text = item.text.substr(at[0], at[1] - at[0]);
  return item;
}

enum class Basic : u8 { kNone, kBool, kFloat, kInt, kString, kUint };
Basic basic(const GoValue& v) {
  switch (v.kind) {
    case GoValue::kBool: return Basic::kBool;
    case GoValue::kFloat: return Basic::kFloat;
    case GoValue::kInt: return Basic::kInt;
    case GoValue::kByte: return Basic::kUint;
    case GoValue::kString: return Basic::kString;
    default: return Basic::kNone;
  }
}
bool both_whole(Basic a, Basic b) {
  return (a == Basic::kInt && b == Basic::kUint) || (a == Basic::kUint && b == Basic::kInt);
}
Refused incompatible(const GoValue& a, const GoValue& b) {
  return {fmt::format("incompatible types for comparison: {} and {}", a.type(), b.type())};
}

bool same(const GoValue& a, std::span<const GoValue> others) {
  if (others.empty()) throw Refused{"missing argument for comparison"};
  auto nothing = [](const GoValue& v) { return !v.valid() || v.is_nil(); };
  for (const GoValue& b : others) {
    Basic k = basic(a), l = basic(b);
    if (k != l) {
      if (both_whole(k, l)) {
        if (a.integer == b.integer) return true;
      } else if (!nothing(a) && !nothing(b)) {
        throw incompatible(a, b);
      }
      continue;
    }
    switch (k) {
      case Basic::kBool:
        if (a.truth == b.truth) return true;
        break;
      case Basic::kFloat:
        if (a.real == b.real) return true;
        break;
      case Basic::kInt:
      case Basic::kUint:
        if (a.integer == b.integer) return true;
        break;
      case Basic::kString:
        if (a.text == b.text) return true;
        break;
      case Basic::kNone:
        if (nothing(a) || nothing(b)) {
          if (nothing(a) == nothing(b)) return true;
          break;
        }
        if (std::string_view(a.type()) != b.type()) throw incompatible(a, b);
        if (a.kind == GoValue::kBigInt) break;  // two pointers
        throw Refused{go_sprintf("non-comparable type %s: ", {&a, 1}) + a.type()};
    }
  }
  return false;
}

bool less(const GoValue& a, const GoValue& b) {
  Basic k = basic(a), l = basic(b);
  if (k == Basic::kNone || l == Basic::kNone) throw Refused{"invalid type for comparison"};
  if (k != l) {
    if (both_whole(k, l)) return a.integer < b.integer;
    throw incompatible(a, b);
  }
  switch (k) {
    case Basic::kFloat: return a.real < b.real;
    case Basic::kInt:
    case Basic::kUint: return a.integer < b.integer;
    case Basic::kString: return a.text < b.text;
    default: throw Refused{"invalid type for comparison"};
  }
}

class Execution {
 public:
  Execution(Context& ctx, std::string_view source) : ctx_(ctx), source_(source), parsed_(templates::parse(source)) {}

  std::string run(GoValue data) {
    data.boxed = false;
    if (data.is_nil()) data.kind = GoValue::kInvalid;
    variables_.push_back({"$", data});
    walk(data, *parsed_.root);
    return std::move(out_);
  }

 private:
  enum class Leaving : u8 { kNothing, kRound, kRange };  // {{continue}}, {{break}}

  [[noreturn]] void fail(const std::string& what) {
    if (!at_) throw Failed{fmt::format("template: {}: {}", name_, what)};
    std::string_view before = source_.substr(0, at_->pos);
    std::size_t line = 1 + static_cast<std::size_t>(std::ranges::count(before, '\n'));
    std::size_t begin = before.rfind('\n');
    std::size_t column = begin == std::string_view::npos ? at_->pos : at_->pos - begin - 1;
    throw Failed{
        fmt::format("template: :{}:{}: executing {} at <{}>: {}", line, column, go_quote(name_), at_->shown(), what)};
  }

  // ---- statements
  void walk(const GoValue& dot, const Tree& n) {
    at_ = &n;
    ctx_.budget.step(kStepsOfAction);
    check_text(out_.size());
    switch (n.kind) {
      case Tree::kText: out_ += n.text; return;
      case Tree::kList:
        for (const auto& p : n.parts) {
          walk(dot, *p);
          if (leaving_ != Leaving::kNothing) return;
        }
        return;
      case Tree::kAction: {
        GoValue v = pipeline(dot, n.pipe.get());
        if (!n.pipe->declares.empty()) return;
        at_ = &n;
        out_ += v.valid() ? go_sprint({&v, 1}) : "<no value>";
        return;
      }
      case Tree::kBreak: leaving_ = Leaving::kRange; return;
      case Tree::kContinue: leaving_ = Leaving::kRound; return;
      case Tree::kIf:
      case Tree::kWith: {
        std::size_t scope = variables_.size();
        GoValue v = pipeline(dot, n.pipe.get());
        if (truth(v))
          walk(n.kind == Tree::kWith ? v : dot, *n.list);
        else if (n.otherwise)
          walk(dot, *n.otherwise);
        variables_.resize(scope);
        return;
      }
      case Tree::kRange: return range(dot, n);
      case Tree::kTemplate: return invoke(dot, n);
      default: return;
    }
  }

  void range(const GoValue& dot, const Tree& n) {
    std::size_t outer = variables_.size();
    GoValue over = pipeline(dot, n.pipe.get());
    std::size_t scope = variables_.size();
    const auto& names = n.pipe->declares;
    bool any = false;
    auto round = [&](const GoValue& index, const GoValue& value) {
      any = true;
      if (!names.empty()) {
        if (n.pipe->assigns)
          assign(names[0], names.size() > 1 ? index : value);
        else
          variables_.back().second = value;
      }
      if (names.size() > 1) {
        if (n.pipe->assigns)
          assign(names[1], value);
        else
          variables_[variables_.size() - 2].second = index;
      }
      walk(value, *n.list);
      variables_.resize(scope);
      return std::exchange(leaving_, Leaving::kNothing) != Leaving::kRange;
    };
    switch (over.kind) {
      case GoValue::kList:
        for (std::size_t i = 0; i < over.list->size(); ++i)
          if (!round(GoValue::number(static_cast<i64>(i)), (*over.list)[i])) break;
        break;
      case GoValue::kBytes:
        for (std::size_t i = 0; i < over.text.size(); ++i) {
          GoValue b = GoValue::of(GoValue::kByte);
          b.integer = static_cast<unsigned char>(over.text[i]);
          if (!round(GoValue::number(static_cast<i64>(i)), b)) break;
        }
        break;
      case GoValue::kMap:
        for (const auto& [k, v] : *over.map)
          if (!round(GoValue::string(k), v)) break;
        break;
      case GoValue::kInt:
        if (names.size() > 1) fail(fmt::format("can't use {} to iterate over more than one variable", over.integer));
        for (i64 i = 0; i < over.integer; ++i)
          if (!round({}, GoValue::number(i, over.from_data))) break;
        break;
      case GoValue::kInvalid: break;
      default: fail("range can't iterate over " + go_sprint({&over, 1}));
    }
    if (!any && n.otherwise) walk(dot, *n.otherwise);
    variables_.resize(outer);
  }

  void invoke(const GoValue& dot, const Tree& n) {
    auto it = parsed_.definitions.find(n.text);
    if (it == parsed_.definitions.end()) fail(fmt::format("template {} not defined", go_quote(n.text)));
    if (depth_ >= kDeepest) fail("exceeded maximum template depth (100000)");
    GoValue with = n.pipe ? pipeline(dot, n.pipe.get()) : GoValue{};
    Restore<std::string> name(name_, n.text);
    Restore<std::size_t> depth(depth_, depth_ + 1);
    auto variables = std::exchange(variables_, {{"$", with}});
    walk(with, *it->second);
    variables_ = std::move(variables);
  }

  void assign(const std::string& name, const GoValue& v) {
    for (std::size_t i = variables_.size(); i-- > 0;)
      if (variables_[i].first == name) {
        variables_[i].second = v;
        return;
      }
    fail("undefined variable: " + name);
  }

  // ---- expressions
  GoValue pipeline(const GoValue& dot, const Tree* n) {
    Level level(ctx_);
    at_ = n;
    std::optional<GoValue> last;
    for (const auto& c : n->parts) last = unboxed(command(dot, *c, last ? &*last : nullptr));
    for (const std::string& v : n->declares) {
      if (n->assigns)
        assign(v, *last);
      else
        variables_.push_back({v, *last});
    }
    return std::move(*last);
  }

  GoValue command(const GoValue& dot, const Tree& n, const GoValue* last) {
    const Tree& first = *n.parts[0];
    bool arguments = n.parts.size() > 1 || last;
    auto no_function = [&] {
      if (arguments) fail("can't give argument to non-function " + first.shown());
    };
    switch (first.kind) {
      case Tree::kField:
      case Tree::kVariable:
      case Tree::kChain: return reference(dot, first, arguments);
      case Tree::kIdentifier: at_ = &first; return function(dot, first, n, n.parts, last);
      case Tree::kPipe: no_function(); return pipeline(dot, &first);
      default: break;
    }
    at_ = &first;
    no_function();
    if (first.kind == Tree::kNil) fail("nil is not a command");
    return constant(dot, first);
  }

  GoValue constant(const GoValue& dot, const Tree& n) {
    switch (n.kind) {
      case Tree::kBool: return GoValue::boolean(n.truth);
      case Tree::kDot: return dot;
      case Tree::kString: return GoValue::string(n.value);
      case Tree::kNumber: return number(n);
      default: return {};
    }
  }

  GoValue number(const Tree& n) {
    std::string text = n.text;
    if (text[0] == '\'') {
      std::string quoted = "\"" + text.substr(1, text.size() - 2) + "\"";
      if (quoted == "\"\\'\"") return GoValue::number('\'');
      if (quoted == "\"\"\"") return GoValue::number('"');
      Unquoted u = unquote(quoted);
      std::size_t at = 0;
      return GoValue::number(u.text.empty() ? 0 : static_cast<i64>(utf8::decode(u.text, at)));
    }
    bool negative = text[0] == '-';
    if (negative || text[0] == '+') text.erase(0, 1);
    bool hex = text.starts_with("0x") || text.starts_with("0X");
    bool real = text.find_first_of(hex ? ".pP" : ".eEpP") != std::string::npos;
    if (text.ends_with('i')) fail("complex numbers are not supported: " + n.text);
    if (hex && real)
      return GoValue::floating((negative ? -1 : 1) * std::strtod(without_underscores(text).c_str(), nullptr));
    if (!real && text.size() > 1 && text[0] == '0' && std::isdigit(static_cast<unsigned char>(text[1])))
      text.insert(1, "o");
    if (real) return GoValue::floating((negative ? -1 : 1) * std::strtod(without_underscores(text).c_str(), nullptr));
    Number parsed = parse_number(text);
    if (!parsed.ok()) fail("bad number syntax: " + go_quote(n.text));
    auto whole = (negative ? -parsed.value : parsed.value).to_i64();
    if (!whole) fail(n.text + " overflows int");
    return GoValue::number(*whole);
  }
  static std::string without_underscores(std::string s) {
    std::erase(s, '_');
    return s;
  }

  // .a.b, $x.a, (...).a
  GoValue reference(const GoValue& dot, const Tree& n, bool arguments) {
    at_ = &n;
    GoValue v = dot;
    std::size_t from = 0;
    if (n.kind == Tree::kVariable) {
      v = variable(n.names[0]);
      from = 1;
      if (n.names.size() == 1) {
        if (arguments) fail("can't give argument to non-function " + n.shown());
        return v;
      }
    } else if (n.kind == Tree::kChain) {
      if (n.parts[0]->kind == Tree::kNil) fail("indirection through explicit nil in " + n.shown());
      v = argument(dot, *n.parts[0]);
      at_ = &n;
    }
    for (std::size_t i = from; i < n.names.size(); ++i) v = field(v, n.names[i], arguments && i + 1 == n.names.size());
    return v;
  }

  const GoValue& variable(const std::string& name) {
    for (std::size_t i = variables_.size(); i-- > 0;)
      if (variables_[i].first == name) return variables_[i].second;
    fail("undefined variable: " + name);
  }

  GoValue field(const GoValue& of, const std::string& name, bool arguments) {
    if (!of.valid()) return {};
    if (of.is_nil()) fail(fmt::format("nil pointer evaluating interface {{}}.{}", name));
    if (of.kind == GoValue::kMap) {
      if (arguments) fail(name + " is not a method but has arguments");
      auto it = of.map->find(name);
      return it == of.map->end() ? GoValue{} : it->second;
    }
    fail(fmt::format("can't evaluate field {} in type {}", name, of.boxed ? "interface {}" : of.type()));
  }

  GoValue argument(const GoValue& dot, const Tree& n) {
    at_ = &n;
    switch (n.kind) {
      case Tree::kField:
      case Tree::kVariable:
      case Tree::kChain: return reference(dot, n, false);
      case Tree::kPipe: return pipeline(dot, &n);
      case Tree::kIdentifier: return function(dot, n, n, {}, nullptr);
      default: return constant(dot, n);
    }
  }

  // ---- functions
  GoValue function(const GoValue& dot, const Tree& name, const Tree& whole,
                   const std::vector<std::shared_ptr<Tree>>& parts, const GoValue* last) {
    const std::string& f = name.text;
    std::size_t given = parts.empty() ? 0 : parts.size() - 1, many = given + (last ? 1 : 0);
    bool one = f == "len" || f == "not", two = f == "ne" || f == "lt" || f == "le" || f == "gt" || f == "ge";
    bool any = f == "print" || f == "println" || f == "html" || f == "js" || f == "urlquery";
    if (one || two) {
      if (many != (one ? 1u : 2u))
        fail(fmt::format("wrong number of args for {}: want {} got {}", f, one ? 1 : 2, many));
    } else if (!any && many < 1) {
      fail(fmt::format("wrong number of args for {}: want at least 1 got {}", f, given));
    }
    if (f == "and" || f == "or") {
      GoValue v;
      for (std::size_t i = 0; i < given; ++i) {
        v = argument(dot, *parts[i + 1]);
        if (truth(v) == (f == "or")) return v;
      }
      return last ? *last : v;
    }
    std::vector<GoValue> args;
    for (std::size_t i = 0; i < given; ++i) {
      const Tree& p = *parts[i + 1];
      GoValue v = argument(dot, p);
      if (f == "printf" && i == 0) is_format(v, p);
      args.push_back(std::move(v));
    }
    if (last) {
      args.push_back(*last);
      if (f == "printf" && args.size() == 1) is_format(*last, *at_);
    }
    try {
      return call(f, args, parts);
    } catch (const Refused& r) {
      at_ = &whole;
      fail(fmt::format("error calling {}: {}", f, r.what));
    }
  }

  void is_format(const GoValue& v, const Tree& n) {
    if (v.kind == GoValue::kString) return;
    if (n.kind == Tree::kNil) fail("cannot assign nil to string");
    if (n.kind == Tree::kNumber || n.kind == Tree::kBool) fail("expected string; found " + n.shown());
    if (!v.valid()) fail("invalid value; expected string");
    fail(fmt::format("wrong type for value; expected string; got {}", v.is_nil() ? "interface {}" : v.type()));
  }

  static std::string shown_arguments(const std::vector<GoValue>& args) {
    if (args.size() == 1 && args[0].kind == GoValue::kString) return args[0].text;
    std::vector<GoValue> all = args;
    for (GoValue& v : all)
      if (!v.valid() || v.is_nil()) v = GoValue::string("<no value>");
    return go_sprint(all);
  }

  GoValue call(const std::string& f, const std::vector<GoValue>& a, const std::vector<std::shared_ptr<Tree>>& parts) {
    std::span<const GoValue> rest(a.empty() ? a.data() : a.data() + 1, a.empty() ? 0 : a.size() - 1);
    if (f == "not") return GoValue::boolean(!truth(a[0]));
    if (f == "len") {
      if (a[0].is_nil()) throw Refused{"len of nil pointer"};
      if (!a[0].valid()) throw Refused{"reflect: call of reflect.Value.Type on zero Value"};
      switch (a[0].kind) {
        case GoValue::kString:
        case GoValue::kBytes:
        case GoValue::kList:
        case GoValue::kMap: return GoValue::number(static_cast<i64>(a[0].length()));
        default: throw Refused{fmt::format("len of type {}", a[0].type())};
      }
    }
    if (f == "print") return GoValue::string(go_sprint(a));
    if (f == "println") return GoValue::string(go_sprintln(a));
    if (f == "printf") return GoValue::string(go_sprintf(a[0].text, rest));
    if (f == "html") return GoValue::string(html_escape(shown_arguments(a)));
    if (f == "js") return GoValue::string(escape_js(shown_arguments(a)));
    if (f == "urlquery") return GoValue::string(escape_query(shown_arguments(a)));
    if (f == "index") return element(a[0], rest);
    if (f == "slice") return part(a[0], rest);
    if (f == "eq") return GoValue::boolean(same(a[0], rest));
    if (f == "ne") return GoValue::boolean(!same(a[0], rest));
    if (f == "lt") return GoValue::boolean(less(a[0], a[1]));
    if (f == "le") return GoValue::boolean(less(a[0], a[1]) || same(a[0], rest));
    if (f == "gt") return GoValue::boolean(!less(a[0], a[1]) && !same(a[0], rest));
    if (f == "ge") return GoValue::boolean(!less(a[0], a[1]));
    if (!a[0].valid() || a[0].is_nil()) throw Refused{"call of nil"};
    throw Refused{fmt::format("non-function {} of type {}", parts.size() > 1 ? parts[1]->shown() : "", a[0].type())};
  }

  static constexpr std::size_t kDeepest = 2000;
  Context& ctx_;
  std::string_view source_;
  templates::Parsed parsed_;
  std::vector<std::pair<std::string, GoValue>> variables_;
  const Tree* at_ = nullptr;
  std::string name_, out_;
  std::size_t depth_ = 0;
  Leaving leaving_ = Leaving::kNothing;
};

// A value as cue decodes it for Go. `wrong` is the first thing that is not decided.
GoValue decoded(Context& ctx, Node* n, const Node*& wrong) {
  Level level(ctx);
  ctx.budget.step(1);
  n = plain(ctx.default_of(n));
  switch (n->type) {
    case NodeType::kNull: return GoValue::nil();
    case NodeType::kBool: return GoValue::boolean(to<Bool>(n)->value);
    case NodeType::kString: return GoValue::string(std::string(to<String>(n)->text));
    case NodeType::kBytes: {
      GoValue v = GoValue::of(GoValue::kBytes);
      v.text = to<Bytes>(n)->text;
      return v;
    }
    case NodeType::kNum: {
      if (!(to<Num>(n)->kind & kIntKind)) return GoValue::floating(to<Num>(n)->value.to_double());
      if (auto i = to<Num>(n)->value.to_i64()) return GoValue::number(*i, true);
      GoValue v = GoValue::of(GoValue::kBigInt);
      v.text = to<Num>(n)->value.plain();
      return v;
    }
    case NodeType::kVertex: break;
    default:
      if (!wrong && n->type != NodeType::kBottom) wrong = n;
      return {};
  }
  Vertex* v = to<Vertex>(n)->deref_value();
  GoValue out = GoValue::of(v->is_list() ? GoValue::kList : GoValue::kMap);
  GoValue::List list;
  GoValue::Map map;
  for (Vertex* a : v->arcs) {
    if (!a->label.is_regular()) continue;
    if (a->arc_type == ArcType::kRequired && !wrong) wrong = plain(ctx.default_of(a));
    if (a->arc_type != ArcType::kMember) continue;
    GoValue e = decoded(ctx, a, wrong);
    e.boxed = true;
    if (v->is_list())
      list.push_back(std::move(e));
    else
      map.emplace(a->label.name(), std::move(e));
  }
  if (v->is_list())
    out.list = std::make_shared<GoValue::List>(std::move(list));
  else
    out.map = std::make_shared<GoValue::Map>(std::move(map));
  return out;
}

const BuiltinSpec kFunctions[] = {
    {"Execute",
     {kStringKind, kTopKind},
     kStringKind,
     [](CallContext& c) -> Node* {
       std::string_view source = c.string(0);
       if (c.failed()) return nullptr;
       if (c.args[1]->type == NodeType::kVertex) c.context.finalize(to<Vertex>(c.args[1]));
       try {
         Execution run(c.context, source);
         const Node* wrong = nullptr;
         GoValue data = decoded(c.context, c.args[1], wrong);
         if (wrong) {
           c.context.add_errf(Code::kIncomplete, c.context.src,
                              "error in call to {}: cannot convert non-concrete value {}",
                              std::string_view(c.builtin->qualified()), wrong);
           return nullptr;
         }
         return c.make_string(run.run(std::move(data)));
       } catch (const Failed& f) {
         return c.error(f.what);
       }
     }},
    {"HTMLEscape",
     {kStringKind},
     kStringKind,
     [](CallContext& c) -> Node* {
       std::string out;
       for (char ch : html_escape(c.string(0))) ch == '\0' ? out += "\uFFFD" : out += ch;
       return c.make_string(out);
     }},
    {"JSEscape",
     {kStringKind},
     kStringKind,
     [](CallContext& c) -> Node* { return c.make_string(escape_js(c.string(0))); }},
};

}  // namespace

void add_template() { add_package("text/template", kFunctions); }

}  // namespace tutti::cue
