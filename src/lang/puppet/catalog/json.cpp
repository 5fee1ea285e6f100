// Catalogs as Puppet's own JSON.
#include "format/json.h"

#include "lang/puppet/catalog/output.h"
#include "text/secret_words.h"

namespace tutti::puppet {
namespace {

void text(std::string_view s, Sink& sink) { write_json_string(s, false, sink); }

// What stands between the items of a list or a map.
class Comma {
 public:
  explicit Comma(Sink& sink) : sink_(sink) {}
  void next() {
    if (!first_) sink_.put(',');
    first_ = false;
  }
  void key(std::string_view name) {
    next();
    text(name, sink_);
    sink_.put(':');
  }

 private:
  Sink& sink_;
  bool first_ = true;
};

}  // namespace

void write_catalog_value(const Value& v, Sink& sink, const SecretWords* hidden) {
  if (hidden && (v.secret() ? v.size() == 0 : v.is(Kind::kString) && hidden->in(v.text())))
    return text("(secret)", sink);
  switch (v.kind()) {
    case Kind::kResource: {
      std::string reference(v.tag().text());
      reference.append("[").append(v.text()).append("]");
      return text(reference, sink);
    }
    case Kind::kList: {
      sink.put('[');
      Comma comma(sink);
      for (const Value& i : v.items()) comma.next(), write_catalog_value(i, sink, hidden);
      return sink.put(']');
    }
    case Kind::kMap: {
      sink.put('{');
      Comma comma(sink);
      for (const Entry& e : v.entries()) comma.key(e.key.text()), write_catalog_value(e.value, sink, hidden);
      return sink.put('}');
    }
    case Kind::kNull: return sink.put("null");
    case Kind::kBool: return sink.put(v.as_bool() ? "true" : "false");
    case Kind::kInt:
    case Kind::kDecimal: return sink.put(v.number_text());
    default: return text(v.text(), sink);
  }
}

void write_catalog(const Value& tree, Sink& sink, const SecretWords* hidden) {
  sink.put('{');
  Comma comma(sink);
  for (const Entry& e : tree.entries()) {
    comma.key(e.key.text());
    if (e.key.text() != "resources" || !e.value.is(Kind::kMap)) {
      write_catalog_value(e.value, sink, hidden);
      continue;
    }
    sink.put('[');
    Comma between(sink);
    for (const Entry& r : e.value.entries()) between.next(), write_catalog_value(r.value, sink, hidden);
    sink.put(']');
  }
  sink.put('}');
}

void write_catalog(Compiler& compiler, Sink& sink, bool reveal) {
  const SecretWords words = compiler.session().sources->said_secrets();
  const SecretWords* hidden = reveal ? nullptr : &words;
  const Catalog& catalog = compiler.catalog();
  Arena scratch;
  CatalogTree maker(scratch, *compiler.session().sources, nullptr);
  MapDraft head;
  maker.head(head, compiler);
  sink.put('{');
  Comma comma(sink);
  for (const Entry& e : head.entries()) comma.key(e.key.text()), write_catalog_value(e.value, sink);
  comma.key("resources");
  sink.put('[');
  Comma resources(sink);
  for (const Resource* r : catalog.resources) {
    if (!in_catalog(*r)) continue;
    scratch.clear();
    resources.next();
    write_catalog_value(maker.resource(*r), sink, hidden);
  }
  sink.put(']');
  comma.key("edges");
  sink.put('[');
  Comma edges(sink);
  for (const Edge& e : catalog.edges) {
    if (!in_catalog(*e.source) || !in_catalog(*e.target)) continue;
    edges.next();
    sink.put("{\"source\":");
    text(catalog_ref(*e.source), sink);
    sink.put(",\"target\":");
    text(catalog_ref(*e.target), sink);
    sink.put('}');
  }
  sink.put(']');
  comma.key("classes");
  write_catalog_value(maker.names(catalog.classes), sink);
  sink.put('}');
}

}  // namespace tutti::puppet
