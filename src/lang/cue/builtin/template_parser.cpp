#include <fmt/format.h>

#include <array>

#include "lang/cue/builtin/support.h"
#include "lang/cue/builtin/template_lexer.h"
#include "lang/cue/builtin/template_tree.h"
#include "lang/cue/eval/context.h"

namespace tutti::cue {

namespace {

using T = TemplateToken;
using N = TemplateNode;

// Nothing but space: such a template may be defined again.
bool is_blank(const N& n) {
  if (n.kind == N::kText) return n.text.find_first_not_of(" \t\r\n\v\f") == std::string::npos;
  if (n.kind != N::kList) return false;
  for (const auto& part : n.parts)
    if (!is_blank(*part)) return false;
  return true;
}

class TemplateParser {
 public:
  TemplateParser(Context& context, std::string_view source) : context_(context), lexer_(source) {}

  TemplateTrees run() {
    auto root = node(N::kList, peek().at);
    while (peek().kind != T::kEnd) {
      if (peek().kind == T::kLeftDelimiter) {
        T delimiter = next();
        if (next_word().kind == T::kDefine) {
          definition();
          continue;
        }
        back(delimiter);
      }
      N::Own n = text_or_action();
      if (n->kind == N::kEnd || n->kind == N::kElse) fail("unexpected " + n->written());
      root->parts.push_back(std::move(n));
    }
    add("", std::move(root));
    return std::move(trees_);
  }

 private:
  static N::Own node(N::Kind kind, std::size_t at) { return std::make_unique<N>(kind, at); }

  // ---- tokens: up to three can be put back
  T next() {
    if (put_back_ > 0)
      --put_back_;
    else
      tokens_[0] = lexer_.next();
    return tokens_[put_back_];
  }
  void back() { ++put_back_; }
  void back(const T& before) {  // the last one stays where it is
    tokens_[1] = before;
    put_back_ = 2;
  }
  void back(const T& first, const T& second) {
    tokens_[1] = second;
    tokens_[2] = first;
    put_back_ = 3;
  }
  const T& peek() {
    if (put_back_ > 0) return tokens_[put_back_ - 1];
    put_back_ = 1;
    return tokens_[0] = lexer_.next();
  }
  T next_word() {
    T t = next();
    while (t.kind == T::kSpace) t = next();
    return t;
  }
  T peek_word() {
    T t = next_word();
    back();
    return t;
  }

  // ---- errors
  [[noreturn]] void fail(std::string_view what) {
    throw TemplateError{fmt::format("template: :{}: {}", tokens_[0].line, what)};
  }
  [[noreturn]] void unexpected(const T& t, std::string_view where) {
    if (t.kind != T::kError) fail(fmt::format("unexpected {} in {}", t.shown(), where));
    std::string extra;
    if (action_line_ != 0 && action_line_ != t.line)
      extra = fmt::format("{} started at :{}", t.text.ends_with(" action") ? "" : " in action", action_line_);
    fail(t.text + extra);
  }
  T expect(T::Kind kind, std::string_view where) {
    T t = next_word();
    if (t.kind != kind) unexpected(t, where);
    return t;
  }
  template <class F>
  auto literal(F f) {
    try {
      return f();
    } catch (const TemplateError& e) {
      fail(e.what);
    }
  }

  // ---- templates by name
  void add(const std::string& name, N::Own root) {
    N::Own& there = trees_.by_name[name];
    if (there && !is_blank(*there)) {
      if (!is_blank(*root)) fail("template: multiple definition of template " + go_quote(name));
      return;
    }
    there = std::move(root);
  }

  // What is between the clause of a definition and its {{end}} knows no variables from outside.
  void named(const std::string& name, std::string_view where) {
    auto variables = std::exchange(variables_, {"$"});
    std::size_t ranges = std::exchange(ranges_, 0), line = std::exchange(action_line_, 0);
    N::Own end, body = item_list(end);
    if (end->kind != N::kEnd) fail(fmt::format("unexpected {} in {}", end->written(), where));
    add(name, std::move(body));
    variables_ = std::move(variables);
    ranges_ = ranges;
    action_line_ = line;
  }

  void definition() {
    constexpr std::string_view kWhere = "define clause";
    T name = next_word();
    if (name.kind != T::kString && name.kind != T::kRawString) unexpected(name, kWhere);
    std::string unquoted = literal([&] { return template_unquote(name.text); });
    expect(T::kRightDelimiter, kWhere);
    named(unquoted, kWhere);
  }

  N::Own block_or_template(bool block) {
    std::string_view where = block ? "block clause" : "template clause";
    T name = next_word();
    if (name.kind != T::kString && name.kind != T::kRawString) unexpected(name, where);
    N::Own n = node(N::kTemplate, name.at);
    n->text = literal([&] { return template_unquote(name.text); });
    bool bare = !block && next_word().kind == T::kRightDelimiter;
    if (!block && !bare) back();
    if (!bare) n->pipe = pipeline(where, T::kRightDelimiter);
    if (block) named(n->text, where);
    return n;
  }

  // ---- actions
  N::Own item_list(N::Own& last) {
    Level level(context_);
    N::Own list = node(N::kList, peek_word().at);
    while (peek_word().kind != T::kEnd) {
      N::Own n = text_or_action();
      if (n->kind == N::kEnd || n->kind == N::kElse) {
        last = std::move(n);
        return list;
      }
      list->parts.push_back(std::move(n));
    }
    fail("unexpected EOF");
  }

  N::Own text_or_action() {
    T t = next_word();
    if (t.kind == T::kText) {
      N::Own n = node(N::kText, t.at);
      n->text = std::move(t.text);
      return n;
    }
    if (t.kind != T::kLeftDelimiter) unexpected(t, "input");
    action_line_ = t.line;
    N::Own n = action();
    action_line_ = 0;
    return n;
  }

  N::Own action() {
    T t = next_word();
    switch (t.kind) {
      case T::kBlock: return block_or_template(true);
      case T::kTemplate: return block_or_template(false);
      case T::kBreak: return leave(N::kBreak, t);
      case T::kContinue: return leave(N::kContinue, t);
      case T::kIf: return control(N::kIf, "if");
      case T::kRange: return control(N::kRange, "range");
      case T::kWith: return control(N::kWith, "with");
      case T::kEndWord: return node(N::kEnd, expect(T::kRightDelimiter, "end").at);
      case T::kElse: {
        T after = peek_word();
        if (after.kind == T::kIf || after.kind == T::kWith) return node(N::kElse, after.at);
        return node(N::kElse, expect(T::kRightDelimiter, "else").at);
      }
      default: break;
    }
    back();
    N::Own n = node(N::kAction, peek().at);
    n->pipe = pipeline("command", T::kRightDelimiter);
    return n;
  }

  N::Own leave(N::Kind kind, const T& word) {
    N::Own n = node(kind, word.at);
    T t = next_word();
    if (t.kind != T::kRightDelimiter) unexpected(t, n->written());
    if (ranges_ == 0) fail(n->written() + " outside {{range}}");
    return n;
  }

  N::Own control(N::Kind kind, std::string_view where) {
    Level level(context_);
    std::size_t scope = variables_.size();
    N::Own n = node(kind, 0);
    n->pipe = pipeline(where, T::kRightDelimiter);
    n->at = n->pipe->at;
    if (kind == N::kRange) ++ranges_;
    N::Own last;
    n->body = item_list(last);
    if (kind == N::kRange) --ranges_;
    if (last->kind == N::kElse) {
      T::Kind again = kind == N::kIf ? T::kIf : kind == N::kWith ? T::kWith : T::kEnd;
      if (again != T::kEnd && peek().kind == again) {
        next();
        n->otherwise = node(N::kList, last->at);
        n->otherwise->parts.push_back(control(kind, where));
      } else {
        n->otherwise = item_list(last);
        if (last->kind != N::kEnd) fail("expected end; found " + last->written());
      }
    }
    variables_.resize(scope);
    return n;
  }

  // ---- pipelines
  N::Own pipeline(std::string_view where, T::Kind end) {
    Level level(context_);
    N::Own pipe = node(N::kPipe, peek_word().at);
    declarations(*pipe, where);
    for (;;) {
      T t = next_word();
      if (t.kind == end) break;
      switch (t.kind) {
        case T::kBool:
        case T::kCharacter:
        case T::kComplex:
        case T::kDot:
        case T::kField:
        case T::kIdentifier:
        case T::kNumber:
        case T::kNil:
        case T::kRawString:
        case T::kString:
        case T::kVariable:
        case T::kLeftParen: break;
        default: unexpected(t, where);
      }
      back();
      pipe->parts.push_back(command());
    }
    if (pipe->parts.empty()) fail(fmt::format("missing value for {}", where));
    for (std::size_t i = 1; i < pipe->parts.size(); ++i) {
      N::Kind k = pipe->parts[i]->parts[0]->kind;
      if (k == N::kBool || k == N::kDot || k == N::kNil || k == N::kNumber || k == N::kString)
        fail(fmt::format("non executable command in pipeline stage {}", i + 1));
    }
    return pipe;
  }

  // $a :=, $a =, $a, $b :=
  void declarations(N& pipe, std::string_view where) {
    while (peek_word().kind == T::kVariable) {
      T variable = next_word(), after = peek(), word = peek_word();
      bool comma = word.kind == T::kChar && word.text == ",";
      if (word.kind != T::kAssign && word.kind != T::kDeclare && !comma) {
        after.kind == T::kSpace ? back(variable, after) : back(variable);
        return;
      }
      pipe.assigns = word.kind == T::kAssign;
      next_word();
      pipe.declared.push_back(variable_node(variable.at, variable.text));
      variables_.push_back(variable.text);
      if (!comma) return;
      if (where != "range" || pipe.declared.size() >= 2) fail(fmt::format("too many declarations in {}", where));
      T::Kind k = peek_word().kind;
      if (k != T::kVariable && k != T::kRightDelimiter && k != T::kRightParen)
        fail("range can only initialize variables");
    }
  }

  N::Own command() {
    N::Own n = node(N::kCommand, peek_word().at);
    for (;;) {
      peek_word();
      if (N::Own o = operand()) n->parts.push_back(std::move(o));
      T t = next();
      if (t.kind == T::kSpace) continue;
      if (t.kind == T::kRightDelimiter || t.kind == T::kRightParen)
        back();
      else if (t.kind != T::kPipe)
        unexpected(t, "operand");
      break;
    }
    if (n->parts.empty()) fail("empty command");
    return n;
  }

  N::Own operand() {
    N::Own n = term();
    if (!n || peek().kind != T::kField) return n;
    std::size_t at = peek().at;
    std::vector<std::string> names;
    while (peek().kind == T::kField) names.push_back(next().text.substr(1));
    switch (n->kind) {
      case N::kField:
      case N::kVariable:
        n->at = at;
        n->names.insert(n->names.end(), names.begin(), names.end());
        return n;
      case N::kBool:
      case N::kString:
      case N::kNumber:
      case N::kNil:
      case N::kDot: fail("unexpected . after term " + go_quote(n->written()));
      default: break;
    }
    N::Own chain = node(N::kChain, at);
    chain->parts.push_back(std::move(n));
    chain->names = std::move(names);
    return chain;
  }

  N::Own term() {
    T t = next_word();
    N::Own n;
    switch (t.kind) {
      case T::kIdentifier:
        if (!is_template_function(t.text)) fail(fmt::format("function {} not defined", go_quote(t.text)));
        n = node(N::kIdentifier, t.at);
        break;
      case T::kDot: return node(N::kDot, t.at);
      case T::kNil: return node(N::kNil, t.at);
      case T::kVariable:
        if (std::find(variables_.begin(), variables_.end(), t.text) == variables_.end())
          fail("undefined variable " + go_quote(t.text));
        return variable_node(t.at, t.text);
      case T::kField:
        n = node(N::kField, t.at);
        n->names.push_back(t.text.substr(1));
        return n;
      case T::kBool:
        n = node(N::kBool, t.at);
        n->constant = GoValue::boolean(t.text == "true");
        break;
      case T::kCharacter:
      case T::kComplex:
      case T::kNumber:
        n = node(N::kNumber, t.at);
        n->constant = literal([&] { return template_number(t.text, t.kind == T::kCharacter, n->overflows); });
        break;
      case T::kString:
      case T::kRawString:
        n = node(N::kString, t.at);
        n->constant = GoValue::string(literal([&] { return template_unquote(t.text); }));
        break;
      case T::kLeftParen: return pipeline("parenthesized pipeline", T::kRightParen);
      default: back(); return nullptr;
    }
    n->text = std::move(t.text);
    return n;
  }

  static N::Own variable_node(std::size_t at, const std::string& name) {
    N::Own n = node(N::kVariable, at);
    n->names.push_back(name);
    return n;
  }

  Context& context_;
  TemplateLexer lexer_;
  std::array<T, 3> tokens_;
  std::size_t put_back_ = 0;
  std::size_t action_line_ = 0;
  std::size_t ranges_ = 0;  // within each other
  std::vector<std::string> variables_{"$"};
  TemplateTrees trees_;
};

}  // namespace

TemplateTrees parse_template(Context& context, std::string_view source) {
  return TemplateParser(context, source).run();
}

}  // namespace tutti::cue
