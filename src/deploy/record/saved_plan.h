#pragma once

#include <optional>
#include <string>

#include "deploy/shared/prepared.h"
#include "store/seal.h"
#include "tree/session.h"

// A plan in a file, to be run later or by somebody else (`plan --out`, `apply FILE`). It is signed with the record's
// key: what is in it is run, so nobody else may have written it.
namespace tutti::deploy {

std::string write_plan(const Prepared& plan, const store::Seal& seal);
// What was written; nullopt, and an error, where it is not that. Whether the record is still where it was is for
// planning (Planning::take_up).
std::optional<Prepared> read_plan(Session& session, const std::string& saved, const std::string& name,
                                  const store::Seal& seal);

// Whether a file is a saved plan, by how it begins.
bool is_saved_plan(std::string_view text);

}  // namespace tutti::deploy
