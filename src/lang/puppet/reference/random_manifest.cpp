// What the generator makes: classes with and without parameters, chains of parents, declared by include (several at
// once) and like resources, twice, too early, with parameters missing or unknown; defines within classes, defines and
// nodes, with conditional bodies; if, unless and case at every depth, `default` first, in the middle and missing;
// selectors, arrays and hashes within each other as values of variables, parameters and attributes; every operator;
// variables of every scope, qualified ones too, unset ones now and then; references to resources as values and for
// their parameters; nodes by name, in lists, by default, before and after what they need. What it does not make: what
// muPuppet has not (functions, collectors, overrides, patterns of nodes), and classes declared in defines, whose bodies
// Puppet evaluates later.
#include "lang/puppet/reference/random_manifest.h"

#include <fmt/format.h>

#include <random>
#include <vector>

namespace tutti::puppet::mu {
namespace {

enum class T : u8 { kInt, kText, kBool };

struct Var {
  std::string name;  // as read: "x", "::x", "::c1::x"
  T type;
};

struct Class {
  std::string name, parent;
  std::vector<Var> params;  // with defaults but for the first `required`
  std::size_t required = 0;
  std::vector<Var> vars;  // set in its body, parameters included
};

class Generator {
 public:
  explicit Generator(u64 seed) : random_(seed) {}

  std::string run() {
    int classes = pick(20) == 0 ? 8 : pick(4), defines = pick(4);
    for (int n = 0; n < defines; ++n) define(n);
    for (int n = 0; n < classes; ++n) class_(n);
    std::string top;
    std::vector<Var> scope = top_vars_;
    for (int n = pick(3); n > 0; --n) top += assign(scope, "", fmt::format("t{}", n));
    for (const Var& v : std::vector<Var>(scope))
      if (v.name.compare(0, 2, "::") != 0) scope.push_back({"::" + v.name, v.type});
    top += body(scope, 1 + pick(3), "", true, true);
    out_ += top;
    int nodes = pick(3);
    if (nodes > 0) {
      std::string node;
      std::vector<Var> inner = scope;
      for (int n = pick(3); n > 0; --n) node += assign(inner, "  ", fmt::format("n{}", n));
      node += body(inner, 1 + pick(4), "  ", true, true);
      out_ += fmt::format("node {} {{\n{}}}\n", nodes == 1 ? "default" : "'test.example.com', 'other'", node);
      if (nodes == 2 && chance(50)) out_ += "node default { notify { 'never': } }\n";
    }
    return out_;
  }

 private:
  int pick(int n) { return static_cast<int>(random_() % static_cast<u64>(n)); }
  bool chance(int percent) { return pick(100) < percent; }
  T any_type() { return static_cast<T>(pick(3)); }

  std::string literal(T t) {
    switch (t) {
      case T::kInt: return std::to_string(pick(20));
      case T::kText: return fmt::format("'w{}'", pick(6));
      default: return chance(50) ? "true" : "false";
    }
  }

  std::string expr(const std::vector<Var>& scope, T t, int depth = 0) {
    if (pick(500) == 0) return "$unknown";
    int what = pick(depth > 3 ? 2 : 9);
    if (what <= 1 || scope.empty()) {
      if (what == 1 && !scope.empty())
        for (int tries = 0; tries < 4; ++tries) {
          const Var& v = scope[static_cast<std::size_t>(pick(static_cast<int>(scope.size())))];
          if (v.type == t) return "$" + v.name;
        }
      return literal(t);
    }
    auto sub = [&](T x) { return expr(scope, x, depth + 1); };
    switch (what) {
      case 2: return fmt::format("[{}, {}][{}]", sub(t), sub(t), pick(2));
      case 3: return fmt::format("{{'a' => {}, 'b' => {}}}['{}']", sub(t), sub(t), chance(50) ? "a" : "b");
      case 4: {
        std::string a = literal(T::kInt), b = std::to_string(30 + pick(5));
        std::string value = sub(T::kInt), x = sub(t), y = sub(t), z = sub(t);
        switch (pick(8)) {
          case 0: return fmt::format("({} ? {{ default => {}, {} => {}, {} => {} }})", value, x, a, y, b, z);
          case 1: return fmt::format("({} ? {{ {} => {}, default => {}, {} => {} }})", value, a, x, y, b, z);
          default: return fmt::format("({} ? {{ {} => {}, {} => {}, default => {} }})", value, a, x, b, y, z);
        }
      }
      default: break;
    }
    switch (t) {
      case T::kInt:
        if (chance(10))
          return fmt::format("({} / {})", sub(T::kInt), chance(97) ? std::to_string(1 + pick(5)) : sub(T::kInt));
        if (chance(8) && depth > 1) return fmt::format("({} * {})", literal(T::kInt), sub(T::kInt));
        return fmt::format("({} {} {})", sub(T::kInt), chance(50) ? "+" : "-", sub(T::kInt));
      case T::kBool:
        switch (pick(5)) {
          case 0: {
            static const char* const kOrders[] = {">", "<", ">=", "<="};
            return fmt::format("({} {} {})", sub(T::kInt), kOrders[pick(4)], sub(T::kInt));
          }
          case 1: {
            T x = any_type();
            return fmt::format("({} {} {})", sub(x), chance(75) ? "==" : "!=", sub(x));
          }
          case 2: return fmt::format("({} and {})", sub(T::kBool), sub(T::kBool));
          case 3: return fmt::format("({} or {})", sub(T::kBool), sub(T::kBool));
          default: return fmt::format("!({})", sub(T::kBool));
        }
      default: return literal(t);
    }
  }

  std::string assign(std::vector<Var>& scope, const std::string& indent, const std::string& name) {
    T t = any_type();
    std::string text = fmt::format("{}${} = {}\n", indent, name, expr(scope, t));
    scope.push_back({name, t});
    return text;
  }

  std::string attributes(const std::vector<Var>& scope) {
    static const char* const kNames[] = {"content", "owner", "group", "mode", "source"};
    std::string out;
    int first = pick(4);
    for (int n = first; n < std::min(5, first + 1 + pick(3)); ++n)
      out += fmt::format("{}{} => {}", out.empty() ? "" : ", ", kNames[n], value(scope));
    return out;
  }

  // What an attribute may be: also what has something in it.
  std::string value(const std::vector<Var>& scope, int depth = 0) {
    if (depth > 2 || !chance(18)) return expr(scope, any_type(), depth);
    if (chance(25) && !last_.empty()) return fmt::format("File[{}]", last_);
    if (chance(50)) return fmt::format("[{}, {}]", value(scope, depth + 1), value(scope, depth + 1));
    return fmt::format("{{'k' => {}, 'l' => {}}}", value(scope, depth + 1), value(scope, depth + 1));
  }

  std::string resource(const std::vector<Var>& scope, const std::string& indent) {
    std::string title = chance(1) ? "'/same'" : fmt::format("'/f{}'", ++titles_);
    last_ = title;
    last_owner_ = fmt::format("'u{}'", pick(4));
    return fmt::format("{}file {{ {}: ensure => {}, {} }}\n", indent, title, last_owner_, attributes(scope));
  }

  std::string given(const std::vector<Var>& scope, const std::vector<Var>& params, std::size_t required) {
    std::string out;
    for (std::size_t n = 0; n < params.size(); ++n)
      if ((n < required && !chance(2)) || (n >= required && chance(50)))
        out += fmt::format("{}{} => {}", out.empty() ? "" : ", ", params[n].name, expr(scope, params[n].type));
    if (pick(200) == 0) out += (out.empty() ? "" : ", ") + std::string("nosuch => 1");
    return out;
  }

  // What a branch holds: mostly a resource, now and then a condition in it. Variables are not set here, since whoever
  // reads them would mostly find nothing.
  std::string inner(std::vector<Var>& scope, const std::string& indent, bool classes) {
    if (++nested_ > 3 || !chance(12)) {
      --nested_;
      return resource(scope, indent);
    }
    std::vector<Var> known = scope;  // what is declared here may not be
    std::string out = chance(60)
                          ? fmt::format("{0}if {1} {{\n{2}{0}}} else {{\n{3}{0}}}\n", indent, expr(scope, T::kBool),
                                        inner(known, indent + "  ", classes), inner(known, indent + "  ", classes))
                          : body(known, 1, indent, classes, true);
    --nested_;
    return out;
  }

  // Statements; `classes`: whether classes may be declared here.
  std::string body(std::vector<Var>& scope, int count, const std::string& indent, bool classes, bool top = false) {
    std::string out;
    for (int n = 0; n < count; ++n) {
      switch (pick(8)) {
        case 0:
        case 1:
          if (!top) {
            out += assign(scope, indent, chance(1) ? "x0" : fmt::format("x{}", ++names_));
            break;
          }
          [[fallthrough]];
        case 2: out += resource(scope, indent); break;
        case 3: {
          std::string a = inner(scope, indent + "  ", classes), b = inner(scope, indent + "  ", classes);
          out +=
              fmt::format("{}{} {} {{\n{}{}}}", indent, chance(70) ? "if" : "unless", expr(scope, T::kBool), a, indent);
          if (chance(50)) out += fmt::format(" else {{\n{}{}}}", b, indent);
          out += "\n";
          last_.clear();
          break;
        }
        case 4: {
          std::string a = inner(scope, indent + "    ", classes), b = inner(scope, indent + "    ", classes);
          std::string first = literal(T::kInt), second = chance(15) ? std::to_string(40 + pick(3)) : "default";
          if (chance(15)) std::swap(first, second);
          if (chance(15)) first += first == "default" ? "" : ", " + literal(T::kInt);
          out += fmt::format("{0}case {1} {{\n{0}  {2}: {{\n{3}{0}  }}\n{0}  {5}: {{\n{4}{0}  }}\n{0}}}\n", indent,
                             expr(scope, T::kInt), first, a, b, second);
          last_.clear();
          break;
        }
        case 5:
          if (!defines_.empty()) {
            const Class& d = defines_[static_cast<std::size_t>(pick(static_cast<int>(defines_.size())))];
            out += fmt::format("{}{} {{ 'i{}': {} }}\n", indent, d.name, ++titles_, given(scope, d.params, d.required));
          }
          break;
        case 6:
          if (classes && !classes_.empty()) {
            const Class& c = classes_[static_cast<std::size_t>(pick(static_cast<int>(classes_.size())))];
            if (chance(70))
              out += fmt::format("{}include {}\n", indent, c.name);
            else
              out += fmt::format("{}class {{ '{}': {} }}\n", indent, c.name, given(scope, c.params, c.required));
            for (const Var& v : c.vars) scope.push_back({"::" + c.name + "::" + v.name, v.type});
          }
          break;
        default:
          if (!last_.empty())
            out += fmt::format("{}file {{ '/r{}': owner => File[{}]['ensure'] }}\n", indent, ++titles_, last_);
      }
    }
    return out;
  }

  std::vector<Var> params(std::string& text, const std::vector<Var>& visible, std::size_t& required) {
    std::vector<Var> out;
    std::vector<Var> scope = visible;
    int count = pick(3);
    required = static_cast<std::size_t>(chance(30) ? pick(count + 1) : 0);
    for (int n = 0; n < count; ++n) {
      Var v{fmt::format("p{}", ++names_), any_type()};  // no two alike: a name has one type
      text += fmt::format("{}${}", n ? ", " : "", v.name);
      if (static_cast<std::size_t>(n) >= required) text += " = " + expr(scope, v.type);
      out.push_back(v);
      scope.push_back(v);
    }
    return out;
  }

  void class_(int n) {
    Class c;
    c.name = fmt::format("c{}", n);
    std::vector<Var> visible = top_vars_;
    if (!classes_.empty() && chance(50)) {
      const Class& p = classes_[static_cast<std::size_t>(pick(static_cast<int>(classes_.size())))];
      c.parent = p.name;
      for (const Var& v : p.vars) visible.push_back(v), visible.push_back({"::" + p.name + "::" + v.name, v.type});
    }
    if (chance(1)) c.parent = c.name;
    std::string list;
    c.params = params(list, visible, c.required);
    std::vector<Var> scope = visible;
    for (const Var& v : c.params) scope.push_back(v);
    std::size_t before = scope.size();
    last_.clear();
    std::string text = body(scope, 1 + pick(4), "  ", !classes_.empty());
    c.vars = c.params;
    for (std::size_t i = before; i < scope.size(); ++i)
      if (scope[i].name.find("::") == std::string::npos) c.vars.push_back(scope[i]);
    last_.clear();
    out_ += fmt::format("class {}{}{} {{\n{}}}\n", c.name, c.params.empty() ? "" : "(" + list + ")",
                        c.parent.empty() ? "" : " inherits " + c.parent, text);
    classes_.push_back(c);
  }

  void define(int n) {
    Class d;
    d.name = fmt::format("d{}", n);
    std::string list;
    d.params = params(list, top_vars_, d.required);
    std::vector<Var> scope = top_vars_;
    scope.push_back({"title", T::kText});
    for (const Var& v : d.params) scope.push_back(v);
    std::string text;
    for (int i = pick(2); i > 0; --i) text += assign(scope, "  ", fmt::format("y{}", ++names_));
    // Each define has a type of its own for its resource, so that titles may be handed on.
    static const char* const kTypes[][3] = {
        {"notify", "message", "withpath"}, {"user", "comment", "home"}, {"group", "gid", "members"}};
    const auto& type = kTypes[n % 3];
    if (chance(30))
      text += fmt::format("  if {} {{\n    {} {{ $title: {} => {} }}\n  }}\n", expr(scope, T::kBool), type[0], type[1],
                          expr(scope, any_type()));
    else
      text += fmt::format("  {} {{ $title: {} => {}, {} => {} }}\n", type[0], type[1], expr(scope, any_type()), type[2],
                          expr(scope, any_type()));
    if (!defines_.empty() && chance(40)) {
      const Class& other = defines_[static_cast<std::size_t>(pick(static_cast<int>(defines_.size())))];
      text += fmt::format("  {} {{ $title: {} }}\n", other.name, given(scope, other.params, other.required));
    }
    out_ += fmt::format("define {}{} {{\n{}}}\n", d.name, d.params.empty() ? "" : "(" + list + ")", text);
    defines_.push_back(d);
  }

  std::mt19937_64 random_;
  std::string out_, last_, last_owner_;
  std::vector<Class> classes_, defines_;
  std::vector<Var> top_vars_{{"fact1", T::kInt}, {"fact2", T::kText}, {"::fact1", T::kInt}};
  int titles_ = 0, names_ = 0, nested_ = 0;
};

}  // namespace

std::string random_manifest(u64 seed) { return Generator(seed).run(); }

}  // namespace tutti::puppet::mu
