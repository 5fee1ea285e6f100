#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "deploy/shared/other_systems.h"
#include "deploy/shared/recorded_system.h"
#include "store/seal.h"
#include "store/store.h"
#include "tree/session.h"

// The record of a project: state, journal, key and logs, in one directory (`.tutti`). Here it is opened, and its texts
// become trees and typed records; what they mean is for the rooms.
namespace tutti::deploy {

struct Record {
  std::string directory;  // .tutti; "" for one that is kept in memory
  std::unique_ptr<store::Store> store;
  std::optional<store::Seal> seal;
};
// Made when first needed. `adopt`: a record or key that was made elsewhere is ours from now on (store::kFromElsewhere).
Result<Record> open_record(const std::string& directory, bool adopt = false);
// Nothing is remembered longer than this process lives.
Result<Record> record_in_memory();

// What is recorded of a system; nullopt where that cannot be read, and a diagnostic says why.
std::optional<RecordedSystem> read_system(Session& session, const Record& record, const std::string& system);
// What all systems but this one hold. Those that cannot be read are left out.
OtherSystems read_other_systems(Session& session, const Record& record, const std::string& system);

// Under which a system's processes are kept on any host: projects and systems may have some of the same name.
std::string scope_of(store::Store& store, const std::string& system);
// How what a run starts is marked: unlike any other run, also of other projects on the same machine.
std::string mark_of(store::Store& store, const std::string& directory, i64 run);

}  // namespace tutti::deploy
