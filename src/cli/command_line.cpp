#include "cli/command_line.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>

#include "base/machine.h"
#include "base/near.h"
#include "cli/call_boundary.h"
#include "cli/doors/registry.h"
#include "cli/other_words.h"
#include "text/common_options.h"

namespace tutti {
namespace {

constexpr std::string_view kStyles = "text line json", kColours = "auto always never";
constexpr OptionSpec kGlobal[] = {
    {"output", "FILE", "write the result to FILE, all of it or nothing", false, 'o'},
    {"diagnostics", "STYLE", "how errors are shown: text (with the line and a caret), line (one line each), json",
     false, 0, kStyles},
    {"color", "WHEN", "auto, always or never", false, 0, kColours},
    {"limit", "NAME=N", "change a limit: input, nodes, steps, memory, depth, errors, time (ms)", true},
    {"trust", "", "the project's own code may run and read elsewhere, in this call (see tutti trust)"},
    {"help", "", "show this help", false, 'h'},
};
constexpr OptionSpec kLang = {"lang", "NAME", "read all files as this language, whatever their names say"};

// What is wrong with the value of an option that counts or measures, by how its argument is called; "" when nothing is.
std::string wrong_number(std::string_view argument, std::string_view value) {
  constexpr std::string_view kCounts[] = {"N", "COLUMNS", "RUNS"};
  bool counts = std::find(std::begin(kCounts), std::end(kCounts), argument) != std::end(kCounts);
  if (!counts && argument != "SECONDS") return "";
  if (counts) {
    u32 n = 0;
    auto [end, bad] = std::from_chars(value.data(), value.data() + value.size(), n);
    return bad == std::errc{} && end == value.data() + value.size() ? "" : "wants a whole number";
  }
  double n = 0;
  auto [end, bad] = std::from_chars(value.data(), value.data() + value.size(), n);
  return bad == std::errc{} && end == value.data() + value.size() && n >= 0 ? "" : "wants a number of seconds";
}

// What is wrong with a value of an option that has a few only; "" when nothing is.
std::string wrong_choice(const OptionSpec& spec, std::string_view value) {
  std::vector<std::string_view> all = choices_of(spec);
  if (all.empty() || std::ranges::find(all, value) != all.end()) return "";
  std::string_view near = nearest(value, all);
  return fmt::format("--{} is one of {}, not `{}`{}", spec.name, fmt::join(all, ", "), value,
                     near.empty() ? "" : fmt::format("; did you mean `{}`?", near));
}

std::string wrong_value(const OptionSpec& spec, std::string_view value) {
  std::string why = wrong_number(spec.argument, value);
  return why.empty() ? wrong_choice(spec, value) : fmt::format("--{} {}, not `{}`", spec.name, why, value);
}

std::string cli_name(const OptionSpec& spec) {
  return spec.letter ? fmt::format("-{},--{}", spec.letter, spec.name) : fmt::format("--{}", spec.name);
}

std::vector<std::string_view> option_names(const Verb& verb) {
  std::vector<std::string_view> names;
  for (const ShownOption& o : options_of(verb)) names.push_back(o.spec.name);
  for (const OptionSpec& o : kGlobal) names.push_back(o.name);
  return names;
}

// The option meant by one that is not known.
std::string suggestion(const Verb& verb, std::string_view given) {
  std::string_view name = given.substr(0, given.find('='));
  while (name.starts_with('-')) name.remove_prefix(1);
  std::vector<std::string_view> names = option_names(verb);
  std::string_view near = nearest(name, names);
  if (std::string_view ours = our_option(name); near.empty() && std::ranges::find(names, ours) != names.end())
    near = ours;
  return near.empty() ? std::string{} : fmt::format("; did you mean --{}?", near);
}

}  // namespace

std::span<const OptionSpec> global_options() { return kGlobal; }

std::vector<std::string_view> choices_of(const OptionSpec& spec) {
  std::vector<std::string_view> all;
  for (std::string_view left = spec.choices; !left.empty();) {
    std::size_t end = std::min(left.find(' '), left.size());
    all.push_back(left.substr(0, end));
    left.remove_prefix(std::min(end + 1, left.size()));
  }
  return all;
}

std::string one_dash(const Verb& verb, std::span<const std::string> args) {
  constexpr std::size_t kWord = 3;  // letters: shorter ones may be short options that stand together
  for (const std::string& arg : args) {
    if (arg == "--") break;
    if (arg.size() <= kWord || arg[0] != '-' || arg[1] == '-') continue;
    std::string_view name = std::string_view(arg).substr(1, arg.find('=') - 1);
    if (name.size() < kWord) continue;
    std::vector<std::string_view> names = option_names(verb);
    if (std::ranges::find(names, name) != names.end())
      return fmt::format("`-{0}` is no option of {1}: one with a long name has two dashes, --{0}", name, verb.name);
  }
  return "";
}

std::vector<ShownOption> options_of(const Verb& verb) {
  std::vector<ShownOption> all;
  auto add = [&all](const OptionSpec& spec, std::string_view language) {
    for (const ShownOption& o : all) {
      if (o.spec.name == spec.name) return;
    }
    for (const OptionSpec& g : kGlobal) {
      if (g.name == spec.name) return;
    }
    OptionSpec once = spec;
    for (const ShownOption& o : all) {
      if (o.spec.letter == spec.letter) once.letter = 0;
    }
    all.push_back({once, language});
  };
  for (const OptionSpec& spec : verb.options) add(spec, "");
  if (!verb.reads) return all;
  add(kLang, "");
  for (const Language* language : languages().all()) {
    for (const OptionSpec& spec : language->options()) add(spec, language->name());
  }
  return all;
}

namespace {

// The options of a verb as CLI11 reads them.
class OptionReader {
 public:
  explicit OptionReader(const Verb& verb) : verb_(verb), shown_(options_of(verb)) {
    app_.set_help_flag();
    app_.allow_extras(false);
    for (const ShownOption& o : shown_) add(o.spec);
    for (const OptionSpec& o : kGlobal) add(o);
  }

  void read(std::span<const std::string> args, Parsed& parsed) {
    app_.add_option("arguments", parsed.arguments);
    try {
      app_.parse(std::vector<std::string>(args.rbegin(), args.rend()));
    } catch (const CLI::ExtrasError& e) {
      std::string_view what = e.what();
      std::string first(what.substr(what.rfind(' ') + 1));
      parsed.wrong = fmt::format("`{}` is not an option of {}{}", first, verb_.name, suggestion(verb_, first));
    } catch (const CLI::ArgumentMismatch& e) {
      std::string_view what = e.what();
      parsed.wrong = fmt::format("{} needs a value", what.substr(0, what.find(':')));
    } catch (const CLI::ParseError& e) {
      parsed.wrong = e.what();
    }
    for (std::size_t i = 0; i < given_.size() && parsed.wrong.empty(); i++)
      if (given_[i].option->count() > 0) take(i, parsed);
  }

  std::string color = "auto", diagnostics = "text";  // as asked for

 private:
  struct Given {
    std::string name;
    bool flag = false;
    CLI::Option* option = nullptr;
  };

  void add(const OptionSpec& spec) {
    Given& g = given_.emplace_back();
    g.name = spec.name;
    g.flag = spec.argument.empty();
    g.option = g.flag ? app_.add_flag(cli_name(spec)) : app_.add_option(cli_name(spec));
    g.option->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
    std::string name = g.option->get_lnames().at(0);
    if (name != "color" && name != "diagnostics" && name != "limit") return;
    std::transform(name.begin(), name.end(), name.begin(),
                   [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c; });
    g.option->envname("TUTTI_" + name);
  }

  void take(std::size_t i, Parsed& parsed) {
    const Given& g = given_[i];
    bool own = i < shown_.size();  // of the verb or its languages, and not of all verbs
    auto values = g.option->results();
    if (g.name == "help" && g.flag) {
      parsed.help = true;
    } else if (g.name == "color") {
      color = values.back();
    } else if (g.name == "diagnostics") {
      diagnostics = values.back();
    } else if (g.name == "output" && !own) {
      parsed.manner.output = values.back();
    } else if (g.name == "lang") {
      parsed.manner.lang = values.back();
    } else if (g.name == "limit") {
      for (const std::string& v : values)
        if (parsed.wrong.empty()) parsed.wrong = set_limit(parsed.manner.limits, v);
    } else if (g.flag) {
      parsed.options.add(g.name, "");
    } else {
      for (std::string& v : values) {
        parsed.wrong = wrong_value(own ? shown_[i].spec : OptionSpec{}, v);
        if (!parsed.wrong.empty()) return;
        parsed.options.add(g.name, std::move(v));
      }
    }
  }

  const Verb& verb_;
  std::vector<ShownOption> shown_;
  CLI::App app_;
  std::vector<Given> given_;
};

// "" or what is wrong with how many arguments there are.
std::string wrong_count(const Verb& verb, const std::vector<std::string>& arguments) {
  if (arguments.size() < verb.least) return fmt::format("{} needs {}", verb.name, verb.arguments);
  if (arguments.size() <= verb.most) return "";
  return fmt::format("{} takes {}, and `{}` is too many", verb.name, verb.most == 0 ? "no arguments" : verb.arguments,
                     arguments[verb.most]);
}

}  // namespace

Parsed parse_command_line(const Verb& verb, std::span<const std::string> args) {
  Parsed parsed;
  parsed.wrong = one_dash(verb, args);
  if (!parsed.wrong.empty()) return parsed;
  parsed.manner.limits.memory = machine_memory();
  if (!asks_to_run(verb.name)) parsed.manner.limits.time = kReadingTime;
  OptionReader reader(verb);
  reader.read(args, parsed);
  if (!parsed.wrong.empty()) return parsed;
  if (std::string wrong = wrong_colour(reader.color); !wrong.empty()) parsed.wrong = wrong;
  if (std::string wrong = set_style(parsed.manner.diagnostics, reader.diagnostics); !wrong.empty())
    parsed.wrong = wrong;
  parsed.manner.colour = use_colour(reader.color, 2);
  parsed.manner.colour_out = parsed.manner.output.empty() && use_colour(reader.color, 1);
  if (parsed.wrong.empty() && !parsed.help) parsed.wrong = wrong_count(verb, parsed.arguments);
  return parsed;
}

}  // namespace tutti
