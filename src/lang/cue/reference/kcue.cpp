#include "lang/cue/reference/kcue.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "lang/cue/reference/machine.h"

namespace tutti::cue::kcue {

namespace {

TermPtr make(Term t) { return std::make_shared<const Term>(std::move(t)); }

std::string key(const TermPtr& t) {
  switch (t->kind) {
    case TermKind::kConst: return "c" + t->text;
    case TermKind::kRef: return "r" + t->text + "^" + std::to_string(t->depth);
    case TermKind::kField: return "f" + t->text + ":" + key(t->inner);
    case TermKind::kProject: return "p(" + key(t->inner) + ")." + t->text;
    case TermKind::kAll: {
      std::string out = "{";
      for (auto& x : t->all) out += key(x) + " ";
      return out + "}";
    }
  }
  return {};
}

std::size_t size_of(const TermPtr& t) {
  std::size_t n = 1;
  if (t->inner) n += size_of(t->inner);
  for (auto& x : t->all) n += size_of(x);
  return n;
}

bool is_type(const std::string& c) { return c == "int" || c == "string" || c == "bool"; }

std::string type_of(const std::string& c) {
  if (c == "true" || c == "false") return "bool";
  if (!c.empty() && c[0] == '"') return "string";
  return "int";
}

bool has_open_terms(const TermPtr& t) {
  if (t->kind == TermKind::kRef || t->kind == TermKind::kProject) return true;
  if (t->inner) return has_open_terms(t->inner);
  for (auto& x : t->all)
    if (has_open_terms(x)) return true;
  return false;
}

// References that leave the term, by `from` scopes or more, now leave it by k more.
TermPtr lift(int k, int from, const TermPtr& t) {
  switch (t->kind) {
    case TermKind::kConst: return t;
    case TermKind::kRef: return t->depth >= from && k ? reference(t->text, t->depth + k) : t;
    case TermKind::kField: return field(t->text, lift(k, from + 1, t->inner));
    case TermKind::kProject: return project(lift(k, from + 1, t->inner), t->text);
    case TermKind::kAll: {
      std::vector<TermPtr> out;
      for (auto& x : t->all) out.push_back(lift(k, from, x));
      return all(std::move(out));
    }
  }
  return t;
}

// The field u of the operand t of a projection, moved two scopes outwards; what it refers to in t is projected from t.
TermPtr projected(const TermPtr& u, const TermPtr& t, int j) {
  switch (u->kind) {
    case TermKind::kConst: return u;
    case TermKind::kRef:
      if (u->depth <= j) return u;
      if (u->depth == j + 1) return project(lift(j, 1, t), u->text);
      return reference(u->text, u->depth - 2);
    case TermKind::kField: return field(u->text, projected(u->inner, t, j + 1));
    case TermKind::kProject: return project(projected(u->inner, t, j + 1), u->text);
    case TermKind::kAll: {
      std::vector<TermPtr> out;
      for (auto& x : u->all) out.push_back(projected(x, t, j));
      return all(std::move(out));
    }
  }
  return u;
}

// How often `projected` puts the operand in.
std::size_t leading_to_operand(const TermPtr& u, int j) {
  if (u->kind == TermKind::kRef) return u->depth == j + 1;
  std::size_t n = u->inner ? leading_to_operand(u->inner, j + 1) : 0;
  for (auto& x : u->all) n += leading_to_operand(x, j);
  return n;
}

TermPtr find_field(const TermPtr& t, const std::string& label) {
  if (t->kind == TermKind::kField && t->text == label) return t->inner;
  if (t->kind == TermKind::kAll)
    for (auto& x : t->all)
      if (x->kind == TermKind::kField && x->text == label) return x->inner;
  return nullptr;
}

// The constant a term has been found to be, "_" for none.
std::string constant_of(const TermPtr& t) {
  if (t->kind == TermKind::kConst) return t->text;
  std::string out = "_";
  if (t->kind == TermKind::kAll)
    for (auto& x : t->all)
      if (x->kind == TermKind::kConst) out = meet(out, x->text);
  return out;
}

struct TooLarge {};
struct Env {
  std::vector<TermPtr> scopes;  // the term of each scope, outermost first
  std::size_t room;             // terms that may still be visited in this step
  Machine* machine = nullptr;   // who is told
};

// Heats a subterm, evaluates it for one step and cools it.
TermPtr step(const TermPtr& t, Env& env);
TermPtr within(const TermPtr& inner, const std::string& frame, const std::string& label, Env& env) {
  env.scopes.push_back(inner);
  if (env.machine) env.machine->heat_scope(inner, frame, label);
  TermPtr out = step(inner, env);
  env.scopes.pop_back();
  return out;
}

// All terms of a conjunction; of one that is alone nothing is told, since it is not written as a conjunction.
TermPtr step_all(const TermPtr& t, Env& env) {
  std::vector<TermPtr> out;
  Machine* m = t->all.size() == 1 ? nullptr : env.machine;
  if (m) m->heat_all(t, env.scopes.back() == t);
  for (auto& x : t->all) {
    if (m) m->heat_one(x, t);
    out.push_back(step(x, env));
    if (m) m->cool_one(out.back(), t);
  }
  TermPtr done = all(std::move(out));
  if (m) m->cool_all(done);
  return done;
}

// One step under the evaluation token. A reference ends the step of the term it stands in.
TermPtr step(const TermPtr& t, Env& env) {
  if (env.room-- == 0) throw TooLarge{};
  switch (t->kind) {
    case TermKind::kConst: return t;
    case TermKind::kRef: {
      int level = static_cast<int>(env.scopes.size()) - 1 - t->depth;
      if (level < 0) return t;
      TermPtr found = find_field(env.scopes[static_cast<std::size_t>(level)], t->text);
      if (!found) return t;
      std::size_t more = size_of(found);
      if (env.room < more) throw TooLarge{};
      env.room -= more;
      TermPtr target = lift(t->depth - 1, 1, found);
      if (env.machine) env.machine->resolved("resolve", target, fmt::format("{} is {}", written(t), written(target)));
      return all({t, target});
    }
    case TermKind::kField: {
      TermPtr out = field(t->text, within(t->inner, t->text + " : []", t->text, env));
      if (env.machine) env.machine->cool_scope(out, true);
      return out;
    }
    case TermKind::kProject: {
      TermPtr in = unify(within(t->inner, "[] . " + t->text, "", env));
      if (env.machine) env.machine->cool_scope(project(in, t->text), false);
      // The published rules stop at the projection of a constant; the language makes it an error, and what is projected
      // from an error is that error.
      if (constant_of(in) != "_") {
        if (env.machine) env.machine->resolved("project", constant("_|_"), "what is projected from is a constant");
        return constant("_|_");
      }
      TermPtr u = find_field(in, t->text);
      if (!u) return project(in, t->text);
      if (env.machine)
        env.machine->resolved("project", u, fmt::format("{} is {}", written(project(in, t->text)), written(u)));
      if (!has_open_terms(u)) return u;
      std::size_t more = size_of(u) + leading_to_operand(u, 0) * size_of(in);
      if (env.room < more) throw TooLarge{};
      env.room -= more;
      return all({project(in, t->text), projected(u, in, 0)});
    }
    case TermKind::kAll: return step_all(t, env);
  }
  return t;
}

TermPtr clean(const TermPtr& t) {
  switch (t->kind) {
    case TermKind::kConst: return t;
    case TermKind::kRef: return constant("_");
    case TermKind::kField: return field(t->text, clean(t->inner));
    case TermKind::kProject: return find_field(t->inner, t->text) ? constant("_") : constant("?");
    case TermKind::kAll: {
      std::vector<TermPtr> out;
      for (auto& x : t->all) out.push_back(clean(x));
      return unify(all(std::move(out)));
    }
  }
  return t;
}

void flatten(const TermPtr& t, std::vector<TermPtr>& out) {
  if (t->kind == TermKind::kAll)
    for (auto& x : t->all) flatten(x, out);
  else
    out.push_back(t);
}

}  // namespace

std::string meet(const std::string& a, const std::string& b) {
  if (a == b || b == "_") return a;
  if (a == "_") return b;
  if (a == "_|_" || b == "_|_") return "_|_";
  if (is_type(a) && !is_type(b) && type_of(b) == a) return b;
  if (is_type(b) && !is_type(a) && type_of(a) == b) return a;
  return "_|_";
}

TermPtr constant(std::string text) { return make({TermKind::kConst, std::move(text), 0, nullptr, {}}); }
TermPtr reference(std::string label, int depth) { return make({TermKind::kRef, std::move(label), depth, nullptr, {}}); }
TermPtr field(std::string label, TermPtr inner) {
  return make({TermKind::kField, std::move(label), 0, std::move(inner), {}});
}
TermPtr project(TermPtr inner, std::string label) {
  return make({TermKind::kProject, std::move(label), 0, std::move(inner), {}});
}
TermPtr all(std::vector<TermPtr> terms) { return make({TermKind::kAll, "", 0, nullptr, std::move(terms)}); }

TermPtr unify(const TermPtr& t) {
  if (t->kind == TermKind::kField) return field(t->text, unify(t->inner));
  if (t->kind == TermKind::kProject) return project(unify(t->inner), t->text);
  if (t->kind != TermKind::kAll) return t;
  std::vector<TermPtr> flat;
  flatten(t, flat);
  std::string value = "_";
  bool missing = false;
  // In the order in which they first stand there, which is that of the source.
  std::map<std::string, std::size_t> place;
  std::vector<std::pair<std::string, std::vector<TermPtr>>> fields;
  std::set<std::string> known;
  std::vector<TermPtr> open;
  for (auto& x : flat) {
    switch (x->kind) {
      case TermKind::kConst:
        if (x->text == "?")
          missing = true;
        else
          value = meet(value, x->text);
        break;
      case TermKind::kField: {
        auto [it, first] = place.emplace(x->text, fields.size());
        if (first) fields.push_back({x->text, {}});
        fields[it->second].second.push_back(x->inner);
        break;
      }
      default: {
        TermPtr u = unify(x);
        if (known.insert(key(u)).second) open.push_back(u);
      }
    }
  }
  if (value != "_" && !fields.empty()) value = "_|_";  // a scalar is no struct
  std::vector<TermPtr> out;
  if (value != "_") out.push_back(constant(value));
  if (missing) out.push_back(constant("?"));
  for (auto& [label, inner] : fields) out.push_back(field(label, unify(all(inner))));
  out.insert(out.end(), open.begin(), open.end());
  return all(std::move(out));
}

namespace {
std::size_t depth_of(const std::string& shown) {
  std::size_t now = 0, most = 0;
  for (char c : shown) {
    if (c == '{') most = std::max(most, ++now);
    if (c == '}') --now;
  }
  return most;
}

Outcome run_passes(const TermPtr& program, int most_steps, std::size_t most_size, Machine* machine) {
  constexpr int kQuiet = 8;
  constexpr std::size_t kEndless = 14;
  TermPtr now = unify(program);
  std::string seen;
  int quiet = 0;
  for (int i = 1; i <= most_steps; ++i) {
    TermPtr next;
    Env env{{now}, most_size, machine};
    try {
      next = unify(step(now, env));
      if (size_of(next) > most_size) throw TooLarge{};
    } catch (const TooLarge&) {
      return {quiet >= 3 ? End::kQuiet : End::kUnknown, clean(now), i};
    }
    if (key(next) == key(now)) return {End::kFixPoint, clean(now), i};
    now = next;
    if (machine) machine->again(now);
    std::string shown = show(clean(now));
    quiet = shown == seen ? quiet + 1 : 0;
    seen = std::move(shown);
    if (quiet >= kQuiet) return {End::kQuiet, clean(now), i};
    if (depth_of(seen) > kEndless) return {End::kEndless, clean(now), i};
  }
  return {End::kUnknown, clean(now), most_steps};
}
}  // namespace

Outcome run(const TermPtr& program, int most_steps, std::size_t most_size, Steps* steps) {
  Machine machine(steps, program);
  Outcome out = run_passes(program, most_steps, most_size, steps ? &machine : nullptr);
  if (steps) machine.stop(out.value, out.end == End::kFixPoint);
  return out;
}

std::string written(const TermPtr& t) {
  switch (t->kind) {
    case TermKind::kConst: return t->text;
    case TermKind::kRef: return fmt::format("{}^{}", t->text, t->depth);
    case TermKind::kField: return fmt::format("{} : {}", t->text, written(t->inner));
    case TermKind::kProject: return fmt::format("{} . {}", written(t->inner), t->text);
    case TermKind::kAll: return t->all.size() == 1 ? written(t->all[0]) : fmt::format("{{ {} }}", written_terms(t));
  }
  return {};
}

std::string written_terms(const TermPtr& conjunction) {
  std::vector<std::string> texts;
  for (auto& x : conjunction->all) texts.push_back(fmt::format("( {} )", written(x)));
  std::ranges::sort(texts);
  return fmt::format("{}", fmt::join(texts, " "));
}

std::string show(const TermPtr& t) {
  std::vector<TermPtr> flat;
  flatten(t, flat);
  std::string value;
  bool missing = false, error = false;
  std::map<std::string, std::string> fields;
  for (auto& x : flat) {
    if (x->kind == TermKind::kConst) {
      if (x->text == "?")
        missing = true;
      else if (x->text == "_|_")
        error = true;
      else if (x->text != "_")
        value = x->text;
    } else if (x->kind == TermKind::kField) {
      fields[x->text] = show(x->inner);
    }
  }
  if (error) return "!";
  // that something is missing is not told where something is wrong
  if (missing &&
      std::none_of(fields.begin(), fields.end(), [](auto& f) { return f.second.find('!') != std::string::npos; }))
    return "?";
  if (fields.empty()) return value.empty() ? "_" : value;
  std::string out = "{";
  for (auto& [k, v] : fields) out += (out.size() > 1 ? "," : "") + k + ":" + v;
  return out + "}";
}

namespace {
std::string inner_source(const TermPtr& t) {
  switch (t->kind) {
    case TermKind::kConst:
    case TermKind::kRef: return t->text;
    case TermKind::kField: return "{" + t->text + ": " + inner_source(t->inner) + "}";
    case TermKind::kProject: return inner_source(t->inner) + "." + t->text;
    case TermKind::kAll: {
      std::string out = "{";
      for (auto& x : t->all) {
        if (out.size() > 1) out += ", ";
        out += x->kind == TermKind::kField ? x->text + ": " + inner_source(x->inner) : inner_source(x);
      }
      return out + "}";
    }
  }
  return {};
}
}  // namespace

std::string source(const TermPtr& program) {
  std::string out;
  for (auto& x : program->all)
    out += (x->kind == TermKind::kField ? x->text + ": " + inner_source(x->inner) : inner_source(x)) + "\n";
  return out;
}

}  // namespace tutti::cue::kcue
