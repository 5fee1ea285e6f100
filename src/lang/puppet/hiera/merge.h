#pragma once

#include <span>
#include <string>

#include "lang/puppet/types/value.h"

namespace tutti::puppet {

// How values found at several levels become one.
struct MergeSpec {
  enum Strategy : u8 { kFirst, kUnique, kHash, kDeep } strategy = kFirst;
  std::string knockout_prefix;  // an element with it removes its equal from the levels below
  bool sort_merged_arrays = false;
  bool merge_hash_arrays = false;  // hashes at the same position of two arrays are merged
  Val given;                       // the options as they were given, without the strategy; undef: none
};

// Reads 'deep' or { strategy => deep, ... }. False, with a message, when it is neither.
bool parse_merge(const Val& value, Arena& arena, MergeSpec& out, std::string& error);

// `found` is in order of priority, highest first, and not empty. False, with a message, where the values do not fit.
bool merge_values(std::span<const Val> found, const MergeSpec& spec, Arena& arena, Val& out, std::string& error);

}  // namespace tutti::puppet
