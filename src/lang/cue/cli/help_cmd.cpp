// `help cmd NAME`: what the comments and the fields $usage, $short and $long of a command say about it.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "lang/cue/cli/plan.h"
#include "lang/cue/format/literal.h"

namespace tutti::cue {

namespace {

std::string trimmed(std::string_view s) {
  std::size_t from = s.find_first_not_of(" \t\n"), to = s.find_last_not_of(" \t\n");
  return from == s.npos ? "" : std::string(s.substr(from, to + 1 - from));
}

// The first line, and what follows it.
std::pair<std::string, std::string> split_line(const std::string& s) {
  std::size_t end = std::min(s.find('\n'), s.size());
  return {trimmed(s.substr(0, end)), trimmed(s.substr(end))};
}

std::string first_comment(const ast::Node* field) {
  for (const ast::CommentGroup& g : field->comments()) {
    if (!g.doc) continue;
    std::string out;
    for (const ast::Comment& c : g.list) {
      std::string_view line = c.text.substr(std::min<std::size_t>(2, c.text.size()));
      if (line.starts_with(' ')) line.remove_prefix(1);
      out += std::string(line) + "\n";
    }
    return out;
  }
  return {};
}

struct Command {
  std::string name, usage, brief, text;
};

std::string string_in(Context& c, Vertex* v, std::string_view key, const std::string& otherwise) {
  Vertex* field = v->deref_value()->find_raw(Label::string(key));
  Node* n = field ? c.default_of(field) : nullptr;
  if (n && n->type == NodeType::kVertex) n = to<Vertex>(n)->deref_value()->value();
  return trimmed(n && n->type == NodeType::kString ? std::string(to<String>(n)->text) : otherwise);
}

Command describe(Context& c, const std::string& name, Vertex* v, const std::string& comment) {
  Command out{name, {}, {}, {}};
  if (!comment.empty()) {
    std::tie(out.brief, out.text) = split_line(comment);
    out.brief = string_in(c, v, "short", out.brief);
    if (constexpr std::string_view kUsage = "Usage:"; out.text.starts_with(kUsage))
      std::tie(out.usage, out.text) = split_line(out.text.substr(kUsage.size()));
    out.usage = string_in(c, v, "$usage", string_in(c, v, "usage", out.usage));
    out.text = string_in(c, v, "long", out.text);
  }
  if (!out.usage.starts_with(name + " ")) out.usage = name;
  out.brief = string_in(c, v, "$short", out.brief);
  out.text = string_in(c, v, "$long", out.text);
  return out;
}

// Those of the package, by name. What cannot be read has none.
std::vector<Command> commands_of(Program& p, std::vector<std::string> packages) {
  LoaderConfig config;
  config.tools = true;
  p.make_loader(config);
  if (packages.empty()) packages.push_back(".");
  std::vector<Command> out;
  for (LoadedPackage* package : p.loader().load(packages, {})) {
    if (!package->problems.empty()) continue;
    Vertex* root = p.build(*package, true);
    p.context().finalize(root);
    Vertex* commands = root->deref_value()->find_raw(Label::string("command"));
    if (!commands) continue;
    ExportProfile profile;
    profile.show_docs = profile.show_errors = true;
    std::map<std::string, std::string> comments;
    for (const ast::Node* d : export_value(p.context(), p.sources(), package->import_path, commands, profile)->decls)
      if (d->kind == ast::Kind::kField)
        comments[label_name(static_cast<const ast::Field*>(d)->label)] = first_comment(d);
    for (Vertex* a : commands->deref_value()->arcs)
      if (a->label.is_string() && a->arc_type == ArcType::kMember) {
        std::string name(a->label.name());
        out.push_back(describe(p.context(), name, a, comments[name]));
      }
  }
  std::ranges::sort(out, {}, &Command::name);
  return out;
}

// The flags that cue has, too, by name.
std::string flag_lines(std::span<const FlagSpec> specs, std::span<const std::string_view> names) {
  std::vector<std::pair<std::string, std::string>> lines;
  std::size_t width = 0;
  for (std::string_view name : names)
    for (const FlagSpec& f : specs) {
      if (f.name != name) continue;
      std::string_view kind = f.kind == FlagSpec::kBool ? "" : f.kind == FlagSpec::kString ? " string" : " stringArray";
      lines.emplace_back(fmt::format("  -{}, --{}{}", f.letter, f.name, kind),
                         std::string(f.help) + (f.initial.empty() ? "" : fmt::format(" (default {})", f.initial)));
      width = std::max(width, lines.back().first.size());
    }
  std::string out;
  for (const auto& [left, right] : lines) out += fmt::format("{:<{}}   {}\n", left, width, right);
  return out;
}

std::string global_lines() {
  static constexpr std::string_view kNames[] = {"all-errors", "chdir", "ignore", "simplify"};
  return "\nGlobal Flags:\n" + flag_lines(global_flags(), kNames);
}

std::string usage_of_cmd(const std::vector<Command>& commands, bool with_help = false) {
  std::string out = "Usage:\n  cue cmd [flags] <name> [inputs]\n";
  std::size_t width = 11;
  for (const Command& c : commands) width = std::max(width, c.name.size());
  if (!commands.empty()) out += "  cue cmd [command]\n\nAvailable Commands:\n";
  for (const Command& c : commands) out += fmt::format("  {:<{}} {}\n", c.name, width, c.brief);
  static constexpr FlagSpec kHelp[] = {{"help", 'h', FlagSpec::kBool, "help for cmd"}};
  std::vector<FlagSpec> specs(find_command("cmd")->flags.begin(), find_command("cmd")->flags.end());
  static constexpr std::string_view kNames[] = {"help", "inject", "inject-vars"};
  if (with_help) specs.push_back(kHelp[0]);
  out += "\nFlags:\n" + flag_lines(specs, kNames) + global_lines();
  if (!commands.empty()) out += "\nUse \"cue cmd [command] --help\" for more information about a command.\n";
  return out;
}

}  // namespace

void run_help_cmd(Program& p) {
  std::vector<std::string> args = p.flags().arguments();
  std::vector<Command> commands = commands_of(p, {args.begin() + std::min<long>(1, std::ssize(args)), args.end()});
  if (args.empty())
    return p.print(fmt::format("{}\n\n{}", find_command("cmd")->summary, usage_of_cmd(commands, p.flags().on("help"))));
  auto found = std::ranges::find(commands, args[0], &Command::name);
  if (found == commands.end()) {
    Program::say(fmt::format("Unknown cmd command: {}\n{}", args[0], usage_of_cmd(commands)));
    throw Stop{{}, true};
  }
  const std::string& text = found->text.empty() ? found->brief : found->text;
  p.print(fmt::format("{}{}Usage:\n  cue cmd {} [flags]\n{}", text, text.empty() ? "" : "\n\n", found->usage,
                      global_lines()));
}

}  // namespace tutti::cue
