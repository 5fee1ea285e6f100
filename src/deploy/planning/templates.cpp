// What is in a template belongs to the configuration: a changed template is a change. It is looked for beside the file
// that names it.
#include <filesystem>

#include "deploy/planning/stages.h"
#include "model/reader.h"

namespace tutti::deploy {

void read_templates(Session& session, World& world, model::Deployment& deployment) {
  model::Reader reader(session);
  TreeBuilder builder(session.arena);
  for (model::Component& c : deployment.components) {
    const Entry* settings = deployment.kinds.at(std::string(c.type.text())).tree.find("config");
    const Entry* e = settings && settings->value.find("template") ? c.config.find("template") : nullptr;
    if (!e || !e->value.is(Kind::kString)) continue;
    std::filesystem::path path(std::string(e->value.text()));
    const Source* source = session.sources->find(reader.at(e->value));
    if (path.is_relative() && source && !source->path.empty())
      path = std::filesystem::path(source->path).parent_path() / path;
    auto text = world.template_file(path.string());
    if (!text) {
      session.diagnostics.error("DEPLOY-TEMPLATE", reader.at(e->value), text.error().message);
      continue;
    }
    MapDraft config;
    for (const Entry& x : c.config.entries())
      if (x.key.text() != "template") config.set(x.key, x.value, x.field);
    config.set(Symbol("content"), builder.string((*text)->text, Origin((*text)->first)));
    c.config = config.build(builder, c.config.origin());
  }
}

}  // namespace tutti::deploy
