#include "model/shell_quotes.h"

#include <algorithm>
#include <string>
#include <vector>

namespace tutti::model {
namespace {

class Scanner {
 public:
  explicit Scanner(std::string_view text) : t_(text) {}

  bool ends_within_quotes() {
    while (at_ < t_.size()) {
      if (in_double())
        step_in_double();
      else if (!step_plain())
        return true;
    }
    return in_double();
  }

 private:
  enum class Open : char { kDouble, kSubstitution, kBackquote };
  bool in_double() const { return !open_.empty() && open_.back() == Open::kDouble; }
  char ahead(std::size_t n) const { return at_ + n < t_.size() ? t_[at_ + n] : '\0'; }

  // A reference of ours: its own quote and words are none of the shell's.
  bool skip_reference() {
    if (t_[at_] != '$' || ahead(1) != '{' || (at_ > 0 && t_[at_ - 1] == '$')) return false;
    int depth = 0;
    for (; at_ < t_.size(); ++at_) {
      if (t_[at_] == '{') ++depth;
      if (t_[at_] == '}' && --depth == 0) return ++at_, true;
    }
    return true;
  }

  bool begin_substitution() {
    if (t_[at_] == '`') {
      bool ends = std::find(open_.begin(), open_.end(), Open::kBackquote) != open_.end();
      while (ends && open_.back() != Open::kBackquote) open_.pop_back();
      ends ? open_.pop_back() : open_.push_back(Open::kBackquote);
      ++at_;
      return true;
    }
    if (t_[at_] != '$' || ahead(1) != '(') return false;
    open_.push_back(Open::kSubstitution);
    at_ += 2;
    return true;
  }

  void step_in_double() {
    if (skip_reference() || begin_substitution()) return;
    if (t_[at_] == '\\') return void(at_ += 2);
    if (t_[at_] == '"') open_.pop_back();
    ++at_;
  }

  // False: the text ends within what began here.
  bool step_plain() {
    if (skip_reference() || begin_substitution()) return true;
    char c = t_[at_];
    bool word_begins = at_ == 0 || std::string_view(" \t\n;&|(").find(t_[at_ - 1]) != std::string_view::npos;
    if (c == '\'') return skip_past('\'');
    if (c == '#' && word_begins) return skip_past('\n');
    if (c == '<' && ahead(1) == '<' && ahead(2) != '<') return begin_document(), true;
    if (c == '\n' && !documents_.empty()) return ++at_, skip_documents();
    if (c == '"') open_.push_back(Open::kDouble);
    if (c == ')' && !open_.empty() && open_.back() == Open::kSubstitution) open_.pop_back();
    at_ += c == '\\' ? 2 : 1;
    return true;
  }

  bool skip_past(char end) {
    std::size_t found = t_.find(end, at_ + 1);
    if (found == std::string_view::npos) return false;
    at_ = end == '\n' ? found : found + 1;
    return true;
  }

  void begin_document() {
    at_ += 2;
    if (ahead(0) == '-') ++at_;
    while (ahead(0) == ' ' || ahead(0) == '\t') ++at_;
    std::string word;
    for (; at_ < t_.size() && std::string_view(" \t\n;&|<>()").find(t_[at_]) == std::string_view::npos; ++at_)
      if (std::string_view("'\"\\").find(t_[at_]) == std::string_view::npos) word += t_[at_];
    if (!word.empty()) documents_.push_back(std::move(word));
  }

  bool skip_documents() {
    for (const std::string& end : documents_)
      for (bool over = false; !over;) {
        std::size_t line_end = t_.find('\n', at_);
        if (line_end == std::string_view::npos) return false;
        std::string_view line = t_.substr(at_, line_end - at_);
        while (line.starts_with('\t')) line.remove_prefix(1);
        over = line == end;
        at_ = line_end + 1;
      }
    documents_.clear();
    return true;
  }

  std::string_view t_;
  std::size_t at_ = 0;
  std::vector<Open> open_;
  std::vector<std::string> documents_;  // here-documents that begin with the next line, by the words that end them
};

}  // namespace

bool is_within_quotes(std::string_view before) { return Scanner(before).ends_within_quotes(); }

}  // namespace tutti::model
