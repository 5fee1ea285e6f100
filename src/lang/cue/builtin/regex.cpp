#include "lang/cue/builtin/regex.h"

#include <re2/re2.h>

#include <cctype>
#include <map>
#include <memory>
#include <mutex>
#include <unordered_map>

#include "base/utf8.h"
#include "lang/cue/eval/limits.h"

namespace tutti::cue {

namespace {

// A pattern for RE2, which knows named groups as (?P<name>...) only, and what Go refuses of what RE2 takes.
struct ForRe2 {
  std::string pattern;
  std::string refused;  // "what: `where`"
};

// {n}, {n,} and {n,m} at the begin of it with a count above Go's limit; RE2 takes a very large one for text.
std::string_view large_repetition(std::string_view p) {
  constexpr unsigned long kMost = 1000;
  std::size_t end = p.find_first_not_of("0123456789,", 1);
  if (end == std::string_view::npos || p[end] != '}' || p.size() < 3 || !std::isdigit(static_cast<unsigned char>(p[1])))
    return {};
  std::size_t comma = std::min(p.find(',', 1), end);
  auto large = [&](std::string_view n) {
    n.remove_prefix(std::min(n.find_first_not_of('0'), n.size()));
    return n.size() > 4 || (!n.empty() && std::stoul(std::string(n)) > kMost);
  };
  std::string_view second = comma < end ? p.substr(comma + 1, end - comma - 1) : std::string_view();
  if (second.find(',') != std::string_view::npos) return {};
  return large(p.substr(1, comma - 1)) || large(second) ? p.substr(0, end + 1) : std::string_view();
}

ForRe2 for_re2(std::string_view p) {
  ForRe2 out;
  auto refuse = [&](std::string_view what, std::string_view where) {
    if (out.refused.empty()) out.refused = std::string(what) + ": `" + std::string(where) + "`";
  };
  bool in_class = false;
  for (std::size_t i = 0; i < p.size(); ++i) {
    std::string_view rest = p.substr(i);
    if (p[i] == '\\' && i + 1 < p.size()) {
      if (!in_class && p[i + 1] == 'Q') {  // literal text up to \E
        std::size_t end = p.find("\\E", i);
        std::size_t stop = end == std::string_view::npos ? p.size() : end + 2;
        out.pattern += p.substr(i, stop - i);
        i = stop - 1;
        continue;
      }
      if (p[i + 1] == 'C') refuse("invalid escape sequence", "\\C");  // one byte of a character
      out.pattern += p.substr(i, 2);
      ++i;
      continue;
    }
    if (p[i] == '[') in_class = true;
    if (p[i] == ']') in_class = false;
    if (!in_class && rest.starts_with("(?<") && rest.size() > 3) {
      // A look behind is a group without a proper name to Go.
      if (rest[3] == '=' || rest[3] == '!')
        refuse("invalid named capture",
               rest.substr(0, rest.find('>') == std::string_view::npos ? rest.size() : rest.find('>') + 1));
      out.pattern += "(?P<";
      i += 2;
      continue;
    }
    if (!in_class && p[i] == '{')
      if (std::string_view large = large_repetition(rest); !large.empty()) refuse("invalid repeat count", large);
    out.pattern += p[i];
  }
  return out;
}

struct CategoryName {
  std::string_view name, category;  // the name without case and what separates its words
};
constexpr CategoryName kCategories[] = {
    {"other", "C"},
    {"control", "Cc"},
    {"cntrl", "Cc"},
    {"format", "Cf"},
    {"privateuse", "Co"},
    {"surrogate", "Cs"},
    {"letter", "L"},
    {"lowercaseletter", "Ll"},
    {"modifierletter", "Lm"},
    {"otherletter", "Lo"},
    {"titlecaseletter", "Lt"},
    {"uppercaseletter", "Lu"},
    {"mark", "M"},
    {"combiningmark", "M"},
    {"spacingmark", "Mc"},
    {"enclosingmark", "Me"},
    {"nonspacingmark", "Mn"},
    {"number", "N"},
    {"decimalnumber", "Nd"},
    {"digit", "Nd"},
    {"letternumber", "Nl"},
    {"othernumber", "No"},
    {"punctuation", "P"},
    {"punct", "P"},
    {"connectorpunctuation", "Pc"},
    {"dashpunctuation", "Pd"},
    {"closepunctuation", "Pe"},
    {"finalpunctuation", "Pf"},
    {"initialpunctuation", "Pi"},
    {"otherpunctuation", "Po"},
    {"openpunctuation", "Ps"},
    {"symbol", "S"},
    {"currencysymbol", "Sc"},
    {"modifiersymbol", "Sk"},
    {"mathsymbol", "Sm"},
    {"othersymbol", "So"},
    {"separator", "Z"},
    {"lineseparator", "Zl"},
    {"paragraphseparator", "Zp"},
    {"spaceseparator", "Zs"},
};

// The name of a class of characters as RE2 knows it: `uppercase letter` is Lu, `old_italic` Old_Italic. Several names
// where it has none for it.
std::string class_names(std::string_view name, std::string_view p) {
  std::string plain, titled;
  bool begins = true;
  for (char c : name) {
    bool separates = c == ' ' || c == '_' || c == '-';
    auto u = static_cast<unsigned char>(c);
    if (!separates) plain += static_cast<char>(std::tolower(u));
    titled += separates ? '_' : static_cast<char>(begins ? std::toupper(u) : std::tolower(u));
    begins = separates;
  }
  auto all = [&](std::initializer_list<std::string_view> list) {
    std::string out;
    for (std::string_view one : list) out += std::string(p) + "{" + std::string(one) + "}";
    return out;
  };
  if (plain == "lc" || plain == "casedletter") return all({"Lu", "Ll", "Lt"});
  if (plain == "assigned") return all({"L", "M", "N", "P", "S", "Z", "Cc", "Cf", "Co", "Cs"});
  for (const CategoryName& c : kCategories)
    if (c.name == plain) return all({c.category});
  return all({titled});
}

// Go is lax about the names of classes, and knows more of them. A class of several cannot be negated within another.
std::string with_known_classes(std::string_view p) {
  std::string out;
  bool in_class = false;
  for (std::size_t i = 0; i < p.size(); ++i) {
    if (p[i] == '[') in_class = true;
    if (p[i] == ']') in_class = false;
    if (p[i] != '\\' || i + 1 == p.size()) {
      out += p[i];
      continue;
    }
    std::size_t end = p.find('}', i);
    bool negated = p[i + 1] == 'P';
    if ((p[i + 1] != 'p' && !negated) || i + 2 >= p.size() || p[i + 2] != '{' || end == std::string_view::npos) {
      out += p.substr(i++, 2);
      continue;
    }
    std::string_view name = p.substr(i + 3, end - i - 3);
    if (name.starts_with('^')) {
      negated = !negated;
      name.remove_prefix(1);
    }
    std::string plain;
    for (char c : name)
      if (c != ' ' && c != '_' && c != '-') plain += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    if (plain == "cn" || plain == "unassigned") {
      negated = !negated;
      name = "assigned";
    }
    if (plain == "ascii") {
      std::string range = negated && in_class ? "\\x{80}-\\x{10FFFF}" : "\\x00-\\x7F";
      out += in_class ? range : (negated ? "[^" : "[") + range + "]";
      i = end;
      continue;
    }
    std::string known = class_names(name, "\\p");
    bool several = known.find('}') + 1 < known.size();
    if (!several && negated) known[1] = 'P';
    if (several && !in_class) known = (negated ? "[^" : "[") + known + "]";
    if (several && in_class && negated) return std::string(p);
    out += known;
    i = end;
  }
  return out;
}

const char* error_word(RE2::ErrorCode code) {
  switch (code) {
    case RE2::ErrorBadEscape: return "invalid escape sequence";
    case RE2::ErrorBadCharClass: return "invalid character class";
    case RE2::ErrorBadCharRange: return "invalid character class range";
    case RE2::ErrorMissingBracket: return "missing closing ]";
    case RE2::ErrorMissingParen: return "missing closing )";
    case RE2::ErrorUnexpectedParen: return "unexpected )";
    case RE2::ErrorTrailingBackslash: return "trailing backslash at end of expression";
    case RE2::ErrorRepeatArgument: return "missing argument to repetition operator";
    case RE2::ErrorRepeatSize: return "invalid repeat count";
    case RE2::ErrorRepeatOp: return "invalid nested repetition operator";
    case RE2::ErrorBadPerlOp: return "invalid or unsupported Perl syntax";
    case RE2::ErrorBadUTF8: return "invalid UTF-8";
    case RE2::ErrorBadNamedCapture: return "invalid named capture";
    case RE2::ErrorPatternTooLarge: return "expression too large";
    default: return "internal error";
  }
}

struct Compiled {
  std::unique_ptr<RE2> re;
  std::string error;
};

}  // namespace

const RE2* compile_regex(std::string_view pattern, std::string* error) {
  static std::mutex mutex;
  static std::unordered_map<std::string, Compiled> cache;
  thread_local std::string last_pattern;
  thread_local const Compiled* last = nullptr;
  const Compiled* c = nullptr;
  if (last && last_pattern == pattern) {
    c = last;
  } else {
    std::lock_guard lock(mutex);
    auto [it, fresh] = cache.try_emplace(std::string(pattern));
    if (fresh) {
      RE2::Options options;
      options.set_log_errors(false);
      options.set_max_mem(64 << 20);
      ForRe2 known = for_re2(pattern);
      auto re = std::make_unique<RE2>(known.pattern, options);
      if (re->error_code() == RE2::ErrorBadCharRange) {
        auto other = std::make_unique<RE2>(with_known_classes(known.pattern), options);
        if (other->ok()) re = std::move(other);
      }
      bool look_behind = known.refused.starts_with("invalid named");  // RE2 has other words for it
      if (!known.refused.empty() && (re->ok() || look_behind)) {
        it->second.error = "error parsing regexp: " + known.refused;
      } else if (re->ok()) {
        it->second.re = std::move(re);
      } else {
        std::string arg = re->error_arg();
        if (re->error_code() == RE2::ErrorMissingParen || re->error_code() == RE2::ErrorUnexpectedParen) arg = pattern;
        it->second.error = std::string("error parsing regexp: ") + error_word(re->error_code()) + ": `" + arg + "`";
      }
    }
    c = &it->second;
    last = c;
    last_pattern = pattern;
  }
  if (!c->re && error) *error = c->error;
  return c->re.get();
}

bool regex_matches(const RE2& re, std::string_view text) {
  return re.Match({text.data(), text.size()}, 0, text.size(), RE2::UNANCHORED, nullptr, 0);
}

std::vector<int> regex_find(const RE2& re, std::string_view text, std::size_t from) {
  std::vector<re2::StringPiece> groups(static_cast<std::size_t>(re.NumberOfCapturingGroups()) + 1);
  if (!re.Match({text.data(), text.size()}, from, text.size(), RE2::UNANCHORED, groups.data(),
                static_cast<int>(groups.size())))
    return {};
  std::vector<int> out;
  for (const auto& g : groups) {
    if (!g.data()) {
      out.insert(out.end(), {-1, -1});
      continue;
    }
    int at = static_cast<int>(g.data() - text.data());
    out.insert(out.end(), {at, at + static_cast<int>(g.size())});
  }
  return out;
}

std::vector<std::vector<int>> regex_find_all(const RE2& re, std::string_view text, long n) {
  std::vector<std::vector<int>> out;
  std::size_t at = 0;
  int last_end = -1;
  while (at <= text.size() && (n < 0 || static_cast<long>(out.size()) < n)) {
    std::vector<int> m = regex_find(re, text, at);
    if (m.empty()) break;
    bool take = true;
    if (m[1] == m[0]) {
      if (m[0] == last_end) take = false;  // an empty match right after the one before does not count
      at = static_cast<std::size_t>(m[1]);
      if (at >= text.size())
        at = text.size() + 1;
      else
        utf8::decode(text, at);
    } else {
      at = static_cast<std::size_t>(m[1]);
    }
    last_end = m[1];
    check_list(out.size());
    if (take) out.push_back(std::move(m));
  }
  return out;
}

std::vector<std::string> regex_group_names(const RE2& re) {
  std::vector<std::string> names(static_cast<std::size_t>(re.NumberOfCapturingGroups()) + 1);
  for (const auto& [i, name] : re.CapturingGroupNames()) names[static_cast<std::size_t>(i)] = name;
  return names;
}

}  // namespace tutti::cue
