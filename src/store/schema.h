#pragma once

#include <string>

#include "store/sqlite.h"

// The tables of a record, and how those of an older version become today's. A version is a step that is added to the
// end of the list; steps that were released are never changed.
namespace tutti::store {

// Whether the record can be read by us, before anything in it is used: it may have been made by anybody. `fresh`:
// nothing is in it yet.
struct Standing {
  i64 version = 0;
  bool fresh = false;
  bool today = false;  // of the version that we write
};
Result<Standing> standing_of(Database& db, const std::string& path);

// Brings it to today's version, in one transaction.
// `birth`: of the file, which is where the record was made from now on.
Result<void> migrate(Database& db, const std::string& path, const std::string& birth);
inline constexpr const char* kOrigin = "origin";  // the fact that keeps it

// Facts about the record itself.
std::string fact(Database& db, std::string_view key);  // "": not known
Result<void> set_fact(Database& db, std::string_view key, std::string_view value);

std::string random_word();  // unlike any other: 128 bits

}  // namespace tutti::store
