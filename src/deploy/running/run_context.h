#pragma once

#include "deploy/running/running.h"

namespace tutti::deploy {

// What a run works with, planned or not. Lives as long as the run.
struct RunContext {
  Session& session;
  World& world;
  const Effects& effects;
  RunSettings& settings;
  const store::Lease& lease;
  i64 run = 0;

  // How what it starts is marked: by the run, and by who carries it out.
  std::string mark() const;
};

}  // namespace tutti::deploy
