#include "lang/puppet/types/regex.h"

#include <oniguruma.h>

#include <memory>
#include <mutex>
#include <unordered_map>

#include "base/budget.h"

namespace tutti::puppet {
namespace {

struct Hash {
  using is_transparent = void;
  std::size_t operator()(std::string_view s) const { return std::hash<std::string_view>{}(s); }
};
struct Cached {
  std::unique_ptr<Regex> regex;
  std::string error;
};

void start_engine() {
  static std::once_flag once;
  std::call_once(once, [] {
    OnigEncoding encodings[] = {ONIG_ENCODING_UTF8};
    onig_initialize(encodings, 1);
    onig_set_retry_limit_in_match(2'000'000);
    onig_set_match_stack_limit_size(4'000'000);
    onig_set_warn_func(onig_null_warn);
    onig_set_verb_warn_func(onig_null_warn);
  });
}

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
    start_engine();
    if (cache.size() > 20'000) cache.clear();
    Cached c;
    std::string written = with_ruby_classes(pattern);
    const auto* from = reinterpret_cast<const OnigUChar*>(written.data());
    regex_t* compiled = nullptr;
    OnigErrorInfo info;
    int r = onig_new(&compiled, from, from + written.size(), ONIG_OPTION_CAPTURE_GROUP, ONIG_ENCODING_UTF8,
                     ONIG_SYNTAX_RUBY, &info);
    if (r != ONIG_NORMAL) {
      OnigUChar text[ONIG_MAX_ERROR_MESSAGE_LEN];
      int n = onig_error_code_to_str(text, r, &info);
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
  thread_local OnigRegion* region = onig_region_new();
  int r = onig_search(static_cast<regex_t*>(regex_), begin, begin + text.size(), begin + from, begin + text.size(),
                      region, ONIG_OPTION_NONE);
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

int Regex::group_count() const { return onig_number_of_captures(static_cast<regex_t*>(regex_)); }

int Regex::group_number(std::string_view name) const {
  const auto* from = reinterpret_cast<const OnigUChar*>(name.data());
  int n = onig_name_to_backref_number(static_cast<regex_t*>(regex_), from, from + name.size(), nullptr);
  return n > 0 ? n : -1;
}

Regex::~Regex() {
  if (regex_) onig_free(static_cast<regex_t*>(regex_));
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

}  // namespace tutti::puppet
