// resources: what there is of a type and no resource of the catalog speaks of goes.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "resource/providers.h"

namespace tutti::resource {
namespace {

constexpr std::string_view kPurgeParameters[] = {"purge", "unless_system_user", "unless_uid"};

struct Kept {
  std::vector<Resource> gone;
  Arena arena;
};

std::string type_of(const Resource& r) {
  std::string type = Params(r.parameters).text("name", r.title);
  for (char& c : type) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return type;
}

std::string reference(const Resource& r) {
  std::string type = r.type;
  type[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(type[0])));
  return fmt::format("{}[{}]", type, r.title);
}

// "500", "500-600" or a list of them.
bool listed(i64 uid, const std::vector<std::string>& ranges) {
  return std::any_of(ranges.begin(), ranges.end(), [&](const std::string& range) {
    std::size_t dash = range.find('-', 1);
    i64 from = std::strtoll(range.c_str(), nullptr, 10);
    i64 to = dash == std::string::npos ? from : std::strtoll(range.c_str() + dash + 1, nullptr, 10);
    return uid >= from && uid <= to;
  });
}

// Users that belong to the system: below the first number that is given out, or known by their names.
Result<bool> of_the_system(Context& c, const std::string& name, i64 uid) {
  static const std::set<std::string, std::less<>> kNames{"root", "nobody", "bin", "noaccess", "daemon", "sys"};
  if (kNames.count(name)) return true;
  std::string how = c.params.text("unless_system_user", "true");
  if (how == "false") return false;
  i64 least = how == "true" ? 0 : std::strtoll(how.c_str(), nullptr, 10);
  if (how == "true") {
    auto there = c.host.stat("/etc/login.defs", true, false);
    if (!there) return tl::unexpected(there.error());
    std::string text;
    if (there->kind == FileState::Kind::kFile) {
      auto read = c.host.read("/etc/login.defs");
      if (!read) return tl::unexpected(read.error());
      text = "\n" + *read;
    }
    std::size_t at = text.find("\nUID_MIN");
    least = at == std::string::npos ? 500 : std::strtoll(text.c_str() + at + 8, nullptr, 10);
  }
  return uid < least;
}

class Purge : public Provider {
 public:
  std::string_view type() const override { return "resources"; }
  std::span<const std::string_view> parameters() const override { return kPurgeParameters; }

  std::string check(const Resource& r) const override {
    if (!find_provider(type_of(r))) return fmt::format("Could not find resource type '{}'", type_of(r));
    return "";
  }

  Result<Findings> examine(Context& c) const override {
    Findings f;
    if (!c.params.truth("purge")) return f;
    std::string type = type_of(c.resource);
    auto kept = std::make_shared<Kept>();
    auto all = find_provider(type)->instances(c, kept->arena);
    if (!all) return tl::unexpected(all.error());
    if (!*all)
      return failure(fmt::format(
          "Purging resources of type {} is not supported, since they cannot be queried from the system", type));
    for (Resource& r : **all) {
      if (c.managed(fmt::format("{}:{}", type, r.title))) continue;
      if (type == "user") {
        i64 uid = static_cast<i64>(Params(r.parameters).number("uid", 0));
        auto system = of_the_system(c, r.title, uid);
        if (!system) return tl::unexpected(system.error());
        if (*system || listed(uid, c.params.list("unless_uid"))) continue;
      }
      f.changes.push_back({"ensure", "removed", "present", "absent", reference(r), false});
      kept->gone.push_back(std::move(r));
    }
    f.kept = kept;
    return f;
  }

  Result<void> apply(Context& c, const Findings& f, std::vector<Change>& done) const override {
    auto kept = std::static_pointer_cast<const Kept>(f.kept);
    for (std::size_t i = 0; i < kept->gone.size(); ++i) {
      const Resource& r = kept->gone[i];
      const Provider* provider = find_provider(r.type);
      Context one(c.host, r);
      one.cancel = c.cancel;
      one.home = c.home;
      one.environment = c.environment;
      one.say = c.say;
      auto found = provider->examine(one);
      if (!found) return tl::unexpected(found.error());
      std::vector<Change> gone;
      if (!found->in_sync())
        if (auto r2 = provider->apply(one, *found, gone); !r2) return r2;
      done.push_back(f.changes[i]);
    }
    return {};
  }

  std::vector<std::string> writes(const Resource&) const override { return {}; }
};

}  // namespace

const Provider& purge_provider() {
  static const Purge provider;
  return provider;
}

}  // namespace tutti::resource
