#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <limits>

#include "lang/smartfrog/syntax/java_number.h"
#include "lang/smartfrog/syntax/parser.h"

namespace tutti::smartfrog {
namespace {

const Symbol kLong("LONG"), kFloat("FLOAT"), kDouble("DOUBLE");

bool is_nary(Tok t) {
  switch (t) {
    case Tok::kPlus:
    case Tok::kTimes:
    case Tok::kConcat:
    case Tok::kAppend:
    case Tok::kAnd:
    case Tok::kOr:
    case Tok::kXor:
    case Tok::kImplies: return true;
    default: return false;
  }
}

bool is_operator(Tok t) { return t >= Tok::kPlus && t <= Tok::kImplies && t != Tok::kNot; }

}  // namespace

Expr Parser::literal(const Token& t, Value v) {
  Expr e;
  e.kind = ExprKind::kLiteral;
  e.begin = lexer_->pos(t.begin);
  e.end = lexer_->pos(t.end);
  e.literal = v.with_origin(e.begin);
  return e;
}

Expr Parser::read_value() {
  if (level_ == Level::kProduction) {
    if (at(Tok::kSemicolon)) {  // a marker: an attribute without a value
      Expr e;
      e.begin = e.end = begin();
      take();
      return e;
    }
    return read_simple();
  }
  Expr e;
  if (at(Tok::kWord))
    e = read_reference(false);
  else
    e = read_core_basic();
  if (!at(Tok::kSemicolon)) fail("`;` after a value");
  take();
  return e;
}

// BV of appendix A.
Expr Parser::read_core_basic() {
  switch (ahead_.kind) {
    case Tok::kTrue:
    case Tok::kFalse: {
      Token t = take();
      return literal(t, Value::boolean(t.kind == Tok::kTrue));
    }
    case Tok::kNull: return literal(take(), Value::null());
    case Tok::kString: {
      Token t = take();
      return literal(t, Value::string(lexer_->string_value(t)));
    }
    case Tok::kInteger:
    case Tok::kDouble: return number(take());
    case Tok::kData: {
      take();
      return read_reference(true);
    }
    case Tok::kLeftBracket: return read_vector(Tok::kRightBracket, true);
    case Tok::kWord:
      fail_at(lexer_->span(ahead_),
              fmt::format("a vector holds basic values, not references such as `{}`", lexer_->text(ahead_)),
              "references in vectors need --level production");
    default: fail("a value");
  }
}

Expr Parser::number(const Token& t) {
  std::string_view text = lexer_->text(t);
  if (level_ == Level::kCore) return literal(t, Value::number(text));
  auto complain = [&] {
    session_.diagnostics.error("SF-PARSE", lexer_->span(t), fmt::format("{} is too large for its type", text))
        .suggest(t.kind == Tok::kInteger ? "write an L after it to make it a long" : "");
    return literal(t, Value::integer(0));
  };
  if (t.kind == Tok::kInteger || t.kind == Tok::kLong) {
    if (t.kind == Tok::kLong) text.remove_suffix(1);
    i64 i = 0;
    auto [end, err] = std::from_chars(text.data(), text.data() + text.size(), i);
    if (err != std::errc() || end != text.data() + text.size()) return complain();
    if (t.kind == Tok::kLong) return literal(t, Value::integer(i).with_tag(kLong));
    if (i > std::numeric_limits<i32>::max() || i < std::numeric_limits<i32>::min()) return complain();
    return literal(t, Value::integer(i));
  }
  if (std::string_view("dDfF").find(text.back()) != std::string_view::npos) text.remove_suffix(1);
  if (t.kind == Tok::kFloat) return literal(t, java_float(java_parse_float(text), session_.arena));
  return literal(t, java_double(java_parse_double(text), session_.arena));
}

Expr Parser::bytes(const Token& t) {
  std::string_view text = lexer_->text(t);
  std::string_view base = text.substr(1, 3);
  std::string digits;
  for (char c : text.substr(5, text.size() - 6))
    if (c != ' ' && c != '\n' && c != '\t' && c != '\r') digits += c;
  std::size_t width = base == "HEX" ? 2 : base == "BIN" ? 8 : 3;
  int radix = base == "HEX" ? 16 : base == "DEC" ? 10 : base == "OCT" ? 8 : 2;
  if (base == "B64") fail_at(lexer_->span(t), "byte arrays in base 64 are not supported", "use #HEX#");
  if (digits.size() % width != 0)
    fail_at(lexer_->span(t),
            fmt::format("a byte takes {} digits in {}, and {} are not so many bytes", width, base, digits.size()));
  std::string out;
  for (std::size_t i = 0; i < digits.size(); i += width) {
    int byte = 0;
    auto [end, err] = std::from_chars(digits.data() + i, digits.data() + i + width, byte, radix);
    if (err != std::errc() || end != digits.data() + i + width || byte < 0 || byte > 255)
      fail_at(lexer_->span(t), fmt::format("`{}` is no byte in {}", digits.substr(i, width), base));
    out += static_cast<char>(byte);
  }
  return literal(t, Value::bytes(session_.arena.copy(out)));
}

// ---- the production language

void Parser::too_deep(std::string_view what) const {
  throw LimitError("LIMIT-DEPTH", fmt::format("{} may be nested {} deep", what, kMaxExpressionDepth),
                   lexer_->span(ahead_).begin.at);
}

Expr Parser::read_simple() {
  if (++depth_ > kMaxExpressionDepth) too_deep("expressions");
  struct Out {
    u32& depth;
    ~Out() { depth = depth > 0 ? depth - 1 : 0; }
  } out{depth_};
  switch (ahead_.kind) {
    case Tok::kLeftParen: {
      take();
      Expr e = at(Tok::kExtends) ? read_component_expr() : read_operator();
      expect(Tok::kRightParen, "after the expression");
      return e;
    }
    case Tok::kIf: return read_if();
    case Tok::kSwitch: return read_switch();
    case Tok::kLeftBracket: return read_vector(Tok::kRightBracket, false);
    case Tok::kLazy:
    case Tok::kOptional:
    case Tok::kApply:
    case Tok::kAssert:
    case Tok::kAttrib:
    case Tok::kConstant:
    case Tok::kEnvProperty:
    case Tok::kHere:
    case Tok::kHost:
    case Tok::kIntEnvProperty:
    case Tok::kIntProperty:
    case Tok::kParent:
    case Tok::kProcess:
    case Tok::kProperty:
    case Tok::kRoot:
    case Tok::kThis:
    case Tok::kWord: return read_reference(false);
    default: return read_primitive();
  }
}

Expr Parser::read_primitive() {
  switch (ahead_.kind) {
    case Tok::kNull: return literal(take(), Value::null());
    case Tok::kTrue:
    case Tok::kFalse: {
      Token t = take();
      return literal(t, Value::boolean(t.kind == Tok::kTrue));
    }
    case Tok::kString:
    case Tok::kMultiline: {
      Token t = take();
      return literal(t, Value::string(lexer_->string_value(t)));
    }
    case Tok::kInteger:
    case Tok::kLong:
    case Tok::kFloat:
    case Tok::kDouble: return number(take());
    case Tok::kBytes: return bytes(take());
    case Tok::kVectorStart: return read_vector(Tok::kVectorEnd, true);
    case Tok::kData: take(); return read_reference(true);
    case Tok::kTbd: {
      Expr e = literal(take(), Value::null());
      e.kind = ExprKind::kTbd;
      return e;
    }
    case Tok::kVar: {
      Expr e = literal(take(), Value::null());
      e.kind = ExprKind::kVar;
      if (accept(Tok::kLeftBrace)) {
        if (at(Tok::kString) || at(Tok::kMultiline))
          take();
        else
          read_reference(false);
        expect(Tok::kComma, "in a VAR");
        read_primitive();
        expect(Tok::kRightBrace, "after a VAR");
      } else if (at(Tok::kString) || at(Tok::kMultiline)) {
        take();
      } else if (at(Tok::kWord) || (ahead_.kind >= Tok::kApply && ahead_.kind <= Tok::kThis && !at(Tok::kElse) &&
                                    !at(Tok::kFi) && !at(Tok::kThen) && !at(Tok::kEndSwitch) && !at(Tok::kIf))) {
        read_reference(false);
      }
      e.end = end();
      return e;
    }
    case Tok::kExtends:
      fail_at(lexer_->span(ahead_), "a component is not a value here", "put it in parentheses: (extends { ... })");
    default: fail("a value");
  }
}

Expr Parser::read_vector(Tok closer, bool data_only) {
  if (++depth_ > kMaxExpressionDepth) too_deep("vectors");
  Expr e;
  e.kind = data_only ? ExprKind::kList : ExprKind::kVector;
  e.begin = begin();
  take();
  std::vector<Expr> items;
  if (!at(closer)) {
    do {
      items.push_back(!data_only ? read_simple() : level_ == Level::kCore ? read_core_basic() : read_primitive());
    } while (accept(Tok::kComma));
  }
  if (!at(closer)) fail(fmt::format("`,` or {} in a vector", token_words(closer)));
  take();
  e.end = end();
  e.count = static_cast<u32>(items.size());
  e.items = session_.arena.copy(std::span<const Expr>(items)).data();
  if (!data_only) {
    e.unique = next_unique_;
    next_unique_ += e.count;
  }
  if (depth_ > 0) depth_--;
  return e;
}

// What stands between parentheses: one operator kind only, so that nobody has to know precedences.
Expr Parser::read_operator() {
  Expr e;
  e.kind = ExprKind::kOperator;
  e.begin = begin();
  std::vector<Expr> items;
  if (accept(Tok::kNot)) {
    e.op = Tok::kNot;
    items.push_back(read_simple());
  } else {
    Expr only = read_simple();
    if (!is_operator(ahead_.kind)) return only;
    items.push_back(only);
    e.op = ahead_.kind;
    do {
      take();
      items.push_back(read_simple());
    } while (is_nary(e.op) && at(e.op));
    if (is_operator(ahead_.kind))
      fail_at(lexer_->span(ahead_),
              at(e.op) ? fmt::format("`{}` takes two operands only", lexer_->text(ahead_))
                       : "different operators in one pair of parentheses",
              "put each operation in parentheses of its own");
  }
  e.end = end();
  e.count = static_cast<u32>(items.size());
  e.items = session_.arena.copy(std::span<const Expr>(items)).data();
  if (is_nary(e.op)) {
    e.unique = next_unique_;
    next_unique_ += e.count;
  }
  return e;
}

Expr Parser::read_if() {
  Expr e;
  e.kind = ExprKind::kIf;
  e.begin = begin();
  take();
  Expr items[3];
  items[0] = read_simple();
  expect(Tok::kThen, "after the condition");
  items[1] = read_simple();
  expect(Tok::kElse, "after what THEN gives");
  items[2] = read_simple();
  expect(Tok::kFi, "after what ELSE gives");
  e.end = end();
  e.count = 3;
  e.items = session_.arena.copy(std::span<const Expr>(items)).data();
  return e;
}

Expr Parser::read_switch() {
  Expr e;
  e.kind = ExprKind::kSwitch;
  e.begin = begin();
  take();
  if (at(Tok::kLeftBrace)) {
    if (layout_) layout_->blocks.push_back(ahead_.begin);
    take();
    e.body = read_attributes(Tok::kRightBrace, end());
  }
  std::vector<Expr> items;
  do {
    expect(Tok::kIf, "in a SWITCH");
    Expr condition = read_simple();
    expect(Tok::kThen, "after the condition");
    Expr value = read_simple();
    Expr number;  // the n of IFn and THENn, the names of the two
    number.kind = ExprKind::kLiteral;
    number.literal = Value::integer(next_unique_++);
    items.insert(items.end(), {number, condition, value});
  } while (at(Tok::kIf));
  expect(Tok::kEndSwitch, "after the last case");
  e.end = end();
  e.count = static_cast<u32>(items.size());
  e.items = session_.arena.copy(std::span<const Expr>(items)).data();
  return e;
}

Expr Parser::read_component_expr() {
  Expr e;
  e.kind = ExprKind::kComponent;
  e.begin = begin();
  e.component = read_component();
  e.end = end();
  return e;
}

const Component* Parser::read_component() {
  Component c;
  c.begin = begin();
  take();
  if (accept(Tok::kColon)) c.node_class = expect(Tok::kWord, "after `extends:`").word;
  if (at(Tok::kData) || at(Tok::kLazy)) {
    take();
    c.data = true;
  }
  std::size_t from = prototypes_.size();
  bool first = true, merge = false, legacy_end = false;
  try {
    while (!legacy_end && !read_prototypes(first, merge, legacy_end)) {
      Pos brace = end();
      bool merged = merge, last = legacy_end;
      const Body* body = read_attributes(Tok::kRightBrace, brace);
      prototypes_.push_back({nullptr, body, merged});
      if (merged) expect(Tok::kRightParen, "after what is merged");
      first = false;
      if (last) break;
    }
  } catch (const Failed&) {
    prototypes_.resize(from);
    throw;
  }
  Component* made = session_.arena.make<Component>(c);
  made->prototypes = keep(prototypes_, from);
  made->end = end();
  return made;
}

// ---- references

Expr Parser::read_reference(bool data) {
  Expr e;
  e.begin = begin();
  bool lazy = !data && level_ == Level::kProduction && accept(Tok::kLazy);
  if (at(Tok::kApply) || at(Tok::kAssert)) {
    e.kind = at(Tok::kApply) ? ExprKind::kApply : ExprKind::kAssert;
    e.lazy = lazy;
    e.data = data;
    take();
    if (layout_) layout_->blocks.push_back(ahead_.begin);
    expect(Tok::kLeftBrace, e.kind == ExprKind::kApply ? "after APPLY" : "after ASSERT");
    e.body = read_attributes(Tok::kRightBrace, end());
    e.end = end();
    return e;
  }
  e.kind = ExprKind::kReference;
  e.ref = read_link(lazy, data);
  e.end = end();
  return e;
}

const Reference* Parser::read_link(bool lazy, bool data) {
  Reference r;
  r.lazy = lazy;
  r.data = data;
  r.begin = begin();
  if (level_ == Level::kProduction && accept(Tok::kOptional)) {
    r.optional = true;
    if (accept(Tok::kLeftParen)) {
      Expr otherwise = read_primitive();
      r.otherwise = session_.arena.make<Expr>(otherwise);
      expect(Tok::kRightParen, "after the default");
    }
  }
  RefPart parts[64];
  std::vector<RefPart> more;
  u32 n = 0;
  do {
    RefPart p = read_part(n == 0);
    if (n < 64)
      parts[n] = p;
    else
      more.push_back(p);
    n++;
  } while (accept(Tok::kColon));
  r.end = end();
  RefPart* kept = session_.arena.array<RefPart>(n);
  for (u32 i = 0; i < n; i++) kept[i] = i < 64 ? parts[i] : more[i - 64];
  r.parts = {kept, n};
  return session_.arena.make<Reference>(r);
}

Symbol Parser::read_part_name() {
  if (at(Tok::kWord)) return take().word;
  if (!at(Tok::kString) && !at(Tok::kMultiline)) fail("a name");
  return Symbol(lexer_->string_value(take()));
}

RefPart Parser::read_part(bool first) {
  if (at(Tok::kWord)) return {first ? Part::kAttrib : Part::kHere, take().word};
  if (level_ == Level::kProduction) {
    auto named = [&](Part kind) {
      take();
      return RefPart{kind, read_part_name()};
    };
    auto plain = [&](Part kind) {
      take();
      return RefPart{kind, {}};
    };
    switch (ahead_.kind) {
      case Tok::kAttrib: return named(Part::kAttrib);
      case Tok::kHere: return named(Part::kHere);
      case Tok::kHost: return named(Part::kHost);
      case Tok::kProperty: return named(Part::kProperty);
      case Tok::kIntProperty: return named(Part::kIntProperty);
      case Tok::kEnvProperty: return named(Part::kEnvProperty);
      case Tok::kIntEnvProperty: return named(Part::kIntEnvProperty);
      case Tok::kConstant: return named(Part::kConstant);
      case Tok::kParent: return plain(Part::kParent);
      case Tok::kRoot: return plain(Part::kRoot);
      case Tok::kThis: return plain(Part::kThis);
      case Tok::kProcess: return plain(Part::kProcess);
      default: break;
    }
  }
  fail(first ? "a reference" : "a name after `:`");
}

}  // namespace tutti::smartfrog
