#include "deploy/hosts.h"

#include <fmt/format.h>

#include "resource/params.h"
#include "transport/local.h"
#include "transport/ssh.h"

namespace tutti::deploy {

void Hosts::describe(const Value& hosts) {
  std::lock_guard lock(mutex_);
  if (!hosts.is(Kind::kMap)) return;
  for (const Entry& e : hosts.entries()) known_[std::string(e.key.text())] = e.value;
}

Host* Hosts::find(Symbol name) {
  std::lock_guard lock(mutex_);
  std::string key(name.text());
  auto& slot = open_[key];
  if (slot) return slot.get();
  if (key.empty() || key == "localhost" || key == "here") {
    slot = here_in(where_);
    return slot.get();
  }
  SshTarget target;
  std::string own;
  target.name = key;
  target.destination = key;
  if (auto it = known_.find(key); it != known_.end()) {
    const Value& v = it->second;
    if (v.is(Kind::kString)) {
      if (v.text() == "local") {
        slot = here_in(where_);
        return slot.get();
      }
      target.destination = v.text();
    } else if (v.is(Kind::kMap)) {
      resource::Params p(v);
      if (p.truth("local")) {
        slot = here_in(where_);
        return slot.get();
      }
      target.destination = p.text("ssh", p.text("address", key));
      target.port = static_cast<u16>(p.number("port", 0));
      target.user = p.text("user");
      target.identity = p.text("identity");
      target.config = p.text("config");
      if (const Value* options = p.find("options"); options && options->is(Kind::kMap)) {
        for (const Entry& o : options->entries())
          target.options.push_back(fmt::format("{}={}", o.key.text(), resource::text_of(o.value)));
      } else {
        target.options = p.list("options");
      }
      own = p.text("directory");
    }
  }
  target.sockets = directory_ + "/ssh";
  slot = ssh(target);
  slot->directory = own;
  return slot.get();
}

}  // namespace tutti::deploy
