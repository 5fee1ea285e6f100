// encoding/openapi: definitions as an OpenAPI document, in a text.
#include "lang/cue/builtin/support.h"
#include "lang/cue/eval/context.h"
#include "lang/cue/export/encode.h"
#include "lang/cue/export/export.h"
#include "lang/cue/format/literal.h"
#include "lang/cue/schema/writer.h"

namespace tutti::cue {

using ast::as;

namespace {

// Data in the form of syntax, on one line.
void append_data(std::string& out, const ast::Node* n) {
  auto all = [&](char open, char close, const ast::Nodes& list, auto&& one) {
    out += open;
    bool first = true;
    for (const ast::Node* x : list) {
      if (!first) out += ',';
      first = false;
      one(x);
    }
    out += close;
  };
  switch (n->kind) {
    case ast::Kind::kStruct:
      return all('{', '}', as<ast::Struct>(n)->elts, [&](const ast::Node* d) {
        append_json_string(out, label_name(as<ast::Field>(d)->label), false);
        out += ':';
        append_data(out, as<ast::Field>(d)->value);
      });
    case ast::Kind::kList:
      return all('[', ']', as<ast::List>(n)->elts, [&](const ast::Node* x) { append_data(out, x); });
    case ast::Kind::kUnary: out += '-'; return append_data(out, as<ast::Unary>(n)->x);
    case ast::Kind::kLit: break;
    default: out += "null"; return;
  }
  const auto* l = as<ast::Lit>(n);
  if (l->tok == Tok::kString)
    append_json_string(out, unquote(l->text).text, false);
  else
    out += l->text;
}

Vertex* field_of(Vertex* v, std::string_view name) { return v->deref_value()->find_raw(Label::string(name)); }

Node* call_marshal_schema(CallContext& c) {
  Vertex* config = c.structure(0);
  Vertex* schema = c.structure(1);
  if (c.failed()) return nullptr;
  static const Sources kNone;
  const Sources& sources = c.context.sources ? *c.context.sources : kNone;
  ExportProfile profile;
  profile.take_defaults = profile.final = true;
  auto shown = [&](std::string_view name) -> ast::Node* {
    Vertex* v = field_of(config, name);
    return v && v->arc_type == ArcType::kMember ? export_expression(c.context, sources, v, profile) : nullptr;
  };
  const ast::Node* version = shown("version");
  if (!version || version->kind != ast::Kind::kLit) return c.incomplete("field not found: version");
  if (unquote(as<ast::Lit>(version)->text).text != "3.0.0") return c.error("unsupported OpenAPI version");
  const ast::Node* expand = shown("expandReferences");
  const Node* given = c.context.unwrap(c.context.default_of(c.args[1]));
  if (given && c.context.concreteness(given) > 1) return c.incomplete("non-concrete argument 1");
  SchemaWriter w(c.context, sources, schema, SchemaWriter::Target::kOpenApi);
  w.expand_references = expand && expand->kind == ast::Kind::kLit && as<ast::Lit>(expand)->tok == Tok::kTrue;
  w.info = shown("info");
  const ast::Node* document = w.openapi();
  if (!w.error.empty()) return c.error(w.error);
  if (!document) return c.error(w.problems.empty() ? "cannot be written as OpenAPI" : w.problems[0].message);
  std::string out;
  append_data(out, document);
  return c.make_string(out);
}

constexpr ConstantSpec kConfig[] = {{"", R"({
	#Config: {
		version!:         "3.0.0"
		info?:            #Info
		selfContained:    bool | *false
		expandReferences: bool | *false
	}
	#Info: {
		title!:          string
		version!:        string
		summary?:        string
		description?:    string
		termsOfService?: string
		contact?:        #Contact
		license?:        #License
	}
	#Contact: {name?: string, url?: string, email?: string}
	#License: {name!: string, url?: string}
})"}};

}  // namespace

void add_openapi() {
  static const BuiltinSpec kFunctions[] = {
      {"MarshalSchema", {kTopKind, kTopKind}, kStringKind, call_marshal_schema, true},
  };
  add_package("encoding/openapi", kFunctions, kConfig);
}

}  // namespace tutti::cue
