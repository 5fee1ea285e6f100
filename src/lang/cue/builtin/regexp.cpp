#include <re2/re2.h>

#include <algorithm>

#include "lang/cue/builtin/regex.h"
#include "lang/cue/builtin/support.h"
#include "lang/cue/eval/limits.h"

namespace tutti::cue {

namespace {

constexpr char kNoMatch[] = "no match";

std::string_view group(std::string_view s, const std::vector<int>& m, std::size_t i) {
  if (m[2 * i] < 0) return {};
  return s.substr(static_cast<std::size_t>(m[2 * i]), static_cast<std::size_t>(m[2 * i + 1] - m[2 * i]));
}

Node* groups(CallContext& c, std::string_view s, const std::vector<int>& m) {
  std::vector<Node*> out;
  for (std::size_t i = 0; i < m.size() / 2; ++i) out.push_back(c.make_string(group(s, m, i)));
  return c.make_list(out);
}

Node* named(CallContext& c, std::string_view s, const RE2& re, const std::vector<int>& m) {
  std::vector<std::string> names = regex_group_names(re);
  std::vector<std::pair<std::string_view, Node*>> fields;
  for (std::size_t i = 0; i < names.size(); ++i)
    if (!names[i].empty()) fields.emplace_back(names[i], c.make_string(group(s, m, i)));
  std::sort(fields.begin(), fields.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  return c.make_struct(fields);
}

// What $1, $name and ${name} of a replacement stand for.
void expand(std::string& out, std::string_view t, std::string_view s, const std::vector<int>& m,
            const std::vector<std::string>& names) {
  auto add = [&](std::string_view text) {
    check_text(out.size() + text.size());
    out += text;
  };
  for (std::size_t i = 0; i < t.size(); ++i) {
    if (t[i] != '$' || i + 1 >= t.size()) {
      out += t[i];
      continue;
    }
    if (t[i + 1] == '$') {
      out += '$';
      ++i;
      continue;
    }
    bool brace = t[i + 1] == '{';
    std::size_t from = i + 1 + brace, to = from;
    auto word = [](char ch) {
      return ch == '_' || (ch >= '0' && ch <= '9') || (ch >= 'a' && ch <= 'z') || (ch >= 'A' && ch <= 'Z');
    };
    while (to < t.size() && word(t[to])) ++to;
    if (to == from || (brace && (to >= t.size() || t[to] != '}'))) {
      out += '$';
      continue;
    }
    std::string name(t.substr(from, to - from));
    bool digits = std::all_of(name.begin(), name.end(), [](char ch) { return ch >= '0' && ch <= '9'; });
    if (digits && (name.size() == 1 || name[0] != '0')) {
      std::size_t n = name.size() < 6 ? std::stoul(name) : 99999;
      if (n < m.size() / 2) add(group(s, m, n));
    } else {
      for (std::size_t k = 0; k < names.size(); ++k)
        if (names[k] == name) {
          add(group(s, m, k));
          break;
        }
    }
    i = to - 1 + brace;
  }
}

Node* replace(CallContext& c, bool literal) {
  std::string error;
  std::string_view s = c.string(1), repl = c.string(2);
  const RE2* re = compile_regex(c.string(0), &error);
  if (c.failed()) return nullptr;
  if (!re) return c.error(error);
  std::vector<std::string> names = regex_group_names(*re);
  std::string out;
  std::size_t at = 0;
  for (const auto& m : regex_find_all(*re, s, -1)) {
    out += s.substr(at, static_cast<std::size_t>(m[0]) - at);
    check_text(out.size() + repl.size());
    if (literal)
      out += repl;
    else
      expand(out, repl, s, m, names);
    at = static_cast<std::size_t>(m[1]);
  }
  out += s.substr(at);
  return c.make_string(out);
}

template <class F>
Node* find_one(CallContext& c, F make) {
  std::string error;
  std::string_view s = c.string(1);
  const RE2* re = compile_regex(c.string(0), &error);
  if (c.failed()) return nullptr;
  if (!re) return c.error(error);
  std::vector<int> m = regex_find(*re, s, 0);
  if (m.empty()) return c.error(kNoMatch);
  return make(s, *re, m);
}

template <class F>
Node* find_all(CallContext& c, F make) {
  std::string error;
  std::string_view s = c.string(1);
  i64 n = c.integer(2);
  const RE2* re = compile_regex(c.string(0), &error);
  if (c.failed()) return nullptr;
  if (!re) return c.error(error);
  auto all = regex_find_all(*re, s, static_cast<long>(n));
  if (all.empty()) return c.error(kNoMatch);
  std::vector<Node*> out;
  for (const auto& m : all) out.push_back(make(s, *re, m));
  return c.make_list(out);
}

const BuiltinSpec kFunctions[] = {
    {"Find",
     {kStringKind, kStringKind},
     kStringKind,
     [](CallContext& c) -> Node* {
       return find_one(c, [&](std::string_view s, const RE2&, auto& m) { return c.make_string(group(s, m, 0)); });
     }},
    {"FindAll",
     {kStringKind, kStringKind, kIntKind},
     kListKind,
     [](CallContext& c) -> Node* {
       return find_all(c, [&](std::string_view s, const RE2&, auto& m) { return c.make_string(group(s, m, 0)); });
     }},
    {"FindAllNamedSubmatch",
     {kStringKind, kStringKind, kIntKind},
     kListKind,
     [](CallContext& c) -> Node* {
       return find_all(c, [&](std::string_view s, const RE2& re, auto& m) { return named(c, s, re, m); });
     }},
    {"FindAllSubmatch",
     {kStringKind, kStringKind, kIntKind},
     kListKind,
     [](CallContext& c) -> Node* {
       return find_all(c, [&](std::string_view s, const RE2&, auto& m) { return groups(c, s, m); });
     }},
    {"FindNamedSubmatch",
     {kStringKind, kStringKind},
     kStructKind,
     [](CallContext& c) -> Node* {
       return find_one(c, [&](std::string_view s, const RE2& re, auto& m) { return named(c, s, re, m); });
     }},
    {"FindSubmatch",
     {kStringKind, kStringKind},
     kListKind,
     [](CallContext& c) -> Node* {
       return find_one(c, [&](std::string_view s, const RE2&, auto& m) { return groups(c, s, m); });
     }},
    {"ReplaceAll",
     {kStringKind, kStringKind, kStringKind},
     kStringKind,
     [](CallContext& c) -> Node* { return replace(c, false); }},
    {"ReplaceAllLiteral",
     {kStringKind, kStringKind, kStringKind},
     kStringKind,
     [](CallContext& c) -> Node* { return replace(c, true); }},
    {"Valid",
     {kStringKind},
     kBoolKind,
     [](CallContext& c) -> Node* {
       std::string error;
       bool good = compile_regex(c.string(0), &error) != nullptr;
       if (c.failed()) return nullptr;
       return good ? c.make_bool(true) : c.error(error);
     }},
    {"Match",
     {kStringKind, kStringKind},
     kBoolKind,
     [](CallContext& c) -> Node* {
       std::string error;
       std::string_view s = c.string(1);
       const RE2* re = compile_regex(c.string(0), &error);
       if (c.failed()) return nullptr;
       return re ? c.make_bool(regex_matches(*re, s)) : c.error(error);
     }},
    {"QuoteMeta",
     {kStringKind},
     kStringKind,
     [](CallContext& c) -> Node* {
       std::string out;
       for (char ch : c.string(0)) {
         if (std::string_view("\\.+*?()|[]{}^$").find(ch) != std::string_view::npos) out += '\\';
         out += ch;
       }
       return c.make_string(out);
     }},
};

}  // namespace

void add_regexp() { add_package("regexp", kFunctions); }

}  // namespace tutti::cue
