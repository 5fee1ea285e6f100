#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tree/value.h"

namespace tutti::resource {

// Parameters as the languages give them: a number may come as text, a truth as 'true', a list as its only item.
class Params {
 public:
  explicit Params(const Value& map) : map_(map) {}

  const Value* find(std::string_view name) const;  // nullptr when absent or null
  bool has(std::string_view name) const { return find(name) != nullptr; }
  std::string text(std::string_view name, std::string_view otherwise = "") const;
  std::optional<std::string> maybe(std::string_view name) const;
  bool truth(std::string_view name, bool otherwise = false) const;
  double number(std::string_view name, double otherwise) const;
  std::vector<std::string> list(std::string_view name) const;  // one item for a scalar
  const Value& value() const { return map_; }

 private:
  const Value& map_;
};

std::string text_of(const Value& v);  // a scalar as text; lists joined by spaces
bool truth_of(const Value& v, bool otherwise);

}  // namespace tutti::resource
