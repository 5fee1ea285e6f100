#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "lang/puppet/facts/parts.h"
#include "lang/puppet/facts/reading.h"

namespace fs = std::filesystem;

namespace tutti::puppet {
namespace {

std::optional<fs::path> first_ruby() {
  const char* path = std::getenv("PATH");
  std::string_view rest = path != nullptr ? path : "";
  while (!rest.empty()) {
    std::size_t end = std::min(rest.find(':'), rest.size());
    fs::path file = fs::path(rest.substr(0, end)) / "ruby";
    rest.remove_prefix(std::min(end + 1, rest.size()));
    std::error_code error;
    if (::access(file.c_str(), X_OK) != 0) continue;
    if (fs::path real = fs::canonical(file, error); !error) return real;
  }
  return std::nullopt;
}

// Where a Ruby says how it was made: PREFIX/lib/TRIPLET/ruby/3.1.0/rbconfig.rb, or PREFIX/lib/ruby/3.1.0/ARCH/. Of
// several the one whose version is in the program's name, or the newest.
std::string configuration_of(const fs::path& program) {
  std::string name = program.filename(), version = name.substr(std::min(name.find_first_of("0123456789"), name.size()));
  fs::path lib = program.parent_path().parent_path() / "lib";
  std::string found;
  auto consider = [&](const fs::path& file, std::string_view of) {
    std::error_code error;
    if (of.starts_with(version) && fs::exists(file, error)) found = file;
  };
  for (const std::string& triplet : names_in(lib))
    for (const std::string& of : names_in(lib / triplet / "ruby"))
      consider(lib / triplet / "ruby" / of / "rbconfig.rb", of);
  for (const std::string& of : names_in(lib / "ruby"))
    for (const std::string& arch : names_in(lib / "ruby" / of)) consider(lib / "ruby" / of / arch / "rbconfig.rb", of);
  return found;
}

// CONFIG["name"] = "text", where $(other) stands for another one.
std::string configured(std::string_view text, std::string_view name, int depth = 0) {
  if (depth > 10 || name == "DESTDIR") return {};
  std::size_t at = text.find(fmt::format("CONFIG[\"{}\"] = ", name));
  if (at == std::string_view::npos) return {};
  std::string_view line = text.substr(at, text.find('\n', at) - at);
  line.remove_prefix(line.find('=') + 1);
  std::size_t open = line.find('"'), close = line.rfind('"');
  if (open == close) return {};
  line = line.substr(open + 1, close - open - 1);
  std::string out;
  while (!line.empty()) {
    std::size_t begin = line.find("$("), end = line.find(')', std::min(begin, line.size()));
    out += line.substr(0, begin);
    if (begin == std::string_view::npos || end == std::string_view::npos) break;
    out += configured(text, line.substr(begin + 2, end - begin - 2), depth + 1);
    line.remove_prefix(end + 1);
  }
  return out;
}

}  // namespace

std::optional<std::string> ruby_program() {
  std::optional<fs::path> found = first_ruby();
  return found ? std::optional(found->string()) : std::nullopt;
}

std::optional<Value> ruby_facts(const TreeBuilder& build) {
  std::optional<fs::path> program = first_ruby();
  if (!program) return std::nullopt;
  std::string text = slurp(configuration_of(*program));
  if (text.empty()) return std::nullopt;
  MapDraft map;
  map.set(Symbol("platform"), build.string(configured(text, "arch")));
  map.set(Symbol("sitedir"), build.string(configured(text, "sitelibdir")));
  map.set(Symbol("version"), build.string(fmt::format("{}.{}.{}", configured(text, "MAJOR"), configured(text, "MINOR"),
                                                      configured(text, "TEENY"))));
  return map.build(build);
}

}  // namespace tutti::puppet
