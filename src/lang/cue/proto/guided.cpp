#include <fmt/format.h>

#include <map>

#include "lang/cue/eval/context.h"
#include "lang/cue/format/literal.h"
#include "lang/cue/proto/data.h"
#include "lang/cue/schema/data.h"

namespace tutti::cue {

using ast::as;

namespace {

int base64_digit(char c) {
  if (c >= 'A' && c <= 'Z') return c - 'A';
  if (c >= 'a' && c <= 'z') return c - 'a' + 26;
  if (c >= '0' && c <= '9') return c - '0' + 52;
  if (c == '+' || c == '-') return 62;
  if (c == '/' || c == '_') return 63;
  return -1;
}

// Both alphabets, with or without padding, as the mapping to JSON allows. The offset of the first wrong byte, or -1.
long from_base64(std::string_view s, std::string& out) {
  unsigned bits = 0;
  int have = 0;
  std::size_t end = s.size();
  while (end > 0 && s[end - 1] == '=') --end;
  for (std::size_t i = 0; i < end; ++i) {
    int d = base64_digit(s[i]);
    if (d < 0) return static_cast<long>(i);
    bits = bits << 6 | static_cast<unsigned>(d);
    have += 6;
    if (have >= 8) {
      have -= 8;
      out += static_cast<char>(bits >> have & 0xff);
    }
  }
  return end % 4 == 1 ? static_cast<long>(end) : -1;
}

class Guide {
 public:
  Guide(Context& c, Arena& arena, bool text_format, std::vector<SyntaxError>& errors)
      : c_(c), arena_(arena), text_format_(text_format), errors_(errors) {}

  void fields(ast::Nodes& decls, Vertex* schema, const std::string& path, int depth) {
    if (!schema || depth > 1'000) return;
    schema = schema->deref_value();
    std::vector<ast::Node*> out;
    // What comes several times: what it becomes, and what will be in it.
    std::map<std::string, std::pair<ast::List*, std::vector<ast::Node*>>> lists;
    std::map<std::string, std::pair<ast::Struct*, std::vector<ast::Node*>>> maps;
    for (ast::Node* d : decls) {
      if (d->kind != ast::Kind::kField) {
        out.push_back(d);
        continue;
      }
      auto* f = as<ast::Field>(d);
      std::string name = f->label->kind == ast::Kind::kIdent ? std::string(as<ast::Ident>(f->label)->name.text())
                                                             : data_text(f->label).value_or("");
      Vertex* at = schema->find_raw(Label::string(name));
      std::string here = path.empty() ? name : path + "." + name;
      if (text_format_ && at && is_map(at) && f->value->kind == ast::Kind::kStruct) {
        ast::Field* entry = map_entry(as<ast::Struct>(f->value), f, here);
        if (!entry) continue;
        auto& [map, entries] = maps[name];
        if (!map) {
          f->value = map = make_struct(arena_, {});
          out.push_back(d);
        }
        entries.push_back(entry);
        value(entry->value, entry, at->deref_value()->patterns()->pairs[0].constraint, here, depth);
        continue;
      }
      bool repeated = text_format_ && at && c_.kinds(at) == kListKind && f->value->kind != ast::Kind::kList;
      value(f->value, f, at, here, depth);
      if (!repeated) {
        out.push_back(d);
        continue;
      }
      auto& [list, items] = lists[name];
      items.push_back(f->value);
      if (!list) {
        f->value = list = make_list(arena_, {});
        out.push_back(d);
      }
    }
    for (auto& [name, list] : lists) list.first->elts = make_nodes(arena_, list.second);
    for (auto& [name, map] : maps) map.first->elts = make_nodes(arena_, map.second);
    decls = make_nodes(arena_, out);
  }

 private:
  // map<K, V> is a struct of nothing but a pattern.
  bool is_map(Vertex* schema) {
    c_.finalize(schema);
    const Vertex* v = schema->deref_value();
    return c_.kinds(schema) == kStructKind && v->arcs.empty() && v->patterns() && v->patterns()->pairs.size() == 1;
  }

  // {key: "a" value: 3} is the field a: 3.
  ast::Field* map_entry(ast::Struct* s, const ast::Field* field, const std::string& path) {
    ast::Node *key = data_get(s, "key"), *value = data_get(s, "value");
    if (!key || !value) {
      fail(ast::first(field->label).pos, fmt::format("textproto: {}: an entry of a map has a key and a value", path));
      return nullptr;
    }
    std::string name = data_text(key).value_or("");
    if (key->kind == ast::Kind::kLit && as<ast::Lit>(key)->tok != Tok::kString) name = as<ast::Lit>(key)->text;
    if (key->kind == ast::Kind::kUnary) name = "-" + std::string(as<ast::Lit>(as<ast::Unary>(key)->x)->text);
    return make_field(arena_, make_label(arena_, name, ast::first(field->label)), value);
  }

  void fail(Pos pos, std::string message) { errors_.push_back({pos, std::move(message)}); }

  void value(ast::Node*& v, ast::Field* field, Vertex* schema, const std::string& path, int depth) {
    if (!schema) return;
    c_.finalize(schema);
    Kinds k = c_.kinds(schema);
    if (v->kind == ast::Kind::kStruct) return fields(as<ast::Struct>(v)->elts, schema, path, depth + 1);
    if (v->kind == ast::Kind::kList) {
      Vertex* s = schema->deref_value();
      u32 i = 0;
      for (ast::Node*& e : as<ast::List>(v)->elts) value(e, field, s->find_raw(Label::integer(i++)), path, depth + 1);
      return;
    }
    bool string = v->kind == ast::Kind::kLit && as<ast::Lit>(v)->tok == Tok::kString;
    if (text_format_) {
      if (!string && k && (k & ~(kStringKind | kBytesKind)) == 0 && !data_bool(v)) {
        const ast::Node* number = v->kind == ast::Kind::kUnary ? as<ast::Unary>(v)->x : v;
        std::string_view text = as<ast::Lit>(number)->text;
        fail(ast::first(field->label).pos,
             fmt::format("textproto: invalid string or bytes: invalid quote character {}", text.substr(0, 1)));
      }
      if (string && k == kBytesKind) v = make_bytes(arena_, *data_text(v), ast::first(v));
      return;
    }
    if (!string) {
      if (data_is_null(v) && k == kListKind) v = make_list(arena_, {});
      return;
    }
    std::string text = data_text(v).value_or("");
    if (k && (k & ~kNumberKind) == 0) {
      Number n = parse_number(text);
      if (!n.ok()) return fail(ast::first(v).pos, fmt::format("{}: invalid number {}", path, quote(text)));
      bool minus = text.starts_with('-');
      ast::Node* lit =
          make_lit(arena_, n.integer ? Tok::kInt : Tok::kFloat, minus ? text.substr(1) : text, ast::first(v));
      v = minus ? arena_.make<ast::Unary>(ast::first(v), Tok::kSub, lit) : lit;
    } else if (k == kBytesKind) {
      std::string bytes;
      if (long bad = from_base64(text, bytes); bad >= 0)
        return fail(ast::first(v).pos,
                    fmt::format("{}: failed to decode base64: illegal base64 data at input byte {}", path, bad));
      v = make_bytes(arena_, bytes, ast::first(v));
    }
  }

  Context& c_;
  Arena& arena_;
  bool text_format_;
  std::vector<SyntaxError>& errors_;
};

}  // namespace

void apply_protobuf_schema(Context& c, Arena& arena, ast::File* data, Vertex* schema, bool text_format,
                           std::vector<SyntaxError>& errors) {
  c.finalize(schema);
  Guide(c, arena, text_format, errors).fields(data->decls, schema, "", 0);
}

}  // namespace tutti::cue
