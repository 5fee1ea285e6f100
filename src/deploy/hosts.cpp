#include "deploy/hosts.h"

#include <fmt/format.h>

#include "deploy/shared/machines.h"
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
  auto it = known_.find(key);
  if (is_here(key, it == known_.end() ? nullptr : &it->second)) {
    slot = here_in(where_);
    return slot.get();
  }
  SshTarget target;
  std::string own;
  target.name = key;
  target.destination = key;
  if (it != known_.end()) {
    const Value& v = it->second;
    if (v.is(Kind::kString)) {
      target.destination = v.text();
    } else if (v.is(Kind::kMap)) {
      resource::Params p(v);
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
  slot = ssh(target);
  slot->directory = own;
  return slot.get();
}

}  // namespace tutti::deploy
