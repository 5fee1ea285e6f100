#pragma once

#include <fmt/format.h>

#include "base/near.h"
#include "model/component.h"
#include "tree/session.h"

namespace tutti::model {

// What all readers of trees need: where a value was written, and complaints about its kind.
class Reader {
 public:
  explicit Reader(Session& session) : session_(session) {}

  Pos at(const Value& v) const { return session_.origins.nearest(v.origin()); }
  Diagnostic& error(std::string code, const Value& v, std::string message) {
    return session_.diagnostics.error(std::move(code), at(v), std::move(message));
  }
  bool wants(const Value& v, Kind kind, std::string_view what) {
    if (v.is(kind)) return true;
    error("MODEL-KIND", v, fmt::format("{} must be a {}, not {}", what, kind_word(kind), kind_word(v.kind())));
    return false;
  }
  std::optional<Named> name(const Value& v, std::string_view what) {
    if (v.is(Kind::kString) || v.is(Kind::kReference) || v.is(Kind::kLazy)) return Named{Symbol(v.text()), at(v)};
    if (v.is(Kind::kInt)) return Named{Symbol(v.number_text()), at(v)};
    wants(v, Kind::kString, what);
    return std::nullopt;
  }
  // One name or a list of them.
  std::vector<Named> names(const Value& v, std::string_view what) {
    std::vector<Named> out;
    if (v.is(Kind::kList)) {
      for (const Value& item : v.items())
        if (auto n = name(item, what)) out.push_back(*n);
    } else if (v.is(Kind::kMap)) {
      for (const Entry& e : v.entries()) out.push_back({e.key, at(e.value)});
    } else if (auto n = name(v, what)) {
      out.push_back(*n);
    }
    return out;
  }
  std::optional<double> number(const Value& v, std::string_view what);
  // The first of several spellings that is there.
  static const Value* find(const Value& map, std::initializer_list<std::string_view> keys) {
    for (std::string_view k : keys)
      if (const Entry* e = map.find(k)) return &e->value;
    return nullptr;
  }
  // Where a key is that has something on later lines, such as a map that begins with its first key; else its value.
  Pos key_at(const Entry& e) const;
  void check_keys(const Value& map, std::span<const std::string_view> known, std::string_view what);

 protected:
  Session& session_;
};

}  // namespace tutti::model
