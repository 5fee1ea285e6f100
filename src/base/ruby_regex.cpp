#include "base/ruby_regex.h"

#include <oniguruma.h>

#include <memory>
#include <unordered_map>

#include "base/budget.h"
#include "base/library.h"

namespace tutti {
namespace {

// The functions of Oniguruma that we call, loaded with the first regular expression.
struct Oniguruma {
#define TUTTI_ONIGURUMA(F)           \
  F(onig_error_code_to_str)          \
  F(onig_free)                       \
  F(onig_initialize)                 \
  F(onig_name_to_backref_number)     \
  F(onig_number_of_names)            \
  F(onig_new)                        \
  F(onig_null_warn)                  \
  F(onig_number_of_captures)         \
  F(onig_region_new)                 \
  F(onig_search)                     \
  F(onig_set_match_stack_limit_size) \
  F(onig_set_retry_limit_in_match)   \
  F(onig_set_verb_warn_func)         \
  F(onig_set_warn_func)
#define F(name) decltype(&::name) name;
  TUTTI_ONIGURUMA(F)
#undef F
  OnigEncoding utf8;
  OnigSyntaxType* ruby;
};

Oniguruma load() {
  Library library("libonig.so.5", "PP-LIBRARY", "regular expressions cannot be matched");
  Oniguruma o;
#define F(name) library.find(#name, o.name);
  TUTTI_ONIGURUMA(F)
#undef F
  library.find("OnigEncodingUTF8", o.utf8);
  library.find("OnigSyntaxRuby", o.ruby);
  o.onig_initialize(&o.utf8, 1);
  o.onig_set_retry_limit_in_match(2'000'000);
  o.onig_set_match_stack_limit_size(4'000'000);
  o.onig_set_warn_func(o.onig_null_warn);
  o.onig_set_verb_warn_func(o.onig_null_warn);
  return o;
}

const Oniguruma& engine() {
  static const Oniguruma loaded = load();
  return loaded;
}

struct Hash {
  using is_transparent = void;
  std::size_t operator()(std::string_view s) const { return std::hash<std::string_view>{}(s); }
};
struct Cached {
  std::unique_ptr<Regex> regex;
  std::string error;
};

}  // namespace

// In Ruby \w, \d and \s are about ASCII, while [[:word:]], [[:digit:]], [[:space:]] and \b are about Unicode. The
// options of this engine change both, so the short forms are written out.
static std::string with_ruby_classes(std::string_view pattern) {
  std::string out;
  for (std::size_t i = 0; i < pattern.size(); i++) {
    if (pattern[i] != '\\' || i + 1 == pattern.size()) {
      out += pattern[i];
      continue;
    }
    switch (pattern[++i]) {
      case 'w': out += "[a-zA-Z0-9_]"; break;
      case 'W': out += "[^a-zA-Z0-9_]"; break;
      case 'd': out += "[0-9]"; break;
      case 'D': out += "[^0-9]"; break;
      case 's': out += "[ \\t\\r\\n\\f\\v]"; break;
      case 'S': out += "[^ \\t\\r\\n\\f\\v]"; break;
      default: out += {'\\', pattern[i]};
    }
  }
  return out;
}

const Regex* Regex::get(std::string_view pattern, std::string* error) {
  thread_local std::unordered_map<std::string, Cached, Hash, std::equal_to<>> cache;
  auto it = cache.find(pattern);
  if (it == cache.end()) {
    if (cache.size() > 20'000) cache.clear();
    Cached c;
    std::string written = with_ruby_classes(pattern);
    const auto* from = reinterpret_cast<const OnigUChar*>(written.data());
    regex_t* compiled = nullptr;
    OnigErrorInfo info;
    int r = engine().onig_new(&compiled, from, from + written.size(), ONIG_OPTION_CAPTURE_GROUP, engine().utf8,
                              engine().ruby, &info);
    if (r != ONIG_NORMAL) {
      OnigUChar text[ONIG_MAX_ERROR_MESSAGE_LEN];
      int n = engine().onig_error_code_to_str(text, r, &info);
      c.error.assign(reinterpret_cast<char*>(text), static_cast<std::size_t>(n));
    } else {
      c.regex.reset(new Regex);
      c.regex->regex_ = compiled;
    }
    it = cache.emplace(std::string(pattern), std::move(c)).first;
  }
  if (!it->second.regex && error) *error = it->second.error;
  return it->second.regex.get();
}

bool Regex::search(std::string_view text, std::size_t from, Groups* groups) const {
  static const char kEmpty[1] = {0};
  const auto* begin = reinterpret_cast<const OnigUChar*>(text.data() ? text.data() : kEmpty);
  thread_local OnigRegion* region = engine().onig_region_new();
  int r = engine().onig_search(static_cast<regex_t*>(regex_), begin, begin + text.size(), begin + from,
                               begin + text.size(), region, ONIG_OPTION_NONE);
  if (r == ONIG_MISMATCH) return false;
  if (r < 0) throw LimitError("PP-LIMIT-REGEX", "a regular expression took too many steps to match");
  if (groups) {
    groups->clear();
    for (int n = 0; n < region->num_regs; ++n) {
      groups->push_back(region->beg[n]);
      groups->push_back(region->end[n]);
    }
  }
  return true;
}

int Regex::group_count() const { return engine().onig_number_of_captures(static_cast<regex_t*>(regex_)); }

bool Regex::has_names() const { return engine().onig_number_of_names(static_cast<regex_t*>(regex_)) > 0; }

int Regex::group_number(std::string_view name) const {
  const auto* from = reinterpret_cast<const OnigUChar*>(name.data());
  int n = engine().onig_name_to_backref_number(static_cast<regex_t*>(regex_), from, from + name.size(), nullptr);
  return n > 0 ? n : -1;
}

Regex::~Regex() {
  if (regex_) engine().onig_free(static_cast<regex_t*>(regex_));
}

std::string regexp_escape(std::string_view s) {
  std::string out;
  for (char ch : s) {
    switch (ch) {
      case '\n': out += "\\n"; break;
      case '\t': out += "\\t"; break;
      case '\r': out += "\\r"; break;
      case '\f': out += "\\f"; break;
      case '\v': out += "\\v"; break;
      default:
        if (std::string_view(" #$()*+-.?[\\]^{|}").find(ch) != std::string_view::npos) out += '\\';
        out += ch;
    }
  }
  return out;
}

}  // namespace tutti
