#include "lang/cue/load/tags.h"

#include <fmt/format.h>
#include <unistd.h>

#include <ctime>

#include "lang/cue/format/literal.h"
#include "lang/cue/syntax/parser.h"

namespace tutti::cue {

using ast::as;
using AK = ast::Kind;

std::vector<std::pair<std::string, std::string>> attribute_parts(std::string_view body) {
  std::vector<std::pair<std::string, std::string>> out;
  std::string part;
  int depth = 0;
  char quoted = 0;
  auto trim = [](std::string s) {
    while (!s.empty() && (s.front() == ' ' || s.front() == '\t' || s.front() == '\n')) s.erase(0, 1);
    while (!s.empty() && (s.back() == ' ' || s.back() == '\t' || s.back() == '\n')) s.pop_back();
    return s;
  };
  auto plain = [&](std::string s) {
    s = trim(s);
    if (s.size() > 1 && (s[0] == '"' || s[0] == '#' || s[0] == '\''))
      if (auto u = unquote(s); u.ok()) return u.text;
    return s;
  };
  auto done = [&] {
    std::string s = trim(part);
    part.clear();
    std::size_t eq = s.find('=');
    if (eq != std::string::npos && s.find_first_of("\"'(") > eq)
      out.emplace_back(trim(s.substr(0, eq)), plain(s.substr(eq + 1)));
    else
      out.emplace_back(plain(s), "");
  };
  for (std::size_t i = 0; i < body.size(); ++i) {
    char c = body[i];
    if (quoted) {
      if (c == '\\' && i + 1 < body.size()) {
        part += c;
        part += body[++i];
        continue;
      }
      if (c == quoted) quoted = 0;
    } else if (c == '"' || c == '\'') {
      quoted = c;
    } else if (c == '(' || c == '[' || c == '{') {
      ++depth;
    } else if (c == ')' || c == ']' || c == '}') {
      --depth;
    } else if (c == ',' && depth == 0) {
      done();
      continue;
    }
    part += c;
  }
  if (!part.empty() || !out.empty()) done();
  return out;
}

Tags::Tags(Sources& sources, Arena& arena, const std::vector<std::string>& given) : sources_(sources), arena_(arena) {
  for (auto& g : given) {
    std::size_t eq = g.find('=');
    if (eq == std::string::npos)
      tags_.push_back({g, "", false, false});
    else
      tags_.push_back({g.substr(0, eq), g.substr(eq + 1), true, false});
  }
}

bool Tags::condition(const ast::Node* x, const ast::File* file, std::vector<FlatError>& errors) {
  switch (x->kind) {
    case AK::kIdent:
      for (auto& t : tags_)
        if (!t.has_value && t.name == as<ast::Ident>(x)->name.text()) {
          t.used = true;
          return true;
        }
      return false;
    case AK::kParen: return condition(as<ast::Paren>(x)->x, file, errors);
    case AK::kUnary:
      if (as<ast::Unary>(x)->op == Tok::kNot) return !condition(as<ast::Unary>(x)->x, file, errors);
      break;
    case AK::kBinary: {
      auto* b = as<ast::Binary>(x);
      if (b->op == Tok::kLand) {
        bool l = condition(b->x, file, errors), r = condition(b->y, file, errors);
        return l && r;
      }
      if (b->op == Tok::kLor) {
        bool l = condition(b->x, file, errors), r = condition(b->y, file, errors);
        return l || r;
      }
      break;
    }
    default: break;
  }
  errors.push_back({"", "invalid type in build attribute", ast::first(file).pos, {}});
  return false;
}

bool Tags::excluded(const ast::File* file, std::vector<FlatError>& errors) {
  for (ast::Node* d : file->decls) {
    if (d->kind == AK::kPackage || d->kind == AK::kImport || d->kind == AK::kField) break;
    if (d->kind != AK::kAttribute) continue;
    auto* a = as<ast::Attribute>(d);
    if (a->name() == "ignore") return true;
    if (a->name() != "if") continue;
    auto source = sources_.add("@if", std::string(a->body()));
    if (!source) continue;
    std::vector<SyntaxError> wrong;
    ast::Node* x = parse_expression(**source, arena_, wrong);
    if (!x) {
      errors.push_back({"", wrong.empty() ? "invalid build attribute" : wrong[0].message, a->at.pos, {}});
      continue;
    }
    if (!condition(x, file, errors)) return true;
  }
  return false;
}

void Tags::inject(ast::File* file, std::vector<FlatError>& errors) { fields(file->decls, errors); }

void Tags::fields(ast::Nodes decls, std::vector<FlatError>& errors) {
  for (ast::Node* d : decls) {
    if (d->kind != AK::kField) continue;
    auto* f = as<ast::Field>(d);
    for (ast::Node* n : f->attrs)
      if (as<ast::Attribute>(n)->name() == "tag") field(f, as<ast::Attribute>(n), errors);
    if (f->value && f->value->kind == AK::kStruct) fields(as<ast::Struct>(f->value)->elts, errors);
  }
}

namespace {
// Values that the system knows, for @tag(x,var=...); empty for an unknown name.
std::string variable(const std::string& name) {
  auto now = [](const char* format) {
    std::time_t t = std::time(nullptr);
    std::tm tm{};
    gmtime_r(&t, &tm);
    char text[64];
    std::strftime(text, sizeof text, format, &tm);
    return std::string(text);
  };
  char buffer[4096];
  if (name == "now") return now("%Y-%m-%dT%H:%M:%SZ");
  if (name == "os") return "linux";
#if defined(__aarch64__)
  if (name == "arch") return "arm64";
#else
  if (name == "arch") return "amd64";
#endif
  if (name == "cwd") return getcwd(buffer, sizeof buffer) ? buffer : "";
  if (name == "username") return getenv("USER") ? getenv("USER") : "root";
  if (name == "hostname") return gethostname(buffer, sizeof buffer) == 0 ? buffer : "";
  return {};
}
}  // namespace

void Tags::field(ast::Field* f, const ast::Attribute* a, std::vector<FlatError>& errors) {
  auto parts = attribute_parts(a->body());
  if (parts.empty()) return;
  std::string name = parts[0].first, type = "string", var;
  std::vector<std::string> shorts;
  for (std::size_t i = 1; i < parts.size(); ++i) {
    auto& [k, v] = parts[i];
    if (k == "type") type = v;
    if (k == "var") var = v;
    if (k == "short")
      for (std::size_t from = 0; from <= v.size();) {
        std::size_t bar = std::min(v.find('|', from), v.size());
        shorts.push_back(v.substr(from, bar - from));
        from = bar + 1;
      }
  }
  std::string value;
  bool found = false;
  for (auto& t : tags_) {
    if (t.has_value && t.name == name) {
      value = t.value;
      found = t.used = true;
    }
    if (!t.has_value)
      for (auto& s : shorts)
        if (s == t.name) {
          value = s;
          found = t.used = true;
        }
  }
  if (!found && !var.empty()) {
    value = variable(var);
    found = !value.empty();
  }
  if (!found) return;
  std::string text;
  Tok tok = Tok::kString;
  if (type == "int" || type == "number") {
    Number n = parse_number(value);
    if (!n.ok() || (type == "int" && !n.integer)) {
      errors.push_back({"", fmt::format("invalid {} value for tag \"{}\": {}", type, name, value), a->at.pos, {}});
      return;
    }
    text = value;
    tok = n.integer ? Tok::kInt : Tok::kFloat;
  } else if (type == "bool") {
    bool yes = value == "true" || value == "1" || value == "t" || value == "T";
    bool no = value == "false" || value == "0" || value == "f" || value == "F";
    if (!yes && !no) {
      errors.push_back({"", fmt::format("invalid boolean value for tag \"{}\": {}", name, value), a->at.pos, {}});
      return;
    }
    text = yes ? "true" : "false";
    tok = yes ? Tok::kTrue : Tok::kFalse;
  } else {
    text = quote(value);
  }
  std::string_view kept = arena_.copy(std::string_view(text));
  ast::Node* literal;
  if (kept.size() > 1 && kept[0] == '-') {
    literal = arena_.make<ast::Unary>(a->at, Tok::kSub, arena_.make<ast::Lit>(tok, a->at, kept.substr(1)));
  } else {
    literal = arena_.make<ast::Lit>(tok, a->at, kept);
  }
  if (f->value->kind == AK::kAlias) {
    auto* alias = as<ast::Alias>(f->value);
    alias->x = arena_.make<ast::Binary>(alias->x, a->at, Tok::kAnd, literal);
  } else {
    f->value = arena_.make<ast::Binary>(f->value, a->at, Tok::kAnd, literal);
  }
}

void Tags::check_used(std::vector<FlatError>& errors) const {
  for (auto& t : tags_)
    if (!t.used) errors.push_back({"", fmt::format("tag \"{}\" not used in any file", t.name), {}, {}});
}

}  // namespace tutti::cue
