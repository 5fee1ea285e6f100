#include "transport/fenced.h"

namespace tutti {

FencedHost::FencedHost(Host& behind, MayAct may_act) : behind_(behind), may_act_(std::move(may_act)) {
  directory = behind.directory;
}

// ---- looks

Result<FileState> FencedHost::stat(const std::string& path, bool follow, bool digest) {
  return behind_.stat(path, follow, digest);
}
Result<std::string> FencedHost::read(const std::string& path) { return behind_.read(path); }
Result<std::vector<std::string>> FencedHost::list(const std::string& path) { return behind_.list(path); }
Result<void> FencedHost::flush() { return behind_.flush(); }
Result<DaemonStanding> FencedHost::standing(const std::string& pid_file) { return behind_.standing(pid_file); }
Result<bool> FencedHost::alive(const DaemonIdentity& identity) { return behind_.alive(identity); }
bool FencedHost::connects(const std::string& address, u16 port, std::chrono::milliseconds timeout) {
  return behind_.connects(address, port, timeout);
}

// ---- acts

CommandResult FencedHost::run(const Command& command) {
  if (auto may = may_act_(); !may) {
    CommandResult refused;
    refused.message = may.error().message;
    return refused;
  }
  return behind_.run(command);
}
Result<void> FencedHost::write(const std::string& path, std::string_view bytes, u32 mode, const Ownership& owned) {
  return may_act_().and_then([&] { return behind_.write(path, bytes, mode, owned); });
}
Result<void> FencedHost::append(const std::string& path, std::string_view bytes) {
  return may_act_().and_then([&] { return behind_.append(path, bytes); });
}
Result<void> FencedHost::make_directory(const std::string& path, u32 mode, const Ownership& owned) {
  return may_act_().and_then([&] { return behind_.make_directory(path, mode, owned); });
}
Result<void> FencedHost::make_parents(const std::string& path) {
  return may_act_().and_then([&] { return behind_.make_parents(path); });
}
Result<void> FencedHost::make_link(const std::string& path, const std::string& target, const Ownership& owned) {
  return may_act_().and_then([&] { return behind_.make_link(path, target, owned); });
}
Result<void> FencedHost::remove(const std::string& path, bool tree) {
  return may_act_().and_then([&] { return behind_.remove(path, tree); });
}
Result<void> FencedHost::rename(const std::string& from, const std::string& to) {
  return may_act_().and_then([&] { return behind_.rename(from, to); });
}
Result<void> FencedHost::set_mode(const std::string& path, u32 mode) {
  return may_act_().and_then([&] { return behind_.set_mode(path, mode); });
}
Result<void> FencedHost::set_owner(const std::string& path, const Ownership& owned, bool follow) {
  return may_act_().and_then([&] { return behind_.set_owner(path, owned, follow); });
}
Result<Started> FencedHost::start(const Daemon& daemon) {
  return may_act_().and_then([&] { return behind_.start(daemon); });
}
Result<void> FencedHost::signal(const DaemonIdentity& identity, int signal) {
  return may_act_().and_then([&] { return behind_.signal(identity, signal); });
}
Result<Host::Stopped> FencedHost::stop(const DaemonIdentity& identity, int signal, std::chrono::milliseconds limit) {
  return may_act_().and_then([&] { return behind_.stop(identity, signal, limit); });
}

}  // namespace tutti
