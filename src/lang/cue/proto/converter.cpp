#include "lang/cue/proto/converter.h"

#include <fmt/format.h>

#include <algorithm>

#include "lang/cue/format/literal.h"
#include "lang/cue/syntax/parser.h"

namespace tutti::cue {

namespace {

// string_value is stringValue in JSON.
std::string camel(const std::string& s) {
  std::string out;
  bool up = false;
  for (char c : s) {
    if (c == '_') {
      up = true;
      continue;
    }
    out += up && c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
    up = false;
  }
  return out;
}

std::vector<std::string> parts(const std::string& dotted) {
  std::vector<std::string> out;
  for (std::size_t at = 0; at <= dotted.size();) {
    std::size_t end = std::min(dotted.find('.', at), dotted.size());
    out.push_back(dotted.substr(at, end - at));
    at = end + 1;
  }
  return out;
}

bool names_type(const ProtoNode& n) {
  return n.kind == ProtoNode::kMessage || n.kind == ProtoNode::kEnum || n.kind == ProtoNode::kGroup;
}

// The nodes along a path of names below a list, or nothing.
bool find_below(const std::vector<ProtoNode>& list, const std::vector<std::string>& path, std::size_t from) {
  const std::vector<ProtoNode>* at = &list;
  for (std::size_t i = from; i < path.size(); ++i) {
    auto it =
        std::find_if(at->begin(), at->end(), [&](const ProtoNode& n) { return names_type(n) && n.name == path[i]; });
    if (it == at->end()) return false;
    at = &it->children;
  }
  return from < path.size();
}

ast::Node* definition_path(Build& b, const std::vector<std::string>& path, std::size_t from, ast::Node* in) {
  for (std::size_t i = from; i < path.size(); ++i) {
    ast::Node* name = b.name("#" + path[i]);
    in = in ? b.arena.make<ast::Selector>(in, TokenPos{}, name) : name;
  }
  return in;
}

}  // namespace

void ProtoConverter::doc(ast::Node* n, const std::vector<std::string>& lines, Rel rel) {
  if (lines.empty()) return;
  std::vector<ast::Comment> list;
  for (const std::string& l : lines)
    list.push_back({TokenPos{{}, list.empty() ? rel : Rel::kNewline}, b_.arena.copy(std::string_view("//" + l))});
  ast::CommentGroup g;
  g.doc = true;
  g.list = b_.arena.copy(std::span<const ast::Comment>(list));
  ast::add_comment(b_.arena, n, g);
}

void ProtoConverter::trailing(ast::Node* n, const std::string& text) {
  if (text.empty()) return;
  ast::Comment c{TokenPos{{}, Rel::kBlank}, b_.arena.copy(std::string_view("//" + text))};
  ast::CommentGroup g;
  g.line = true;
  g.position = n->kind == ast::Kind::kAttribute ? 1 : 4;
  g.list = b_.arena.copy(std::span<const ast::Comment>(&c, 1));
  ast::add_comment(b_.arena, n, g);
}

ast::File* ProtoConverter::run() {
  b_.brace = unit_.file.source->pos(0);
  std::vector<ast::Node*> body;
  for (const ProtoNode& n : unit_.file.nodes) {
    if (n.kind == ProtoNode::kEnum)
      enumeration(n, body);
    else
      message(n, body);
  }
  std::vector<ast::Node*> decls;
  auto* p = b_.arena.make<ast::Package>(TokenPos{{}, Rel::kNewline}, make_ident(b_.arena, package_));
  for (const auto& group : unit_.file.docs)
    doc(p, group, &group == &unit_.file.docs.front() ? Rel::kNewline : Rel::kNewSection);
  decls.push_back(p);
  if (!used_.empty()) {
    bool many = used_.size() > 1;
    std::vector<ast::Node*> specs;
    for (const std::string& path : used_)
      specs.push_back(b_.arena.make<ast::ImportSpec>(
          nullptr,
          make_lit(b_.arena, Tok::kString, "\"" + path + "\"", TokenPos{{}, many ? Rel::kNewline : Rel::kNone})));
    decls.push_back(b_.arena.make<ast::Import>(TokenPos{{}, Rel::kNewSection},
                                               TokenPos{{}, many ? Rel::kBlank : Rel::kNone},
                                               make_nodes(b_.arena, specs), TokenPos{}));
  }
  decls.insert(decls.end(), body.begin(), body.end());
  auto* f = b_.arena.make<ast::File>();
  f->decls = make_nodes(b_.arena, decls);
  return f;
}

void ProtoConverter::message(const ProtoNode& m, std::vector<ast::Node*>& out) {
  std::vector<ast::Node*> fields;
  scope_.push_back(&m);
  body(m, fields);
  scope_.pop_back();
  Rel rel = out.empty() && !scope_.empty() ? Rel::kNewline : Rel::kNewSection;
  ast::Field* f =
      b_.field(make_ident(b_.arena, "#" + m.name, TokenPos{m.pos, rel}), b_.structure(std::move(fields), false));
  doc(f, m.doc, rel);
  out.push_back(f);
}

void ProtoConverter::body(const ProtoNode& m, std::vector<ast::Node*>& out) {
  for (const ProtoNode& n : m.children) switch (n.kind) {
      case ProtoNode::kMessage: message(n, out); break;
      case ProtoNode::kEnum: enumeration(n, out); break;
      case ProtoNode::kOneof: {
        ast::Node* e = b_.embed(oneof(n));
        doc(e, n.doc, out.empty() ? Rel::kNewline : Rel::kNewSection);
        out.push_back(e);
        break;
      }
      case ProtoNode::kGroup: {
        ProtoNode own = n;
        own.kind = ProtoNode::kMessage;
        own.doc.clear();
        message(own, out);
        ProtoNode as_field = n;
        as_field.kind = ProtoNode::kField;
        for (char& c : as_field.name)
          if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
        as_field.children.clear();
        field(as_field, out, false);
        break;
      }
      default: field(n, out, false);
    }
  // option (cue.val) of the message itself.
  for (const ProtoOption& o : m.options)
    if (o.name == "(cue.val)")
      if (ast::Node* x = parse(o, m.pos)) out.push_back(b_.embed(x));
}

void ProtoConverter::enumeration(const ProtoNode& e, std::vector<ast::Node*>& out) {
  std::vector<ast::Node*> arms, values, numbers;
  bool json = owner_.options_.json_enums;
  for (const ProtoNode& v : e.children) {
    long long n = std::strtoll(v.number.c_str(), nullptr, 0);
    ast::Node* number = b_.integer(n);
    ast::Node* arm = nullptr;
    if (json) {
      arm = b_.arena.make<ast::Struct>(
          TokenPos{v.pos, arms.empty() ? Rel::kBlank : Rel::kNewline},
          make_nodes(b_.arena, {b_.embed(make_lit(b_.arena, Tok::kString, quote(v.name), TokenPos{{}, Rel::kNoSpace})),
                                b_.field(make_ident(b_.arena, "#enumValue", TokenPos{{}, Rel::kBlank, true}), number)}),
          TokenPos{v.pos, Rel::kNoSpace});
    } else {
      arm = make_ident(b_.arena, "#" + v.name, TokenPos{{}, Rel::kNewline});
      ast::Field* f = b_.field(
          make_ident(b_.arena, "#" + v.name, TokenPos{{}, numbers.empty() ? Rel::kNewSection : Rel::kNewline}), number);
      numbers.push_back(f);
    }
    arms.push_back(arm);
    values.push_back(b_.field(b_.label(v.name), b_.integer(n)));
    // What is said of a value stands where its number does.
    ast::Node* noted = json ? values.back() : numbers.back();
    doc(noted, v.doc, Rel::kNewline);
    trailing(noted, v.trailing);
  }
  if (arms.empty()) return;
  Rel rel = out.empty() && !scope_.empty() ? Rel::kNewline : Rel::kNewSection;
  ast::Field* f = b_.field(make_ident(b_.arena, "#" + e.name, TokenPos{e.pos, rel}), b_.any_of(arms));
  doc(f, e.doc, rel);
  out.push_back(f);
  out.insert(out.end(), numbers.begin(), numbers.end());
  out.push_back(b_.field(make_ident(b_.arena, "#" + e.name + "_value", TokenPos{{}, Rel::kNewSection}),
                         b_.structure(std::move(values), false)));
}

ast::Node* ProtoConverter::oneof(const ProtoNode& o) {
  std::vector<ast::Node*> arms{b_.arena.make<ast::Struct>(TokenPos{}, ast::Nodes{}, TokenPos{{}, Rel::kNoSpace})};
  for (const ProtoNode& f : o.children) {
    std::vector<ast::Node*> fields;
    field(f, fields, true);
    arms.push_back(b_.structure(std::move(fields), false));
    static_cast<ast::Struct*>(arms.back())->lbrace = TokenPos{f.pos, Rel::kBlank};
  }
  return b_.any_of(arms);
}

bool ProtoConverter::flag(const ProtoNode& n, std::string_view name) const {
  for (const ProtoOption& o : n.options) {
    if (o.name == "(cue.opt)." + std::string(name) && o.value.text == "true") return true;
    if (o.name == "(cue.opt)" && o.aggregate)
      for (const ProtoOption& f : o.fields)
        if (f.name == name && f.value.text == "true") return true;
  }
  return false;
}

std::string ProtoConverter::attribute(const ProtoNode& f, const std::string& type_text, const std::string& name) const {
  std::string out = "@protobuf(" + f.number + "," + type_text;
  if (name != f.name) out += ",name=" + f.name;
  for (const ProtoOption& o : f.options) {
    if (o.name.starts_with("(cue.") || o.name == "json_name" || o.aggregate) continue;
    std::string text = o.name;
    if (o.value.text != "true")
      text += "=" + (o.value.kind == ProtoToken::kString ? quote(o.value.text) : o.value.text);
    if (text[0] == '(') text = quote(text);
    out += "," + text;
  }
  return out + ")";
}

void ProtoConverter::field(const ProtoNode& f, std::vector<ast::Node*>& out, bool in_oneof) {
  std::string name = camel(f.name);
  for (const ProtoOption& o : f.options)
    if (o.name == "json_name") name = o.value.text;
  ast::Node* t = type(f.type, f.pos);
  std::string text = f.type;
  if (f.kind == ProtoNode::kMap) {
    text = "map[" + f.key + "]" + f.type;
    t = b_.structure({b_.pattern(b_.name("string"), t)}, false);
  } else if (f.label == ProtoNode::kRepeated) {
    t = b_.list({}, t, true);
  }
  bool optional = !in_oneof && f.label != ProtoNode::kRequired && !flag(f, "required");
  Tok mark = optional ? Tok::kOption : Tok::kIllegal;
  Rel rel = out.empty() ? Rel::kNewline : Rel::kNewline;
  ast::Node* label = b_.label(name, f.pos);
  ast::Field* field = b_.field(label, t, mark);
  field->attrs =
      make_nodes(b_.arena, {b_.arena.make<ast::Attribute>(TokenPos{{}, Rel::kBlank},
                                                          b_.arena.copy(std::string_view(attribute(f, text, name))))});
  if (TokenPos* at = ast::first_ref(label)) at->rel = rel;
  doc(field, f.doc, out.empty() ? Rel::kNewline : Rel::kNewSection);
  trailing(field->attrs[0], f.trailing);
  out.push_back(field);
  constraints(f, name, mark, out);
}

void ProtoConverter::constraints(const ProtoNode& n, const std::string& name, Tok optional,
                                 std::vector<ast::Node*>& out) {
  for (const ProtoOption& o : n.options)
    if (o.name == "(cue.val)")
      if (ast::Node* x = parse(o, n.pos)) out.push_back(b_.field(b_.label(name), x, optional));
}

ast::Node* ProtoConverter::parse(const ProtoOption& o, Pos pos) {
  if (!owner_.options_.sources) return nullptr;
  Result<const Source*> s = owner_.options_.sources->add("(cue.val)", o.value.text);
  std::vector<SyntaxError> errors;
  ast::Node* x = s ? parse_expression(**s, b_.arena, errors) : nullptr;
  if (!errors.empty() || !x) {
    fail(pos, fmt::format("option (cue.val) is not CUE: {}", errors.empty() ? "empty" : errors[0].message));
    return nullptr;
  }
  return x;
}

// ---- types

ast::Node* ProtoConverter::well_known(const std::string& name) {
  auto use = [&](const char* path) {
    if (std::find(used_.begin(), used_.end(), path) == used_.end()) used_.push_back(path);
  };
  auto null_or = [&](const char* t) { return b_.any_of({make_lit(b_.arena, Tok::kNull, "null"), b_.name(t)}); };
  if (name == "Timestamp" || name == "Duration") {
    use("time");
    return b_.member("time", name == "Timestamp" ? "Time" : "Duration");
  }
  if (name == "Any") return b_.structure({b_.field(b_.text("@type"), b_.name("string"))}, true);
  if (name == "Struct") return b_.structure({b_.pattern(b_.name("string"), b_.top())}, false);
  if (name == "Value") return b_.top();
  if (name == "ListValue") return b_.list({}, nullptr, true);
  if (name == "NullValue") return make_lit(b_.arena, Tok::kNull, "null");
  if (name == "BoolValue") return null_or("bool");
  if (name == "StringValue") return null_or("string");
  if (name == "BytesValue") return null_or("bytes");
  if (name == "Int32Value") return null_or("int32");
  if (name == "Int64Value") return null_or("int64");
  if (name == "UInt32Value") return null_or("uint32");
  if (name == "UInt64Value") return null_or("uint64");
  if (name == "FloatValue") return null_or("float32");
  if (name == "DoubleValue") return null_or("float64");
  if (name == "FieldMask") return b_.name("string");
  if (name == "Empty") {
    use("struct");
    return b_.call(b_.member("struct", "MaxFields"), {b_.integer(0)});
  }
  return nullptr;
}

std::string ProtoConverter::import_name(const ProtoImporter::Unit& u) {
  std::string last = u.import_path.substr(u.import_path.rfind('/') + 1);
  std::string path = last == u.name ? u.import_path : u.import_path + ":" + u.name;
  if (std::find(used_.begin(), used_.end(), path) == used_.end()) used_.push_back(path);
  return u.name;
}

// A full name (acme.test.Test) in a file: its definition, through an import unless it is our own.
ast::Node* ProtoConverter::in_unit(const ProtoImporter::Unit& u, const std::string& full, bool own) {
  std::string rest = full;
  if (!u.file.package.empty()) {
    if (!full.starts_with(u.file.package + ".")) return nullptr;
    rest = full.substr(u.file.package.size() + 1);
  }
  std::vector<std::string> path = parts(rest);
  if (!find_below(u.file.nodes, path, 0)) return nullptr;
  bool same = own || (u.import_path == unit_.import_path && u.name == unit_.name);
  return definition_path(b_, path, 0, same ? nullptr : b_.name(import_name(u)));
}

ast::Node* ProtoConverter::type(const std::string& name, Pos pos) {
  static const std::map<std::string_view, std::string_view> kScalars = {
      {"bool", "bool"},      {"string", "string"}, {"bytes", "bytes"},    {"int32", "int32"},   {"sint32", "int32"},
      {"sfixed32", "int32"}, {"uint32", "uint32"}, {"fixed32", "uint32"}, {"int64", "int64"},   {"sint64", "int64"},
      {"sfixed64", "int64"}, {"uint64", "uint64"}, {"fixed64", "uint64"}, {"float", "float32"}, {"double", "float64"}};
  if (auto it = kScalars.find(name); it != kScalars.end()) return b_.name(it->second, pos);
  bool absolute = name.starts_with('.');
  std::vector<std::string> path = parts(absolute ? name.substr(1) : name);
  // From the innermost message outwards; CUE looks for definitions in the same way.
  if (!absolute) {
    for (std::size_t i = scope_.size(); i-- > 0;) {
      if (scope_[i]->name == path[0] && find_below(scope_[i]->children, path, 1))
        return definition_path(b_, path, 0, nullptr);
      if (scope_[i]->name == path[0] && path.size() == 1) return b_.name("#" + path[0], pos);
      if (find_below(scope_[i]->children, path, 0)) return definition_path(b_, path, 0, nullptr);
    }
    if (find_below(unit_.file.nodes, path, 0)) return definition_path(b_, path, 0, nullptr);
  }
  // Then in the packages around this one, here and in what is imported.
  std::string given = absolute ? name.substr(1) : name;
  std::string around = absolute ? "" : unit_.file.package;
  for (;;) {
    std::string full = around.empty() ? given : around + "." + given;
    if (full.starts_with("google.protobuf."))
      if (ast::Node* x = well_known(full.substr(16))) return x;
    if (ast::Node* x = in_unit(unit_, full, true)) return x;
    std::vector<const ProtoImporter::Unit*> list(unit_.imports.begin(), unit_.imports.end());
    std::set<const ProtoImporter::Unit*> seen(list.begin(), list.end());
    for (std::size_t i = 0; i < list.size(); ++i) {
      if (ast::Node* x = in_unit(*list[i], full, false)) return x;
      for (std::size_t k = 0; k < list[i]->imports.size(); ++k)
        if (seen.insert(list[i]->imports[k]).second) list.push_back(list[i]->imports[k]);
    }
    if (around.empty()) break;
    std::size_t dot = around.rfind('.');
    around = dot == std::string::npos ? "" : around.substr(0, dot);
  }
  fail(pos, fmt::format("type {} not found", quote(name)));
  return b_.top();
}

}  // namespace tutti::cue
