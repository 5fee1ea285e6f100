#include "deploy/record/record.h"

#include <fmt/format.h>

#include "deploy/record/encode.h"
#include "deploy/record/format.h"
#include "transport/host.h"

namespace tutti::deploy {
namespace {

bool holds_secrets(store::Store& store) {
  auto systems = store.systems();
  if (!systems) return false;
  for (auto& name : *systems)
    if (auto r = store.system(name); r && *r && has_sealed((*r)->state)) return true;
  return false;
}

constexpr const char* kKeyFact = "key";  // the birth of the key file that seals the record

// A key that came with a repository is known to whoever put it there.
auto strange_key(const store::OwnDirectory& own) {
  return failure(fmt::format("the key {}/{} was not made here: it came with a repository, an archive or a copy",
                             own.shown(), store::kKeyFile),
                 store::kFromElsewhere);
}

}  // namespace

Result<Record> open_record(const std::string& directory, bool adopt) {
  auto own = store::OwnDirectory::open(directory);
  if (!own) return tl::unexpected(own.error());
  std::string database = directory + "/state.db", key = directory + "/" + store::kKeyFile;
  // In this order: who makes a record makes its key last.
  bool key_there = own->has(store::kKeyFile), fresh = !own->has("state.db");
  if (fresh && key_there && !adopt) return strange_key(*own);
  Record p;
  p.directory = directory;
  auto store = store::open_sqlite(database, adopt);
  if (!store) {
    const Failure& why = store.error();
    bool told = why.code > store::kFenced;  // with the path that is meant
    return failure(told ? why.message : fmt::format("{}: {}", database, why.message), why.code);
  }
  p.store = std::move(*store);
  if (!own->has(store::kKeyFile) && holds_secrets(*p.store))
    return failure(
        fmt::format("the key file {} is gone: the secrets in {} cannot be opened without it. Put it back, or "
                    "begin anew with another --state DIRECTORY",
                    key, database));
  std::string known = p.store->fact(kKeyFact), birth = own->birth(store::kKeyFile);
  if (!known.empty() && !birth.empty() && known != birth && !adopt) return strange_key(*own);
  auto seal = store::Seal::open(*own);
  if (!seal) return tl::unexpected(seal.error());
  p.seal = std::move(*seal);
  birth = own->birth(store::kKeyFile);
  // On a disk that cannot be written nothing is done either.
  if (known != birth) [[maybe_unused]]
    auto noted = p.store->set_fact(kKeyFact, birth);
  return p;
}

Result<Record> record_in_memory() {
  auto store = store::open_sqlite(":memory:");
  if (!store) return tl::unexpected(store.error());
  return Record{"", std::move(*store), store::Seal::with_key(std::string(32, '\0'))};
}

std::optional<RecordedSystem> read_system(Session& session, const Record& record, const std::string& system) {
  auto r = record.store->system(system);
  if (!r) {
    session.diagnostics.error("STATE-READ", {}, r.error().message);
    return std::nullopt;
  }
  RecordedSystem out;
  out.state = TreeBuilder(session.arena).map({});
  if (!*r) return out;
  out.serial = (*r)->serial;
  out.lineage = (*r)->lineage;
  if ((*r)->state.empty()) return out;
  auto state = decode(session, "state of " + system, (*r)->state, *record.seal);
  if (!state || !is_readable_state(session, "the state of " + system, *state)) return std::nullopt;
  out.state = *state;
  out.recorded = engine::read_recorded(*state);
  return out;
}

OtherSystems read_other_systems(Session& session, const Record& record, const std::string& system) {
  OtherSystems out;
  auto systems = record.store->systems();
  if (!systems) return out;
  for (auto& name : *systems) {
    auto there = name == system ? std::nullopt : read_system(session, record, name);
    if (there) out.add(name, there->recorded, there->state);
  }
  return out;
}

std::string scope_of(store::Store& store, const std::string& system) {
  auto record = store.system(system);
  std::string name = resource::file_name(system);
  return record && *record ? fmt::format("{}.{}", name, (*record)->lineage) : name;
}

std::string mark_of(store::Store& store, const std::string& directory, i64 run) {
  auto mark = store.mark(run);
  if (mark && !mark->empty()) return *mark;
  return fmt::format("{}-{}", sha256_hex(directory).substr(0, 8), run);  // of an older version
}

}  // namespace tutti::deploy
