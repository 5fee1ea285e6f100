#include "resource/catalog_result.h"

#include <cstdlib>

namespace tutti::resource {
namespace {

using Status = CatalogResult::Status;

constexpr std::string_view kAudit = "audit.";

}  // namespace

std::string_view CatalogResult::word(Status s) {
  return s == Status::kOk ? "ok" : s == Status::kFailed ? "failed" : s == Status::kSkipped ? "skipped" : "";
}

CatalogResult CatalogResult::read(const Outputs& outputs) {
  CatalogResult r;
  auto text = [&](const char* key) {
    auto it = outputs.find(key);
    return it == outputs.end() ? std::string() : it->second;
  };
  auto number = [&](const char* key) { return std::strtoll(text(key).c_str(), nullptr, 10); };
  for (Status s : {Status::kOk, Status::kFailed, Status::kSkipped})
    if (text("status") == word(s)) r.status = s;
  r.changed = static_cast<u32>(number("changed"));
  r.noops = static_cast<u32>(number("noops"));
  r.noop = outputs.count("noop") != 0;
  r.checked = number("checked");
  r.name = text("name");
  for (auto at = outputs.lower_bound(std::string(kAudit)); at != outputs.end() && at->first.starts_with(kAudit); ++at)
    r.audited[at->first.substr(kAudit.size())] = at->second;
  return r;
}

CatalogResult::Outputs CatalogResult::write() const {
  Outputs out{{"status", std::string(word(status))}, {"changed", std::to_string(changed)}, {"name", name}};
  if (noops) out["noops"] = std::to_string(noops);
  if (noop) out["noop"] = "1";
  if (checked) out["checked"] = std::to_string(checked);
  for (auto& [property, value] : audited) out[std::string(kAudit) + property] = value;
  return out;
}

}  // namespace tutti::resource
