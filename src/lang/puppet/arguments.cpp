#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <map>

#include "base/boundary.h"
#include "base/near.h"
#include "lang/puppet/front_end.h"
#include "text/common_options.h"

namespace tutti::puppet {
namespace {

constexpr unsigned kApply = 1, kLookup = 2, kValidate = 4, kCompile = 8, kSite = kApply | kLookup | kCompile,
                   kEach = kSite | kValidate;

struct KnownOption {
  std::string_view name;
  std::string_view value;  // how its value is called; "": it has none
  unsigned calls;          // of which calls it is an option
  std::string_view help;   // "": accepted because scripts give it; it makes no difference here
  char letter = 0;
};

constexpr KnownOption kOptions[] = {
    {"noop", "", kApply, "say what would be changed and touch nothing"},
    {"detailed-exitcodes", "", kApply, "2 when something was changed, 4 when something failed, 6 for both"},
    {"test", "", kApply, "as --detailed-exitcodes", 't'},
    {"tags", "TAG,...", kApply, "only resources with one of these tags"},
    {"skip_tags", "TAG,...", kApply, "no resources with one of these tags"},
    {"catalog", "FILE", kApply, "apply a catalog made before", 'c'},
    {"vardir", "DIR", kApply, "where the state is kept"},
    {"execute", "CODE", kApply | kCompile | kValidate, "code instead of a file", 'e'},
    {"manifest", "FILE", kCompile, "the manifest, or the folder of manifests"},
    {"node", "NAME", kSite, "the node"},
    {"certname", "NAME", kSite, "the node"},
    {"node_name_value", "NAME", kSite, "the node"},
    {"facts", "FILE", kSite, "the node's facts (YAML or JSON)"},
    {"environment", "DIR", kSite, "the environment: its name, or its folder"},
    {"environmentpath", "DIR", kSite, "where environments are found by name"},
    {"modulepath", "DIR:...", kSite, "where modules are found"},
    {"hiera_config", "FILE", kSite, "the hiera.yaml of the global layer (/etc/puppet/hiera.yaml)"},
    {"strict", "off|warning|error", kEach, "what duplicate keys and unknown variables are"},
    {"storeconfigs", "", kSite, "exported resources are collected: the node's own, for there is no database here"},
    {"strict_variables", "", kSite, "an unknown variable is an error"},
    {"merge", "STRATEGY", kLookup, "first, unique, hash or deep"},
    {"type", "TYPE", kLookup, "what was found must be of this type"},
    {"default", "VALUE", kLookup, "when nothing is found"},
    {"knock-out-prefix", "TEXT", kLookup, "with --merge deep: takes out what begins so"},
    {"sort-merged-arrays", "", kLookup, "with --merge deep"},
    {"merge-hash-arrays", "", kLookup, "with --merge deep"},
    {"explain", "", kLookup, "say where it was looked for and found"},
    {"explain-options", "", kLookup, "say where the lookup options were found"},
    {"render-as", "yaml|json|s", kLookup, "how the value is shown"},
    {"render-as", "json", kCompile, ""},
    {"compile", "", kLookup, "with the variables of the site's classes", 'c'},
    {"limit", "NAME=N", kEach, "a limit of depth, nodes, steps, memory or time (TUTTI_LIMIT)"},
    {"trust", "", kEach, "the code of the environment and its modules may run, in this call (see tutti trust)"},
    {"debug", "", kEach, "", 'd'},
    {"verbose", "", kEach, "", 'v'},
    {"trace", "", kEach, ""},
    {"profile", "", kEach, ""},
    {"color", "WHEN", kEach, ""},
    {"logdest", "WHERE", kEach, "", 'l'},
    {"log_level", "LEVEL", kEach, ""},
    {"loglevel", "LEVEL", kEach, ""},
    {"disable_warnings", "LIST", kEach, ""},
    {"confdir", "DIR", kEach, ""},
    {"codedir", "DIR", kEach, ""},
    {"ssldir", "DIR", kEach, ""},
    {"logdir", "DIR", kEach, ""},
    {"rundir", "DIR", kEach, ""},
    {"statedir", "DIR", kEach, ""},
    {"libdir", "DIR", kEach, ""},
    {"loadclasses", "", kApply, "", 'L'},
    {"use-nodes", "", kApply, ""},
    {"write-catalog-summary", "", kApply, ""},
    {"show_diff", "", kApply, ""},
    {"summarize", "", kApply, ""},
    {"evaltrace", "", kApply, ""},
    {"report", "", kApply, ""},
    {"pluginsync", "", kApply, ""},
    {"onetime", "", kApply, ""},
    {"trusted", "", kLookup, ""},
};

struct Refused {
  std::string_view name, why;
};
constexpr Refused kRefused[] = {
    {"parseonly", "use `tutti puppet parser validate FILE...`"},
};

unsigned call_of(std::string_view name) {
  if (name == "apply") return kApply;
  if (name == "lookup") return kLookup;
  if (name == "parser validate" || name == "epp validate") return kValidate;
  return kCompile;
}

// Settings are written with `_` and with `-`.
std::string plain_name(std::string_view name) {
  std::string out(name);
  std::replace(out.begin(), out.end(), '-', '_');
  return out;
}

const KnownOption* option_named(std::string_view name, unsigned call) {
  for (const KnownOption& o : kOptions)
    if ((o.calls & call) && plain_name(o.name) == plain_name(name)) return &o;
  return nullptr;
}

const KnownOption* option_lettered(char letter, unsigned call) {
  for (const KnownOption& o : kOptions)
    if ((o.calls & call) && o.letter == letter) return &o;
  return nullptr;
}

std::string unknown(std::string_view name, unsigned call) {
  for (const Refused& r : kRefused)
    if (plain_name(r.name) == plain_name(name)) return fmt::format("there is no --{}: {}", name, r.why);
  std::vector<std::string_view> names;
  for (const KnownOption& o : kOptions)
    if (o.calls & call) names.push_back(o.name);
  std::string_view near = nearest(name, names);
  return fmt::format("there is no option `--{}`{}", name,
                     near.empty() ? "" : fmt::format("; did you mean `--{}`?", near));
}

}  // namespace

namespace {

Arguments parse_arguments(std::string_view call_name, std::span<const std::string> args) {
  const unsigned call = call_of(call_name);
  Arguments out;
  std::map<std::string, bool> flags;  // the last one counts
  auto wrong = [&](std::string why) {
    if (out.wrong.empty()) out.wrong = std::move(why);
  };
  for (std::size_t n = 0; n < args.size(); ++n) {
    std::string_view a = args[n];
    if (a == "--help" || a == "-h") {
      out.help = true;
      continue;
    }
    if (a == "--") {
      out.words.insert(out.words.end(), args.begin() + static_cast<std::ptrdiff_t>(n) + 1, args.end());
      break;
    }
    if (a.size() < 2 || a[0] != '-') {
      out.words.emplace_back(a);
      continue;
    }
    const KnownOption* known = nullptr;
    std::optional<std::string> value;
    bool on = true;
    if (a.starts_with("--")) {
      std::string_view name = a.substr(2, a.find('=') == std::string_view::npos ? a.size() : a.find('=') - 2);
      if (a.size() > name.size() + 2) value = a.substr(name.size() + 3);
      known = option_named(name, call);
      if (!known && name.starts_with("no-")) {
        known = option_named(name.substr(3), call);
        if (known && !known->value.empty()) known = nullptr;
        on = false;
      }
      if (!known) {
        wrong(unknown(name, call));
        continue;
      }
    } else {
      known = option_lettered(a[1], call);
      if (!known || (a.size() > 2 && known->value.empty())) {
        wrong(fmt::format("there is no option `{}`", a));
        continue;
      }
      if (a.size() > 2) value = a.substr(2);
    }
    if (!known->value.empty()) {
      if (!value && n + 1 == args.size()) {
        wrong(fmt::format("--{} needs a value: {}", known->name, known->value));
        continue;
      }
      out.options.add(std::string(known->name), value ? *value : args[++n]);
    } else if (value && *value != "true" && *value != "false") {
      wrong(fmt::format("--{} is on or off (--no-{}), not `{}`", known->name, known->name, *value));
    } else {
      flags[std::string(known->name)] = on == (value.value_or("true") == "true");
    }
  }
  for (const auto& [name, on] : flags)
    if (on) out.options.add(name, "");
  if (call != kApply) out.limits.time = kReadingTime;
  std::vector<std::string> limits = out.options.all("limit");
  if (const char* usual = std::getenv("TUTTI_LIMIT"); limits.empty() && usual != nullptr && *usual != 0)
    limits.emplace_back(usual);
  for (const std::string& limit : limits)
    if (std::string why = set_limit(out.limits, limit); !why.empty()) wrong(why);
  if (!out.help && out.wrong.empty()) out.own = own_options(out);
  return out;
}

// Before anything of it is read. What the installed Puppet says of itself is the machine's own.
void name_what_was_given(const Arguments& a) {
  Boundary* boundary = Boundary::in_force();
  if (boundary == nullptr) return;
  for (const std::string& word : a.words) boundary->name_argument(word);
  for (const Options* options : {&a.options, &a.own})
    for (const auto& [name, values] : options->all())
      for (const std::string& value : values) boundary->name_option(name, value);
  if (a.options.has("trust")) boundary->give_trust();
}

}  // namespace

Arguments read_arguments(std::string_view call_name, std::span<const std::string> args) {
  Arguments out = parse_arguments(call_name, args);
  if (!out.help && out.wrong.empty()) name_what_was_given(out);
  if (call_of(call_name) != kApply && (::isatty(0) != 1 || !out.words.empty()))
    keep_limits(out.limits, DiagnosticStyle::kExcerpt, false);
  return out;
}

std::string node_named(const Arguments& a) {
  for (const char* name : {"node", "certname", "node_name_value"})
    if (a.options.has(name)) return a.options.get(name);
  return "";
}

std::string wrong_use(std::string_view call_name, std::string_view what) {
  return fmt::format("error[USE]: {}\n  = help: tutti puppet {} --help\n", what, call_name);
}

std::string help_for(std::string_view call_name) {
  const unsigned call = call_of(call_name);
  std::string_view what = call == kApply      ? "[FILE... | -e CODE | --catalog FILE]"
                          : call == kLookup   ? "KEY..."
                          : call == kValidate ? "[FILE...]"
                                              : "[NODE] [FILE... | -e CODE]";
  std::string out = fmt::format("usage: tutti puppet {} [OPTIONS] {}\n\n", call_name, what), nothing;
  for (const KnownOption& o : kOptions) {
    if (!(o.calls & call)) continue;
    std::string name = o.letter ? fmt::format("-{}, --{}", o.letter, o.name) : fmt::format("    --{}", o.name);
    if (o.help.empty())
      nothing += fmt::format("{}--{}", nothing.empty() ? "" : ", ", o.name);
    else
      out += fmt::format("  {:<36}{}\n", o.value.empty() ? name : fmt::format("{} {}", name, o.value), o.help);
  }
  return out + fmt::format("  {:<36}{}\n\nAccepted, without any effect here: {}.\n", "-h, --help", "this", nothing);
}

}  // namespace tutti::puppet
