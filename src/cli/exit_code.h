#pragma once

namespace tutti {

// One table for all verbs; `tutti help exit-codes` prints it (cli/help.cpp).
namespace exit_code {
constexpr int kOk = 0;              // done, nothing to do or all succeeded
constexpr int kError = 1;           // wrong use or wrong input; nothing was changed
constexpr int kDifferent = 2;       // succeeded, and there are (or were) differences where that was the question
constexpr int kFailed = 4;          // some actions failed
constexpr int kMixed = 6;           // changes and failures
constexpr int kUnreachable = 8;     // some hosts could not be reached
constexpr int kUnknown = 16;        // the result of an action is not known; `resume` is needed
constexpr int kContradiction = 70;  // two ways to one answer differ: our mistake; nothing was changed
constexpr int kLocked = 75;         // somebody else holds the lock; try later
constexpr int kLimit = 124;         // a limit was met
constexpr int kInterrupted = 130;   // interrupted; the journal is consistent
}  // namespace exit_code

}  // namespace tutti
