#include "lang/puppet/request.h"

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/boundary.h"
#include "lang/puppet/catalog/output.h"
#include "lang/puppet/eval/compiler.h"
#include "lang/puppet/facts/facts.h"
#include "lang/puppet/hiera/data_file.h"
#include "lang/puppet/run_program.h"

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

std::string setting_in(std::string_view text, std::string_view name) {
  auto trim = [](std::string_view s) {
    while (!s.empty() && std::isspace(static_cast<unsigned char>(s.front()))) s.remove_prefix(1);
    while (!s.empty() && std::isspace(static_cast<unsigned char>(s.back()))) s.remove_suffix(1);
    return s;
  };
  bool counts = true;
  while (!text.empty()) {
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    line = trim(line.substr(0, line.find('#')));
    if (line.starts_with('[')) counts = line == "[main]" || line == "[user]";
    if (!counts) continue;
    std::size_t equals = line.find('=');
    if (equals != std::string_view::npos && trim(line.substr(0, equals)) == name)
      return std::string(trim(line.substr(equals + 1)));
  }
  return {};
}

namespace {

// A setting of environment.conf, or "".
std::string environment_setting(Session& session, const std::string& directory, std::string_view name) {
  std::error_code error;
  std::string file = directory + "/environment.conf";
  if (!fs::is_regular_file(file, error)) return {};
  const Source* conf = session.open(file);
  return conf ? setting_in(conf->text, name) : std::string();
}

}  // namespace

std::vector<std::string> manifests_below(const std::string& path) {
  std::vector<std::string> out;
  std::error_code error;
  if (!fs::is_directory(path, error)) return {path};
  // As Puppet's own pattern does: what begins with a dot is passed over, also folders.
  for (fs::recursive_directory_iterator e(path, error), end; !error && e != end; e.increment(error)) {
    std::error_code ignored;
    if (e->path().filename().string().starts_with('.')) {
      e.disable_recursion_pending();
    } else if (e->path().extension() == ".pp" && e->is_regular_file(ignored)) {
      out.push_back(e->path().string());
    }
  }
  std::sort(out.begin(), out.end());
  return out;
}

bool is_environment(const std::string& folder) {
  std::error_code error;
  return is_dir(folder + "/manifests") || fs::is_regular_file(folder + "/environment.conf", error);
}

std::vector<std::string> environment_manifests(Session& session, const std::string& folder) {
  std::string wanted = environment_setting(session, folder, "manifest");
  if (wanted.empty())
    return is_dir(folder + "/manifests") ? manifests_below(folder + "/manifests") : std::vector<std::string>{};
  std::string path = wanted[0] == '/' ? wanted : folder + "/" + wanted;
  if (Result<void> inside = may_read(path); !inside) {
    session.diagnostics.error(std::string(kOutsideCode), {}, inside.error().message).suggest(way_to_trust());
    return {};
  }
  return manifests_below(path);
}

namespace {

// What an environment says of itself leads nowhere else.
std::vector<std::string> only_inside(Session& session, std::vector<std::string> folders) {
  std::erase_if(folders, [&](const std::string& folder) {
    Result<void> inside = may_read(folder);
    if (!inside)
      session.diagnostics.error(std::string(kOutsideCode), {}, inside.error().message).suggest(way_to_trust());
    return !inside;
  });
  return folders;
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
  bool with_base = true;
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
    std::string listed = environment_setting(session, s.environment_dir, "modulepath");
    add_paths(own, listed, s.environment_dir);
    own = only_inside(session, std::move(own));
    with_base = listed.empty() || listed.find("$basemodulepath") != std::string::npos;
    if (own.empty() && is_dir(s.environment_dir + "/modules")) own.push_back(s.environment_dir + "/modules");
    s.modulepath.insert(s.modulepath.begin(), own.begin(), own.end());
    if (fs::is_regular_file(s.environment_dir + "/exported.json", error))
      s.exported_file = s.environment_dir + "/exported.json";
  }
  if (with_base) add_paths(s.modulepath, options.get("basemodulepath"), "");
  s.enc = options.get("enc");
  if (options.has("hiera-config")) {
    s.hiera_config = absolute(options.get("hiera-config"));
    std::error_code error;
    if (!fs::is_regular_file(s.hiera_config, error))
      return session.diagnostics.error("OPTION", {},
                                       fmt::format("--hiera-config: there is no file {}", s.hiera_config)),
             std::nullopt;
  }
  if (options.has("exported")) s.exported_file = options.get("exported");
  s.storeconfigs = options.has("storeconfigs") || !s.exported_file.empty();
  s.facts_of_host = !options.has("facts") && !options.has("all-nodes");
  return s;
}

namespace {

// Facts as `puppet facts` ({values: FACTS}) and the queries of PuppetDB give them: {certname: NAME, facts: FACTS}, a
// list with one of these, {href: ..., data: FACTS}, [{name: NAME, value: VALUE}, ...].
Val plain_facts(Arena& arena, Val v) {
  while (true) {
    const Val* inner = nullptr;
    if (v.is(VK::kHash)) {
      inner = v.get("values");
      if (inner && !inner->is(VK::kHash)) inner = nullptr;
      if (!inner && v.get("certname")) inner = v.get("facts");
      if (!inner && v.get("href")) inner = v.get("data");
    } else if (v.is(VK::kArray) && v.items().size() == 1 && v.items()[0].is(VK::kHash) && v.items()[0].get("facts")) {
      inner = &v.items()[0];
    }
    if (!inner) break;
    v = Val(*inner);
  }
  if (!v.is(VK::kArray)) return v;
  HashDraft facts;
  for (const Val& one : v.items()) {
    const Val* name = one.is(VK::kHash) ? one.get("name") : nullptr;
    const Val* value = name ? one.get("value") : nullptr;
    if (!value) return v;
    facts.set(*name, *value);
  }
  return facts.build(arena);
}

}  // namespace

std::optional<Val> read_facts(Session& session, const std::string& file) {
  if (file.empty()) return from_tree(session.arena, gather_facts(session, true));
  const Source* source = session.open(file);
  if (!source) return std::nullopt;
  DataError wrong;
  std::optional<Val> facts = file.ends_with(".json") ? read_json_data(*source, session.arena, wrong)
                                                     : read_yaml(*source, session.arena, wrong, Dates::kText);
  if (!facts) return session.diagnostics.error("PP-FACTS", wrong.where, wrong.message), std::nullopt;
  facts = plain_facts(session.arena, *facts);
  if (!facts->is(VK::kHash))
    return session.diagnostics.error("PP-FACTS", {}, fmt::format("{}: facts must be a map", file)), std::nullopt;
  return facts;
}

namespace {

// A script or a binary; a YAML file may be executable by chance.
bool is_program(const std::string& file) {
  std::error_code error;
  if (!fs::is_regular_file(file, error) || ::access(file.c_str(), X_OK) != 0) return false;
  std::ifstream in(file, std::ios::binary);
  char begin[4] = {};
  in.read(begin, sizeof begin);
  return std::string_view(begin, 2) == "#!" || std::string_view(begin, 4) ==
                                                   "\x7f"
                                                   "ELF";
}

// The program of a classifier and its arguments, which spaces divide, or nothing where a file or folder is named.
std::vector<std::string> classifier_program(const std::string& where) {
  if (is_program(where)) return {absolute(where)};
  std::vector<std::string> words;
  std::istringstream in(where);
  for (std::string word; in >> word;) words.push_back(word);
  std::error_code error;
  if (words.size() < 2 || fs::exists(where, error) || !is_program(words[0])) return {};
  words[0] = absolute(words[0]);
  return words;
}

// What the classifier says of the node; null when it says nothing, which is not an error for a folder.
const Source* classification(Session& session, const std::string& where, const std::string& node, bool& failed) {
  if (std::vector<std::string> words = classifier_program(where); !words.empty()) {
    words.push_back(node);
    auto run = run_program(
        words, "", false, [&] { session.budget.step(4096); }, Confined::kNo);
    std::string name = fmt::format("{} {}", where, node);
    failed = true;
    if (!run || run->status != 0) {
      session.diagnostics.error(
          "PP-ENC", {},
          run ? fmt::format("`{}` failed: {}", name,
                            WIFEXITED(run->status) ? fmt::format("exit code {}", WEXITSTATUS(run->status))
                                                   : fmt::format("signal {}", WTERMSIG(run->status)))
              : run.error().message);
      return nullptr;
    }
    if (run->output.find_first_not_of(" \t\r\n") == std::string::npos) {
      session.diagnostics.error("PP-ENC", {}, fmt::format("`{}` said nothing: it does not know the node", name));
      return nullptr;
    }
    auto source = session.sources->add(name, std::move(run->output));
    if (!source) return session.diagnostics.error("PP-ENC", {}, source.error().message), nullptr;
    failed = false;
    return *source;
  }
  std::string file = where;
  std::error_code error;
  if (is_dir(where)) {
    file = fmt::format("{}/{}.yaml", where, node);
    if (!fs::exists(file, error)) return nullptr;
  }
  const Source* source = session.open(file);
  failed = source == nullptr;
  return source;
}

}  // namespace

bool read_classifier(Session& session, const std::string& where, const std::string& environment, NodeInfo& node) {
  bool failed = false;
  const Source* source = classification(session, where, node.name, failed);
  if (!source) return !failed;
  std::string file(source->name);
  DataError wrong;
  std::optional<Val> said = read_yaml(*source, session.arena, wrong);
  if (!said || !(said->is(VK::kHash) || said->undefined())) {
    session.diagnostics.error(
        "PP-ENC", said ? Span{} : wrong.where,
        fmt::format("{}: {}", file, said ? "a map with classes, parameters, environment is expected" : wrong.message));
    return false;
  }
  if (const Val* its = said->get("environment"); its && its->is(VK::kString) && its->text() != environment)
    session.diagnostics
        .warning(
            "PP-ENC", Pos{its->origin.pos()},
            fmt::format("{} is put into environment `{}` and compiled in `{}`", node.name, its->text(), environment))
        .suggest("name the folder of that environment with --environment");
  if (const Val* classes = said->get("classes")) {
    if (!classes->is(VK::kHash) && !classes->is(VK::kArray) && !classes->undefined()) {
      session.diagnostics.error(
          "PP-ENC", Pos{classes->origin.pos()},
          fmt::format("{}: `classes` is a list of names, or a map from them to parameters, not {}", file,
                      to_literal(*classes)));
      return false;
    }
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
