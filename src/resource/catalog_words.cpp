// What catalogs have in common with those who read them elsewhere: their values, their resources, how a place is told.
#include <fmt/format.h>

#include <cctype>
#include <filesystem>

#include "resource/catalog.h"
#include "resource/provider.h"
#include "tree/secret.h"
#include "tree/secret_mark.h"

namespace tutti::resource {

Value plain_data(const Value& v, const TreeBuilder& b) {
  auto kept = [&](const Value& now) { return secret_like(now, v); };
  if (v.is(Kind::kResource)) return kept(b.string(fmt::format("{}[{}]", v.tag().text(), v.text()), v.origin()));
  if (v.is(Kind::kList)) {
    std::vector<Value> items;
    for (const Value& i : v.items()) items.push_back(plain_data(i, b));
    return kept(b.list(items, v.origin()));
  }
  if (!v.is(Kind::kMap)) return v;
  if (const Entry* t = v.find("__ptype")) {
    const Entry* inner = v.find("__pvalue");
    if (t->value.text() == "Sensitive" && inner) return secret_throughout(plain_data(inner->value, b), b);
    if (t->value.text() == "Deferred") return v;
    if (inner) return kept(plain_data(inner->value, b));
  }
  std::vector<Entry> entries;
  for (const Entry& e : v.entries()) entries.push_back({e.key, e.field, plain_data(e.value, b)});
  return kept(b.map(entries, v.origin()));
}

std::string place_text(const Sources& sources, Pos at) {
  const Source* source = sources.find(at);
  if (!source) return "";
  std::string where = sources.show(at);
  std::size_t column = where.rfind(':'), start = where.rfind(':', column - 1) + 1;
  std::string line = where.substr(start, column - start);
  if (source->path.empty() || source->path == "-") return fmt::format(" (line: {})", line);
  return fmt::format(" (file: {}, line: {})", std::filesystem::absolute(source->path).string(), line);
}

std::optional<Resource> resource_of(const Value& config) {
  const Entry *type = config.find("type"), *title = config.find("title"), *parameters = config.find("parameters");
  if (!type || !title || !parameters) return std::nullopt;
  std::string word(type->value.text());
  if (word == "begin" || word == "end" || word == "watch") return std::nullopt;
  for (char& c : word) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return Resource{word, std::string(title->value.text()), parameters->value};
}

std::string managed_as(const Resource& r) {
  Params p(r.parameters);
  if (r.type != "file") return fmt::format("{}:{}", r.type, p.text("name", r.title));
  std::string path = p.text("path", r.title);
  if (path.starts_with('/')) path = std::filesystem::path(path).lexically_normal().string();
  while (path.size() > 1 && path.ends_with('/')) path.pop_back();
  return path;
}

bool is_catalog(const Value& root) {
  const Entry* r = root.is(Kind::kMap) ? root.find("resources") : nullptr;
  return r && (r->value.is(Kind::kMap) || r->value.is(Kind::kList)) && root.find("edges");
}

}  // namespace tutti::resource
