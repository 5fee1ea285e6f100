// text/template: Go's templates over CUE values. Actions, pipelines, if/else, range, with, define/template, variables,
// comparison and text functions.
#include <fmt/format.h>

#include <map>
#include <memory>
#include <utility>

#include "base/utf8.h"
#include "lang/cue/builtin/encodings.h"
#include "lang/cue/builtin/support.h"
#include "lang/cue/eval/context.h"
#include "lang/cue/eval/limits.h"
#include "lang/cue/eval/print.h"
#include "lang/cue/export/order.h"
#include "lang/cue/format/literal.h"

namespace tutti::cue {

namespace {

// An action of a template is looked up and taken apart anew each time: worth many steps of the evaluator.
constexpr u64 kStepsOfAction = 10;

// A value while a template runs: a node of CUE, or something the template made.
struct Datum {
  enum Kind { kNone, kNode, kBool, kInt, kFloat, kText } kind = kNone;
  Node* node = nullptr;
  bool truth = false;
  i64 integer = 0;
  double real = 0;
  std::string text;
};

struct Failed {
  std::string what;
};

struct Token {
  enum Kind { kText, kAction } kind;
  std::string text;
};

class Template {
 public:
  Template(CallContext& c, std::string_view source) : c_(c) { split(source); }

  std::string run(Node* data) {
    collect_definitions();
    Datum dot = of(data);
    variables_.push_back({"$", dot});
    std::size_t at = 0;
    std::string out;
    block(at, dot, out, true);
    return out;
  }

 private:
  // ---- text and actions
  void split(std::string_view s) {
    bool trim_next = false;
    while (!s.empty()) {
      std::size_t open = s.find("{{");
      std::string text(s.substr(0, open));
      if (trim_next) text.erase(0, std::min(text.find_first_not_of(" \t\r\n"), text.size()));
      trim_next = false;
      if (open == std::string_view::npos) {
        tokens_.push_back({Token::kText, text});
        return;
      }
      std::size_t from = open + 2;
      if (s.substr(from, 1) == "-" && from + 1 < s.size() &&
          (s[from + 1] == ' ' || s[from + 1] == '\n' || s[from + 1] == '\t')) {
        text.erase(text.find_last_not_of(" \t\r\n") + 1);
        from += 1;
      }
      std::size_t close = from;
      char quote_mark = 0;
      for (; close + 1 < s.size(); ++close) {
        char ch = s[close];
        if (quote_mark) {
          if (ch == '\\' && quote_mark == '"')
            ++close;
          else if (ch == quote_mark)
            quote_mark = 0;
        } else if (ch == '"' || ch == '`') {
          quote_mark = ch;
        } else if (ch == '}' && s[close + 1] == '}') {
          break;
        }
      }
      if (close + 1 >= s.size()) throw Failed{"template: :1: unclosed action"};
      std::string action(s.substr(from, close - from));
      if (action.size() >= 2 && action.back() == '-' &&
          (action[action.size() - 2] == ' ' || action[action.size() - 2] == '\n')) {
        action.pop_back();
        trim_next = true;
      }
      action.erase(0, std::min(action.find_first_not_of(" \t\r\n"), action.size()));
      action.erase(action.find_last_not_of(" \t\r\n") + 1);
      if (!text.empty()) tokens_.push_back({Token::kText, text});
      if (!action.starts_with("/*")) tokens_.push_back({Token::kAction, action});
      s.remove_prefix(close + 2);
    }
  }

  static std::string word(const std::string& a) { return a.substr(0, a.find_first_of(" \t\n(")); }

  // The index of the {{end}} or {{else}} that belongs to the action before `at`.
  std::size_t skip(std::size_t at, bool stop_at_else) {
    int depth = 0;
    for (; at < tokens_.size(); ++at) {
      if (tokens_[at].kind != Token::kAction) continue;
      std::string w = word(tokens_[at].text);
      if (w == "if" || w == "range" || w == "with" || w == "define" || w == "block") ++depth;
      if (w == "end" && depth-- == 0) return at;
      if (w == "else" && depth == 0 && stop_at_else) return at;
    }
    throw Failed{"template: :1: unexpected EOF"};
  }

  void collect_definitions() {
    for (std::size_t i = 0; i < tokens_.size(); ++i)
      if (tokens_[i].kind == Token::kAction &&
          (word(tokens_[i].text) == "define" || word(tokens_[i].text) == "block")) {
        std::size_t q = tokens_[i].text.find('"'), e = tokens_[i].text.find('"', q + 1);
        if (q == std::string::npos || e == std::string::npos) throw Failed{"template: :1: missing name in define"};
        definitions_[tokens_[i].text.substr(q + 1, e - q - 1)] = i + 1;
      }
  }

  // Runs up to the {{end}} or {{else}} of the enclosing action; `live` is false where nothing is to be printed.
  void block(std::size_t& at, const Datum& dot, std::string& out, bool top) {
    std::size_t scope = variables_.size();
    for (; at < tokens_.size(); ++at) {
      c_.context.budget.step(kStepsOfAction);
      check_text(out.size());
      const Token& t = tokens_[at];
      if (t.kind == Token::kText) {
        out += t.text;
        continue;
      }
      std::string w = word(t.text);
      if (w == "end" || w == "else") {
        if (top) throw Failed{fmt::format("template: :1: unexpected {{{{{}}}}}", w)};
        break;
      }
      if (w == "break" || w == "continue") {
        if (ranges_ == 0) throw Failed{fmt::format("template: :1: {{{{{}}}}} outside {{{{range}}}}", w)};
        leaving_ = w == "break" ? Leaving::kRange : Leaving::kRound;
      } else if (w == "if" || w == "with") {
        branch(at, dot, out, w == "with");
      } else if (w == "range") {
        range(at, dot, out);
      } else if (w == "define") {
        at = skip(at + 1, false);
      } else if (w == "template" || w == "block") {
        std::size_t q = t.text.find('"'), e = t.text.find('"', q + 1);
        std::string name = t.text.substr(q + 1, e - q - 1), rest = t.text.substr(e + 1);
        auto it = definitions_.find(name);
        if (it == definitions_.end())
          throw Failed{fmt::format("template: no template {} associated with template", go_quote(name))};
        Datum with = rest.find_first_not_of(" \t") == std::string::npos ? Datum{} : pipeline(rest, dot);
        if (++depth_ > 1000) throw Failed{"exceeded maximum template depth"};
        auto saved = std::move(variables_);
        variables_ = {{"$", with}};
        std::size_t body = it->second, ranges = std::exchange(ranges_, 0);
        block(body, with, out, false);
        ranges_ = ranges;
        variables_ = std::move(saved);
        --depth_;
        if (w == "block") at = skip(at + 1, false);
      } else {
        bool assigns = false;
        Datum d = statement(t.text, dot, assigns);
        if (!assigns) out += show(d);
      }
      if (leaving_ != Leaving::kNothing) break;
    }
    variables_.resize(std::min(scope, variables_.size()));
  }

  void branch(std::size_t& at, const Datum& dot, std::string& out, bool with) {
    std::size_t scope = variables_.size();
    std::string condition = tokens_[at].text.substr(with ? 4 : 2);
    bool assigns = false, done = false;
    Datum d = statement(condition, dot, assigns);
    for (;;) {
      if (!done && truth(d)) {
        ++at;
        block(at, with ? d : dot, out, false);
        done = true;
      } else {
        at = skip(at + 1, true);
      }
      if (leaving_ != Leaving::kNothing) break;
      if (word(tokens_[at].text) == "end") break;
      std::string rest = tokens_[at].text.substr(4);
      rest.erase(0, std::min(rest.find_first_not_of(" \t"), rest.size()));
      if (rest.empty()) {
        if (!done) {
          ++at;
          block(at, dot, out, false);
        } else {
          at = skip(at + 1, false);
        }
        break;
      }
      if (!done)
        d = statement(rest.substr(rest.starts_with("with") ? 4 : 2), dot, assigns);
      else
        d = Datum{};
    }
    variables_.resize(scope);
  }

  void range(std::size_t& at, const Datum& dot, std::string& out) {
    std::string head = tokens_[at].text.substr(5);
    std::vector<std::string> names;
    if (std::size_t eq = head.find(":="); eq != std::string::npos) {
      std::string list = head.substr(0, eq);
      for (std::size_t i = 0; i < list.size();) {
        std::size_t comma = std::min(list.find(',', i), list.size());
        std::string n = list.substr(i, comma - i);
        n.erase(0, std::min(n.find_first_not_of(" \t"), n.size()));
        n.erase(n.find_last_not_of(" \t") + 1);
        names.push_back(n);
        i = comma + 1;
      }
      head = head.substr(eq + 2);
    }
    Datum over = pipeline(head, dot);
    std::vector<std::pair<Datum, Datum>> items;
    auto count_to = [&](i64 n) {
      check_list(static_cast<u64>(std::max<i64>(n, 0)));
      for (i64 i = 0; i < n; ++i) {
        c_.context.budget.step(kStepsOfAction);
        items.push_back({integer(i), integer(i)});
      }
    };
    if (over.kind == Datum::kInt) {
      count_to(over.integer);
    } else if (Node* n = over.kind == Datum::kNode ? plain(over.node) : nullptr; n && n->type == NodeType::kVertex) {
      Vertex* v = to<Vertex>(n);
      if (v->is_list()) {
        i64 i = 0;
        for (Vertex* a : v->arcs)
          if (a->label.is_int()) items.push_back({integer(i++), of(a)});
      } else {
        std::map<std::string, Vertex*> sorted;
        for (Vertex* a : v->arcs)
          if (a->label.is_string() && a->arc_type == ArcType::kMember) sorted.emplace(a->label.name(), a);
        for (auto& [k, a] : sorted) items.push_back({text(k), of(a)});
      }
    } else if (over.kind == Datum::kNode && n && n->type == NodeType::kNum) {
      count_to(to<Num>(n)->value.to_i64().value_or(0));
    } else if (over.kind != Datum::kNone && !(n && n->type == NodeType::kNull)) {
      throw Failed{fmt::format("template: :1: range can't iterate over {}", show(over))};
    }
    std::size_t body = at + 1, end = skip(body, true);
    for (auto& [k, v] : items) {
      std::size_t scope = variables_.size();
      if (names.size() == 1) variables_.push_back({names[0], v});
      if (names.size() == 2) {
        variables_.push_back({names[0], k});
        variables_.push_back({names[1], v});
      }
      std::size_t i = body;
      ++ranges_;
      block(i, v, out, false);
      --ranges_;
      variables_.resize(scope);
      if (std::exchange(leaving_, Leaving::kNothing) == Leaving::kRange) break;
    }
    at = end;
    if (word(tokens_[at].text) == "else") {
      ++at;
      if (items.empty())
        block(at, dot, out, false);
      else
        at = skip(at, false);
    }
  }

  // ---- expressions
  Datum statement(std::string s, const Datum& dot, bool& assigns) {
    s.erase(0, std::min(s.find_first_not_of(" \t\n"), s.size()));
    if (s.starts_with('$')) {
      std::size_t n = 1;
      while (n < s.size() && (std::isalnum(static_cast<unsigned char>(s[n])) || s[n] == '_')) ++n;
      std::string name = s.substr(0, n), rest = s.substr(n);
      rest.erase(0, std::min(rest.find_first_not_of(" \t"), rest.size()));
      if (rest.starts_with(":=") || (rest.starts_with("=") && !rest.starts_with("=="))) {
        bool fresh = rest[0] == ':';
        Datum d = pipeline(rest.substr(fresh ? 2 : 1), dot);
        assigns = true;
        if (fresh) {
          variables_.push_back({name, d});
        } else {
          for (std::size_t i = variables_.size(); i-- > 0;)
            if (variables_[i].first == name) {
              variables_[i].second = d;
              break;
            }
        }
        return d;
      }
    }
    return pipeline(s, dot);
  }

  struct Reader {
    std::string s;
    std::size_t at = 0;
    void space() {
      while (at < s.size() && (s[at] == ' ' || s[at] == '\t' || s[at] == '\n')) ++at;
    }
    bool end() {
      space();
      return at >= s.size();
    }
  };

  Datum pipeline(const std::string& s, const Datum& dot) {
    Reader r{s};
    Datum d = pipeline(r, dot);
    if (!r.end()) throw Failed{fmt::format("template: :1: unexpected {} in command", go_quote(r.s.substr(r.at, 1)))};
    return d;
  }

  Datum pipeline(Reader& r, const Datum& dot) {
    Datum d = command(r, dot, nullptr);
    while (!r.end() && r.s[r.at] == '|') {
      ++r.at;
      d = command(r, dot, &d);
    }
    return d;
  }

  Datum command(Reader& r, const Datum& dot, const Datum* last) {
    r.space();
    if (r.at >= r.s.size()) throw Failed{"template: :1: missing value for command"};
    std::string name;
    if (std::isalpha(static_cast<unsigned char>(r.s[r.at]))) {
      std::size_t from = r.at;
      while (r.at < r.s.size() && (std::isalnum(static_cast<unsigned char>(r.s[r.at])) || r.s[r.at] == '_')) ++r.at;
      name = r.s.substr(from, r.at - from);
      if (name == "true" || name == "false" || name == "nil") {
        Datum d = name == "nil" ? Datum{} : boolean(name == "true");
        return d;
      }
    }
    std::vector<Datum> args;
    while (!r.end() && r.s[r.at] != '|' && r.s[r.at] != ')') args.push_back(operand(r, dot));
    if (last) args.push_back(*last);
    if (!name.empty()) return call(name, args);
    if (args.empty()) throw Failed{"template: :1: missing value for command"};
    return args[0];
  }

  Datum operand(Reader& r, const Datum& dot) {
    r.space();
    char ch = r.s[r.at];
    Datum d;
    if (ch == '(') {
      ++r.at;
      d = pipeline(r, dot);
      r.space();
      if (r.at >= r.s.size() || r.s[r.at] != ')') throw Failed{"template: :1: unclosed left paren"};
      ++r.at;
    } else if (ch == '"' || ch == '`') {
      std::size_t from = r.at++;
      while (r.at < r.s.size() && r.s[r.at] != ch) r.at += r.s[r.at] == '\\' && ch == '"' ? 2 : 1;
      if (r.at >= r.s.size()) throw Failed{"template: :1: unterminated quoted string"};
      ++r.at;
      std::string raw = r.s.substr(from, r.at - from);
      return text(ch == '`' ? raw.substr(1, raw.size() - 2) : unquote(raw).text);
    } else if (std::isdigit(static_cast<unsigned char>(ch)) ||
               (ch == '-' && r.at + 1 < r.s.size() && std::isdigit(static_cast<unsigned char>(r.s[r.at + 1])))) {
      std::size_t from = r.at++;
      while (r.at < r.s.size() && (std::isalnum(static_cast<unsigned char>(r.s[r.at])) || r.s[r.at] == '.')) ++r.at;
      Number n = parse_number(r.s.substr(from, r.at - from));
      if (!n.ok()) throw Failed{"template: :1: bad number syntax"};
      if (n.integer) return integer(n.value.to_i64().value_or(0));
      d.kind = Datum::kFloat;
      d.real = n.value.to_double();
      return d;
    } else if (ch == '$') {
      std::size_t from = r.at++;
      while (r.at < r.s.size() && (std::isalnum(static_cast<unsigned char>(r.s[r.at])) || r.s[r.at] == '_')) ++r.at;
      std::string name = r.s.substr(from, r.at - from);
      bool found = false;
      for (std::size_t i = variables_.size(); i-- > 0 && !found;)
        if (variables_[i].first == name) {
          d = variables_[i].second;
          found = true;
        }
      if (!found) throw Failed{fmt::format("template: :1: undefined variable {}", go_quote(name))};
    } else if (ch == '.') {
      d = dot;
      if (r.at + 1 >= r.s.size() ||
          !(std::isalpha(static_cast<unsigned char>(r.s[r.at + 1])) || r.s[r.at + 1] == '_')) {
        ++r.at;
        return d;
      }
    } else if (std::isalpha(static_cast<unsigned char>(ch))) {
      std::size_t from = r.at;
      while (r.at < r.s.size() && std::isalnum(static_cast<unsigned char>(r.s[r.at]))) ++r.at;
      std::string name = r.s.substr(from, r.at - from);
      if (name == "true" || name == "false") return boolean(name == "true");
      if (name == "nil") return {};
      return call(name, {});
    } else {
      throw Failed{fmt::format("template: :1: unexpected {} in operand", go_quote(std::string(1, ch)))};
    }
    // .a.b.c
    while (r.at < r.s.size() && r.s[r.at] == '.') {
      std::size_t from = ++r.at;
      while (r.at < r.s.size() && (std::isalnum(static_cast<unsigned char>(r.s[r.at])) || r.s[r.at] == '_')) ++r.at;
      d = member(d, r.s.substr(from, r.at - from));
    }
    return d;
  }

  Datum member(const Datum& d, const std::string& name) {
    Node* n = d.kind == Datum::kNode ? plain(d.node) : nullptr;
    if (!n || n->type != NodeType::kVertex || to<Vertex>(n)->is_list()) {
      if (d.kind == Datum::kNone || (n && n->type == NodeType::kNull)) return {};
      throw Failed{fmt::format("template: :1:{}: executing \"\" at <.{}>: can't evaluate field {}", 2, name, name)};
    }
    Vertex* a = to<Vertex>(n)->find_raw(Label::string(name));
    return a && a->arc_type == ArcType::kMember ? of(a) : Datum{};
  }

  // ---- functions
  Datum call(const std::string& f, const std::vector<Datum>& a) {
    auto need = [&](std::size_t n) {
      if (a.size() < n)
        throw Failed{fmt::format("template: :1: wrong number of args for {}: want {} got {}", f, n, a.size())};
    };
    if (f == "and" || f == "or") {
      need(1);
      for (const Datum& d : a)
        if (truth(d) == (f == "or")) return d;
      return a.back();
    }
    if (f == "not") return need(1), boolean(!truth(a[0]));
    if (f == "len") return need(1), integer(length(a[0]));
    if (f == "print" || f == "println") {
      std::string out;
      for (std::size_t i = 0; i < a.size(); ++i) {
        bool texts = i > 0 && is_text(a[i - 1]) && is_text(a[i]);
        if (i > 0 && (f == "println" || (!is_text(a[i - 1]) && !is_text(a[i])))) out += ' ';
        (void)texts;
        out += show(a[i]);
      }
      return text(f == "println" ? out + "\n" : out);
    }
    if (f == "printf") return need(1), text(print_format(a));
    if (f == "html" || f == "urlquery" || f == "js") {
      std::string out;
      for (const Datum& d : a) out += show(d);
      return text(f == "html" ? html_escape(out) : f == "js" ? escape_js(out) : out);
    }
    if (f == "index" || f == "slice") {
      need(1);
      if (f == "slice") {
        std::string s = show(a[0]);
        i64 n = static_cast<i64>(s.size()), from = a.size() > 1 ? to_int(a[1]) : 0,
            to_ = a.size() > 2 ? to_int(a[2]) : n;
        if (from < 0 || to_ > n || from > to_) throw Failed{"template: :1: index out of range"};
        return text(s.substr(static_cast<std::size_t>(from), static_cast<std::size_t>(to_ - from)));
      }
      Datum d = a[0];
      for (std::size_t i = 1; i < a.size(); ++i) {
        Node* n = d.kind == Datum::kNode ? plain(d.node) : nullptr;
        if (!n || n->type != NodeType::kVertex)
          throw Failed{fmt::format("template: :1: can't index item of type {}", show(d))};
        if (to<Vertex>(n)->is_list()) {
          i64 k = to_int(a[i]);
          Vertex* e = k >= 0 ? to<Vertex>(n)->find_raw(Label::integer(static_cast<u32>(k))) : nullptr;
          if (!e) throw Failed{fmt::format("template: :1: error calling index: index out of range: {}", k)};
          d = of(e);
        } else {
          d = member(d, show(a[i]));
        }
      }
      return d;
    }
    if (f == "eq") {
      need(2);
      for (std::size_t i = 1; i < a.size(); ++i)
        if (compare(a[0], a[i]) == 0) return boolean(true);
      return boolean(false);
    }
    if (f == "ne") return need(2), boolean(compare(a[0], a[1]) != 0);
    if (f == "lt") return need(2), boolean(compare(a[0], a[1]) < 0);
    if (f == "le") return need(2), boolean(compare(a[0], a[1]) <= 0);
    if (f == "gt") return need(2), boolean(compare(a[0], a[1]) > 0);
    if (f == "ge") return need(2), boolean(compare(a[0], a[1]) >= 0);
    throw Failed{fmt::format("template: :1: function {} not defined", go_quote(f))};
  }

 public:
  static std::string escape_js(std::string_view s) {
    std::string out;
    for (std::size_t i = 0; i < s.size();) {
      std::size_t from = i;
      char32_t ch = utf8::decode(s, i);
      switch (ch) {
        case '\\': out += "\\\\"; break;
        case '\'': out += "\\'"; break;
        case '"': out += "\\\""; break;
        case '<': out += "\\u003C"; break;
        case '>': out += "\\u003E"; break;
        case '&': out += "\\u0026"; break;
        case '=': out += "\\u003D"; break;
        default:
          if (ch < 0x20 || (ch > 0x7F && ch != utf8::kInvalid && !is_printable(ch)))
            out += fmt::format("\\u{:04X}", static_cast<u32>(ch));
          else
            out += s.substr(from, i - from);
      }
    }
    return out;
  }

 private:
  // Go's printf takes no width and no precision above a million.
  static bool too_wide(std::string_view spec) {
    u64 n = 0;
    for (char ch : spec) {
      n = ch >= '0' && ch <= '9' ? n * 10 + static_cast<u64>(ch - '0') : 0;
      if (n > 1'000'000) return true;
    }
    return false;
  }

  template <class T>
  static std::string printed(const std::string& format, T value) {
    int size = std::snprintf(nullptr, 0, format.c_str(), value);
    if (size <= 0) return {};
    std::string out(static_cast<std::size_t>(size) + 1, '\0');
    std::snprintf(out.data(), out.size(), format.c_str(), value);
    out.pop_back();
    return out;
  }

  std::string print_format(const std::vector<Datum>& a) {
    std::string f = show(a[0]), out;
    std::size_t next = 1;
    for (std::size_t i = 0; i < f.size(); ++i) {
      if (f[i] != '%' || i + 1 >= f.size()) {
        out += f[i];
        continue;
      }
      std::size_t from = ++i;
      while (i < f.size() && std::string_view("+-# 0123456789.").find(f[i]) != std::string_view::npos) ++i;
      std::string spec = f.substr(from, i - from);
      if (too_wide(spec)) {  // the rest of the format is lost, as in Go
        out += "%!(NOVERB)";
        break;
      }
      char verb = i < f.size() ? f[i] : '%';
      if (verb == '%') {
        out += '%';
        continue;
      }
      if (next >= a.size()) {
        out += fmt::format("%!{}(MISSING)", verb);
        continue;
      }
      const Datum& d = a[next++];
      std::string c_spec = "%" + spec;
      if (verb == 'd' || verb == 'x' || verb == 'X' || verb == 'o' || verb == 'c') {
        if ((verb == 'x' || verb == 'X') && is_text(d)) {
          for (char ch : show(d)) out += fmt::format("{:02x}", static_cast<unsigned char>(ch));
          continue;
        }
        out += printed(c_spec + (verb == 'c' ? "c" : std::string("ll") + verb), static_cast<long long>(to_int(d)));
      } else if (verb == 'f' || verb == 'e' || verb == 'g') {
        out += printed(c_spec + verb, to_real(d));
      } else if (verb == 'q') {
        out += go_quote(show(d));
      } else {
        std::string s = show(d);
        int width = 0;
        bool left = spec.starts_with('-');
        width = std::atoi(spec.c_str() + (left ? 1 : 0));
        if (static_cast<int>(s.size()) < width)
          s = left ? s + std::string(static_cast<std::size_t>(width) - s.size(), ' ')
                   : std::string(static_cast<std::size_t>(width) - s.size(), ' ') + s;
        out += s;
      }
    }
    return out;
  }

  // ---- values
  Datum of(Node* n) {
    Datum d;
    d.kind = Datum::kNode;
    d.node = c_.context.default_of(n);
    return d;
  }
  static Datum text(std::string s) {
    Datum d;
    d.kind = Datum::kText;
    d.text = std::move(s);
    return d;
  }
  static Datum integer(i64 i) {
    Datum d;
    d.kind = Datum::kInt;
    d.integer = i;
    return d;
  }
  static Datum boolean(bool b) {
    Datum d;
    d.kind = Datum::kBool;
    d.truth = b;
    return d;
  }
  static bool is_text(const Datum& d) {
    if (d.kind == Datum::kText) return true;
    Node* n = d.kind == Datum::kNode ? plain(d.node) : nullptr;
    return n && n->type == NodeType::kString;
  }
  bool truth(const Datum& d) {
    switch (d.kind) {
      case Datum::kNone: return false;
      case Datum::kBool: return d.truth;
      case Datum::kInt: return d.integer != 0;
      case Datum::kFloat: return d.real != 0;
      case Datum::kText: return !d.text.empty();
      case Datum::kNode: break;
    }
    Node* n = plain(d.node);
    switch (n->type) {
      case NodeType::kNull: return false;
      case NodeType::kBool: return to<Bool>(n)->value;
      case NodeType::kNum: return !to<Num>(n)->value.is_zero();
      default: return length(d) > 0;
    }
  }
  i64 length(const Datum& d) {
    if (d.kind == Datum::kText) return static_cast<i64>(d.text.size());
    Node* n = d.kind == Datum::kNode ? plain(d.node) : nullptr;
    if (n && n->type == NodeType::kString) return static_cast<i64>(to<String>(n)->text.size());
    if (n && n->type == NodeType::kBytes) return static_cast<i64>(to<Bytes>(n)->text.size());
    if (n && n->type == NodeType::kVertex) {
      i64 k = 0;
      for (Vertex* a : to<Vertex>(n)->arcs)
        k += (a->label.is_int() || a->label.is_string()) && a->arc_type == ArcType::kMember;
      return k;
    }
    throw Failed{fmt::format("template: :1: error calling len: len of {}", show(d))};
  }
  i64 to_int(const Datum& d) {
    if (d.kind == Datum::kInt) return d.integer;
    if (d.kind == Datum::kFloat) return static_cast<i64>(d.real);
    Node* n = d.kind == Datum::kNode ? plain(d.node) : nullptr;
    if (n && n->type == NodeType::kNum) return decimal::truncated(to<Num>(n)->value).to_i64().value_or(0);
    return 0;
  }
  double to_real(const Datum& d) {
    if (d.kind == Datum::kFloat) return d.real;
    Node* n = d.kind == Datum::kNode ? plain(d.node) : nullptr;
    if (n && n->type == NodeType::kNum) return to<Num>(n)->value.to_double();
    return static_cast<double>(to_int(d));
  }
  bool is_number(const Datum& d) {
    if (d.kind == Datum::kInt || d.kind == Datum::kFloat) return true;
    Node* n = d.kind == Datum::kNode ? plain(d.node) : nullptr;
    return n && n->type == NodeType::kNum;
  }
  int compare(const Datum& a, const Datum& b) {
    if (is_number(a) && is_number(b)) {
      double x = to_real(a), y = to_real(b);
      return x < y ? -1 : x > y;
    }
    if (is_number(a) != is_number(b)) throw Failed{"template: :1: error calling eq: incompatible types for comparison"};
    int r = show(a).compare(show(b));
    return r < 0 ? -1 : r > 0;
  }
  // As Go's print shows it.
  std::string show(const Datum& d) {
    switch (d.kind) {
      case Datum::kNone: return "<no value>";
      case Datum::kBool: return d.truth ? "true" : "false";
      case Datum::kInt: return std::to_string(d.integer);
      case Datum::kFloat: return fmt::format("{}", d.real);
      case Datum::kText: return d.text;
      case Datum::kNode: break;
    }
    Node* n = plain(d.node);
    switch (n->type) {
      case NodeType::kNull: return "<nil>";
      case NodeType::kBool: return to<Bool>(n)->value ? "true" : "false";
      case NodeType::kNum:
        return to<Num>(n)->kind & kIntKind ? to<Num>(n)->value.plain()
                                           : fmt::format("{}", to<Num>(n)->value.to_double());
      case NodeType::kString: return std::string(to<String>(n)->text);
      case NodeType::kBytes: {
        std::string out = "[";
        for (char ch : to<Bytes>(n)->text)
          out += (out.size() > 1 ? " " : "") + std::to_string(static_cast<unsigned char>(ch));
        return out + "]";
      }
      default: break;
    }
    if (n->type != NodeType::kVertex) return compact(n);
    Vertex* v = to<Vertex>(n);
    std::string out = v->is_list() ? "[" : "map[";
    bool first = true;
    std::map<std::string, Vertex*> sorted;
    for (Vertex* a : v->arcs) {
      if (v->is_list()) {
        out += (first ? "" : " ") + show(of(a));
        first = false;
      } else if (a->label.is_string() && a->arc_type == ArcType::kMember) {
        sorted.emplace(a->label.name(), a);
      }
    }
    for (auto& [k, a] : sorted) {
      out += (first ? "" : " ") + k + ":" + show(of(a));
      first = false;
    }
    return out + "]";
  }

  CallContext& c_;
  std::vector<Token> tokens_;
  std::map<std::string, std::size_t> definitions_;
  std::vector<std::pair<std::string, Datum>> variables_;
  int depth_ = 0;
  enum class Leaving : u8 { kNothing, kRound, kRange };  // {{continue}}, {{break}}
  Leaving leaving_ = Leaving::kNothing;
  std::size_t ranges_ = 0;  // within each other
};

// The first value in it that is not decided; nullptr when all are.
Node* undecided(Context& ctx, Node* n) {
  Level level(ctx);
  n = ctx.default_of(n);
  if (n->type == NodeType::kVertex) {
    Vertex* v = to<Vertex>(n)->deref_value();
    for (Vertex* a : v->arcs)
      if (a->label.is_regular() && a->arc_type == ArcType::kMember)
        if (Node* x = undecided(ctx, a)) return x;
    n = v->value();
  }
  return n && n->type != NodeType::kBottom && ctx.concreteness(n) > 1 ? n : nullptr;
}

const BuiltinSpec kFunctions[] = {
    {"Execute",
     {kStringKind, kTopKind},
     kStringKind,
     [](CallContext& c) -> Node* {
       std::string_view source = c.string(0);
       if (c.failed()) return nullptr;
       if (c.args[1]->type == NodeType::kVertex) c.context.finalize(to<Vertex>(c.args[1]));
       if (const Node* n = undecided(c.context, c.args[1])) {
         c.context.add_errf(Code::kIncomplete, c.context.src,
                            "error in call to {}: cannot convert non-concrete value {}",
                            std::string_view(c.builtin->qualified()), n);
         return nullptr;
       }
       try {
         return c.make_string(Template(c, source).run(c.args[1]));
       } catch (const Failed& f) {
         return c.error(f.what);
       }
     }},
    {"HTMLEscape",
     {kStringKind},
     kStringKind,
     [](CallContext& c) -> Node* {
       std::string out;
       for (char ch : html_escape(c.string(0))) ch == '\0' ? out += "\uFFFD" : out += ch;
       return c.make_string(out);
     }},
    {"JSEscape",
     {kStringKind},
     kStringKind,
     [](CallContext& c) -> Node* { return c.make_string(Template::escape_js(c.string(0))); }},
};

}  // namespace

void add_template() { add_package("text/template", kFunctions); }

}  // namespace tutti::cue
