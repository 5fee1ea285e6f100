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
                                  {"p1", "p2", "q", "r", "s", "t", "u"}};
    names_ = kSets[below(4)];
    root_.component = true;
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
      if (auto ref = reference(ns, chance(50))) {
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
    u64 count = 1 + below(3);
    for (u64 i = 0; i < count; i++) {
      if (i > 0) text_ += ", ";
      bool merge = options_.merge && chance(30);
      if (merge) text_ += "merge(";
      bool outer = merging_;
      merging_ |= merge;
      std::optional<std::string> ref;
      if (chance(45)) ref = reference(ns, true);
      if (ref) {
        text_ += *ref;
        Shadow copied = found_ && root_.size() + found_->size() < 3000 ? *found_ : Shadow{};
        if (Shadow* t = at(target)) inherit(*t, copied);
      } else {
        text_ += "{\n";
        u64 n = depth > 5 ? 0 : below(5);
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
    switch (below(depth > 2 ? 6 : 7)) {
      case 0: return "true";
      case 1: return "NULL";
      case 2: return std::to_string(static_cast<i64>(below(200000)) - 100000);
      case 3: return "DATA " + name() + (chance(50) ? ":" + name() : "");
      case 4: return "\"text with \\\"quotes\\\" // and more\"";
      case 5: return std::to_string(below(1000)) + "." + std::to_string(below(1000));
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
  int left_ = 0;
  std::string text_;
};

}  // namespace

std::string random_spec(const RandomSpec& options) { return Writer(options).write(); }

}  // namespace tutti::smartfrog::reference
