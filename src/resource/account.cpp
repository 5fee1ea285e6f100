// user and group: by getent and the shadow tools.
#include <fmt/format.h>

#include <algorithm>

#include "resource/providers.h"

namespace tutti::resource {
namespace {

constexpr std::string_view kUser[] = {"ensure",
                                      "uid",
                                      "gid",
                                      "groups",
                                      "home",
                                      "shell",
                                      "comment",
                                      "password",
                                      "managehome",
                                      "system",
                                      "membership",
                                      "allowdupe",
                                      "expiry",
                                      "password_max_age",
                                      "password_min_age",
                                      "password_warn_days",
                                      "purge_ssh_keys",
                                      "forcelocal",
                                      "provider",
                                      "roles",
                                      "profiles",
                                      "keys",
                                      "attributes",
                                      "loginclass",
                                      "salt",
                                      "iterations",
                                      "auths",
                                      "project",
                                      "role_membership",
                                      "profile_membership",
                                      "key_membership",
                                      "auth_membership",
                                      "attribute_membership",
                                      "ia_load_module"};
constexpr std::string_view kGroup[] = {
    "ensure",          "gid",        "members",  "system",     "allowdupe",
    "auth_membership", "forcelocal", "provider", "attributes", "attribute_membership",
    "ia_load_module"};

std::vector<std::string> split(std::string_view text, char at) {
  std::vector<std::string> out;
  while (true) {
    std::size_t end = text.find(at);
    out.emplace_back(text.substr(0, end));
    if (end == std::string_view::npos) return out;
    text.remove_prefix(end + 1);
  }
}

// The fields of one line of a name database; empty when there is none.
Result<std::vector<std::string>> entry(Context& c, const char* database, const std::string& name) {
  Command k;
  k.argv = {"getent", database, name};
  auto r = c.host.run(k);
  if (r.end != CommandResult::End::kExited)
    return failure(r.describe(), r.end == CommandResult::End::kLost ? r.lost_code() : 0);
  if (r.code == 2) return std::vector<std::string>{};
  if (r.code != 0) return failure(fmt::format("getent {} {}: {}", database, name, r.err));
  return split(r.out.substr(0, r.out.find('\n')), ':');
}

Result<void> run(Context& c, std::vector<std::string> argv, std::string input = "") {
  Command k;
  k.argv = std::move(argv);
  k.input = std::move(input);
  k.cancel = c.cancel;
  k.timeout = std::chrono::minutes(5);
  auto lock = exclusive_use(c.host, "accounts");
  auto r = c.host.run(k);
  if (r.end == CommandResult::End::kLost) return failure(r.describe(), r.lost_code());
  if (!r.ok()) return failure(fmt::format("{}: {} {}", k.argv[0], r.describe(), r.err));
  return {};
}

// The lines of a name database's file as what would remove them; the third field is the number.
Result<std::optional<std::vector<Resource>>> accounts(Context& c, const char* type, const char* path, Arena& arena) {
  auto text = c.host.read(path);
  if (!text) return tl::unexpected(text.error());
  TreeBuilder b(arena);
  std::vector<Resource> out;
  for (auto& line : split(*text, '\n'))
    if (auto fields = split(line, ':'); fields.size() > 2) {
      std::vector<Entry> one{{Symbol("ensure"), Field::kPlain, Value::string("absent")},
                             {Symbol(type[0] == 'u' ? "uid" : "gid"), Field::kPlain, b.string(fields[2])}};
      out.push_back({type, fields[0], b.map(one)});
    }
  return out;
}

std::string name_of(Context& c) { return c.params.text("name", c.resource.title); }

class User : public Provider {
 public:
  std::string_view type() const override { return "user"; }
  Result<std::optional<std::vector<Resource>>> instances(Context& c, Arena& arena) const override {
    return accounts(c, "user", "/etc/passwd", arena);
  }
  std::span<const std::string_view> parameters() const override { return kUser; }
  std::string_view exclusive() const override { return "accounts"; }

  Result<Findings> examine(Context& c) const override {
    Findings f;
    std::string name = name_of(c), ensure = c.params.text("ensure");
    auto is = entry(c, "passwd", name);
    if (!is) return tl::unexpected(is.error());
    bool there = is->size() >= 7;
    if (ensure == "absent") {
      if (there) f.changes.push_back({"ensure", "removed", "present", "absent", "", false});
      return f;
    }
    if (!there) {
      if (ensure == "present") f.changes.push_back({"ensure", "created", "absent", "present", "", false});
      return f;
    }
    auto differs = [&](const char* property, const std::string& now) {
      auto want = c.params.maybe(property);
      if (want && *want != now)
        f.changes.push_back(
            {property, fmt::format("{} changed '{}' to '{}'", property, now, *want), now, *want, "", false});
    };
    differs("uid", (*is)[2]);
    if (auto gid = c.params.maybe("gid"); gid && *gid != (*is)[3]) {
      auto g = entry(c, "group", *gid);
      if (!g) return tl::unexpected(g.error());
      if (g->size() < 3 || (*g)[2] != (*is)[3])
        f.changes.push_back({"gid", fmt::format("gid changed {} to '{}'", (*is)[3], *gid), (*is)[3], *gid, "", false});
    }
    differs("comment", (*is)[4]);
    differs("home", (*is)[5]);
    differs("shell", (*is)[6]);
    if (c.params.has("groups")) {
      auto r = c.host.shell(fmt::format("id -nG {}", shell_quote(name)));
      auto now = split(r.out.substr(0, r.out.find('\n')), ' ');
      auto primary = c.host.shell(fmt::format("id -ng {}", shell_quote(name))).out;
      now.erase(std::remove(now.begin(), now.end(), primary.substr(0, primary.find('\n'))), now.end());
      auto want = c.params.list("groups");
      std::sort(now.begin(), now.end());
      std::sort(want.begin(), want.end());
      bool inclusive = c.params.text("membership", "minimum") == "inclusive";
      bool ok = inclusive ? now == want : std::includes(now.begin(), now.end(), want.begin(), want.end());
      if (!ok) {
        if (!inclusive) {
          want.insert(want.end(), now.begin(), now.end());
          std::sort(want.begin(), want.end());
          want.erase(std::unique(want.begin(), want.end()), want.end());
        }
        std::string a = fmt::format("{}", fmt::join(now, ",")), b = fmt::format("{}", fmt::join(want, ","));
        f.changes.push_back({"groups", fmt::format("groups changed '{}' to '{}'", a, b), a, b, "", false});
      }
    }
    if (c.params.has("password")) {
      auto shadow = entry(c, "shadow", name);
      if (!shadow) return tl::unexpected(shadow.error());
      if (shadow->size() < 2 || (*shadow)[1] != c.params.text("password"))
        f.changes.push_back({"password", "changed password", "", "", "", false});
    }
    return f;
  }

  Result<void> apply(Context& c, const Findings& f, std::vector<Change>& done) const override {
    std::string name = name_of(c);
    if (!f.changes.empty() && f.changes[0].property == "ensure") {
      std::vector<std::string> argv;
      if (f.changes[0].to == "absent") {
        argv = {"userdel"};
        if (c.params.truth("managehome")) argv.push_back("-r");
      } else {
        argv = {"useradd"};
        auto flag = [&](const char* p, const char* option) {
          if (auto v = c.params.maybe(p)) argv.insert(argv.end(), {option, *v});
        };
        flag("comment", "-c");
        flag("gid", "-g");
        flag("uid", "-u");
        flag("home", "-d");
        flag("shell", "-s");
        if (c.params.has("groups"))
          argv.insert(argv.end(), {"-G", fmt::format("{}", fmt::join(c.params.list("groups"), ","))});
        if (c.params.truth("allowdupe")) argv.push_back("-o");
        if (c.params.truth("system")) argv.push_back("-r");
        argv.push_back(c.params.truth("managehome") ? "-m" : "-M");
      }
      argv.push_back(name);
      if (auto r = run(c, argv); !r) return r;
      if (f.changes[0].to == "present" && c.params.has("password"))
        if (auto r = run(c, {"chpasswd", "-e"}, name + ":" + c.params.text("password") + "\n"); !r) return r;
      done = f.changes;
      return {};
    }
    for (const Change& ch : f.changes) {
      static constexpr std::pair<std::string_view, const char*> kFlags[] = {
          {"uid", "-u"}, {"gid", "-g"}, {"comment", "-c"}, {"home", "-d"}, {"shell", "-s"}, {"groups", "-G"}};
      Result<void> r;
      if (ch.property == "password") r = run(c, {"chpasswd", "-e"}, name + ":" + c.params.text("password") + "\n");
      for (auto& [p, option] : kFlags)
        if (p == ch.property) r = run(c, {"usermod", option, ch.to, name});
      if (!r) return r;
      done.push_back(ch);
    }
    return {};
  }

  std::vector<std::pair<std::string, std::string>> after(const Resource& r) const override {
    Params p(r.parameters);
    std::vector<std::pair<std::string, std::string>> out;
    if (p.has("gid")) out.emplace_back("group", p.text("gid"));
    for (auto& g : p.list("groups")) out.emplace_back("group", g);
    return out;
  }
};

class Group : public Provider {
 public:
  std::string_view type() const override { return "group"; }
  Result<std::optional<std::vector<Resource>>> instances(Context& c, Arena& arena) const override {
    return accounts(c, "group", "/etc/group", arena);
  }
  std::span<const std::string_view> parameters() const override { return kGroup; }
  std::string_view exclusive() const override { return "accounts"; }

  Result<Findings> examine(Context& c) const override {
    Findings f;
    auto is = entry(c, "group", name_of(c));
    if (!is) return tl::unexpected(is.error());
    bool there = is->size() >= 3;
    if (c.params.text("ensure") == "absent") {
      if (there) f.changes.push_back({"ensure", "removed", "present", "absent", "", false});
    } else if (!there) {
      if (c.params.text("ensure") == "present")
        f.changes.push_back({"ensure", "created", "absent", "present", "", false});
    } else if (auto gid = c.params.maybe("gid"); gid && *gid != (*is)[2]) {
      f.changes.push_back({"gid", fmt::format("gid changed {} to {}", (*is)[2], *gid), (*is)[2], *gid, "", false});
    }
    return f;
  }

  Result<void> apply(Context& c, const Findings& f, std::vector<Change>& done) const override {
    for (const Change& ch : f.changes) {
      std::vector<std::string> argv;
      if (ch.property == "gid")
        argv = {"groupmod", "-g", ch.to};
      else if (ch.to == "absent")
        argv = {"groupdel"};
      else {
        argv = {"groupadd"};
        if (auto gid = c.params.maybe("gid")) argv.insert(argv.end(), {"-g", *gid});
        if (c.params.truth("system")) argv.push_back("-r");
        if (c.params.truth("allowdupe")) argv.push_back("-o");
      }
      argv.push_back(name_of(c));
      if (auto r = run(c, argv); !r) return r;
      done.push_back(ch);
    }
    return {};
  }
};

}  // namespace

const Provider& user_provider() {
  static const User provider;
  return provider;
}
const Provider& group_provider() {
  static const Group provider;
  return provider;
}

}  // namespace tutti::resource
