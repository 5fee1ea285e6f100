#include <fmt/format.h>

#include "lang/cue/format/literal.h"
#include "lang/cue/proto/syntax.h"

namespace tutti::cue {

namespace {

constexpr int kDeepestMessage = 200;  // messages within messages

class Parser {
 public:
  explicit Parser(const Source& source) {
    file_.source = &source;
    tokens_ = scan_proto(source, false, file_.errors);
  }

  ProtoFile run() {
    while (now().kind != ProtoToken::kEnd && file_.errors.empty()) statement();
    keep_loose_comments();
    if (!now().doc.empty()) file_.docs.push_back(now().doc);
    return std::move(file_);
  }

 private:
  const ProtoToken& now(std::size_t ahead = 0) const { return tokens_[std::min(at_ + ahead, tokens_.size() - 1)]; }
  ProtoToken next() {
    ProtoToken t = now();
    if (at_ + 1 < tokens_.size()) ++at_;
    return t;
  }
  Pos pos() const { return file_.source->pos(now().at); }

  void fail(const std::string& expected) {
    if (!file_.errors.empty()) return;
    std::string found = now().kind == ProtoToken::kEnd ? "end of file" : quote(now().text);
    file_.errors.push_back({pos(), fmt::format("found {} but expected {}", found, expected)});
  }
  bool accept(std::string_view t) {
    if (!now().is(t)) return false;
    next();
    return true;
  }
  void expect(std::string_view t) {
    if (!accept(t)) fail(fmt::format("'{}'", t));
  }
  // A semicolon may be missing at the end of a line.
  void finish() {
    if (accept(";")) return;
    bool new_line = at_ > 0 && now().line > tokens_[at_ - 1].end_line;
    if (!new_line && now().kind != ProtoToken::kEnd) fail("';'");
  }

  std::string identifier() {
    if (now().kind != ProtoToken::kName) {
      fail("an identifier");
      return {};
    }
    return next().text;
  }
  std::string dotted() {
    std::string out;
    if (accept(".")) out = ".";
    out += identifier();
    while (now().is(".") && file_.errors.empty()) {
      next();
      out += "." + identifier();
    }
    return out;
  }
  std::string string() {
    if (now().kind != ProtoToken::kString) {
      fail("a string");
      return {};
    }
    std::string out = next().text;
    while (now().kind == ProtoToken::kString) out += next().text;
    return out;
  }

  std::string option_name() {
    std::string out;
    do {
      if (accept("(")) {
        out += (out.empty() ? "(" : ".(") + dotted() + ")";
        expect(")");
      } else {
        out += (out.empty() ? "" : ".") + identifier();
      }
    } while (accept(".") && file_.errors.empty());
    return out;
  }

  void option_value(ProtoOption& o, int depth) {
    if (depth > kDeepestMessage) return fail("fewer levels of options");
    if (now().is("{") || now().is("<")) {
      std::string_view close = next().text == "{" ? "}" : ">";
      o.aggregate = true;
      while (!now().is(close) && now().kind != ProtoToken::kEnd && file_.errors.empty()) {
        ProtoOption f;
        if (accept("[")) {
          f.name = "[" + dotted() + "]";
          while (accept("/")) f.name += "/" + dotted();
          expect("]");
        } else {
          f.name = identifier();
        }
        accept(":");
        option_value(f, depth + 1);
        o.fields.push_back(std::move(f));
        if (!accept(",")) accept(";");
      }
      expect(close);
      return;
    }
    if (accept("[")) {
      while (!now().is("]") && now().kind != ProtoToken::kEnd && file_.errors.empty()) {
        ProtoOption f;
        option_value(f, depth + 1);
        o.fields.push_back(std::move(f));
        if (!accept(",")) break;
      }
      o.aggregate = true;
      return expect("]");
    }
    std::string sign;
    if (accept("-"))
      sign = "-";
    else
      accept("+");
    if (now().kind == ProtoToken::kString) {
      o.value = now();
      o.value.text = string();
    } else if (now().kind == ProtoToken::kName) {
      o.value = now();
      o.value.text = dotted();
    } else if (now().kind == ProtoToken::kInteger || now().kind == ProtoToken::kFloat) {
      o.value = next();
    } else {
      fail("a value");
    }
    o.value.text = sign + o.value.text;
  }

  ProtoOption option() {  // after the word
    ProtoOption o;
    o.name = option_name();
    expect("=");
    option_value(o, 0);
    return o;
  }

  void options(ProtoNode& n) {
    if (!accept("[")) return;
    while (!now().is("]") && now().kind != ProtoToken::kEnd && file_.errors.empty()) {
      n.options.push_back(option());
      if (!accept(",")) break;
    }
    expect("]");
  }

  void skip_block() {  // services, extensions: nothing of CUE's
    int depth = 0;
    while (now().kind != ProtoToken::kEnd) {
      if (now().is("{")) ++depth;
      if (now().is("}") && --depth == 0) {
        next();
        return;
      }
      if (depth == 0 && now().is(";")) {
        next();
        return;
      }
      next();
    }
    fail("'}'");
  }

  void keep_loose_comments() {
    for (const auto& group : now().loose) file_.docs.push_back(group);
  }

  void statement() {
    keep_loose_comments();
    std::vector<std::string> doc = now().doc;
    if (accept(";")) return;
    if (now().is("syntax") || now().is("edition")) {
      next();
      expect("=");
      Pos at = pos();
      std::string s = string();
      file_.proto2 = s == "proto2";
      if (s != "proto2" && s != "proto3" && s.find_first_not_of("0123456789") != std::string::npos)
        file_.errors.push_back({at, fmt::format("unknown syntax {}", quote(s))});
      return finish();
    }
    if (accept("package")) {
      if (!doc.empty()) file_.docs.push_back(doc);
      file_.package = dotted();
      return finish();
    }
    if (accept("import")) {
      ProtoFile::Import i;
      i.is_public = accept("public");
      accept("weak");
      accept("option");
      i.pos = pos();
      i.path = string();
      file_.imports.push_back(std::move(i));
      return finish();
    }
    if (accept("option")) {
      ProtoOption o = option();
      if (o.name == "go_package") file_.go_package = o.value.text;
      return finish();
    }
    if (now().is("export") || now().is("local")) next();
    if (now().is("message")) return file_.nodes.push_back(message(doc, 0));
    if (now().is("enum")) return file_.nodes.push_back(enumeration(doc));
    if (now().is("service") || now().is("extend")) return skip_block();
    fail("a statement");
  }

  // The comment behind the token before now.
  std::string trailing() const { return at_ > 0 ? tokens_[at_ - 1].trailing : ""; }

  // The word that says what it is, and its name.
  ProtoNode named(ProtoNode::Kind kind, std::vector<std::string> doc) {
    next();
    ProtoNode n;
    n.kind = kind;
    n.doc = std::move(doc);
    n.pos = pos();
    n.name = identifier();
    return n;
  }

  // Everything between braces, one element after the other.
  template <class Element>
  void braces(Element element) {
    expect("{");
    while (!now().is("}") && file_.errors.empty()) {
      if (now().kind == ProtoToken::kEnd) return fail("'}'");
      element();
    }
    expect("}");
  }

  void option_of(ProtoNode& n) {
    next();
    n.options.push_back(option());
    finish();
  }

  ProtoNode message(std::vector<std::string> doc, int depth) {
    ProtoNode m = named(ProtoNode::kMessage, std::move(doc));
    body(m, depth);
    return m;
  }

  void body(ProtoNode& m, int depth) {
    if (depth > kDeepestMessage) return fail("fewer messages within messages");
    braces([&] { element(m, depth); });
  }

  void element(ProtoNode& m, int depth) {
    std::vector<std::string> doc = now().doc;
    if (accept(";")) return;
    if ((now().is("export") || now().is("local")) && (now(1).is("message") || now(1).is("enum"))) next();
    bool name = now(1).kind == ProtoToken::kName;
    if (now().is("message") && name && now(2).is("{")) return m.children.push_back(message(doc, depth + 1));
    if (now().is("enum") && name && now(2).is("{")) return m.children.push_back(enumeration(doc));
    if (now().is("oneof") && name && now(2).is("{")) return m.children.push_back(oneof(doc, depth));
    if (now().is("option") && (name || now(1).is("("))) return option_of(m);
    if (now().is("reserved") || now().is("extensions") || (now().is("extend") && !now(2).is("="))) return skip_block();
    m.children.push_back(field(doc, depth, true));
  }

  ProtoNode oneof(std::vector<std::string> doc, int depth) {
    ProtoNode o = named(ProtoNode::kOneof, std::move(doc));
    braces([&] {
      std::vector<std::string> own = now().doc;
      if (accept(";")) return;
      if (now().is("option") && (now(1).kind == ProtoToken::kName || now(1).is("("))) return option_of(o);
      o.children.push_back(field(own, depth, false));
    });
    return o;
  }

  ProtoNode field(std::vector<std::string> doc, int depth, bool labels) {
    ProtoNode f;
    f.doc = std::move(doc);
    f.pos = pos();
    if (labels && now(1).kind != ProtoToken::kSymbol) {
      if (accept("optional"))
        f.label = ProtoNode::kOptional;
      else if (accept("required"))
        f.label = ProtoNode::kRequired;
      else if (accept("repeated"))
        f.label = ProtoNode::kRepeated;
    } else if (labels && now(1).is(".")) {
      // A type with a full name may follow a label.
      for (auto [word, label] : {std::pair{"optional", ProtoNode::kOptional},
                                 {"required", ProtoNode::kRequired},
                                 {"repeated", ProtoNode::kRepeated}})
        if (now().is(word)) {
          next();
          f.label = label;
          break;
        }
    }
    if (now().is("group") && now(1).kind == ProtoToken::kName && now(2).is("=")) {
      next();
      f.kind = ProtoNode::kGroup;
      f.name = identifier();
      f.type = f.name;
      expect("=");
      f.number = number();
      options(f);
      body(f, depth + 1);
      return f;
    }
    if (now().is("map") && now(1).is("<")) {
      next();
      next();
      f.kind = ProtoNode::kMap;
      f.key = identifier();
      expect(",");
      f.type = dotted();
      expect(">");
    } else {
      f.kind = ProtoNode::kField;
      f.type = dotted();
    }
    f.name = identifier();
    expect("=");
    f.number = number();
    options(f);
    finish();
    f.trailing = trailing();
    return f;
  }

  std::string number() {
    std::string sign = accept("-") ? "-" : "";
    if (now().kind != ProtoToken::kInteger) {
      fail("a number");
      return "0";
    }
    return sign + next().text;
  }

  ProtoNode enumeration(std::vector<std::string> doc) {
    ProtoNode e = named(ProtoNode::kEnum, std::move(doc));
    braces([&] {
      std::vector<std::string> own = now().doc;
      if (accept(";")) return;
      if (now().is("option") && !now(1).is("=")) return option_of(e);
      if (now().is("reserved") && !now(1).is("=")) return skip_block();
      ProtoNode v;
      v.kind = ProtoNode::kEnumValue;
      v.doc = own;
      v.pos = pos();
      v.name = identifier();
      expect("=");
      v.number = number();
      options(v);
      finish();
      v.trailing = trailing();
      e.children.push_back(std::move(v));
    });
    return e;
  }

  ProtoFile file_;
  std::vector<ProtoToken> tokens_;
  std::size_t at_ = 0;
};

}  // namespace

ProtoFile parse_proto(const Source& source) { return Parser(source).run(); }

}  // namespace tutti::cue
