#include "lang/puppet/catalog/output.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/sink.h"
#include "format/json.h"

namespace tutti::puppet {
namespace {

Symbol sym(const char* s) { return Symbol(s); }

std::string json_number(double d) {
  std::string s = float_text(d);
  return s;
}

Value rich(Compiler& c, std::string_view type, const Value& value, Origin o) {
  TreeBuilder b = c.session().builder();
  Entry e[2];
  e[0].key = sym("__ptype");
  e[0].value = b.string(type, o);
  e[1].key = sym("__pvalue");
  e[1].value = value;
  return b.map(std::span<const Entry>(e, 2), o);
}

// A type as an object of Pcore's own type for it.
Value type_tree(Compiler& c, const Type* t, Origin o) {
  TreeBuilder b = c.session().builder();
  t = resolved(t);
  if ((t->kind == TK::kResource || t->kind == TK::kClass) && t->has_title) {
    std::string title = t->kind == TK::kClass ? capitalize_segments(t->name) : std::string(t->title);
    std::string_view type = t->kind == TK::kClass ? "Class" : t->name;
    return Value::resource(Symbol(type), c.arena().copy(std::string_view(title)), o);
  }
  MapDraft m;
  std::string name = t->kind == TK::kResource ? "Resource"
                     : t->kind == TK::kClass  ? "Class"
                                              : std::string(plain(t->kind)->name);
  m.set(sym("__ptype"), b.string("Pcore::" + name + "Type", o));
  if (t->kind == TK::kResource && !t->name.empty()) m.set(sym("type_name"), b.string(t->name, o));
  if (t->kind == TK::kInteger) {
    if (t->min != kNoMin) m.set(sym("from"), Value::integer(t->min, o));
    if (t->max != kNoMax) m.set(sym("to"), Value::integer(t->max, o));
  }
  if (t->kind == TK::kFloat) {
    if (!std::isinf(t->fmin)) m.set(sym("from"), b.number(json_number(t->fmin), o));
    if (!std::isinf(t->fmax)) m.set(sym("to"), b.number(json_number(t->fmax), o));
  }
  if (t->kind == TK::kEnum && !t->values.empty()) {
    std::vector<Value> values;
    for (const Val& v : t->values) values.push_back(b.string(v.text(), o));
    m.set(sym("values"), b.list(values, o));
  }
  if (t->kind == TK::kVariant || t->kind == TK::kTuple) {
    std::vector<Value> types;
    for (const Type* x : t->types) types.push_back(type_tree(c, x, o));
    m.set(sym("types"), b.list(types, o));
  } else if (t->kind == TK::kOptional || t->kind == TK::kNotUndef || t->kind == TK::kType ||
             t->kind == TK::kSensitive) {
    if (!t->types.empty()) m.set(sym("type"), type_tree(c, t->types[0], o));
  } else if (t->kind == TK::kArray && !t->types.empty()) {
    m.set(sym("element_type"), type_tree(c, t->types[0], o));
  } else if (t->kind == TK::kHash && t->types.size() == 2) {
    m.set(sym("key_type"), type_tree(c, t->types[0], o));
    m.set(sym("value_type"), type_tree(c, t->types[1], o));
  }
  return m.build(b, o);
}

}  // namespace

Value to_tree(Compiler& c, const Val& v, Origin otherwise) {
  Origin o = v.origin ? v.origin : otherwise;
  TreeBuilder b = c.session().builder();
  switch (v.kind) {
    case VK::kUndef: return Value::null(o);
    case VK::kBool: return Value::boolean(v.b, o);
    case VK::kInt: return Value::integer(v.i, o);
    case VK::kFloat: return b.number(json_number(v.d), o);
    case VK::kString: return Value::string(v.text(), o);
    case VK::kDefault: {
      Entry e;
      e.key = sym("__ptype");
      e.value = Value::string("Default", o);
      return b.map(std::span<const Entry>(&e, 1), o);
    }
    case VK::kArray: {
      std::vector<Value> items;
      items.reserve(v.size);
      for (const Val& i : v.items()) items.push_back(to_tree(c, i, o));
      return b.list(items, o);
    }
    case VK::kHash: {
      bool strings =
          std::all_of(v.entries().begin(), v.entries().end(), [](const Pair& p) { return p.key.is(VK::kString); });
      if (!strings) {
        std::vector<Value> items;
        for (const Pair& p : v.entries()) {
          items.push_back(to_tree(c, p.key, o));
          items.push_back(to_tree(c, p.value, o));
        }
        return rich(c, "Hash", b.list(items, o), o);
      }
      std::vector<Entry> entries;
      entries.reserve(v.size);
      for (const Pair& p : v.entries()) {
        Entry e;
        e.key = Symbol(p.key.text());
        e.value = to_tree(c, p.value, o);
        entries.push_back(e);
      }
      return b.map(entries, o);
    }
    case VK::kType: return type_tree(c, v.t, o);
    case VK::kSensitive: return rich(c, "Sensitive", to_tree(c, *v.box, o).as_secret(), o);
    case VK::kRegex: return rich(c, "Regexp", Value::string(v.text(), o), o);
    case VK::kBinary: return rich(c, "Binary", b.string(base64(v.text()), o), o);
    case VK::kTimestamp: return rich(c, "Timestamp", b.string(timestamp_text(v.i), o), o);
    case VK::kTimespan: return rich(c, "Timespan", b.string(timespan_text(v.i), o), o);
    case VK::kSemVer: return rich(c, "SemVer", Value::string(v.text(), o), o);
    case VK::kSemVerRange: return rich(c, "SemVerRange", Value::string(v.text(), o), o);
    case VK::kUri: return rich(c, "URI", Value::string(v.text(), o), o);
    case VK::kObject: {
      MapDraft m;
      m.set(sym("__ptype"), b.string(v.o->type ? v.o->type->name : std::string_view("Deferred"), o));
      for (const Pair& p : v.o->fields) m.set(Symbol(p.key.text()), to_tree(c, p.value, o));
      return m.build(b, o);
    }
    case VK::kClosure: return Value::string("lambda", o);
  }
  return Value::null(o);
}

Val from_tree(Arena& arena, const Value& v) {
  Val out;
  switch (v.kind()) {
    case Kind::kNull: break;
    case Kind::kBool: out = Val::boolean(v.as_bool()); break;
    case Kind::kInt:
      if (v.fits_i64())
        out = Val::integer(v.as_i64());
      else
        out = make_string(arena, v.number_text());
      break;
    case Kind::kDecimal: out = Val::real(std::strtod(v.number_text().c_str(), nullptr)); break;
    case Kind::kList: {
      std::vector<Val> items;
      for (const Value& i : v.items()) items.push_back(from_tree(arena, i));
      out = make_array(arena, items);
      break;
    }
    case Kind::kMap: {
      HashDraft h;
      for (const Entry& e : v.entries()) h.set(Val::string(e.key.text()), from_tree(arena, e.value));
      out = h.build(arena);
      break;
    }
    case Kind::kBytes: out = Val::with_text(VK::kBinary, arena.copy(v.text())); break;
    default: out = make_string(arena, v.text());
  }
  return out.with_origin(v.origin());
}

Value catalog_tree(Compiler& c) {
  Catalog& catalog = c.catalog();
  Session& session = c.session();
  TreeBuilder b = session.builder();
  MapDraft root;
  std::vector<Value> tags;
  tags.push_back(b.string("settings"));
  for (Symbol t : catalog.tags) tags.push_back(Value::string(t.text()));
  root.set(sym("tags"), b.list(tags));
  root.set(sym("name"), b.string(c.node().name));
  root.set(sym("version"), Value::integer(0));
  root.set(sym("code_id"), Value::null());
  root.set(sym("catalog_format"), Value::integer(2));
  root.set(sym("environment"), b.string(c.settings().environment_name));
  static const Symbol k_type("type"), k_title("title"), k_tags("tags"), k_file("file"), k_line("line"),
      k_exported("exported"), k_kind("kind"), k_parameters("parameters"), k_sensitive("sensitive_parameters"),
      k_name("name");
  static const std::string_view kKinds[] = {"unknown", "compilable_type", "defined_type", "class"};
  std::vector<Entry> resources;
  std::vector<bool> out(catalog.resources.size());
  std::vector<std::string_view> refs(catalog.resources.size());
  for (const Resource* each : catalog.resources) {
    const Resource& r = *each;
    if (r.is_virtual || (r.exported && r.is_virtual)) continue;
    out[r.index] = true;
    std::vector<Entry> e;
    auto add = [&](Symbol k, const Value& v) {
      Entry x;
      x.key = k;
      x.value = v;
      e.push_back(x);
    };
    std::string ref = r.title == "main" && r.is_class ? "Class[main]" : r.ref();
    refs[r.index] = session.arena.copy(std::string_view(ref));
    Origin at = r.at;
    add(k_type, Value::string(r.type.text(), at));
    bool main = r.title == "main" && (r.is_class || r.is_stage);
    add(k_title, main         ? Value::string("main", at)
                 : r.is_class ? b.string(r.class_title(), at)
                              : Value::string(r.title, at));
    std::vector<Value> t;
    for (Symbol s : r.tags) t.push_back(Value::string(s.text()));
    add(k_tags, b.list(t));
    if (r.at) {
      Location l = session.sources->locate(r.at);
      const Source* source = session.sources->find(r.at);
      add(k_file, Value::string(source && !source->path.empty() ? std::string_view(source->path) : l.file));
      add(k_line, Value::integer(l.line));
    }
    add(k_exported, Value::boolean(r.exported && r.is_virtual));
    add(k_kind, Value::string(kKinds[static_cast<int>(r.kind)]));
    std::vector<Entry> params;
    auto param = [&](Symbol k, const Value& v) {
      Entry x;
      x.key = k;
      x.value = v;
      params.push_back(x);
    };
    if (main) param(k_name, Value::string("main"));
    // What the title says of the naming attributes comes first, unless it is the title itself.
    std::vector<std::pair<Symbol, std::string>> parts;
    if (r.native) parts = title_parts(*r.native, r.title);
    for (const auto& [k, text] : parts) {
      const ResourceParam* p = r.find(k);
      bool single = r.native->namevars.size() == 1;
      if (p && !p->value.undefined()) {
        if (!((single || k == k_name) && p->value.is(VK::kString) && p->value.text() == r.title))
          param(k, to_tree(c, p->value, p->at));
      } else if (!(text == r.title && (single || k == k_name))) {
        param(k, b.string(text, at));
      }
    }
    for (const ResourceParam& p : r.params) {
      if (p.value.undefined()) continue;
      if (std::any_of(parts.begin(), parts.end(), [&](const auto& x) { return x.first == p.name; })) continue;
      if (!r.native && p.name == k_name && p.value.is(VK::kString) && p.value.text() == r.title) continue;
      Val value = p.value;
      bool relation = p.name.text() == "require" || p.name.text() == "before" || p.name.text() == "notify" ||
                      p.name.text() == "subscribe";
      if (relation && value.is(VK::kArray)) {
        std::vector<Val> flat;
        auto flatten = [&](auto&& self, const Val& v) -> void {
          if (v.is(VK::kArray))
            for (const Val& i : v.items()) self(self, i);
          else if (!v.undefined())
            flat.push_back(v);
        };
        flatten(flatten, value);
        value = make_array(c.arena(), flat).with_origin(value.origin);
      }
      Value v = to_tree(c, value, p.at);
      if (p.how != How::kWritten) v = v.with_origin(session.origins.add(p.how, p.at, v.origin(), p.replaced, p.name));
      if (std::find(r.sensitive.begin(), r.sensitive.end(), p.name) != r.sensitive.end()) v = v.as_secret();
      param(p.lower_name(), v);
    }
    if (!params.empty()) add(k_parameters, b.map(params, at));
    if (!r.sensitive.empty()) {
      std::vector<Value> s;
      for (Symbol n : r.sensitive) s.push_back(Value::string(n.text()));
      add(k_sensitive, b.list(s));
    }
    Entry x;
    x.key = Symbol(ref);
    x.value = b.map(e, at);
    resources.push_back(x);
  }
  root.set(sym("resources"), b.map(resources));
  std::vector<Value> edges;
  static const Symbol k_source("source"), k_target("target");
  for (const Edge& e : catalog.edges) {
    if (!out[e.source->index] || !out[e.target->index]) continue;
    Entry both[2];
    both[0].key = k_source;
    both[0].value = Value::string(refs[e.source->index]);
    both[1].key = k_target;
    both[1].value = Value::string(refs[e.target->index]);
    edges.push_back(b.map(std::span<const Entry>(both, 2)));
  }
  root.set(sym("edges"), b.list(edges));
  std::vector<Value> classes;
  for (Symbol s : catalog.classes) classes.push_back(Value::string(s.text()));
  root.set(sym("classes"), b.list(classes));
  return root.build(b);
}

namespace {

void write_value(const Value& v, Sink& sink) {
  switch (v.kind()) {
    case Kind::kResource: {
      std::string s = fmt::format("{}[{}]", v.tag().text(), v.text());
      write_json_string(s, false, sink);
      return;
    }
    case Kind::kList: {
      sink.put('[');
      bool first = true;
      for (const Value& i : v.items()) {
        if (!first) sink.put(',');
        first = false;
        write_value(i, sink);
      }
      sink.put(']');
      return;
    }
    case Kind::kMap: {
      sink.put('{');
      bool first = true;
      for (const Entry& e : v.entries()) {
        if (!first) sink.put(',');
        first = false;
        write_json_string(e.key.text(), false, sink);
        sink.put(':');
        write_value(e.value, sink);
      }
      sink.put('}');
      return;
    }
    case Kind::kNull: sink.put("null"); return;
    case Kind::kBool: sink.put(v.as_bool() ? "true" : "false"); return;
    case Kind::kInt:
    case Kind::kDecimal: sink.put(v.number_text()); return;
    default: write_json_string(v.text(), false, sink);
  }
}

}  // namespace

std::string catalog_json(const Value& tree) {
  StringSink sink;
  sink.put('{');
  bool first = true;
  for (const Entry& e : tree.entries()) {
    if (!first) sink.put(',');
    first = false;
    write_json_string(e.key.text(), false, sink);
    sink.put(':');
    if (e.key.text() == "resources" && e.value.is(Kind::kMap)) {
      sink.put('[');
      bool one = true;
      for (const Entry& r : e.value.entries()) {
        if (!one) sink.put(',');
        one = false;
        write_value(r.value, sink);
      }
      sink.put(']');
      continue;
    }
    write_value(e.value, sink);
  }
  sink.put('}');
  return sink.take();
}

}  // namespace tutti::puppet
