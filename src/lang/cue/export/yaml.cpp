#include "lang/cue/export/yaml.h"

#include <fmt/format.h>

#include "base/utf8.h"
#include "lang/cue/builtin/encodings.h"
#include "lang/cue/eval/limits.h"
#include "lang/cue/format/literal.h"
#include "lang/cue/import/yaml_scalar.h"

namespace tutti::cue {

namespace {

using namespace ast;

// Words that YAML 1.1 readers take for something else than text.
bool legacy(std::string_view s) {
  for (std::string_view w :
       {"y",    "Y",    "yes",  "Yes",   "YES",   "n",     "N",  "t",  "T",  "f",   "F",   "no",  "No",  "NO",
        "true", "True", "TRUE", "false", "False", "FALSE", "on", "On", "ON", "off", "Off", "OFF", ".Nan"})
    if (s == w) return true;
  return false;
}

// Dates, times and base-60 numbers, generously; hexadecimal numbers.
bool looks_like_time(std::string_view s) {
  if (s.empty()) return false;
  auto loose = [](char c) {
    return (c >= '0' && c <= '9') || c == '-' || c == '+' || c == ':' || c == '.' || c == ' ' || c == '\t';
  };
  if (s.starts_with("0x")) {
    for (char c : s.substr(2))
      if (!((c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'f'))) return false;
    return s.size() > 2;
  }
  if (s.back() == 'z' || s.back() == 'Z') s.remove_suffix(1);
  // loose+ mark loose+, the mark one of - : t T
  std::size_t others = 0;
  for (char c : s) {
    if (c == 't' || c == 'T')
      ++others;
    else if (!loose(c))
      return false;
  }
  if (others > 1) return false;
  if (s.size() < 3) return false;
  if (others == 1) {
    std::size_t at = s.find_first_of("tT");
    return at > 0 && at + 1 < s.size();
  }
  for (std::size_t i = 1; i + 1 < s.size(); ++i)
    if (s[i] == '-' || s[i] == ':') return true;
  return false;
}

bool should_quote(std::string_view s) { return legacy(s) || looks_like_time(s); }

// Would some reader take the plain text for something else than a string? Digits after a zero are a number to many.
bool resolves(std::string_view s) {
  return yaml_scalar(s) != YamlScalar::kString || (s.find_first_not_of("+-_0123456789") == std::string_view::npos &&
                                                   s.find_first_of("0123456789") != std::string_view::npos);
}

struct Analysis {
  bool plain = true, single = true, block = true, lines = false;
};

// What is of four bytes in UTF-8 is written as a number, as cue does.
bool yaml_printable(char32_t c) {
  return c == '\n' || (c >= 0x20 && c <= 0x7E) || c == 0x85 || (c >= 0xA0 && c <= 0xD7FF) ||
         (c >= 0xE000 && c <= 0xFFFD && c != 0xFEFF);
}

// Which styles can hold the text unchanged.
Analysis analyse(std::string_view s, bool key) {
  Analysis a;
  if (s.empty()) return {false, true, false, false};
  bool indicator = s.starts_with("---") || s.starts_with("..."), special = false, tab = false, leading = false,
       trailing = false;
  bool break_space = false, space_break = false, last_space = false, last_break = false;
  bool before_blank = true;  // the character before is blank, or there is none
  for (std::size_t i = 0; i < s.size();) {
    std::size_t at = i;
    char32_t c = utf8::decode(s, i);
    bool first = at == 0;
    bool after_blank = i >= s.size() || s[i] == ' ' || s[i] == '\t' || s[i] == '\n' || s[i] == '\r';
    if (first) {
      if (std::string_view("#,[]{}&*!|>'\"%@`").find(static_cast<char>(c)) != std::string_view::npos && c < 0x80)
        indicator = true;
      if ((c == '?' || c == ':' || c == '-') && after_blank) indicator = true;
    } else {
      if (c == ':' && after_blank) indicator = true;
      if (c == '#' && before_blank) indicator = true;
    }
    if (c == '\t') tab = true;
    if (c == utf8::kInvalid || (!yaml_printable(c) && c != '\t')) special = true;
    bool is_break = c == '\n' || c == '\r' || c == 0x85 || c == 0x2028 || c == 0x2029;
    if (is_break) a.lines = true;
    if (is_break && c != '\n') special = true;  // readers make a newline of it, or none
    if (c == ' ') {
      if (first) leading = true;
      if (i >= s.size()) trailing = true;
      if (last_break) break_space = true;
      last_space = true;
      last_break = false;
    } else if (is_break) {
      if (first) leading = true;
      if (i >= s.size()) trailing = true;
      if (last_space) space_break = true;
      last_space = false;
      last_break = true;
    } else {
      last_space = last_break = false;
    }
    before_blank = c == ' ' || c == '\t' || is_break;
  }
  if (leading || trailing) a.plain = false;
  if (!s.empty() && s.back() == ' ') a.block = false;
  if (break_space) a.plain = a.single = false;
  if (space_break || tab || special) a.plain = a.single = false;
  if (space_break || special) a.block = false;
  if (a.lines) a.plain = false;
  if (indicator) a.plain = false;
  if (key && a.lines) a.single = a.block = false;
  return a;
}

class YamlWriter {
 public:
  YamlWriter(std::string& out, std::string& error, u64 longest) : out_(out), error_(error), longest_(longest) {}

  bool document(Node* n) {
    if (!value(n, 0, Where::kTop)) return false;
    if (out_.empty() || out_.back() != '\n') out_ += '\n';
    return true;
  }

 private:
  enum class Where { kTop, kKey, kItem };

  bool fail(std::string why) {
    error_ = std::move(why);
    return false;
  }

  void indent(int n) { out_.append(static_cast<std::size_t>(n), ' '); }

  static std::string comment_text(const CommentGroup& g, int depth) {
    std::string s;
    for (const Comment& c : g.list) {
      if (!s.empty()) s += "\n" + std::string(static_cast<std::size_t>(depth), ' ');
      s += "#" + std::string(c.text.substr(2));
    }
    return s;
  }

  void heads(Node* n, int depth) {
    for (const CommentGroup& g : n->comments())
      if (!g.line && g.position == 0) {
        indent(depth);
        out_ += comment_text(g, depth) + "\n";
        if (!g.doc) out_ += "\n";
      }
  }

  void tails(Node* n) {
    for (const CommentGroup& g : n->comments())
      if (g.line) out_ += " " + comment_text(g, 0);
  }

  std::string scalar_text(std::string_view s, int depth, bool key, bool force, bool prefer_block) {
    Analysis a = analyse(s, key);
    if (force) return double_quoted(s);
    if (prefer_block && a.block && !key) return block(s, depth);
    if (prefer_block) return double_quoted(s);
    if (a.plain) return std::string(s);
    if (a.single) return single_quoted(s);
    return double_quoted(s);
  }

  std::string key(std::string_view name, int depth) {
    return scalar_text(name, depth, true, should_quote(name) || resolves(name), false);
  }

  // A key of several lines is told by a question mark, and its value begins on the line of its colon.
  static std::string lines_key(std::string_view name, int depth) {
    std::string text = "? " + block(name, depth + 2);
    if (text.back() != '\n') text += '\n';
    return text + std::string(static_cast<std::size_t>(depth), ' ');
  }

  static std::string single_quoted(std::string_view s) {
    std::string out = "'";
    for (char c : s) {
      if (c == '\'') out += '\'';
      out += c;
    }
    return out + "'";
  }

  static std::string double_quoted(std::string_view s) {
    std::string out = "\"";
    for (std::size_t i = 0; i < s.size();) {
      std::size_t at = i;
      char32_t c = utf8::decode(s, i);
      switch (c) {
        case '"': out += "\\\""; continue;
        case '\\': out += "\\\\"; continue;
        case '\n': out += "\\n"; continue;
        case '\r': out += "\\r"; continue;
        case '\t': out += "\\t"; continue;
        case '\b': out += "\\b"; continue;
        case '\a': out += "\\a"; continue;
        case '\v': out += "\\v"; continue;
        case '\f': out += "\\f"; continue;
        case 0x1B: out += "\\e"; continue;
        case 0: out += "\\0"; continue;
        case 0x85: out += "\\N"; continue;
        case 0xA0: out += "\\_"; continue;
        case 0x2028: out += "\\L"; continue;
        case 0x2029: out += "\\P"; continue;
        default: break;
      }
      if (c != utf8::kInvalid && yaml_printable(c) && c != 0xFEFF)
        out.append(s, at, i - at);
      else if (c <= 0xFF)
        out += fmt::format("\\x{:02X}", static_cast<u32>(c));
      else if (c <= 0xFFFF)
        out += fmt::format("\\u{:04X}", static_cast<u32>(c));
      else
        out += fmt::format("\\U{:08X}", static_cast<u32>(c));
    }
    return out + "\"";
  }

  static std::string block(std::string_view s, int depth) {
    std::string out = "|";
    if (s[0] == ' ' || s[0] == '\n') out += "2";
    if (s.back() != '\n')
      out += '-';
    else if (s.size() == 1 || s[s.size() - 2] == '\n')
      out += '+';
    std::string pad(static_cast<std::size_t>(depth), ' ');
    std::size_t at = 0;
    while (at < s.size()) {
      std::size_t end = s.find('\n', at);
      std::string_view line = s.substr(at, end == std::string_view::npos ? std::string_view::npos : end - at);
      out += '\n';
      if (!line.empty()) out += pad + std::string(line);
      if (end == std::string_view::npos) break;
      at = end + 1;
    }
    if (out.starts_with("|+") || out.starts_with("|2+")) out += '\n';  // what follows begins on a new line anyway
    return out;
  }

  bool literal(Lit* l, bool negative, int depth) {
    if (l->tok != Tok::kString) {
      std::string s(l->text);
      if (l->tok == Tok::kInt || l->tok == Tok::kFloat) {
        bool plain = s.find_first_of("_KMGTPio") == std::string::npos &&
                     !(s.size() > 1 && s[0] == '0' && (s[1] == 'x' || s[1] == 'X' || s[1] == 'b'));
        if (!plain) {
          Number n = parse_number(s);
          if (n.ok()) s = n.value.text();
        }
        if (s.ends_with('.')) s += '0';
      }
      out_ += (negative ? "-" : "") + s;
      return true;
    }
    std::string error;
    std::optional<Quotes> q = parse_quotes(l->text, l->text, error);
    Unquoted u = unquote(l->text);
    if (!q || !u.ok()) return fail(u.error);
    if (q->bytes || utf8::first_invalid(u.text) != std::string::npos) {
      bool lines = u.text.find('\n') != std::string::npos;
      out_ += "!!binary " + (lines ? block(base64_encode(u.text), depth) : base64_encode(u.text));
      return true;
    }
    bool lines = u.text.find('\n') != std::string::npos || q->multiline;
    if (q->multiline && u.text.find('\n') == std::string::npos) {
      // Asked for as lines: a block of one.
      Analysis a = analyse(u.text, false);
      out_ +=
          a.block && !u.text.empty() ? block(u.text, depth) : scalar_text(u.text, depth, false, u.text.empty(), false);
      return true;
    }
    out_ += scalar_text(u.text, depth, false, !lines && (should_quote(u.text) || resolves(u.text)), lines);
    return true;
  }

  // `depth` is the indentation of what the value's own lines begin with.
  bool value(Node* n, int depth, Where where) {
    if (out_.size() > longest_) check_text(out_.size());
    switch (n->kind) {
      case ast::Kind::kLit:
        if (where == Where::kKey) out_ += ' ';
        if (!literal(as<Lit>(n), false, where == Where::kTop ? 2 : depth)) return false;
        tails(n);
        return true;
      case ast::Kind::kUnary:
        if (as<Unary>(n)->op == Tok::kSub && as<Unary>(n)->x->kind == ast::Kind::kLit &&
            as<Lit>(as<Unary>(n)->x)->tok != Tok::kString) {
          if (where == Where::kKey) out_ += ' ';
          return literal(as<Lit>(as<Unary>(n)->x), true, depth);
        }
        break;
      case ast::Kind::kList: return list(as<List>(n)->elts, depth, where);
      case ast::Kind::kStruct: return map(as<Struct>(n)->elts, depth, where);
      case ast::Kind::kFile: heads(n, depth); return map(as<File>(n)->decls, depth, where);
      case ast::Kind::kParen: return value(as<Paren>(n)->x, depth, where);
      default: break;
    }
    return fail("yaml: unsupported node");
  }

  bool list(Nodes elts, int depth, Where where) {
    if (elts.empty()) {
      out_ += where == Where::kKey ? " []" : "[]";
      return true;
    }
    bool first = true;
    for (Node* e : elts) {
      if (e->kind == ast::Kind::kEllipsis) continue;
      if (!(first && where == Where::kItem)) {
        if (!out_.empty() && out_.back() != '\n') out_ += '\n';
        if (e->kind == ast::Kind::kLit || e->kind == ast::Kind::kStruct) heads(e, depth);
        indent(depth);
      }
      first = false;
      out_ += "- ";
      if (!value(e, depth + 2, Where::kItem)) return false;
    }
    return true;
  }

  bool map(Nodes decls, int depth, Where where) {
    for (Node* d : decls)
      if (d->kind == ast::Kind::kEmbed) return value(as<Embed>(d)->x, depth, where);
    bool first = true;
    for (Node* d : decls) {
      if (d->kind == ast::Kind::kAttribute || d->kind == ast::Kind::kPackage || d->kind == ast::Kind::kImport) continue;
      if (d->kind != ast::Kind::kField) return fail("yaml: unsupported node");
      auto* f = as<Field>(d);
      if (f->label->kind != ast::Kind::kIdent && f->label->kind != ast::Kind::kLit)
        return fail("yaml: only literal labels allowed");
      std::string name = label_name(f->label);
      if (!(first && where == Where::kItem)) {
        if (!out_.empty() && out_.back() != '\n') out_ += '\n';
        heads(f, depth);
        indent(depth);
      }
      first = false;
      bool several_lines = name.find('\n') != std::string::npos && analyse(name, false).block;
      out_ += several_lines ? lines_key(name, depth) + ": " : key(name, depth) + ":";
      if (!value(f->value, depth + 2, several_lines ? Where::kItem : Where::kKey)) return false;
      tails(f);
    }
    if (first) out_ += where == Where::kKey ? " {}" : "{}";
    return true;
  }

  std::string& out_;
  std::string& error_;
  u64 longest_;
};

}  // namespace

bool encode_yaml(ast::Node* n, std::string& out, std::string& error, u64 longest) {
  return YamlWriter(out, error, longest).document(n);
}

}  // namespace tutti::cue
