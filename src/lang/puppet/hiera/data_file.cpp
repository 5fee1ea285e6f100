#include "lang/puppet/hiera/data_file.h"

#include <charconv>

#include "base/file.h"
#include "format/json.h"
#include "lang/puppet/catalog/output.h"

namespace tutti::puppet {
std::optional<Val> read_json_data(const Source& source, Arena& arena, DataError& error) {
  Session session;
  std::optional<Value> value = read_lax_json(session, source);
  if (!value) {
    const Diagnostic& first = session.diagnostics.all().front();
    error = {first.message, first.where};
    return std::nullopt;
  }
  return from_tree(arena, *value);
}

const DataFiles::File& DataFiles::get(const std::string& path, Format format) {
  std::lock_guard lock(mutex_);
  auto it = files_.find(path);
  if (it != files_.end()) return *it->second;
  auto file = std::make_unique<File>();
  Result<const Source*> source = sources_->open(path);
  if (source) {
    file->exists = true;
    file->data = format == Format::kYaml ? read_yaml(**source, arena_, file->error, Dates::kRefused, &file->odd_keys)
                                         : read_json_data(**source, arena_, file->error);
  } else if (source.error().code != ENOENT && source.error().code != ENOTDIR) {
    file->exists = true;
    file->error = {source.error().message, {}};
  }
  return *files_.emplace(path, std::move(file)).first->second;
}

}  // namespace tutti::puppet
