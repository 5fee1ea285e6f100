// What the generator makes: fields of one to four letters' labels, the same label several times, references to every
// scope around (the place itself included), projections from names, projections and literals, embeddings of names, of
// projections, of literals that have scopes of their own at the same place, and of constants; every kind of constant,
// bottom included; nestings of some tens of levels now and then, programs of two to some sixty terms. What it does not
// make: labels in quotes (K-CUE has one kind of label) and structs without fields (it has no value for them).
#include "lang/cue/reference/random.h"

#include <algorithm>
#include <random>

namespace tutti::cue::kcue {

namespace {

struct Scope {
  std::vector<std::string> labels;
  int level;
};

// Of five programs in six, labels keep to kinds: the first ones are of scalars, each of one type, the others of
// structs, each with some members of its own. Such programs mostly have a value; the others are mostly contradictory.
class Generator {
 public:
  explicit Generator(u64 seed)
      : random_(seed), labels_(2 + random_() % 4), kinds_kept_(random_() % 6 != 0), room_(4 + random_() % 18) {
    if (below(25) == 0) room_ = 60;
    deep_ = below(30) == 0;
    if (kinds_kept_) labels_ = std::max<u64>(labels_, 3);
    scalars_ = kinds_kept_ ? 1 + below(2) : 0;
    for (u64 i = 0; i < labels_; ++i) {
      members_.emplace_back();
      for (u64 n = 1 + below(3); n > 0; --n) members_[i].push_back(name_of(below(labels_)));
    }
  }

  TermPtr program(int items) {
    std::vector<std::string> any;
    for (u64 i = 0; i < labels_; ++i) any.push_back(name_of(i));
    return literal(items, any);
  }

 private:
  u64 below(u64 n) { return random_() % n; }
  bool chance(u64 percent) { return below(100) < percent; }
  template <class T>
  const T& one_of(const std::vector<T>& list) {
    return list[below(list.size())];
  }
  static std::string name_of(u64 i) { return std::string(1, static_cast<char>('a' + i)); }
  static u64 index_of(const std::string& label) { return static_cast<u64>(label[0] - 'a'); }
  std::string label() { return name_of(below(labels_)); }
  bool scalar_label(const std::string& l) const { return index_of(l) < scalars_; }
  const std::vector<std::string>& members(const std::string& of) const { return members_[index_of(of)]; }

  TermPtr literal(int items, const std::vector<std::string>& from) {
    Scope scope{{}, level_};
    std::vector<bool> embedded;
    for (int i = 0; i < items; ++i) {
      embedded.push_back(i > 0 && chance(25));
      scope.labels.push_back(embedded.back() ? std::string() : chance(90) ? one_of(from) : label());
    }
    scopes_.push_back(scope);
    std::vector<TermPtr> out;
    for (std::size_t i = 0; i < embedded.size(); ++i) {
      if (embedded[i]) {
        out.push_back(embedding());
      } else {
        ++level_;
        TermPtr inner = term(scope.labels[i], false);
        --level_;
        out.push_back(field(scope.labels[i], inner));
      }
    }
    scopes_.pop_back();
    return all(std::move(out));
  }

  TermPtr embedding() {
    std::string of = name_of(scalars_ + below(labels_ - scalars_));
    if (room_ > 0 && chance(20)) {
      --room_;
      return struct_for(of);
    }
    return chance(2) ? scalar(label()) : term(of, true);
  }

  TermPtr struct_for(const std::string& of) {
    if (deep_) return literal(1, members(of));
    return literal(1 + static_cast<int>(below(3)), members(of));
  }

  // A value for a field of this label, or for an embedding of what such a field may hold.
  TermPtr term(const std::string& of, bool embedded) {
    if (room_ > 0) --room_;
    u64 pick = below(100);
    bool want_struct = kinds_kept_ && !scalar_label(of);
    if (deep_ && room_ > 0 && pick < 80) return struct_for(of);
    if (room_ > 0 && pick < (want_struct ? 45 : 30) && !scalar_label(of)) return struct_for(of);
    if (pick < 54)
      if (TermPtr p = projection(of)) return p;
    if (pick < 70 || embedded || want_struct)
      if (TermPtr r = name(of)) return r;
    if (want_struct) return room_ > 0 ? struct_for(of) : constant("_");
    return scalar(of);
  }

  TermPtr scalar(const std::string& of) {
    static const std::vector<std::string> kAny{"1",     "1",    "1",   "1",      "1", "1",    "1",    "2",
                                               "\"s\"", "true", "int", "string", "_", "bool", "false"};
    if (chance(1) && chance(40)) return constant("_|_");
    static const std::vector<std::string> kNumber{"1", "1", "1", "int", "_"}, kText{"\"s\"", "\"s\"", "string", "_"};
    return constant(one_of(!kinds_kept_ || chance(3) ? kAny : index_of(of) == 0 ? kNumber : kText));
  }

  bool fits(const std::string& name, const std::string& of) const {
    if (!kinds_kept_) return true;
    return scalar_label(of) || scalar_label(name) ? name == of : true;
  }

  // A reference to something that a field of this label may hold.
  TermPtr name(const std::string& of) {
    std::vector<std::string> known;
    for (auto& s : scopes_)
      for (auto& l : s.labels)
        if (!l.empty() && fits(l, of)) known.push_back(l);
    return known.empty() ? nullptr : reference_to(one_of(known));
  }

  TermPtr reference_to(const std::string& l) {
    for (std::size_t i = scopes_.size(); i-- > 0;) {
      auto& labels = scopes_[i].labels;
      if (std::find(labels.begin(), labels.end(), l) != labels.end()) return reference(l, level_ - scopes_[i].level);
    }
    return nullptr;
  }

  TermPtr projection(const std::string& of) {
    // what has such a member
    std::string l = kinds_kept_ ? of : label();
    if (kinds_kept_ && !scalar_label(of)) l = name_of(scalars_ + below(labels_ - scalars_));
    std::vector<std::string> holders;
    for (u64 i = scalars_; i < labels_; ++i)
      if (!kinds_kept_ || std::find(members_[i].begin(), members_[i].end(), l) != members_[i].end())
        holders.push_back(name_of(i));
    if (holders.empty()) return nullptr;
    ++level_;
    TermPtr inner;
    u64 pick = below(100);
    const std::string& holder = one_of(holders);
    if (room_ > 0 && pick < 20) {
      --room_;
      inner = struct_for(holder);
    } else if (pick < 35) {
      inner = projection(holder);
    } else {
      inner = kinds_kept_ && chance(80) ? reference_to(holder) : nullptr;
      if (!inner) inner = name(holder);
    }
    --level_;
    return inner ? project(inner, l) : nullptr;
  }

  std::mt19937_64 random_;
  u64 labels_;
  bool kinds_kept_;
  u64 room_;
  bool deep_ = false;
  u64 scalars_ = 0;
  int level_ = 0;
  std::vector<std::vector<std::string>> members_;  // by label: what its structs are likely to have
  std::vector<Scope> scopes_;
};

}  // namespace

TermPtr random_program(u64 seed) {
  Generator g(seed * 0x9e3779b97f4a7c15u + 1);
  return g.program(2 + static_cast<int>(seed % 4));
}

}  // namespace tutti::cue::kcue
