// The path package: paths of three systems, whatever system this runs on.
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/utf8.h"
#include "lang/cue/builtin/support.h"
#include "lang/cue/eval/context.h"

namespace tutti::cue {

namespace {

// A path taken apart.
struct Parts {
  std::string volume;
  bool rooted = false;
  std::vector<std::string> names;
};

// What paths look like on one system.
class Style {
 public:
  struct Traits {
    std::string_view name;
    char separator, list_separator;
    bool drives;       // C: and \\host\share, both slashes, case does not count
    char other_root;   // a first character that makes a path absolute, beside the separator
    bool list_quotes;  // "a;b" in a list of paths is one path
  };

  explicit Style(const Traits& t) : t_(t) {}

  char separator() const { return t_.separator; }
  bool windows() const { return t_.drives; }
  bool separates(char c) const { return c == t_.separator || (t_.drives && c == '/'); }

  // Bytes of `C:` or `\\host\share` in front.
  std::size_t volume(std::string_view p) const {
    if (!t_.drives || p.size() < 2) return 0;
    if (p[1] == ':' && std::isalpha(static_cast<unsigned char>(p[0]))) return 2;
    if (!separates(p[0]) || !separates(p[1])) return 0;
    std::size_t host = name_end(p, 2);
    if (host == 2 || p[2] == '.' || host == p.size()) return 0;
    std::size_t share = name_end(p, host + 1);
    return share == host + 1 || p[host + 1] == '.' ? 0 : share;
  }

  bool absolute(std::string_view p) const {
    if (!t_.drives) return !p.empty() && (p[0] == t_.separator || (t_.other_root && p[0] == t_.other_root));
    if (device(p)) return true;
    std::size_t v = volume(p);
    return v > 2 || (v > 0 && v < p.size() && separates(p[v]));
  }

  // `.` and empty names are left out, `..` takes the name before it away.
  Parts parse(std::string_view p) const {
    Parts out;
    std::size_t v = volume(p);
    out.volume = from_slash(p.substr(0, v));
    p.remove_prefix(v);
    out.rooted = !p.empty() && separates(p[0]);
    while (!p.empty()) {
      std::size_t n = name_end(p, 0);
      std::string_view name = p.substr(0, n);
      p.remove_prefix(std::min(n + 1, p.size()));
      if (name.empty() || name == ".") continue;
      if (name != "..")
        out.names.emplace_back(name);
      else if (!out.names.empty() && out.names.back() != "..")
        out.names.pop_back();
      else if (!out.rooted)
        out.names.emplace_back(name);
    }
    return out;
  }

  std::string text(const Parts& p) const {
    std::string out = p.volume;
    if (p.rooted) out += t_.separator;
    for (std::size_t i = 0; i < p.names.size(); ++i) {
      if (i > 0) out += t_.separator;
      out += p.names[i];
    }
    if (!p.rooted && p.names.empty() && p.volume.size() <= 2) out += '.';
    return out;
  }
  std::string clean(std::string_view p) const { return text(parse(p)); }

  std::string from_slash(std::string_view p) const {
    std::string out(p);
    if (t_.separator != '/') std::replace(out.begin(), out.end(), '/', t_.separator);
    return out;
  }

  // Where the last name begins.
  std::size_t last_name(std::string_view p) const {
    std::size_t v = volume(p), i = p.size();
    while (i > v && !separates(p[i - 1])) --i;
    return i;
  }

  std::string join(std::span<const std::string_view> parts) const {
    std::string all;
    for (std::string_view p : parts) {
      if (p.empty()) continue;
      // After a bare drive nothing is put, so that C: and a are C:a; two parts never make a volume together.
      bool drive = t_.drives && all.size() == 2 && volume(all) == 2;
      if (!all.empty() && t_.drives && separates(all.back()))
        p.remove_prefix(std::min(std::find_if(p.begin(), p.end(), [&](char c) { return !separates(c); }) - p.begin(),
                                 static_cast<long>(p.size())));
      else if (!all.empty() && !drive)
        all += t_.separator;
      all += p;
    }
    return all.empty() ? "" : clean(all);
  }

  std::vector<std::string> split_list(std::string_view p) const {
    std::vector<std::string> out;
    if (p.empty()) return out;
    out.emplace_back();
    bool quoted = false;
    for (char c : p) {
      if (t_.list_quotes && c == '"')
        quoted = !quoted;
      else if (c == t_.list_separator && !quoted)
        out.emplace_back();
      else
        out.back() += c;
    }
    return out;
  }

  bool same(std::string_view a, std::string_view b) const {
    auto fold = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
    return t_.drives
               ? std::equal(a.begin(), a.end(), b.begin(), b.end(), [&](char x, char y) { return fold(x) == fold(y); })
               : a == b;
  }

 private:
  std::size_t name_end(std::string_view p, std::size_t from) const {
    while (from < p.size() && !separates(p[from])) ++from;
    return from;
  }

  // Names that stand for devices wherever they are.
  bool device(std::string_view p) const {
    static constexpr std::string_view kDevices[] = {"CON",  "PRN",  "AUX",  "NUL",  "COM1", "COM2", "COM3", "COM4",
                                                    "COM5", "COM6", "COM7", "COM8", "COM9", "LPT1", "LPT2", "LPT3",
                                                    "LPT4", "LPT5", "LPT6", "LPT7", "LPT8", "LPT9"};
    return std::any_of(std::begin(kDevices), std::end(kDevices), [&](std::string_view d) { return same(d, p); });
  }

  Traits t_;
};

constexpr Style::Traits kStyles[] = {
    {"unix", '/', ':', false, '\0', false},
    {"windows", '\\', ';', true, '\0', true},
    {"plan9", '/', '\0', false, '#', false},
};

// Systems whose paths are those of the first style.
constexpr std::string_view kLikeUnix[] = {"aix",  "android", "darwin",  "dragonfly", "freebsd",
                                          "hurd", "illumos", "ios",     "js",        "linux",
                                          "nacl", "netbsd",  "openbsd", "solaris",   "zos"};

// The style an argument names, last of all arguments.
Style style(CallContext& c, std::size_t i) {
  std::string_view name = c.string(i), usual;
  if (const Node* otherwise = c.builtin->params.back().otherwise) usual = to<String>(otherwise)->text;
  for (const Style::Traits& t : kStyles)
    if (t.name == name) return Style(t);
  if (std::ranges::find(kLikeUnix, name) == std::end(kLikeUnix) && !c.failed()) {
    std::string names = usual.empty() ? "" : fmt::format("*\"{}\"", usual);
    auto add = [&](std::string_view n) {
      if (n != usual) names += fmt::format("{}\"{}\"", names.empty() ? "" : " | ", n);
    };
    for (const Style::Traits& t : kStyles) add(t.name);
    for (std::string_view n : kLikeUnix) add(n);
    Bottom* wrong = c.context.bottom(Code::kEval, {}, "cannot use {} as {} in argument {} to {}", go_quote(name), names,
                                     static_cast<i64>(i + 1), std::string_view(c.builtin->qualified()));
    c.context.add_bottom(wrong);
  }
  return Style(kStyles[0]);
}

// ---- patterns: * ? [a-z] [^a-z] \x

struct PatternPart {
  enum Kind : u8 { kChar, kAnyChar, kAnyText, kSet } kind;
  char32_t c = 0;
  bool negated = false;
  std::vector<std::pair<char32_t, char32_t>> ranges;
};

class PathPattern {
 public:
  PathPattern(std::string_view pattern, const Style& s) : style_(s), rest_(pattern) {}

  // What is wrong with it; "" for nothing.
  std::string_view compile() {
    while (!rest_.empty()) {
      char32_t c = next();
      if (c == '*') {
        if (!parts_.empty() && parts_.back().kind == PatternPart::kAnyText)
          return "'**' is not supported in patterns as of yet";
        parts_.push_back({PatternPart::kAnyText, 0, false, {}});
      } else if (c == '?') {
        parts_.push_back({PatternPart::kAnyChar, 0, false, {}});
      } else if (c == '[') {
        if (!set()) return kBad;
      } else {
        if (escapes(c)) {
          if (rest_.empty()) return kBad;
          c = next();
        }
        parts_.push_back({PatternPart::kChar, c, false, {}});
      }
    }
    return {};
  }

  // Back to the last star, one character further, whenever the rest does not fit.
  bool matches(std::string_view name) const {
    std::size_t at = 0, part = 0;
    std::size_t star = parts_.size() + 1, star_at = 0;
    for (;;) {
      if (part < parts_.size() && parts_[part].kind == PatternPart::kAnyText) {
        star = part++;
        star_at = at;
        continue;
      }
      if (at == name.size() && part == parts_.size()) return true;
      if (at < name.size() && part < parts_.size()) {
        std::size_t after = at;
        if (fits(parts_[part], utf8::decode(name, after))) {
          at = after;
          ++part;
          continue;
        }
      }
      if (star > parts_.size() || star_at >= name.size() || style_.separates(name[star_at])) return false;
      utf8::decode(name, star_at);
      at = star_at;
      part = star + 1;
    }
  }

 private:
  static constexpr std::string_view kBad = "syntax error in pattern";

  char32_t next() {
    std::size_t at = 0;
    char32_t c = utf8::decode(rest_, at);
    rest_.remove_prefix(at);
    return c;
  }
  bool escapes(char32_t c) const { return c == '\\' && !style_.windows(); }

  bool bound(char32_t& c) {
    if (rest_.empty()) return false;
    c = next();
    if (c == '-' || c == ']') return false;
    if (escapes(c)) {
      if (rest_.empty()) return false;
      c = next();
    }
    return c != utf8::kInvalid && !rest_.empty();
  }
  bool set() {
    PatternPart p{PatternPart::kSet, 0, rest_.starts_with('^'), {}};
    if (p.negated) rest_.remove_prefix(1);
    do {
      char32_t low, high;
      if (!bound(low)) return false;
      high = low;
      if (rest_.starts_with('-')) {
        rest_.remove_prefix(1);
        if (!bound(high)) return false;
      }
      p.ranges.push_back({low, high});
    } while (!rest_.starts_with(']'));
    rest_.remove_prefix(1);
    parts_.push_back(std::move(p));
    return true;
  }

  bool fits(const PatternPart& p, char32_t c) const {
    switch (p.kind) {
      case PatternPart::kChar: return c == p.c;
      case PatternPart::kAnyChar: return c > 127 || !style_.separates(static_cast<char>(c));
      case PatternPart::kAnyText: return false;
      case PatternPart::kSet: break;
    }
    bool in = std::any_of(p.ranges.begin(), p.ranges.end(), [&](auto r) { return r.first <= c && c <= r.second; });
    return in != p.negated;
  }

  const Style& style_;
  std::string_view rest_;
  std::vector<PatternPart> parts_;
};

// ---- functions

std::optional<std::string> relative(const Style& s, std::string_view base, std::string_view target) {
  Parts b = s.parse(base), t = s.parse(target);
  if (s.same(s.text(b), s.text(t))) return ".";
  if (!s.same(b.volume, t.volume)) return std::nullopt;
  // What is only a volume of a host is its root.
  bool base_rooted = b.rooted || b.volume.size() > 2, target_rooted = t.rooted || t.volume.size() > 2;
  if (base_rooted != target_rooted) return std::nullopt;
  std::size_t common = 0;
  while (common < b.names.size() && common < t.names.size() && s.same(b.names[common], t.names[common])) ++common;
  if (common < b.names.size() && b.names[common] == "..") return std::nullopt;
  Parts way;
  way.names.assign(b.names.size() - common, "..");
  way.names.insert(way.names.end(), t.names.begin() + static_cast<long>(common), t.names.end());
  return s.text(way);
}

Node* call_split(CallContext& c) {
  std::string_view p = c.string(0);
  std::size_t at = style(c, 1).last_name(p);
  return strings_result(c, {std::string(p.substr(0, at)), std::string(p.substr(at))});
}

Node* call_join(CallContext& c) {
  std::vector<std::string_view> parts = c.strings(0);
  return c.failed() ? nullptr : c.make_string(style(c, 1).join(parts));
}

Node* call_match(CallContext& c) {
  Style s = style(c, 2);
  PathPattern pattern(c.string(0), s);
  if (c.failed()) return nullptr;
  if (std::string_view wrong = pattern.compile(); !wrong.empty()) return c.error(wrong);
  return c.make_bool(pattern.matches(c.string(1)));
}

Node* call_extension(CallContext& c) {
  std::string_view p = c.string(0);
  std::string_view name = p.substr(style(c, 1).last_name(p));
  std::size_t dot = name.rfind('.');
  return c.make_string(dot == std::string_view::npos ? "" : name.substr(dot));
}

Node* call_resolve(CallContext& c) {
  Style s = style(c, 2);
  std::string_view sub = c.string(1);
  if (s.absolute(sub)) return c.make_string(s.clean(sub));
  std::string dir = s.clean(c.string(0));
  std::string_view parts[] = {dir, sub};
  return c.make_string(s.join(parts));
}

Node* call_relative(CallContext& c) {
  std::string_view base = c.string(0), target = c.string(1);
  std::optional<std::string> way = relative(style(c, 2), base, target);
  if (!way) return c.error(fmt::format("Rel: can't make {} relative to {}", target, base));
  return c.make_string(*way);
}

Node* call_base(CallContext& c) {
  Style s = style(c, 1);
  std::string_view p = c.string(0);
  if (p.empty()) return c.make_string(".");
  while (!p.empty() && s.separates(p.back())) p.remove_suffix(1);
  p = p.substr(s.last_name(p));
  return c.make_string(p.empty() ? std::string(1, s.separator()) : std::string(p));
}

Node* call_directory(CallContext& c) {
  Style s = style(c, 1);
  std::string_view p = c.string(0);
  return c.make_string(s.clean(p.substr(0, s.last_name(p))));
}

const BuiltinSpec kFunctions[] = {
    {"Split", {kStringKind, kStringKind}, kListKind, call_split, false, "unix"},
    {"SplitList",
     {kStringKind, kStringKind},
     kListKind,
     [](CallContext& c) -> Node* { return strings_result(c, style(c, 1).split_list(c.string(0))); }},
    {"Join", {kListKind, kStringKind}, kStringKind, call_join, false, "unix"},
    {"Match", {kStringKind, kStringKind, kStringKind}, kBoolKind, call_match, false, "unix"},
    {"Clean",
     {kStringKind, kStringKind},
     kStringKind,
     [](CallContext& c) -> Node* { return c.make_string(style(c, 1).clean(c.string(0))); },
     false,
     "unix"},
    {"ToSlash",
     {kStringKind, kStringKind},
     kStringKind,
     [](CallContext& c) -> Node* {
       std::string p(c.string(0));
       if (style(c, 1).windows()) std::replace(p.begin(), p.end(), '\\', '/');
       return c.make_string(p);
     }},
    {"FromSlash",
     {kStringKind, kStringKind},
     kStringKind,
     [](CallContext& c) -> Node* { return c.make_string(style(c, 1).from_slash(c.string(0))); }},
    {"Ext", {kStringKind, kStringKind}, kStringKind, call_extension, false, "unix"},
    {"Resolve", {kStringKind, kStringKind, kStringKind}, kStringKind, call_resolve, false, "unix"},
    {"Rel", {kStringKind, kStringKind, kStringKind}, kStringKind, call_relative, false, "unix"},
    {"Base", {kStringKind, kStringKind}, kStringKind, call_base, false, "unix"},
    {"Dir", {kStringKind, kStringKind}, kStringKind, call_directory, false, "unix"},
    {"IsAbs",
     {kStringKind, kStringKind},
     kBoolKind,
     [](CallContext& c) -> Node* { return c.make_bool(style(c, 1).absolute(c.string(0))); },
     false,
     "unix"},
    {"VolumeName",
     {kStringKind, kStringKind},
     kStringKind,
     [](CallContext& c) -> Node* {
       std::string_view p = c.string(0);
       return c.make_string(p.substr(0, style(c, 1).volume(p)));
     },
     false,
     "windows"},
};

const ConstantSpec kConstants[] = {{"Unix", "\"unix\""}, {"Windows", "\"windows\""}, {"Plan9", "\"plan9\""}};

}  // namespace

void add_path() { add_package("path", kFunctions, kConstants); }

}  // namespace tutti::cue
