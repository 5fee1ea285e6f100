// What the generator makes: prototypes in any order and number, the same one several times, blocks between them, empty
// ones; self, ancestor and descendant prototypes; links, also to what they lie in (a copy of the ancestor as it is
// now); placements as deep as there are components, into what was inherited, into what was a component and is none any
// more, through basic values; attributes overwritten by another kind of thing; `sfConfig` within components and
// overwritten; every kind of basic value, lists in lists; names that begin alike; comments; now and then a nesting of
// some tens of levels or a block of hundreds of attributes. Errors 1, 2, 4, 5 and 7; error 3 has no syntax. What it
// does not make: includes (a matter of files), what is beyond the paper (order rules, secrets).
#include "lang/smartfrog/reference/random_spec.h"

#include <map>
#include <optional>
#include <random>
#include <vector>

namespace tutti::smartfrog::reference {
namespace {

// What the generator believes the store to be. Only names and whether they are components matter.
struct Shadow {
  bool component = false;
  std::map<std::string, Shadow> inside;
  std::size_t size() const {
    std::size_t n = 1;
    for (const auto& [name, s] : inside) n += s.size();
    return n;
  }
};

using Names = std::vector<std::string>;

class Writer {
 public:
  explicit Writer(const RandomSpec& o) : options_(o), random_(o.seed) {
    static const Names kSets[] = {{"a", "b", "c", "d"},
                                  {"x", "y", "z", "sfConfig"},
                                  {"web", "host", "port", "dns", "user"},
                                  {"p1", "p2", "q", "r", "s", "t", "u"},
                                  {"a_b", "a1", "aB", "A", "a"},
                                  {"a", "sfConfig"}};
    names_ = kSets[below(6)];
    root_.component = true;
    deep_ = below(40) == 0 ? 10 + static_cast<u32>(below(40)) : 5;
    widest_ = below(25) == 0 ? 200 : 5;
  }

  std::string write() {
    left_ = static_cast<int>(options_.statements);
    Names ns;
    while (left_ > 0) statement(ns, 0);
    bool config = root_.inside.contains("sfConfig") && root_.inside["sfConfig"].component;
    if (!config && !chance(options_.errors_percent)) {
      indent(0);
      assignment({}, {"sfConfig"}, 0, true);
    }
    return text_;
  }

 private:
  u64 below(u64 n) { return random_() % n; }
  bool chance(u32 percent) { return below(100) < percent; }
  void indent(u32 depth) { text_.append(depth * 2, ' '); }
  const std::string& name() { return names_[below(names_.size())]; }

  Shadow* at(const Names& path) {
    Shadow* s = &root_;
    for (const std::string& n : path) {
      auto it = s->inside.find(n);
      if (it == s->inside.end()) return nullptr;
      s = &it->second;
    }
    return s;
  }

  void statement(const Names& ns, u32 depth) {
    left_--;
    if (below(60) == 0) text_ += below(2) ? "/* { extends ; */\n" : "// a extends b, {\n";
    indent(depth);
    Names path{ns.empty() && chance(25) ? "sfConfig" : name()};
    if (chance(25)) {  // a placement, as deep as there are components
      Shadow* here = at(ns);
      Names walk;
      for (int i = 0; i < 4 && here; i++) {
        Names inner;
        for (auto& [n, s] : here->inside)
          if (s.component) inner.push_back(n);
        if (inner.empty() || chance(30)) break;
        walk.push_back(inner[below(inner.size())]);
        here = &here->inside[walk.back()];
      }
      if (chance(options_.errors_percent)) walk.push_back(name());
      walk.push_back(name());
      path = walk;
    }
    assignment(ns, path, depth, false);
  }

  void assignment(const Names& ns, const Names& path, u32 depth, bool component) {
    for (std::size_t i = 0; i < path.size(); i++) text_ += (i ? ":" : "") + path[i];
    Names full = ns;
    full.insert(full.end(), path.begin(), path.end());
    Names parent(full.begin(), full.end() - 1);
    u64 kind = component ? 0 : below(10);
    if (kind < 4) {
      text_ += " extends ";
      if (Shadow* p = at(parent); p && p->component) {
        if (!merging_ || !p->inside[full.back()].component) p->inside[full.back()] = Shadow{true, {}};
      }
      prototypes(ns, full, depth);
      text_ += "\n";
      return;
    }
    if (kind < 6) {
      if (auto ref = chance(6) ? around(full) : reference(ns, chance(50))) {
        text_ += " " + *ref + ";\n";
        Shadow copied = found_ && root_.size() + found_->size() < 3000 ? *found_ : Shadow{};
        if (Shadow* p = at(parent); p && p->component) p->inside[full.back()] = copied;
        return;
      }
    }
    text_ += " " + basic(0) + ";\n";
    if (Shadow* p = at(parent); p && p->component) p->inside[full.back()] = Shadow{};
  }

  void prototypes(const Names& ns, const Names& target, u32 depth) {
    u64 count = 1 + below(below(12) == 0 ? 7 : 3);
    std::string again;
    Shadow again_means;
    for (u64 i = 0; i < count; i++) {
      if (i > 0) text_ += ", ";
      bool merge = options_.merge && chance(30);
      if (merge) text_ += "merge(";
      bool outer = merging_;
      merging_ |= merge;
      std::optional<std::string> ref;
      if (!again.empty() && chance(15)) {  // once more: what was between is overridden
        ref = again;
        found_ = &again_means;
      } else if (chance(8)) {
        ref = around(target);  // the component itself, or one that it lies in
      } else if (chance(45)) {
        ref = reference(ns, true);
      }
      if (ref) {
        again = *ref;
        again_means = found_ && found_->size() < 200 ? *found_ : Shadow{};
        text_ += *ref;
        Shadow copied = found_ && root_.size() + found_->size() < 3000 ? *found_ : Shadow{};
        if (Shadow* t = at(target)) inherit(*t, copied);
      } else {
        text_ += "{\n";
        u64 n = depth > deep_ ? 0 : deep_ > 5 ? 1 + below(2) : below(widest_);
        while (n-- > 0 && left_ > 0) statement(target, depth + 1);
        indent(depth);
        text_ += "}";
      }
      merging_ = outer;
      if (merge) text_ += ")";
    }
  }

  void inherit(Shadow& to, const Shadow& from) {
    for (const auto& [n, s] : from.inside) {
      auto it = to.inside.find(n);
      if (merging_ && it != to.inside.end() && it->second.component && s.component)
        inherit(it->second, s);
      else
        to.inside[n] = s;
    }
  }

  // The name of the target or of something around it: an ancestor as prototype, or as what a link copies.
  std::optional<std::string> around(const Names& target) {
    std::size_t k = 1 + below(target.size());
    std::string text;
    for (std::size_t i = 0; i < k; i++) text += (i ? ":" : "") + target[i];
    found_ = at(Names(target.begin(), target.begin() + static_cast<std::ptrdiff_t>(k)));
    if (!found_ || !found_->component) return std::nullopt;
    return text;
  }

  // A reference to something that resolves from the namespace; `found_` is what it means.
  std::optional<std::string> reference(const Names& ns, bool component) {
    if (chance(options_.errors_percent)) {
      found_ = nullptr;
      return name() + (chance(40) ? ":" + name() : "");
    }
    for (int attempt = 0; attempt < 6; attempt++) {
      Names scope(ns.begin(), ns.begin() + static_cast<std::ptrdiff_t>(below(ns.size() + 1)));
      Shadow* s = at(scope);
      Names path;
      while (s && !s->inside.empty() && (path.empty() || chance(45))) {
        auto it = s->inside.begin();
        std::advance(it, static_cast<std::ptrdiff_t>(below(s->inside.size())));
        if (!path.empty() && component && !it->second.component) break;
        path.push_back(it->first);
        s = &it->second;
      }
      if (path.empty()) continue;
      // What it means is the innermost that has the whole path.
      Shadow* meant = nullptr;
      for (std::size_t k = ns.size() + 1; k-- > 0 && !meant;) {
        Names whole(ns.begin(), ns.begin() + static_cast<std::ptrdiff_t>(k));
        whole.insert(whole.end(), path.begin(), path.end());
        meant = at(whole);
      }
      if (!meant || (component && !meant->component)) continue;
      found_ = meant;
      std::string text;
      for (const std::string& n : path) text += (text.empty() ? "" : ":") + n;
      return text;
    }
    return std::nullopt;
  }

  std::string basic(int depth) {
    static const char* const kStrings[] = {"\"\"", "\"text with \\\"quotes\\\" // and more\"", "\"a\\nb\\\\\"",
                                           "\"sfConfig extends { }\"", "\"\xc3\xa4\xe2\x88\x85\""};
    switch (below(depth > 3 ? 6 : 7)) {
      case 0: return below(2) ? "true" : "false";
      case 1: return "NULL";
      case 2: return std::to_string(static_cast<i64>(below(200000)) - 100000);
      case 3: return "DATA " + name() + (chance(50) ? ":" + name() : "");
      case 4: return kStrings[below(5)];
      case 5: return (below(3) ? "" : "-") + std::to_string(below(1000)) + "." + std::to_string(below(1000));
      default: {
        std::string v = "[";
        u64 n = below(4);
        for (u64 i = 0; i < n; i++) v += (i ? ", " : "") + basic(depth + 1);
        return v + "]";
      }
    }
  }

  RandomSpec options_;
  std::mt19937_64 random_;
  Names names_;
  Shadow root_;
  Shadow* found_ = nullptr;
  bool merging_ = false;
  u32 deep_ = 5, widest_ = 5;
  int left_ = 0;
  std::string text_;
};

}  // namespace

std::string random_spec(const RandomSpec& options) { return Writer(options).write(); }

}  // namespace tutti::smartfrog::reference
