#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lang/common/language.h"

namespace tutti {

// The languages a program knows. Small enough to be searched in order.
class Languages {
 public:
  explicit Languages(std::vector<const Language*> all) : all_(std::move(all)) {}

  std::span<const Language* const> all() const { return all_; }
  const Language* named(std::string_view name) const;         // by name, or by extension without the dot
  const Language* for_file(std::string_view path) const;      // by extension, the longest that fits
  const Language* for_folder(const std::string& path) const;  // that reads all of it

 private:
  std::vector<const Language*> all_;
};

// The files of a call that belong to one language.
struct Part {
  const Language* language = nullptr;
  std::vector<std::string> files;
};

// Which language reads which file. A language that takes data gets the data files too, so that they are evaluated
// together; otherwise each language reads its own. `lang` overrides what the extensions say; with `-` among
// the files it tells only what has no extension. Empty when something is
// wrong, which is then in the diagnostics.
std::vector<Part> parts_of(Session& session, const Languages& languages, std::span<const std::string> files,
                           std::string_view lang);

// The tree of all parts: of one part its own, of several their documents.
std::optional<Value> evaluate(Session& session, std::span<const Part> parts, const Options& options, bool concrete,
                              std::string_view output = {});

}  // namespace tutti
