// Resources that are lines of a file of the system: host (/etc/hosts), mount (/etc/fstab), cron (a user's crontab).
#include <fmt/format.h>

#include <algorithm>

#include "resource/providers.h"

namespace tutti::resource {
namespace {

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> out;
  while (!text.empty()) {
    std::size_t end = text.find('\n');
    out.emplace_back(text.substr(0, end));
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
  }
  return out;
}

std::vector<std::string> fields_of(std::string_view line) {
  std::vector<std::string> out;
  for (std::size_t at = 0; at < line.size();) {
    std::size_t end = line.find_first_of(" \t", at);
    if (end == std::string_view::npos) end = line.size();
    if (end > at) out.emplace_back(line.substr(at, end - at));
    at = end + 1;
  }
  return out;
}

std::string joined(const std::vector<std::string>& lines) {
  std::string out;
  for (auto& l : lines) out += l + "\n";
  return out;
}

struct Lines {
  std::vector<std::string> all;
  u32 mode = 0644;
};

Result<Lines> read_lines(Context& c, const std::string& path) {
  Lines l;
  auto s = c.host.stat(path, true, false);
  if (!s) return tl::unexpected(s.error());
  if (s->kind == FileState::Kind::kAbsent) return l;
  auto text = c.host.read(path);
  if (!text) return tl::unexpected(text.error());
  l.all = lines_of(*text);
  l.mode = s->mode;
  return l;
}

// A line that is data, without its comment.
std::string_view data_of(std::string_view line) { return line.substr(0, line.find('#')); }

// A resource that is not to be.
Resource absent(std::string_view type, std::string title, Arena& arena, std::vector<Entry> more = {}) {
  more.push_back({Symbol("ensure"), Field::kPlain, Value::string("absent")});
  return {std::string(type), std::move(title), TreeBuilder(arena).map(more)};
}

// Entries that are known by their second field.
Result<std::optional<std::vector<Resource>>> entries_of(Context& c, std::string_view type, const std::string& path,
                                                        Arena& arena) {
  auto lines = read_lines(c, path);
  if (!lines) return tl::unexpected(lines.error());
  std::vector<Resource> out;
  for (auto& line : lines->all)
    if (auto fields = fields_of(data_of(line)); fields.size() >= 2 && (type != "mount" || fields[1].starts_with("/")))
      out.push_back(absent(type, fields[1], arena));
  return out;
}

constexpr std::string_view kHost[] = {"ensure", "ip", "host_aliases", "target", "comment", "provider"};

class HostEntry : public Provider {
 public:
  std::string_view type() const override { return "host"; }
  std::span<const std::string_view> parameters() const override { return kHost; }

  Result<Findings> examine(Context& c) const override {
    Findings f;
    auto lines = read_lines(c, target(c));
    if (!lines) return tl::unexpected(lines.error());
    std::size_t at = find(lines->all, name(c));
    bool there = at < lines->all.size();
    if (c.params.text("ensure", "present") == "absent") {
      if (there) f.changes.push_back({"ensure", "removed", "present", "absent", "", false});
      return f;
    }
    if (!there) {
      f.changes.push_back({"ensure", "created", "absent", "present", "", false});
      return f;
    }
    auto now = fields_of(data_of(lines->all[at]));
    if (auto ip = c.params.maybe("ip"); ip && *ip != now[0])
      f.changes.push_back({"ip", fmt::format("ip changed '{}' to '{}'", now[0], *ip), now[0], *ip, "", false});
    if (c.params.has("host_aliases")) {
      std::string a = fmt::format("{}", fmt::join(now.begin() + 2, now.end(), " ")),
                  b = fmt::format("{}", fmt::join(c.params.list("host_aliases"), " "));
      if (a != b)
        f.changes.push_back({"host_aliases", fmt::format("host_aliases changed '{}' to '{}'", a, b), a, b, "", false});
    }
    return f;
  }

  Result<std::optional<std::vector<Resource>>> instances(Context& c, Arena& arena) const override {
    return entries_of(c, "host", "/etc/hosts", arena);
  }

  Result<void> apply(Context& c, const Findings& f, std::vector<Change>& done) const override {
    auto lock = exclusive_use(c.host, "lines:" + target(c));
    auto lines = read_lines(c, target(c));
    if (!lines) return tl::unexpected(lines.error());
    std::size_t at = find(lines->all, name(c));
    bool there = at < lines->all.size();
    if (c.params.text("ensure", "present") == "absent") {
      if (there) lines->all.erase(lines->all.begin() + static_cast<std::ptrdiff_t>(at));
    } else {
      std::string ip, aliases;
      if (there) {
        auto now = fields_of(data_of(lines->all[at]));
        ip = now[0];
        aliases = fmt::format("{}", fmt::join(now.begin() + 2, now.end(), " "));
      }
      ip = c.params.text("ip", ip);
      if (c.params.has("host_aliases")) aliases = fmt::format("{}", fmt::join(c.params.list("host_aliases"), " "));
      if (ip.empty()) return failure("a host needs an ip");
      std::string line = ip + "\t" + name(c) + (aliases.empty() ? "" : "\t" + aliases);
      if (auto comment = c.params.maybe("comment")) line += "\t# " + *comment;
      if (there)
        lines->all[at] = line;
      else
        lines->all.push_back(line);
    }
    // The layout that this file always gets: fields apart by one tab, names apart by one space.
    for (auto& l : lines->all) {
      auto fields = fields_of(data_of(l));
      if (fields.size() < 2 || l.find('#') != std::string::npos) continue;
      l = fields[0] + "\t" + fields[1];
      if (fields.size() > 2) l += "\t" + fmt::format("{}", fmt::join(fields.begin() + 2, fields.end(), " "));
    }
    if (auto r = c.host.write(target(c), joined(lines->all), lines->mode); !r) return r;
    done = f.changes;
    return {};
  }

  std::vector<std::string> writes(const Resource& r) const override {
    return {"host:" + Params(r.parameters).text("target", "/etc/hosts") + "#" +
            Params(r.parameters).text("name", r.title)};
  }

 private:
  static std::string name(Context& c) { return c.params.text("name", c.resource.title); }
  static std::string target(Context& c) { return c.params.text("target", "/etc/hosts"); }
  static std::size_t find(const std::vector<std::string>& lines, const std::string& name) {
    for (std::size_t i = 0; i < lines.size(); ++i) {
      auto fields = fields_of(data_of(lines[i]));
      if (fields.size() >= 2 && fields[1] == name) return i;
    }
    return lines.size();
  }
};

constexpr std::string_view kMount[] = {"ensure", "device", "fstype",   "options",     "pass",    "dump",
                                       "atboot", "target", "remounts", "blockdevice", "provider"};

class Mount : public Provider {
 public:
  std::string_view type() const override { return "mount"; }
  std::span<const std::string_view> parameters() const override { return kMount; }

  Result<Findings> examine(Context& c) const override {
    Findings f;
    std::string path = c.params.text("name", c.resource.title), ensure = c.params.text("ensure", "present");
    auto lines = read_lines(c, target(c));
    if (!lines) return tl::unexpected(lines.error());
    std::size_t at = find(lines->all, path);
    bool listed = at < lines->all.size();
    auto now = mounted(c, path);
    if (!now) return tl::unexpected(now.error());
    std::string is = *now ? (listed ? "mounted" : "ghost") : (listed ? "unmounted" : "absent");
    bool ok = ensure == "mounted"     ? is == "mounted"
              : ensure == "unmounted" ? is == "unmounted"
              : ensure == "absent"    ? is == "absent"
                                      : listed;
    if (!ok)
      f.changes.push_back({"ensure",
                           ensure == "absent" ? "removed" : fmt::format("ensure changed '{}' to '{}'", is, ensure), is,
                           ensure, "", false});
    if (ok && listed && ensure != "absent") {
      std::string want = line(c, lines->all[at]);
      if (fields_of(want) != fields_of(lines->all[at]))
        f.changes.push_back({"options", "the entry changed", lines->all[at], want, "", false});
    }
    return f;
  }

  Result<std::optional<std::vector<Resource>>> instances(Context& c, Arena& arena) const override {
    return entries_of(c, "mount", "/etc/fstab", arena);
  }

  Result<void> apply(Context& c, const Findings& f, std::vector<Change>& done) const override {
    std::string path = c.params.text("name", c.resource.title), ensure = c.params.text("ensure", "present");
    auto lock = exclusive_use(c.host, "lines:" + target(c));
    auto lines = read_lines(c, target(c));
    if (!lines) return tl::unexpected(lines.error());
    std::size_t at = find(lines->all, path);
    bool listed = at < lines->all.size();
    auto now = mounted(c, path);
    if (!now) return tl::unexpected(now.error());
    if (ensure == "absent") {
      if (listed) lines->all.erase(lines->all.begin() + static_cast<std::ptrdiff_t>(at));
    } else if (listed) {
      lines->all[at] = line(c, lines->all[at]);
    } else {
      lines->all.push_back(line(c, ""));
    }
    if (auto r = c.host.write(target(c), joined(lines->all), lines->mode); !r) return r;
    std::string command;
    if (ensure == "mounted")
      command = *now ? "mount -o remount " : "mount ";
    else if ((ensure == "absent" || ensure == "unmounted") && *now)
      command = "umount ";
    if (!command.empty()) {
      if (ensure == "mounted" && target(c) != "/etc/fstab") command += "-T " + shell_quote(target(c)) + " ";
      auto r = c.host.shell(command + shell_quote(path), std::chrono::minutes(5), c.cancel);
      if (!r.ok()) return failure(fmt::format("{}{}: {} {}", command, path, r.describe(), r.err));
    }
    done = f.changes;
    return {};
  }

  std::vector<std::pair<std::string, std::string>> after(const Resource& r) const override {
    std::vector<std::pair<std::string, std::string>> out;
    for (std::string at = Params(r.parameters).text("name", r.title); at.size() > 1;) {
      out.emplace_back("file", at);
      std::size_t slash = at.rfind('/');
      at = slash == 0 || slash == std::string::npos ? "/" : at.substr(0, slash);
      out.emplace_back("mount", at);
    }
    return out;
  }

 private:
  static std::string target(Context& c) { return c.params.text("target", "/etc/fstab"); }
  static std::size_t find(const std::vector<std::string>& lines, const std::string& path) {
    for (std::size_t i = 0; i < lines.size(); ++i) {
      auto fields = fields_of(data_of(lines[i]));
      if (fields.size() >= 2 && fields[1] == path) return i;
    }
    return lines.size();
  }
  static std::string line(Context& c, const std::string& old) {
    auto f = fields_of(data_of(old));
    f.resize(6);
    auto pick = [&](const char* p, std::size_t i, const char* otherwise) {
      return c.params.text(p, f[i].empty() ? otherwise : f[i]);
    };
    return fmt::format("{}\t{}\t{}\t{}\t{}\t{}", pick("device", 0, "none"), c.params.text("name", c.resource.title),
                       pick("fstype", 2, "auto"), pick("options", 3, "defaults"), pick("dump", 4, "0"),
                       pick("pass", 5, "0"));
  }
  static Result<bool> mounted(Context& c, const std::string& path) {
    auto text = c.host.read("/proc/self/mounts");
    if (!text) return tl::unexpected(text.error());
    for (auto& l : lines_of(*text)) {
      auto f = fields_of(l);
      if (f.size() > 1 && f[1] == path) return true;
    }
    return false;
  }
};

constexpr std::string_view kCron[] = {"ensure",  "command", "minute", "hour",        "monthday", "month",
                                      "weekday", "special", "user",   "environment", "target",   "provider"};

// A job is known by the comment line above it, the one that Puppet writes, so that either tool finds the other's.
class Cron : public Provider {
 public:
  std::string_view type() const override { return "cron"; }
  std::span<const std::string_view> parameters() const override { return kCron; }

  Result<Findings> examine(Context& c) const override {
    Findings f;
    auto lines = table(c);
    if (!lines) return tl::unexpected(lines.error());
    auto [from, to] = find(c, *lines);
    bool there = from < to;
    if (c.params.text("ensure", "present") == "absent") {
      if (there) f.changes.push_back({"ensure", "removed", "present", "absent", "", false});
    } else if (!there) {
      f.changes.push_back({"ensure", "created", "absent", "present", "", false});
    } else {
      std::vector<std::string> now(lines->begin() + static_cast<std::ptrdiff_t>(from),
                                   lines->begin() + static_cast<std::ptrdiff_t>(to)),
          want = job(c);
      if (now != want)
        f.changes.push_back({"command", fmt::format("command changed '{}' to '{}'", now.back(), want.back()),
                             now.back(), want.back(), "", false});
    }
    return f;
  }

  // All jobs of all users; those without a name are known by their line.
  Result<std::optional<std::vector<Resource>>> instances(Context& c, Arena& arena) const override {
    TreeBuilder b(arena);
    std::vector<Resource> out;
    auto users = c.host.list("/var/spool/cron/crontabs");
    if (!users) return out;  // nobody ever had one
    for (auto& user : *users) {
      auto lines = table(c, user);
      if (!lines) return tl::unexpected(lines.error());
      std::vector<Entry> his{{Symbol("user"), Field::kPlain, b.string(user)}};
      std::string name;
      u32 number = 0;
      for (auto& line : *lines) {
        if (line.starts_with(kMark)) {
          name = line.substr(kMark.size());
        } else if (auto fields = fields_of(line); !fields.empty() && fields[0][0] != '#' && !setting(line)) {
          std::size_t words = fields[0][0] == '@' ? 1 : 5;
          std::vector<Entry> more = his;
          if (name.empty()) {
            more.push_back({Symbol("line"), Field::kPlain, b.string(line)});
            name = fmt::format("unmanaged:{}-{}",
                               fmt::join(fields.begin() + static_cast<std::ptrdiff_t>(std::min(words, fields.size())),
                                         fields.end(), " "),
                               ++number);
          }
          out.push_back(absent("cron", std::move(name), arena, std::move(more)));
          name.clear();
        }
      }
    }
    return out;
  }

  Result<void> apply(Context& c, const Findings& f, std::vector<Change>& done) const override {
    auto lock = exclusive_use(c.host, "crontab");
    auto lines = table(c);
    if (!lines) return tl::unexpected(lines.error());
    auto [from, to] = find(c, *lines);
    auto at = lines->begin() + static_cast<std::ptrdiff_t>(from);
    at = lines->erase(at, lines->begin() + static_cast<std::ptrdiff_t>(to));
    if (c.params.text("ensure", "present") != "absent") {
      auto j = job(c);
      lines->insert(at, j.begin(), j.end());
    }
    Command k;
    k.argv = {"crontab", "-u", user(c), "-"};
    k.input = joined(*lines);
    auto r = c.host.run(k);
    if (!r.ok()) return failure(fmt::format("crontab: {} {}", r.describe(), r.err));
    done = f.changes;
    return {};
  }

  std::vector<std::pair<std::string, std::string>> after(const Resource& r) const override {
    return {{"user", Params(r.parameters).text("user", "root")}};
  }

 private:
  static std::string user(Context& c) { return c.params.text("user", "root"); }
  static constexpr std::string_view kMark = "# Puppet Name: ";
  static std::string mark(Context& c) { return std::string(kMark) + c.params.text("name", c.resource.title); }
  static Result<std::vector<std::string>> table(Context& c) { return table(c, user(c)); }
  static Result<std::vector<std::string>> table(Context& c, const std::string& user) {
    Command k;
    k.argv = {"crontab", "-u", user, "-l"};
    auto r = c.host.run(k);
    if (r.end != CommandResult::End::kExited) return failure(fmt::format("crontab: {}", r.describe()));
    return r.code == 0 ? lines_of(r.out) : std::vector<std::string>{};
  }
  static bool setting(const std::string& line) {
    std::size_t eq = line.find('='), space = line.find_first_of(" \t*");
    return eq != std::string::npos && (space == std::string::npos || eq < space);
  }
  static std::pair<std::size_t, std::size_t> find(Context& c, const std::vector<std::string>& lines) {
    if (auto line = c.params.maybe("line")) {  // one that has no name, see instances
      auto at = static_cast<std::size_t>(std::find(lines.begin(), lines.end(), *line) - lines.begin());
      return {at, std::min(at + 1, lines.size())};
    }
    for (std::size_t i = 0; i < lines.size(); ++i) {
      if (lines[i] != mark(c)) continue;
      std::size_t end = i + 1;
      while (end < lines.size() && setting(lines[end])) ++end;
      return {i, std::min(end + 1, lines.size())};
    }
    return {lines.size(), lines.size()};
  }
  static std::vector<std::string> job(Context& c) {
    std::vector<std::string> out{mark(c)};
    for (auto& e : c.params.list("environment")) out.push_back(e);
    auto field = [&](const char* p) {
      auto l = c.params.list(p);
      return l.empty() || l[0] == "absent" ? std::string("*") : fmt::format("{}", fmt::join(l, ","));
    };
    std::string when = c.params.has("special") ? "@" + c.params.text("special")
                                               : fmt::format("{} {} {} {} {}", field("minute"), field("hour"),
                                                             field("monthday"), field("month"), field("weekday"));
    out.push_back(when + " " + c.params.text("command"));
    return out;
  }
};

}  // namespace

const Provider& host_provider() {
  static const HostEntry provider;
  return provider;
}
const Provider& mount_provider() {
  static const Mount provider;
  return provider;
}
const Provider& cron_provider() {
  static const Cron provider;
  return provider;
}

}  // namespace tutti::resource
