// What the arguments of a command name: packages, and files with or without a type.
#include <fmt/format.h>

#include "lang/cue/cli/plan.h"

namespace tutti::cue {

namespace {

// `json:`, `yaml+jsonschema:`: the type before the colon, unless that is the beginning of a path.
std::optional<std::pair<std::string, std::string>> typed(const std::string& argument) {
  std::size_t colon = argument.find(':');
  if (colon == std::string::npos || colon == 0 || argument.find_first_of("/.\\") < colon) return std::nullopt;
  return std::pair{argument.substr(0, colon), argument.substr(colon + 1)};
}

}  // namespace

// A type is for all files after it, and must have one.
bool parse_file_args(const std::vector<std::string>& args, std::vector<std::string>& packages,
                     std::vector<DataFile>& files, std::string& error) {
  std::string lasting;
  bool waiting = false;  // the lasting type has no file yet
  for (const std::string& a : args) {
    if (!waiting && is_package_arg(a)) {
      packages.push_back(a);
      continue;
    }
    std::string type = lasting, path = a;
    if (auto t = typed(a)) {
      std::tie(type, path) = *t;
      if (!path.empty()) {
        error = fmt::format("cannot combine file type and file name; did you mean \"{}: {}\"?", type, path);
        return false;
      }
    }
    if (path.empty()) {
      if (!data_file("-", type, error)) return false;  // is it a type at all?
      lasting = type;
      waiting = true;
      continue;
    }
    waiting = false;
    std::optional<DataFile> file = data_file(path, type, error);
    if (!file) return false;
    files.push_back(std::move(*file));
  }
  if (waiting) error = fmt::format("scoped qualifier \"{}:\" without file", lasting);
  return !waiting;
}

// --out and --outfile, each `type`, `type:file` or `file`, made one.
std::optional<DataFile> output_file(const std::string& out, const std::string& outfile, const char* otherwise,
                                    std::string& error) {
  std::string type = out, path = outfile;
  if (out.find(':') != std::string::npos && outfile.find(':') != std::string::npos) {
    error = "cannot specify qualifier in both --out and --outfile";
    return std::nullopt;
  }
  if (std::size_t colon = path.find(':'); colon != std::string::npos && colon > 0) {
    type = path.substr(0, colon);
    path.erase(0, colon + 1);
  } else if (std::size_t at = type.find(':'); at != std::string::npos) {
    if (at + 1 < type.size()) path = type.substr(at + 1);
    type.resize(at);
  }
  if (path.empty()) path = "-";
  if (type.empty() && path == "-") type = otherwise;
  std::optional<DataFile> file = data_file(path, type, error);
  if (file && file->interpretation == "auto") file->interpretation.clear();
  return file;
}

}  // namespace tutti::cue
