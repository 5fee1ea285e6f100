#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

#include "base/types.h"
#include "store/own_directory.h"

// Whether a record still is what was written. SQLite notices pages that make no sense; it does not notice a text in
// which bytes have changed, and it takes a log that is gone or cut short for one that was never written. What flows in
// are the rows, and after each commit its number; what flows out are digests, and how many commits there were at least.
namespace tutti::store {

// Of a row's fields, each told from its neighbours, and of the row before it: a journal is a chain.
std::string digest_of(std::string_view before, std::initializer_list<std::string_view> fields);

// The number of the last commit, in a file of its own. It is written after the commit is on disk, so it is never ahead
// of the database unless that has lost something. It need not be synced: a loss of power that takes it takes no commit.
void note_commit(const OwnDirectory& directory, i64 number);
i64 noted_commit(const OwnDirectory& directory);  // 0: not known

}  // namespace tutti::store
