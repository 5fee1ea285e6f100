#include "lang/puppet/catalog/named_path.h"

#include <fmt/format.h>

#include <vector>

#include "base/near.h"
#include "lang/puppet/types/type.h"

namespace tutti::puppet {
namespace {

std::string_view nearest_key(const Value& map, std::string_view name) {
  std::vector<std::string_view> names;
  for (const Entry& e : map.entries()) names.push_back(e.key.text());
  return nearest(name, names);
}

// A name in two: the resource's key in the catalog, and what of it is asked for, which may be nothing.
struct Split {
  std::string resource;
  std::string_view rest;
  bool as_variable = false;  // written apache::port
};

std::string reference(std::string_view type, std::string_view title) {
  std::string capital = capitalize_segments(type);
  return fmt::format("{}[{}]", capital, capital == "Class" ? capitalize_segments(title) : std::string(title));
}

// Titles may hold brackets, so the last one that makes the key of a resource ends it, or else the last of all.
std::optional<Split> split_reference(const Value& resources, std::string_view text) {
  std::size_t open = text.find('[');
  if (open == 0 || open == std::string_view::npos) return std::nullopt;
  std::optional<Split> otherwise;
  for (std::size_t close = text.rfind(']'); close != std::string_view::npos && close > open + 1;
       close = text.rfind(']', close - 1)) {
    std::string_view title = text.substr(open + 1, close - open - 1);
    if (title.size() > 1 && (title[0] == '\'' || title[0] == '"') && title.back() == title[0])
      title = title.substr(1, title.size() - 2);
    Split s{reference(text.substr(0, open), title), text.substr(close + 1)};
    if (resources.find(s.resource) != nullptr) return s;
    if (!otherwise || s.rest.starts_with('[')) otherwise = s;
  }
  return otherwise;
}

std::optional<Split> split(const Value& resources, std::string_view text) {
  if (text.starts_with('$')) text.remove_prefix(1);
  if (text.starts_with("::")) text.remove_prefix(2);
  std::optional<Split> by_reference = split_reference(resources, text);
  if (by_reference && resources.find(by_reference->resource) != nullptr) return by_reference;
  std::string whole = reference("Class", text);
  if (resources.find(whole) != nullptr) return Split{whole, {}};
  std::size_t colons = text.substr(0, text.find_first_of(".[")).rfind("::");
  if (colons == std::string_view::npos) return by_reference;
  Split by_variable{reference("Class", text.substr(0, colons)), text.substr(colons + 2), true};
  return by_reference && resources.find(by_variable.resource) == nullptr ? by_reference : by_variable;
}

}  // namespace

std::optional<Language::NamedPath> named_path(const Value& catalog, std::string_view text) {
  const Entry* resources = catalog.is(Kind::kMap) ? catalog.find("resources") : nullptr;
  if (resources == nullptr || !resources->value.is(Kind::kMap)) return std::nullopt;
  std::optional<Split> name = split(resources->value, text);
  if (!name) return std::nullopt;
  Language::NamedPath out;
  const Entry* resource = resources->value.find(name->resource);
  if (resource == nullptr) {
    out.wrong = fmt::format("there is no {} in the catalog", name->resource);
    out.near = nearest_key(resources->value, name->resource);
    if (name->as_variable && out.near.starts_with("Class[")) {
      std::string_view title = std::string_view(out.near).substr(6, out.near.size() - 7);
      out.near = fmt::format("{}::{}", title, name->rest);
      for (char& c : out.near) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    }
    return out;
  }
  out.path.push(resources->key);
  out.path.push(resource->key);
  std::string rest(name->rest);
  if (rest.starts_with('/') || rest.starts_with('.')) rest.erase(0, 1);
  if (rest.starts_with('[') && rest.ends_with(']')) rest = rest.substr(1, rest.size() - 2);
  if (rest.empty()) return out;
  std::optional<Path> inner = Path::parse(rest);
  if (!inner) return std::nullopt;
  const Entry* parameters = resource->value.find("parameters");
  Symbol first = inner->steps().front().key;
  if (parameters != nullptr && parameters->value.find(first) != nullptr) {
    out.path.push(parameters->key);
  } else if (resource->value.find(first) == nullptr) {
    out.path = {};
    out.wrong = fmt::format("{} has no parameter `{}`", name->resource, first.text());
    if (std::string_view near = parameters == nullptr ? "" : nearest_key(parameters->value, first.text());
        !near.empty())
      out.near = fmt::format("{}/{}", name->resource, near);
    return out;
  }
  for (const Path::Step& step : inner->steps()) {
    if (step.is_key())
      out.path.push(step.key);
    else
      out.path.push(step.index);
  }
  return out;
}

}  // namespace tutti::puppet
