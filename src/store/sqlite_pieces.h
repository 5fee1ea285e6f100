#pragma once

#include <optional>
#include <span>
#include <string>

#include "store/pieces.h"
#include "store/sqlite.h"

// Pieces of texts in a table, and what is done when nobody refers to them any more. All of it happens within a
// transaction of the caller.
namespace tutti::store {

class SqlitePieces : public PieceShelf {
 public:
  explicit SqlitePieces(Database& db);
  Result<bool> has(std::string_view digest) override;
  Result<void> put(std::string_view digest, std::string_view piece) override;
  Result<std::optional<std::string>> get(std::string_view digest) override;

 private:
  Database& db_;
  Statement has_, put_, get_;
};

// Takes runs of a system out, with their journals, and then every piece that no text of any run or system is made of.
// How many runs there were.
Result<std::size_t> prune_runs(Database& db, const std::string& system, std::span<const i64> runs);

}  // namespace tutti::store
