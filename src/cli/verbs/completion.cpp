#include <fmt/format.h>

#include "cli/command_line.h"
#include "cli/output.h"
#include "cli/registry.h"
#include "cli/verb.h"

namespace tutti {
namespace {

std::vector<OptionSpec> all_options(const Verb& verb) {
  std::vector<OptionSpec> all;
  for (const ShownOption& o : options_of(verb)) all.push_back(o.spec);
  for (const OptionSpec& o : global_options()) all.push_back(o);
  return all;
}

std::string joined(const std::vector<std::string_view>& words) {
  std::string out;
  for (std::string_view w : words) out += fmt::format("{}{}", out.empty() ? "" : " ", w);
  return out;
}

std::string verb_words() {
  std::vector<std::string_view> names;
  for (const Verb* v : verbs()) {
    if (!v->hidden) names.push_back(v->name);
  }
  for (const FrontEnd::OwnVerb& v : front_end_verbs()) names.push_back(v.name);
  return joined(names);
}

std::string language_words() {
  std::vector<std::string_view> names;
  for (const Language* l : languages().all()) names.push_back(l->name());
  return joined(names);
}

// Text inside single quotes, for the shells.
std::string quoted(std::string_view text) {
  std::string out;
  for (char c : text) out += c == '\'' ? "'\\''" : std::string(1, c);
  return out;
}

std::string bash() {
  std::string out = "# bash completion for tutti; load with: source <(tutti completion bash)\n_tutti() {\n";
  out +=
      "  local cur prev verb\n  cur=${COMP_WORDS[COMP_CWORD]}\n  prev=${COMP_WORDS[COMP_CWORD-1]}\n  "
      "verb=${COMP_WORDS[1]}\n";
  out += fmt::format(
      "  if [ \"$COMP_CWORD\" -eq 1 ]; then COMPREPLY=($(compgen -W '{} --help --version' -- \"$cur\")); return; fi\n",
      verb_words());
  out += "  case $prev in\n";
  out += fmt::format("    --lang) COMPREPLY=($(compgen -W '{}' -- \"$cur\")); return;;\n", language_words());
  out += fmt::format("    --out) COMPREPLY=($(compgen -W '{}' -- \"$cur\")); return;;\n", joined(all_outputs()));
  out += "    --color) COMPREPLY=($(compgen -W 'auto always never' -- \"$cur\")); return;;\n";
  out += "    --diagnostics) COMPREPLY=($(compgen -W 'text line json' -- \"$cur\")); return;;\n";
  out +=
      "    --limit) COMPREPLY=($(compgen -S = -W 'input nodes steps memory depth errors time' -- \"$cur\")); compopt "
      "-o nospace; return;;\n";
  out += fmt::format("    help) COMPREPLY=($(compgen -W '{} exit-codes' -- \"$cur\")); return;;\n", verb_words());
  out += "    completion) COMPREPLY=($(compgen -W 'bash zsh fish' -- \"$cur\")); return;;\n  esac\n";
  out += "  if [[ $cur == -* ]]; then\n    case $verb in\n";
  for (const Verb* v : verbs()) {
    std::string words;
    for (const OptionSpec& o : all_options(*v)) words += fmt::format("{}--{}", words.empty() ? "" : " ", o.name);
    out += fmt::format("      {}) COMPREPLY=($(compgen -W '{}' -- \"$cur\"));;\n", v->name, words);
  }
  return out +
         "    esac\n    return\n  fi\n  COMPREPLY=($(compgen -f -- \"$cur\"))\n}\ncomplete -o filenames -F _tutti "
         "tutti\n";
}

std::string zsh() {
  auto safe = [](std::string_view text) {
    std::string out;
    for (char c : text) {
      if (c == '[' || c == ']' || c == ':' || c == '\\') out += '\\';
      out += c == '\'' ? "'\\''" : std::string(1, c);
    }
    return out;
  };
  std::string out = "#compdef tutti\n# zsh completion for tutti\n_tutti() {\n  local -a verbs\n  verbs=(\n";
  for (const Verb* v : verbs()) {
    if (!v->hidden) out += fmt::format("    '{}:{}'\n", v->name, safe(v->summary));
  }
  for (const FrontEnd::OwnVerb& v : front_end_verbs()) out += fmt::format("    '{}:{}'\n", v.name, safe(v.summary));
  out += "  )\n  if (( CURRENT == 2 )); then _describe verb verbs; return; fi\n  case $words[2] in\n";
  for (const Verb* v : verbs()) {
    out += fmt::format("    {}) _arguments", v->name);
    for (const OptionSpec& o : all_options(*v)) {
      std::string_view action = o.name == "lang"          ? ":language:($(tutti completion languages))"
                                : o.name == "out"         ? ":format:($(tutti completion outputs))"
                                : o.name == "color"       ? ":when:(auto always never)"
                                : o.name == "diagnostics" ? ":style:(text line json)"
                                : o.argument.empty()      ? ""
                                                          : ":value:_files";
      out += fmt::format(" \\\n        '{}--{}[{}]{}'", o.repeatable ? "*" : "", o.name, safe(o.help), action);
    }
    out += " \\\n        '*:file:_files';;\n";
  }
  return out + "  esac\n}\ncompdef _tutti tutti\n";
}

std::string fish() {
  std::string out = "# fish completion for tutti\n";
  for (const Verb* v : verbs()) {
    if (v->hidden) continue;
    out += fmt::format("complete -c tutti -n __fish_use_subcommand -f -a {} -d '{}'\n", v->name, quoted(v->summary));
  }
  for (const FrontEnd::OwnVerb& v : front_end_verbs()) {
    out += fmt::format("complete -c tutti -n __fish_use_subcommand -f -a {} -d '{}'\n", v.name, quoted(v.summary));
  }
  for (const Verb* v : verbs()) {
    for (const OptionSpec& o : all_options(*v)) {
      std::string more = o.letter ? fmt::format(" -s {}", o.letter) : "";
      if (o.name == "lang") {
        more += fmt::format(" -x -a '{}'", language_words());
      } else if (o.name == "out") {
        more += fmt::format(" -x -a '{}'", joined(all_outputs()));
      } else if (o.name == "color") {
        more += " -x -a 'auto always never'";
      } else if (o.name == "diagnostics") {
        more += " -x -a 'text line json'";
      } else if (!o.argument.empty()) {
        more += " -r";
      }
      out += fmt::format("complete -c tutti -n '__fish_seen_subcommand_from {}' -l {}{} -d '{}'\n", v->name, o.name,
                         more, quoted(o.help));
    }
  }
  return out +
         fmt::format("complete -c tutti -n '__fish_seen_subcommand_from help' -f -a '{} exit-codes'\n", verb_words());
}

int run_completion(Call& call) {
  const std::string& shell = call.arguments[0];
  if (shell == "bash") {
    call.out.put(bash());
  } else if (shell == "zsh") {
    call.out.put(zsh());
  } else if (shell == "fish") {
    call.out.put(fish());
  } else if (shell == "languages") {
    call.out.put(language_words() + "\n");
  } else if (shell == "outputs") {
    call.out.put(joined(all_outputs()) + "\n");
  } else {
    call.session.diagnostics.error("USE", {}, fmt::format("completion is for bash, zsh and fish, not `{}`", shell));
    return exit_code::kError;
  }
  return exit_code::kOk;
}

}  // namespace

extern const Verb completion_verb = {
    .name = "completion",
    .group = "Other",
    .summary = "print a completion script for bash, zsh or fish",
    .arguments = "SHELL",
    .examples = "$ source <(tutti completion bash)\n$ tutti completion fish > ~/.config/fish/completions/tutti.fish",
    .run = run_completion,
    .least = 1,
    .most = 1,
};

}  // namespace tutti
