#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "tree/value.h"

namespace tutti {

// The way to a value from the root: keys and list positions. One written form everywhere: `a.b[0]."odd key".c`; keys
// that are not plain words (letters, digits, _, -, $, #, not starting with a digit or -) are quoted as JSON strings;
// the root is `.`.
class Path {
 public:
  struct Step {
    Symbol key;  // empty for a list position, unless `index` is kKey
    u32 index = kKey;
    static constexpr u32 kKey = 0xFFFFFFFF;
    bool is_key() const { return index == kKey; }
    friend bool operator==(const Step&, const Step&) = default;
  };

  Path() = default;
  static std::optional<Path> parse(std::string_view text);

  void push(Symbol key) { steps_.push_back({key, Step::kKey}); }
  void push(u32 index) { steps_.push_back({{}, index}); }
  void pop() { steps_.pop_back(); }
  bool empty() const { return steps_.empty(); }
  std::size_t size() const { return steps_.size(); }
  const std::vector<Step>& steps() const { return steps_; }
  std::string text() const;
  friend bool operator==(const Path&, const Path&) = default;

 private:
  std::vector<Step> steps_;
};

void append_path_key(std::string& out, std::string_view key, bool first);

// The value at the path, or nullptr.
const Value* find(const Value& root, const Path& path);

}  // namespace tutti
