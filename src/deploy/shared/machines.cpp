#include "deploy/shared/machines.h"

#include <fmt/format.h>

#include "resource/params.h"

namespace tutti::deploy {

bool is_here(std::string_view name, const Value* described) {
  if (name.empty() || name == "localhost" || name == "here") return true;
  if (!described) return false;
  return described->is(Kind::kString) ? described->text() == "local"
                                      : described->is(Kind::kMap) && resource::Params(*described).truth("local");
}

std::string machine(Symbol host, const Value& tree) {
  const Entry* hosts = tree.is(Kind::kMap) ? tree.find("hosts") : nullptr;
  const Entry* described = hosts && hosts->value.is(Kind::kMap) ? hosts->value.find(host.text()) : nullptr;
  if (is_here(host.text(), described ? &described->value : nullptr)) return "";
  if (!described) return std::string(host.text());
  if (described->value.is(Kind::kString)) return std::string(described->value.text());
  resource::Params p(described->value);
  return fmt::format("{}:{}", p.text("ssh", p.text("address", std::string(host.text()))), p.text("port"));
}

}  // namespace tutti::deploy
