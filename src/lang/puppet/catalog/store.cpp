// Exported resources of other nodes, from a file: a JSON list of {certname, type, title, parameters, tags}.
#include <fmt/format.h>

#include "format/json.h"
#include "lang/puppet/catalog/output.h"
#include "lang/puppet/eval/compiler.h"

namespace tutti::puppet {

void Compiler::collect_from_store(Collector& c, std::vector<Resource*>& found) {
  if (settings().exported_file.empty()) return;
  const Source* source = session_.open(settings().exported_file, c.at);
  if (!source)
    fail(c.at, fmt::format("cannot read the exported resources in {}", settings().exported_file), "PP-EXPORTED");
  auto all = read_json(session_, *source);
  if (!all || !all->is(Kind::kList))
    fail(c.at, fmt::format("{}: a list of exported resources is expected", settings().exported_file), "PP-EXPORTED");
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
