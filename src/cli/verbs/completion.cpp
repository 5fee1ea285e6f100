// The scripts ask the program at every tab (`tutti completion words -- LINE...`): what can stand there is known in one
// place (cli/complete.h), whatever the shell.
#include <fmt/format.h>

#include "cli/complete.h"
#include "cli/verb.h"

namespace tutti {
namespace {

constexpr std::string_view kBash = R"(# bash completion for tutti; load with: source <(tutti completion bash)
_tutti() {
  local word typed=${COMP_WORDS[COMP_CWORD]}
  COMPREPLY=()
  while IFS= read -r word; do
    if [ "$word" = : ]; then
      compopt -o filenames 2>/dev/null
      while IFS= read -r word; do COMPREPLY+=("$word"); done < <(compgen -f -- "$typed")
    elif [[ $word == "$typed"* ]]; then
      COMPREPLY+=("$word")
    fi
  done < <(tutti completion words -- "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
  [[ ${#COMPREPLY[@]} == 1 && ${COMPREPLY[0]} == *= ]] && compopt -o nospace 2>/dev/null
}
complete -F _tutti tutti
)";

constexpr std::string_view kZsh = R"(#compdef tutti
# zsh completion for tutti; as a file _tutti in a folder of $fpath, or: source <(tutti completion zsh)
_tutti() {
  local word files=
  local -a all
  for word in "${(@f)$(tutti completion words -- "${(@)words[2,CURRENT]}" 2>/dev/null)}"; do
    if [[ $word == : ]]; then files=1; elif [[ -n $word ]]; then all+=("$word"); fi
  done
  compadd -a all
  [[ -n $files ]] && _files
}
compdef _tutti tutti
)";

constexpr std::string_view kFish = R"(# fish completion for tutti; as ~/.config/fish/completions/tutti.fish
function __tutti_words
    set -l line (commandline -opc) (commandline -ct)
    for word in (tutti completion words -- $line[2..-1] 2>/dev/null)
        if test "$word" = :
            __fish_complete_path (commandline -ct)
        else
            echo $word
        end
    end
end
complete -c tutti -f -a '(__tutti_words)'
)";

int run_completion(Call& call) {
  const std::string& shell = call.arguments[0];
  if (shell == "bash") {
    call.out.put(kBash);
  } else if (shell == "zsh") {
    call.out.put(kZsh);
  } else if (shell == "fish") {
    call.out.put(kFish);
  } else if (shell == "words") {
    Completions c = complete(std::span(call.arguments).subspan(1));
    for (const std::string& word : c.words) call.out.put(word + "\n");
    if (c.files) call.out.put(":\n");
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
    .details =
        "It completes verbs, options and their values, files, and what is recorded: runs, components, systems, types "
        "and hosts. `tutti completion words -- LINE...` prints what could stand as the last word of a line, one to a "
        "line; a line with a colon stands for names of files.",
    .examples = "$ source <(tutti completion bash)\n$ tutti completion fish > ~/.config/fish/completions/tutti.fish",
    .run = run_completion,
    .least = 1,
};

}  // namespace tutti
