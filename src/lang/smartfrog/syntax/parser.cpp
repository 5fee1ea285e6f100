#include "lang/smartfrog/syntax/parser.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/utf8.h"

namespace tutti::smartfrog {

Parser::Parser(Session& session, Level level, Loader* loader) : session_(session), level_(level), loader_(loader) {}

const Body* Parser::parse(const Source& source) {
  std::size_t errors = session_.diagnostics.errors();
  read_file(source);
  const Body* body = close_block(0, 0, source.first, source.pos(source.text.size()));
  return session_.diagnostics.errors() == errors ? body : nullptr;
}

bool Parser::parse_layout(const Source& source, std::vector<Comment>& comments, Layout& layout) {
  std::size_t errors = session_.diagnostics.errors();
  Lexer lexer(session_, source, level_, &comments);
  lexer_ = &lexer;
  layout_ = &layout;
  including_.push_back(&source);
  advance();
  bool wrapped = level_ == Level::kProduction && at(Tok::kExtends);
  if (wrapped) {
    take();
    layout.blocks.push_back(ahead_.begin);
    if (!accept(Tok::kLeftBrace)) return false;
  }
  read_attributes_into(wrapped ? Tok::kRightBrace : Tok::kEnd);
  if (!at(Tok::kEnd)) return false;
  return session_.diagnostics.errors() == errors;
}

void Parser::read_file(const Source& source) {
  if (std::size_t bad = utf8::first_invalid(source.text); bad != std::string::npos) {
    session_.diagnostics.error("SF-PARSE", source.span(bad, bad + 1), "this byte is not part of UTF-8 text");
    return;
  }
  Lexer lexer(session_, source, level_);
  Lexer* outer = lexer_;
  Token outer_ahead = ahead_;
  u32 outer_end = last_end_;
  lexer_ = &lexer;
  including_.push_back(&source);
  advance();
  // A whole file may be wrapped as `extends { ... }`, which is how the production compiler prints one.
  bool wrapped = false;
  if (level_ == Level::kProduction && at(Tok::kExtends)) {
    wrapped = true;
    take();
    if (!accept(Tok::kLeftBrace)) session_.diagnostics.error("SF-PARSE", lexer_->span(ahead_), "expected `{` here");
  }
  read_attributes_into(wrapped ? Tok::kRightBrace : Tok::kEnd);
  if (wrapped && !at(Tok::kEnd))
    session_.diagnostics.error("SF-PARSE", lexer_->span(ahead_), "nothing may follow the `}` that closes the file");
  including_.pop_back();
  lexer_ = outer;
  ahead_ = outer_ahead;
  last_end_ = outer_end;
}

void Parser::fail_at(Span where, std::string message, std::string help) {
  auto& d = session_.diagnostics.error("SF-PARSE", where, std::move(message));
  if (!help.empty()) d.suggest(std::move(help));
  for (std::size_t i = including_.size(); i > 1; i--)
    d.note(fmt::format("in a file included by {}", including_[i - 2]->name));
  throw Failed{};
}

void Parser::fail(std::string_view wanted) {
  if (at(Tok::kBad)) throw Failed{};  // already reported
  std::string_view text = lexer_->text(ahead_);
  std::string found =
      at(Tok::kEnd) || text.empty() ? std::string(token_words(ahead_.kind)) : fmt::format("`{}`", text.substr(0, 40));
  fail_at(lexer_->span(ahead_), fmt::format("expected {}, found {}", wanted, found));
}

Token Parser::expect(Tok t, std::string_view context) {
  if (!at(t)) fail(fmt::format("{} {}", token_words(t), context));
  return take();
}

// ---- lists of attributes

const Body* Parser::read_attributes(Tok closer, Pos from) {
  std::size_t attributes = attributes_.size(), orders = orders_.size();
  read_attributes_into(closer);
  return close_block(attributes, orders, from, end());
}

const Body* Parser::close_block(std::size_t attributes_from, std::size_t orders_from, Pos from, Pos to) {
  Body* body = session_.arena.make<Body>();
  body->attributes = keep(attributes_, attributes_from);
  body->orders = keep(orders_, orders_from);
  body->begin = from;
  body->end = to;
  return body;
}

void Parser::read_attributes_into(Tok closer) {
  const std::size_t base = open_.size();
  for (;;) {
    try {
      if (open_.size() > base && accept(Tok::kRightBrace)) {
        Open o = open_.back();
        open_.pop_back();
        const Body* block = close_block(o.attributes_from, o.orders_from, o.brace, end());
        prototypes_.push_back({nullptr, block, o.merge});
        if (continue_component(o)) open_.push_back(o);
        continue;
      }
      if (open_.size() == base && at(closer)) {
        if (closer != Tok::kEnd) take();
        return;
      }
      if (at(Tok::kEnd)) {
        Pos opened = open_.size() > base ? open_.back().brace : Pos{};
        auto& d =
            session_.diagnostics.error("SF-PARSE", lexer_->span(ahead_), "a `}` is missing at the end of the file");
        if (opened) d.relate(Pos{opened.at - 1}, "this block is not closed");
        while (open_.size() > base) {
          prototypes_.resize(open_.back().prototypes_from);
          open_.pop_back();
        }
        return;
      }
      read_statement();
    } catch (const Failed&) {
      if (session_.diagnostics.errors() > 50) {
        while (open_.size() > base) {
          prototypes_.resize(open_.back().prototypes_from);
          open_.pop_back();
        }
        while (!at(Tok::kEnd)) advance();
        return;
      }
      recover(open_.size() > base ? Tok::kRightBrace : closer);
    }
  }
}

void Parser::recover(Tok closer) {
  u32 inside = 0;
  for (;; take()) {
    if (at(Tok::kEnd)) return;
    if (at(Tok::kLeftBrace)) inside++;
    if (at(Tok::kSemicolon) && inside == 0) {
      take();
      return;
    }
    if (at(Tok::kRightBrace)) {
      if (inside == 0 && closer == Tok::kRightBrace) return;
      if (inside == 0 || --inside == 0) {
        take();
        return;
      }
    }
  }
}

bool Parser::read_statement() {
  if (at(Tok::kSemicolon)) {
    if (level_ == Level::kCore) stray_semicolon();
    take();
    return true;
  }
  if (layout_) layout_->statements.push_back(ahead_.begin);
  if (at(Tok::kInclude) || at(Tok::kIncludeOptional) || at(Tok::kCodebase)) {
    read_include();
    return true;
  }
  Attribute a;
  a.begin = begin();
  if (at(Tok::kLeftBracket)) read_tags(a);
  read_name(a);
  if (a.path.size() == 1 && at(Tok::kWord) && read_order(a)) return true;
  if (!at(Tok::kExtends)) {
    a.value = read_value();
    // The mark goes wherever the value goes.
    if (a.value.kind == ExprKind::kLiteral && std::find(a.tags.begin(), a.tags.end(), secret_tag()) != a.tags.end())
      a.value.literal = a.value.literal.as_secret();
    attributes_.push_back(a);
    return true;
  }
  Open o{};
  o.attribute = a;
  o.component.begin = begin();
  take();
  if (level_ == Level::kProduction) {
    if (accept(Tok::kColon)) o.component.node_class = expect(Tok::kWord, "after `extends:`").word;
    if (at(Tok::kData) || at(Tok::kLazy)) {
      take();
      o.component.data = true;
    }
  }
  o.prototypes_from = prototypes_.size();
  o.first = true;
  if (!continue_component(o)) return true;
  if (open_.size() + 1 > session_.budget.limits().depth) session_.budget.too_deep(a.begin.at);
  open_.push_back(o);
  return true;
}

// The production grammar lets a `;` stand anywhere between attributes, so those who know that one write it after
// components too. Appendix A has it after basic values and links only.
void Parser::stray_semicolon() {
  bool component = !attributes_.empty() && attributes_.back().value.kind == ExprKind::kComponent &&
                   attributes_.back().value.end == end();
  session_.diagnostics
      .error("SF-PARSE", lexer_->span(ahead_),
             component ? "no `;` follows a component in the core language" : "there is nothing before this `;`")
      .suggest("remove the `;`, or read the file with --level production, where it may stand");
}

// Reads on after `extends` or after a block of the component. True when another block has been opened.
bool Parser::continue_component(Open& o) {
  try {
    if (o.merge) expect(Tok::kRightParen, "after what is merged");
    bool done = o.legacy_end || read_prototypes(o.first, o.merge, o.legacy_end);
    o.first = false;
    if (done) {
      finish(o, end());
      return false;
    }
  } catch (const Failed&) {
    prototypes_.resize(o.prototypes_from);
    throw;
  }
  o.attributes_from = attributes_.size();
  o.orders_from = orders_.size();
  o.brace = end();
  return true;
}

void Parser::finish(Open& o, Pos to) {
  Component* c = session_.arena.make<Component>(o.component);
  c->prototypes = keep(prototypes_, o.prototypes_from);
  c->end = to;
  o.attribute.value.kind = ExprKind::kComponent;
  o.attribute.value.component = c;
  o.attribute.value.begin = c->begin;
  o.attribute.value.end = to;
  attributes_.push_back(o.attribute);
}

bool Parser::read_prototypes(bool first, bool& merge, bool& legacy_end) {
  merge = legacy_end = false;
  bool need = first;  // an element must come
  for (;;) {
    if (!need) {
      if (accept(Tok::kComma)) {
        need = true;
        continue;
      }
      if (level_ == Level::kProduction && at(Tok::kLeftBrace)) {  // `extends A { ... }`
        if (layout_) layout_->blocks.push_back(ahead_.begin);
        take();
        legacy_end = true;
        return false;
      }
      if (level_ == Level::kCore && at(Tok::kLeftBrace))
        fail_at(lexer_->span(ahead_), "expected `,` before this block",
                "`extends A { }` without a comma needs --level production");
      return true;
    }
    if (at(Tok::kLeftBrace)) {
      if (layout_) layout_->blocks.push_back(ahead_.begin);
      take();
      return false;
    }
    if (at(Tok::kNull) && level_ == Level::kProduction) {
      take();
      prototypes_.push_back({});
    } else {
      static const Symbol kMerge("merge");
      bool maybe_merge = at(Tok::kWord) && ahead_.word == kMerge;
      if (!at(Tok::kWord) && ahead_.kind < Tok::kApply) fail("a prototype (a name or a block)");
      const Reference* ref = read_link(false, false);
      if (maybe_merge && ref->parts.size() == 1 && at(Tok::kLeftParen)) {
        take();
        if (at(Tok::kLeftBrace)) {
          if (layout_) layout_->blocks.push_back(ahead_.begin);
          take();
          merge = true;
          return false;
        }
        prototypes_.push_back({read_link(false, false), nullptr, true});
        expect(Tok::kRightParen, "after what is merged");
      } else {
        prototypes_.push_back({ref, nullptr, false});
      }
    }
    need = false;
  }
}

// ---- names, tags, order rules, includes

void Parser::read_name(Attribute& a) {
  Symbol one[64];
  std::vector<Symbol> more;
  u32 n = 0;
  auto add = [&](Symbol s) {
    if (n < 64)
      one[n] = s;
    else
      more.push_back(s);
    n++;
  };
  for (;;) {
    if (level_ == Level::kProduction && at(Tok::kUnique)) {
      take();
      add(Symbol(fmt::format("unique{}", next_unique_++)));
      break;
    }
    if (level_ == Level::kProduction && at(Tok::kString)) {
      add(Symbol(lexer_->string_value(take())));
      break;
    }
    if (!at(Tok::kWord)) {
      if (n == 0 && ahead_.kind >= Tok::kExtends)
        fail_at(lexer_->span(ahead_),
                fmt::format("`{}` is a reserved word, not the name of an attribute", lexer_->text(ahead_)));
      // `web extend { ... }` was read as a link to something that is called `extend`.
      if (n == 0 && at(Tok::kLeftBrace))
        fail_at(lexer_->span(ahead_), "expected the name of an attribute, found `{`",
                "a component is written `name extends { ... }`");
      fail(n == 0 ? "the name of an attribute" : "a name after `:`");
    }
    add(take().word);
    if (!accept(Tok::kColon)) break;
  }
  a.name_end = end();
  Symbol* path = session_.arena.array<Symbol>(n);
  for (u32 i = 0; i < n; i++) path[i] = i < 64 ? one[i] : more[i - 64];
  a.path = {path, n};
}

void Parser::read_tags(Attribute& a) {
  Token bracket = take();
  std::vector<Symbol> tags;
  while (at(Tok::kWord) || at(Tok::kString) || at(Tok::kMultiline)) {
    Token t = take();
    tags.push_back(t.kind == Tok::kWord ? t.word : Symbol(lexer_->string_value(t)));
    accept(Tok::kComma);
  }
  expect(Tok::kRightBracket, "after the tags");
  std::sort(tags.begin(), tags.end(), [](Symbol x, Symbol y) { return x.text() < y.text(); });
  tags.erase(std::unique(tags.begin(), tags.end()), tags.end());
  // The core language has no tags; the mark of a secret is ours.
  if (level_ == Level::kCore && (tags.size() != 1 || tags[0] != secret_tag()))
    session_.diagnostics.error("SF-PARSE", lexer_->span(bracket), "the core language has no tag but [sfSecret]")
        .suggest("read the file with --level production, where there are others");
  a.tags = session_.arena.copy(std::span<const Symbol>(tags));
}

bool Parser::read_order(Attribute& a) {
  static const Symbol kOrder("order");
  if (a.path[0] != kOrder) return false;
  // `order x;` alone is an attribute of that name: only a `<` after the first word makes it a rule.
  Lexer::Mark mark = lexer_->mark();
  Token first = ahead_;
  u32 first_end = last_end_;
  Pos from = a.begin;
  std::vector<Symbol> names{take().word};
  if (!at(Tok::kLess)) {
    lexer_->back_to(mark);
    ahead_ = first;
    last_end_ = first_end;
    return false;
  }
  for (;;) {
    while (accept(Tok::kLess)) names.push_back(expect(Tok::kWord, "after `<`").word);
    OrderRule rule;
    rule.names = session_.arena.copy(std::span<const Symbol>(names));
    rule.begin = from;
    rule.end = end();
    orders_.push_back(rule);
    if (!accept(Tok::kComma)) break;
    from = begin();
    names = {expect(Tok::kWord, "after `,`").word};
  }
  if (level_ == Level::kCore)
    expect(Tok::kSemicolon, "after an order rule");
  else
    accept(Tok::kSemicolon);
  return true;
}

void Parser::read_include() {
  Pos from = begin();
  if (at(Tok::kCodebase)) {  // where the production compiler would fetch a jar from; the name is looked for as usual
    take();
    if (!at(Tok::kString) && !at(Tok::kMultiline)) fail("a string after `#codebase`");
    take();
    if (!at(Tok::kInclude) && !at(Tok::kIncludeOptional)) fail("`#include` after `#codebase`");
  }
  bool optional = take().kind == Tok::kIncludeOptional;
  if (!at(Tok::kString) && !at(Tok::kMultiline)) fail("the file's name in quotes after `#include`");
  std::string_view name = lexer_->string_value(ahead_);
  Span where{from, lexer_->pos(ahead_.end)};
  last_end_ = ahead_.end;
  // The token after the name is read only when the included file has been dealt with: it may be missing there.
  if (layout_ == nullptr) {
    std::string path = loader_ ? loader_->find(name, lexer_->source()) : std::string();
    if (path.empty()) {
      if (!optional) {
        auto& d = session_.diagnostics.error("SF-PARSE", where, fmt::format("there is no file `{}` to include", name));
        if (loader_)
          for (const std::string& root : loader_->roots()) d.note(fmt::format("looked in {}", root));
        d.suggest("name the folder it is in with --include DIR");
        for (std::size_t i = including_.size(); i > 1; i--)
          d.note(fmt::format("in a file included by {}", including_[i - 2]->name));
      }
    } else if (const Source* source = loader_->open(path, where)) {
      if (std::find(including_.begin(), including_.end(), source) != including_.end()) {
        advance();
        fail_at(where, fmt::format("`{}` includes itself", name));
      }
      if (including_.size() >= kMaxIncludeDepth) {
        advance();
        fail_at(where, "includes are nested too deeply");
      }
      if (++included_ > kMaxIncludes)
        throw LimitError("LIMIT-INPUT", fmt::format("files are included more than {} times", kMaxIncludes), from.at);
      read_file(*source);
    }
  }
  advance();
  if (level_ == Level::kCore) accept(Tok::kSemicolon);  // figure 6 of the paper has none
}

const Reference* parse_reference_text(Session& session, std::string_view text) {
  Session scratch;
  auto added = scratch.sources->add("reference", fmt::format("x {};", text));
  if (!added) return nullptr;
  Parser parser(scratch, Level::kProduction, nullptr);
  const Body* body = parser.parse(**added);
  if (!body || body->attributes.size() != 1 || body->attributes[0].value.kind != ExprKind::kReference) return nullptr;
  const Reference& r = *body->attributes[0].value.ref;
  Reference* kept = session.arena.make<Reference>(r);
  kept->parts = session.arena.copy(r.parts);
  kept->otherwise = nullptr;
  kept->begin = kept->end = {};
  return kept;
}

}  // namespace tutti::smartfrog
