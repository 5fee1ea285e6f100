#include <algorithm>

#include "resource/provider.h"
#include "resource/providers.h"

namespace tutti::resource {
namespace {

std::vector<const Provider*> all() {
  return {&file_provider(),    &exec_provider(), &package_provider(), &service_provider(), &user_provider(),
          &group_provider(),   &cron_provider(), &host_provider(),    &mount_provider(),   &notify_provider(),
          &process_provider(), &wait_provider(), &tidy_provider()};
}

constexpr std::string_view kCommon[] = {"require", "before", "notify",   "subscribe", "tag",   "noop",
                                        "alias",   "audit",  "loglevel", "schedule",  "stage", "name"};

}  // namespace

const Provider* find_provider(std::string_view type) {
  static const std::vector<const Provider*> providers = all();
  for (const Provider* p : providers)
    if (p->type() == type) return p;
  return nullptr;
}

std::vector<std::string_view> provider_types() {
  std::vector<std::string_view> names;
  for (const Provider* p : all()) names.push_back(p->type());
  return names;
}

std::span<const std::string_view> common_parameters() { return kCommon; }

std::vector<std::string> Provider::writes(const Resource& r) const {
  return {std::string(type()) + ":" + Params(r.parameters).text("name", r.title)};
}

std::unique_lock<std::mutex> exclusive_use(const Host& host, std::string_view word) {
  static std::mutex mutex;
  static std::map<std::string, std::unique_ptr<std::mutex>> held;
  std::mutex* one = nullptr;
  {
    std::lock_guard lock(mutex);
    auto& slot = held[std::string(host.name()) + "/" + std::string(word)];
    if (!slot) slot = std::make_unique<std::mutex>();
    one = slot.get();
  }
  return std::unique_lock(*one);
}

}  // namespace tutti::resource
