#include "lang/cue/reference/random.h"

#include <algorithm>
#include <random>

namespace tutti::cue::kcue {

namespace {

struct Scope {
  std::vector<std::string> labels;
  int level;
};

class Generator {
 public:
  explicit Generator(u64 seed)
      : random_(seed), labels_(2 + random_() % 4), room_(4 + static_cast<int>(random_() % 18)) {}

  TermPtr literal(int items) {
    Scope scope{{}, level_};
    std::vector<bool> embedded;
    for (int i = 0; i < items; ++i) {
      embedded.push_back(chance(25));
      scope.labels.push_back(embedded.back() ? std::string() : label());
    }
    if (std::find(embedded.begin(), embedded.end(), false) == embedded.end()) {
      embedded[0] = false;
      scope.labels[0] = label();
    }
    scopes_.push_back(scope);
    std::vector<TermPtr> out;
    for (std::size_t i = 0; i < embedded.size(); ++i) {
      if (embedded[i]) {
        out.push_back(term(true));
      } else {
        ++level_;
        TermPtr inner = term(false);
        --level_;
        out.push_back(field(scope.labels[i], inner));
      }
    }
    scopes_.pop_back();
    return all(std::move(out));
  }

 private:
  u64 below(u64 n) { return random_() % n; }
  bool chance(u64 percent) { return below(100) < percent; }
  std::string label() { return std::string(1, static_cast<char>('a' + below(labels_))); }

  TermPtr term(bool embedded) {
    --room_;
    u64 pick = below(100);
    if (room_ > 0 && pick < 30) return literal(1 + static_cast<int>(below(3)));
    if (pick < 45) return projection();
    if (pick < 75)
      if (TermPtr r = name()) return r;
    if (embedded && chance(80))
      if (TermPtr r = name()) return r;
    return scalar();
  }

  TermPtr scalar() {
    static const char* const values[] = {"1", "2", "\"s\"", "true", "int", "string", "_"};
    return constant(values[chance(50) ? 0 : below(std::size(values))]);
  }

  TermPtr name() {
    std::vector<std::string> known;
    for (auto& s : scopes_)
      for (auto& l : s.labels)
        if (!l.empty()) known.push_back(l);
    if (known.empty()) return nullptr;
    std::string l = known[below(known.size())];
    for (std::size_t i = scopes_.size(); i-- > 0;) {
      auto& labels = scopes_[i].labels;
      if (std::find(labels.begin(), labels.end(), l) != labels.end()) return reference(l, level_ - scopes_[i].level);
    }
    return nullptr;
  }

  TermPtr projection() {
    std::string l = label();
    ++level_;
    TermPtr inner;
    u64 pick = below(100);
    if (room_ > 0 && pick < 20)
      inner = literal(1 + static_cast<int>(below(3)));
    else if (pick < 40)
      inner = projection();
    else
      inner = name();
    --level_;
    return inner ? project(inner, l) : scalar();
  }

  std::mt19937_64 random_;
  u64 labels_;
  int room_;
  int level_ = 0;
  std::vector<Scope> scopes_;
};

}  // namespace

TermPtr random_program(u64 seed) {
  Generator g(seed * 0x9e3779b97f4a7c15u + 1);
  return g.literal(2 + static_cast<int>(seed % 4));
}

}  // namespace tutti::cue::kcue
