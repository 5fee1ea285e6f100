#include "lang/puppet/facts/module_facts.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "base/boundary.h"
#include "base/file.h"
#include "lang/puppet/catalog/output.h"
#include "lang/puppet/facts/facts.h"
#include "lang/puppet/facts/parts.h"
#include "lang/puppet/facts/reading.h"
#include "lang/puppet/hiera/data_file.h"
#include "lang/puppet/run_program.h"

namespace fs = std::filesystem;

namespace tutti::puppet {
namespace {

// What a fact prints is not its value. What facter says of its own facts is not asked for here; of a module's it is.
constexpr std::string_view kScript = R"(
out = $stdout.dup
$stdout.reopen($stderr)
require 'json'
begin
  require 'facter'
rescue LoadError
  exit 3
end
begin
  require 'puppet'
  Puppet.initialize_settings
rescue LoadError, StandardError
  nil
end
Facter.reset # Puppet has asked it already
Facter.on_message { |level, text| warn("#{level}: #{text}") if level == :error && text.include?('custom fact') }
name = ARGV.shift
Facter.search(*ARGV)
out.write(JSON.generate(name.empty? ? Facter.to_hash : { name => Facter.value(name) }.compact))
)";

constexpr u64 kLongestFacter = u64{1} << 20;

bool is_word(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_'; }

}  // namespace

ModuleFacts::ModuleFacts(std::span<const std::string> modules) {
  std::error_code error;
  for (const std::string& module : modules) {
    std::string ruby = module + "/lib/facter", external = module + "/facts.d";
    if (fs::is_directory(external, error)) external_.push_back(external);
    if (!fs::is_directory(ruby, error)) continue;
    ruby_.push_back(ruby);
    for (const std::string& name : names_in(ruby)) {
      if (name.ends_with(".rb")) read_names(read_file(ruby + "/" + name, kLongestFacter).value_or(""));
    }
  }
}

void ModuleFacts::read_names(std::string_view code) {
  constexpr std::string_view kAdd = "Facter.add";
  for (std::size_t at = code.find(kAdd); at != std::string_view::npos; at = code.find(kAdd)) {
    code.remove_prefix(at + kAdd.size());
    std::size_t begin = std::min(code.find_first_not_of("( \t\n"), code.size());
    std::string_view name = code.substr(begin);
    char mark = name.empty() ? ' ' : name[0];
    if (mark != ':' && mark != '\'' && mark != '"') continue;
    name.remove_prefix(1);
    if (mark == ':' && name.starts_with('"')) name.remove_prefix(1), mark = '"';
    std::size_t end = mark == ':' ? std::find_if_not(name.begin(), name.end(), is_word) - name.begin()
                                  : std::min(name.find(mark), name.size());
    name = name.substr(0, end);
    if (std::size_t computed = name.find("#{"); mark == '"' && computed != std::string_view::npos)
      beginnings_.emplace_back(name.substr(0, computed));
    else
      names_.emplace(name);
  }
}

bool ModuleFacts::promises(std::string_view name) const {
  return names_.contains(name) || std::any_of(beginnings_.begin(), beginnings_.end(),
                                              [&](const std::string& b) { return !b.empty() && name.starts_with(b); });
}

std::optional<Val> ModuleFacts::ask_facter(Session& session, std::string_view name) const {
  if (!may_run_code()) {
    session.diagnostics
        .warning(std::string(kNeedsTrustCode), {},
                 "facts that modules bring in Ruby are not known: the project is not trusted to run code")
        .suggest(way_to_trust());
    return std::nullopt;
  }
  std::optional<std::string> ruby = ruby_program();
  auto cannot = [&](std::string_view why) {
    session.diagnostics.warning("PP-FACTS", {}, fmt::format("facts that modules bring in Ruby are not known: {}", why))
        .suggest("install ruby and facter, or give all facts with --facts");
    return std::nullopt;
  };
  if (!ruby) return cannot("ruby is not installed");
  std::vector<std::string> words = {*ruby, "-e", std::string(kScript), std::string(name)};
  words.insert(words.end(), ruby_.begin(), ruby_.end());
  Result<ProgramRun> run = run_program(words, "", false, [&] { session.budget.step(4096); });
  if (!run) return cannot(run.error().message);
  constexpr int kNoFacter = 3 << 8;
  if (run->status != 0) return cannot(run->status == kNoFacter ? "facter is not installed" : "facter failed");
  Result<const Source*> source = session.sources->add("facter", std::move(run->output));
  DataError wrong;
  std::optional<Val> facts = source ? read_json_data(**source, session.arena, wrong) : std::nullopt;
  if (!facts || !facts->is(VK::kHash)) return cannot("what facter said cannot be read");
  return facts;
}

Value with_module_facts(Session& session, const Value& facts, std::string_view modulepath) {
  std::vector<std::string> folders;
  while (!modulepath.empty()) {
    std::size_t end = std::min(modulepath.find(':'), modulepath.size());
    std::string path(modulepath.substr(0, end));
    for (const std::string& name : names_in(path)) folders.push_back(path + "/" + name);
    modulepath.remove_prefix(std::min(end + 1, modulepath.size()));
  }
  ModuleFacts modules(folders);
  MapDraft external;
  add_external_facts(session, modules.external(), external);
  std::vector<Entry> all(facts.entries().begin(), facts.entries().end());
  auto add = [&](Symbol name, const Value& value) {
    if (std::none_of(all.begin(), all.end(), [&](const Entry& e) { return e.key == name; }))
      all.push_back({name, Field::kPlain, value});
  };
  for (const Entry& e : external.entries()) add(e.key, e.value);
  // Facter gives the flat facts of old, too; whoever wants them has them already.
  std::set<std::string_view> flat;
  Value with_flat = gather_facts(session, true);
  for (const Entry& e : with_flat.entries()) flat.insert(e.key.text());
  if (std::optional<Val> given = modules.ask_facter(session, "")) {
    for (const Pair& p : given->entries()) {
      if (!flat.contains(p.key.text())) add(Symbol(p.key.text()), to_tree(session.builder(), p.value, {}));
    }
  }
  std::sort(all.begin(), all.end(), [](const Entry& a, const Entry& b) { return a.key.text() < b.key.text(); });
  return session.builder().map(all);
}

}  // namespace tutti::puppet
