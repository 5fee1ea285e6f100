#include "store/schema.h"

#include <fmt/format.h>
#include <openssl/rand.h>

#include <array>
#include <iterator>

namespace tutti::store {
namespace {

constexpr const char* kSteps[] = {
    // 1
    R"(
CREATE TABLE system(name TEXT PRIMARY KEY, lineage TEXT NOT NULL, serial INTEGER NOT NULL, state TEXT NOT NULL) STRICT;
CREATE TABLE lock(system TEXT PRIMARY KEY, fence INTEGER NOT NULL, held INTEGER NOT NULL, host TEXT NOT NULL,
  user TEXT NOT NULL, command TEXT NOT NULL, pid INTEGER NOT NULL, birth INTEGER NOT NULL, since REAL NOT NULL, expires REAL NOT NULL) STRICT;
CREATE TABLE run(id INTEGER PRIMARY KEY, system TEXT NOT NULL, kind TEXT NOT NULL, status TEXT NOT NULL,
  started REAL NOT NULL, ended REAL NOT NULL, who TEXT NOT NULL, base_serial INTEGER NOT NULL, base_state TEXT NOT NULL,
  plan TEXT NOT NULL, wanted TEXT NOT NULL, summary TEXT NOT NULL) STRICT;
CREATE TABLE entry(run INTEGER NOT NULL, sequence INTEGER NOT NULL, time REAL NOT NULL, kind INTEGER NOT NULL,
  instance INTEGER NOT NULL, transition INTEGER NOT NULL, attempt INTEGER NOT NULL, name TEXT NOT NULL, how TEXT NOT NULL,
  code INTEGER NOT NULL, outcome TEXT NOT NULL, message TEXT NOT NULL, log TEXT NOT NULL, outputs TEXT NOT NULL,
  changes TEXT NOT NULL, seconds REAL NOT NULL, PRIMARY KEY(run, sequence)) STRICT, WITHOUT ROWID;
CREATE TABLE duration(key TEXT PRIMARY KEY, count INTEGER NOT NULL, mean REAL NOT NULL, m2 REAL NOT NULL, last REAL NOT NULL) STRICT;
)",
    // 2: facts about the record itself
    R"(
CREATE TABLE fact(key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;
)",
    // 3: who a holder is, whatever its machine is called, and how often it has renewed
    R"(
ALTER TABLE lock ADD COLUMN boot TEXT NOT NULL DEFAULT '';
ALTER TABLE lock ADD COLUMN machine TEXT NOT NULL DEFAULT '';
ALTER TABLE lock ADD COLUMN space TEXT NOT NULL DEFAULT '';
ALTER TABLE lock ADD COLUMN seconds REAL NOT NULL DEFAULT 30.0;
ALTER TABLE lock ADD COLUMN beat INTEGER NOT NULL DEFAULT 0;
)",
    // 4: what a run starts is found again by a mark that no other run has, here or elsewhere
    R"(
ALTER TABLE run ADD COLUMN mark TEXT NOT NULL DEFAULT '';
)",
    // 5: what was written is told from what a disk has made of it. '' in rows of older versions: nobody can tell.
    R"(
ALTER TABLE run ADD COLUMN digest TEXT NOT NULL DEFAULT '';
ALTER TABLE entry ADD COLUMN digest TEXT NOT NULL DEFAULT '';
ALTER TABLE system ADD COLUMN digest TEXT NOT NULL DEFAULT '';
CREATE TABLE head(only INTEGER PRIMARY KEY CHECK (only = 1), commits INTEGER NOT NULL) STRICT;
INSERT INTO head VALUES(1, 0);
)",
    // 6: large texts are kept in pieces (store/pieces.h); those of older rows stay as they are until their run is
    // pruned
    R"(
CREATE TABLE piece(digest BLOB NOT NULL UNIQUE, body BLOB NOT NULL) STRICT;
)",
};
constexpr i64 kVersion = std::size(kSteps);

i64 number_of(Database& db, std::string_view sql) {
  Statement s(db, sql);
  return s.step() ? s.integer(0) : 0;
}

}  // namespace

std::string random_word() {
  std::array<unsigned char, 16> bytes{};
  RAND_bytes(bytes.data(), bytes.size());
  std::string out;
  for (unsigned char b : bytes) out += fmt::format("{:02x}", b);
  return out;
}

Result<Standing> standing_of(Database& db, const std::string& path) {
  // One look, also while somebody else makes it: a transaction of its own, or part of ours.
  if (auto r = db.execute("SAVEPOINT look"); !r) return tl::unexpected(r.error());
  Standing out;
  bool readable = false;
  {
    Statement s(db, "PRAGMA user_version");
    if (s.step()) out.version = s.integer(0);
    readable = s.ok();
  }
  auto wrong = readable ? Result<void>() : db.broken();
  i64 tables = number_of(db, "SELECT count(*) FROM sqlite_schema");
  i64 odd = number_of(db, "SELECT count(*) FROM sqlite_schema WHERE type NOT IN ('table', 'index')");
  out.today = out.version == kVersion;
  out.fresh = out.version == 0 ||
              (number_of(db, "SELECT count(*) FROM run") == 0 && number_of(db, "SELECT count(*) FROM system") == 0);
  if (auto r = db.execute("RELEASE look"); !r && wrong) wrong = r;
  if (!wrong) return tl::unexpected(wrong.error());
  if (out.version > kVersion)
    return failure(fmt::format("{} was written by a newer tutti (its version is {}, this one knows {})", path,
                               out.version, kVersion));
  if (odd || out.version < 0 || (out.version == 0 && tables))
    return failure(fmt::format("{} is no record of tutti's", path), SQLITE_NOTADB);
  return out;
}

Result<void> migrate(Database& db, const std::string& path, const std::string& birth) {
  auto now = standing_of(db, path);
  if (!now) return tl::unexpected(now.error());
  if (now->version == kVersion) return {};
  Transaction t(db);
  if (!t.began()) return db.broken();
  now = standing_of(db, path);  // somebody else may have come first
  if (!now) return tl::unexpected(now.error());
  if (now->version == kVersion) return {};
  for (i64 v = now->version; v < kVersion; ++v)
    if (auto r = db.execute(kSteps[v]); !r) return r;
  if (auto r = db.execute(fmt::format("PRAGMA user_version={}", kVersion).c_str()); !r) return r;
  // With the tables, at once: who opens it in the same moment must not find a record that was made nowhere.
  if (auto r = set_fact(db, kOrigin, birth); !r) return r;
  return t.commit();
}

std::string fact(Database& db, std::string_view key) {
  Statement s(db, "SELECT value FROM fact WHERE key=?");
  s.bind(key);
  return s.step() ? s.text(0) : "";
}

Result<void> set_fact(Database& db, std::string_view key, std::string_view value) {
  Statement s(db, "INSERT OR REPLACE INTO fact VALUES(?,?)");
  if (!s.all(key, value).run()) return db.broken();
  return {};
}

}  // namespace tutti::store
