#include "lang/puppet/request.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "lang/puppet/catalog/output.h"
#include "lang/puppet/eval/compiler.h"
#include "lang/puppet/facts/facts.h"
#include "lang/puppet/hiera/data_file.h"

namespace fs = std::filesystem;

namespace tutti::puppet {
namespace {

std::string absolute(const std::string& path) {
  std::error_code error;
  fs::path p = fs::absolute(path, error);
  std::string s = p.lexically_normal().string();
  while (s.size() > 1 && s.back() == '/') s.pop_back();
  return s;
}

bool is_dir(const std::string& path) {
  std::error_code error;
  return fs::is_directory(path, error);
}

void add_paths(std::vector<std::string>& out, std::string_view list, const std::string& base) {
  while (!list.empty()) {
    std::size_t cut = list.find(':');
    std::string one(list.substr(0, cut));
    list.remove_prefix(cut == std::string_view::npos ? list.size() : cut + 1);
    while (!one.empty() && one.front() == ' ') one.erase(0, 1);
    while (!one.empty() && one.back() == ' ') one.pop_back();
    if (one.empty() || one[0] == '$') continue;
    std::string path = one[0] == '/' || base.empty() ? absolute(one) : absolute(base + "/" + one);
    if (is_dir(path)) out.push_back(path);
  }
}

}  // namespace

std::optional<Settings> settings_of(Session& session, const Options& options) {
  Settings s;
  s.strict_variables = options.has("strict-variables");
  std::string strict = options.get("strict", "warning");
  if (strict == "off")
    s.strict = Settings::Strict::kOff;
  else if (strict == "warning")
    s.strict = Settings::Strict::kWarning;
  else if (strict == "error")
    s.strict = Settings::Strict::kError;
  else
    return session.diagnostics.error("OPTION", {}, fmt::format("--strict is off, warning or error, not `{}`", strict)),
           std::nullopt;
  std::string environment = options.get("environment");
  for (const std::string& p : options.all("modulepath")) add_paths(s.modulepath, p, "");
  if (!environment.empty()) {
    if (!is_dir(environment))
      return session.diagnostics.error("OPTION", {},
                                       fmt::format("--environment: `{}` is not a directory", environment)),
             std::nullopt;
    s.environment_dir = absolute(environment);
    s.environment_name = fs::path(s.environment_dir).filename().string();
    // Environments kept beside manifests (NAME.env) are all called production.
    if (s.environment_name.find('.') != std::string::npos) s.environment_name = "production";
    std::error_code error;
    std::vector<std::string> own;
    if (fs::is_regular_file(s.environment_dir + "/environment.conf", error)) {
      if (const Source* conf = session.open(s.environment_dir + "/environment.conf")) {
        std::string_view text = conf->text;
        while (!text.empty()) {
          std::string_view line = text.substr(0, text.find('\n'));
          text.remove_prefix(std::min(text.size(), line.size() + 1));
          line = line.substr(0, line.find('#'));
          std::size_t equals = line.find('=');
          if (equals == std::string_view::npos) continue;
          std::string key(line.substr(0, equals));
          while (!key.empty() && key.back() == ' ') key.pop_back();
          while (!key.empty() && key.front() == ' ') key.erase(0, 1);
          if (key == "modulepath") add_paths(own, line.substr(equals + 1), s.environment_dir);
        }
      }
    }
    if (own.empty() && is_dir(s.environment_dir + "/modules")) own.push_back(s.environment_dir + "/modules");
    s.modulepath.insert(s.modulepath.begin(), own.begin(), own.end());
    if (fs::is_regular_file(s.environment_dir + "/exported.json", error))
      s.exported_file = s.environment_dir + "/exported.json";
  }
  s.enc = options.get("enc");
  if (options.has("exported")) s.exported_file = options.get("exported");
  return s;
}

std::optional<Val> read_facts(Session& session, const std::string& file) {
  if (file.empty()) return from_tree(session.arena, gather_facts(session, true));
  const Source* source = session.open(file);
  if (!source) return std::nullopt;
  DataError wrong;
  std::optional<Val> facts = file.ends_with(".json") ? read_json_data(*source, session.arena, wrong)
                                                     : read_yaml(*source, session.arena, wrong, Dates::kText);
  if (!facts) return session.diagnostics.error("PP-FACTS", wrong.where, wrong.message), std::nullopt;
  if (!facts->is(VK::kHash))
    return session.diagnostics.error("PP-FACTS", {}, fmt::format("{}: facts must be a map", file)), std::nullopt;
  // As PuppetDB and `puppet facts` wrap them.
  if (const Val* values = facts->get("values"); values && values->is(VK::kHash)) return *values;
  return facts;
}

bool read_classifier(Session& session, const std::string& where, NodeInfo& node) {
  std::string file = where;
  if (is_dir(where)) {
    file = where + "/" + node.name + ".yaml";
    std::error_code error;
    if (!fs::exists(file, error)) return true;  // nothing is said of this node
  }
  const Source* source = session.open(file);
  if (!source) return false;
  DataError wrong;
  std::optional<Val> said = read_yaml(*source, session.arena, wrong);
  if (!said || !(said->is(VK::kHash) || said->undefined())) {
    session.diagnostics.error(
        "PP-ENC", said ? Span{} : wrong.where,
        fmt::format("{}: {}", file, said ? "a map with classes, parameters, environment is expected" : wrong.message));
    return false;
  }
  if (const Val* classes = said->get("classes")) {
    if (classes->is(VK::kHash)) node.classes.assign(classes->entries().begin(), classes->entries().end());
    if (classes->is(VK::kArray))
      for (const Val& c : classes->items()) node.classes.push_back({c, Val::undef()});
    for (const Pair& p : node.classes) {
      if (p.key.is(VK::kString)) continue;
      session.diagnostics.error("PP-ENC", {},
                                fmt::format("{}: {} is not the name of a class", file, to_literal(p.key)));
      return false;
    }
  }
  if (const Val* parameters = said->get("parameters"); parameters && parameters->is(VK::kHash))
    for (const Pair& p : parameters->entries())
      if (p.key.is(VK::kString)) node.parameters.push_back(p);
  return true;
}

std::vector<std::pair<std::string, std::string>> facts_files(const std::string& dir) {
  std::vector<std::pair<std::string, std::string>> out;
  std::error_code error;
  for (const auto& e : fs::directory_iterator(dir, error)) {
    std::string extension = e.path().extension().string();
    if (extension == ".yaml" || extension == ".yml" || extension == ".json")
      out.emplace_back(e.path().stem().string(), e.path().string());
  }
  std::sort(out.begin(), out.end());
  return out;
}

}  // namespace tutti::puppet
