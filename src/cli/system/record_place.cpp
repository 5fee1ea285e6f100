#include "cli/system/record_place.h"

#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <optional>

#include "base/file.h"

namespace tutti {
namespace {

namespace fs = std::filesystem;

constexpr const char* kRecord = ".tutti";

// Anybody could put a record there for others to find.
bool is_everybodys(const fs::path& directory) {
  struct stat s {};
  return ::stat(directory.c_str(), &s) == 0 && (s.st_mode & S_IWOTH) != 0;
}

bool is_mine(const fs::path& file) {
  struct stat s {};
  return ::stat(file.c_str(), &s) == 0 && s.st_uid == ::geteuid();
}

// The directory that has a record: this one, or the nearest above it.
std::optional<fs::path> upwards(const fs::path& from) {
  std::error_code none;
  for (fs::path at = from;; at = at.parent_path()) {
    bool there = fs::exists(at / kRecord, none);
    if (there && (at == from || (is_mine(at / kRecord) && !is_everybodys(at)))) return at;
    if (at == at.parent_path()) return std::nullopt;
  }
}

bool is_in(const fs::path& directory, const fs::path& above) {
  fs::path between = directory.lexically_relative(above);
  return !between.empty() && *between.begin() != "..";
}

// The directory of the first file that the call names.
std::optional<fs::path> of_configuration(const Call& call, const fs::path& here) {
  std::error_code none;
  for (const std::string& argument : call.arguments)
    if (fs::is_regular_file(argument, none)) return (here / argument).lexically_normal().parent_path();
  return std::nullopt;
}

bool is_elsewhere(const std::string& record) { return fs::path(record).filename() != kRecord; }
std::string memory_of(const std::string& record) { return record + "/project"; }

}  // namespace

std::string project_directory(const Call& call, const std::string& record) {
  std::error_code none;
  if (is_elsewhere(record)) {
    if (auto beside = of_configuration(call, fs::current_path(none))) return beside->string();
    if (auto remembered = read_own_file(memory_of(record), 4096)) return *remembered;
  }
  return fs::path(record).parent_path().string();
}

void remember_project(const Call& call, const std::string& record) {
  std::string directory = project_directory(call, record);
  auto known = read_own_file(memory_of(record), 4096);
  if (!is_elsewhere(record) || (known && *known == directory)) return;
  // Where that is impossible the run itself says what is wrong with the record.
  [[maybe_unused]] auto written = write_file_atomically(memory_of(record), directory);
}

std::string record_directory(const Call& call, bool* above) {
  if (call.options.has("state")) return call.options.get("state");
  std::error_code none;
  fs::path here = fs::current_path(none);
  if (none) return kRecord;
  auto named = [&](const fs::path& directory) {
    return directory == here ? std::string(kRecord) : (directory / kRecord).string();
  };
  std::optional<fs::path> beside = of_configuration(call, here);
  for (const auto& start : {beside, std::optional(here)})
    if (auto found = start ? upwards(*start) : std::nullopt) {
      if (above) *above = *found != *start && *found != here;
      return named(*found);
    }
  bool elsewhere = beside && !is_in(*beside, here) && !is_everybodys(*beside) && ::access(beside->c_str(), W_OK) == 0;
  return named(elsewhere ? *beside : here);
}

}  // namespace tutti
