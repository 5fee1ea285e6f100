// encoding/json, encoding/yaml and encoding/toml.
#include <fmt/format.h>

#include "lang/cue/builtin/data.h"
#include "lang/cue/builtin/support.h"
#include "lang/cue/compile/compile.h"
#include "lang/cue/eval/context.h"
#include "lang/cue/eval/limits.h"
#include "lang/cue/eval/print.h"
#include "lang/cue/eval/validate.h"
#include "lang/cue/export/encode.h"
#include "lang/cue/export/export.h"
#include "lang/cue/export/yaml.h"
#include "lang/cue/import/decode.h"

namespace tutti::cue {

namespace {

constexpr Kinds kData = kBytesKind | kStringKind;

// Text that values are read from keeps its place in here.
Sources& texts(CallContext& c) {
  static Sources others;
  return c.context.sources ? *c.context.sources : others;
}

const Source* text_source(CallContext& c, std::string_view name, std::string_view text) {
  Result<const Source*> s = texts(c).add(std::string(name), std::string(text));
  return s ? *s : nullptr;
}

Node* compiled(CallContext& c, ast::Node* x) {
  Compiler compiler(c.context.store);
  Node* n = compiler.expression(x, nullptr);
  if (!compiler.errors().empty()) return c.error(compiler.errors()[0].message);
  return n;
}

// The value must be decided in all its parts.
bool concrete(CallContext& c, Node* n, bool as_json = false) {
  if (n->type != NodeType::kVertex) return true;
  c.context.finalize(to<Vertex>(n));
  ValidateConfig config;
  config.concrete = config.final = true;
  config.only_regular = as_json;
  Bottom* b = validate_tree(c.context, to<Vertex>(n), config);
  if (!b) return true;
  if (as_json && std::string_view(b->error->format) == "incomplete value {}") {
    b->error->format = "cannot convert incomplete value \"{}\" to JSON";
    b->error->others = {};
  }
  c.report(b);
  return false;
}

Node* list_of(CallContext& c, const std::vector<ast::Node*>& documents) {
  return compiled(c, make_list(c.context.arena, documents));
}

bool yaml_text(CallContext& c, Node* n, std::string& out, std::string& error) {
  if (!concrete(c, n)) return false;
  ExportProfile p;
  p.take_defaults = p.final = true;
  ast::Node* x = export_expression(c.context, texts(c), n, p);
  return encode_yaml(x, out, error, kLongestText);
}

// The value of a text against a schema.
Node* validate_against(CallContext& c, const std::vector<ast::Node*>& documents, bool final) {
  for (ast::Node* d : documents) {
    Node* n = compiled(c, d);
    if (n->type == NodeType::kBottom) return n;
    Vertex* data = c.context.new_vertex();
    data->conjuncts.push(c.context.arena, Conjunct{c.context.arena.make<Environment>(), n, {}});
    c.context.finalize(data);
    if (Bottom* b = data->bottom()) return b;
    Vertex* v = c.context.unify_values(data, c.args[1]);
    if (!v) return nullptr;
    ValidateConfig config;
    config.final = config.concrete = final;
    if (Bottom* b = v->bottom(); b && !b->incomplete()) return b;
    // What is missing in the text will not come any more.
    if (Bottom* b = validate_tree(c.context, v, config))
      return c.context.store.make<Bottom>(Code::kEval, b->error, b->node);
  }
  return c.make_bool(true);
}

// White space out of JSON, or into it.
bool reformat(CallContext& c, std::string_view s, std::string_view prefix, std::string_view indent, bool compact_,
              std::string& out, std::string& error) {
  Arena arena;
  const Source* source = text_source(c, "json", s);
  Decoded d = decode_json(*source, arena);
  if (!d.ok()) {
    error = d.errors[0].message;
    if (std::size_t at = error.find("\": "); at != std::string::npos) error = error.substr(at + 3);
    return false;
  }
  int depth = 0;
  bool open = false;
  auto line = [&] {
    out += '\n';
    out += prefix;
    for (int i = 0; i < depth; ++i) out += indent;
  };
  for (std::size_t i = 0; i < s.size(); ++i) {
    char ch = s[i];
    if (ch == ' ' || ch == '\t' || ch == '\n' || ch == '\r') continue;
    if (open && ch != ']' && ch != '}') {
      open = false;
      ++depth;
      line();
    }
    if (ch == '"') {
      std::size_t from = i;
      for (++i; s[i] != '"'; ++i)
        if (s[i] == '\\') ++i;
      out += s.substr(from, i - from + 1);
    } else if (compact_) {
      out += ch;
    } else if (ch == '{' || ch == '[') {
      open = true;
      out += ch;
    } else if (ch == ',') {
      out += ch;
      line();
    } else if (ch == ':') {
      out += ": ";
    } else if (ch == '}' || ch == ']') {
      if (open)
        open = false;
      else {
        --depth;
        line();
      }
      out += ch;
    } else {
      out += ch;
    }
  }
  return true;
}

const BuiltinSpec kJson[] = {
    {"Valid",
     {kData},
     kBoolKind,
     [](CallContext& c) -> Node* {
       std::string_view s = c.bytes(0);
       if (c.failed()) return nullptr;
       Arena arena;
       return c.make_bool(decode_json(*text_source(c, "json", s), arena).ok());
     }},
    {"Compact",
     {kData},
     kStringKind,
     [](CallContext& c) -> Node* {
       std::string out, error;
       bool good = reformat(c, c.bytes(0), "", "", true, out, error);
       if (c.failed()) return nullptr;
       return good ? c.make_string(out) : c.error(error);
     }},
    {"Indent",
     {kData, kStringKind, kStringKind},
     kStringKind,
     [](CallContext& c) -> Node* {
       std::string out, error;
       bool good = reformat(c, c.bytes(0), c.string(1), c.string(2), false, out, error);
       if (c.failed()) return nullptr;
       return good ? c.make_string(out) : c.error(error);
     }},
    {"HTMLEscape",
     {kData},
     kStringKind,
     [](CallContext& c) -> Node* {
       std::string out;
       std::string_view s = c.bytes(0);
       for (std::size_t i = 0; i < s.size(); ++i) {
         if (s[i] == '<' || s[i] == '>' || s[i] == '&') {
           out += fmt::format("\\u{:04x}", static_cast<unsigned>(s[i]));
         } else if (s.substr(i, 3) == "\xE2\x80\xA8" || s.substr(i, 3) == "\xE2\x80\xA9") {
           out += s[i += 2] == '\xA8' ? "\\u2028" : "\\u2029";  // ends of lines to JavaScript
         } else {
           out += s[i];
         }
       }
       return c.make_string(out);
     }},
    {"Marshal",
     {kTopKind},
     kStringKind,
     [](CallContext& c) -> Node* {
       std::string s = json_text(c, c.args[0]);
       return c.failed() ? nullptr : c.make_string(s);
     }},
    {"MarshalStream",
     {kTopKind},
     kStringKind,
     [](CallContext& c) -> Node* {
       std::string out;
       for (Node* n : list_items(c, c.args[0])) out += json_text(c, n) + "\n";
       return c.failed() ? nullptr : c.make_string(out);
     }},
    {"UnmarshalStream",
     {kData},
     kTopKind,
     [](CallContext& c) -> Node* {
       std::string_view s = c.bytes(0);
       if (c.failed()) return nullptr;
       Decoded d = decode_json_stream(*text_source(c, "", s), c.context.arena);
       return d.ok() ? list_of(c, d.documents) : c.error(d.errors[0].message);
     }},
    {"Unmarshal",
     {kData},
     kTopKind,
     [](CallContext& c) -> Node* {
       std::string_view s = c.bytes(0);
       if (c.failed()) return nullptr;
       Decoded d = decode_json(*text_source(c, "json", s), c.context.arena);
       return d.ok() ? compiled(c, d.documents[0]) : c.error("json: invalid JSON");
     }},
    {"Validate",
     {kData, kTopKind},
     kBoolKind,
     [](CallContext& c) -> Node* {
       std::string_view s = c.bytes(0);
       if (c.failed()) return nullptr;
       Decoded d = decode_json(*text_source(c, "json.Validate", s), c.context.arena);
       return d.ok() ? validate_against(c, d.documents, true) : c.error("json: invalid JSON");
     },
     true},
};

Node* yaml_unmarshal(CallContext& c, bool stream) {
  std::string_view s = c.bytes(0);
  if (c.failed()) return nullptr;
  Decoded d = decode_yaml(*text_source(c, "", s), c.context.arena);
  if (!d.ok()) return c.error(d.errors[0].message);
  if (stream) return list_of(c, d.documents);
  if (d.documents.empty()) return c.make_null();
  if (d.documents.size() > 1) return c.error("expected a single YAML document");
  return compiled(c, d.documents[0]);
}

Node* yaml_validate(CallContext& c, bool partial) {
  std::string_view s = c.bytes(0);
  if (c.failed()) return nullptr;
  Decoded d = decode_yaml(*text_source(c, partial ? "yaml.ValidatePartial" : "yaml.Validate", s), c.context.arena);
  return d.ok() ? validate_against(c, d.documents, !partial) : c.error(d.errors[0].message);
}

const BuiltinSpec kYaml[] = {
    {"Marshal",
     {kTopKind},
     kStringKind,
     [](CallContext& c) -> Node* {
       std::string out, error;
       bool good = yaml_text(c, c.args[0], out, error);
       if (c.failed()) return nullptr;
       return good ? c.make_string(out) : c.error(error);
     }},
    {"MarshalStream",
     {kTopKind},
     kStringKind,
     [](CallContext& c) -> Node* {
       std::string out, error;
       bool first = true;
       for (Node* n : list_items(c, c.args[0])) {
         if (!first) out += "---\n";
         first = false;
         std::string one;
         bool good = yaml_text(c, n, one, error);
         if (c.failed()) return nullptr;
         if (!good) return c.error(error);
         out += one;
       }
       return c.failed() ? nullptr : c.make_string(out);
     }},
    {"Unmarshal", {kData}, kTopKind, [](CallContext& c) -> Node* { return yaml_unmarshal(c, false); }},
    {"UnmarshalStream", {kData}, kTopKind, [](CallContext& c) -> Node* { return yaml_unmarshal(c, true); }},
    {"Validate", {kData, kTopKind}, kBoolKind, [](CallContext& c) -> Node* { return yaml_validate(c, false); }, true},
    {"ValidatePartial",
     {kData, kTopKind},
     kBoolKind,
     [](CallContext& c) -> Node* { return yaml_validate(c, true); },
     true},
};

const BuiltinSpec kToml[] = {
    {"Marshal",
     {kTopKind},
     kStringKind,
     [](CallContext& c) -> Node* {
       std::string out, error;
       if (!concrete(c, c.args[0])) return nullptr;
       return encode_toml(c.context, c.args[0], out, error) ? c.make_string(out) : c.error(error);
     }},
    {"Unmarshal",
     {kData},
     kTopKind,
     [](CallContext& c) -> Node* {
       std::string_view s = c.bytes(0);
       if (c.failed()) return nullptr;
       Decoded d = decode_toml(*text_source(c, "", s), c.context.arena);
       return d.ok() ? compiled(c, d.documents[0]) : c.error(d.errors[0].message);
     }},
};

}  // namespace

std::string json_text(CallContext& c, Node* value) {
  std::string out, error;
  if (!concrete(c, value, true)) return {};
  if (!encode_json(c.context, texts(c), value, {.longest = kLongestText}, out, error))
    c.context.add_bottom(c.context.bottom(Code::kIncomplete, {}, "{}", std::string_view(error)));
  return out;
}

void add_json() { add_package("encoding/json", kJson); }
void add_yaml() { add_package("encoding/yaml", kYaml); }
void add_toml() { add_package("encoding/toml", kToml); }

}  // namespace tutti::cue
