#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

namespace tutti::cue {

struct FlagSpec {
  std::string_view name;
  char letter = 0;
  enum Kind { kBool, kString, kStrings } kind = kBool;
  std::string_view help = "";
  std::string_view initial = "";
};

// The flags of one call, read as cue reads them: -abc, -o FILE, -oFILE, --out=x, --, flags after arguments too.
class CommandFlags {
 public:
  // False with `error` for an unknown flag or a missing value.
  bool parse(std::span<const std::string> args, std::span<const FlagSpec> specs, std::string& error);

  bool on(std::string_view name) const;
  bool given(std::string_view name) const { return values_.find(name) != values_.end(); }
  std::string text(std::string_view name) const;
  std::vector<std::string> all(std::string_view name) const;
  const auto& given() const { return values_; }
  const std::vector<std::string>& arguments() const { return arguments_; }
  std::vector<std::string>& arguments() { return arguments_; }

 private:
  std::map<std::string, std::vector<std::string>, std::less<>> values_;
  std::map<std::string, std::string, std::less<>> initial_;
  std::vector<std::string> arguments_;
};

struct CommandSpec {
  std::string_view name, usage, summary;
  std::span<const FlagSpec> flags;
};
std::span<const CommandSpec> commands();
const CommandSpec* find_command(std::string_view name);
std::span<const FlagSpec> global_flags();

}  // namespace tutti::cue
