#include "lang/puppet/syntax/parser.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cstdlib>
#include <string>

#include "base/utf8.h"
#include "lang/puppet/types/regex.h"

namespace tutti::puppet {

std::string_view op_text(Op op) {
  static constexpr std::array<std::string_view, 26> kText{
      "",   "+",   "-",  "*",  "/",  "%",  "<<", ">>", "==", "!=", "<",  "<=", ">",
      ">=", "and", "or", "=~", "!~", "in", "=",  "+=", "-=", "->", "~>", "<-", "<~"};
  return kText[static_cast<std::size_t>(op)];
}

namespace {

struct SyntaxError {};  // thrown to the nearest place from which parsing can go on; the error has been reported

constexpr std::array<std::string_view, 15> kStatementCalls{"require", "realize", "include", "contain", "tag",
                                                           "debug",   "info",    "notice",  "warning", "err",
                                                           "fail",    "import",  "break",   "next",    "return"};
bool is_statement_call(std::string_view name) {
  for (std::string_view s : kStatementCalls)
    if (s == name) return true;
  return false;
}

struct BinaryRule {
  Op op = Op::kNone;
  int power = 0;
};

// Precedence of the binary operators, higher binds tighter. Unary minus is 11, splat 12, not 13.
BinaryRule binary_rule(Tok t) {
  switch (t) {
    case Tok::kIn: return {Op::kIn, 10};
    case Tok::kMatch: return {Op::kMatch, 9};
    case Tok::kNoMatch: return {Op::kNoMatch, 9};
    case Tok::kTimes: return {Op::kTimes, 8};
    case Tok::kDiv: return {Op::kDiv, 8};
    case Tok::kModulo: return {Op::kModulo, 8};
    case Tok::kPlus: return {Op::kPlus, 7};
    case Tok::kMinus: return {Op::kMinus, 7};
    case Tok::kLShift: return {Op::kLShift, 6};
    case Tok::kRShift: return {Op::kRShift, 6};
    case Tok::kIsEqual: return {Op::kEqual, 5};
    case Tok::kNotEqual: return {Op::kNotEqual, 5};
    case Tok::kLess: return {Op::kLess, 4};
    case Tok::kLessEqual: return {Op::kLessEqual, 4};
    case Tok::kGreater: return {Op::kGreater, 4};
    case Tok::kGreaterEqual: return {Op::kGreaterEqual, 4};
    case Tok::kAnd: return {Op::kAnd, 2};
    case Tok::kOr: return {Op::kOr, 1};
    default: return {};
  }
}
constexpr int kSelectorPower = 3;

class Parser {
 public:
  Parser(const Source& source, TokenList list, Arena& arena, Diagnostics& diagnostics, Budget& budget)
      : source_(source),
        tokens_(std::move(list.tokens)),
        cut_(list.cut),
        cut_at_(list.cut_at),
        arena_(arena),
        diagnostics_(diagnostics),
        budget_(budget) {}

  std::unique_ptr<Program> program(LexMode mode) {
    auto p = std::make_unique<Program>();
    program_ = p.get();
    p->source = &source_;
    if (mode == LexMode::kEpp) {
      p->epp = true;
      if (at(Tok::kPipe)) {
        try {
          p->epp_params = true;
          p->params = lambda_params();
        } catch (SyntaxError&) {
          recover(at_);
        }
      }
    }
    std::vector<const Node*> all;
    for (;;) {
      const Node* part = statements(Tok::kEnd);
      all.push_back(part);
      if (at(Tok::kEnd)) break;
      unexpected();  // a stray closing brace
      next();
    }
    p->body = all.size() == 1 ? all[0] : kids(NodeKind::kBlock, all, pos(0), pos_end());
    return p;
  }

  const Node* lone_expression() {
    try {
      const Node* e = expression();
      if (!at(Tok::kEnd)) unexpected();
      return e;
    } catch (SyntaxError&) {
      return nullptr;
    }
  }

  Pos here() const { return pos_here(); }  // what is being read

 private:
  // --- tokens
  const Token& cur() const { return tokens_[at_]; }
  const Token& ahead(std::size_t n = 1) const { return tokens_[std::min(at_ + n, tokens_.size() - 1)]; }
  bool at(Tok t) const { return cur().kind == t; }
  Token next() {
    Token t = cur();
    if (at_ + 1 < tokens_.size()) ++at_;
    last_to_ = t.to;
    return t;
  }
  bool accept(Tok t) {
    if (!at(t)) return false;
    next();
    return true;
  }
  Pos pos(u32 offset) const { return source_.pos(offset); }
  Pos pos_here() const { return pos(cur().from); }
  Pos pos_end() const { return pos(last_to_); }

  [[noreturn]] void fail(const Token& t, std::string message, std::string help = {}) {
    if (!follows_from_cut(t)) {
      Diagnostic& d = diagnostics_.error("PP-SYNTAX", source_.span(t.from, t.to), std::move(message));
      d.suggest(std::move(help));
      if (const Token* open = t.kind == Tok::kEnd ? last_unclosed() : nullptr)
        d.relate(source_.span(open->from, open->to), "opened here and not closed");
    }
    throw SyntaxError{};
  }
  // What is wrong at the end, or on the line where a string begins that is never closed, has been told with the string.
  bool follows_from_cut(const Token& t) const {
    if (!cut_) return false;
    if (t.kind == Tok::kEnd) return true;
    std::size_t line = source_.text.rfind('\n', cut_at_);
    return t.from >= (line == std::string::npos ? 0 : line);
  }
  const Token* last_unclosed() const {
    std::vector<const Token*> open;
    for (const Token& t : tokens_) {
      switch (t.kind) {
        case Tok::kLBrace:
        case Tok::kLParen:
        case Tok::kWsLParen:
        case Tok::kLBrack:
        case Tok::kListStart: open.push_back(&t); break;
        case Tok::kRBrace:
        case Tok::kRParen:
        case Tok::kRBrack:
          if (!open.empty()) open.pop_back();
          break;
        default: break;
      }
    }
    return open.empty() ? nullptr : open.back();
  }
  Diagnostic& complain(Span span, std::string message, std::string help = {}) {
    return diagnostics_.error("PP-SYNTAX", span, std::move(message)).suggest(std::move(help));
  }
  Diagnostic& complain(const Token& t, std::string message, std::string help) {
    return complain(source_.span(t.from, t.to), std::move(message), std::move(help));
  }
  std::string describe(const Token& t) const {
    if (t.kind == Tok::kEnd) return "end of file";
    std::string_view text = std::string_view(source_.text).substr(t.from, std::min<u32>(t.to - t.from, 40));
    return fmt::format("`{}`", text.substr(0, text.find('\n')));
  }
  void unexpected() {
    if (follows_from_cut(cur())) return;
    complain(cur(), fmt::format("syntax error at {}", describe(cur())), hint());
  }
  Token expect(Tok t, std::string_view what, std::string help = {}) {
    if (!at(t))
      fail(cur(), fmt::format("syntax error at {}; expected {}", describe(cur()), what),
           help.empty() ? hint() : std::move(help));
    return next();
  }
  // What was probably meant by a token that cannot stand where it does.
  std::string hint() const {
    switch (cur().kind) {
      case Tok::kRBrace:
      case Tok::kRParen:
      case Tok::kRBrack: return closes();
      case Tok::kEquals: return "`==` compares, `=` sets a variable, `=>` gives an attribute its value";
      case Tok::kFArrow: return "`->` puts resources in order, `=>` stands only between a name and its value";
      case Tok::kPipe:
        if (at_ > 0 && tokens_[at_ - 1].kind == Tok::kLBrace)
          return "the parameters of a block stand before its `{`: `.each |$x| { ... }`";
        return ahead().kind == Tok::kPipe ? "write `or`" : "";
      case Tok::kElse:
      case Tok::kElsif: return "an `if` comes before it, whose `}` may be missing";
      default: return {};
    }
  }
  // What a closing bracket that is not expected here says: which one is still open, if any.
  std::string closes() const {
    auto of = [](Tok t) -> std::string_view {  // its pair; "": no bracket
      if (t == Tok::kLBrace || t == Tok::kRBrace) return "{}";
      if (t == Tok::kLParen || t == Tok::kWsLParen || t == Tok::kRParen) return "()";
      return t == Tok::kLBrack || t == Tok::kListStart || t == Tok::kRBrack ? "[]" : "";
    };
    std::vector<std::size_t> open;
    for (std::size_t n = 0; n < at_; ++n) {
      Tok t = tokens_[n].kind;
      bool closing = t == Tok::kRBrace || t == Tok::kRParen || t == Tok::kRBrack;
      if (!closing && !of(t).empty()) open.push_back(n);
      if (closing && !open.empty() && of(tokens_[open.back()].kind) == of(t)) open.pop_back();
    }
    if (open.empty()) return fmt::format("there is no `{}` that this closes", of(cur().kind)[0]);
    const Token& last = tokens_[open.back()];
    std::string_view pair = of(last.kind);
    if (pair == of(cur().kind)) return {};
    auto line = 1 + std::count(source_.text.begin(), source_.text.begin() + last.from, '\n');
    return fmt::format("the `{}` of line {} is still open: a `{}` is missing", pair[0], line, pair[1]);
  }
  // `=`, `:` or `->` where `=>` must be: told, and taken for it. True where there is an arrow of some kind.
  bool arrow(std::string_view between) {
    if (accept(Tok::kFArrow)) return true;
    if (!at(Tok::kEquals) && !at(Tok::kColon) && !at(Tok::kInEdge) && !at(Tok::kIsEqual)) return false;
    complain(cur(), fmt::format("syntax error at {}; expected `=>`", describe(cur())),
             fmt::format("{} stands `=>`", between));
    next();
    return true;
  }

  // Skips to where a statement may begin: past the braces that the failed one, which began at the token `first`, has
  // opened; or after a balanced block; or before the closing brace of the enclosing one.
  void recover(std::size_t first) {
    int depth = 0;
    for (std::size_t n = first; n < at_; ++n) {
      if (tokens_[n].kind == Tok::kLBrace) ++depth;
      if (tokens_[n].kind == Tok::kRBrace && depth > 0) --depth;
    }
    u32 start_line_guard = static_cast<u32>(at_);
    while (!at(Tok::kEnd)) {
      Tok t = cur().kind;
      if (t == Tok::kLBrace) ++depth;
      if (t == Tok::kRBrace) {
        if (depth == 0) return;
        if (--depth == 0) {
          next();
          return;
        }
      }
      bool starter = t == Tok::kClass || t == Tok::kDefine || t == Tok::kNode || t == Tok::kCase || t == Tok::kIf ||
                     t == Tok::kUnless || t == Tok::kFunction;
      if (depth == 0 && starter && at_ > start_line_guard && first_on_line(cur())) return;
      // A definition at the very beginning of a line: a brace was lost before it.
      bool definition = t == Tok::kClass || t == Tok::kDefine || t == Tok::kNode || t == Tok::kFunction;
      if (definition && at_ > start_line_guard && (cur().from == 0 || source_.text[cur().from - 1] == '\n')) return;
      next();
    }
  }
  bool first_on_line(const Token& t) const {
    for (std::size_t i = t.from; i > 0; --i) {
      char c = source_.text[i - 1];
      if (c == '\n') return true;
      if (c != ' ' && c != '\t') return false;
    }
    return true;
  }

  // --- making nodes
  template <class T>
  T* make(NodeKind kind, Pos begin, Pos end = {}) {
    T* n = arena_.make<T>();
    n->kind = kind;
    n->begin = begin;
    n->end = end ? end : pos_end();
    return n;
  }
  template <class T>
  std::span<const T> keep(const std::vector<T>& v) {
    return arena_.copy(std::span<const T>(v));
  }
  const Node* kids(NodeKind kind, const std::vector<const Node*>& items, Pos begin, Pos end = {}) {
    Kids* k = make<Kids>(kind, begin, end);
    k->items = keep(items);
    return k;
  }
  Literal* literal(NodeKind kind, std::string_view text, const Token& t) {
    Literal* l = make<Literal>(kind, pos(t.from), pos(t.to));
    l->text = text;
    return l;
  }
  const Node* named(NodeKind kind, const Token& t) {
    Named* n = make<Named>(kind, pos(t.from), pos(t.to));
    std::string_view text = t.text;
    if (text.substr(0, 2) == "::") text.remove_prefix(2), n->absolute = true;
    n->name = Symbol(text);
    if (kind == NodeKind::kVariable) {
      std::size_t cut = text.rfind("::");
      n->local = Symbol(cut == std::string_view::npos ? text : text.substr(cut + 2));
      if (cut != std::string_view::npos) n->scope = Symbol(text.substr(0, cut));
      if (text.size() < 4 && text.find_first_not_of("0123456789") == std::string_view::npos)
        std::from_chars(text.data(), text.data() + text.size(), n->capture);
    }
    return n;
  }

  // --- statements
  // Statements up to the closing token, which is not taken. After a syntax error goes on with the next statement.
  const Node* statements(Tok close) {
    Budget::Level level(budget_);
    Pos begin = pos_here();
    std::vector<const Node*> out;
    while (!at(Tok::kEnd) && !at(Tok::kRBrace)) {
      if (at(Tok::kSemic)) {
        unexpected();
        next();
        continue;
      }
      std::size_t first = at_;
      try {
        refuse_foreign_word();
        statement(out);
        if (accept(Tok::kSemic) && (at(Tok::kEnd) || at(Tok::kRBrace)))
          complain(cur(), fmt::format("syntax error at {}", describe(cur())),
                   "`;` stands between two statements, not after the last one");
      } catch (SyntaxError&) {
        recover(first);
      }
    }
    (void)close;
    if (out.size() == 1) return out[0];
    return kids(NodeKind::kBlock, out, begin);
  }

  // Words that begin statements in other languages. Here they could only be names, after which none of these stands.
  void refuse_foreign_word() {
    static constexpr std::pair<std::string_view, std::string_view> kWords[] = {
        {"for foreach", "a loop is a call: `$list.each |$item| { ... }`"},
        {"while until loop",
         "nothing is repeated while something holds: `each`, `map`, `filter` and `reduce` go through a list"},
        {"switch match", "write `case $value { 'a': { ... } default: { ... } }`"},
        {"def fn func sub proc",
         "write `function name($x) { ... }`, or `define name($x) { ... }` for a type of resources"},
        {"let var const local set", "a variable is set without a word before it: `$name = ...`"},
        {"puts print echo printf", "write `notice(...)`, or a resource: `notify { 'text': }`"},
    };
    if (!at(Tok::kName) || first_on_line(ahead())) return;
    switch (ahead().kind) {
      case Tok::kName:
      case Tok::kVariable:
      case Tok::kNumber:
      case Tok::kString:
      case Tok::kDqPre:
      case Tok::kTrue:
      case Tok::kFalse:
      case Tok::kNot: break;
      default: return;
    }
    for (auto [words, help] : kWords)
      for (std::size_t from = 0; from < words.size();) {
        std::string_view word = words.substr(from, words.find(' ', from) - from);
        from += word.size() + 1;
        if (word != cur().text) continue;
        fail(cur(), fmt::format("`{}` is not a word of this language", word), std::string(help));
      }
  }

  // One statement; `include a, b` and the like arrive as the name followed by its arguments.
  void statement(std::vector<const Node*>& out) {
    const Node* s = assignment();
    bool follows_name = !out.empty() && out.back()->kind == NodeKind::kName && bare_call_;
    if (at(Tok::kComma)) {
      Token comma = cur();
      std::vector<const Node*> list{s};
      while (accept(Tok::kComma)) list.push_back(assignment());
      if (follows_name) {
        out.back() = bare_call(as<Named>(out.back()), list);
        bare_call_ = false;
        return;
      }
      fail(comma, "illegal comma separated argument list: a statement cannot be followed by a comma");
    }
    if (follows_name) {
      out.back() = bare_call(as<Named>(out.back()), {s});
      bare_call_ = false;
      return;
    }
    bare_call_ = s->kind == NodeKind::kName && is_statement_call(as<Named>(s).name.text());
    out.push_back(s);
  }

  const Node* bare_call(const Named& name, const std::vector<const Node*>& args) {
    Call* c = make<Call>(NodeKind::kCall, name.begin);
    c->name = name.name;
    c->args = keep(args);
    c->statement = true;
    return c;
  }

  const Node* block() {
    expect(Tok::kLBrace, "`{`");
    bool outer = std::exchange(bare_call_, false);
    const Node* b = statements(Tok::kRBrace);
    bare_call_ = outer;
    expect(Tok::kRBrace, "`}`");
    return b;
  }

  const Node* assignment() {
    Budget::Level level(budget_);
    const Node* left = relationship();
    Op op = at(Tok::kEquals)    ? Op::kAssign
            : at(Tok::kAppends) ? Op::kAppend
            : at(Tok::kDeletes) ? Op::kDelete
                                : Op::kNone;
    if (op == Op::kNone) return left;
    next();
    const Node* right = assignment();
    Binary* b = make<Binary>(NodeKind::kAssign, left->begin);
    b->op = op;
    b->left = left;
    b->right = right;
    return b;
  }

  const Node* relationship() {
    const Node* left = resource();
    for (;;) {
      Op op = at(Tok::kInEdge)       ? Op::kBefore
              : at(Tok::kInEdgeSub)  ? Op::kNotify
              : at(Tok::kOutEdge)    ? Op::kAfter
              : at(Tok::kOutEdgeSub) ? Op::kSubscribe
                                     : Op::kNone;
      if (op == Op::kNone) return left;
      next();
      const Node* right = resource();
      Binary* b = make<Binary>(NodeKind::kRelation, left->begin);
      b->op = op;
      b->left = left;
      b->right = right;
      left = b;
    }
  }

  const Node* resource() {
    if (at(Tok::kAt) || at(Tok::kAtAt)) {
      Token t = next();
      const Node* r = resource();
      if (r->kind != NodeKind::kResource)
        fail(t, fmt::format("{} can only be applied to a resource expression",
                            t.kind == Tok::kAt ? "virtual (@)" : "exported (@@)"));
      ResourceDecl* copy = make<ResourceDecl>(NodeKind::kResource, pos(t.from));
      *copy = as<ResourceDecl>(r);
      copy->begin = pos(t.from);
      copy->form = t.kind == Tok::kAt ? Form::kVirtual : Form::kExported;
      return copy;
    }
    if (at(Tok::kClass) && ahead().kind == Tok::kLBrace) {
      Token t = next();
      t.text = "class";
      return resource_rest(named(NodeKind::kName, t));
    }
    const Node* left = expression();
    while (at(Tok::kLBrace)) left = resource_rest(left);
    return left;
  }

  bool at_attribute() const {
    const Token& t = cur();
    Tok after = ahead().kind;
    if (t.kind == Tok::kTimes) return after == Tok::kFArrow;
    return (t.kind == Tok::kName || is_keyword(t.kind)) && (after == Tok::kFArrow || after == Tok::kPArrow);
  }

  // `type { title: ... }`, `Type { ... }`, `Type[title] { ... }`, and `name { a => 1 }` for the bare calls.
  const Node* resource_rest(const Node* type) {
    Budget::Level level(budget_);
    Token open = expect(Tok::kLBrace, "`{`");
    bool untitled = at_attribute() || at(Tok::kRBrace);
    if (untitled) {
      std::vector<Attribute> attributes = attribute_list();
      expect(Tok::kRBrace, "`}`");
      if (type->kind == NodeKind::kName) {
        std::string_view name = as<Named>(type).name.text();
        if (!is_statement_call(name)) {
          complain(open, "syntax error: resource body without a title",
                   fmt::format("a resource has a title: `{} {{ 'title': ... }}`", name));
          return type;
        }
        return call_with_hash(as<Named>(type), attributes, open);
      }
      NodeKind kind = type->kind == NodeKind::kTypeName ? NodeKind::kDefaults
                      : type->kind == NodeKind::kAccess && as<Kids>(type).items[0]->kind == NodeKind::kTypeName
                          ? NodeKind::kOverride
                          : NodeKind::kNop;
      if (kind == NodeKind::kNop)
        fail(open, "this expression is not valid as a resource, resource default or resource override");
      ResourceDecl* r = make<ResourceDecl>(kind, type->begin);
      r->type = type;
      Body body;
      body.attributes = keep(attributes);
      body.begin = pos(open.from);
      r->bodies = keep(std::vector<Body>{body});
      return r;
    }
    std::vector<Body> bodies;
    while (!at(Tok::kRBrace)) {
      Body body;
      body.begin = pos_here();
      body.title = expression();
      if (at_attribute())  // the title is there and what follows it too: nothing else is wrong
        complain(cur(), fmt::format("syntax error at {}; expected `:` after the title", describe(cur())),
                 fmt::format("write `{}:`", describe_node(body.title)));
      else
        expect(Tok::kColon, "`:` after the title", colon_hint(type, !bodies.empty()));
      body.attributes = keep(attribute_list());
      bodies.push_back(body);
      if (!accept(Tok::kSemic)) break;
    }
    if (statement_begins()) {
      complain(cur(), fmt::format("syntax error at {}; expected `,`, `;` or `}}`", describe(cur())),
               "a `}` is missing before it")
          .relate(source_.span(open.from, open.to), "opened here and not closed");
    } else {
      expect(Tok::kRBrace, "`,`, `;` or `}`");
    }
    if (type->kind == NodeKind::kString || type->kind == NodeKind::kConcat || type->kind == NodeKind::kInteger)
      fail(open, "this expression is not valid as a resource type");
    ResourceDecl* r = make<ResourceDecl>(NodeKind::kResource, type->begin);
    r->type = type;
    r->bodies = keep(bodies);
    return r;
  }

  // The text of an expression as it was written, where that is short.
  std::string describe_node(const Node* n) const {
    std::size_t from = source_.offset(n->begin);
    std::string_view text = std::string_view(source_.text).substr(from, source_.offset(n->end) - from);
    return text.size() > 40 || text.find('\n') != std::string_view::npos ? "'title'" : std::string(text);
  }
  std::string colon_hint(const Node* type, bool another) const {
    if (at(Tok::kFArrow) && another) return "`;` begins another resource: attributes are separated with `,`";
    if (type->kind == NodeKind::kVariable) return "the parameters of a block stand between bars: `|$x| { ... }`";
    if (type->kind == NodeKind::kName) {
      std::string_view name = as<Named>(type).name.text();
      if (name == "elseif" || name == "elif") return "write `elsif`";
    }
    return hint();
  }

  const Node* call_with_hash(const Named& name, const std::vector<Attribute>& attributes, const Token& open) {
    std::vector<const Node*> items;
    for (const Attribute& a : attributes) {
      if (a.add || a.name.empty()) fail(open, "syntax error: resource body without a title");
      Named* key = make<Named>(NodeKind::kName, a.begin);
      key->name = a.name;
      items.push_back(key);
      items.push_back(a.value);
    }
    return bare_call(name, {kids(NodeKind::kHash, items, pos(open.from))});
  }

  // Whether a line begins here with what is more likely another statement than an attribute.
  bool statement_begins() const {
    if (!first_on_line(cur())) return false;
    switch (cur().kind) {
      case Tok::kName: return ahead().kind == Tok::kLBrace || ahead().kind == Tok::kLParen;
      case Tok::kVariable: return ahead().kind == Tok::kEquals;
      case Tok::kIf:
      case Tok::kUnless:
      case Tok::kCase:
      case Tok::kClass:
      case Tok::kDefine:
      case Tok::kNode:
      case Tok::kFunction: return ahead().kind != Tok::kFArrow && ahead().kind != Tok::kPArrow;
      default: return false;
    }
  }

  std::vector<Attribute> attribute_list() {
    std::vector<Attribute> out;
    if (at(Tok::kComma) && ahead().kind != Tok::kRBrace) next();  // Puppet's grammar takes one before the first
    while (!at(Tok::kRBrace) && !at(Tok::kSemic)) {
      bool named = at(Tok::kName) || is_keyword(cur().kind);
      Tok after = ahead().kind;
      if (!at_attribute()) {
        if (statement_begins()) break;  // the brace was forgotten, which the caller finds out
        if (!named || !(after == Tok::kEquals || after == Tok::kColon || after == Tok::kInEdge))
          fail(cur(), fmt::format("syntax error at {}; expected an attribute name and `=>`", describe(cur())));
      }
      Attribute a;
      Token name = next();
      a.begin = pos(name.from);
      if (name.kind != Tok::kTimes) a.name = Symbol(name.text);
      if (accept(Tok::kPArrow))
        a.add = true;
      else
        arrow("between an attribute and its value");
      a.value = expression();
      out.push_back(a);
      if (accept(Tok::kComma)) continue;
      if (!at_attribute()) break;
      complain(cur(), fmt::format("syntax error at {}; expected `,`, `;` or `}}`", describe(cur())),
               "a `,` is missing before it");
    }
    return out;
  }

  // --- expressions
  const Node* expression(int least = 0) {
    Budget::Level level(budget_);
    const Node* left = unary();
    for (;;) {
      if (at(Tok::kQMark)) {
        if (kSelectorPower < least) return left;
        bool in_braces = ahead().kind == Tok::kLBrace;
        left = selector(left);
        if (in_braces) left = postfix(left);  // what follows the brace takes the selector as a whole
        continue;
      }
      BinaryRule rule = binary_rule(cur().kind);
      if (rule.op == Op::kNone || rule.power < least) return left;
      next();
      const Node* right = expression(rule.power + 1);
      Binary* b = make<Binary>(NodeKind::kBinary, left->begin);
      b->op = rule.op;
      b->left = left;
      b->right = right;
      left = b;
    }
  }

  const Node* unary() {
    Tok t = cur().kind;
    if (t != Tok::kNot && t != Tok::kMinus && t != Tok::kTimes) return postfix(primary());
    Token op = next();
    Budget::Level level(budget_);
    NodeKind kind = t == Tok::kNot ? NodeKind::kNot : t == Tok::kMinus ? NodeKind::kNegate : NodeKind::kSplat;
    const Node* operand = unary();
    // A number with a minus is a literal, so that the smallest integer can be written.
    Unary* u = make<Unary>(kind, pos(op.from));
    u->expr = operand;
    return u;
  }

  const Node* selector(const Node* value) {
    next();
    std::vector<Option> options;
    if (accept(Tok::kLBrace)) {
      do {
        if (at(Tok::kRBrace)) break;
        options.push_back(selector_entry());
      } while (accept(Tok::kComma));
      expect(Tok::kRBrace, "`,` or `}`");
      if (options.empty()) fail(cur(), "a selector needs at least one option");
    } else {
      options.push_back(selector_entry());
    }
    Select* s = make<Select>(NodeKind::kSelector, value->begin);
    s->value = value;
    s->options = keep(options);
    return s;
  }
  Option selector_entry() {
    Option o;
    o.values = keep(std::vector<const Node*>{expression(kSelectorPower + 1)});
    if (!arrow("between an option of a selector and its result")) expect(Tok::kFArrow, "`=>`");
    o.result = expression(kSelectorPower);
    return o;
  }

  const Node* postfix(const Node* left) {
    for (;;) {
      switch (cur().kind) {
        case Tok::kLBrack: left = access(left); break;
        case Tok::kLParen:
          if (!callable(left)) return left;
          left = call(left);
          break;
        case Tok::kDot: left = method(left); break;
        case Tok::kLCollect:
        case Tok::kLLCollect: left = collect(left); break;
        default: return left;
      }
    }
  }

  static bool callable(const Node* n) {
    switch (n->kind) {
      case NodeKind::kName:
      case NodeKind::kTypeName:
      case NodeKind::kVariable:
      case NodeKind::kAccess:
      case NodeKind::kCall:
      case NodeKind::kMethodCall:
      case NodeKind::kParen: return true;
      default: return false;
    }
  }

  const Node* access(const Node* left) {
    next();
    std::vector<const Node*> items{left};
    collection_items(items, Tok::kRBrack, false);
    expect(Tok::kRBrack, "`]`");
    if (items.size() == 1) fail(cur(), "an index needs at least one value");
    return kids(NodeKind::kAccess, items, left->begin);
  }

  const Node* call(const Node* callee) {
    next();
    std::vector<const Node*> args;
    collection_items(args, Tok::kRParen, false);
    expect(Tok::kRParen, "`)`");
    const Lambda* block = at(Tok::kPipe) ? lambda() : nullptr;
    Call* c = make<Call>(NodeKind::kCall, callee->begin);
    if (callee->kind == NodeKind::kName)
      c->name = as<Named>(callee).name;
    else
      c->callee = callee;
    c->args = keep(args);
    c->block = block;
    return c;
  }

  const Node* method(const Node* receiver) {
    next();
    if (!at(Tok::kName) && !at(Tok::kType)) {
      bool text = at(Tok::kString) || at(Tok::kDqPre) || at(Tok::kVariable);
      fail(cur(), fmt::format("syntax error at {}; expected a function name", describe(cur())),
           text ? "`.` calls a function; texts are joined by interpolation: \"${a}${b}\"" : "");
    }
    Token name = next();
    if (at(Tok::kVariable) && ahead().kind == Tok::kLBrace && !first_on_line(cur()))
      fail(cur(), fmt::format("syntax error at {}; expected `|`", describe(cur())),
           fmt::format("the parameters of a block stand between bars: `|${}| {{ ... }}`", cur().text));
    std::vector<const Node*> args{receiver};
    if (at(Tok::kLParen)) {
      next();
      collection_items(args, Tok::kRParen, false);
      expect(Tok::kRParen, "`)`");
    }
    const Lambda* block = at(Tok::kPipe) ? lambda() : nullptr;
    Call* c = make<Call>(NodeKind::kMethodCall, receiver->begin);
    std::string_view text = name.text;
    if (text.substr(0, 2) == "::") text.remove_prefix(2);
    c->name = Symbol(text);
    c->name_at = pos(name.from);
    c->args = keep(args);
    c->block = block;
    return c;
  }

  const Node* collect(const Node* type) {
    Token open = next();
    Collect* c = make<Collect>(NodeKind::kCollect, type->begin);
    c->exported = open.kind == Tok::kLLCollect;
    c->type = type;
    Tok close = c->exported ? Tok::kRRCollect : Tok::kRCollect;
    if (!at(close)) c->query = expression();
    expect(close, c->exported ? "`|>>`" : "`|>`");
    if (at(Tok::kLBrace)) {
      next();
      c->attributes = keep(attribute_list());
      expect(Tok::kRBrace, "`}`");
    }
    c->end = pos_end();
    return c;
  }

  // Entries of a list, of arguments or of an index: `a => b` pairs that stand by themselves are gathered into a hash.
  void collection_items(std::vector<const Node*>& out, Tok close, bool keywords) {
    std::vector<const Node*> pairs;
    Pos pairs_begin;
    auto flush = [&] {
      if (!pairs.empty()) out.push_back(kids(NodeKind::kHash, pairs, pairs_begin));
      pairs.clear();
    };
    while (!at(close)) {
      Pos begin = pos_here();
      const Node* item = entry(keywords, close);
      if (accept(Tok::kFArrow)) {
        if (pairs.empty()) pairs_begin = begin;
        pairs.push_back(item);
        pairs.push_back(entry(true, close));
      } else {
        flush();
        out.push_back(item);
      }
      if (!accept(Tok::kComma)) break;
    }
    flush();
  }

  const Node* entry(bool keywords, Tok close) {
    bool word = at(Tok::kType) || at(Tok::kFunction);
    Tok after = ahead().kind;
    if (word && (after == Tok::kFArrow || (keywords && (after == Tok::kComma || after == close)))) {
      Token t = next();
      return literal(NodeKind::kString, t.text, t);
    }
    return assignment();
  }

  const Node* primary();
  const Node* number(const Token& t);
  const Node* interpolated();
  const Node* heredoc();
  const Node* hash();
  const Node* if_rest(Pos begin);
  const Node* case_rest(Pos begin);
  const Lambda* lambda();
  std::span<const Param> lambda_params();
  Param parameter();
  std::span<const Param> parameter_list();
  const Node* type_expression();
  const Node* class_or_define(Tok what);
  const Node* function();
  const Node* node_definition();
  const Node* type_alias();
  Symbol definition_name(bool prefix);
  std::string_view without_root(const Token& name);

  const Source& source_;
  std::vector<Token> tokens_;
  bool cut_;
  u32 cut_at_;
  std::size_t at_ = 0;
  u32 last_to_ = 0;
  Arena& arena_;
  Diagnostics& diagnostics_;
  Budget& budget_;
  Program* program_ = nullptr;
  bool bare_call_ = false;            // the last statement was the bare name of a statement function
  std::vector<std::string> classes_;  // names of the classes around, which prefix nested definitions
};

const Node* Parser::primary() {
  Budget::Level level(budget_);
  const Token t = cur();
  Pos begin = pos(t.from);
  switch (t.kind) {
    case Tok::kVariable: return next(), named(NodeKind::kVariable, t);
    case Tok::kName: return next(), named(NodeKind::kName, t);
    case Tok::kWord:
    case Tok::kString: return next(), literal(NodeKind::kString, t.text, t);
    case Tok::kTypeName: return next(), named(NodeKind::kTypeName, t);
    case Tok::kNumber: return next(), number(t);
    case Tok::kRegex: {
      next();
      if (std::string why; Regex::get(t.text, &why) == nullptr)
        complain(source_.span(t.from, t.to), fmt::format("{}: /{}/", why, t.text));
      return literal(NodeKind::kRegex, t.text, t);
    }
    case Tok::kDqPre: return interpolated();
    case Tok::kHeredoc: return heredoc();
    case Tok::kTrue:
    case Tok::kFalse: {
      next();
      Literal* l = literal(NodeKind::kBoolean, {}, t);
      l->boolean = t.kind == Tok::kTrue;
      return l;
    }
    case Tok::kUndef: return next(), make<Node>(NodeKind::kUndef, begin);
    case Tok::kDefault: return next(), make<Node>(NodeKind::kDefault, begin);
    case Tok::kListStart:
    case Tok::kLBrack: {
      next();
      std::vector<const Node*> items;
      collection_items(items, Tok::kRBrack, true);
      expect(Tok::kRBrack, "`,` or `]`");
      return kids(NodeKind::kArray, items, begin);
    }
    case Tok::kLBrace: return hash();
    case Tok::kLParen:
    case Tok::kWsLParen: {
      next();
      Unary* u = arena_.make<Unary>();
      u->kind = NodeKind::kParen;
      u->begin = begin;
      u->expr = assignment();
      expect(Tok::kRParen, "`)`");
      u->end = pos_end();
      return u;
    }
    case Tok::kIf: return next(), if_rest(begin);
    case Tok::kUnless: {
      next();
      If* n = arena_.make<If>();
      n->kind = NodeKind::kIf;
      n->begin = begin;
      n->unless = true;
      n->test = expression();
      n->yes = block();
      if (at(Tok::kElsif)) fail(cur(), "`unless` cannot have an `elsif`");
      if (accept(Tok::kElse)) n->no = block();
      n->end = pos_end();
      return n;
    }
    case Tok::kCase: return next(), case_rest(begin);
    case Tok::kClass:
    case Tok::kDefine: return next(), class_or_define(t.kind);
    case Tok::kFunction: return next(), function();
    case Tok::kNode: return next(), node_definition();
    case Tok::kType:
      next();
      if (at(Tok::kLParen)) {
        Named* n = make<Named>(NodeKind::kName, begin);
        n->name = Symbol("type");
        return n;
      }
      return type_alias();
    case Tok::kAttr:
    case Tok::kPrivate:
      next();
      fail(t, fmt::format("use of reserved word `{}`: quote it when it is meant as text", t.text));
    case Tok::kRenderString: return next(), literal(NodeKind::kRenderText, t.text, t);
    case Tok::kRenderExpr: {
      next();
      Unary* u = make<Unary>(NodeKind::kRender, begin);
      if (at(Tok::kLBrace) && !(ahead().kind == Tok::kRBrace)) {
        // A block, or a hash: a hash has => after its first entry. Try the block form only when it is no hash.
        std::size_t save = at_;
        std::size_t errors = diagnostics_.errors();
        (void)errors;
        next();
        bool is_hash = ahead().kind == Tok::kFArrow;
        at_ = save;
        u->expr = is_hash ? expression() : block();
      } else {
        u->expr = expression();
      }
      expect(Tok::kEppEnd, "`%>`");
      return u;
    }
    default: fail(t, fmt::format("syntax error at {}", describe(t)), hint());
  }
}

const Node* Parser::number(const Token& t) {
  std::string_view s = t.text;
  bool hex = s.size() > 2 && (s[1] == 'x' || s[1] == 'X');
  if (!hex && s.find_first_of(".eE") != std::string_view::npos) {
    Literal* l = literal(NodeKind::kFloat, s, t);
    l->real = std::strtod(std::string(s).c_str(), nullptr);
    return l;
  }
  Literal* l = literal(NodeKind::kInteger, s, t);
  int base = hex ? 16 : s.size() > 1 && s[0] == '0' ? 8 : 10;
  std::string_view digits = hex ? s.substr(2) : s;
  auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), l->integer, base);
  if (error == std::errc::result_out_of_range)
    complain(l->span(), fmt::format("`{}` does not fit a 64-bit integer", s));
  else if (end != digits.data() + digits.size())
    complain(l->span(), fmt::format("`{}` is not a number", s));
  return l;
}

// kDqPre expression (kDqMid expression)* kDqPost
const Node* Parser::interpolated() {
  std::vector<const Node*> items;
  Token t = next();
  Pos begin = pos(t.from);
  for (;;) {
    if (!t.text.empty()) items.push_back(literal(NodeKind::kString, t.text, t));
    if (t.kind == Tok::kDqPost) break;
    if (at(Tok::kDqMid) || at(Tok::kDqPost)) fail(cur(), "empty interpolation `${}`");
    Tok after = ahead().kind;
    bool as_variable = after == Tok::kDqMid || after == Tok::kDqPost || after == Tok::kLBrack || after == Tok::kDot;
    if ((at(Tok::kTrue) || at(Tok::kFalse)) && as_variable)
      fail(cur(), fmt::format("`{}` is neither a variable nor a call, which an interpolation begins with", cur().text));
    items.push_back(assignment());
    if (!at(Tok::kDqMid) && !at(Tok::kDqPost))
      fail(cur(), fmt::format("syntax error at {} in an interpolation; expected `}}`", describe(cur())));
    t = next();
  }
  return kids(NodeKind::kConcat, items, begin);
}

const Node* Parser::heredoc() {
  Token head = next();
  const Node* text = at(Tok::kDqPre) ? interpolated() : primary();
  if (head.text.empty()) return text;
  // A syntax was named: the text goes through a check when it is all literal (validate.cpp).
  Unary* u = make<Unary>(NodeKind::kParen, pos(head.from), pos(head.to));
  u->expr = text;
  if (text->kind == NodeKind::kString) program_->heredocs.push_back({head.text, &as<Literal>(text)});
  return u;
}

const Node* Parser::hash() {
  Token open = next();
  std::vector<const Node*> items;
  while (!at(Tok::kRBrace)) {
    items.push_back(entry(true, Tok::kFArrow));
    if (!arrow("between a key and its value")) expect(Tok::kFArrow, "`=>`");
    items.push_back(entry(true, Tok::kRBrace));
    if (!accept(Tok::kComma)) break;
  }
  expect(Tok::kRBrace, "`,` or `}`");
  return kids(NodeKind::kHash, items, pos(open.from));
}

const Node* Parser::if_rest(Pos begin) {
  Budget::Level level(budget_);
  If* n = arena_.make<If>();
  n->kind = NodeKind::kIf;
  n->begin = begin;
  n->test = expression();
  n->yes = block();
  if (at(Tok::kElsif)) {
    Pos at_elsif = pos_here();
    next();
    n->no = if_rest(at_elsif);
  } else if (at(Tok::kName) && (cur().text == "elseif" || cur().text == "elif" || cur().text == "elsif")) {
    Pos at_elsif = pos_here();
    complain(cur(), fmt::format("syntax error at {}", describe(cur())), "write `elsif`");
    next();
    n->no = if_rest(at_elsif);
  } else if (accept(Tok::kElse)) {
    if (at(Tok::kIf)) {
      Pos at_if = pos_here();
      complain(cur(), fmt::format("syntax error at {}; expected `{{`", describe(cur())),
               "write `elsif` in place of `else if`");
      next();
      n->no = if_rest(at_if);
    } else {
      n->no = block();
    }
  }
  n->end = pos_end();
  return n;
}

const Node* Parser::case_rest(Pos begin) {
  Select* s = arena_.make<Select>();
  s->kind = NodeKind::kCase;
  s->begin = begin;
  s->value = expression();
  expect(Tok::kLBrace, "`{`");
  std::vector<Option> options;
  do {
    Option o;
    std::vector<const Node*> values;
    do {
      if (at(Tok::kColon) && !values.empty()) break;
      values.push_back(expression());
    } while (accept(Tok::kComma));
    if (at(Tok::kLBrace) || at(Tok::kFArrow)) {
      complain(cur(), fmt::format("syntax error at {}; expected `:`", describe(cur())),
               "an option of `case` is written `value: { ... }`");
      accept(Tok::kFArrow);
    } else {
      expect(Tok::kColon, "`:`");
    }
    o.values = keep(values);
    o.result = block();
    options.push_back(o);
  } while (!at(Tok::kRBrace) && !at(Tok::kEnd));
  expect(Tok::kRBrace, "`}`");
  s->options = keep(options);
  s->end = pos_end();
  return s;
}

const Lambda* Parser::lambda() {
  Lambda* l = arena_.make<Lambda>();
  l->kind = NodeKind::kLambda;
  l->begin = pos_here();
  l->params = lambda_params();
  if (accept(Tok::kRShift)) l->returns = type_expression();
  l->body = block();
  l->end = pos_end();
  return l;
}

std::span<const Param> Parser::lambda_params() {
  expect(Tok::kPipe, "`|`");
  std::vector<Param> params;
  while (!at(Tok::kPipe)) {
    params.push_back(parameter());
    if (!accept(Tok::kComma)) break;
  }
  expect(Tok::kPipe, "`|`");
  return keep(params);
}

Param Parser::parameter() {
  Param p;
  if (at(Tok::kTypeName)) p.type = type_expression();
  if (accept(Tok::kTimes)) p.rest = true;
  p.begin = pos_here();
  Token name = expect(Tok::kVariable, "a parameter ($name)",
                      at(Tok::kName) ? fmt::format("parameters begin with `$`: `${}`", cur().text) : "");
  if (name.text.find("::") != std::string_view::npos)
    complain(source_.span(name.from, name.to),
             fmt::format("the parameter `${}` cannot have a qualified name", name.text));
  p.name = Symbol(name.text);
  if (accept(Tok::kEquals)) p.value = expression();
  return p;
}

std::span<const Param> Parser::parameter_list() {
  if (!at(Tok::kLParen) && !at(Tok::kWsLParen)) return {};
  next();
  std::vector<Param> params;
  while (!at(Tok::kRParen)) {
    params.push_back(parameter());
    if (!accept(Tok::kComma)) break;
  }
  expect(Tok::kRParen, "`,` or `)`");
  return keep(params);
}

const Node* Parser::type_expression() {
  Token t = expect(Tok::kTypeName, "a type");
  const Node* type = named(NodeKind::kTypeName, t);
  if (at(Tok::kLBrack)) return access(type);
  return type;
}

// What a definition could be called in place of a name that is not valid: `My-Class` is my_class.
static std::string plain_name(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c + 32);
    if (c == '-') c = '_';
  }
  return out;
}

// What is defined is named from the root in any case, and without saying so.
std::string_view Parser::without_root(const Token& name) {
  std::string_view text = name.text;
  if (text.substr(0, 2) != "::") return text;
  text.remove_prefix(2);
  complain(name, fmt::format("`{}` is unacceptable as the name of a definition", name.text),
           fmt::format("write `{}`", text));
  return text;
}

Symbol Parser::definition_name(bool prefix) {
  Token t = cur();
  if (t.kind == Tok::kClass) fail(t, "the keyword `class` cannot be a name here");
  if (t.kind == Tok::kString) fail(t, "a quoted string is not valid as a name here", "write it without quotes");
  if (t.kind != Tok::kName && t.kind != Tok::kWord && t.kind != Tok::kTypeName)
    fail(t, fmt::format("syntax error at {}; expected a name", describe(t)));
  next();
  if (t.kind != Tok::kName)
    complain(t, fmt::format("`{}` is not a valid name: lower case letters, digits and `_`", t.text),
             fmt::format("write `{}`", plain_name(t.text)));
  std::string_view text = without_root(t);
  std::string full;
  if (prefix && !classes_.empty()) full = classes_.back() + "::";
  full += text;
  return Symbol(full);
}

const Node* Parser::class_or_define(Tok what) {
  Definition* d = arena_.make<Definition>();
  d->kind = what == Tok::kClass ? NodeKind::kClass : NodeKind::kDefine;
  d->begin = pos(tokens_[at_ - 1].from);
  d->source = &source_;
  d->name = definition_name(true);
  if (d->kind == NodeKind::kClass) classes_.push_back(std::string(d->name.text()));
  std::size_t depth = classes_.size();
  std::size_t slot = program_->definitions.size();
  program_->definitions.push_back(d);
  try {
    d->params = parameter_list();
    if (d->kind == NodeKind::kClass && accept(Tok::kInherits)) {
      Token p = cur();
      if (p.kind != Tok::kName && p.kind != Tok::kDefault && p.kind != Tok::kWord)
        fail(p, fmt::format("syntax error at {}; expected the name of a class", describe(p)),
             p.kind == Tok::kString ? "write it without quotes" : "");
      next();
      std::string_view text = p.text;
      if (text.substr(0, 2) == "::") text.remove_prefix(2);
      d->parent = Symbol(text);
    }
    d->body = block();
  } catch (SyntaxError&) {
    classes_.resize(d->kind == NodeKind::kClass ? depth - 1 : depth);
    (void)slot;
    throw;
  }
  if (d->kind == NodeKind::kClass) classes_.pop_back();
  d->end = pos_end();
  return d;
}

const Node* Parser::function() {
  Definition* d = arena_.make<Definition>();
  d->kind = NodeKind::kFunction;
  d->begin = pos(tokens_[at_ - 1].from);
  d->source = &source_;
  d->name = definition_name(false);
  program_->definitions.push_back(d);
  d->params = parameter_list();
  if (accept(Tok::kRShift)) d->returns = type_expression();
  d->body = block();
  d->end = pos_end();
  return d;
}

const Node* Parser::node_definition() {
  Definition* d = arena_.make<Definition>();
  d->kind = NodeKind::kNodeDef;
  d->begin = pos(tokens_[at_ - 1].from);
  d->source = &source_;
  std::vector<const Node*> hosts;
  auto host = [&]() -> const Node* {
    Token t = cur();
    if (t.kind == Tok::kName || t.kind == Tok::kNumber || t.kind == Tok::kWord) {
      std::string text;
      Token last = t;
      do {
        last = cur();
        if (!at(Tok::kName) && !at(Tok::kNumber) && !at(Tok::kWord)) fail(cur(), "syntax error in a host name");
        text += next().text;
        if (at(Tok::kDot)) text += '.';
      } while (accept(Tok::kDot));
      Token whole = t;
      whole.to = last.to;
      return literal(NodeKind::kString, arena_.copy(std::string_view(text)), whole);
    }
    if (t.kind == Tok::kDefault || t.kind == Tok::kRegex || t.kind == Tok::kString || t.kind == Tok::kDqPre)
      return primary();
    fail(t, fmt::format("syntax error at {}; expected a host name", describe(t)));
  };
  do {
    if (at(Tok::kLBrace) && !hosts.empty()) break;  // after a last comma
    hosts.push_back(host());
  } while (accept(Tok::kComma));
  if (at(Tok::kInherits)) {
    Token t = next();
    host();
    complain(source_.span(t.from, t.to), "node inheritance is not supported: use classes");
  }
  d->hosts = keep(hosts);
  program_->definitions.push_back(d);
  d->body = block();
  d->end = pos_end();
  return d;
}

const Node* Parser::type_alias() {
  Definition* d = arena_.make<Definition>();
  d->kind = NodeKind::kTypeAlias;
  d->begin = pos(tokens_[at_ - 1].from);
  d->source = &source_;
  Token name = expect(Tok::kTypeName, "the name of the type");
  d->name = Symbol(without_root(name));
  if (at(Tok::kLBrace) || at(Tok::kInherits))
    fail(cur(), "type definitions of this form are not supported: use `type Name = Object[{...}]`");
  expect(Tok::kEquals, "`=`");
  if (at(Tok::kLBrace)) {
    d->body = hash();
  } else if (at(Tok::kTypeName)) {
    d->body = type_expression();
    if (at(Tok::kLBrace)) {  // Object { ... }
      const Node* type = d->body;
      const Node* arg = hash();
      d->body = kids(NodeKind::kAccess, {type, arg}, type->begin);
    }
  } else {
    d->body = primary();
  }
  d->end = pos_end();
  program_->definitions.push_back(d);
  return d;
}

}  // namespace

std::unique_ptr<Program> parse(const Source& source, LexMode mode, Arena& arena, Diagnostics& diagnostics,
                               Budget& budget) {
  std::size_t before = diagnostics.errors();
  if (std::size_t bad = utf8::first_invalid(source.text); bad != std::string_view::npos) {
    diagnostics.error("PP-ENCODING", source.pos(bad),
                      "this is not UTF-8, which manifests and templates are written in");
    auto nothing = std::make_unique<Program>();
    nothing->ok = false;
    return nothing;
  }
  TokenList tokens = lex(source, mode, arena, diagnostics);
  Parser parser(source, std::move(tokens), arena, diagnostics, budget);
  std::unique_ptr<Program> program;
  try {
    program = parser.program(mode);
  } catch (const LimitError& e) {
    throw LimitError(e.code(), e.what(), e.at() ? e.at() : parser.here().at);
  }
  if (diagnostics.errors() == before) validate(*program, diagnostics);
  program->ok = diagnostics.errors() == before;
  return program;
}

const Node* parse_expression(const Source& source, Arena& arena, Diagnostics& diagnostics, Budget& budget) {
  std::size_t before = diagnostics.errors();
  Parser parser(source, lex(source, LexMode::kManifest, arena, diagnostics), arena, diagnostics, budget);
  const Node* e = parser.lone_expression();
  return diagnostics.errors() == before ? e : nullptr;
}

}  // namespace tutti::puppet
