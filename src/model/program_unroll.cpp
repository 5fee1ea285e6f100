#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <unordered_map>

#include "base/near.h"
#include "model/program.h"

namespace tutti::model {

namespace {

// Loops unrolled, calls copied in (R12), names resolved. Which instances are there and how they are linked at a point
// of the program follows from the instructions before it, so all of that is checked here, before anything runs.
class Unroller {
  static constexpr std::size_t kMostInstructions = 10'000'000;  // half a gigabyte of them

 public:
  Unroller(Session& session, const Programs& programs, const std::map<std::string, i64>& parameters, System& system)
      : session_(session), programs_(programs), system_(system) {
    for (const auto& [name, value] : parameters) variables_[name] = std::to_string(value);
    for (u32 i = 0; i < system.types.size(); ++i) types_.emplace(system.types[i]->name, i);
    for (u32 i = 0; i < system.instances.size(); ++i)
      if (system.instances[i].present) present_.emplace(system.instances[i].name, i);
    for (const Link& l : system.links) linked_.emplace(u64{l.user} << 32 | l.use, system.instances[l.user].at);
    pushes_.resize(system.instances.size());
    last_push_.resize(system.instances.size());
  }

  bool run(const std::string& main) {
    std::size_t before = session_.diagnostics.errors();
    call(main, {});
    return session_.diagnostics.errors() == before;
  }

 private:
  // ---- names

  std::optional<i64> number(std::string_view text, Pos at) {
    std::size_t i = 0;
    auto value = sum(text, i, at);
    if (value && skip(text, i) < text.size()) value = std::nullopt;
    return value;
  }

  static std::size_t skip(std::string_view t, std::size_t& i) {
    while (i < t.size() && t[i] == ' ') ++i;
    return i;
  }

  std::optional<i64> sum(std::string_view t, std::size_t& i, Pos at) {
    auto left = product(t, i, at);
    while (left && skip(t, i) < t.size() && (t[i] == '+' || t[i] == '-')) {
      char op = t[i++];
      auto right = product(t, i, at);
      if (!right) return std::nullopt;
      i64 r = 0;
      if (op == '+' ? __builtin_add_overflow(*left, *right, &r) : __builtin_sub_overflow(*left, *right, &r))
        return std::nullopt;
      left = r;
    }
    return left;
  }

  std::optional<i64> product(std::string_view t, std::size_t& i, Pos at) {
    auto left = atom(t, i, at);
    while (left && skip(t, i) < t.size() && t[i] == '*') {
      ++i;
      auto right = atom(t, i, at);
      i64 r = 0;
      if (!right || __builtin_mul_overflow(*left, *right, &r)) return std::nullopt;
      left = r;
    }
    return left;
  }

  std::optional<i64> atom(std::string_view t, std::size_t& i, Pos) {
    skip(t, i);
    std::size_t from = i;
    while (i < t.size() && (std::isalnum(static_cast<unsigned char>(t[i])) || t[i] == '_')) ++i;
    std::string_view w = t.substr(from, i - from);
    i64 value = 0;
    auto [end, error] = std::from_chars(w.data(), w.data() + w.size(), value);
    if (error == std::errc() && end == w.data() + w.size() && !w.empty()) return value;
    auto it = variables_.find(std::string(w));
    if (it == variables_.end()) return std::nullopt;
    const std::string& bound = it->second;
    auto [e2, err2] = std::from_chars(bound.data(), bound.data() + bound.size(), value);
    if (err2 != std::errc() || e2 != bound.data() + bound.size()) return std::nullopt;
    return value;
  }

  // The names a word may mean, best first. {e} is replaced by the value of e. A subscript, `dep_i` with i bound, is
  // dep1 as in the paper's figures, or dep_1, whichever exists; `dep_i` itself if that exists.
  std::vector<std::string> names(const Word& w) {
    std::string text;
    for (std::size_t i = 0; i < w.text.size();) {
      if (w.text[i] != '{') {
        text += w.text[i++];
        continue;
      }
      std::size_t close = w.text.find('}', i);
      if (close == std::string::npos) close = w.text.size();
      std::string inside = w.text.substr(i + 1, close - i - 1);
      if (auto v = variables_.find(inside); v != variables_.end()) {
        text += v->second;
      } else if (auto n = number(inside, w.at)) {
        text += std::to_string(*n);
      } else {
        session_.diagnostics.error("PROGRAM-UNKNOWN-VARIABLE", w.at, fmt::format("`{}` is not a number here", inside))
            .suggest("give it a value in `parameters` or with --set " + inside + "=...");
        return {};
      }
      i = close + 1;
    }
    std::vector<std::string> all;
    auto bar = text.rfind('_');
    if (bar != std::string::npos && bar > 0) {
      std::string tail = text.substr(bar + 1);
      if (auto v = variables_.find(tail); v != variables_.end()) {
        all.push_back(text.substr(0, bar) + v->second);
        all.push_back(text.substr(0, bar) + "_" + v->second);
        all.push_back(text);
        all.push_back(text.substr(0, bar));
        return all;
      }
    }
    if (auto v = variables_.find(text); v != variables_.end()) all.push_back(v->second);
    all.push_back(text);
    return all;
  }

  template <class Map>
  u32 resolve(const Word& w, const Map& map, std::string_view what) {
    std::vector<std::string> all = names(w);
    if (all.empty()) return kNone;
    for (const std::string& n : all)
      if (auto it = map.find(Symbol(n)); it != map.end()) return it->second;
    std::vector<std::string_view> known;
    for (const auto& [name, index] : map) known.push_back(name.text());
    std::sort(known.begin(), known.end());
    auto& d =
        session_.diagnostics.error("PROGRAM-UNKNOWN-NAME", w.at, fmt::format("there is no {} `{}` here", what, all[0]));
    d.did_you_mean(nearest(all[0], known));
    return kNone;
  }

  u32 instance(const Word& w) {
    for (const std::string& n : names(w)) {
      if (present_.count(Symbol(n))) break;
      if (!deleted_.count(Symbol(n))) continue;
      session_.diagnostics.error("PROGRAM-DELETED", w.at, fmt::format("`{}` was deleted before this instruction", n));
      return kNone;
    }
    return resolve(w, present_, "instance");
  }

  u32 port(u32 inst, const Word& w, bool report = true) {
    const ComponentType& type = system_.type_of(inst);
    std::vector<std::string> all = names(w);
    if (all.empty()) return kNone;
    for (const std::string& n : all)
      if (u32 k = type.find_port(Symbol(n)); k != kNone) return k;
    if (report) {
      std::vector<Symbol> known;
      for (const Port& p : type.ports) known.push_back(p.name);
      session_.diagnostics
          .error(
              "PROGRAM-UNKNOWN-PORT", w.at,
              fmt::format("`{}` ({}) has no port `{}`", system_.instances[inst].name.text(), type.name.text(), all[0]))
          .did_you_mean(nearest(Symbol(all[0]), known).text());
    }
    return kNone;
  }

  u32 behaviour(u32 inst, const Word& w) {
    const ComponentType& type = system_.type_of(inst);
    std::vector<std::string> all = names(w);
    if (all.empty()) return kNone;
    for (const std::string& n : all)
      if (u32 k = type.find_behaviour(Symbol(n)); k != kNone) return k;
    std::vector<Symbol> known;
    for (const Behaviour& b : type.behaviours) known.push_back(b.name);
    session_.diagnostics
        .error("PROGRAM-UNKNOWN-BEHAVIOUR", w.at,
               fmt::format("`{}` ({}) has no behaviour `{}`", system_.instances[inst].name.text(), type.name.text(),
                           all[0]))
        .did_you_mean(nearest(Symbol(all[0]), known).text());
    return kNone;
  }

  // ---- statements

  void call(const std::string& name, Pos at) {
    Budget::Level nesting(session_.budget);
    auto it = programs_.find(name);
    if (it == programs_.end()) {
      std::vector<std::string_view> known;
      for (const auto& [n, p] : programs_) known.push_back(n);
      session_.diagnostics.error("PROGRAM-UNKNOWN-PROGRAM", at, fmt::format("there is no program `{}`", name))
          .did_you_mean(nearest(name, known));
      return;
    }
    if (std::find(calling_.begin(), calling_.end(), name) != calling_.end()) {
      session_.diagnostics.error("PROGRAM-RECURSION", at, fmt::format("program `{}` calls itself", name));
      return;
    }
    calling_.push_back(name);
    for (const Statement& s : it->second) statement(s);
    calling_.pop_back();
  }

  void statement(const Statement& s) {
    session_.budget.step();
    switch (s.kind) {
      case Statement::Kind::kCall:
        if (s.words.size() == 1) call(s.words[0].text, s.words[0].at);
        return;
      case Statement::Kind::kFor: return loop(s);
      case Statement::Kind::kInstruction: return instruction(s);
    }
  }

  void loop(const Statement& s) {
    Budget::Level nesting(session_.budget);
    std::vector<std::string> values;
    std::optional<i64> from, to;
    if (s.range && s.words.size() == 2) {
      from = number(s.words[0].text, s.words[0].at);
      to = number(s.words[1].text, s.words[1].at);
      if (!from != !to) {
        const Word& w = from ? s.words[1] : s.words[0];
        session_.diagnostics.error("PROGRAM-UNKNOWN-VARIABLE", w.at, fmt::format("`{}` is not a number here", w.text))
            .suggest(fmt::format("give it a value in `parameters` or with --set {}=...", w.text));
        return;
      }
    }
    std::string outer;
    bool shadows = variables_.count(s.variable) != 0;
    if (shadows) outer = variables_[s.variable];
    std::size_t before = session_.diagnostics.errors();
    auto turn = [&](const std::string& value) {
      variables_[s.variable] = value;
      for (const Statement& inner : s.body) statement(inner);
      return session_.diagnostics.errors() == before;  // the same mistake in every turn is one mistake
    };
    if (from) {
      for (i64 i = *from; i <= *to; ++i)
        if (!turn(std::to_string(i))) break;
    } else {
      for (const Word& w : s.words) {
        auto n = number(w.text, w.at);
        if (!turn(n ? std::to_string(*n) : w.text)) break;
      }
    }
    if (shadows)
      variables_[s.variable] = outer;
    else
      variables_.erase(s.variable);
  }

  bool count(const Statement& s, std::size_t least, std::size_t most, std::string_view form) {
    if (s.words.size() >= least && s.words.size() <= most) return true;
    session_.diagnostics.error("PROGRAM-ARGUMENTS", s.at, fmt::format("`{}` is written {}", op_word(s.op), form));
    return false;
  }

  void instruction(const Statement& s) {
    Instruction i;
    i.op = s.op;
    i.at = s.at;
    switch (s.op) {
      case Op::kAdd: add(s, i); break;
      case Op::kDel: {
        if (!count(s, 1, 1, "del(instance)") || (i.instance = instance(s.words[0])) == kNone) return;
        Symbol name = system_.instances[i.instance].name;
        present_.erase(name);
        deleted_[name] = i.instance;
        emit(i);
        break;
      }
      case Op::kCon:
      case Op::kDcon: connect(s, i); break;
      case Op::kPush:
        if (!count(s, 2, 2, "pushB(instance, behaviour)") || (i.instance = instance(s.words[0])) == kNone ||
            (i.behaviour = behaviour(i.instance, s.words[1])) == kNone)
          return;
        ++pushes_[i.instance];
        last_push_[i.instance].resize(system_.type_of(i.instance).behaviours.size());
        last_push_[i.instance][i.behaviour] = pushes_[i.instance];
        emit(i);
        break;
      case Op::kWait:
        if (!count(s, 1, 2, "wait(instance) or wait(instance, behaviour)") ||
            (i.instance = instance(s.words[0])) == kNone)
          return;
        i.upto = pushes_[i.instance];
        if (s.words.size() == 2) {
          if ((i.behaviour = behaviour(i.instance, s.words[1])) == kNone) return;
          const auto& last = last_push_[i.instance];
          i.upto = i.behaviour < last.size() ? last[i.behaviour] : 0;
        }
        emit(i);
        break;
      case Op::kWaitAll:
        if (count(s, 0, 0, "wait_all()")) emit(i);
        break;
    }
  }

  void emit(const Instruction& i) {
    session_.budget.node();
    if (system_.program.size() >= kMostInstructions)
      throw LimitError("LIMIT-PROGRAM", fmt::format("the program has more than {} instructions", kMostInstructions),
                       i.at.at);
    system_.program.push_back(i);
  }

  void add(const Statement& s, Instruction& i) {
    if (!count(s, 2, 2, "add(instance, Type)")) return;
    std::vector<std::string> all = names(s.words[0]);
    u32 type = resolve(s.words[1], types_, "component type");
    if (all.empty() || type == kNone) return;
    Symbol name(all[0]);
    if (auto it = present_.find(name); it != present_.end()) {
      session_.diagnostics
          .error("PROGRAM-ADD-TWICE", s.at,
                 fmt::format("`{}` is there already: this `add` can never be done", name.text()))
          .relate(system_.instances[it->second].at, "it came from here");
      return;
    }
    Instance n;
    n.name = name;
    n.at = s.at;
    n.type = type;
    n.marking = system_.types[type]->initial;
    i.instance = static_cast<u32>(system_.instances.size());
    system_.instances.push_back(std::move(n));
    pushes_.push_back(0);
    last_push_.emplace_back();
    present_[name] = i.instance;
    emit(i);
  }

  void connect(const Statement& s, Instruction& i) {
    std::vector<Word> w = s.words;
    if (w.size() == 2) {  // con(a.x, b.y)
      std::vector<Word> parts;
      for (const Word& x : w) {
        auto dot = x.text.rfind('.');
        if (dot == std::string::npos) break;
        parts.push_back({x.text.substr(0, dot), x.at});
        parts.push_back({x.text.substr(dot + 1), Pos{x.at.at + static_cast<u32>(dot) + 1}});
      }
      w = std::move(parts);
    }
    if (w.size() != 4) {
      session_.diagnostics.error(
          "PROGRAM-ARGUMENTS", s.at,
          fmt::format("`{0}` is written {0}(user, port, provider, port) or {0}(user.port, provider.port)",
                      op_word(s.op)));
      return;
    }
    u32 a = instance(w[0]), b = instance(w[2]);
    if (a == kNone || b == kNone) return;
    u32 pa = port(a, w[1]), pb = port(b, w[3]);
    if (pa == kNone || pb == kNone) return;
    bool a_provides = system_.type_of(a).ports[pa].provide, b_provides = system_.type_of(b).ports[pb].provide;
    if (a_provides == b_provides) {
      session_.diagnostics
          .error("PROGRAM-PORT-KINDS", s.at,
                 fmt::format("`{}` and `{}` are both {} ports", system_.port_text(a, pa), system_.port_text(b, pb),
                             a_provides ? "provide" : "use"))
          .note("a link goes from a use port to a provide port");
      return;
    }
    if (a_provides) std::swap(a, b), std::swap(pa, pb);  // Listing 10 names the provider first
    if (a == b) {
      session_.diagnostics.error("PROGRAM-SELF-LINK", s.at,
                                 fmt::format("`{}` cannot be linked to itself", system_.instances[a].name.text()));
      return;
    }
    i.instance = a, i.port = pa, i.provider = b, i.provide = pb;
    u64 key = u64{a} << 32 | pa;
    auto it = linked_.find(key);
    if (s.op == Op::kCon && it != linked_.end()) {
      auto& d = session_.diagnostics.warning(
          "PROGRAM-CON-TWICE", s.at,
          fmt::format("this `con` can never be done: use port `{}` is already connected", system_.port_text(a, pa)));
      if (it->second) d.relate(it->second, "it was connected here");
    } else if (s.op == Op::kDcon && it == linked_.end()) {
      session_.diagnostics.error("PROGRAM-NOT-CONNECTED", s.at,
                                 fmt::format("use port `{}` is not connected here", system_.port_text(a, pa)));
      return;
    }
    if (s.op == Op::kCon)
      linked_.emplace(key, s.at);
    else
      linked_.erase(key);
    emit(i);
  }

  Session& session_;
  const Programs& programs_;
  System& system_;
  std::map<std::string, std::string> variables_;
  std::unordered_map<Symbol, u32> types_, present_, deleted_;
  std::vector<u32> pushes_;
  std::vector<std::vector<u32>> last_push_;  // per behaviour, which push it was (1 is the first)
  std::vector<std::string> calling_;
  std::unordered_map<u64, Pos> linked_;  // (user, use port) -> where it was connected
};

}  // namespace

bool unroll(Session& session, const Programs& programs, const std::string& main,
            const std::map<std::string, i64>& parameters, System& system) {
  return Unroller(session, programs, parameters, system).run(main);
}

}  // namespace tutti::model
