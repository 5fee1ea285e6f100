#include "lang/puppet/catalog/output.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "base/base64.h"
#include "base/utf8.h"
#include "lang/puppet/text/ruby_format.h"
#include "lang/puppet/types/time.h"
#include "tree/secret_mark.h"

namespace tutti::puppet {
namespace {

Symbol sym(const char* s) { return Symbol(s); }

Value rich(const TreeBuilder& b, std::string_view type, const Value& value, Origin o) {
  Entry e[2];
  e[0].key = sym("__ptype");
  e[0].value = b.string(type, o);
  e[1].key = sym("__pvalue");
  e[1].value = value;
  return b.map(std::span<const Entry>(e, 2), o);
}

Value type_tree(const TreeBuilder& b, const Type* t, Origin o, bool part = true);

// What an Object type is made from.
Value object_tree(const TreeBuilder& b, const Type& t, Origin o) {
  MapDraft m;
  if (&t == plain(TK::kObject)) return m.build(b, o);
  if (!t.name.empty()) m.set(sym("name"), b.string(t.name, o));
  if (t.inner != nullptr) m.set(sym("parent"), type_tree(b, t.inner, o));
  MapDraft attributes;
  std::size_t inherited = t.inner != nullptr ? t.inner->members.size() : 0;
  for (const Member& a : t.members.subspan(std::min(inherited, t.members.size()))) {
    Value type = type_tree(b, a.type, o);
    if (a.has_value) {
      MapDraft with_default;
      with_default.set(sym("type"), type);
      with_default.set(sym("value"), to_tree(b, a.value, o));
      type = with_default.build(b, o);
    }
    attributes.set(Symbol(a.name), type);
  }
  if (t.members.size() > inherited) m.set(sym("attributes"), attributes.build(b, o));
  return m.build(b, o);
}

// A type as an object of Pcore's own type for it. A reference to a resource is text, unless it is part of another type.
Value type_tree(const TreeBuilder& b, const Type* t, Origin o, bool part) {
  if (t->kind == TK::kAlias) {  // none that contains itself: Compiler::finish_resource
    MapDraft alias;
    alias.set(sym("__ptype"), b.string("Pcore::TypeAliasType", o));
    alias.set(sym("name"), b.string(t->name, o));
    alias.set(sym("type_expr"), Value::null(o));
    alias.set(sym("resolved_type"), t->inner != nullptr ? type_tree(b, t->inner, o) : Value::null(o));
    return alias.build(b, o);
  }
  if ((t->kind == TK::kResource || t->kind == TK::kClass) && t->has_title && !part) {
    std::string title = t->kind == TK::kClass ? capitalize_segments(t->name) : std::string(t->title);
    std::string_view type = t->kind == TK::kClass ? "Class" : t->name;
    return Value::resource(Symbol(type), b.arena().copy(std::string_view(title)), o);
  }
  MapDraft m;
  std::string name = t->kind == TK::kResource ? "Resource"
                     : t->kind == TK::kClass  ? "Class"
                                              : std::string(plain(t->kind)->name);
  m.set(sym("__ptype"), b.string("Pcore::" + name + "Type", o));
  if (t->kind == TK::kResource && !t->name.empty()) m.set(sym("type_name"), b.string(t->name, o));
  if (t->kind == TK::kResource && t->has_title) m.set(sym("title"), b.string(t->title, o));
  if (t->kind == TK::kClass && t->has_title) m.set(sym("class_name"), b.string(t->name, o));
  if (t->kind == TK::kRuntime && t->values.size() == 2) {
    m.set(sym("runtime"), to_tree(b, t->values[0], o));
    m.set(sym("name_or_pattern"), to_tree(b, t->values[1], o));
  }
  if (t->kind == TK::kObject) m.set(sym("_pcore_init_hash"), object_tree(b, *t, o));
  auto range = [&](MapDraft& into, bool size) {
    if (t->min != kNoMin && !(size && t->min == 0 && t->max == kNoMax))
      into.set(sym("from"), Value::integer(t->min, o));
    else if (t->max != kNoMax)
      into.set(sym("from"), Value::null(o));
    if (t->max != kNoMax) into.set(sym("to"), Value::integer(t->max, o));
  };
  // How many elements or characters, as a type of integers.
  auto size = [&](std::string_view key) {
    if (!t->sized) return;
    MapDraft of;
    of.set(sym("__ptype"), b.string("Pcore::IntegerType", o));
    range(of, true);
    m.set(Symbol(key), of.build(b, o));
  };
  if (t->kind == TK::kInteger) range(m, false);
  if (t->kind == TK::kString) {
    if (!t->values.empty())
      m.set(sym("size_type_or_value"), b.string(t->values[0].text(), o));
    else
      size("size_type_or_value");
  }
  if (t->kind == TK::kRegexp && !t->values.empty()) m.set(sym("pattern"), b.string(t->values[0].text(), o));
  if (t->kind == TK::kFloat) {
    if (!std::isinf(t->fmin)) m.set(sym("from"), b.number(ruby_float(t->fmin), o));
    if (!std::isinf(t->fmax)) m.set(sym("to"), b.number(ruby_float(t->fmax), o));
  }
  if (t->kind == TK::kEnum) {
    std::vector<Value> values;
    for (const Val& v : t->values) values.push_back(b.string(v.text(), o));
    m.set(sym("values"), b.list(values, o));
    if (t->flag) m.set(sym("case_insensitive"), Value::boolean(true, o));
  }
  if (t->kind == TK::kPattern) {
    std::vector<Value> patterns;
    for (const Val& v : t->values) {
      MapDraft of;
      of.set(sym("__ptype"), b.string("Pcore::RegexpType", o));
      of.set(sym("pattern"), b.string(v.text(), o));
      patterns.push_back(of.build(b, o));
    }
    m.set(sym("patterns"), b.list(patterns, o));
  }
  if (t->kind == TK::kSemVer && !t->values.empty()) {
    std::vector<Value> ranges;
    for (const Val& v : t->values) ranges.push_back(rich(b, "SemVerRange", b.string(v.text(), o), o));
    m.set(sym("ranges"), b.list(ranges, o));
  }
  if (t->kind == TK::kTimespan || t->kind == TK::kTimestamp) {
    auto time = [&](i64 ns) {
      return t->kind == TK::kTimespan ? rich(b, "Timespan", b.string(timespan_text(ns), o), o)
                                      : rich(b, "Timestamp", b.string(timestamp_text(ns), o), o);
    };
    if (t->min != kNoMin) m.set(sym("from"), time(t->min));
    if (t->max != kNoMax) {
      if (t->min == kNoMin) m.set(sym("from"), Value::null(o));
      m.set(sym("to"), time(t->max));
    }
  }
  if (t->kind == TK::kCollection) size("size_type");
  if (t->kind == TK::kCallable) {
    auto or_null = [&](const Type* x) { return x ? type_tree(b, x, o) : Value::null(o); };
    Value params = Value::null(o);
    if (t->sized) {
      MapDraft of;
      of.set(sym("__ptype"), b.string("Pcore::TupleType", o));
      std::vector<Value> types;
      for (const Type* x : t->types) types.push_back(type_tree(b, x, o));
      if (types.empty() && t->max != 0) types.push_back(type_tree(b, plain(TK::kUnit), o));  // any of that many
      of.set(sym("types"), b.list(types, o));
      i64 count = static_cast<i64>(t->types.size());
      if (t->flag || t->min != count || t->max != count) {
        MapDraft sizes;
        sizes.set(sym("__ptype"), b.string("Pcore::IntegerType", o));
        range(sizes, true);
        of.set(sym("size_type"), sizes.build(b, o));
      }
      params = of.build(b, o);
    }
    m.set(sym("param_types"), params);
    m.set(sym("block_type"), or_null(t->block));
    m.set(sym("return_type"), or_null(t->inner));
  }
  if (t->kind == TK::kVariant || t->kind == TK::kTuple) {
    std::vector<Value> types;
    for (const Type* x : t->types) types.push_back(type_tree(b, x, o));
    m.set(sym("types"), b.list(types, o));
    if (t->kind == TK::kTuple) size("size_type");
  } else if (t->kind == TK::kOptional || t->kind == TK::kNotUndef || t->kind == TK::kType || t->kind == TK::kIterable ||
             t->kind == TK::kIterator || t->kind == TK::kInit) {
    if (!t->types.empty()) m.set(sym("type"), type_tree(b, t->types[0], o));
    if (t->kind == TK::kInit && !t->values.empty()) m.set(sym("init_args"), to_tree(b, Val::array(t->values), o));
  } else if (t->kind == TK::kArray && !t->types.empty()) {
    m.set(sym("element_type"), type_tree(b, t->types[0], o));
    size("size_type");
  } else if (t->kind == TK::kStruct) {
    std::vector<Value> elements;
    for (const Member& member : t->members) {
      auto object = [&](std::string_view pcore, std::string_view key, const Value& v) {
        MapDraft of;
        of.set(sym("__ptype"), b.string(fmt::format("Pcore::{}", pcore), o));
        of.set(Symbol(key), v);
        return of;
      };
      Value key = object("StringType", "size_type_or_value", b.string(member.name, o)).build(b, o);
      if (member.explicit_key) key = object(member.optional ? "OptionalType" : "NotUndefType", "type", key).build(b, o);
      MapDraft element = object("StructElement", "key_type", key);
      element.set(sym("value_type"), type_tree(b, member.type, o));
      elements.push_back(element.build(b, o));
    }
    m.set(sym("elements"), b.list(elements, o));
  } else if (t->kind == TK::kHash && t->types.size() == 2) {
    m.set(sym("key_type"), type_tree(b, t->types[0], o));
    m.set(sym("value_type"), type_tree(b, t->types[1], o));
    size("size_type");
  }
  return m.build(b, o);
}

}  // namespace

Value to_tree(const TreeBuilder& b, const Val& v, Origin otherwise) {
  Origin o = v.origin ? v.origin : otherwise;
  switch (v.kind) {
    case VK::kUndef: return Value::null(o);
    case VK::kBool: return Value::boolean(v.b, o);
    case VK::kInt: return Value::integer(v.i, o);
    case VK::kFloat: return b.number(ruby_float(v.d), o);
    case VK::kString:
      // Bytes that are no text, from a function that decodes: as Puppet writes what Ruby marks as binary.
      if (utf8::first_invalid(v.text()) != std::string_view::npos)
        return rich(b, "Binary", b.string(base64_encode(v.text()), o), o);
      return Value::string(v.text(), o);
    case VK::kDefault: {
      Entry e;
      e.key = sym("__ptype");
      e.value = Value::string("Default", o);
      return b.map(std::span<const Entry>(&e, 1), o);
    }
    case VK::kArray: {
      std::vector<Value> items;
      items.reserve(v.size);
      for (const Val& i : v.items()) items.push_back(to_tree(b, i, o));
      return b.list(items, o);
    }
    case VK::kHash: {
      // A key that would be taken for the mark of another kind of value makes it one, too.
      bool strings = std::all_of(v.entries().begin(), v.entries().end(),
                                 [](const Pair& p) { return p.key.is(VK::kString) && p.key.text() != "__ptype"; });
      if (!strings) {
        std::vector<Value> items;
        for (const Pair& p : v.entries()) {
          items.push_back(to_tree(b, p.key, o));
          items.push_back(to_tree(b, p.value, o));
        }
        return rich(b, "Hash", b.list(items, o), o);
      }
      std::vector<Entry> entries;
      entries.reserve(v.size);
      for (const Pair& p : v.entries()) {
        Entry e;
        e.key = Symbol(p.key.text());
        e.value = to_tree(b, p.value, o);
        entries.push_back(e);
      }
      return b.map(entries, o);
    }
    case VK::kType: return type_tree(b, v.t, o, false);
    case VK::kSensitive: return rich(b, "Sensitive", secret_throughout(to_tree(b, *v.box, o), b), o);
    case VK::kRegex: {
      // Ruby marks an expression that is not all ASCII as bound to its encoding, which Puppet takes for an option.
      bool ascii = std::all_of(v.text().begin(), v.text().end(), [](char c) { return static_cast<u8>(c) < 128; });
      if (!ascii) return rich(b, "Regexp", b.string("(?-imx:" + std::string(v.text()) + ")", o), o);
      return rich(b, "Regexp", Value::string(v.text(), o), o);
    }
    case VK::kBinary: return rich(b, "Binary", b.string(base64_encode(v.text()), o), o);
    case VK::kTimestamp: return rich(b, "Timestamp", b.string(timestamp_text(v.i), o), o);
    case VK::kTimespan: return rich(b, "Timespan", b.string(timespan_text(v.i), o), o);
    case VK::kSemVer: return rich(b, "SemVer", Value::string(v.text(), o), o);
    case VK::kSemVerRange: return rich(b, "SemVerRange", Value::string(v.text(), o), o);
    case VK::kUri: return rich(b, "URI", Value::string(v.text(), o), o);
    case VK::kObject: {
      MapDraft m;
      m.set(sym("__ptype"), b.string(v.o->type ? v.o->type->name : std::string_view("Deferred"), o));
      for (const Pair& p : v.o->fields) m.set(Symbol(p.key.text()), to_tree(b, p.value, o));
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

bool in_catalog(const Resource& r) { return !r.is_virtual; }

std::string catalog_ref(const Resource& r) { return r.title == "main" && r.is_class ? "Class[main]" : r.ref(); }

namespace {

// References may be nested in lists, and are written as one; so is all that stands in a list with them.
Val flat(Arena& arena, const Val& v, bool keeps_undef) {
  std::vector<Val> all;
  auto walk = [&](auto&& self, const Val& x) -> void {
    if (x.is(VK::kArray))
      for (const Val& i : x.items()) self(self, i);
    else if (keeps_undef || !x.undefined())
      all.push_back(x);
  };
  walk(walk, v);
  return make_array(arena, all).with_origin(v.origin);
}

bool has_reference(const Val& v) {
  if (v.is(VK::kArray)) return std::any_of(v.items().begin(), v.items().end(), has_reference);
  return v.is(VK::kType) && (v.t->kind == TK::kResource || v.t->kind == TK::kClass) && v.t->has_title;
}

bool nests_references(const Val& v) {
  bool nests = v.is(VK::kArray) &&
               std::any_of(v.items().begin(), v.items().end(), [](const Val& i) { return i.is(VK::kArray); });
  return nests && has_reference(v);
}

bool is_relation(Symbol name) {
  static const Symbol all[] = {Symbol("require"), Symbol("before"), Symbol("notify"), Symbol("subscribe")};
  return std::find(std::begin(all), std::end(all), name) != std::end(all);
}

}  // namespace

void CatalogTree::put(Symbol key, const Value& value) {
  Entry e;
  e.key = key;
  e.value = value;
  entries_.push_back(e);
}

// What the title says of the naming attributes comes first, unless it is the title itself; then what was set, in order.
Value CatalogTree::parameters(const Resource& r) {
  static const Symbol k_name("name");
  std::size_t first = entries_.size();
  if (r.title == "main" && (r.is_class || r.is_stage)) put(k_name, Value::string("main"));
  if (r.number_title && !r.native) put(k_name, Value::string(r.title));
  std::vector<std::pair<Symbol, std::string>> parts;
  if (r.native) parts = title_parts(*r.native, r.title);
  auto hidden = [&](const ResourceParam& p, const Value& v) {
    bool sensitive = std::find(r.sensitive.begin(), r.sensitive.end(), p.name) != r.sensitive.end();
    return sensitive ? secret_throughout(v, b_) : v;
  };
  for (const auto& [k, text] : parts) {
    const ResourceParam* p = r.find(k);
    bool is_title = !r.number_title && (r.native->namevars.size() == 1 || k == k_name);
    if (p && !p->value.undefined()) {
      if (!(is_title && p->value.is(VK::kString) && p->value.text() == r.title))
        put(k, hidden(*p, to_tree(b_, p->value, p->at)));
    } else if (!(is_title && text == r.title)) {
      put(k, b_.string(text, r.at));
    }
  }
  for (const ResourceParam& p : r.params) {
    if (p.value.undefined()) continue;
    if (std::any_of(parts.begin(), parts.end(), [&](const auto& x) { return x.first == p.name; })) continue;
    if (!r.native && p.name == k_name && p.value.is(VK::kString) && p.value.text() == r.title) continue;
    Val value = p.value;
    if (value.is(VK::kArray) && is_relation(p.name))
      value = flat(b_.arena(), value, false);
    else if (nests_references(value))
      value = flat(b_.arena(), value, true);
    Value v = to_tree(b_, value, p.at);
    if (origins_ && p.how != How::kWritten && p.how != How::kLookup)  // a lookup has said where it found it
      v = v.with_origin(origins_->add(p.how, p.at, v.origin(), p.replaced, p.name));
    put(p.lower_name(), hidden(p, v));
  }
  return take(first, r.at);
}

Value CatalogTree::take(std::size_t first, Origin o) {
  Value v = b_.map(std::span(entries_).subspan(first), o);
  entries_.resize(first);
  return v;
}

// As Puppet has them, wherever it is called. One file declares many resources: it is worked out once for all in a row.
std::string_view CatalogTree::absolute_path(const Source& source) {
  if (&source != last_source_) {
    last_source_ = &source;
    std::error_code error;
    auto path = std::filesystem::absolute(source.path, error).lexically_normal();
    last_path_ = Symbol(error ? source.path : path.string());
  }
  return last_path_.text();
}

Value CatalogTree::resource(const Resource& r) {
  static const Symbol k_type("type"), k_title("title"), k_tags("tags"), k_file("file"), k_line("line"),
      k_exported("exported"), k_kind("kind"), k_parameters("parameters"), k_sensitive("sensitive_parameters");
  static const std::string_view kKinds[] = {"unknown", "compilable_type", "defined_type", "class"};
  Origin at = r.at ? r.at : r.included_at;
  put(k_type, Value::string(r.type.text(), at));
  bool main = r.title == "main" && (r.is_class || r.is_stage);
  put(k_title, main         ? Value::string("main", at)
               : r.is_class ? b_.string(r.class_title(), at)
                            : Value::string(r.title, at));
  put(k_tags, names(r.tags));
  if (r.at) {
    Location l = sources_.locate(r.statement ? r.statement : r.at);
    const Source* source = sources_.find(r.at);
    put(k_file, Value::string(source && !source->path.empty() ? absolute_path(*source) : l.file));
    put(k_line, Value::integer(l.line));
  }
  put(k_exported, Value::boolean(r.exported));
  put(k_kind, Value::string(kKinds[static_cast<int>(r.kind)]));
  if (Value params = parameters(r); params.size() > 0) put(k_parameters, params);
  if (!r.sensitive.empty()) put(k_sensitive, names(r.sensitive));
  return take(0, at);
}

Value CatalogTree::names(std::span<const Symbol> all) {
  items_.clear();
  for (Symbol s : all) items_.push_back(Value::string(s.text()));
  return b_.list(items_);
}

void CatalogTree::head(MapDraft& root, Compiler& c) {
  std::vector<Symbol> tags{sym("settings")};
  tags.insert(tags.end(), c.catalog().tags.begin(), c.catalog().tags.end());
  root.set(sym("tags"), names(tags));
  root.set(sym("name"), b_.string(c.node().name));
  root.set(sym("version"), Value::integer(0));
  root.set(sym("code_id"), Value::null());
  root.set(sym("catalog_format"), Value::integer(2));
  root.set(sym("environment"), b_.string(c.settings().environment_name));
}

Value catalog_tree(Compiler& c) {
  Catalog& catalog = c.catalog();
  Session& session = c.session();
  TreeBuilder b = session.builder();
  CatalogTree maker(session.arena, *session.sources, &session.origins);
  MapDraft root;
  maker.head(root, c);
  std::vector<Entry> resources;
  std::vector<Symbol> refs(catalog.resources.size());
  for (const Resource* r : catalog.resources) {
    if (!in_catalog(*r)) continue;
    Entry x;
    x.key = refs[r->index] = Symbol(catalog_ref(*r));
    x.value = maker.resource(*r);
    resources.push_back(x);
  }
  root.set(sym("resources"), b.map(resources));
  std::vector<Value> edges;
  static const Symbol k_source("source"), k_target("target");
  for (const Edge& e : catalog.edges) {
    if (!in_catalog(*e.source) || !in_catalog(*e.target)) continue;
    Entry both[2];
    both[0].key = k_source;
    both[0].value = Value::string(refs[e.source->index].text());
    both[1].key = k_target;
    both[1].value = Value::string(refs[e.target->index].text());
    edges.push_back(b.map(std::span<const Entry>(both, 2)));
  }
  root.set(sym("edges"), b.list(edges));
  root.set(sym("classes"), maker.names(catalog.classes));
  return root.build(b);
}

}  // namespace tutti::puppet
