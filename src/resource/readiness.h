// Whether what is waited for is so, and whether it is the process itself that makes it so.
//
// A process is ready when it lives and whoever answers for it is it or one of those it started. An answer alone says
// little: while another program holds the port, that one answers, ours ends a moment later, and everything that depends
// on it has been started upon somebody else. So the port of `ready` (or of its URL) must be free before the process is
// started, and once there is an answer, the socket that listens must be held by one of its processes. Where that cannot
// be seen (another machine's address, another network namespace, sockets of users we may not look at) the answer has to
// do. Who answers for it by design, a proxy or a container's port, is said with `proxied`.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "resource/provider.h"

namespace tutti::resource {

inline constexpr std::chrono::milliseconds kLongestLook{10000};  // what does not answer in that time does not

// "" or what cannot be waited for.
std::string wrong_wait(const Params& p);
// The same for `ready` of a process, whose keys are known.
std::string wrong_ready(const Value& ready);

// Whether what is waited for is so now.
Result<bool> holds(Context& c, const Params& p, std::chrono::milliseconds within = kLongestLook);

// Waits until `truth` is as wanted, for as long as `still` (where there is one) says that there is a reason to.
Result<void> wait_until(Context& c, const Params& p, bool wanted, std::string_view what,
                        const std::function<Result<bool>(std::chrono::milliseconds within)>& truth,
                        const std::function<Result<bool>()>& still);

// False when it was cancelled meanwhile.
bool pause_for(Context& c, std::chrono::milliseconds time);

// A process that is to become ready: its identity, and the mark that it and all that it started have in their
// environment ("NAME=VALUE").
struct ReadyProcess {
  DaemonIdentity identity;
  std::string mark;
};

// Whether it holds and the process is who answers. `other`: who answers instead, for people.
Result<bool> is_ready(Context& c, const Params& ready, const ReadyProcess& process, std::chrono::milliseconds within,
                      std::string& other);
Result<void> await_ready(Context& c, const Value* ready, const ReadyProcess& process);
// A port that answers before the process is started is somebody else's, or still that of its predecessor.
Result<void> await_free_port(Context& c, const Value* ready);

}  // namespace tutti::resource
