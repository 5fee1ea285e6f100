// Exported resources of other nodes: a JSON list of {certname, type, title, parameters, tags}.
#include <fmt/format.h>

#include "base/sink.h"
#include "format/json.h"
#include "lang/puppet/catalog/output.h"
#include "lang/puppet/eval/compiler.h"

namespace tutti::puppet {

const Value* Environment::exported(Pos asked_at) {
  std::call_once(exported_once_, [&] {
    if (exported_ || settings_.exported_file.empty()) return;
    exported_session_ = std::make_unique<Session>(limits_, sources_);
    const Source* source = exported_session_->open(settings_.exported_file, asked_at);
    if (source != nullptr) exported_ = read_json(*exported_session_, *source);
    if (!source)
      exported_wrong_ = fmt::format("cannot read the exported resources in {}", settings_.exported_file);
    else if (!exported_ || !exported_->is(Kind::kList))
      exported_wrong_ = fmt::format("{}: a list of exported resources is expected", settings_.exported_file);
  });
  if (!exported_wrong_.empty()) throw EvalError("PP-EXPORTED", asked_at, exported_wrong_);
  return exported_ ? &*exported_ : nullptr;
}

void Environment::set_exported(std::string json) {
  exported_session_ = std::make_unique<Session>(limits_, sources_);
  Result<const Source*> source = sources_->add("exported resources", std::move(json));
  exported_ = source ? read_json(*exported_session_, **source) : std::nullopt;
}

std::string exported_json(Compiler& compiler) {
  StringSink sink;
  bool first = true;
  Arena scratch;
  CatalogTree maker(scratch, *compiler.session().sources, nullptr);
  for (const Resource* r : compiler.catalog().resources) {
    if (!r->exported) continue;
    if (!first) sink.put(',');
    first = false;
    sink.put("{\"certname\":");
    write_json_string(compiler.node().name, false, sink);
    scratch.clear();
    for (const Entry& e : maker.resource(*r).entries()) {
      if (e.key.text() == "file" || e.key.text() == "line") continue;
      sink.put(',');
      write_json_string(e.key.text(), false, sink);
      sink.put(':');
      write_catalog_value(e.value, sink);
    }
    sink.put('}');
  }
  return sink.take();
}

void Compiler::collect_from_store(Collector& c, std::vector<Resource*>& found) {
  asked_for_exported_ = true;
  const Value* all = environment_.exported(c.at);
  if (all == nullptr) return;
  for (const Value& item : all->items()) {
    auto text = [&](std::string_view key) {
      const Entry* e = item.find(key);
      return e && e->value.is(Kind::kString) ? e->value.text() : std::string_view{};
    };
    if (text("certname") == node_.name || resource_type_name(text("type")) != c.type || text("title").empty()) continue;
    // A probe with its parameters and tags, to see whether the query wants it.
    Resource probe;
    probe.type = c.type;
    probe.title = text("title");
    if (const Entry* params = item.find("parameters"); params && params->value.is(Kind::kMap))
      for (const Entry& e : params->value.entries()) {
        ResourceParam p;
        p.name = e.key;
        p.value = from_tree(arena(), e.value);
        p.source = c.scope->source;
        p.how = How::kData;
        probe.params.push_back(p);
      }
    if (const Entry* tags = item.find("tags"); tags && tags->value.is(Kind::kList))
      for (const Value& t : tags->value.items()) probe.tag(Symbol(t.text()));
    if (!query_matches(c, c.syntax->query, probe)) continue;
    if (Resource* old = catalog_.find(c.type, probe.title))
      fail(c.at, fmt::format("a duplicate resource was found while collecting exported resources: {}", old->ref()),
           "PP-DUPLICATE");
    NewResource wanted;
    wanted.type = c.type;
    wanted.title = probe.title;
    wanted.params.assign(probe.params.begin(), probe.params.end());
    wanted.at = c.at;
    Resource* r = create_resource(wanted, *c.scope);
    for (Symbol t : probe.tags) r->tag(t);
    found.push_back(r);
  }
}

}  // namespace tutti::puppet
