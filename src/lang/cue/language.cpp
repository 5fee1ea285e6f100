#include "lang/cue/language.h"

#include <filesystem>

#include "lang/cue/eval/unchecked.h"
#include "lang/cue/eval/validate.h"
#include "lang/cue/load/explain.h"
#include "lang/cue/load/instance.h"
#include "lang/cue/load/secrets.h"
#include "text/secret_words.h"

namespace tutti::cue {

std::span<const std::string_view> Cue::extensions() const {
  static constexpr std::string_view kAll[] = {".cue"};
  return kAll;
}

std::span<const OptionSpec> Cue::options() const {
  static constexpr OptionSpec kAll[] = {
      {"tag", "NAME=VALUE", "set a @tag of a CUE file, or one that @if asks for", true, 't'}};
  return kAll;
}

bool Cue::reads_folder(const std::string& folder) const {
  std::error_code unreadable;
  for (const auto& e : std::filesystem::directory_iterator(folder, unreadable)) {
    std::string name = e.path().filename().string();
    bool left_out =
        name.starts_with('_') || name.starts_with('.') || name.ends_with("_tool.cue") || name.ends_with("_test.cue");
    if (name.ends_with(".cue") && !left_out && e.is_regular_file(unreadable)) return true;
  }
  return false;
}

std::optional<Value> Cue::evaluate(Session& session, const Request& request) const {
  return evaluate_with(session, request, {});
}

std::optional<Value> Cue::evaluate_with(Session& session, const Request& request, std::span<const Value> trees) const {
  auto instance = std::make_shared<Instance>(session);
  LoadOptions load;
  load.files = request.files;
  load.tags = request.options.all("tag");
  Vertex* root = nullptr;
  if (instance->load(load))
    root = trees.empty() ? instance->evaluate() : instance->evaluate_with(trees, request.options.get("schema"));
  if (!root) {
    report(session, instance->errors());
    std::string text = instance->errors().empty() ? "cannot be loaded" : instance->errors()[0].message;
    return Value::error(session.arena.copy(std::string_view(text)), Symbol("error"));
  }
  ValidateConfig config;
  config.all_errors = true;
  config.concrete = request.concrete;
  config.final = request.concrete;
  keep_secrets(root, *session.sources);
  TreeOptions options;
  options.reveal = request.options.has("reveal");
  if (Bottom* b = validate_tree(instance->context(), root, config)) report(session, flatten(b));
  Value v = to_tree(*instance, root, options);
  session.attach(v, instance);
  return v;
}

Value Cue::encode(Session& session, const Value& value, std::string_view output, const Options& given) const {
  if (output != "leaves") return value;
  auto* instance = session.attached<Instance>(value);
  if (!instance || !instance->root()) return value;
  TreeOptions options;
  options.leaves = true;
  options.reveal = given.has("reveal");
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
  const std::string which = request.options.get("schema");
  const std::string note = which.empty() ? unchecked_note(*instance.root()) : "";
  Vertex* root = instance.evaluate_with({&tree, 1}, which);
  if (!root) {
    report(session, instance.errors());
    return false;
  }
  ValidateConfig config;
  config.all_errors = config.concrete = config.final = true;
  Bottom* b = validate_tree(instance.context(), root, config);
  keep_secrets(root, *session.sources);
  if (b) report(session, flatten(b));
  if (!b && !note.empty()) session.diagnostics.warning("CUE-UNCHECKED", {}, note);
  return !b;
}

std::string Cue::explain(Session& session, const Value& root, const Path& path, const Request& request) const {
  auto* instance = session.attached<Instance>(root);
  if (!instance) return {};
  std::string text = cue::explain(*instance, path);
  return request.options.has("reveal") ? text : session.sources->said_secrets().hidden(text);
}

const Language& language() {
  static const Cue cue;
  return cue;
}

}  // namespace tutti::cue
