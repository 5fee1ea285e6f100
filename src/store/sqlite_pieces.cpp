#include "store/sqlite_pieces.h"

#include <set>

namespace tutti::store {
namespace {

// The digests of all pieces that are still needed. What several texts have in common is walked once.
Result<std::set<std::string, std::less<>>> needed_pieces(Database& db) {
  SqlitePieces shelf(db);
  std::set<std::string, std::less<>> needed;
  Statement s(db,
              "SELECT state FROM system UNION SELECT base_state FROM run UNION SELECT plan FROM run "
              "UNION SELECT wanted FROM run");
  while (s.step()) {
    auto walked = walk_pieces(shelf, s.text(0), [&](std::string_view d) { return needed.emplace(d).second; });
    if (!walked) return tl::unexpected(walked.error());
  }
  if (!s.ok()) return db.broken();
  return needed;
}

Result<void> sweep(Database& db) {
  auto needed = needed_pieces(db);
  if (!needed) return tl::unexpected(needed.error());
  std::vector<i64> unneeded;
  {
    Statement s(db, "SELECT rowid, digest FROM piece");
    while (s.step())
      if (!needed->count(s.text(1))) unneeded.push_back(s.integer(0));
    if (!s.ok()) return db.broken();
  }
  Statement s(db, "DELETE FROM piece WHERE rowid=?");
  for (i64 row : unneeded) {
    if (!s.all(row).run()) return db.broken();
    s.reset();
  }
  return {};
}

}  // namespace

SqlitePieces::SqlitePieces(Database& db)
    : db_(db),
      has_(db, "SELECT 1 FROM piece WHERE digest=?"),
      put_(db, "INSERT INTO piece VALUES(?,?)"),
      get_(db, "SELECT body FROM piece WHERE digest=?") {}

Result<bool> SqlitePieces::has(std::string_view digest) {
  has_.reset();
  bool there = has_.all(Blob{digest}).step();
  if (!has_.ok()) return db_.broken();
  return there;
}

Result<void> SqlitePieces::put(std::string_view digest, std::string_view piece) {
  put_.reset();
  if (!put_.all(Blob{digest}, Blob{piece}).run()) return db_.broken();
  return {};
}

Result<std::optional<std::string>> SqlitePieces::get(std::string_view digest) {
  get_.reset();
  bool there = get_.all(Blob{digest}).step();
  if (!get_.ok()) return db_.broken();
  return there ? std::optional(get_.text(0)) : std::nullopt;
}

Result<std::size_t> prune_runs(Database& db, const std::string& system, std::span<const i64> runs) {
  std::size_t gone = 0;
  for (i64 run : runs) {
    Statement s(db, "DELETE FROM run WHERE id=? AND system=? AND status<>'running'");
    if (!s.all(run, system).run()) return db.broken();
    if (db.changes() == 0) continue;
    ++gone;
    Statement journal(db, "DELETE FROM entry WHERE run=?");
    if (!journal.all(run).run()) return db.broken();
  }
  if (gone)
    if (auto r = sweep(db); !r) return tl::unexpected(r.error());
  return gone;
}

}  // namespace tutti::store
