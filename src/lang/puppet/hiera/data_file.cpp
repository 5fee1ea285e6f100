#include "lang/puppet/hiera/data_file.h"

#include <charconv>

#include "base/file.h"
#include "format/json.h"

namespace tutti::puppet {
namespace {

Val from_tree(const Value& v, Arena& arena) {
  Val out;
  switch (v.kind()) {
    case Kind::kBool: out = Val::boolean(v.as_bool()); break;
    case Kind::kInt:
      if (v.fits_i64()) {
        out = Val::integer(v.as_i64());
        break;
      }
      [[fallthrough]];
    case Kind::kDecimal: {
      std::string text = v.number_text();
      double d = 0;
      std::from_chars(text.data(), text.data() + text.size(), d);
      out = Val::real(d);
      break;
    }
    case Kind::kString: out = make_string(arena, v.text()); break;
    case Kind::kList: {
      std::vector<Val> items;
      for (const Value& item : v.items()) items.push_back(from_tree(item, arena));
      out = make_array(arena, items);
      break;
    }
    case Kind::kMap: {
      HashDraft draft;
      for (const Entry& e : v.entries()) draft.set(Val::string(e.key.text()), from_tree(e.value, arena));
      out = draft.build(arena);
      break;
    }
    default: break;
  }
  return out.with_origin(v.origin());
}

}  // namespace

std::optional<Val> read_json_data(const Source& source, Arena& arena, DataError& error) {
  Session session;
  std::optional<Value> value = read_json(session, source);
  if (!value) {
    const Diagnostic& first = session.diagnostics.all().front();
    error = {first.message, first.where};
    return std::nullopt;
  }
  return from_tree(*value, arena);
}

const DataFiles::File& DataFiles::get(const std::string& path, Format format) {
  std::lock_guard lock(mutex_);
  auto it = files_.find(path);
  if (it != files_.end()) return *it->second;
  auto file = std::make_unique<File>();
  Result<const Source*> source = sources_->open(path);
  if (source) {
    file->exists = true;
    file->data = format == Format::kYaml ? read_yaml(**source, arena_, file->error)
                                         : read_json_data(**source, arena_, file->error);
    if (file->data && file->data->undefined()) file->data = make_hash(arena_, {});
  } else if (source.error().code != ENOENT && source.error().code != ENOTDIR) {
    file->exists = true;
    file->error = {source.error().message, {}};
  }
  return *files_.emplace(path, std::move(file)).first->second;
}

}  // namespace tutti::puppet
