#include "lang/cue/cli/front_end.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>

#include "base/boundary.h"
#include "base/minisign.h"
#include "base/near.h"
#include "base/terminal.h"
#include "lang/cue/cli/program.h"
#include "text/common_options.h"

namespace tutti::cue {

namespace fs = std::filesystem;

namespace {

// Verbs that the program has for all languages; for these the inputs decide.
bool shared_verb(const std::string& v) { return v == "eval" || v == "export" || v == "vet" || v == "fmt"; }

bool has_cue_files(const std::string& dir) {
  std::error_code ec;
  for (const auto& e : fs::directory_iterator(dir, ec))
    if (e.path().extension() == ".cue") return true;
  return false;
}

bool in_module(const std::string& dir) { return fs::is_directory(dir + "/cue.mod"); }

// A folder with manifests of Puppet somewhere below it and no CUE package in it.
bool folder_of_manifests(const std::string& dir) {
  std::error_code ec;
  if (!fs::is_directory(dir, ec) || has_cue_files(dir)) return false;
  for (fs::recursive_directory_iterator e(dir, ec), end; !ec && e != end; e.increment(ec)) {
    if (e->path().filename().string().starts_with('.')) {
      e.disable_recursion_pending();
    } else if (e->path().extension() == ".pp") {
      return true;
    }
  }
  return false;
}

bool other_language(const std::string& a) {
  static const std::set<std::string> kOther = {".pp", ".sf", ".cdl", ".epp", ".erb"};
  return kOther.count(fs::path(a).extension().string()) > 0 || folder_of_manifests(a);
}

// Output formats that cue has; what is not among them belongs to the other verbs.
bool cue_output(std::string out) {
  out = out.substr(0, out.find(':'));
  while (!out.empty()) {
    std::size_t plus = std::min(out.find('+'), out.size());
    std::string tag = out.substr(0, plus);
    tag = tag.substr(0, tag.find('='));
    static const std::set<std::string> kTags = {
        "cue",       "json",  "jsonl", "yaml",   "toml", "text", "binary", "openapi", "jsonschema", "pb",    "auto",
        "textproto", "proto", "go",    "schema", "data", "xml",  "strict", "graph",   "dag",        "final", "koala"};
    if (!kTags.count(tag)) return false;
    if (tag == "xml" && out.find("koala") == std::string::npos) return false;
    out = plus < out.size() ? out.substr(plus + 1) : "";
  }
  return true;
}

// CUE_EXPERIMENT turns what is not decided yet on and off; of what is decided only the outcome may be asked for.
std::string experiment_error() {
  const char* given = std::getenv("CUE_EXPERIMENT");
  if (!given) return {};
  static const std::set<std::string> kStable = {"evalv3",      "modules",       "embed",          "topsort",
                                                "decodeint64", "yamlv3decoder", "cmdreferencepkg"};
  static const std::set<std::string> kOpen = {"keepvalidators", "toposort"};
  std::string list = given;
  for (std::size_t at = 0; at <= list.size();) {
    std::size_t comma = std::min(list.find(',', at), list.size());
    std::string name = list.substr(at, comma - at), value = "1";
    at = comma + 1;
    if (name.empty()) continue;
    if (std::size_t eq = name.find('='); eq != std::string::npos) {
      value = name.substr(eq + 1);
      name = name.substr(0, eq);
    }
    bool on = value == "1" || value == "true";
    if (name == "formatv2") {
      if (on) return "cannot set experiment \"formatv2\" before version v0.18.0";
    } else if (kStable.count(name)) {
      if (!on) return fmt::format("cannot disable stable experiment \"{}\"", name);
    } else if (!kOpen.count(name)) {
      return fmt::format("unknown experiment \"{}\"", name);
    }
  }
  return {};
}

// Is a data file a schema by what it says of itself?
bool is_schema_file(const std::string& path) {
  std::string ext = fs::path(path).extension().string();
  if (ext != ".json" && ext != ".yaml" && ext != ".yml") return false;
  // Only its beginning: whoever takes the call reads the file, which may be large.
  std::error_code ec;
  if (!fs::is_regular_file(path, ec)) return false;  // a pipe would keep us waiting
  std::string head(1 << 16, '\0');
  std::ifstream in(path, std::ios::binary);
  in.read(head.data(), static_cast<std::streamsize>(head.size()));
  head.resize(static_cast<std::size_t>(in.gcount()));
  return head.find("//json-schema.org/") != std::string::npos ||
         (head.find("openapi") != std::string::npos && head.find("components") != std::string::npos);
}

// A package is of the module that the user stands in, wherever its files are named.
void name_what_was_given(std::string_view verb, const CommandFlags& flags, const std::string& dir) {
  Boundary* boundary = Boundary::in_force();
  if (boundary == nullptr) return;
  for (const std::string& argument : flags.arguments()) boundary->name_argument(argument);
  for (const auto& [name, values] : flags.given())
    for (const std::string& value : values) boundary->name_option(name, value);
  if (flags.on("trust")) boundary->give_trust();
  if (verb == "cmd") boundary->ask_to_run();
  for (fs::path at = dir; at != at.root_path(); at = at.parent_path())
    if (in_module(at.string())) return boundary->add_root(at.string());
}

}  // namespace

bool CueFrontEnd::claims(std::span<const std::string> args) const {
  if (args.empty()) return false;
  const std::string& verb = args[0];
  if (std::ranges::any_of(own_verbs(), [&](const OwnVerb& v) { return v.name == verb; })) return true;
  // Flags of cue before its verb.
  if (verb == "-C" || verb == "--chdir" || verb.starts_with("-C=") || verb.starts_with("--chdir=") || verb == "-t" ||
      verb == "--inject" || verb == "-E" || verb == "-i" || verb == "-s")
    return true;
  if (!shared_verb(verb)) return verb == "exp" || verb == "get";
  for (const std::string& a : args.subspan(1)) {
    if (a == "--help" || a == "-h") return false;
  }
  const CommandSpec* spec = find_command(verb);
  CommandFlags flags;
  std::string error;
  bool known = flags.parse(args.subspan(1), spec->flags, error);
  std::string dir = flags.text("chdir");
  if (dir.empty()) dir = ".";
  if (!known) {
    // A wrong flag among CUE inputs is ours to refuse; otherwise another verb may know it. Only cue has `-e`.
    bool cue = error == "flag needs an argument: 'e' in -e" || error == "flag needs an argument: --expression";
    for (const std::string& a : args.subspan(1)) cue |= a.ends_with(".cue");
    for (std::string_view own : {"--reference", "--level", "--include", "--node", "--facts", "--lang", "--environment",
                                 "--modulepath", "--format", "--tag"})
      for (const std::string& a : args)
        if (a == own || a.starts_with(std::string(own) + "=")) return false;
    return cue || in_module(dir);
  }
  auto only_of_cue = [&] {
    for (const char* own :
         {"expression", "schema", "path", "list", "with-context", "simplify", "concrete", "package", "inject", "name"})
      if (flags.given(own)) return true;
    return false;
  };
  if (std::ranges::any_of(flags.arguments(), other_language)) return false;
  // Packages and flags that only cue has are ours, with --out leaves too; other outputs are refused in cue's words.
  if (flags.given("out") && !cue_output(flags.text("out")))
    return only_of_cue() || std::ranges::any_of(flags.arguments(), [](const std::string& a) {
             return is_package_arg(a) && !fs::is_regular_file(a);
           });
  if (flags.arguments().empty()) return true;
  for (const std::string& a : flags.arguments()) {
    bool word = fs::path(a).extension().empty() && !fs::is_regular_file(a);
    if (a == "-" || a.ends_with(".cue") || (is_package_arg(a) && !fs::is_regular_file(a)) || word ||
        (a.find(':') != std::string::npos && a.find('/') == std::string::npos)) {
      return true;
    }
  }
  for (const std::string& a : flags.arguments()) {
    if (is_schema_file(a)) return true;
  }
  // What no reader knows by its name is read as cue reads it in a folder of CUE.
  static const std::set<std::string> kData = {".json", ".jsonl", ".ndjson", ".yaml",
                                              ".yml",  ".toml",  ".xml",    ".leaves"};
  bool data = std::ranges::all_of(
      flags.arguments(), [&](const std::string& a) { return kData.count(fs::path(a).extension().string()) > 0; });
  if (!data && (verb == "eval" || verb == "export") && (has_cue_files(dir) || in_module(dir))) return true;
  // Data files alone belong to the verbs that all languages share, which keep where every value came from, whatever
  // lies beside them (a call must not mean something else because a file came to the folder); a flag that only cue has,
  // or an output that only cue writes, says that cue is meant.
  static const std::set<std::string> kCommon = {"json", "yaml", "toml"};
  if (flags.given("out") && !kCommon.count(flags.text("out"))) return true;
  return only_of_cue();
}

std::span<const FrontEnd::OwnVerb> CueFrontEnd::own_verbs() const {
  static constexpr OwnVerb kOwn[] = {
      {"cmd", "run the tasks of a CUE package's tool files"},
      {"cue", "all verbs with cue's own flags and texts: tutti cue help"},
      {"def", "print a CUE package's definitions in one piece"},
      {"fix", "rewrite CUE files to the newest form of the language"},
      {"import", "turn JSON, YAML, TOML and schemas into CUE files"},
      {"mod", "make a CUE module"},
      {"trim", "take out of CUE files what the rest already says"},
  };
  return kOwn;
}

int CueFrontEnd::run(std::span<const std::string> given) const {
  std::vector<std::string> args(given.begin(), given.end());
  bool as_cue = !args.empty() && args[0] == "cue";
  if (as_cue) args.erase(args.begin());
  auto usage_error = [](const std::string& message) {
    print_to(stderr, message + "\n");
    return 1;
  };
  if (args.empty()) return print_help({}, as_cue);
  // -C comes first or not at all.
  std::string chdir_to;
  if (args[0] == "-C" || args[0] == "--chdir") {
    if (args.size() < 2)
      return usage_error(args[0] == "-C" ? "flag needs an argument: 'C' in -C" : "flag needs an argument: --chdir");
    chdir_to = args[1];
    args.erase(args.begin(), args.begin() + 2);
  } else if (args[0].starts_with("-C=") || args[0].starts_with("--chdir=")) {
    chdir_to = args[0].substr(args[0].find('=') + 1);
    args.erase(args.begin());
  }
  for (std::size_t i = 0; i < args.size() && args[i] != "--"; ++i) {
    bool separate = args[i] == "-C" || args[i] == "--chdir",
         joined = args[i].starts_with("-C=") || args[i].starts_with("--chdir=");
    if (!separate && !joined) continue;
    std::string value = joined ? args[i].substr(args[i].find('=') + 1) : i + 1 < args.size() ? args[i + 1] : "";
    return usage_error(
        fmt::format("invalid argument \"{}\" for \"-C, --chdir\" flag: must be the first argument", value));
  }
  if (args.empty()) return print_help({}, as_cue);
  // Flags may come before the verb.
  std::vector<std::string> before;
  while (!args.empty() && args[0].size() > 1 && args[0][0] == '-' && args[0] != "--help" && args[0] != "-h") {
    std::string a = args[0];
    args.erase(args.begin());
    bool valued = a.find('=') == std::string::npos && (a.starts_with("--") || a.size() == 2);
    if (valued) {
      std::string name = a.substr(a.starts_with("--") ? 2 : 1);
      valued = false;
      auto look = [&](std::span<const FlagSpec> list) {
        for (const FlagSpec& f : list)
          if (f.kind != FlagSpec::kBool && (f.name == name || (name.size() == 1 && f.letter == name[0]))) valued = true;
      };
      look(global_flags());
      for (const CommandSpec& c : commands()) look(c.flags);
    }
    before.push_back(a);
    if (valued && !args.empty()) {
      before.push_back(args[0]);
      args.erase(args.begin());
    }
  }
  if (args.empty()) return before.empty() ? print_help({}, as_cue) : usage_error("unknown flag: " + before[0]);
  std::string verb = args[0];
  // The commands of a package are told of by what is in it.
  static constexpr CommandSpec kHelpCmd{"help cmd", "", "", {}};
  const bool of_commands = verb == "help" && args.size() > 1 && args[1] == "cmd";
  if (!of_commands && (verb == "help" || verb == "--help" || verb == "-h"))
    return print_help(std::span(args).subspan(1), as_cue);
  if (verb == "version") {
    std::fputs("cue version v0.17.1 (tutti)\n", stdout);
    return 0;
  }
  if (std::string wrong = experiment_error(); !wrong.empty()) return usage_error("error in CUE_EXPERIMENT: " + wrong);
  const CommandSpec* spec = of_commands ? &kHelpCmd : find_command(verb);
  std::vector<std::string> rest(args.begin() + (of_commands ? 2 : 1), args.end());
  if (verb == "get") return usage_error("cue get is not supported: no Go code is read");
  if (verb == "login") return usage_error("cue login is not supported: nothing is fetched from a network");
  if (verb == "completion")
    return usage_error("cue completion is not supported: 'tutti completion' writes completions, of tutti");
  if (!spec) {
    print_to(stderr, fmt::format("unknown command \"{}\" for \"cue\"\n", verb));
    std::vector<std::string_view> names;
    for (const CommandSpec& c : commands()) names.push_back(c.name);
    if (std::string_view near = nearest(verb, names); !near.empty())
      print_to(stderr, fmt::format("\nDid you mean this?\n\t{}\n\n", near));
    return 1;
  }
  rest.insert(rest.begin(), before.begin(), before.end());
  if (verb == "mod") {
    std::string sub;
    for (const std::string& a : args)
      if (&a != &args[0] && !a.starts_with('-')) {
        sub = a;
        break;
      }
    std::error_code ec;
    if (sub != "init" && (fs::current_path(ec).string() + "/").find("/cue.mod/") != std::string::npos)
      return usage_error("cannot run this command inside the cue.mod directory");
    static const std::set<std::string> kNeedsRegistry = {"mirror", "upload", "registry"};
    if (kNeedsRegistry.count(sub))
      return usage_error(fmt::format("cue mod {} is not supported: it needs a registry", sub));
    spec = find_command("mod " + sub);
    if (!spec) {
      print_to(stderr,
               fmt::format("mod must be run as one of its subcommands{}\nRun 'cue help mod' for known subcommands.\n",
                           sub.empty() ? "" : fmt::format(": unknown subcommand \"{}\"", sub)));
      return 1;
    }
    rest.erase(std::find(rest.begin(), rest.end(), sub));
  }
  CommandFlags flags;
  std::string error;
  if (!flags.parse(rest, spec->flags, error)) return usage_error(error);
  if (verb == "exp" && !flags.on("help") && (flags.arguments().empty() || flags.arguments()[0] != "gengotypes")) {
    std::string what =
        flags.arguments().empty() ? "" : fmt::format(": unknown subcommand \"{}\"", flags.arguments()[0]);
    return usage_error("exp must be run as one of its subcommands" + what +
                       "\nRun 'cue help exp' for known subcommands.");
  }
  if (verb == "cmd" && flags.on("help")) {
    spec = &kHelpCmd;
    flags.arguments().clear();  // cue tells of all commands here, too
  } else if (flags.on("help")) {
    std::string name(spec->name);
    return print_help(std::span<const std::string>(&name, 1), as_cue);
  }
  if (!chdir_to.empty() && ::chdir(chdir_to.c_str()) != 0)
    return usage_error(fmt::format("chdir {}: no such file or directory", chdir_to));
  if (flags.given("require-signature") && !RequiredSignatures::in_force())
    return usage_error("--require-signature needs a public key of minisign here");
  Answering answering;
  answering.reads_only = verb != "cmd";
  answering.named_cue = as_cue;
  answering.hints = !as_cue && ::isatty(2) == 1;
  if (std::string wrong = answering.read(flags); !wrong.empty()) return usage_error(wrong);
  // What is being typed takes the user's time.
  const bool typed = ::isatty(0) == 1 && std::ranges::count(flags.arguments(), "-") > 0;
  if (verb != "cmd" && !typed) keep_limits(answering.limits, answering.style, answering.colour);
  std::error_code ec;
  std::string dir = fs::current_path(ec).string();
  name_what_was_given(verb, flags, dir);
  Program program(*spec, std::move(flags), std::move(answering), dir);
  return program.run();
}

const FrontEnd& front_end() {
  static const CueFrontEnd f;
  return f;
}

}  // namespace tutti::cue
