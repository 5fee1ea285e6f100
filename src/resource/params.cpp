#include "resource/params.h"

#include <fmt/format.h>

#include <cstdlib>

namespace tutti::resource {

std::string text_of(const Value& v) {
  switch (v.kind()) {
    case Kind::kNull: return "";
    case Kind::kBool: return v.as_bool() ? "true" : "false";
    case Kind::kInt:
    case Kind::kDecimal: return v.number_text();
    case Kind::kList: {
      std::string out;
      for (const Value& item : v.items()) {
        if (!out.empty()) out += ' ';
        out += text_of(item);
      }
      return out;
    }
    case Kind::kMap: {
      // a reference as it is written down in a record (format/json.h)
      const Entry* to = v.find("$resource");
      if (!to || !to->value.is(Kind::kMap)) return "";
      const Entry *type = to->value.find("type"), *title = to->value.find("title");
      return type && title ? fmt::format("{}[{}]", text_of(type->value), text_of(title->value)) : "";
    }
    default: return std::string(v.text());
  }
}

bool truth_of(const Value& v, bool otherwise) {
  if (v.is(Kind::kBool)) return v.as_bool();
  if (!v.is(Kind::kString)) return otherwise;
  std::string_view t = v.text();
  if (t == "true" || t == "yes") return true;
  if (t == "false" || t == "no") return false;
  return otherwise;
}

const Value* Params::find(std::string_view name) const {
  const Entry* e = map_.find(name);
  return e && !e->value.is(Kind::kNull) ? &e->value : nullptr;
}

std::string Params::text(std::string_view name, std::string_view otherwise) const {
  const Value* v = find(name);
  return v ? text_of(*v) : std::string(otherwise);
}

std::optional<std::string> Params::maybe(std::string_view name) const {
  const Value* v = find(name);
  if (!v) return std::nullopt;
  return text_of(*v);
}

bool Params::truth(std::string_view name, bool otherwise) const {
  const Value* v = find(name);
  return v ? truth_of(*v, otherwise) : otherwise;
}

double Params::number(std::string_view name, double otherwise) const {
  const Value* v = find(name);
  if (!v) return otherwise;
  std::string t = text_of(*v);
  char* end = nullptr;
  double d = std::strtod(t.c_str(), &end);
  return end == t.c_str() ? otherwise : d;
}

std::vector<std::string> Params::list(std::string_view name) const {
  std::vector<std::string> out;
  const Value* v = find(name);
  if (!v) return out;
  if (v->is(Kind::kList))
    for (const Value& item : v->items()) out.push_back(text_of(item));
  else
    out.push_back(text_of(*v));
  return out;
}

}  // namespace tutti::resource
