#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "resource/provider.h"
#include "transport/host.h"

// The parts of the provider of files, directories and links (file.cpp): what one path should be becomes a step with
// what differs there (compare.cpp), of a directory that is filled a step for each path below it (children.cpp), and
// each step is made (make.cpp) after what was there is kept (keep.cpp), so that it can be put back.
namespace tutti::resource {

using FileKind = FileState::Kind;

// What one path should be, worked out from the parameters and, for `source`, from the source itself.
struct WantedFile {
  std::string path;
  enum class Ensure { kUnset, kAbsent, kPresent, kFile, kDirectory, kLink } ensure = Ensure::kUnset;
  std::optional<std::string> content;
  bool secret = false;
  std::string target, mode, owner, group;
  bool child = false;  // made by recursion
};

struct FileStep {
  WantedFile want;
  FileState is;
  std::vector<Change> changes;
};

struct FileFindings {
  std::vector<FileStep> steps;
};

// A directory that another one is filled from: on the host itself, or on this machine.
struct FileOrigin {
  Host* host;
  std::string path;
};

std::string path_of(const Resource& r);
std::string parent_of(const std::string& path);
std::string_view kind_text(FileKind k);
std::string time_text(i64 seconds);  // as Puppet shows times

// What the parameters say of the path itself.
WantedFile wanted_file(const Params& p, const Resource& r);
// With `source_permissions` owner, group and mode that are not said come from the source.
Result<void> take_permissions(Context& c, const FileState& source, WantedFile& want);

// How digests are shown. What `checksum` may say beyond these is about when Puppet looks; here contents are compared.
std::string digest_word(const Context& c);
std::string digest_of(std::string word, std::string_view bytes);

// What differs between a path as it is and as it should be.
Result<FileStep> compare_file(Context& c, WantedFile want);
// The same for all paths below a directory: those that the sources have, and with `purge` those that only it has.
Result<void> compare_children(Context& c, const WantedFile& root, const std::vector<FileOrigin>& sources, int depth,
                              std::vector<FileStep>& steps);
// Makes what a step says, adding each change to `done` once it is made.
Result<void> make_file(Context& c, const FileStep& step, std::vector<Change>& done);

// Before something goes: a copy beside it (`backup => '.old'`) or, by its digest, in our own directory; of a directory
// all files in it.
Result<void> keep_file(Context& c, const std::string& path, const FileState& is);
// What there was, for the record: a link, or a file with its content, in place of which something else is to come, or
// which is to be otherwise; of a directory that stays one its mode and owner.
Result<Former> former_file(Context& c, const Findings& f);
// Whether it is again as it was before, by what `former_file` said, and making it so.
Result<Findings> examine_former_file(Context& c, const Params& former);
Result<void> restore_file(Context& c, const Params& former, const FileState& is);

}  // namespace tutti::resource
