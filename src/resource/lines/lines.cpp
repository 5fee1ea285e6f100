#include "resource/lines/lines.h"

#include <algorithm>

#include "resource/text_file.h"

namespace tutti::resource {

std::vector<std::string> fields_of(std::string_view line) {
  std::vector<std::string> out;
  for (std::size_t at = 0; at < line.size();) {
    std::size_t end = line.find_first_of(" \t", at);
    if (end == std::string_view::npos) end = line.size();
    if (end > at) out.emplace_back(line.substr(at, end - at));
    at = end + 1;
  }
  return out;
}

Resource absent(std::string_view type, std::string title, Arena& arena, std::vector<Entry> more) {
  more.push_back({Symbol("ensure"), Field::kPlain, Value::string("absent")});
  return {std::string(type), std::move(title), TreeBuilder(arena).map(more)};
}

Result<std::optional<std::vector<Resource>>> entries_of(Context& c, std::string_view type, const std::string& path,
                                                        Arena& arena) {
  auto lines = read_text(c, path, kOwnersAlone);
  if (!lines) return tl::unexpected(lines.error());
  std::vector<Resource> out;
  for (auto& line : lines->lines)
    if (auto fields = fields_of(data_of(line)); fields.size() >= 2 && (type != "mount" || fields[1].starts_with("/")))
      out.push_back(absent(type, fields[1], arena));
  return out;
}

bool given_any(const Params& p, std::initializer_list<std::string_view> properties) {
  return std::any_of(properties.begin(), properties.end(), [&](auto name) { return p.has(name); });
}

}  // namespace tutti::resource
