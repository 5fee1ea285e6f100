// XML in the "koala" mapping: an element is a struct, an attribute a field $NAME, text the field $$, elements of one
// name among their siblings a list.
#include "format/xml.h"

#include <functional>

#include "lang/cue/import/decode.h"

namespace tutti::cue {

namespace {

ast::Node* koala(Arena& arena, const Value& v) {
  switch (v.kind()) {
    case Kind::kMap: {
      std::vector<ast::Node*> fields;
      for (const Entry& e : v.entries()) {
        std::string name(e.key.text());
        if (name.starts_with('@'))
          fields.push_back(
              make_field(arena, make_label(arena, "$" + name.substr(1)), make_string(arena, e.value.text())));
        else if (name == "#text")
          fields.push_back(make_field(arena, make_label(arena, "$$"), make_string(arena, e.value.text())));
        else
          fields.push_back(make_field(arena, make_label(arena, name), koala(arena, e.value)));
      }
      return make_struct(arena, fields);
    }
    case Kind::kList: {
      std::vector<ast::Node*> items;
      for (const Value& x : v.items()) items.push_back(koala(arena, x));
      return make_list(arena, items);
    }
    case Kind::kNull: return make_struct(arena, {});
    default:
      if (v.text().empty()) return make_struct(arena, {});
      return make_struct(arena, {make_field(arena, make_label(arena, "$$"), make_string(arena, v.text()))});
  }
}

}  // namespace

Decoded decode_xml(const Source& source, Arena& arena) {
  Decoded d;
  Session session;
  std::optional<Value> v = read_xml(session, source);
  if (!v) {
    for (const Diagnostic& x : session.diagnostics.all()) d.errors.push_back({x.where.begin, x.message});
    if (d.ok()) d.errors.push_back({source.pos(0), "invalid XML"});
    return d;
  }
  d.documents.push_back(koala(arena, *v));
  return d;
}

}  // namespace tutti::cue
