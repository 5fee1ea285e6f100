#pragma once

#include <functional>
#include <span>
#include <string>

#include "base/result.h"

namespace tutti::puppet {

struct ProgramRun {
  int status = 0;  // as waitpid gives it; 0 is success
  std::string output;
};

enum class Confined : unsigned char { kNo, kYes };

// Runs a program, by its path, to its end and takes what it prints; without a shell, in `directory` unless that is "".
// In a sandbox (base/sandbox.h), unless the user named it.
// What it says on standard error is taken too, or else shown. `meanwhile` is called several times a second and may
// throw, which ends the program.
Result<ProgramRun> run_program(std::span<const std::string> words, const std::string& directory, bool take_errors,
                               const std::function<void()>& meanwhile, Confined how = Confined::kYes);

}  // namespace tutti::puppet
