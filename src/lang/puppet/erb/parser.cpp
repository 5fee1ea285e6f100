#include <algorithm>
#include <initializer_list>
#include <utility>

#include "lang/puppet/erb/syntax.h"

namespace tutti::puppet::erb {
namespace {

// By descent, in the order of Ruby's precedences. Whatever is not expected is not supported: Ruby decides whether it is
// an error.
class Parser {
 public:
  Parser(Budget& budget, Template& out) : budget_(budget), out_(out) {}

  void run(const std::vector<Token>& tokens) {
    scopes_.emplace_back();
    Window window(*this, tokens);
    out_.body = statements();
    if (peek().kind != TokenKind::kEnd) unexpected();
    out_.slots = static_cast<u32>(scopes_.back().size());
  }

 private:
  using Names = std::vector<std::string>;

  // The tokens that are read: those of the template, or those of an expression in a string.
  class Window {
   public:
    Window(Parser& parser, const std::vector<Token>& tokens)
        : parser_(parser), tokens_(std::exchange(parser.tokens_, &tokens)), at_(std::exchange(parser.at_, 0)) {}
    ~Window() {
      parser_.tokens_ = tokens_;
      parser_.at_ = at_;
    }
    Window(const Window&) = delete;
    Window& operator=(const Window&) = delete;

   private:
    Parser& parser_;
    const std::vector<Token>* tokens_;
    std::size_t at_;
  };

  // --- tokens

  const Token& peek(std::size_t n = 0) const { return (*tokens_)[std::min(at_ + n, tokens_->size() - 1)]; }
  const Token& take() {
    const Token& t = peek();
    at_++;
    return t;
  }
  [[noreturn]] void unexpected() { unsupported("syntax outside of the part of Ruby that is known here"); }

  bool at_operator(std::string_view text) const { return peek().kind == TokenKind::kOperator && peek().text == text; }
  bool at_keyword(std::string_view text) const { return peek().kind == TokenKind::kKeyword && peek().text == text; }
  bool at_any(std::initializer_list<std::string_view> operators) const {
    for (std::string_view op : operators)
      if (at_operator(op)) return true;
    return false;
  }
  bool accept(std::string_view op) {
    if (!at_operator(op)) return false;
    at_++;
    return true;
  }
  bool accept_keyword(std::string_view word) {
    if (!at_keyword(word)) return false;
    at_++;
    return true;
  }
  void expect(std::string_view op) {
    if (!accept(op)) unexpected();
  }
  void expect_keyword(std::string_view word) {
    if (!accept_keyword(word)) unexpected();
  }
  // Where an expression goes on in the next line; not over the end of a tag.
  void skip_newlines() {
    while (peek().kind == TokenKind::kNewline) {
      if (peek().boundary) unexpected();
      at_++;
    }
  }
  void skip_separators() {
    while (peek().kind == TokenKind::kNewline) at_++;
  }

  // --- nodes

  Node* make(NodeKind kind, std::vector<const Node*> kids = {}) {
    Node& n = out_.nodes.emplace_back();
    n.kind = kind;
    n.kids = std::move(kids);
    return &n;
  }
  Node* make_call(std::string name, std::vector<const Node*> kids) {
    Node* n = make(NodeKind::kCall, std::move(kids));
    n->text = std::move(name);
    return n;
  }

  // --- variables: a block sees those around it

  bool find_local(const std::string& name, u32& depth, u32& slot) const {
    for (std::size_t up = 0; up < scopes_.size(); up++) {
      const Names& names = scopes_[scopes_.size() - 1 - up];
      for (std::size_t i = names.size(); i-- > 0;) {
        if (names[i] != name) continue;
        depth = static_cast<u32>(up);
        slot = static_cast<u32>(i);
        return true;
      }
    }
    return false;
  }
  u32 declare(const std::string& name) {
    scopes_.back().push_back(name);
    return static_cast<u32>(scopes_.back().size() - 1);
  }
  const Node* local(const std::string& name) {
    u32 depth = 0, slot = 0;
    if (!find_local(name, depth, slot)) return nullptr;
    Node* n = make(NodeKind::kLocal);
    n->depth = depth;
    n->slot = slot;
    return n;
  }
  Node* set_local(const std::string& name) {
    Node* n = make(NodeKind::kSetLocal);
    if (!find_local(name, n->depth, n->slot)) n->slot = declare(name);
    return n;
  }

  // --- statements

  bool at_block_end() const {
    const Token& t = peek();
    if (t.kind == TokenKind::kEnd || t.kind == TokenKind::kShowEnd) return true;
    if (t.kind == TokenKind::kKeyword)
      return t.text == "end" || t.text == "else" || t.text == "elsif" || t.text == "when";
    return at_operator("}") || at_operator(")");
  }

  const Node* statements() {
    Budget::Level level(budget_);
    Node* all = make(NodeKind::kSequence);
    for (;;) {
      skip_separators();
      if (at_block_end()) return all;
      if (peek().kind == TokenKind::kText) {
        Node* n = make(NodeKind::kText);
        n->text = take().text;
        all->kids.push_back(n);
        continue;
      }
      if (peek().kind == TokenKind::kShow) {
        at_++;
        const Node* shown = statements();
        if (peek().kind != TokenKind::kShowEnd) unexpected();
        at_++;
        all->kids.push_back(make(NodeKind::kShow, {shown}));
        continue;
      }
      all->kids.push_back(statement());
      if (peek().kind != TokenKind::kNewline && !at_block_end()) unexpected();
    }
  }

  const Node* statement() {
    const Node* n = junction();
    for (;;) {
      if (accept_keyword("if")) {
        const Node* condition = junction();
        n = make(NodeKind::kIf, {condition, n, nullptr});
      } else if (accept_keyword("unless")) {
        const Node* condition = junction();
        n = make(NodeKind::kIf, {condition, nullptr, n});
      } else {
        return n;
      }
    }
  }

  const Node* junction() {
    Budget::Level level(budget_);
    const Node* n = negation();
    for (;;) {
      NodeKind kind = at_keyword("and") ? NodeKind::kAnd : NodeKind::kOr;
      if (!at_keyword("and") && !at_keyword("or")) return n;
      at_++;
      skip_newlines();
      const Node* right = negation();
      n = make(kind, {n, right});
    }
  }

  const Node* negation() {
    Budget::Level level(budget_);
    if (accept_keyword("not")) return make(NodeKind::kNot, {negation()});
    return expression();
  }

  // --- expressions

  const Node* expression() {
    Budget::Level level(budget_);
    if (peek().kind == TokenKind::kName && peek(1).kind == TokenKind::kOperator) {
      const std::string& op = peek(1).text;
      if (op == "=") {
        std::string name = take().text;
        at_++;
        skip_newlines();
        Node* set = set_local(name);  // a variable is known from here on, with nil in it
        set->kids.push_back(expression());
        if (at_operator(",")) unexpected();
        return set;
      }
      if (op.size() >= 2 && op.back() == '=' && is_assignment(op)) {
        std::string name = take().text;
        if (local(name) == nullptr) declare(name);  // with nil in it
        std::string what = take().text;
        what.pop_back();
        skip_newlines();
        const Node* value = expression();
        const Node* old = local(name);
        Node* set = set_local(name);
        return combine(what, old, value, set);
      }
    }
    if (peek().kind == TokenKind::kVariable && peek(1).kind == TokenKind::kOperator) {
      const std::string op = peek(1).text;
      if (op == "=" || is_assignment(op)) return set_variable(op);
    }
    const Node* left = ternary();
    if (left->kind == NodeKind::kCall && left->text == "[]" && left->kids.size() == 2 &&
        peek().kind == TokenKind::kOperator) {
      const std::string op = peek().text;
      if (op == "=") {
        at_++;
        skip_newlines();
        const Node* value = expression();
        return make(NodeKind::kSetIndex, {left->kids[0], left->kids[1], value});
      }
      if (is_assignment(op)) {
        if (!simple(left->kids[0]) || !simple(left->kids[1])) unsupported("an assignment to an element");
        at_++;
        skip_newlines();
        const Node* value = expression();
        Node* set = make(NodeKind::kSetIndex, {left->kids[0], left->kids[1]});
        return combine(op.substr(0, op.size() - 1), left, value, set);
      }
    }
    return left;
  }

  // @name = value, @name ||= value
  const Node* set_variable(const std::string& op) {
    Node* set = make(NodeKind::kSetVariable);
    set->text = peek().text;
    const Node* old = named(NodeKind::kVariable);
    at_++;
    skip_newlines();
    const Node* value = expression();
    if (at_operator(",")) unexpected();
    if (op != "=") return combine(op.substr(0, op.size() - 1), old, value, set);
    set->kids.push_back(value);
    return set;
  }

  static bool is_assignment(std::string_view op) {
    for (std::string_view known : {"+=", "-=", "*=", "/=", "%=", "||=", "&&=", "<<=", "|=", "&=", "**="})
      if (op == known) return true;
    return false;
  }
  // Evaluating it twice does no harm.
  static bool simple(const Node* n) {
    return n != nullptr && (n->kind == NodeKind::kLocal || n->kind == NodeKind::kInt || n->kind == NodeKind::kSymbol ||
                            n->kind == NodeKind::kVariable || (n->kind == NodeKind::kString && n->kids.empty()));
  }
  const Node* combine(const std::string& op, const Node* old, const Node* value, Node* set) {
    if (op == "||" || op == "&&") {
      set->kids.push_back(value);
      return make(op == "||" ? NodeKind::kOr : NodeKind::kAnd, {old, set});
    }
    set->kids.push_back(make_call(op, {old, value}));
    return set;
  }

  const Node* ternary() {
    Budget::Level level(budget_);
    const Node* n = range();
    if (!accept("?")) return n;
    skip_newlines();
    const Node* yes = ternary();
    skip_newlines();
    expect(":");
    skip_newlines();
    const Node* no = ternary();
    return make(NodeKind::kIf, {n, yes, no});
  }

  const Node* range() {
    const Node* n = binary(0);
    if (!at_any({"..", "..."})) return n;
    bool open = take().text == "...";
    const Node* to = binary(0);
    Node* r = make(NodeKind::kRange, {n, to});
    r->number = open;
    return r;
  }

  // From || down to **.
  static constexpr int kLevels = 10;
  static bool of_level(int level, std::string_view op) {
    static constexpr std::string_view kByLevel[kLevels] = {
        " || ", " && ", " == != =~ !~ <=> === ", " < <= > >= ", " | ^ ", " & ", " << >> ", " + - ", " * / % ", " ** "};
    std::string padded = " " + std::string(op) + " ";
    return kByLevel[level].find(padded) != std::string_view::npos;
  }

  const Node* binary(int level) {
    Budget::Level deeper(budget_);
    if (level == kLevels) return unary();
    const Node* n = binary(level + 1);
    while (peek().kind == TokenKind::kOperator && of_level(level, peek().text)) {
      // `name -x`, `name [x]`: a call with an argument, if the name is no variable.
      if (peek().number == 1 && n->kind == NodeKind::kCall && n->kids.size() == 1 && n->block == nullptr)
        unsupported("a call without brackets");
      const std::string op = take().text;
      skip_newlines();
      if (level == 9) unsupported("**");
      const Node* right = binary(level + 1);
      if (level == 0)
        n = make(NodeKind::kOr, {n, right});
      else if (level == 1)
        n = make(NodeKind::kAnd, {n, right});
      else if (op == "!=")
        n = make(NodeKind::kNot, {make_call("==", {n, right})});
      else if (op == "!~")
        n = make(NodeKind::kNot, {make_call("=~", {n, right})});
      else
        n = make_call(op, {n, right});
      if (level == 2) break;  // a == b == c is an error
    }
    return n;
  }

  const Node* unary() {
    Budget::Level level(budget_);
    if (accept("!")) {
      skip_newlines();
      return make(NodeKind::kNot, {unary()});
    }
    if (accept("-")) {
      if (peek().kind == TokenKind::kInt || peek().kind == TokenKind::kFloat) {
        Node* n = literal_number();
        n->number = -n->number;
        n->real = -n->real;
        return postfix(n);
      }
      return make_call("-@", {unary()});
    }
    if (at_keyword("defined?")) {
      at_++;
      bool bracket = accept("(");
      if (peek().kind != TokenKind::kVariable) unsupported("defined? of what is no variable of the template");
      Node* n = make(NodeKind::kDefined);
      n->text = take().text;
      if (bracket)
        expect(")");
      else if (peek().kind != TokenKind::kNewline && peek().kind != TokenKind::kEnd && !at_keyword("then"))
        unexpected();  // defined? @a and @b is about both
      return n;
    }
    return postfix(primary());
  }

  Node* literal_number() {
    const Token& t = take();
    Node* n = make(t.kind == TokenKind::kInt ? NodeKind::kInt : NodeKind::kFloat);
    n->number = t.number;
    n->real = t.real;
    return n;
  }

  const Node* postfix(const Node* n) {
    for (;;) {
      // .method may begin the next line.
      std::size_t ahead = 0;
      while (peek(ahead).kind == TokenKind::kNewline && !peek(ahead).boundary) ahead++;
      const Token& next = peek(ahead);
      if (next.kind == TokenKind::kOperator && (next.text == "." || next.text == "&.")) {
        at_ += ahead + 1;
        skip_newlines();
        if (peek().kind != TokenKind::kName) unexpected();
        Node* call = make_call(take().text, {n});
        call->safe = next.text == "&.";
        if (at_operator("=")) unexpected();
        arguments(*call);
        n = call;
      } else if (at_operator("[") && !(peek().spaced && n->kind == NodeKind::kCall)) {
        at_++;
        Node* call = make_call("[]", {n});
        list(*call, "]");
        n = call;
      } else {
        return n;
      }
    }
  }

  // What a call without brackets may begin its arguments with.
  bool at_argument() const {
    const Token& t = peek();
    if (!t.spaced) return false;
    switch (t.kind) {
      case TokenKind::kInt:
      case TokenKind::kFloat:
      case TokenKind::kString:
      case TokenKind::kWords:
      case TokenKind::kSymbol:
      case TokenKind::kName:
      case TokenKind::kConstant:
      case TokenKind::kLabel:
      case TokenKind::kGroup:
      case TokenKind::kVariable: return true;
      case TokenKind::kKeyword: return t.text == "nil" || t.text == "true" || t.text == "false";
      case TokenKind::kOperator: return t.text == "[" && t.number == 1;
      default: return false;
    }
  }

  void arguments(Node& call) {
    if (at_operator("(") && !peek().spaced) {
      at_++;
      list(call, ")");
    } else if (at_argument()) {
      commands_++;
      do {
        skip_newlines();
        call.kids.push_back(argument(call));
      } while (accept(","));
      commands_--;
    }
    if (call.block != nullptr) return;
    if (commands_ != 0 && at_keyword("do")) unsupported("`do` after arguments without brackets");
    if (at_operator("{"))
      call.block = block("}");
    else if (at_keyword("do"))
      call.block = block("end");
  }

  // Up to the closing bracket.
  void list(Node& into, std::string_view close) {
    skip_newlines();
    while (!accept(close)) {
      into.kids.push_back(argument(into));
      if (into.kids.back() == nullptr) into.kids.pop_back();
      skip_newlines();
      if (accept(",")) {
        skip_newlines();
        continue;
      }
      if (!at_operator(close)) unexpected();
    }
  }

  // nullptr: it was &:method, which is the block.
  const Node* argument(Node& call) {
    if (accept("*")) return make(NodeKind::kSplat, {ternary()});
    if (at_operator("&") && call.kind == NodeKind::kCall) {
      at_++;
      if (peek().kind != TokenKind::kSymbol) unsupported("a block that is passed on");
      Block& b = out_.blocks.emplace_back();
      b.method = take().text;
      call.block = &b;
      return nullptr;
    }
    if (peek().kind == TokenKind::kLabel) unsupported("named arguments");
    const Node* n = expression();
    if (at_operator("=>")) unsupported("named arguments");
    return n;
  }

  const Block* block(std::string_view close) {
    Budget::Level level(budget_);
    const int commands = std::exchange(commands_, 0);
    at_++;
    scopes_.emplace_back();
    Block& b = out_.blocks.emplace_back();
    if (accept("|")) {
      while (!accept("|")) {
        b.params.push_back(param());
        if (!accept(",")) continue;
        b.excess_comma = at_operator("|");
      }
      if (b.params.empty()) unexpected();
    } else if (accept("||")) {
      unexpected();
    }
    b.body = statements();
    if (close == "}")
      expect("}");
    else
      expect_keyword("end");
    b.slots = static_cast<u32>(scopes_.back().size());
    scopes_.pop_back();
    commands_ = commands;
    return &b;
  }

  BlockParam param() {
    Budget::Level level(budget_);
    BlockParam p;
    if (accept("(")) {
      do p.parts.push_back(param());
      while (accept(","));
      expect(")");
      return p;
    }
    p.rest = accept("*");
    if (peek().kind != TokenKind::kName) unexpected();
    p.slot = declare(take().text);
    if (at_operator("=")) unexpected();
    return p;
  }

  const Node* string(const Token& t, NodeKind kind) {
    Node* n = make(kind);
    n->text = t.text;
    if (kind == NodeKind::kString && t.pieces.size() == 1 && t.pieces[0].code.empty()) {
      n->text = t.pieces[0].text;
      return n;
    }
    for (const Piece& piece : t.pieces) {
      if (piece.code.empty()) {
        Node* text = make(NodeKind::kText);
        text->text = piece.text;
        n->kids.push_back(text);
        continue;
      }
      Window window(*this, piece.code);
      n->kids.push_back(statements());
      if (peek().kind != TokenKind::kEnd) unexpected();
    }
    return n;
  }

  const Node* primary() {
    Budget::Level level(budget_);
    const Token& t = peek();
    switch (t.kind) {
      case TokenKind::kInt:
      case TokenKind::kFloat: return literal_number();
      case TokenKind::kString: return string(take(), NodeKind::kString);
      case TokenKind::kRegex: return string(take(), NodeKind::kRegex);
      case TokenKind::kWords: {
        Node* n = make(NodeKind::kArray);
        for (const Piece& piece : take().pieces) {
          Node* word = make(NodeKind::kString);
          word->text = piece.text;
          n->kids.push_back(word);
        }
        return n;
      }
      case TokenKind::kSymbol: return named(NodeKind::kSymbol);
      case TokenKind::kVariable: return named(NodeKind::kVariable);
      case TokenKind::kGroup: {
        Node* n = make(NodeKind::kGroup);
        n->number = take().number;
        return n;
      }
      case TokenKind::kConstant:
        if (peek(1).kind == TokenKind::kOperator && peek(1).text == "(" && !peek(1).spaced) return call_of_self();
        return named(NodeKind::kConstant);
      case TokenKind::kName: {
        if (const Node* n = local(t.text); n != nullptr && !(peek(1).text == "(" && !peek(1).spaced)) {
          at_++;
          return n;
        }
        return call_of_self();
      }
      case TokenKind::kKeyword: return keyword();
      case TokenKind::kOperator: break;
      default: unexpected();
    }
    if (accept("(")) {
      const Node* n = statements();
      expect(")");
      return n;
    }
    if (accept("[")) {
      Node* n = make(NodeKind::kArray);
      list(*n, "]");
      return n;
    }
    if (at_operator("{")) return hash();
    unexpected();
  }

  const Node* named(NodeKind kind) {
    Node* n = make(kind);
    n->text = take().text;
    return n;
  }

  const Node* call_of_self() {
    Node* call = make_call(take().text, {nullptr});
    arguments(*call);
    return call;
  }

  const Node* hash() {
    at_++;
    Node* n = make(NodeKind::kHash);
    skip_newlines();
    while (!accept("}")) {
      if (peek().kind == TokenKind::kLabel) {
        n->kids.push_back(named(NodeKind::kSymbol));
      } else {
        n->kids.push_back(ternary());
        skip_newlines();
        expect("=>");
      }
      skip_newlines();
      n->kids.push_back(ternary());
      skip_newlines();
      if (accept(",")) {
        skip_newlines();
        continue;
      }
      if (!at_operator("}")) unexpected();
    }
    return n;
  }

  const Node* keyword() {
    const std::string word = take().text;
    if (word == "nil") return make(NodeKind::kNil);
    if (word == "true") return make(NodeKind::kTrue);
    if (word == "false") return make(NodeKind::kFalse);
    if (word == "if") return if_else();
    if (word == "unless") {
      const Node* condition = junction();
      accept_keyword("then");
      const Node* no = statements();
      const Node* yes = accept_keyword("else") ? statements() : nullptr;
      expect_keyword("end");
      return make(NodeKind::kIf, {condition, yes, no});
    }
    if (word == "case") return case_of();
    if (word == "def") return define();
    if (word == "next" || word == "break" || (word == "return" && in_method_)) {
      Node* n = make(word == "next" ? NodeKind::kNext : word == "break" ? NodeKind::kBreak : NodeKind::kReturn);
      bool ends = peek().kind == TokenKind::kNewline || at_block_end() || at_keyword("if") || at_keyword("unless");
      if (!ends) n->kids.push_back(expression());
      return n;
    }
    unsupported("the word `" + word + "`");
  }

  const Node* if_else() {
    Budget::Level level(budget_);
    const Node* condition = junction();
    accept_keyword("then");
    const Node* yes = statements();
    const Node* no = nullptr;
    if (accept_keyword("elsif")) {
      no = if_else();
      return make(NodeKind::kIf, {condition, yes, no});
    }
    if (accept_keyword("else")) no = statements();
    expect_keyword("end");
    return make(NodeKind::kIf, {condition, yes, no});
  }

  // A method of the template itself: it sees none of the variables around it.
  const Node* define() {
    if (in_method_ || peek().kind != TokenKind::kName || scopes_.size() != 1) unsupported("a method within another");
    Node* n = make(NodeKind::kDefine);
    n->text = take().text;
    std::vector<Names> outside = std::exchange(scopes_, {Names{}});
    in_method_ = true;
    Block& b = out_.blocks.emplace_back();
    if (accept("(")) {
      while (!accept(")")) {
        b.params.push_back(param());
        if (b.params.back().rest || !b.params.back().parts.empty()) unexpected();
        accept(",");
      }
    }
    b.body = statements();
    expect_keyword("end");
    b.slots = static_cast<u32>(scopes_.back().size());
    scopes_ = std::move(outside);
    in_method_ = false;
    n->block = &b;
    return n;
  }

  const Node* case_of() {
    Budget::Level level(budget_);
    Node* n = make(NodeKind::kCase);
    n->kids.push_back(peek().kind == TokenKind::kNewline ? nullptr : junction());
    skip_separators();
    if (!at_keyword("when")) unexpected();
    while (accept_keyword("when")) {
      Node* when = make(NodeKind::kWhen, {nullptr});
      do {
        skip_newlines();
        when->kids.push_back(argument(*when));
      } while (accept(","));
      accept_keyword("then");
      when->kids[0] = statements();
      n->kids.push_back(when);
    }
    n->kids.push_back(accept_keyword("else") ? statements() : nullptr);
    expect_keyword("end");
    return n;
  }

  Budget& budget_;
  Template& out_;
  const std::vector<Token>* tokens_ = nullptr;
  std::size_t at_ = 0;
  std::vector<Names> scopes_;
  bool in_method_ = false;
  int commands_ = 0;  // calls without brackets whose arguments are being read
};

}  // namespace

void parse(std::string_view text, Budget& budget, Template& out) {
  std::vector<Token> tokens = tokenize(text);
  Parser(budget, out).run(tokens);
}

}  // namespace tutti::puppet::erb
