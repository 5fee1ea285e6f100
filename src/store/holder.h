#pragma once

#include <string>

#include "base/types.h"

// Who holds a system, and whether they still live. What flows in is what a holder wrote down about itself and what this
// process can see of the machine; what flows out is alive, gone, or that nobody can tell from here. A name of a machine
// and a number of a process are not enough for that: containers that share a volume often have the same name, and do
// not see each other's processes; numbers begin anew with every boot. And no clock of the world is asked, because
// nobody knows whose is right.
namespace tutti::store {

struct Holder {
  std::string host, user, command;
  i64 pid = 0;
  u64 birth = 0;
  std::string boot;     // of the machine's kernel; unlike any other
  std::string machine;  // its id; "": it has none
  std::string space;    // the namespaces in which `pid` and `birth` mean something
};

// This process as a holder.
Holder this_process(std::string command);

enum class Life : u8 { kAlive, kGone, kUnknown };
Life life_of(const Holder& holder);

// Ends a holder that is seen to live but whose lease is over: it was stopped (a signal, a debugger), and must not go on
// where it was. Nothing happens to this process itself, and to what cannot be seen.
void end_holder(const Holder& holder);

// Seconds since 1970: for people.
double wall_clock();
// Seconds that nobody can set. The first goes on while the machine sleeps: whoever must stop in time goes by it. The
// second does not: whoever waits for another's end goes by that.
double sleepless_clock();
double waking_clock();

}  // namespace tutti::store
