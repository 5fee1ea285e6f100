#include "lang/cue/language.h"

#include "lang/cue/eval/validate.h"
#include "lang/cue/load/explain.h"
#include "lang/cue/load/instance.h"
#include "lang/cue/load/secrets.h"

namespace tutti::cue {

std::span<const std::string_view> Cue::extensions() const {
  static constexpr std::string_view kAll[] = {".cue"};
  return kAll;
}

std::span<const OptionSpec> Cue::options() const {
  static constexpr OptionSpec kAll[] = {{"tag", "NAME=VALUE", "set a @tag of a CUE file", true}};
  return kAll;
}

std::optional<Value> Cue::evaluate(Session& session, const Request& request) const {
  auto instance = std::make_shared<Instance>(session);
  LoadOptions load;
  load.files = request.files;
  load.tags = request.options.all("tag");
  if (!instance->load(load)) {
    report(session, instance->errors());
    std::string text = instance->errors().empty() ? "cannot be loaded" : instance->errors()[0].message;
    return Value::error(session.arena.copy(std::string_view(text)), Symbol("error"));
  }
  Vertex* root = instance->evaluate();
  ValidateConfig config;
  config.all_errors = true;
  config.concrete = request.concrete;
  config.final = request.concrete;
  SecretTexts secrets(root);
  TreeOptions options;
  if (!request.options.has("reveal")) options.secrets = &secrets;
  if (Bottom* b = validate_tree(instance->context(), root, config)) report(session, flatten(b), options.secrets);
  Value v = to_tree(*instance, root, options);
  session.attach(v, instance);
  return v;
}

Value Cue::encode(Session& session, const Value& value, std::string_view output, const Options& given) const {
  if (output != "leaves") return value;
  auto* instance = session.attached<Instance>(value);
  if (!instance || !instance->root()) return value;
  SecretTexts secrets(instance->root());
  TreeOptions options;
  options.leaves = true;
  if (!given.has("reveal")) options.secrets = &secrets;
  return to_tree(*instance, instance->root(), options);
}

bool Cue::check(Session& session, const Request& request, const Value& tree) const {
  Instance instance(session);
  LoadOptions load;
  load.files = request.files;
  load.tags = request.options.all("tag");
  if (!instance.load(load)) {
    report(session, instance.errors());
    return false;
  }
  Vertex* root = instance.evaluate_with(tree);
  ValidateConfig config;
  config.all_errors = config.concrete = config.final = true;
  Bottom* b = validate_tree(instance.context(), root, config);
  SecretTexts secrets(root);
  if (b) report(session, flatten(b), &secrets);
  return !b;
}

std::string Cue::explain(Session& session, const Value&, const Path& path, const Request& request) const {
  Instance instance(session);
  LoadOptions load;
  load.files = request.files;
  load.tags = request.options.all("tag");
  if (!instance.load(load)) return {};
  instance.evaluate();
  std::string text = cue::explain(instance, path);
  return request.options.has("reveal") ? text : SecretTexts(instance.root()).mask(std::move(text));
}

const Language& language() {
  static const Cue cue;
  return cue;
}

}  // namespace tutti::cue
