#include <algorithm>
#include <functional>

#include "lang/puppet/erb/machine.h"
#include "lang/puppet/eval/growth.h"
#include "lang/puppet/text/ruby_format.h"
#include "lang/puppet/types/regex.h"

namespace tutti::puppet::erb {
namespace {

bool plain_ascii(std::string_view s) {
  return std::all_of(s.begin(), s.end(), [](char c) { return c > 0; });  // no NUL either
}
void need_ascii(std::string_view s) {
  if (!plain_ascii(s)) throw Unsupported{"characters that are not ASCII"};
}

constexpr std::string_view kBlanks = " \t\n\v\f\r";

std::string_view stripped(std::string_view s, bool left, bool right) {
  std::size_t from = left ? s.find_first_not_of(kBlanks) : 0;
  if (from == std::string_view::npos) return {};
  std::size_t to = right ? s.find_last_not_of(kBlanks) : s.size() - 1;
  return to == std::string_view::npos ? std::string_view{} : s.substr(from, to + 1 - from);
}

const Regex& regex_of(const Any& v) {
  std::string error;
  const Regex* r = Regex::get(v.str(), &error);
  if (r == nullptr) throw Unsupported{error};
  return *r;
}

// Text that is no UTF-8, and characters of several bytes where a number counts characters, are left to Ruby.
std::size_t count_of(const Any& v) {
  if (!v.is(Kind::kInt) || v.i < 0) throw Unsupported{"a count"};
  return static_cast<std::size_t>(v.i);
}

std::string repeated(Budget& budget, std::string_view text, std::size_t times) {
  grown(budget, text.size() > 0 ? std::min<std::size_t>(times, std::size_t{1} << 40) * text.size() : 0);
  std::string out;
  for (std::size_t i = 0; i < times; i++) out += text;
  return out;
}

}  // namespace

Any Machine::send(const Any& receiver, std::string_view name, Args args) {
  budget_.step();
  Any out;
  bool known = false;
  switch (receiver.kind) {
    case Kind::kInt:
    case Kind::kFloat: known = number_method(receiver, name, args, out); break;
    case Kind::kString: known = string_method(receiver, name, args, out); break;
    case Kind::kArray: known = list_method(receiver, name, args, out); break;
    case Kind::kHash: known = map_method(receiver, name, args, out); break;
    case Kind::kMatch:
      known = name == "[]" && args.size() == 1 && args[0].is(Kind::kInt);
      if (known) out = element(receiver, args);
      break;
    case Kind::kRegex:
      if (name == "match" && args.size() == 1 && args[0].is(Kind::kString))
        return send(args[0], name, Args(&receiver, 1));
      known = !has_block() && args.size() == 1 && args[0].is(Kind::kString) && (name == "=~" || name == "match?");
      if (known && name == "=~") return send(args[0], name, Args(&receiver, 1));
      if (name == "=~" && args.size() == 1 && args[0].nil()) {
        matched_ = false;
        known = true;
      }
      if (known && name == "match?") out = Any::boolean(regex_of(receiver).search(args[0].str(), 0));
      break;
    case Kind::kClass: known = class_method(receiver, name, args, out); break;
    default: break;
  }
  if (!known && !any_method(receiver, name, args, out))
    throw Unsupported{"the method `" + std::string(name) + "` here"};
  return out;
}

bool Machine::class_method(const Any& v, std::string_view name, Args args, Any& out) {
  if (has_block()) return false;
  if (name == "new" && args.empty() && v.str() == "Hash") return out = heap_.map(), true;
  if (name == "new" && args.empty() && v.str() == "Array") return out = heap_.list({}), true;
  bool escapes = v.str() == "Regexp" && (name == "escape" || name == "quote");
  if (!escapes || args.size() != 1 || !args[0].is(Kind::kString)) return false;
  return out = heap_.string(regexp_escape(args[0].str())), true;
}

bool Machine::search(const Any& regex, const std::string& text) {
  matched_ = regex_of(regex).search(text, 0, &groups_);
  if (matched_) matched_text_ = text;
  return matched_;
}

bool Machine::is_a(const Any& v, const Any& type) {
  if (!type.is(Kind::kClass)) throw Unsupported{"is_a? of what is no class"};
  const std::string& name = type.str();
  switch (v.kind) {
    case Kind::kNil: return name == "NilClass";
    case Kind::kBool: return name == (v.b ? "TrueClass" : "FalseClass");
    case Kind::kInt: return name == "Integer" || name == "Numeric";
    case Kind::kFloat: return name == "Float" || name == "Numeric";
    case Kind::kSymbol: return name == "Symbol";
    case Kind::kString: return name == "String";
    case Kind::kArray: return name == "Array";
    case Kind::kHash: return name == "Hash";
    case Kind::kRegex: return name == "Regexp";
    default: throw Unsupported{"the class of a value"};
  }
}

bool Machine::matches(const Any& pattern, const Any& v) {
  if (pattern.is(Kind::kClass)) return is_a(v, pattern);
  if (pattern.is(Kind::kRegex)) {
    if (v.is(Kind::kString)) return search(pattern, v.str());
    if (v.is(Kind::kSymbol)) throw Unsupported{"a symbol and a pattern"};
    return matched_ = false;
  }
  if (pattern.is(Kind::kRange)) throw Unsupported{"a range in when"};
  return equal(pattern, v);
}

bool Machine::any_method(const Any& v, std::string_view name, Args args, Any& out) {
  if (has_block()) return false;
  if (args.empty()) {
    if (name == "nil?") return out = Any::boolean(v.nil()), true;
    if (name == "to_s") return out = v.is(Kind::kString) ? v : heap_.string(to_s(v)), true;
    if (name == "inspect") {
      std::string text;
      append_inspect(text, v);
      return out = heap_.string(std::move(text)), true;
    }
    if (name == "to_a" && v.nil()) return out = heap_.list({}), true;
    if (name == "to_i" && v.nil()) return out = Any::integer(0), true;
    if (name == "to_sym" && v.is(Kind::kSymbol)) return out = v, true;
    return false;
  }
  if (args.size() != 1) return false;
  const Any& a = args[0];
  if (name == "==" || name == "eql?") return out = Any::boolean(name == "==" ? equal(v, a) : eql(v, a)), true;
  if (name == "is_a?" || name == "kind_of?") return out = Any::boolean(is_a(v, a)), true;
  if (name == "instance_of?") {
    if (a.is(Kind::kClass) && a.str() == "Numeric") return out = Any::boolean(false), true;
    return out = Any::boolean(is_a(v, a)), true;
  }
  if (name == "===" && v.is(Kind::kClass)) return out = Any::boolean(is_a(a, v)), true;
  if (name == "=~" && v.nil()) return out = Any{}, true;
  if (name == "&" && (v.nil() || v.is(Kind::kBool))) return out = Any::boolean(v.truthy() && a.truthy()), true;
  if (name == "|" && (v.nil() || v.is(Kind::kBool))) return out = Any::boolean(v.truthy() || a.truthy()), true;
  if (name == "respond_to?" && a.is(Kind::kSymbol)) {
    bool listed = v.is(Kind::kArray) || v.is(Kind::kHash);
    if (a.str() == "each" || a.str() == "map" || a.str() == "join" || a.str() == "each_pair" || a.str() == "keys") {
      bool has = a.str() == "join"                             ? v.is(Kind::kArray)
                 : a.str() == "each_pair" || a.str() == "keys" ? v.is(Kind::kHash)
                                                               : listed;
      if (!v.is(Kind::kRange) && !v.is(Kind::kScope)) return out = Any::boolean(has), true;
    }
  }
  return false;
}

// --- numbers

Any Machine::arithmetic(char op, const Any& a, const Any& b) {
  auto number = [](const Any& v) {
    if (!v.is(Kind::kInt) && !v.is(Kind::kFloat)) throw Unsupported{"arithmetic with what is no number"};
    return v.is(Kind::kInt) ? static_cast<double>(v.i) : v.d;
  };
  if (a.is(Kind::kInt) && b.is(Kind::kInt)) {
    i64 r = 0;
    bool wide = op == '+'   ? __builtin_add_overflow(a.i, b.i, &r)
                : op == '-' ? __builtin_sub_overflow(a.i, b.i, &r)
                : op == '*' ? __builtin_mul_overflow(a.i, b.i, &r)
                            : false;
    if (wide) throw Unsupported{"integers of more than 64 bits"};
    if (op != '/' && op != '%') return Any::integer(r);
    if (b.i == 0 || b.i == -1) throw Unsupported{"a division"};
    i64 quotient = a.i / b.i, rest = a.i % b.i;
    bool off = rest != 0 && (rest < 0) != (b.i < 0);  // Ruby rounds down
    return Any::integer(op == '/' ? quotient - (off ? 1 : 0) : rest + (off ? b.i : 0));
  }
  double x = number(a), y = number(b);
  switch (op) {
    case '+': return Any::real(x + y);
    case '-': return Any::real(x - y);
    case '*': return Any::real(x * y);
    case '/': return Any::real(x / y);
    default: throw Unsupported{"the remainder of floats"};
  }
}

bool Machine::number_method(const Any& v, std::string_view name, Args args, Any& out) {
  if (args.size() == 1 && !has_block()) {
    const Any& a = args[0];
    bool numbers = a.is(Kind::kInt) || a.is(Kind::kFloat);
    if (numbers && name.size() == 1 && std::string_view("+-*/%").find(name[0]) != std::string_view::npos)
      return out = arithmetic(name[0], v, a), true;
    if (numbers && (name == "<" || name == ">" || name == "<=" || name == ">=" || name == "<=>")) {
      int c = compare(v, a);
      if (name == "<=>") return out = Any::integer(c), true;
      return out = Any::boolean(name == "<" ? c < 0 : name == ">" ? c > 0 : name == "<=" ? c <= 0 : c >= 0), true;
    }
    return false;
  }
  if (name == "times" && v.is(Kind::kInt) && args.empty() && has_block()) {
    for (i64 i = 0; i < v.i; i++) yield(Any::integer(i));
    return out = v, true;
  }
  if (!args.empty() || has_block()) return false;
  if (name == "-@") return out = arithmetic('-', Any::integer(0), v), v.is(Kind::kInt);
  if (name == "to_i" && v.is(Kind::kInt)) return out = v, true;
  if (name == "to_f") return out = v.is(Kind::kInt) ? Any::real(static_cast<double>(v.i)) : v, true;
  if (name == "zero?") return out = Any::boolean(v.is(Kind::kInt) ? v.i == 0 : v.d == 0), true;
  return false;
}

// --- strings

Any Machine::element_of_text(const std::string& text, Args args) {
  if (args.size() == 1 && args[0].is(Kind::kString)) {
    bool there = text.find(args[0].str()) != std::string::npos;
    return there ? heap_.string(args[0].str()) : Any{};
  }
  if (!args.empty() && args[0].is(Kind::kRegex) && (args.size() == 1 || args[1].is(Kind::kInt))) {
    std::size_t group = args.size() == 2 ? count_of(args[1]) : 0;
    if (!search(args[0], text) || group * 2 + 1 >= groups_.size() || groups_[group * 2] < 0) return {};
    std::size_t from = static_cast<std::size_t>(groups_[group * 2]);
    return heap_.string(text.substr(from, static_cast<std::size_t>(groups_[group * 2 + 1]) - from));
  }
  need_ascii(text);
  i64 size = static_cast<i64>(text.size()), from = 0, count = 1;
  if (args.size() == 2 && args[0].is(Kind::kInt) && args[1].is(Kind::kInt)) {
    from = args[0].i;
    count = args[1].i;
  } else if (args.size() == 1 && args[0].is(Kind::kInt)) {
    from = args[0].i < 0 ? args[0].i + size : args[0].i;
    if (from < 0 || from >= size) return {};
  } else if (args.size() == 1 && args[0].is(Kind::kRange) && args[0].list->items[0].is(Kind::kInt) &&
             args[0].list->items[1].is(Kind::kInt)) {
    from = args[0].list->items[0].i;
    i64 to = args[0].list->items[1].i;
    if (from < 0) from += size;
    if (to < 0) to += size;
    count = std::max<i64>(0, to - from + (args[0].list->items[2].b ? 0 : 1));
  } else {
    throw Unsupported{"[] of a string"};
  }
  if (from < 0) from += size;
  if (from < 0 || from > size || count < 0) return {};
  return heap_.string(text.substr(static_cast<std::size_t>(from), static_cast<std::size_t>(count)));
}

Any Machine::split(const std::string& text, Args args) {
  std::vector<std::string> parts;
  bool words = args.empty() || (args[0].is(Kind::kString) && args[0].str() == " ");
  if (words) {
    need_ascii(text);
    std::size_t at = 0;
    while ((at = text.find_first_not_of(kBlanks, at)) != std::string::npos) {
      std::size_t to = std::min(text.find_first_of(kBlanks, at), text.size());
      parts.push_back(text.substr(at, to - at));
      at = to;
    }
  } else if (args[0].is(Kind::kString) && !args[0].str().empty()) {
    const std::string& between = args[0].str();
    std::size_t at = 0, next = 0;
    for (; (next = text.find(between, at)) != std::string::npos; at = next + between.size())
      parts.push_back(text.substr(at, next - at));
    parts.push_back(text.substr(at));
  } else if (args[0].is(Kind::kRegex)) {
    const Regex& regex = regex_of(args[0]);
    if (regex.group_count() != 0) throw Unsupported{"split by a pattern with groups"};
    std::size_t at = 0;
    Groups groups;
    while (at < text.size() && regex.search(text, at, &groups)) {
      if (groups[0] == groups[1]) throw Unsupported{"split by a pattern that matches nothing"};
      parts.push_back(text.substr(at, static_cast<std::size_t>(groups[0]) - at));
      at = static_cast<std::size_t>(groups[1]);
    }
    parts.push_back(text.substr(at));
  } else {
    throw Unsupported{"split"};
  }
  while (!parts.empty() && parts.back().empty()) parts.pop_back();
  std::vector<Any> items;
  for (std::string& p : parts) items.push_back(heap_.string(std::move(p)));
  return heap_.list(std::move(items));
}

// sub and gsub: by a string or a pattern, with a string (and \1 in it) or a block.
bool Machine::substitute(const Any& v, std::string_view name, Args args, Any& out) {
  const std::string& text = v.str();
  bool all = name == "gsub";
  if (args.empty() || args.size() != (has_block() ? 1U : 2U)) return false;
  if (!has_block() && !args[1].is(Kind::kString)) return false;
  const Regex* regex = args[0].is(Kind::kRegex) ? &regex_of(args[0]) : nullptr;
  if (regex == nullptr && (!args[0].is(Kind::kString) || args[0].str().empty())) return false;
  std::string result;
  std::size_t at = 0;
  Groups groups;
  matched_ = false;
  auto piece = [&](std::size_t number) {
    if (number * 2 + 1 >= groups.size() || groups[number * 2] < 0) return std::string();
    return text.substr(static_cast<std::size_t>(groups[number * 2]),
                       static_cast<std::size_t>(groups[number * 2 + 1] - groups[number * 2]));
  };
  while (at <= text.size()) {
    budget_.step();
    if (regex != nullptr) {
      if (!regex->search(text, at, &groups)) break;
    } else {
      std::size_t found = text.find(args[0].str(), at);
      if (found == std::string::npos) break;
      groups = {static_cast<i32>(found), static_cast<i32>(found + args[0].str().size())};
    }
    if (groups[0] == groups[1]) throw Unsupported{"a substitution of nothing"};
    matched_ = true;
    matched_text_ = text;
    groups_ = groups;
    result += text.substr(at, static_cast<std::size_t>(groups[0]) - at);
    if (has_block()) {
      append_s(result, yield(heap_.string(piece(0))));
    } else {
      const std::string& with = args[1].str();
      for (std::size_t i = 0; i < with.size(); i++) {
        if (with[i] != '\\' || i + 1 == with.size()) {
          result += with[i];
        } else if (char c = with[++i]; c >= '0' && c <= '9') {
          result += piece(static_cast<std::size_t>(c - '0'));
        } else if (c == '\\') {
          result += '\\';
        } else if (c == '&' || c == '`' || c == '\'' || c == 'k') {
          throw Unsupported{"a reference in a substitution"};
        } else {
          result.append({'\\', c});
        }
      }
    }
    grown(budget_, result.size());
    at = static_cast<std::size_t>(groups[1]);
    if (!all) break;
  }
  if (at < text.size()) result += text.substr(at);
  return out = heap_.string(std::move(result)), true;
}

bool Machine::string_method(const Any& v, std::string_view name, Args args, Any& out) {
  const std::string& s = v.str();
  budget_.step(s.size() / 64);
  if (name == "gsub" || name == "sub") return substitute(v, name, args, out);
  if (has_block()) return false;
  if (name == "[]") return out = element_of_text(s, args), true;
  if (args.empty()) {
    if (name == "empty?") return out = Any::boolean(s.empty()), true;
    if (name == "to_str" || name == "to_s") return out = v, true;
    if (name == "to_sym" || name == "intern") return out = heap_.text(Kind::kSymbol, s), true;
    if (name == "dup" || name == "clone") return out = heap_.string(s), true;
    if (name == "split") return out = split(s, args), true;
    need_ascii(s);
    if (name == "length" || name == "size") return out = Any::integer(static_cast<i64>(s.size())), true;
    if (name == "strip") return out = heap_.string(std::string(stripped(s, true, true))), true;
    if (name == "lstrip") return out = heap_.string(std::string(stripped(s, true, false))), true;
    if (name == "rstrip") return out = heap_.string(std::string(stripped(s, false, true))), true;
    if (name == "downcase") return out = heap_.string(downcase(s)), true;
    if (name == "upcase") return out = heap_.string(upcase(s)), true;
    if (name == "capitalize")
      return out = heap_.string(s.empty() ? s : upcase(s.substr(0, 1)) + downcase(s.substr(1))), true;
    if (name == "reverse") return out = heap_.string(std::string(s.rbegin(), s.rend())), true;
    if (name == "chomp") {
      std::string r = s;
      if (r.ends_with("\r\n"))
        r.resize(r.size() - 2);
      else if (r.ends_with("\n") || r.ends_with("\r"))
        r.pop_back();
      return out = heap_.string(std::move(r)), true;
    }
    if (name == "lines") {
      std::vector<Any> lines;
      for (std::size_t at = 0; at < s.size();) {
        std::size_t to = std::min(s.find('\n', at), s.size() - 1) + 1;
        lines.push_back(heap_.string(s.substr(at, to - at)));
        at = to;
      }
      return out = heap_.list(std::move(lines)), true;
    }
    if (name == "chars") {
      std::vector<Any> all;
      for (char c : s) all.push_back(heap_.string(std::string(1, c)));
      return out = heap_.list(std::move(all)), true;
    }
    if (name == "to_i") {
      std::size_t at = std::min(s.find_first_not_of(kBlanks), s.size());
      bool minus = at < s.size() && s[at] == '-';
      if (at < s.size() && (s[at] == '-' || s[at] == '+')) at++;
      std::size_t to = std::min(s.find_first_not_of("0123456789", at), s.size());
      if (to - at > 18 || (to < s.size() && s[to] == '_')) return false;
      i64 n = 0;
      for (; at < to; at++) n = n * 10 + (s[at] - '0');
      return out = Any::integer(minus ? -n : n), true;
    }
    return false;
  }
  const Any& a = args[0];
  bool text = a.is(Kind::kString);
  if (name == "start_with?" || name == "end_with?") {
    for (const Any& x : args) {
      if (!x.is(Kind::kString)) return false;
      if (name == "start_with?" ? s.starts_with(x.str()) : s.ends_with(x.str())) return out = Any::boolean(true), true;
    }
    return out = Any::boolean(false), true;
  }
  if (name == "ljust" || name == "rjust") {
    if (args.size() > 2 || !a.is(Kind::kInt) || a.i > 100'000) return false;
    if (args.size() == 2 && (!args[1].is(Kind::kString) || args[1].str().size() != 1)) return false;
    need_ascii(s);
    std::size_t wide = a.i < 0 ? 0 : static_cast<std::size_t>(a.i);
    std::string pad(wide > s.size() ? wide - s.size() : 0, args.size() == 2 ? args[1].str()[0] : ' ');
    need_ascii(pad);
    return out = heap_.string(name == "ljust" ? s + pad : pad + s), true;
  }
  if (args.size() != 1) return false;
  if (name == "split") return out = split(s, args), true;
  if (name == "include?" && text) return out = Any::boolean(s.find(a.str()) != std::string::npos), true;
  if (name == "+" && text) {
    grown(budget_, s.size() + a.str().size());
    return out = heap_.string(s + a.str()), true;
  }
  if (name == "*" && a.is(Kind::kInt)) return out = heap_.string(repeated(budget_, s, count_of(a))), true;
  if (name == "<=>" && text) return out = Any::integer(compare(v, a)), true;
  if (text && (name == "<" || name == ">" || name == "<=" || name == ">=")) {
    int c = compare(v, a);
    return out = Any::boolean(name == "<" ? c < 0 : name == ">" ? c > 0 : name == "<=" ? c <= 0 : c >= 0), true;
  }
  if ((name == "<<" || name == "concat") && text) {
    if (v.text->foreign) throw Unsupported{"a change of a value of the manifest"};
    std::string more = a.str();  // it may be the string itself
    v.text->text += more;
    grown(budget_, v.text->text.size());
    heap_.count(more.size());
    return out = v, true;
  }
  if (name == "match?" && a.is(Kind::kRegex)) return out = Any::boolean(regex_of(a).search(s, 0)), true;
  if (name == "=~" && a.is(Kind::kRegex)) {
    if (!search(a, s)) return out = Any{}, true;
    need_ascii(std::string_view(s).substr(0, static_cast<std::size_t>(groups_[0])));
    return out = Any::integer(groups_[0]), true;
  }
  if (name == "match" && (a.is(Kind::kRegex) || text)) {  // text is read as a pattern
    if (!search(a, s)) return out = Any{}, true;
    std::vector<Any> groups;
    for (std::size_t i = 0; i + 1 < groups_.size(); i += 2)
      groups.push_back(groups_[i] < 0 ? Any{}
                                      : heap_.string(s.substr(static_cast<std::size_t>(groups_[i]),
                                                              static_cast<std::size_t>(groups_[i + 1] - groups_[i]))));
    out = heap_.list(std::move(groups));
    out.kind = Kind::kMatch;
    return true;
  }
  if (name == "index" && text) {
    need_ascii(s);
    std::size_t at = s.find(a.str());
    return out = at == std::string::npos ? Any{} : Any::integer(static_cast<i64>(at)), true;
  }
  if (name == "delete_prefix" && text)
    return out = heap_.string(s.starts_with(a.str()) ? s.substr(a.str().size()) : s), true;
  if (name == "delete_suffix" && text)
    return out = heap_.string(s.ends_with(a.str()) ? s.substr(0, s.size() - a.str().size()) : s), true;
  return false;
}

// --- arrays and hashes

std::vector<Any> Machine::pairs_of(const Any& map) {
  std::vector<Any> out;
  out.reserve(map.map->pairs.size());
  for (const auto& [key, value] : map.map->pairs) out.push_back(heap_.pair(key, value));
  return out;
}

void Machine::join(std::string& out, const std::vector<Any>& items, std::string_view between) {
  Budget::Level level(budget_);
  bool first = true;
  for (const Any& item : items) {
    budget_.step();
    if (!first) out += between;
    first = false;
    if (item.is(Kind::kArray))
      join(out, item.list->items, between);
    else
      append_s(out, item);
    grown(budget_, out.size() > 4096 ? out.size() : 0);
  }
}

Any Machine::flat(const std::vector<Any>& items, i64 levels) {
  Budget::Level level(budget_);
  std::vector<Any> out;
  for (const Any& item : items) {
    budget_.step();
    if (item.is(Kind::kArray) && levels != 0) {
      const Any inner = flat(item.list->items, levels - 1);
      out.insert(out.end(), inner.list->items.begin(), inner.list->items.end());
    } else {
      out.push_back(item);
    }
  }
  return heap_.list(std::move(out));
}

// By merging: whatever a block says of the order, nothing is read that is not there.
std::vector<Any> Machine::sorted(std::vector<Any> items, const std::function<int(const Any&, const Any&)>& order) {
  std::vector<Any> from = std::move(items), to(from.size());
  for (std::size_t run = 1; run < from.size(); run *= 2) {
    for (std::size_t begin = 0; begin < from.size(); begin += 2 * run) {
      std::size_t middle = std::min(begin + run, from.size()), end = std::min(begin + 2 * run, from.size());
      std::size_t left = begin, right = middle;
      for (std::size_t at = begin; at < end; at++) {
        budget_.step();
        bool takes_left = right == end || (left < middle && order(from[left], from[right]) <= 0);
        to[at] = from[takes_left ? left++ : right++];
      }
    }
    std::swap(from, to);
  }
  return from;
}

Any Machine::element(const Any& v, Args args) {
  const std::vector<Any>& items = v.list->items;
  i64 size = static_cast<i64>(items.size());
  i64 from = 0, count = 0;
  if (args.size() == 1 && args[0].is(Kind::kInt)) {
    i64 at = args[0].i < 0 ? args[0].i + size : args[0].i;
    return at < 0 || at >= size ? Any{} : items[static_cast<std::size_t>(at)];
  }
  if (args.size() == 2 && args[0].is(Kind::kInt) && args[1].is(Kind::kInt)) {
    from = args[0].i < 0 ? args[0].i + size : args[0].i;
    count = args[1].i;
  } else if (args.size() == 1 && args[0].is(Kind::kRange) && args[0].list->items[0].is(Kind::kInt) &&
             args[0].list->items[1].is(Kind::kInt)) {
    const std::vector<Any>& ends = args[0].list->items;
    from = ends[0].i < 0 ? ends[0].i + size : ends[0].i;
    i64 to = ends[1].i < 0 ? ends[1].i + size : ends[1].i;
    count = std::max<i64>(0, to - from + (ends[2].b ? 0 : 1));
  } else {
    throw Unsupported{"[] of an array"};
  }
  if (from < 0 || from > size || count < 0) return {};
  auto begin = items.begin() + from;
  return heap_.list(std::vector<Any>(begin, begin + std::min(count, size - from)));
}

bool Machine::enumeration(const Any& v, const std::vector<Any>& items, std::string_view name, Args args, Any& out) {
  auto result = [&](std::vector<Any> list) {
    out = heap_.list(std::move(list));
    return true;
  };
  bool block = has_block();
  if (args.empty() && block) {
    if (name == "map" || name == "collect" || name == "flat_map") {
      std::vector<Any> list;
      for (const Any& item : items) list.push_back(yield(item));
      return name == "flat_map" ? (out = flat(list, 1), true) : result(std::move(list));
    }
    if (name == "each_with_index") {
      for (std::size_t i = 0; i < items.size(); i++) yield(items[i], Any::integer(static_cast<i64>(i)));
      return out = v, true;
    }
    if (name == "find" || name == "detect") {
      for (const Any& item : items)
        if (yield(item).truthy()) return out = item, true;
      return out = Any{}, true;
    }
    if (name == "sort_by") {
      std::vector<Any> keyed;
      for (const Any& item : items) keyed.push_back(heap_.pair(yield(item), item));
      keyed = sorted(std::move(keyed),
                     [](const Any& a, const Any& b) { return compare(a.list->items[0], b.list->items[0]); });
      for (Any& k : keyed) k = k.list->items[1];
      return result(std::move(keyed));
    }
    if (name == "sort") {
      return result(sorted(items, [&](const Any& a, const Any& b) {
        Any order = yield(a, b);
        if (!order.is(Kind::kInt)) throw Unsupported{"an order that is no number"};
        return order.i < 0 ? -1 : order.i > 0 ? 1 : 0;
      }));
    }
    if (name == "inject" || name == "reduce") {
      if (items.empty()) return out = Any{}, true;
      Any all = items[0];
      for (std::size_t i = 1; i < items.size(); i++) all = yield(all, items[i]);
      return out = all, true;
    }
    if (name == "group_by") {
      Any groups = heap_.map();
      for (const Any& item : items) {
        Any key = yield(item);
        std::size_t at = groups.map->find(key);
        if (at == Map::npos)
          groups.map->set(key, heap_.list({item}));
        else
          groups.map->pairs[at].second.list->items.push_back(item);
      }
      return out = groups, true;
    }
    if (name == "partition") {
      std::vector<Any> yes, no;
      for (const Any& item : items) (yield(item).truthy() ? yes : no).push_back(item);
      Any first = heap_.list(std::move(yes));
      return out = heap_.pair(first, heap_.list(std::move(no))), true;
    }
  }
  if (args.empty() && (name == "any?" || name == "all?" || name == "none?" || (name == "count" && block))) {
    i64 count = 0;
    for (const Any& item : items) {
      bool yes = (block ? yield(item) : item).truthy();
      count += yes;
      if (yes && name == "any?") return out = Any::boolean(true), true;
      if (!yes && name == "all?") return out = Any::boolean(false), true;
      if (yes && name == "none?") return out = Any::boolean(false), true;
    }
    return out = name == "count" ? Any::integer(count) : Any::boolean(name != "any?"), true;
  }
  if (args.size() == 1 && block && (name == "inject" || name == "reduce")) {
    Any all = args[0];
    for (const Any& item : items) all = yield(all, item);
    return out = all, true;
  }
  if (args.size() == 1 && block && name == "each_with_object") {
    for (const Any& item : items) yield(item, args[0]);
    return out = args[0], true;
  }
  if (block) return false;
  if (args.empty()) {
    if (name == "length" || name == "size" || name == "count")
      return out = Any::integer(static_cast<i64>(items.size())), true;
    if (name == "empty?") return out = Any::boolean(items.empty()), true;
    if (name == "sort") return result(sorted(items, compare));
    if (name == "first") return out = items.empty() ? Any{} : items[0], true;
    if ((name == "max" || name == "min") && !v.is(Kind::kHash)) {
      if (items.empty()) return out = Any{}, true;
      out = items[0];
      for (const Any& item : items) {
        int c = compare(item, out);
        if (name == "max" ? c > 0 : c < 0) out = item;
      }
      return true;
    }
    if (name == "to_a") return v.is(Kind::kArray) ? (out = v, true) : result(items);
    if (name == "each_with_index") return false;
  }
  return false;
}

// Methods that change the array they belong to.
bool Machine::list_change(const Any& v, std::string_view name, Args args, Any& out) {
  bool adds =
      (name == "<<" && args.size() == 1) || name == "push" || name == "append" || name == "concat" || name == "unshift";
  bool takes = (name == "pop" || name == "shift" || name == "compact!" || name == "uniq!" || name == "sort!" ||
                name == "flatten!") &&
               args.empty();
  if ((!adds && !takes) || has_block()) return false;
  about_to_change(*v.list, args);
  std::vector<Any>& items = v.list->items;
  if (name == "compact!") {
    std::size_t gone = std::erase_if(items, [](const Any& a) { return a.nil(); });
    return out = gone != 0 ? v : Any{}, true;
  }
  if (takes && name != "pop" && name != "shift") throw Unsupported{"a method that changes an array"};
  if (takes) {
    if (items.empty()) return out = Any{}, true;
    out = name == "pop" ? items.back() : items.front();
    items.erase(name == "pop" ? items.end() - 1 : items.begin());
    return true;
  }
  for (const Any& a : std::vector<Any>(args.begin(), args.end())) {
    heap_.count(sizeof(Any));
    if (name == "unshift") {
      if (args.size() != 1) return false;
      items.insert(items.begin(), a);
    } else if (name == "concat") {
      if (!a.is(Kind::kArray)) return false;
      std::vector<Any> more = a.list->items;
      heap_.count(more.size() * sizeof(Any));
      items.insert(items.end(), more.begin(), more.end());
    } else {
      items.push_back(a);
    }
  }
  return out = v, true;
}

bool Machine::list_method(const Any& v, std::string_view name, Args args, Any& out) {
  if (list_change(v, name, args, out)) return true;
  const std::vector<Any>& items = v.list->items;
  auto result = [&](std::vector<Any> list) {
    out = heap_.list(std::move(list));
    return true;
  };
  if (has_block() && args.empty()) {
    if (name == "each") {
      for (std::size_t i = 0; i < v.list->items.size(); i++) yield(Any(v.list->items[i]));
      return out = v, true;
    }
    if (name == "each_index") {
      for (std::size_t i = 0; i < items.size(); i++) yield(Any::integer(static_cast<i64>(i)));
      return out = v, true;
    }
    if (name == "select" || name == "filter" || name == "reject") {
      std::vector<Any> kept;
      for (const Any& item : std::vector<Any>(items))
        if (yield(item).truthy() == (name != "reject")) kept.push_back(item);
      return result(std::move(kept));
    }
  }
  // A block may change the array: what is gone through is a copy.
  const std::vector<Any> copy = has_block() ? items : std::vector<Any>{};
  if (enumeration(v, has_block() ? copy : items, name, args, out)) return true;
  if (has_block()) return false;
  if (name == "[]" || name == "slice") return out = element(v, args), true;
  if (args.empty()) {
    if (name == "join") {
      std::string text;
      join(text, items, "");
      return out = heap_.string(std::move(text)), true;
    }
    if (name == "last") return out = items.empty() ? Any{} : items.back(), true;
    if (name == "flatten") return out = flat(items, -1), true;
    if (name == "reverse") return result({items.rbegin(), items.rend()});
    if (name == "dup" || name == "clone") return result(items);
    if (name == "compact") {
      std::vector<Any> kept;
      std::copy_if(items.begin(), items.end(), std::back_inserter(kept), [](const Any& a) { return !a.nil(); });
      return result(std::move(kept));
    }
    if (name == "uniq") {
      Map seen;
      for (const Any& item : items) {
        budget_.step(item.is(Kind::kString) ? 1 : seen.pairs.size());
        if (seen.find(item) == Map::npos) seen.set(item, Any{});
      }
      std::vector<Any> kept;
      for (const auto& [key, nothing] : seen.pairs) kept.push_back(key);
      return result(std::move(kept));
    }
    return false;
  }
  if (args.size() != 1) return false;
  const Any& a = args[0];
  auto has = [&](const std::vector<Any>& list, const Any& wanted) {
    budget_.step(list.size() / 4);
    return std::any_of(list.begin(), list.end(), [&](const Any& x) { return equal(x, wanted); });
  };
  if (name == "join" && (a.is(Kind::kString) || a.nil())) {
    std::string text;
    join(text, items, a.nil() ? std::string_view{} : std::string_view(a.str()));
    return out = heap_.string(std::move(text)), true;
  }
  if (name == "include?" || name == "member?") return out = Any::boolean(has(items, a)), true;
  if (name == "index" || name == "find_index") {
    for (std::size_t i = 0; i < items.size(); i++)
      if (equal(items[i], a)) return out = Any::integer(static_cast<i64>(i)), true;
    return out = Any{}, true;
  }
  if (name == "flatten" && a.is(Kind::kInt)) return out = flat(items, a.i), true;
  if ((name == "first" || name == "take") && a.is(Kind::kInt))
    return result({items.begin(), items.begin() + static_cast<std::ptrdiff_t>(std::min(count_of(a), items.size()))});
  if (name == "drop" && a.is(Kind::kInt))
    return result({items.begin() + static_cast<std::ptrdiff_t>(std::min(count_of(a), items.size())), items.end()});
  if (name == "*" && a.is(Kind::kString)) return list_method(v, "join", args, out);
  if (name == "+" && a.is(Kind::kArray)) {
    std::vector<Any> both = items;
    both.insert(both.end(), a.list->items.begin(), a.list->items.end());
    return result(std::move(both));
  }
  if (name == "-" && a.is(Kind::kArray)) {
    std::vector<Any> kept;
    for (const Any& item : items) {
      budget_.step(a.list->items.size() / 4);
      bool gone = std::any_of(a.list->items.begin(), a.list->items.end(), [&](const Any& x) { return eql(x, item); });
      if (!gone) kept.push_back(item);
    }
    return result(std::move(kept));
  }
  if (name == "zip" && a.is(Kind::kArray)) {
    std::vector<Any> pairs;
    for (std::size_t i = 0; i < items.size(); i++)
      pairs.push_back(heap_.pair(items[i], i < a.list->items.size() ? a.list->items[i] : Any{}));
    return result(std::move(pairs));
  }
  if (name == "<=>" && a.is(Kind::kArray)) return out = Any::integer(compare(v, a)), true;
  return false;
}

bool Machine::map_method(const Any& v, std::string_view name, Args args, Any& out) {
  Map& map = *v.map;
  auto result = [&](std::vector<Any> list) {
    out = heap_.list(std::move(list));
    return true;
  };
  if (has_block() && args.empty()) {
    if (name == "each" || name == "each_pair") {
      for (const Any& pair : pairs_of(v)) yield(pair);
      return out = v, true;
    }
    if (name == "each_key" || name == "each_value") {
      for (const auto& [key, value] : std::vector(map.pairs)) yield(name == "each_key" ? key : value);
      return out = v, true;
    }
    if (name == "select" || name == "filter" || name == "reject") {
      Any kept = heap_.map();
      for (const auto& [key, value] : std::vector(map.pairs))
        if (yield(key, value).truthy() == (name != "reject")) kept.map->set(key, value);
      return out = kept, true;
    }
  }
  // Without a block any? and count ask about pairs, which are never nil.
  if (name == "max" || name == "min" || name == "first") {
    if (has_block() || !args.empty() || name != "first") return false;
  }
  if (has_block() || (args.empty() && (name == "sort" || name == "to_a" || name == "first" || name == "any?"))) {
    const std::vector<Any> items = pairs_of(v);
    return enumeration(v, items, name, args, out);
  }
  if (args.empty()) {
    if (name == "length" || name == "size" || name == "count")
      return out = Any::integer(static_cast<i64>(map.pairs.size())), true;
    if (name == "empty?") return out = Any::boolean(map.pairs.empty()), true;
    if (name == "keys" || name == "values") {
      std::vector<Any> list;
      for (const auto& [key, value] : map.pairs) list.push_back(name == "keys" ? key : value);
      return result(std::move(list));
    }
    if (name == "to_h") return out = v, true;
    if (name == "dup" || name == "clone") {
      out = heap_.map();
      heap_.count(map.pairs.size() * sizeof(std::pair<Any, Any>));
      out.map->pairs = map.pairs;
      return true;
    }
    return false;
  }
  const Any& a = args[0];
  budget_.step(a.is(Kind::kString) ? 1 : map.pairs.size() / 4);
  std::size_t at = map.find(a);
  if (name == "[]" && args.size() == 1) return out = at == Map::npos ? Any{} : map.pairs[at].second, true;
  if ((name == "key?" || name == "has_key?" || name == "include?" || name == "member?") && args.size() == 1)
    return out = Any::boolean(at != Map::npos), true;
  if (name == "fetch" && args.size() <= 2) {
    if (at == Map::npos && args.size() == 1) return false;
    return out = at == Map::npos ? args[1] : map.pairs[at].second, true;
  }
  if (name == "delete" && args.size() == 1) {
    about_to_change(map);
    out = at == Map::npos ? Any{} : map.pairs[at].second;
    if (at != Map::npos) map.erase(at);
    return true;
  }
  if (name == "merge" && args.size() == 1 && a.is(Kind::kHash)) {
    Any merged = heap_.map();
    heap_.count((map.pairs.size() + a.map->pairs.size()) * sizeof(std::pair<Any, Any>));
    merged.map->pairs = map.pairs;
    for (const auto& [key, value] : a.map->pairs) merged.map->set(key, value);
    return out = merged, true;
  }
  return false;
}

}  // namespace tutti::puppet::erb
