#pragma once

#include <span>
#include <string>
#include <string_view>

#include "resource/provider.h"

namespace tutti::resource {

// A property's value as it is shown: texts in quotes, numbers and lists without, or that there is none.
struct Shown {
  std::string text;
  bool bare = false;
  bool absent = false;

  static Shown none() { return {"absent", false, true}; }
  static Shown plain(std::string text) { return {std::move(text), true, false}; }
};

// "mode changed '0644' to '0755'", "defined 'minute' as ['5']", "undefined 'hour' from ['4']".
Change property_change(std::string property, const Shown& from, const Shown& to);

// A property could not be set: whether the others are to be set all the same. A lost host or a cancelled run ends all.
bool goes_on(const Context& c, const Change& change, const Failure& why);

// What a parameter may be. Words are apart by spaces; one that is another name of the one before it has a = before it.
struct Rule {
  std::string_view parameter;
  std::string_view words;
};
inline constexpr std::string_view kTruthWords = "true false yes no";
inline constexpr std::string_view kNumberWord = "#";    // any number
inline constexpr std::string_view kNaturalWord = "##";  // a whole number, not below zero

// "" or that there are more entries in a directory than `max_files` allows.
std::string too_many_files(const Params& params, const std::string& path, std::size_t entries);

bool is_number(const std::string& text, bool natural);  // natural: whole, and not below zero

// "" or what is wrong with the name of a user, group, package or service: one that begins with `-` would be an option
// of the program that is told it.
std::string wrong_name(const Resource& r);

// "" or what is wrong with the first parameter that is not as its rule says.
std::string wrong_value(const Params& params, std::span<const Rule> rules);

}  // namespace tutti::resource
