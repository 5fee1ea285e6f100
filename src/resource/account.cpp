// user and group: by getent and the shadow tools.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>

#include "resource/changes.h"
#include "resource/former.h"
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
  k.argv = {"getent"};
  if (c.params.truth("forcelocal")) k.argv.insert(k.argv.end(), {"-s", "files"});  // this machine's own files only
  k.argv.insert(k.argv.end(), {database, name});
  auto r = c.host.run(k);
  if (r.end != CommandResult::End::kExited)
    return failure(r.describe(), r.end == CommandResult::End::kLost ? r.lost_code() : 0);
  if (r.code == 2) return std::vector<std::string>{};
  if (r.code != 0) return failure(fmt::format("getent {} {}: {}", database, name, r.err));
  return split(r.out.substr(0, r.out.find('\n')), ':');
}

// `what` it could not do is told with the command, as Puppet does.
Result<void> run(Context& c, const std::string& what, std::vector<std::string> argv, std::string input = "") {
  Command k;
  k.argv = std::move(argv);
  k.input = std::move(input);
  k.cancel = c.cancel;
  k.timeout = std::chrono::minutes(5);
  auto lock = exclusive_use(c.host, "accounts");
  auto r = c.host.run(k);
  if (r.end == CommandResult::End::kLost) return failure(r.describe(), r.lost_code());
  if (r.ok()) return {};
  std::string said = r.out + r.err;
  said.erase(said.find_last_not_of(" \n") + 1);
  std::string command = fmt::format("{}{}", k.argv[0] == "chage" ? "/usr/bin/" : "/usr/sbin/", fmt::join(k.argv, " "));
  return failure(r.end == CommandResult::End::kExited
                     ? fmt::format("Could not {}: Execution of '{}' returned {}: {}", what, command, r.code, said)
                     : fmt::format("Could not {}: Execution of '{}': {} {}", what, command, r.describe(), said));
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

// Whoever speaks of a user at all usually wants it to be there: one with a property that is managed is, like any group.
constexpr std::string_view kManaged[] = {"uid",
                                         "gid",
                                         "groups",
                                         "home",
                                         "shell",
                                         "comment",
                                         "password",
                                         "expiry",
                                         "password_max_age",
                                         "password_min_age",
                                         "password_warn_days"};

// Fields of a line of shadow, and the option by which they are set. Those of a password's age are chage's.
struct ShadowField {
  const char* property;
  std::size_t field;
  const char* option;
  bool date = false;
};
constexpr ShadowField kShadow[] = {{"password_min_age", 3, "-m"},
                                   {"password_max_age", 4, "-M"},
                                   {"password_warn_days", 5, "-W"},
                                   {"expiry", 7, "-e", true}};

bool whole(std::string_view text) {
  if (text.starts_with('-')) text.remove_prefix(1);
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

// Days since 1970 of YYYY-MM-DD, as shadow counts them.
std::optional<i64> days_of(const std::string& date) {
  int year = 0, month = 0, day = 0, end = 0;
  if (date.size() != 10 || std::sscanf(date.c_str(), "%4d-%2d-%2d%n", &year, &month, &day, &end) != 3 || end != 10)
    return std::nullopt;
  std::chrono::year_month_day d{std::chrono::year(year), std::chrono::month(static_cast<unsigned>(month)),
                                std::chrono::day(static_cast<unsigned>(day))};
  if (!d.ok()) return std::nullopt;
  return std::chrono::sys_days(d).time_since_epoch().count();
}

std::string date_of(const std::string& days) {
  std::chrono::year_month_day d{std::chrono::sys_days(std::chrono::days(std::strtoll(days.c_str(), nullptr, 10)))};
  return fmt::format("{:04}-{:02}-{:02}", static_cast<int>(d.year()), static_cast<unsigned>(d.month()),
                     static_cast<unsigned>(d.day()));
}

// A number that changes, told as numbers are.
Change number_change(const char* property, const std::string& from, const std::string& to) {
  return property_change(property, Shown::plain(from), whole(to) ? Shown::plain(to) : Shown{to});
}

std::string name_of(Context& c) { return c.params.text("name", c.resource.title); }

class User : public Provider {
 public:
  std::string_view type() const override { return "user"; }
  Result<std::optional<std::vector<Resource>>> instances(Context& c, Arena& arena) const override {
    return accounts(c, "user", "/etc/passwd", arena);
  }
  std::span<const std::string_view> parameters() const override { return kUser; }
  std::vector<std::string> parts(const Resource&) const override {
    return {"/etc/passwd", "/etc/shadow", "/etc/group", "/etc/gshadow"};
  }
  std::string check(const Resource& r) const override {
    static constexpr Rule kRules[] = {{"ensure", "present absent"}, {"membership", "inclusive minimum"},
                                      {"system", kTruthWords},      {"allowdupe", kTruthWords},
                                      {"managehome", kTruthWords},  {"forcelocal", kTruthWords}};
    Params p(r.parameters);
    if (std::string wrong = wrong_name(r); !wrong.empty()) return wrong;
    if (std::string wrong = wrong_value(p, kRules); !wrong.empty()) return wrong;
    if (p.text("password").find(':') != std::string::npos) return "Passwords cannot include ':'";
    for (const ShadowField& field : kShadow) {
      auto v = p.maybe(field.property);
      if (!v) continue;
      if (field.date && *v != "absent" && !days_of(*v))
        return "Expiry dates must be YYYY-MM-DD or the string \"absent\"";
      if (!field.date && !whole(*v))
        return fmt::format("{} must be provided as a number, not \"{}\"", field.property, *v);
    }
    for (auto& g : p.list("groups")) {
      if (g.empty()) return "Group names must not be empty. If you want to specify \"no groups\" pass an empty array";
      if (g.find_first_not_of("0123456789") == std::string::npos)
        return "Group names must be provided, not GID numbers.";
      if (g.find(',') != std::string::npos)
        return "Group names must be provided as an array, not a comma-separated list.";
    }
    return "";
  }
  std::string_view exclusive() const override { return "accounts"; }

  Result<Findings> examine(Context& c) const override {
    Findings f;
    bool managed = std::any_of(std::begin(kManaged), std::end(kManaged), [&](auto p) { return c.params.has(p); });
    std::string name = name_of(c), ensure = c.params.text("ensure", managed ? "present" : "");
    if (c.params.has("purge_ssh_keys") && c.params.text("purge_ssh_keys") != "false")
      return failure("purge_ssh_keys cannot be done here: keys of ssh are not managed");
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
    differs("home", (*is)[5]);
    if (auto uid = c.params.maybe("uid"); uid && *uid != (*is)[2])
      f.changes.push_back(number_change("uid", (*is)[2], *uid));
    if (auto gid = c.params.maybe("gid"); gid && *gid != (*is)[3]) {
      auto g = entry(c, "group", *gid);
      if (!g) return tl::unexpected(g.error());
      if (g->size() < 3 || (*g)[2] != (*is)[3]) f.changes.push_back(number_change("gid", (*is)[3], *gid));
    }
    differs("comment", (*is)[4]);
    differs("shell", (*is)[6]);
    if (c.params.has("groups")) {
      auto now = groups_of(c, name);
      auto want = c.params.list("groups");
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
        std::string listed = want.empty() ? "[]" : fmt::format("['{}']", fmt::join(want, "', '"));
        f.changes.push_back({"groups", fmt::format("groups changed {} to {}", a, listed), a, b, "", false});
        f.changes.back().bare_from = true;
      }
    }
    bool aged = std::any_of(std::begin(kShadow), std::end(kShadow), [&](auto& s) { return c.params.has(s.property); });
    if (!aged && !c.params.has("password")) return f;
    auto shadow = entry(c, "shadow", name);
    if (!shadow) return tl::unexpected(shadow.error());
    shadow->resize(9);
    if (auto password = c.params.maybe("password"); password && (*shadow)[1] != *password) {
      Change hidden{"password", "changed [redacted] to [redacted]", "[redacted]", "[redacted]", "", false};
      f.changes.push_back(std::move(hidden));
    }
    for (const ShadowField& s : kShadow) {
      auto want = c.params.maybe(s.property);
      if (!want) continue;
      const std::string& now = (*shadow)[s.field];
      if (s.date) {
        Shown shown = now.empty() ? Shown::none() : Shown{date_of(now)};
        if (shown.text != *want)
          f.changes.push_back(property_change(s.property, shown, *want == "absent" ? Shown::none() : Shown{*want}));
      } else if (std::string age = now.empty() ? "-1" : now; age != *want) {
        f.changes.push_back(property_change(s.property, Shown::plain(age), Shown::plain(*want)));
      }
    }
    return f;
  }

  // Of the password and its age only what is asked for: the rest is nobody's business.
  Result<Former> keep_former(Context& c, const Findings& f) const override {
    if (!was_there(c, f)) return Former{};
    std::string name = name_of(c);
    auto is = entry(c, "passwd", name);
    if (!is) return tl::unexpected(is.error());
    if (is->size() < 7) return Former{};
    Former out{{"ensure!", "present"}, {"uid", (*is)[2]},  {"gid", (*is)[3]},
               {"comment", (*is)[4]},  {"home", (*is)[5]}, {"shell", (*is)[6]}};
    if (c.params.has("groups")) out["groups[]"] = former_list(groups_of(c, name));
    bool aged = std::any_of(std::begin(kShadow), std::end(kShadow), [&](auto& s) { return c.params.has(s.property); });
    if (!aged && !c.params.has("password")) return out;
    auto shadow = entry(c, "shadow", name);
    if (!shadow) return tl::unexpected(shadow.error());
    shadow->resize(9);
    if (c.params.has("password") && c.sealing) out["password"] = c.sealing->seal((*shadow)[1]);
    for (const ShadowField& s : kShadow)
      if (const std::string& now = (*shadow)[s.field]; c.params.has(s.property))
        out[s.property] = s.date ? (now.empty() ? "absent" : date_of(now)) : (now.empty() ? "-1" : now);
    return out;
  }

  Result<void> apply(Context& c, const Findings& f, std::vector<Change>& done) const override {
    std::string name = name_of(c);
    if (!f.changes.empty() && f.changes[0].property == "ensure") {
      std::vector<std::string> argv;
      if (f.changes[0].to == "absent") {
        argv = {"userdel"};
        if (c.params.truth("managehome")) argv.push_back("-r");
      } else {
        if (auto r = valid_shell(c); !r) return r;
        argv = {"useradd"};
        // A group of its own name that is there already is taken.
        if (!c.params.has("gid")) {
          auto own = entry(c, "group", name);
          if (!own) return tl::unexpected(own.error());
          if (!own->empty()) argv.insert(argv.end(), {"-g", name});
        }
        if (std::string date = c.params.text("expiry", "absent"); date != "absent")
          argv.insert(argv.end(), {"-e", date});
        auto flag = [&](const char* p, const char* option) {
          if (auto v = c.params.maybe(p)) argv.insert(argv.end(), {option, *v});
        };
        if (!c.params.text("comment").empty()) flag("comment", "-c");
        flag("gid", "-g");
        flag("uid", "-u");
        flag("home", "-d");
        flag("shell", "-s");
        if (!c.params.list("groups").empty())
          argv.insert(argv.end(), {"-G", fmt::format("{}", fmt::join(c.params.list("groups"), ","))});
        if (c.params.truth("allowdupe")) argv.push_back("-o");
        if (c.params.truth("system")) argv.push_back("-r");
        argv.push_back(c.params.truth("managehome") ? "-m" : "-M");
      }
      argv.push_back(name);
      std::string what = fmt::format("{} user {}", f.changes[0].to == "absent" ? "delete" : "create", name);
      if (auto r = run(c, what, argv); !r) return r;
      if (f.changes[0].to == "present" && c.params.has("password"))
        if (auto r = run(c, what, {"chpasswd", "-e"}, name + ":" + c.params.text("password") + "\n"); !r) return r;
      if (f.changes[0].to == "present")
        for (const ShadowField& s : kShadow)
          if (auto v = c.params.maybe(s.property); v && !s.date)
            if (auto r = run(c, what, {"chage", s.option, *v, name}); !r) return r;
      done = f.changes;
      return {};
    }
    for (const Change& ch : f.changes) {
      static constexpr std::pair<std::string_view, const char*> kFlags[] = {
          {"uid", "-u"}, {"gid", "-g"}, {"comment", "-c"}, {"home", "-d"}, {"shell", "-s"}, {"groups", "-G"}};
      std::string what = fmt::format("set {} on user[{}]", ch.property, name);
      Result<void> r;
      if (ch.property == "password")
        r = run(c, what, {"chpasswd", "-e"}, name + ":" + c.params.text("password") + "\n");
      if (ch.property == "shell") r = valid_shell(c);
      if (ch.property == "gid") {
        auto group = entry(c, "group", ch.to);
        if (!group)
          r = tl::unexpected(group.error());
        else if (group->empty())
          r = failure("Could not find group(s) " + ch.to);
      }
      for (auto& [p, option] : kFlags)
        if (r && p == ch.property) {
          std::vector<std::string> argv{"usermod", option, ch.to};
          if (p == "uid" && c.params.truth("allowdupe")) argv.push_back("-o");
          argv.push_back(name);
          r = run(c, what, std::move(argv));
        }
      for (const ShadowField& s : kShadow)
        if (s.property == ch.property)
          r = run(c, what, {s.date ? "usermod" : "chage", s.option, ch.to == "absent" ? "" : ch.to, name});
      if (r)
        done.push_back(ch);
      else if (!goes_on(c, ch, r.error()))
        return r;
    }
    return {};
  }

  // All but the primary one.
  static std::vector<std::string> groups_of(Context& c, const std::string& name) {
    auto r = c.host.shell(fmt::format("id -nG {}", shell_quote(name)));
    auto now = split(r.out.substr(0, r.out.find('\n')), ' ');
    auto primary = c.host.shell(fmt::format("id -ng {}", shell_quote(name))).out;
    now.erase(std::remove(now.begin(), now.end(), primary.substr(0, primary.find('\n'))), now.end());
    std::sort(now.begin(), now.end());
    return now;
  }

  // A login shell that cannot be run locks its user out.
  static Result<void> valid_shell(Context& c) {
    auto shell = c.params.maybe("shell");
    if (!shell || c.params.has("former")) return {};
    auto s = c.host.stat(*shell, true, false);
    if (!s) return tl::unexpected(s.error());
    if (s->kind == FileState::Kind::kAbsent) return failure(fmt::format("Shell {} must exist", *shell));
    if ((s->mode & 0111) == 0) return failure(fmt::format("Shell {} must be executable", *shell));
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
  std::vector<std::string> parts(const Resource&) const override { return {"/etc/group", "/etc/gshadow"}; }
  std::string check(const Resource& r) const override {
    static constexpr Rule kRules[] = {
        {"ensure", "present absent"}, {"system", kTruthWords}, {"allowdupe", kTruthWords}, {"forcelocal", kTruthWords}};
    Params p(r.parameters);
    if (std::string wrong = wrong_name(r); !wrong.empty()) return wrong;
    if (std::string wrong = wrong_value(p, kRules); !wrong.empty()) return wrong;
    if (auto gid = p.maybe("gid"); gid && !whole(*gid)) return fmt::format("Invalid GID {}", *gid);
    return "";
  }
  std::string_view exclusive() const override { return "accounts"; }

  Result<Findings> examine(Context& c) const override {
    Findings f;
    auto is = entry(c, "group", name_of(c));
    if (!is) return tl::unexpected(is.error());
    bool there = is->size() >= 3;
    if (c.params.text("ensure") == "absent") {
      if (there) f.changes.push_back({"ensure", "removed", "present", "absent", "", false});
    } else if (!there) {
      f.changes.push_back({"ensure", "created", "absent", "present", "", false});
    } else if (auto gid = c.params.maybe("gid"); gid && *gid != (*is)[2]) {
      f.changes.push_back(number_change("gid", (*is)[2], *gid));
    }
    return f;
  }

  Result<Former> keep_former(Context& c, const Findings& f) const override {
    if (!was_there(c, f)) return Former{};
    return Former{{"ensure!", "present"}, {"gid", f.changes[0].from}};
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
      if (ch.property == "gid" && c.params.truth("allowdupe")) argv.push_back("-o");
      std::string name = name_of(c);
      argv.push_back(name);
      std::string what = ch.property == "gid" ? fmt::format("set gid on group[{}]", name)
                         : ch.to == "absent"  ? "delete group " + name
                                              : "create group " + name;
      if (auto r = run(c, what, argv); !r) return r;
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
