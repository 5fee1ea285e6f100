#pragma once

// What random campaigns share: how many rounds and from which seed (TUTTI_ROUNDS and TUTTI_SEED say otherwise than the
// test does, so that the same test is a quick check and a night's campaign), a system as text, to be read in a failure,
// and a tally of what was made. A campaign prints its tally and fails when a shape it is about hardly occurs: a
// generator whose systems are nearly all refused, or never get stuck, would find nothing and look fine.
#include <fmt/format.h>

#include <cstdlib>
#include <map>
#include <string>

#include "model/system.h"

namespace tutti::engine {

inline u64 rounds(u64 usual) {
  const char* wanted = std::getenv("TUTTI_ROUNDS");
  return wanted ? std::strtoull(wanted, nullptr, 10) : usual;
}
inline u64 first_seed() {
  const char* wanted = std::getenv("TUTTI_SEED");
  return wanted ? std::strtoull(wanted, nullptr, 10) : 1;
}

inline std::string text_of(const model::System& s) {
  std::string t;
  for (const auto& type : s.types) {
    t += fmt::format("type {}\n", type->name.text());
    for (const auto& k : type->transitions) {
      t += fmt::format("  {} {} ->", k.name.text(), type->places[k.source].name.text());
      for (const auto& o : type->outcomes_of(k)) t += fmt::format(" {}", type->stations[o.station].name.text());
      t += "\n";
    }
    for (const auto& p : type->ports) {
      t += fmt::format("  {} {}:", p.provide ? "provide" : "use", p.name.text());
      for (u32 x : p.places) t += fmt::format(" {}", type->places[x].name.text());
      t += "\n";
    }
  }
  for (const auto& i : s.instances) {
    t += fmt::format("{} : {} at", i.name.text(), s.types[i.type]->name.text());
    for (u32 e : i.marking) t += fmt::format(", {}", s.types[i.type]->element_name(e));
    t += "\n";
  }
  for (const auto& l : s.links)
    t += fmt::format("{} -> {}\n", s.port_text(l.user, l.use), s.port_text(l.provider, l.provide));
  for (const auto& in : s.program) t += s.instruction_text(in) + "\n";
  return t;
}

class Tally {
 public:
  explicit Tally(std::string_view campaign) : campaign_(campaign) {}
  ~Tally() {
    std::string t = fmt::format("{}: {} systems", campaign_, made_);
    for (const auto& [what, n] : counts_) t += fmt::format(", {} {} ({:.1f} %)", what, n, share(what));
    fmt::print("{}\n", t);
  }
  void made() { ++made_; }
  void count(const std::string& what, bool really = true) { counts_[what] += really; }
  double share(const std::string& what) {
    return made_ ? 100.0 * static_cast<double>(counts_[what]) / static_cast<double>(made_) : 0;
  }
  u64 of(const std::string& what) { return counts_[what]; }

 private:
  std::string campaign_;
  u64 made_ = 0;
  std::map<std::string, u64> counts_;
};

}  // namespace tutti::engine
