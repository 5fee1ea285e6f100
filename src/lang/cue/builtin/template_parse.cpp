// Go's templates: from items to a tree.
#include "lang/cue/builtin/template_parse.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "lang/cue/builtin/support.h"
#include "lang/cue/builtin/template_lex.h"
#include "lang/cue/format/literal.h"

namespace tutti::cue::templates {

bool is_function(std::string_view name) {
  static constexpr std::string_view kNames[] = {"and", "call", "html",  "index",  "slice",   "js",       "len",
                                                "not", "or",   "print", "printf", "println", "urlquery", "eq",
                                                "ge",  "gt",   "le",    "lt",     "ne"};
  return std::ranges::find(kNames, name) != std::end(kNames);
}

namespace {
std::string joined(const std::vector<std::string>& names, std::string_view before) {
  std::string out;
  for (std::size_t i = 0; i < names.size(); ++i) out += (i || !before.empty() ? std::string(".") : "") + names[i];
  return out;
}
}  // namespace

std::string Tree::shown() const {
  auto row = [&](std::string_view between) {
    std::string out;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      if (i) out += between;
      bool nested = kind == kCommand && parts[i]->kind == kPipe;
      out += nested ? "(" + parts[i]->shown() + ")" : parts[i]->shown();
    }
    return out;
  };
  auto control = [&](std::string_view word) {
    std::string out = "{{" + std::string(word) + " " + pipe->shown() + "}}" + list->shown();
    return out + (otherwise ? "{{else}}" + otherwise->shown() : "") + "{{end}}";
  };
  switch (kind) {
    case kText: return text;
    case kAction: return "{{" + pipe->shown() + "}}";
    case kPipe: {
      std::string out;
      for (std::size_t i = 0; i < declares.size(); ++i) out += (i ? ", " : "") + declares[i];
      if (!declares.empty()) out += assigns ? " = " : " := ";
      return out + row(" | ");
    }
    case kCommand: return row(" ");
    case kDot: return ".";
    case kNil: return "nil";
    case kBool: return truth ? "true" : "false";
    case kIdentifier:
    case kNumber:
    case kString: return text;
    case kField: return joined(names, ".");
    case kVariable: return joined(names, "");
    case kChain: {
      std::string of = parts[0]->kind == kPipe ? "(" + parts[0]->shown() + ")" : parts[0]->shown();
      return of + joined(names, ".");
    }
    case kIf: return control("if");
    case kRange: return control("range");
    case kWith: return control("with");
    case kTemplate: return "{{template " + go_quote(text) + (pipe ? " " + pipe->shown() : "") + "}}";
    case kBreak: return "{{break}}";
    case kContinue: return "{{continue}}";
    case kList: return row("");
    case kEnd: return "{{end}}";
    case kElse: return "{{else}}";
  }
  return {};
}

namespace {

class TemplateParser {
 public:
  explicit TemplateParser(std::string_view source) : lexer_(source) {}

  Parsed run() {
    out_.root = make(Tree::kList, 0);
    while (peek().kind != Item::kEof) {
      if (peek().kind == Item::kLeftDelim) {
        Item delim = next();
        if (next_word().kind == Item::kDefine) {
          definition();
          continue;
        }
        backup(delim);
      }
      TreePtr n = text_or_action();
      if (n->kind == Tree::kEnd || n->kind == Tree::kElse) fail("unexpected " + n->shown());
      out_.root->parts.push_back(n);
    }
    return std::move(out_);
  }

 private:
  static TreePtr make(Tree::Kind kind, std::size_t pos) {
    auto t = std::make_shared<Tree>();
    t->kind = kind;
    t->pos = pos;
    return t;
  }

  // ---- items, with as many taken back as Go's parser takes back
  Item next() {
    if (ahead_ > 0)
      --ahead_;
    else
      token_[0] = lexer_.next();
    return token_[ahead_];
  }
  void backup() { ++ahead_; }
  void backup(const Item& before) {
    token_[1] = before;
    ahead_ = 2;
  }
  void backup(const Item& before, const Item& then) {  // the first one comes first
    token_[1] = then;
    token_[2] = before;
    ahead_ = 3;
  }
  Item peek() {
    if (ahead_ > 0) return token_[ahead_ - 1];
    ahead_ = 1;
    token_[0] = lexer_.next();
    return token_[0];
  }
  Item next_word() {
    Item t = next();
    while (t.kind == Item::kSpace) t = next();
    return t;
  }
  Item peek_word() {
    Item t = next_word();
    backup();
    return t;
  }

  [[noreturn]] void fail(const std::string& what) {
    throw Failed{fmt::format("template: :{}: {}", token_[0].line, what)};
  }
  [[noreturn]] void unexpected(const Item& t, std::string_view context) {
    if (t.kind == Item::kError) {
      std::string extra;
      if (action_line_ != 0 && action_line_ != t.line) {
        extra = fmt::format(" in action started at :{}", action_line_);
        if (t.val.ends_with(" action")) extra.erase(0, std::string_view(" in action").size());
      }
      fail(t.shown() + extra);
    }
    fail(fmt::format("unexpected {} in {}", t.shown(), context));
  }
  Item expect(Item::Kind kind, std::string_view context) {
    Item t = next_word();
    if (t.kind != kind) unexpected(t, context);
    return t;
  }

  // ---- blocks
  TreePtr items(TreePtr& end) {
    TreePtr list = make(Tree::kList, peek_word().pos);
    while (peek_word().kind != Item::kEof) {
      TreePtr n = text_or_action();
      if (n->kind == Tree::kEnd || n->kind == Tree::kElse) {
        end = n;
        return list;
      }
      list->parts.push_back(n);
    }
    fail("unexpected EOF");
  }

  void definition() {
    constexpr std::string_view context = "define clause";
    Item t = next_word();
    if (t.kind != Item::kString && t.kind != Item::kRawString) unexpected(t, context);
    std::string name = unquoted(t);
    expect(Item::kRightDelim, context);
    auto vars = std::exchange(vars_, {"$"});
    TreePtr end, body = items(end);
    if (end->kind != Tree::kEnd) fail(fmt::format("unexpected {} in {}", end->shown(), context));
    vars_ = std::move(vars);
    add(name, body);
  }

  // A template that says nothing does not replace one that does.
  void add(const std::string& name, const TreePtr& body) {
    bool empty = std::ranges::all_of(body->parts, [](const TreePtr& t) {
      return t->kind == Tree::kText && t->text.find_first_not_of(" \t\r\n") == std::string::npos;
    });
    if (!empty || !out_.definitions.contains(name)) out_.definitions[name] = body;
  }

  std::string unquoted(const Item& t) {
    if (t.kind == Item::kRawString) {
      std::string s = t.val.substr(1, t.val.size() - 2);
      std::erase(s, '\r');
      return s;
    }
    Unquoted u = unquote(t.val);
    if (!u.error.empty()) fail("invalid syntax");
    return u.text;
  }

  TreePtr text_or_action() {
    Item t = next_word();
    if (t.kind == Item::kText) {
      TreePtr n = make(Tree::kText, t.pos);
      n->text = t.val;
      return n;
    }
    if (t.kind != Item::kLeftDelim) unexpected(t, "input");
    action_line_ = t.line;
    TreePtr n = action();
    action_line_ = 0;
    return n;
  }

  TreePtr action() {
    Item t = next_word();
    switch (t.kind) {
      case Item::kBlock: return block();
      case Item::kBreak:
      case Item::kContinue: {
        std::string word = "{{" + t.val + "}}";
        if (Item after = next_word(); after.kind != Item::kRightDelim) unexpected(after, word);
        if (ranges_ == 0) fail(word + " outside {{range}}");
        return make(t.kind == Item::kBreak ? Tree::kBreak : Tree::kContinue, t.pos);
      }
      case Item::kElse: {
        Item p = peek_word();
        if (p.kind == Item::kIf || p.kind == Item::kWith) return make(Tree::kElse, p.pos);
        return make(Tree::kElse, expect(Item::kRightDelim, "else").pos);
      }
      case Item::kEnd: return make(Tree::kEnd, expect(Item::kRightDelim, "end").pos);
      case Item::kIf: return control(Tree::kIf, "if");
      case Item::kRange: return control(Tree::kRange, "range");
      case Item::kWith: return control(Tree::kWith, "with");
      case Item::kTemplate: {
        constexpr std::string_view context = "template clause";
        Item name = next_word();
        TreePtr n = make(Tree::kTemplate, name.pos);
        n->text = template_name(name, context);
        if (next_word().kind != Item::kRightDelim) {
          backup();
          n->pipe = pipeline(context, Item::kRightDelim);
        }
        return n;
      }
      default: break;
    }
    backup();
    TreePtr n = make(Tree::kAction, peek().pos);
    n->pipe = pipeline("command", Item::kRightDelim);
    return n;
  }

  std::string template_name(const Item& t, std::string_view context) {
    if (t.kind != Item::kString && t.kind != Item::kRawString) unexpected(t, context);
    return unquoted(t);
  }

  TreePtr block() {
    constexpr std::string_view context = "block clause";
    Item name = next_word();
    TreePtr n = make(Tree::kTemplate, name.pos);
    n->text = template_name(name, context);
    n->pipe = pipeline(context, Item::kRightDelim);
    auto vars = std::exchange(vars_, {"$"});
    TreePtr end, body = items(end);
    if (end->kind != Tree::kEnd) fail(fmt::format("unexpected {} in {}", end->shown(), context));
    vars_ = std::move(vars);
    add(n->text, body);
    return n;
  }

  TreePtr control(Tree::Kind kind, std::string_view context) {
    std::size_t vars = vars_.size();
    TreePtr n = make(kind, peek_word().pos);
    n->pipe = pipeline(context, Item::kRightDelim);
    if (kind == Tree::kRange) ++ranges_;
    TreePtr end;
    n->list = items(end);
    if (kind == Tree::kRange) --ranges_;
    if (end->kind == Tree::kElse) {
      Item::Kind again = kind == Tree::kIf ? Item::kIf : kind == Tree::kWith ? Item::kWith : Item::kEof;
      if (peek().kind == again && again != Item::kEof) {
        next();
        n->otherwise = make(Tree::kList, end->pos);
        n->otherwise->parts.push_back(control(kind, context));
      } else {
        n->otherwise = items(end);
        if (end->kind != Tree::kEnd) fail("expected end; found " + end->shown());
      }
    }
    vars_.resize(vars);
    return n;
  }

  // ---- pipelines
  TreePtr pipeline(std::string_view context, Item::Kind end) {
    TreePtr pipe = make(Tree::kPipe, peek_word().pos);
    declarations(*pipe, context);
    for (;;) {
      Item t = next_word();
      if (t.kind == end) break;
      switch (t.kind) {
        case Item::kBool:
        case Item::kCharConstant:
        case Item::kComplex:
        case Item::kDot:
        case Item::kField:
        case Item::kIdentifier:
        case Item::kNumber:
        case Item::kNil:
        case Item::kRawString:
        case Item::kString:
        case Item::kVariable:
        case Item::kLeftParen:
          backup();
          pipe->parts.push_back(command());
          break;
        default: unexpected(t, context);
      }
    }
    if (pipe->parts.empty()) fail(fmt::format("missing value for {}", context));
    for (std::size_t i = 1; i < pipe->parts.size(); ++i) switch (pipe->parts[i]->parts[0]->kind) {
        case Tree::kBool:
        case Tree::kDot:
        case Tree::kNil:
        case Tree::kNumber:
        case Tree::kString: fail(fmt::format("non executable command in pipeline stage {}", i + 1));
        default: break;
      }
    return pipe;
  }

  void declarations(Tree& pipe, std::string_view context) {
    for (;;) {
      Item v = peek_word();
      if (v.kind != Item::kVariable) return;
      next();
      Item after = peek(), t = peek_word();
      if (t.kind == Item::kAssign || t.kind == Item::kDeclare) {
        pipe.assigns = t.kind == Item::kAssign;
        next_word();
        pipe.declares.push_back(v.val);
        vars_.push_back(v.val);
        return;
      }
      if (t.kind == Item::kChar && t.val == ",") {
        next_word();
        pipe.declares.push_back(v.val);
        vars_.push_back(v.val);
        if (context == "range" && pipe.declares.size() < 2) {
          Item p = peek_word();
          if (p.kind == Item::kVariable || p.kind == Item::kRightDelim || p.kind == Item::kRightParen) continue;
          fail("range can only initialize variables");
        }
        fail(fmt::format("too many declarations in {}", context));
      }
      if (after.kind == Item::kSpace)
        backup(v, after);
      else
        backup(v);
      return;
    }
  }

  TreePtr command() {
    TreePtr cmd = make(Tree::kCommand, peek_word().pos);
    for (;;) {
      peek_word();
      if (TreePtr o = operand()) cmd->parts.push_back(o);
      Item t = next();
      if (t.kind == Item::kSpace) continue;
      if (t.kind == Item::kRightDelim || t.kind == Item::kRightParen)
        backup();
      else if (t.kind != Item::kPipe)
        unexpected(t, "operand");
      break;
    }
    if (cmd->parts.empty()) fail("empty command");
    return cmd;
  }

  TreePtr operand() {
    TreePtr n = term();
    if (!n || peek().kind != Item::kField) return n;
    TreePtr chain = make(Tree::kChain, peek().pos);
    chain->parts.push_back(n);
    while (peek().kind == Item::kField) chain->names.push_back(next().val.substr(1));
    switch (n->kind) {
      case Tree::kField:
      case Tree::kVariable: {
        TreePtr whole = make(n->kind, chain->pos);
        whole->names = n->names;
        whole->names.insert(whole->names.end(), chain->names.begin(), chain->names.end());
        return whole;
      }
      case Tree::kBool:
      case Tree::kString:
      case Tree::kNumber:
      case Tree::kNil:
      case Tree::kDot: fail(fmt::format("unexpected . after term {}", go_quote(n->shown())));
      default: return chain;
    }
  }

  TreePtr term() {
    Item t = next_word();
    switch (t.kind) {
      case Item::kIdentifier: {
        if (!is_function(t.val)) fail(fmt::format("function {} not defined", go_quote(t.val)));
        TreePtr n = make(Tree::kIdentifier, t.pos);
        n->text = t.val;
        return n;
      }
      case Item::kDot: return make(Tree::kDot, t.pos);
      case Item::kNil: return make(Tree::kNil, t.pos);
      case Item::kVariable: {
        if (std::ranges::find(vars_, t.val) == vars_.end()) fail(fmt::format("undefined variable {}", go_quote(t.val)));
        TreePtr n = make(Tree::kVariable, t.pos);
        n->names = {t.val};
        return n;
      }
      case Item::kField: {
        TreePtr n = make(Tree::kField, t.pos);
        n->names = {t.val.substr(1)};
        return n;
      }
      case Item::kBool: {
        TreePtr n = make(Tree::kBool, t.pos);
        n->truth = t.val == "true";
        return n;
      }
      case Item::kCharConstant:
      case Item::kComplex:
      case Item::kNumber: {
        TreePtr n = make(Tree::kNumber, t.pos);
        n->text = t.val;
        if (t.kind == Item::kCharConstant) check_character(t.val);
        return n;
      }
      case Item::kString:
      case Item::kRawString: {
        TreePtr n = make(Tree::kString, t.pos);
        n->text = t.val;
        n->value = unquoted(t);
        return n;
      }
      case Item::kLeftParen: return pipeline("parenthesized pipeline", Item::kRightParen);
      default: backup(); return nullptr;
    }
  }

  void check_character(const std::string& s) {
    std::size_t runes = 0;
    for (std::size_t i = 1; i + 1 < s.size(); ++i) {
      if (s[i] == '\\') return;  // an escape, looked at when it is evaluated
      if ((static_cast<unsigned char>(s[i]) & 0xC0) != 0x80) ++runes;
    }
    if (runes != 1) fail("malformed character constant: " + s);
  }

  Lexer lexer_;
  std::array<Item, 3> token_;
  int ahead_ = 0, action_line_ = 0, ranges_ = 0;
  std::vector<std::string> vars_ = {"$"};
  Parsed out_;
};

}  // namespace

Parsed parse(std::string_view source) { return TemplateParser(source).run(); }

}  // namespace tutti::cue::templates
