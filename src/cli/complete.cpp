#include "cli/complete.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "cli/command_line.h"
#include "cli/doors/registry.h"
#include "cli/output.h"
#include "cli/system/recorded_call.h"

namespace tutti {
namespace {

Completions these(std::span<const std::string_view> words) {
  Completions c;
  c.words.assign(words.begin(), words.end());
  return c;
}

std::vector<std::string_view> verb_names() {
  std::vector<std::string_view> names;
  for (const Verb* v : verbs())
    if (!v->hidden) names.push_back(v->name);
  for (const FrontEnd::OwnVerb& v : front_end_verbs()) names.push_back(v.name);
  return names;
}

std::vector<OptionSpec> options_with_global(const Verb& verb) {
  std::vector<OptionSpec> all;
  for (const ShownOption& o : options_of(verb)) all.push_back(o.spec);
  all.insert(all.end(), global_options().begin(), global_options().end());
  return all;
}

// What is recorded where this line would be carried out. Whatever is wrong there is no matter of a completion.
class Recorded {
 public:
  explicit Recorded(std::span<const std::string> line) : call_(Manner{}), here_(call_) {
    for (std::size_t i = 0; i + 1 < line.size(); ++i)
      for (std::string_view name : {"state", "system"})
        if (line[i] == "--" + std::string(name)) call_.options.add(std::string(name), line[i + 1]);
    there_ = here_.look();
  }
  std::vector<std::string> systems() {
    auto all = there_ ? here_.systems() : std::nullopt;
    return all.value_or(std::vector<std::string>());
  }
  std::vector<std::string> runs() {
    constexpr u32 kMost = 50;
    std::vector<std::string> out;
    for (const std::string& system : the_systems())
      if (auto runs = here_.record->store->runs(system, kMost))
        for (auto& r : *runs) out.push_back(std::to_string(r.id));
    return out;
  }
  std::vector<std::string> components() {
    return of_components([](const std::string& name, const engine::RecordedComponent&) { return name; });
  }
  std::vector<std::string> types() {
    return of_components([](const std::string&, const engine::RecordedComponent& c) { return c.type; });
  }
  std::vector<std::string> hosts() {
    return of_components(
        [](const std::string&, const engine::RecordedComponent& c) { return std::string(c.host.text()); });
  }

 private:
  std::vector<std::string> the_systems() {
    if (call_.options.has("system")) return {call_.options.get("system")};
    return systems();
  }
  template <class Of>
  std::vector<std::string> of_components(Of of) {
    std::set<std::string> out;
    for (const std::string& system : the_systems())
      if (auto recorded = here_.deployer->recorded(system))
        for (auto& [name, c] : recorded->components) out.insert(of(name, c));
    out.erase("");
    return {out.begin(), out.end()};
  }
  Call call_;
  RecordedCall here_;
  bool there_ = false;
};

// By what the argument is called in the help: `--only COMPONENT`, `tutti show RUN|COPY`.
Completions argument(std::string_view called, std::span<const std::string> line) {
  Completions c;
  bool known = false;
  auto add = [&](std::string_view word, auto words) {
    if (called.find(word) == called.npos) return;
    known = true;
    for (auto& w : words()) c.words.emplace_back(w);
  };
  add("RUN", [&] { return Recorded(line).runs(); });
  add("COMPONENT", [&] { return Recorded(line).components(); });
  add("HOST", [&] { return Recorded(line).hosts(); });
  add("TYPE", [&] { return Recorded(line).types(); });
  add("VERB", verb_names);
  add("exit-codes", [] { return std::vector<std::string>{"exit-codes"}; });
  add("SHELL", [] { return std::vector<std::string>{"bash", "zsh", "fish"}; });
  c.files = !known && !called.empty();
  return c;
}

// The value of the option that stands before it.
Completions value_of(const OptionSpec& option, std::span<const std::string> line) {
  if (!option.choices.empty()) return these(choices_of(option));
  if (option.name == "lang") {
    Completions c;
    for (const Language* l : languages().all()) c.words.emplace_back(l->name());
    return c;
  }
  if (option.name == "out") return these(all_outputs());
  if (option.name == "limit") return {{"input=", "nodes=", "steps=", "memory=", "depth=", "errors=", "time="}};
  if (option.name == "system") return {Recorded(line).systems()};
  return argument(option.argument, line);
}

}  // namespace

Completions complete(std::span<const std::string> line) {
  if (line.size() <= 1) {
    Completions c = these(verb_names());
    c.words.insert(c.words.end(), {"--help", "--version"});
    return c;
  }
  const Verb* verb = verb_named(line[0]);
  if (!verb) return {{}, true};
  const std::string &typed = line.back(), &before = line[line.size() - 2];
  std::vector<OptionSpec> options = options_with_global(*verb);
  if (before.starts_with("--"))
    for (const OptionSpec& o : options)
      if (before.substr(2) == o.name && !o.argument.empty()) return value_of(o, line);
  if (typed.starts_with('-')) {
    Completions c;
    for (const OptionSpec& o : options) c.words.push_back(fmt::format("--{}", o.name));
    return c;
  }
  return argument(verb->arguments, line);
}

}  // namespace tutti
