#pragma once

#include <optional>
#include <vector>

#include "model/component.h"

// Behaviours as words over the stable markings of one type: what a behaviour leads to, and which behaviours lead where.
namespace tutti::engine {

using model::Marking;

struct Passage {
  Marking end;               // where the tokens are when the behaviour is finished, taking first outcomes
  std::vector<u32> visited;  // all places that were left or entered on the way, without the start
  std::vector<u32> fired;    // transitions that were run
  bool moved = false;
  bool finishes = true;  // nothing waits for ever for others to end
};

// What behaviour b does from the marking, ports not considered.
Passage pass(const model::ComponentType& type, const Marking& from, u32 behaviour);

// Whether a port is active in a marking.
bool active(const model::ComponentType& type, const Marking& marking, u32 port);

// Whether a provide port that is active in `from` is dropped somewhere on the way through the word.
bool drops(const model::ComponentType& type, const Marking& from, const std::vector<u32>& word, u32 port);

// The first place without the port on the way through the word, where one token takes it; kNone where there is none.
u32 first_without(const model::ComponentType& type, const Marking& from, const std::vector<u32>& word, u32 port);

// The shortest word (fewest seconds, then fewest behaviours) from one marking to one that satisfies the goal.
template <class Goal>
std::optional<std::vector<u32>> word_to(const model::ComponentType& type, const Marking& from, Goal goal);

Marking run_word(const model::ComponentType& type, Marking from, const std::vector<u32>& word);

// ---- implementation of the template

struct WordSearch {
  const model::ComponentType& type;
  struct Node {
    Marking marking;
    double cost = 0;
    std::vector<u32> word;
  };
  std::vector<Node> expand(const Node& n) const;
};

template <class Goal>
std::optional<std::vector<u32>> word_to(const model::ComponentType& type, const Marking& from, Goal goal) {
  WordSearch search{type};
  std::vector<WordSearch::Node> open{{from, 0, {}}};
  std::vector<Marking> closed;
  while (!open.empty()) {
    std::size_t best = 0;
    for (std::size_t i = 1; i < open.size(); ++i)
      if (open[i].cost < open[best].cost) best = i;
    WordSearch::Node n = open[best];
    open.erase(open.begin() + static_cast<std::ptrdiff_t>(best));
    bool seen = false;
    for (auto& c : closed) seen = seen || c == n.marking;
    if (seen) continue;
    if (goal(n.marking)) return n.word;
    closed.push_back(n.marking);
    if (closed.size() > 1000) return std::nullopt;
    for (auto& next : search.expand(n)) open.push_back(std::move(next));
  }
  return std::nullopt;
}

}  // namespace tutti::engine
