#include <fmt/format.h>

#include "lang/cue/format/literal.h"
#include "lang/cue/proto/data.h"
#include "lang/cue/proto/syntax.h"

namespace tutti::cue {

namespace {

constexpr int kDeepestText = 1'000;

class TextParser {
 public:
  TextParser(const Source& source, Arena& arena, Decoded& out) : source_(source), arena_(arena), out_(out) {
    tokens_ = scan_proto(source, true, out.errors);
  }

  void run() {
    std::vector<ast::Node*> fields;
    message(fields, "", 0);
    if (out_.ok()) out_.documents.push_back(make_struct(arena_, fields));
  }

 private:
  const ProtoToken& now() const { return tokens_[at_]; }
  ProtoToken next() {
    ProtoToken t = now();
    if (at_ + 1 < tokens_.size()) ++at_;
    return t;
  }
  bool accept(std::string_view t) {
    if (!now().is(t)) return false;
    next();
    return true;
  }
  void fail(const char* expected) {
    if (!out_.ok()) return;
    std::string found = now().kind == ProtoToken::kEnd ? "end of file" : quote(now().text);
    out_.errors.push_back({source_.pos(now().at), fmt::format("textproto: found {} but expected {}", found, expected)});
  }

  void message(std::vector<ast::Node*>& fields, std::string_view close, int depth) {
    if (depth > kDeepestText) return fail("fewer levels");
    while (out_.ok()) {
      if (now().kind == ProtoToken::kEnd) {
        if (!close.empty()) fail("the end of the message");
        return;
      }
      if (!close.empty() && accept(close)) return;
      TokenPos at{source_.pos(now().at), fields.empty() ? Rel::kNone : Rel::kNewline};
      std::string name;
      if (accept("[")) {  // an extension
        while (!now().is("]") && now().kind != ProtoToken::kEnd) name += next().text;
        if (!accept("]")) return fail("']'");
      } else if (now().kind == ProtoToken::kName) {
        name = next().text;
      } else {
        return fail("a field name");
      }
      bool colon = accept(":");
      ast::Node* v = nullptr;
      if (!colon && !now().is("{") && !now().is("<")) return fail("':'");
      v = value(depth);
      if (!v) return;
      fields.push_back(make_field(arena_, make_label(arena_, name, at), v));
      if (!accept(",")) accept(";");
    }
  }

  ast::Node* value(int depth) {
    TokenPos at{source_.pos(now().at), Rel::kNone};
    if (now().is("{") || now().is("<")) {
      std::string_view close = next().text == "{" ? "}" : ">";
      std::vector<ast::Node*> fields;
      message(fields, close, depth + 1);
      return make_struct(arena_, fields);
    }
    if (accept("[")) {
      std::vector<ast::Node*> items;
      while (out_.ok() && !now().is("]") && now().kind != ProtoToken::kEnd) {
        if (ast::Node* v = value(depth + 1)) items.push_back(v);
        if (!accept(",")) break;
      }
      if (!accept("]")) fail("']'");
      return make_list(arena_, items);
    }
    bool minus = accept("-");
    ProtoToken t = next();
    ast::Node* n = nullptr;
    switch (t.kind) {
      case ProtoToken::kInteger: n = make_lit(arena_, Tok::kInt, integer(t.text), at); break;
      case ProtoToken::kFloat: n = make_lit(arena_, Tok::kFloat, t.text, at); break;
      case ProtoToken::kString: {
        std::string text = t.text;
        while (now().kind == ProtoToken::kString) text += next().text;
        n = make_string(arena_, text, at);
        break;
      }
      case ProtoToken::kName:
        if (t.text == "true" || t.text == "false")
          n = make_lit(arena_, t.text == "true" ? Tok::kTrue : Tok::kFalse, t.text, at);
        else
          n = make_string(arena_, t.text, at);  // of an enum
        break;
      default: fail("a value"); return nullptr;
    }
    return minus ? arena_.make<ast::Unary>(at, Tok::kSub, n) : n;
  }

  // 017 is octal.
  static std::string integer(const std::string& s) {
    return s.size() > 1 && s[0] == '0' && s[1] >= '0' && s[1] <= '9' ? "0o" + s.substr(1) : s;
  }

  const Source& source_;
  Arena& arena_;
  Decoded& out_;
  std::vector<ProtoToken> tokens_;
  std::size_t at_ = 0;
};

}  // namespace

Decoded decode_textproto(const Source& source, Arena& arena) {
  Decoded d;
  TextParser(source, arena, d).run();
  return d;
}

}  // namespace tutti::cue
