#include "lang/puppet/front_end.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "base/file.h"
#include "base/progress.h"
#include "base/sink.h"
#include "base/terminal.h"
#include "format/json.h"
#include "lang/puppet/catalog/output.h"
#include "lang/puppet/eval/compiler.h"
#include "lang/puppet/functions/yaml_text.h"
#include "lang/puppet/hiera/hiera.h"
#include "lang/puppet/hiera/story.h"
#include "lang/puppet/request.h"
#include "lang/puppet/types/type_parse.h"
#include "lang/puppet/types/value_text.h"

namespace fs = std::filesystem;

namespace tutti::puppet {

namespace {

std::vector<std::string> with_folders(std::span<const std::string> files) {
  std::vector<std::string> out;
  for (const std::string& f : files)
    for (std::string& m : manifests_below(f)) out.push_back(std::move(m));
  return out;
}

std::vector<std::string> manifests_of_environment(const std::string& folder) {
  Session reads_its_settings;
  return environment_manifests(reads_its_settings, folder);
}

void print(std::FILE* to, const std::string& text) {
  Progress::hide();
  if (to == stderr) std::fflush(stdout);  // in a log of both an error does not stand in the middle of an answer
  print_to(to, text);
}

int finish(Session& session, bool good) {
  bool colour = isatty(2) && !std::getenv("NO_COLOR");
  print(stderr, render(session.diagnostics, *session.sources, DiagnosticStyle::kExcerpt, colour));
  return good && session.diagnostics.ok() ? 0 : 1;
}

// As the exit code of every call that met a limit.
int limit_met(Session& session, const LimitError& e) {
  session.diagnostics.error(e.code(), Pos{e.at()}, e.what());
  finish(session, false);
  return 124;
}

}  // namespace

namespace {

// Where the Puppet installed here keeps its things: in Puppet's own packages below /etc/puppetlabs, in Debian's below
// /etc/puppet; puppet.conf may say otherwise.
struct Installed {
  std::string confdir, codedir, environmentpath, basemodulepath;

  explicit Installed(const Options& options) {
    std::error_code error;
    bool own_packages = fs::is_directory("/etc/puppetlabs/puppet", error);
    confdir = options.get("confdir", own_packages ? "/etc/puppetlabs/puppet" : "/etc/puppet");
    auto conf = read_own_file(confdir + "/puppet.conf", 1 << 20);
    auto setting = [&](std::string_view name, const std::string& otherwise) {
      std::string said = conf ? setting_in(*conf, name) : "";
      for (std::size_t at; (at = said.find("$codedir")) != std::string::npos;) said.replace(at, 8, codedir);
      for (std::size_t at; (at = said.find("$confdir")) != std::string::npos;) said.replace(at, 8, confdir);
      return said.empty() ? otherwise : said;
    };
    codedir = setting("codedir", own_packages ? "/etc/puppetlabs/code" : "/etc/puppet/code");
    environmentpath = setting("environmentpath", codedir + "/environments");
    basemodulepath = setting(
        "basemodulepath",
        codedir + "/modules:" + (own_packages ? "/opt/puppetlabs/puppet/modules" : "/usr/share/puppet/modules"));
  }
};

}  // namespace

Options own_options(const Arguments& a) {
  Options o;
  Installed installed(a.options);
  std::string environment = a.options.get("environment", "production"),
              base = a.options.get("environmentpath", installed.environmentpath);
  bool path = environment.find('/') != std::string::npos || environment == "." || environment == "..";
  std::string dir = path ? environment : base + "/" + environment;
  std::error_code error;
  if (fs::is_directory(dir, error)) o.add("environment", dir);
  if (a.options.has("modulepath"))
    o.add("modulepath", a.options.get("modulepath"));
  else
    o.add("basemodulepath", installed.basemodulepath);
  // The global layer is that of the Puppet installed here, unless another one is named.
  std::string global = a.options.get("hiera_config", installed.confdir + "/hiera.yaml");
  if (a.options.has("hiera_config") || fs::is_regular_file(global, error)) o.add("hiera-config", global);
  if (a.options.has("strict")) o.add("strict", a.options.get("strict"));
  if (a.options.has("strict_variables")) o.add("strict-variables", "");
  if (a.options.has("storeconfigs")) o.add("storeconfigs", "");
  if (a.options.has("facts")) o.add("facts", a.options.get("facts"));
  return o;
}

std::vector<std::string> manifests_of(const Arguments& a) {
  if (!a.words.empty() || a.options.has("execute") || a.options.has("catalog")) return with_folders(a.words);
  std::string environment = a.own.get("environment");
  if (!a.options.has("environment") || environment.empty()) return {};
  return manifests_of_environment(environment);
}

namespace {

int validate_as(const Arguments& a, LexMode mode) {
  Session session(a.limits);
  std::vector<std::string> files(a.words.begin(), a.words.end());
  auto settings = settings_of(session, a.own);
  if (!settings) return finish(session, false);
  auto look_at = [&](const Source& source) {
    Arena arena;
    Budget budget(a.limits);
    auto program = parse(source, mode, arena, session.diagnostics, budget);
    if (program->ok && settings->strict != Settings::Strict::kOff)
      find_duplicate_keys(*program, session.diagnostics,
                          settings->strict == Settings::Strict::kError ? Severity::kError : Severity::kWarning);
  };
  if (a.options.has("execute")) look_at(**session.sources->add("-e", a.options.get("execute")));
  if (files.empty() && !a.options.has("execute")) files.emplace_back("-");
  for (const std::string& f : mode == LexMode::kManifest ? with_folders(files) : files)
    if (const Source* s = session.open(f)) look_at(*s);
  return finish(session, true);
}

int validate(const Arguments& a) { return validate_as(a, LexMode::kManifest); }
int validate_template(const Arguments& a) { return validate_as(a, LexMode::kEpp); }

// A site ready to be compiled for one node.
struct Site {
  explicit Site(const Arguments& a) : session(a.limits) {}
  Session session;
  std::unique_ptr<Environment> environment;
  std::vector<const Program*> manifests;
  std::optional<Val> facts;
  std::string node;

  bool open(const Arguments& a, std::span<const std::string> files) {
    auto settings = settings_of(session, a.own);
    if (!settings) return false;
    environment = std::make_unique<Environment>(*settings, session.sources, session.budget.limits());
    bool good = true;
    auto add = [&](const Source* s) {
      const Program* p = s ? environment->add_manifest(*s, session.diagnostics) : nullptr;
      if (p)
        manifests.push_back(p);
      else
        good = false;
    };
    if (a.options.has("execute")) add(*session.sources->add("-e", a.options.get("execute")));
    for (const std::string& f : files) add(session.open(f));
    facts = read_facts(session, a.options.get("facts"));
    node = node_named(a);
    if (node.empty() && facts)
      if (const Val* fqdn = facts->get("fqdn")) node = to_text(*fqdn);
    return good && facts;
  }
};

// Puppet's own call names the node; files may stand beside it.
Arguments with_node_named(const Arguments& given) {
  Arguments a = given;
  std::error_code error;
  for (std::size_t n = 0; n < a.words.size() && node_named(a).empty(); ++n) {
    std::string word = a.words[n];
    if (word == "-" || word.find('/') != std::string::npos || word.ends_with(".pp") || fs::exists(word, error))
      continue;
    a.options.add("node", word);
    a.words.erase(a.words.begin() + static_cast<std::ptrdiff_t>(n));
  }
  if (a.options.has("manifest")) a.words.push_back(a.options.get("manifest"));
  return a;
}

int compile(const Arguments& given) {
  const Arguments a = with_node_named(given);
  Site site(a);
  std::unique_ptr<Compiler> compiler;
  try {
    if (site.open(a, manifests_of(a)))
      compiler = compile_catalog(site.session, *site.environment, site.manifests, site.node, *site.facts);
  } catch (const LimitError& e) {
    return limit_met(site.session, e);
  }
  if (compiler) {
    FileSink sink("");
    write_catalog(*compiler, sink, true);  // as puppet does: it is what an agent is given
    sink.put('\n');
    (void)sink.commit();
  }
  return finish(site.session, compiler != nullptr);
}

std::string quoted_names(std::span<const std::string> names) {
  std::string out;
  for (const std::string& n : names) out += fmt::format("{}'{}'", out.empty() ? "" : ", ", n);
  return names.size() == 1 ? out : "[" + out + "]";
}

int lookup(const Arguments& a) {
  if (a.words.empty()) {
    print(stderr, "tutti: puppet lookup needs a key\n");
    return 1;
  }
  Site site(a);
  // --compile: with the variables of the site's classes, as the manifests of the environment set them.
  std::vector<std::string> manifests;
  std::string environment = a.own.get("environment");
  if (a.options.has("compile") && !environment.empty()) {
    manifests = manifests_of_environment(environment);
  }
  if (!site.open(a, manifests)) return finish(site.session, false);
  NodeInfo node;
  node.name = site.node;
  node.facts = *site.facts;
  Compiler compiler(*site.environment, site.session, std::move(node));
  try {
    if (!compiler.compile(site.manifests)) return finish(site.session, false);
  } catch (const LimitError& e) {
    return limit_met(site.session, e);
  }
  MergeSpec merge;
  bool merged = a.options.has("merge");
  std::string strategy = a.options.get("merge"), prefix = a.options.get("knock-out-prefix"), wrong;
  HashDraft how;
  how.set("strategy", Val::string(strategy));
  if (strategy == "deep") {
    for (auto [flag, name] :
         {std::pair{"sort-merged-arrays", "sort_merged_arrays"}, {"merge-hash-arrays", "merge_hash_arrays"}})
      how.set(name, Val::boolean(a.options.has(flag)));
    if (!prefix.empty()) how.set("knockout_prefix", Val::string(prefix));
  }
  if (merged && !parse_merge(how.build(compiler.arena()), compiler.arena(), merge, wrong)) {
    print(stderr, fmt::format("tutti: --merge: {}\n", wrong));
    return 1;
  }
  Story story;
  std::optional<Val> found;
  bool told = a.options.has("explain"), only_options = a.options.has("explain-options") && !told;
  told = told || only_options;
  bool searched = false;
  try {
    if (only_options) compiler.hiera().tell_options(a.words[0], compiler.top(), story);
    for (std::size_t n = 0; n < a.words.size() && !found && !only_options; ++n)
      found =
          compiler.hiera().lookup(a.words[n], merged ? &merge : nullptr, compiler.top(), {}, told ? &story : nullptr);
    searched = true;
    if (found && a.options.has("type")) {
      std::string wanted = a.options.get("type");
      const Type* type = type_of_text(compiler.arena(), wanted,
                                      [&](std::string_view name) { return compiler.find_type_name(name, {}); });
      if (!is_instance(type, *found))
        compiler.fail({}, fmt::format("found value has wrong type, {}", describe_mismatch("", type, *found).at(0)),
                      "PP-TYPE-MISMATCH");
    }
  } catch (const EvalError& e) {
    if (told && !searched) print(stdout, story.text());
    site.session.diagnostics.error(e.code, e.where, e.what()).notes = e.notes;
    return finish(site.session, false);
  } catch (const TypeError& e) {
    site.session.diagnostics.error("PP-TYPE", {}, fmt::format("--type: {}", e.what()));
    return finish(site.session, false);
  }
  if (told) {
    print(stdout, story.text());
    if (!found && !only_options && !a.options.has("default"))
      print(stdout, fmt::format("Function lookup() did not find a value for {} {}\n",
                                a.words.size() == 1 ? "the name" : "any of the names", quoted_names(a.words)));
    return finish(site.session, true);
  }
  if (!found && a.options.has("default")) found = make_string(compiler.arena(), a.options.get("default"));
  if (found) {
    std::string how_shown = a.options.get("render-as", "yaml");
    if (how_shown == "json") {
      StringSink sink;
      write_json(to_tree(site.session.builder(), *found, {}), {.indent = 0}, sink);
      print(stdout, sink.take());
    } else {
      print(stdout, how_shown == "s" ? ruby_to_s(*found) + "\n" : yaml_text(*found));
    }
  }
  return finish(site.session, found.has_value());
}

}  // namespace

bool PuppetFrontEnd::claims(std::span<const std::string> args) const { return !args.empty() && args[0] == "puppet"; }

std::span<const FrontEnd::OwnVerb> PuppetFrontEnd::own_verbs() const {
  static constexpr OwnVerb kOwn[] = {
      {"puppet", "puppet's own calls: parser validate, epp validate, lookup, apply, catalog compile"}};
  return kOwn;
}

int PuppetFrontEnd::run(std::span<const std::string> args) const {
  struct OwnCall {
    std::string_view name;
    std::size_t words;
    int (*run)(const Arguments&);
  };
  static constexpr OwnCall kCalls[] = {{"parser validate", 2, validate},
                                       {"epp validate", 2, validate_template},
                                       {"lookup", 1, lookup},
                                       {"catalog compile", 2, compile}};
  for (const OwnCall& call : kCalls) {
    if (args.size() <= call.words) continue;
    std::string name = args[1];
    if (call.words == 2) name += " " + args[2];
    if (name != call.name) continue;
    Arguments a = read_arguments(call.name, args.subspan(1 + call.words));
    if (a.help) return print(stdout, help_for(call.name)), 0;
    if (a.wrong.empty()) {
      std::optional<Progress> progress;  // unless what is read is being typed
      if (!a.words.empty() || !isatty(0)) progress.emplace(name);
      return call.run(a);
    }
    print(stderr, wrong_use(name, a.wrong));
    return 1;
  }
  if (args.size() == 2 && (args[1] == "--version" || args[1] == "-V")) return print(stdout, "7.23.0\n"), 0;
  bool asked = args.size() == 2 && (args[1] == "--help" || args[1] == "help" || args[1] == "-h");
  if (!asked && args.size() > 1)
    print(stderr, fmt::format("error[USE]: there is no `tutti puppet {}`{}\n", fmt::join(args.subspan(1, 1), " "),
                              args[1] == "facts" ? "; `tutti facts` shows the facts of this host" : ""));
  print(asked ? stdout : stderr,
        "usage: tutti puppet parser validate FILE...\n"
        "       tutti puppet epp validate FILE...\n"
        "       tutti puppet lookup KEY... [--explain] [--merge STRATEGY] [--node NAME] [--facts FILE] [--environment "
        "DIR]\n"
        "       tutti puppet apply [--noop] [--detailed-exitcodes] [--tags TAGS] FILE | -e CODE | --catalog FILE\n"
        "       tutti puppet catalog compile [NODE] [FILE...] [--manifest FILE] [--node NAME] [--facts FILE] "
        "[--environment DIR] [--modulepath "
        "DIRS]\n");
  return asked ? 0 : 1;
}

const FrontEnd& front_end() {
  static const PuppetFrontEnd puppet;
  return puppet;
}

}  // namespace tutti::puppet
