#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tree/value.h"

namespace tutti::model {

// Looks up what is between `${` and `}`: "config.port", "uses.db.address". nullopt: there is none.
using Lookup = std::function<std::optional<Value>(std::string_view path)>;

// A value with every `${path}` in its texts and keys replaced. A text that is one `${path}` and nothing else becomes
// the value itself, whatever its kind; in a longer text scalars are put in as text, the items of a
// list and the keys of a map with spaces between them. `${path|words}` gives the words
// where there is nothing.
// `$${` is a plain `${`. A key `...` (three dots or more) puts the entries of its map in its place. Parameters that
// become nothing are left out of their map. Secrets stay secret, and make secret whatever they are put into. Lazy
// values (kLazy) are looked up by their name too. `missing`, when given, gets the first path that had no value and no
// words.
// What an output leaves in a text as it is, and with `of_settings` what any value does that is no plain word for a
// shell, is marked (tree/raw_mark.h).
Value expand(const Value& value, const Lookup& lookup, const TreeBuilder& builder, std::string* missing = nullptr,
             bool of_settings = false);

// All the paths in it that have no value and no words, each once.
std::vector<std::string> missing_in(const Value& value, const Lookup& lookup, const TreeBuilder& builder);

// Where a text says `${path}`, by the beginning of that; npos where it does not.
std::size_t find_reference(std::string_view text, std::string_view path);

// The first `${` of a text that has no `}` or nothing in it.
struct Unfinished {
  std::size_t at = 0;
  bool empty = false;
};
std::optional<Unfinished> unfinished_in(std::string_view text);

// As `expand`, but what cannot be found stays as it is written: for what is known before anything runs.
Value expand_known(const Value& value, const Lookup& lookup, const TreeBuilder& builder);

// A value with other paths: `path` gives what is to stand for one. Nothing is looked up.
Value with_paths(const Value& value, const std::function<std::string(std::string_view path)>& path,
                 const TreeBuilder& builder);

// Whether a path is one of the words for what a component itself is, which no other can change.
bool is_own_word(std::string_view path);

// Whether anything is left to be replaced in it.
bool has_placeholders(const Value& value);

// The value at a dotted path inside a tree; map keys and list positions.
std::optional<Value> at_path(const Value& root, std::string_view path);

}  // namespace tutti::model
