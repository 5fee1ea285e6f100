#include "engine/verify/property.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "base/near.h"

namespace tutti::engine {

using model::ComponentType;
using model::System;

namespace {

class PropertyParser {
 public:
  PropertyParser(Session& session, const System& system, const Source& source)
      : session_(session), system_(system), source_(source), text_(source.text) {}

  std::optional<Property> run() {
    Property p;
    p.text = std::string(text_);
    while (!p.text.empty() && std::isspace(static_cast<unsigned char>(p.text.back()))) p.text.pop_back();
    std::size_t start = at_;
    std::string w = word();
    bool ok = true;
    if (w == "always" || w == "never" || w == "finally" || w == "reachable") {
      p.kind = w == "always"    ? Property::Kind::kAlways
               : w == "never"   ? Property::Kind::kNever
               : w == "finally" ? Property::Kind::kFinally
                                : Property::Kind::kReachable;
      ok = implication(p.expr);
    } else if (w == "between") {
      p.kind = Property::Kind::kBetween;
      ok = event(p.a) && expect("and") && event(p.b) && expect("never") && event(p.c);
    } else {
      at_ = start;
      p.kind = Property::Kind::kBefore;
      ok = event(p.a) && expect("before") && event(p.b);
    }
    if (ok && !(space(), at_ >= text_.size())) ok = fail("expected the end of the property");
    if (!ok) return std::nullopt;
    return p;
  }

 private:
  bool fail(std::string message) {
    session_.diagnostics.error("VERIFY-PROPERTY", source_.pos(std::min(at_, text_.size())), std::move(message));
    return false;
  }
  void space() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_]))) ++at_;
  }
  static bool name_char(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '*' || (c & 0x80);
  }
  std::string word() {
    space();
    std::size_t from = at_;
    while (at_ < text_.size() && (name_char(text_[at_]) || (text_[at_] == '-' && at_ + 1 < text_.size() &&
                                                            name_char(text_[at_ + 1]) && at_ > from)))
      ++at_;
    return std::string(text_.substr(from, at_ - from));
  }
  bool take(std::string_view token) {
    space();
    if (text_.substr(at_, token.size()) != token) return false;
    at_ += token.size();
    return true;
  }
  bool take_word(std::string_view w) {
    std::size_t from = at_;
    if (word() == w) return true;
    at_ = from;
    return false;
  }
  bool expect(std::string_view w) { return take_word(w) || fail(fmt::format("expected `{}`", w)); }

  bool implication(Expr& e) {
    Budget::Level nesting(session_.budget);
    if (!disjunction(e)) return false;
    if (!take("->")) return true;
    Expr right, left = std::move(e);
    if (!implication(right)) return false;
    Expr negated;
    negated.kind = Expr::Kind::kNot;
    negated.parts.push_back(std::move(left));
    e = {};
    e.kind = Expr::Kind::kOr;
    e.parts.push_back(std::move(negated));
    e.parts.push_back(std::move(right));
    return true;
  }
  bool chain(Expr& e, std::string_view op, Expr::Kind kind, bool (PropertyParser::*next)(Expr&)) {
    if (!(this->*next)(e)) return false;
    while (take_word(op)) {
      Expr right;
      if (!(this->*next)(right)) return false;
      if (e.kind != kind || e.parts.empty()) {
        Expr left = std::move(e);
        e = {};
        e.kind = kind;
        e.parts.push_back(std::move(left));
      }
      e.parts.push_back(std::move(right));
    }
    return true;
  }
  bool disjunction(Expr& e) { return chain(e, "or", Expr::Kind::kOr, &PropertyParser::conjunction); }
  bool conjunction(Expr& e) { return chain(e, "and", Expr::Kind::kAnd, &PropertyParser::negation); }
  bool negation(Expr& e) {
    Budget::Level nesting(session_.budget);
    if (take_word("not")) {
      Expr inner;
      if (!negation(inner)) return false;
      e = {};
      e.kind = Expr::Kind::kNot;
      e.parts.push_back(std::move(inner));
      return true;
    }
    if (take("(")) return implication(e) && (take(")") || fail("expected `)`"));
    if (take_word("count")) return count(e);
    if (take_word("idle")) {
      if (!take("(")) return fail("expected `(`");
      std::string n = word();
      e.kind = Expr::Kind::kOr;
      for (u32 i : instances(n)) e.parts.push_back(leaf({Atom::Kind::kIdle, i, 0}));
      return (take(")") || fail("expected `)`")) && (!e.parts.empty() || unknown(n));
    }
    std::vector<Atom> list;
    if (!atoms(list)) return false;
    if (list.size() == 1) {
      e = leaf(list[0]);
      return true;
    }
    e.kind = Expr::Kind::kOr;
    for (const Atom& a : list) e.parts.push_back(leaf(a));
    return true;
  }
  static Expr leaf(const Atom& a) {
    Expr e;
    e.kind = Expr::Kind::kAtom;
    e.atom = a;
    return e;
  }
  bool count(Expr& e) {
    if (!take("(")) return fail("expected `(` after count");
    e.kind = Expr::Kind::kCount;
    do {
      std::vector<Atom> list;
      if (!atoms(list)) return false;
      for (const Atom& a : list) e.parts.push_back(leaf(a));
    } while (take(","));
    if (!take(")")) return fail("expected `)`");
    using C = Expr::Compare;
    if (take("<="))
      e.compare = C::kLessEqual;
    else if (take(">="))
      e.compare = C::kGreaterEqual;
    else if (take("==") || take("="))
      e.compare = C::kEqual;
    else if (take("!="))
      e.compare = C::kNotEqual;
    else if (take("<"))
      e.compare = C::kLess;
    else if (take(">"))
      e.compare = C::kGreater;
    else
      return fail("expected a comparison after count(...)");
    std::string n = word();
    if (n.empty() || !std::all_of(n.begin(), n.end(), [](unsigned char c) { return std::isdigit(c); }) || n.size() > 9)
      return fail("expected a number");
    e.number = std::stoll(n);
    return true;
  }

  std::vector<u32> instances(const std::string& name) {
    std::vector<u32> out;
    for (u32 i = 0; i < system_.instances.size(); ++i)
      if (name == "*" || system_.instances[i].name.text() == name) out.push_back(i);
    return out;
  }
  bool unknown(const std::string& name) {
    std::vector<std::string_view> known;
    for (const auto& i : system_.instances) known.push_back(i.name.text());
    session_.diagnostics
        .error("VERIFY-UNKNOWN-NAME", source_.pos(at_ - std::min(at_, name.size())),
               fmt::format("there is no instance `{}`", name))
        .did_you_mean(nearest(name, known));
    return false;
  }

  bool atoms(std::vector<Atom>& list) {
    std::string who = word();
    if (who.empty()) return fail("expected a name such as server.running");
    std::vector<u32> all = instances(who);
    if (all.empty()) return unknown(who);
    if (!take(".")) return fail(fmt::format("expected `.` and a place, port or transition after `{}`", who));
    std::string what = word();
    Symbol name(what);
    for (u32 i : all) {
      const ComponentType& t = system_.type_of(i);
      if (u32 p = t.find_place(name); p != kNone) {
        list.push_back({Atom::Kind::kPlace, i, p});
      } else if (u32 q = t.find_port(name); q != kNone) {
        list.push_back({Atom::Kind::kPort, i, q});
      } else {
        for (u32 k = 0; k < t.transitions.size(); ++k)
          if (t.transitions[k].name == name) list.push_back({Atom::Kind::kTransition, i, k});
      }
    }
    if (list.empty()) return fail(fmt::format("`{}` has no place, port or transition `{}`", who, what));
    return true;
  }

  bool event(EventPattern& e) {
    std::string verb = word(), who = word();
    if (verb != "enter" && verb != "leave" && verb != "start" && verb != "end" && verb != "finish")
      return fail("an event is enter or leave NAME.PLACE, start or end NAME.TRANSITION, finish NAME.BEHAVIOUR");
    std::vector<u32> all = instances(who);
    if (all.empty()) return unknown(who);
    if (!take(".")) return fail("expected `.`");
    std::string what = word();
    Symbol name(what);
    e.kind = verb == "enter"    ? Step::Kind::kEnter
             : verb == "end"    ? Step::Kind::kEnd
             : verb == "finish" ? Step::Kind::kFinish
                                : Step::Kind::kFire;
    e.leave = verb == "leave";
    for (u32 i : all) {
      const ComponentType& t = system_.type_of(i);
      if (verb == "finish") {
        if (u32 b = t.find_behaviour(name); b != kNone) e.what.push_back({i, b});
      } else if (verb == "enter" || verb == "leave") {
        if (u32 p = t.find_place(name); p != kNone) e.what.push_back({i, p});
      } else {
        for (u32 k = 0; k < t.transitions.size(); ++k)
          if (t.transitions[k].name == name) e.what.push_back({i, k});
      }
    }
    if (e.what.empty()) return fail(fmt::format("`{}` has nothing called `{}` to {}", who, what, verb));
    return true;
  }

  Session& session_;
  const System& system_;
  const Source& source_;
  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace

std::optional<Property> parse_property(Session& session, const System& system, const Source& source) {
  return PropertyParser(session, system, source).run();
}

bool holds(const Rules& rules, const u64* s, const Expr& e) {
  switch (e.kind) {
    case Expr::Kind::kConstant: return e.constant;
    case Expr::Kind::kAtom:
      if (!rules.present(s, e.atom.instance)) return false;
      switch (e.atom.kind) {
        case Atom::Kind::kPlace: return rules.marked(s, e.atom.instance, e.atom.index);
        case Atom::Kind::kPort: return rules.active(s, e.atom.instance, e.atom.index);
        case Atom::Kind::kTransition:
          return rules.marked(s, e.atom.instance,
                              rules.system().type_of(e.atom.instance).transition_element(e.atom.index));
        case Atom::Kind::kIdle: return rules.finished(s, e.atom.instance) == rules.pushed(s, e.atom.instance);
      }
      return false;
    case Expr::Kind::kNot: return !holds(rules, s, e.parts[0]);
    case Expr::Kind::kAnd:
      return std::all_of(e.parts.begin(), e.parts.end(), [&](const Expr& x) { return holds(rules, s, x); });
    case Expr::Kind::kOr:
      return std::any_of(e.parts.begin(), e.parts.end(), [&](const Expr& x) { return holds(rules, s, x); });
    case Expr::Kind::kCount: {
      i64 n = std::count_if(e.parts.begin(), e.parts.end(), [&](const Expr& x) { return holds(rules, s, x); });
      switch (e.compare) {
        case Expr::Compare::kLess: return n < e.number;
        case Expr::Compare::kLessEqual: return n <= e.number;
        case Expr::Compare::kEqual: return n == e.number;
        case Expr::Compare::kNotEqual: return n != e.number;
        case Expr::Compare::kGreaterEqual: return n >= e.number;
        case Expr::Compare::kGreater: return n > e.number;
      }
    }
  }
  return false;
}

bool matches(const Rules& rules, const u64* before, const Step& step, const EventPattern& event) {
  if (step.kind != event.kind) return false;
  const ComponentType& t = rules.system().type_of(step.instance);
  for (const auto& [i, x] : event.what) {
    if (i != step.instance) continue;
    switch (step.kind) {
      case Step::Kind::kEnter:
        if (t.stations[step.index].place == x) return true;
        break;
      case Step::Kind::kFire:
        if (event.leave) {
          if (step.index == x) return true;
        } else {
          u32 b = rules.current(before, i);
          if (t.transitions[x].source == step.index && t.transitions[x].behaviour == b) return true;
        }
        break;
      default:
        if (step.index == x) return true;
    }
  }
  return false;
}

void atoms_of(const Expr& e, std::vector<Atom>& atoms) {
  if (e.kind == Expr::Kind::kAtom) atoms.push_back(e.atom);
  for (const Expr& x : e.parts) atoms_of(x, atoms);
}

}  // namespace tutti::engine
