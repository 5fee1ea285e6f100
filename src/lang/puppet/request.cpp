#include "lang/puppet/request.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "format/yaml.h"
#include "lang/puppet/facts/facts.h"

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
  bool modulepath_given = options.has("modulepath");
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
  (void)modulepath_given;
  if (options.has("exported")) s.exported_file = options.get("exported");
  return s;
}

std::optional<Value> read_facts(Session& session, const std::string& file) {
  if (file.empty()) return gather_facts(session, true);
  const Source* source = session.open(file);
  if (!source) return std::nullopt;
  auto facts = read_yaml(session, *source, YamlSchema::kPsych);
  if (!facts) return std::nullopt;
  if (!facts->is(Kind::kMap))
    return session.diagnostics.error("PP-FACTS", {}, fmt::format("{}: facts must be a map", file)), std::nullopt;
  // As PuppetDB and `puppet facts` wrap them.
  if (const Entry* values = facts->find("values"); values && values->value.is(Kind::kMap)) return values->value;
  return facts;
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
