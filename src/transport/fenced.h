#pragma once

#include <functional>

#include "transport/host.h"

// A host on which somebody acts as long as they may. What flows in is whether a run still holds its system, asked
// before every act; what flows out is the host behind it, or a refusal. A run that was paused for longer than its lease
// wakes up in the middle of anything: its writes are refused by the store, and this refuses what it does. Asked here,
// in front of every host, rather than in each of their functions, so that none can be forgotten.
//
// On this machine whoever takes a system over ends the paused process first, so nothing can happen between the question
// and the act. On another host the act is a script that was sent: it asks there once more (Fence).
namespace tutti {

class FencedHost : public Host {
 public:
  using MayAct = std::function<Result<void>()>;
  FencedHost(Host& behind, MayAct may_act);

  std::string_view name() const override { return behind_.name(); }
  Result<void> reach(const Cancel* cancel) override { return behind_.reach(cancel); }
  u32 at_once() const override { return behind_.at_once(); }
  void set_fence(const Fence& fence) override { behind_.set_fence(fence); }
  Result<void> raise(const Fence& fence) override { return behind_.raise(fence); }

  CommandResult run(const Command& command) override;
  Result<FileState> stat(const std::string& path, bool follow, bool digest) override;
  Result<std::string> read(const std::string& path) override;
  Result<void> write(const std::string& path, std::string_view bytes, u32 mode, const Ownership& owned) override;
  Result<void> append(const std::string& path, std::string_view bytes) override;
  Result<void> make_directory(const std::string& path, u32 mode, const Ownership& owned) override;
  Result<void> make_parents(const std::string& path) override;
  Result<void> make_link(const std::string& path, const std::string& target, const Ownership& owned) override;
  Result<void> remove(const std::string& path, bool tree) override;
  Result<void> rename(const std::string& from, const std::string& to) override;
  Result<void> set_mode(const std::string& path, u32 mode) override;
  Result<void> set_owner(const std::string& path, const Ownership& owned, bool follow) override;
  Result<std::vector<std::string>> list(const std::string& directory) override;
  Result<void> flush() override;
  Result<Started> start(const Daemon& daemon) override;
  Result<DaemonStanding> standing(const std::string& pid_file) override;
  Result<bool> alive(const DaemonIdentity& identity) override;
  Result<void> signal(const DaemonIdentity& identity, int signal) override;
  Result<Stopped> stop(const DaemonIdentity& identity, int signal, std::chrono::milliseconds limit) override;
  bool connects(const std::string& address, u16 port, std::chrono::milliseconds timeout) override;

 private:
  Host& behind_;
  MayAct may_act_;
};

}  // namespace tutti
