#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <filesystem>

#include "base/boundary.h"
#include "base/file.h"
#include "lang/puppet/catalog/output.h"
#include "lang/puppet/facts/parts.h"
#include "lang/puppet/facts/reading.h"
#include "lang/puppet/hiera/data_file.h"
#include "lang/puppet/run_program.h"

extern char** environ;  // NOLINT: POSIX declares it nowhere

namespace fs = std::filesystem;

namespace tutti::puppet {
namespace {

constexpr u64 kLongestFacts = u64{1} << 20;

Symbol fact_name(std::string_view name) {
  std::string plain(name);
  for (char& c : plain) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return Symbol(plain);
}

class ExternalFacts {
 public:
  explicit ExternalFacts(Session& session) : session_(session), build_(session.builder()) {}

  // As facter does: the files from the last name to the first, and who says a thing first has said it.
  void folder(const std::string& folder) {
    std::vector<std::string> names = names_in(folder);
    for (auto name = names.rbegin(); name != names.rend(); ++name) {
      if (!name->starts_with('.')) file(folder + "/" + *name);
    }
  }

  void environment() {
    for (char** at = environ; *at != nullptr; at++) {
      std::string_view text = *at;
      std::size_t equals = text.find('=');
      constexpr std::string_view kBegin = "FACTER_";
      if (text.starts_with(kBegin) && equals != std::string_view::npos && equals > kBegin.size())
        found_.set(fact_name(text.substr(kBegin.size(), equals - kBegin.size())),
                   build_.string(text.substr(equals + 1)));
    }
  }

  const MapDraft& found() const { return found_; }

 private:
  void file(const std::string& path) {
    std::error_code error;
    if (!fs::is_regular_file(path, error)) return;
    std::string extension = fs::path(path).extension();
    if (extension == ".txt") return lines(read_file(path, kLongestFacts).value_or(""));
    if (extension == ".yaml" || extension == ".json") {
      if (const Source* source = session_.open(path)) data(*source, extension == ".json", true);
      return;
    }
    if (::access(path.c_str(), X_OK) == 0) program(path);
  }

  void program(const std::string& path) {
    if (!may_run_code()) {
      session_.diagnostics
          .warning(
              std::string(kNeedsTrustCode), {},
              fmt::format("the facts of the program {} are not known: the project is not trusted to run code", path))
          .suggest(way_to_trust());
      return;
    }
    std::string words[] = {path};
    Result<ProgramRun> run = run_program(words, "", false, [&] { session_.budget.step(4096); });
    if (!run) {
      session_.diagnostics.warning("PP-FACTS", {}, run.error().message);
      return;
    }
    std::string output = run->output;
    Result<const Source*> source = session_.sources->add(path, std::move(run->output));
    if (source && !data(**source, false, false)) lines(output);
  }

  // name=value, one a line.
  void lines(std::string_view text) {
    each_line(text, [&](std::string_view line) {
      std::size_t equals = line.find('=', 1);
      if (line.ends_with('\r')) line.remove_suffix(1);
      if (equals < line.size() && equals + 1 < line.size())
        add(line.substr(0, equals), build_.string(line.substr(equals + 1)));
    });
  }

  bool data(const Source& source, bool json, bool tell) {
    DataError wrong;
    std::optional<Val> read =
        json ? read_json_data(source, session_.arena, wrong) : read_yaml(source, session_.arena, wrong, Dates::kText);
    if (!read && tell) session_.diagnostics.warning("PP-FACTS", wrong.where, wrong.message);
    if (!read || !read->is(VK::kHash)) return false;
    for (const Pair& p : read->entries()) {
      if (p.key.is(VK::kString)) add(p.key.text(), to_tree(build_, p.value, {}));
    }
    return true;
  }

  void add(std::string_view name, const Value& value) {
    Symbol key = fact_name(name);
    if (found_.find(key) == nullptr) found_.set(key, value);
  }

  Session& session_;
  TreeBuilder build_;
  MapDraft found_;
};

}  // namespace

void add_external_facts(Session& session, std::span<const std::string> folders, MapDraft& facts) {
  ExternalFacts external(session);
  external.environment();
  for (const std::string& folder : folders) external.folder(folder);
  // The machine's own, which no configuration can name.
  auto own_folder = [&](const std::string& folder) {
    if (Boundary* boundary = Boundary::in_force()) boundary->add_root(folder);
    external.folder(folder);
  };
  const char* home = std::getenv("HOME");
  if (::geteuid() == 0) {
    for (const char* folder :
         {"/etc/facter/facts.d", "/etc/puppetlabs/facter/facts.d", "/opt/puppetlabs/facter/facts.d"})
      own_folder(folder);
  } else if (home != nullptr) {
    for (const char* folder : {".facter/facts.d", ".puppetlabs/opt/facter/facts.d"})
      own_folder(fmt::format("{}/{}", home, folder));
  }
  for (const Entry& e : external.found().entries()) facts.set(e.key, e.value);
}

}  // namespace tutti::puppet
