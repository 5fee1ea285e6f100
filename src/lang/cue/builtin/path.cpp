#include <algorithm>

#include "base/utf8.h"
#include "lang/cue/builtin/support.h"

namespace tutti::cue {

namespace {

enum class System { kUnix, kWindows, kPlan9 };

bool slash(char c) { return c == '/' || c == '\\'; }

// The rules of one operating system for paths.
struct Rules {
  System system;

  char separator() const { return system == System::kWindows ? '\\' : '/'; }
  bool is_separator(char c) const { return system == System::kWindows ? slash(c) : c == '/'; }

  std::size_t volume(std::string_view p) const {
    if (system != System::kWindows || p.size() < 2) return 0;
    char c = static_cast<char>(p[0] | 0x20);
    if (p[1] == ':' && c >= 'a' && c <= 'z') return 2;
    // \\server\share
    if (p.size() >= 5 && slash(p[0]) && slash(p[1]) && !slash(p[2]) && p[2] != '.') {
      for (std::size_t n = 3; n < p.size() - 1; ++n) {
        if (!slash(p[n])) continue;
        ++n;
        if (slash(p[n]) || p[n] == '.') break;
        while (n < p.size() && !slash(p[n])) ++n;
        return n;
      }
    }
    return 0;
  }

  bool is_absolute(std::string_view p) const {
    if (system == System::kUnix) return p.starts_with('/');
    if (system == System::kPlan9) return p.starts_with('/') || p.starts_with('#');
    std::size_t v = volume(p);
    return v > 0 && v < p.size() && slash(p[v]);
  }

  std::string from_slash(std::string s) const {
    if (system == System::kWindows) std::replace(s.begin(), s.end(), '/', '\\');
    return s;
  }

  std::string clean(std::string_view original) const {
    std::size_t v = volume(original);
    std::string_view p = original.substr(v);
    if (p.empty()) {
      if (v > 1 && original[1] != ':') return from_slash(std::string(original));
      return std::string(original) + ".";
    }
    bool rooted = is_separator(p[0]);
    std::string out;
    std::size_t r = 0, floor = 0, n = p.size();
    if (rooted) {
      out += separator();
      r = floor = 1;
    }
    while (r < n) {
      if (is_separator(p[r])) {
        ++r;
      } else if (p[r] == '.' && (r + 1 == n || is_separator(p[r + 1]))) {
        ++r;
      } else if (p[r] == '.' && r + 1 < n && p[r + 1] == '.' && (r + 2 == n || is_separator(p[r + 2]))) {
        r += 2;
        if (out.size() > floor) {
          out.pop_back();
          while (out.size() > floor && !is_separator(out[out.size()])) out.pop_back();
        } else if (!rooted) {
          if (!out.empty()) out += separator();
          out += "..";
          floor = out.size();
        }
      } else {
        if (rooted ? out.size() != 1 : !out.empty()) out += separator();
        while (r < n && !is_separator(p[r])) out += p[r++];
      }
    }
    if (out.empty()) out = ".";
    return from_slash(std::string(original.substr(0, v)) + out);
  }

  std::string join(const std::vector<std::string_view>& parts) const {
    std::size_t i = 0;
    while (i < parts.size() && parts[i].empty()) ++i;
    if (i == parts.size()) return "";
    auto glue = [&](std::size_t from) {
      std::string s;
      for (std::size_t k = from; k < parts.size(); ++k) {
        if (k > from) s += separator();
        s += parts[k];
      }
      return s;
    };
    if (system != System::kWindows) return clean(glue(i));
    // A drive without a slash stays relative; the parts must not make a network path by accident.
    if (parts[i].size() == 2 && parts[i][1] == ':') {
      std::size_t k = i + 1;
      while (k < parts.size() && parts[k].empty()) ++k;
      return clean(std::string(parts[i]) + glue(k));
    }
    std::string p = clean(glue(i));
    bool network = p.size() > 1 && slash(p[0]) && slash(p[1]);
    if (!network) return p;
    std::string head = clean(parts[i]);
    if (head.size() > 1 && slash(head[0]) && slash(head[1])) return p;
    std::vector<std::string_view> rest(parts.begin() + static_cast<long>(i) + 1, parts.end());
    std::string tail = join(rest);
    if (tail.empty()) return head;
    return head.back() == '\\' ? head + tail : head + "\\" + tail;
  }

  bool same(std::string_view a, std::string_view b) const {
    if (system != System::kWindows) return a == b;
    return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin(), [](char x, char y) {
             auto low = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c; };
             return low(x) == low(y);
           });
  }

  std::pair<std::string_view, std::string_view> split(std::string_view p) const {
    std::size_t v = volume(p), i = p.size();
    while (i > v && !is_separator(p[i - 1])) --i;
    return {p.substr(0, i), p.substr(i)};
  }
};

Rules rules(CallContext& c, std::size_t i, System otherwise = System::kUnix) {
  if (i >= c.size()) return {otherwise};
  std::string_view s = c.string(i);
  return {s == "windows" ? System::kWindows : s == "plan9" ? System::kPlan9 : System::kUnix};
}

std::vector<std::string> split_list(std::string_view p, System system) {
  std::vector<std::string> out;
  if (p.empty()) return out;
  char mark = system == System::kWindows ? ';' : system == System::kPlan9 ? '\0' : ':';
  std::string part;
  bool quoted = false;
  for (char ch : p) {
    if (system == System::kWindows && ch == '"') {
      quoted = !quoted;
    } else if (ch == mark && !quoted) {
      out.push_back(part);
      part.clear();
    } else {
      part += ch;
    }
  }
  out.push_back(part);
  return out;
}

// Shell patterns: 1 matches, 0 does not, -1 a bad pattern, -2 for `**`.
struct Matcher {
  Rules r;
  bool escapes() const { return r.system != System::kWindows; }

  int class_char(std::string_view& p, char32_t& out) const {
    if (p.empty() || p[0] == '-' || p[0] == ']') return -1;
    if (p[0] == '\\' && escapes()) {
      p.remove_prefix(1);
      if (p.empty()) return -1;
    }
    std::size_t at = 0;
    out = utf8::decode(p, at);
    if (out == utf8::kInvalid) return -1;
    p.remove_prefix(at);
    return p.empty() ? -1 : 1;
  }

  int match(std::string_view p, std::string_view s) const {
    while (!p.empty()) {
      if (p[0] == '*') {
        p.remove_prefix(1);
        if (!p.empty() && p[0] == '*') return -2;
        if (p.empty()) return s.find(r.separator()) == std::string_view::npos;
        int found = 0;
        for (std::size_t i = 0; i <= s.size(); ++i) {
          int m = match(p, s.substr(i));
          if (m != 0) {
            found = m;
            break;
          }
          if (i < s.size() && s[i] == r.separator()) break;
        }
        return found;
      }
      if (p[0] == '[') {
        std::size_t at = 0;
        char32_t ch = s.empty() ? 0 : utf8::decode(s, at);
        p.remove_prefix(1);
        bool negated = !p.empty() && p[0] == '^', hit = false;
        if (negated) p.remove_prefix(1);
        for (int n = 0;; ++n) {
          if (!p.empty() && p[0] == ']' && n > 0) {
            p.remove_prefix(1);
            break;
          }
          char32_t low = 0;
          if (class_char(p, low) < 0) return -1;
          char32_t high = low;
          if (p[0] == '-') {
            p.remove_prefix(1);
            if (class_char(p, high) < 0) return -1;
          }
          hit |= low <= ch && ch <= high;
        }
        if (s.empty() || hit == negated) return rest_ok(p) ? 0 : -1;
        s.remove_prefix(at);
        continue;
      }
      if (p[0] == '?') {
        if (s.empty() || s[0] == r.separator()) return rest_ok(p.substr(1)) ? 0 : -1;
        std::size_t at = 0;
        utf8::decode(s, at);
        s.remove_prefix(at);
        p.remove_prefix(1);
        continue;
      }
      if (p[0] == '\\' && escapes()) {
        p.remove_prefix(1);
        if (p.empty()) return -1;
      }
      if (s.empty() || s[0] != p[0]) return rest_ok(p.substr(1)) ? 0 : -1;
      s.remove_prefix(1);
      p.remove_prefix(1);
    }
    return s.empty();
  }

  // What is left of a pattern is checked even when it can no longer match.
  bool rest_ok(std::string_view p) const {
    while (!p.empty()) {
      if (p[0] == '\\' && escapes()) {
        if (p.size() < 2) return false;
        p.remove_prefix(2);
      } else if (p[0] == '[') {
        p.remove_prefix(1);
        if (!p.empty() && p[0] == '^') p.remove_prefix(1);
        for (int n = 0;; ++n) {
          if (!p.empty() && p[0] == ']' && n > 0) {
            p.remove_prefix(1);
            break;
          }
          char32_t x;
          if (class_char(p, x) < 0) return false;
          if (p[0] == '-') {
            p.remove_prefix(1);
            if (class_char(p, x) < 0) return false;
          }
        }
      } else {
        p.remove_prefix(1);
      }
    }
    return true;
  }
};

Node* relative(CallContext& c) {
  Rules r = rules(c, 2);
  std::string_view base_path = c.string(0), target_path = c.string(1);
  if (c.failed()) return nullptr;
  std::string base = r.clean(base_path), target = r.clean(target_path);
  auto cannot = [&] {
    return c.error("Rel: can't make " + std::string(target_path) + " relative to " + std::string(base_path));
  };
  if (r.same(target, base)) return c.make_string(".");
  std::size_t bv = r.volume(base_path), tv = r.volume(target_path);
  bool same_volume = r.same(base_path.substr(0, bv), target_path.substr(0, tv));
  base.erase(0, bv);
  target.erase(0, tv);
  if (base == ".") base.clear();
  char sep = r.separator();
  bool b_rooted = !base.empty() && base[0] == sep, t_rooted = !target.empty() && target[0] == sep;
  if (b_rooted != t_rooted || !same_volume) return cannot();
  std::size_t b0 = 0, bi = 0, t0 = 0, ti = 0;
  for (;;) {
    while (bi < base.size() && base[bi] != sep) ++bi;
    while (ti < target.size() && target[ti] != sep) ++ti;
    if (!r.same(std::string_view(target).substr(t0, ti - t0), std::string_view(base).substr(b0, bi - b0))) break;
    if (bi < base.size()) ++bi;
    if (ti < target.size()) ++ti;
    b0 = bi;
    t0 = ti;
  }
  if (base.substr(b0, bi - b0) == "..") return cannot();
  if (b0 == base.size()) return c.make_string(std::string_view(target).substr(t0));
  std::string out = "..";
  for (std::size_t i = b0; i < base.size(); ++i)
    if (base[i] == sep) out += std::string(1, sep) + "..";
  if (t0 != target.size()) out += sep + target.substr(t0);
  return c.make_string(out);
}

const BuiltinSpec kFunctions[] = {
    {"Split",
     {kStringKind, kStringKind},
     kListKind,
     [](CallContext& c) -> Node* {
       auto [dir, file] = rules(c, 1).split(c.string(0));
       return strings_result(c, {std::string(dir), std::string(file)});
     },
     false,
     "unix"},
    {"SplitList",
     {kStringKind, kStringKind},
     kListKind,
     [](CallContext& c) -> Node* { return strings_result(c, split_list(c.string(0), rules(c, 1).system)); }},
    {"Join",
     {kListKind, kStringKind},
     kStringKind,
     [](CallContext& c) -> Node* {
       std::vector<std::string_view> parts = c.strings(0);
       return c.failed() ? nullptr : c.make_string(rules(c, 1).join(parts));
     },
     false,
     "unix"},
    {"Match",
     {kStringKind, kStringKind, kStringKind},
     kBoolKind,
     [](CallContext& c) -> Node* {
       int m = Matcher{rules(c, 2)}.match(c.string(0), c.string(1));
       if (c.failed()) return nullptr;
       if (m == -1) return c.error("syntax error in pattern");
       if (m == -2) return c.error("'**' is not supported in patterns as of yet");
       return c.make_bool(m == 1);
     },
     false,
     "unix"},
    {"Clean",
     {kStringKind, kStringKind},
     kStringKind,
     [](CallContext& c) -> Node* { return c.make_string(rules(c, 1).clean(c.string(0))); },
     false,
     "unix"},
    {"ToSlash",
     {kStringKind, kStringKind},
     kStringKind,
     [](CallContext& c) -> Node* {
       std::string s(c.string(0));
       if (rules(c, 1).system == System::kWindows) std::replace(s.begin(), s.end(), '\\', '/');
       return c.make_string(s);
     }},
    {"FromSlash",
     {kStringKind, kStringKind},
     kStringKind,
     [](CallContext& c) -> Node* { return c.make_string(rules(c, 1).from_slash(std::string(c.string(0)))); }},
    {"Ext",
     {kStringKind, kStringKind},
     kStringKind,
     [](CallContext& c) -> Node* {
       Rules r = rules(c, 1);
       std::string_view p = c.string(0);
       for (std::size_t i = p.size(); i-- > 0 && !r.is_separator(p[i]);)
         if (p[i] == '.') return c.make_string(p.substr(i));
       return c.make_string("");
     },
     false,
     "unix"},
    {"Resolve",
     {kStringKind, kStringKind, kStringKind},
     kStringKind,
     [](CallContext& c) -> Node* {
       Rules r = rules(c, 2);
       std::string_view dir = c.string(0), sub = c.string(1);
       if (r.is_absolute(sub)) return c.make_string(r.clean(sub));
       std::string base = r.clean(dir);
       return c.make_string(r.join({base, sub}));
     },
     false,
     "unix"},
    {"Rel", {kStringKind, kStringKind, kStringKind}, kStringKind, relative, false, "unix"},
    {"Base",
     {kStringKind, kStringKind},
     kStringKind,
     [](CallContext& c) -> Node* {
       Rules r = rules(c, 1);
       std::string_view p = c.string(0);
       if (p.empty()) return c.make_string(".");
       while (!p.empty() && r.is_separator(p.back())) p.remove_suffix(1);
       p.remove_prefix(r.volume(p));
       std::size_t i = p.size();
       while (i > 0 && !r.is_separator(p[i - 1])) --i;
       p = p.substr(i);
       return c.make_string(p.empty() ? std::string(1, r.separator()) : std::string(p));
     },
     false,
     "unix"},
    {"Dir",
     {kStringKind, kStringKind},
     kStringKind,
     [](CallContext& c) -> Node* {
       Rules r = rules(c, 1);
       std::string_view p = c.string(0);
       std::string_view volume = p.substr(0, r.volume(p));
       std::string dir = r.clean(r.split(p).first.substr(volume.size()));
       if (dir == "." && volume.size() > 2) return c.make_string(volume);
       return c.make_string(std::string(volume) + dir);
     },
     false,
     "unix"},
    {"IsAbs",
     {kStringKind, kStringKind},
     kBoolKind,
     [](CallContext& c) -> Node* { return c.make_bool(rules(c, 1).is_absolute(c.string(0))); },
     false,
     "unix"},
    {"VolumeName",
     {kStringKind, kStringKind},
     kStringKind,
     [](CallContext& c) -> Node* {
       std::string_view p = c.string(0);
       return c.make_string(p.substr(0, rules(c, 1, System::kWindows).volume(p)));
     },
     false,
     "windows"},
};

const ConstantSpec kConstants[] = {{"Unix", "\"unix\""}, {"Windows", "\"windows\""}, {"Plan9", "\"plan9\""}};

}  // namespace

void add_path() { add_package("path", kFunctions, kConstants); }

}  // namespace tutti::cue
