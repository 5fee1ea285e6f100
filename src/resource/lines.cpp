// Resources that are lines of a file of the system: host (/etc/hosts), mount (/etc/fstab), cron (a user's crontab).
#include <arpa/inet.h>
#include <fmt/format.h>

#include <algorithm>

#include "resource/changes.h"
#include "resource/former.h"
#include "resource/providers.h"
#include "resource/text_file.h"

namespace tutti::resource {
namespace {

constexpr u32 kOwnersAlone = 0600;  // of a file that is not there yet

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
  auto lines = read_text(c, path, kOwnersAlone);
  if (!lines) return tl::unexpected(lines.error());
  std::vector<Resource> out;
  for (auto& line : lines->lines)
    if (auto fields = fields_of(data_of(line)); fields.size() >= 2 && (type != "mount" || fields[1].starts_with("/")))
      out.push_back(absent(type, fields[1], arena));
  return out;
}

bool given_any(const Params& p, std::initializer_list<std::string_view> properties) {
  return std::any_of(properties.begin(), properties.end(), [&](auto name) { return p.has(name); });
}

bool has_space(const std::string& text) { return text.find_first_of(" \t\n\r") != std::string::npos; }

constexpr std::string_view kHost[] = {"ensure", "ip", "host_aliases", "target", "comment", "provider"};

// A line of a hosts file: 10.0.0.1 name alias alias # comment
struct HostLine {
  std::string ip, name, aliases;
  std::optional<std::string> comment;

  static std::optional<HostLine> read(std::string_view line) {
    auto fields = fields_of(data_of(line));
    if (fields.size() < 2 || line.starts_with('#')) return std::nullopt;
    HostLine h{fields[0], fields[1], fmt::format("{}", fmt::join(fields.begin() + 2, fields.end(), " ")), {}};
    if (std::size_t hash = line.find('#'); hash != std::string_view::npos) {
      std::size_t from = line.find_first_not_of(" \t", hash + 1);
      h.comment = from == std::string_view::npos ? "" : std::string(line.substr(from));
    }
    return h;
  }

  // The layout that such a file gets whenever it is written: fields apart by one tab, names apart by one space.
  std::string text() const {
    std::string out = ip + "\t" + name;
    if (!aliases.empty()) out += "\t" + aliases;
    if (comment && !comment->empty()) out += "\t# " + *comment;
    return out;
  }
};

class HostEntry : public Provider {
 public:
  std::string_view type() const override { return "host"; }
  std::span<const std::string_view> parameters() const override { return kHost; }

  std::string check(const Resource& r) const override {
    static constexpr Rule kRules[] = {{"ensure", "present absent"}};
    Params p(r.parameters);
    if (std::string wrong = wrong_value(p, kRules); !wrong.empty()) return wrong;
    std::string name = p.text("name", r.title);
    for (std::size_t at = 0; at <= name.size();) {
      std::size_t end = std::min(name.find('.', at), name.size());
      if (!host_label(std::string_view(name).substr(at, end - at))) return "Invalid host name";
      at = end + 1;
    }
    if (auto ip = p.maybe("ip")) {
      unsigned char bytes[16];
      std::string bare = ip->substr(0, ip->find('%'));  // an address of one link has the link's name behind it
      if (::inet_pton(AF_INET, ip->c_str(), bytes) != 1 && ::inet_pton(AF_INET6, bare.c_str(), bytes) != 1)
        return fmt::format("ip: Invalid IP address \"{}\"", *ip);
    }
    for (auto& alias : p.list("host_aliases"))
      if (alias.empty() || has_space(alias)) return "host_aliases: Host aliases cannot be empty or include whitespace";
    if (p.text("comment").find_first_of("\n\r") != std::string::npos) return "comment: Comment cannot include newline";
    return "";
  }

  Result<Findings> examine(Context& c) const override {
    Findings f;
    auto lines = read_text(c, target(c), kOwnersAlone);
    if (!lines) return tl::unexpected(lines.error());
    std::size_t at = find(lines->lines, name(c));
    bool there = at < lines->lines.size();
    std::string ensure = wanted(c);
    if (there && ensure == "absent") f.changes.push_back({"ensure", "removed", "present", "absent", "", false});
    if (!there && ensure == "present") f.changes.push_back({"ensure", "created", "absent", "present", "", false});
    if (!there || ensure == "absent") return f;
    HostLine now = *HostLine::read(lines->lines[at]);
    if (auto ip = c.params.maybe("ip"); ip && *ip != now.ip)
      f.changes.push_back(property_change("ip", {now.ip}, {*ip}));
    if (c.params.has("host_aliases"))
      if (std::string want = fmt::format("{}", fmt::join(c.params.list("host_aliases"), " ")); want != now.aliases)
        f.changes.push_back(
            property_change("host_aliases", now.aliases.empty() ? Shown::none() : Shown::plain(now.aliases), {want}));
    if (auto comment = c.params.maybe("comment"); comment && *comment != now.comment.value_or(""))
      f.changes.push_back(property_change("comment", {now.comment.value_or("")}, {*comment}));
    return f;
  }

  Result<Former> keep_former(Context& c, const Findings& f) const override {
    auto lines = read_text(c, target(c), kOwnersAlone);
    if (!lines) return tl::unexpected(lines.error());
    std::size_t at = find(lines->lines, name(c));
    if (!was_there(c, f) || at == lines->lines.size()) return Former{};
    HostLine now = *HostLine::read(lines->lines[at]);
    return Former{{"ensure!", "present"},
                  {"ip", now.ip},
                  {"host_aliases[]", former_list(fields_of(now.aliases))},
                  {"comment", now.comment.value_or("")}};
  }

  Result<std::optional<std::vector<Resource>>> instances(Context& c, Arena& arena) const override {
    return entries_of(c, "host", "/etc/hosts", arena);
  }

  Result<void> apply(Context& c, const Findings& f, std::vector<Change>& done) const override {
    auto lock = exclusive_use(c.host, "lines:" + target(c));
    auto lines = read_text(c, target(c), kOwnersAlone);
    if (!lines) return tl::unexpected(lines.error());
    std::size_t at = find(lines->lines, name(c));
    bool there = at < lines->lines.size();
    if (wanted(c) == "absent") {
      if (there) lines->lines.erase(lines->lines.begin() + static_cast<std::ptrdiff_t>(at));
    } else {
      HostLine h;
      if (there) h = *HostLine::read(lines->lines[at]);
      h.name = name(c);
      h.ip = c.params.text("ip", h.ip);
      if (c.params.has("host_aliases")) h.aliases = fmt::format("{}", fmt::join(c.params.list("host_aliases"), " "));
      if (auto comment = c.params.maybe("comment")) h.comment = *comment;
      if (h.ip.empty()) return failure("ip is a required attribute for hosts");
      if (there)
        lines->lines[at] = h.text();
      else
        lines->lines.push_back(h.text());
    }
    for (auto& l : lines->lines)
      if (auto h = HostLine::read(l)) l = h->text();
    if (auto r = c.host.write(target(c), joined_lines(lines->lines), lines->mode); !r) return r;
    done = f.changes;
    return {};
  }

  std::vector<std::string> parts(const Resource& r) const override {
    return {Params(r.parameters).text("target", "/etc/hosts")};
  }
  std::vector<std::string> writes(const Resource& r) const override {
    return {"host:" + Params(r.parameters).text("target", "/etc/hosts") + "#" +
            Params(r.parameters).text("name", r.title)};
  }

 private:
  static std::string name(Context& c) { return c.params.text("name", c.resource.title); }
  static std::string target(Context& c) { return c.params.text("target", "/etc/hosts"); }
  // Whoever says anything about an entry wants it to be there.
  static std::string wanted(Context& c) {
    bool managed = given_any(c.params, {"ip", "host_aliases", "comment", "target"});
    return c.params.text("ensure", managed ? "present" : "");
  }
  static bool host_label(std::string_view label) {
    auto inner = [](char ch) { return std::isalnum(static_cast<unsigned char>(ch)) || ch == '_' || ch == '-'; };
    return !label.empty() && label.front() != '-' && label.back() != '-' &&
           std::all_of(label.begin(), label.end(), inner);
  }
  static std::size_t find(const std::vector<std::string>& lines, const std::string& name) {
    for (std::size_t i = 0; i < lines.size(); ++i)
      if (auto h = HostLine::read(lines[i]); h && h->name == name) return i;
    return lines.size();
  }
};

constexpr std::string_view kMount[] = {"ensure", "device", "fstype",   "options",     "pass",    "dump",
                                       "atboot", "target", "remounts", "blockdevice", "provider"};

// Spaces in a name are written as \040, by the kernel other characters too.
std::string unescaped(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    auto digit = [&](std::size_t k) { return k < text.size() && text[k] >= '0' && text[k] <= '7'; };
    if (text[i] == '\\' && digit(i + 1) && digit(i + 2) && digit(i + 3)) {
      out += static_cast<char>((text[i + 1] - '0') * 64 + (text[i + 2] - '0') * 8 + (text[i + 3] - '0'));
      i += 3;
    } else {
      out += text[i];
    }
  }
  return out;
}

std::string escaped(std::string_view text) {
  std::string out;
  for (char ch : text) out += ch == ' ' ? "\\040" : std::string(1, ch);
  return out;
}

// The fields of a line of fstab, each "" where it is missing.
struct MountLine {
  std::string device, path, fstype, options, dump, pass;

  static std::optional<MountLine> read(std::string_view line) {
    auto f = fields_of(line);
    if (f.size() < 2 || f[0][0] == '#') return std::nullopt;
    f.resize(6);
    return MountLine{unescaped(f[0]), stripped(unescaped(f[1])), f[2], f[3], f[4], f[5]};
  }
  static std::string stripped(std::string path) {
    while (path.size() > 1 && path.back() == '/') path.pop_back();
    return path;
  }
  std::string text() const {
    return fmt::format("{}\t{}\t{}\t{}\t{}\t{}", escaped(device), escaped(path), fstype,
                       options.empty() ? "defaults" : options, dump.empty() ? "0" : dump, pass.empty() ? "0" : pass);
  }
};

class Mount : public Provider {
 public:
  std::string_view type() const override { return "mount"; }
  std::span<const std::string_view> parameters() const override { return kMount; }
  std::vector<std::string> parts(const Resource& r) const override {
    return {Params(r.parameters).text("target", "/etc/fstab")};
  }

  std::string check(const Resource& r) const override {
    static constexpr Rule kRules[] = {{"ensure", "defined =present unmounted absent mounted"},
                                      {"dump", "0 1"},
                                      {"remounts", "true false"},
                                      {"atboot", kTruthWords}};
    Params p(r.parameters);
    if (std::string wrong = wrong_value(p, kRules); !wrong.empty()) return wrong;
    for (const char* name : {"fstype", "options"})
      if (auto v = p.maybe(name); v && (v->empty() || has_space(*v)))
        return fmt::format("{} must not be empty or contain whitespace: {}", name, *v);
    return "";
  }

  Result<Findings> examine(Context& c) const override {
    Findings f;
    auto lines = read_text(c, target(c), kOwnersAlone);
    if (!lines) return tl::unexpected(lines.error());
    std::size_t at = find(lines->lines, path(c));
    bool listed = at < lines->lines.size();
    auto now = mounted(c);
    if (!now) return tl::unexpected(now.error());
    std::string is = *now ? (listed ? "mounted" : "ghost") : (listed ? "unmounted" : "absent"), ensure = wanted(c);
    if (!ensure.empty() && ensure != is && !(ensure == "defined" && listed)) {
      auto shown = [](const std::string& word) { return word == "absent" ? Shown::none() : Shown{word}; };
      f.changes.push_back(property_change("ensure", shown(is), shown(ensure)));
      return f;
    }
    if (!listed) return f;
    MountLine entry = *MountLine::read(lines->lines[at]);
    auto differs = [&](const char* property, const std::string& field, const char* otherwise) {
      const Value* given = c.params.find(property);
      std::string want = given ? text_of(*given) : otherwise ? otherwise : field;
      bool number = !given || given->is(Kind::kInt);
      if (want != field)
        f.changes.push_back(property_change(property, field.empty() ? Shown::none() : Shown{field},
                                            number ? Shown::plain(want) : Shown{want}));
    };
    differs("device", entry.device, nullptr);
    differs("fstype", entry.fstype, nullptr);
    differs("options", entry.options, nullptr);
    bool managed = given_any(c.params, {"ensure", "device", "fstype", "options", "pass", "dump", "atboot", "target"});
    differs("pass", entry.pass, managed ? "0" : nullptr);
    differs("dump", entry.dump, managed ? "0" : nullptr);
    return f;
  }

  // What is not said of `pass` and `dump` is 0, so that they are always ours.
  Result<Former> keep_former(Context& c, const Findings& f) const override {
    auto lines = read_text(c, target(c), kOwnersAlone);
    if (!lines) return tl::unexpected(lines.error());
    std::size_t at = find(lines->lines, path(c));
    if (!was_there(c, f) || at == lines->lines.size()) return Former{};
    MountLine now = *MountLine::read(lines->lines[at]);
    auto up = mounted(c);
    if (!up) return tl::unexpected(up.error());
    return Former{{"ensure!", *up ? "mounted" : "unmounted"},
                  {"device", now.device},
                  {"fstype", now.fstype},
                  {"options", now.options},
                  {"pass!", now.pass.empty() ? "0" : now.pass},
                  {"dump!", now.dump.empty() ? "0" : now.dump}};
  }

  Result<std::optional<std::vector<Resource>>> instances(Context& c, Arena& arena) const override {
    return entries_of(c, "mount", "/etc/fstab", arena);
  }

  Result<void> apply(Context& c, const Findings& f, std::vector<Change>& done) const override {
    std::string ensure = wanted(c);
    auto lock = exclusive_use(c.host, "lines:" + target(c));
    auto lines = read_text(c, target(c), kOwnersAlone);
    if (!lines) return tl::unexpected(lines.error());
    std::size_t at = find(lines->lines, path(c));
    bool listed = at < lines->lines.size();
    auto now = mounted(c);
    if (!now) return tl::unexpected(now.error());
    if ((ensure == "absent" || ensure == "unmounted") && *now)
      if (auto r = command(c, {"umount", path(c)}); !r) return r;
    if (ensure == "absent") {
      if (listed) lines->lines.erase(lines->lines.begin() + static_cast<std::ptrdiff_t>(at));
    } else {
      MountLine entry;
      if (listed) entry = *MountLine::read(lines->lines[at]);
      entry.path = path(c);
      entry.device = c.params.text("device", entry.device);
      entry.fstype = c.params.text("fstype", entry.fstype);
      entry.options = c.params.text("options", entry.options);
      entry.pass = c.params.text("pass", "0");
      entry.dump = c.params.text("dump", "0");
      for (auto& [field, value] : {std::pair("device", &entry.device), std::pair("fstype", &entry.fstype)})
        if (value->empty()) return failure(fmt::format("Mount[{}]: Field '{}' is required", path(c), field));
      if (listed)
        lines->lines[at] = entry.text();
      else
        lines->lines.push_back(entry.text());
    }
    for (auto& l : lines->lines)
      if (auto fields = fields_of(l); fields.size() >= 2 && fields[0][0] != '#')
        l = fmt::format("{}", fmt::join(fields, "\t"));
    if (auto r = c.host.write(target(c), joined_lines(lines->lines), lines->mode); !r) return r;
    if (ensure == "mounted" && !*now)
      if (auto r = mount(c, false); !r) return r;
    done = f.changes;
    return {};
  }

  bool minds() const override { return true; }
  bool minds_itself(const std::vector<Change>& done) const override { return !done.empty() && done[0].to != "absent"; }
  std::string refreshing(const Resource&) const override { return "mount again"; }
  // What is mounted is mounted again, with what its line says now.
  Result<bool> refresh(Context& c) const override {
    auto now = mounted(c);
    if (!now) return tl::unexpected(now.error());
    if (!*now || c.params.text("fstype") == "swap") return true;
    c.say(Level::kInfo, ": Remounting");
    bool remounts = c.params.truth("remounts", true);
    Result<void> r;
    if (!remounts) r = command(c, {"umount", path(c)});
    if (r) r = mount(c, remounts);
    if (!r) return tl::unexpected(r.error());
    return true;
  }

  std::vector<std::pair<std::string, std::string>> after(const Resource& r) const override {
    std::vector<std::pair<std::string, std::string>> out;
    for (std::string at = MountLine::stripped(Params(r.parameters).text("name", r.title)); at.size() > 1;) {
      out.emplace_back("file", at);
      std::size_t slash = at.rfind('/');
      at = slash == 0 || slash == std::string::npos ? "/" : at.substr(0, slash);
      out.emplace_back("mount", at);
    }
    return out;
  }

 private:
  static std::string path(Context& c) { return MountLine::stripped(c.params.text("name", c.resource.title)); }
  static std::string target(Context& c) { return c.params.text("target", "/etc/fstab"); }
  // Without `ensure` only the fields of an entry that is there are seen to.
  static std::string wanted(Context& c) {
    std::string ensure = c.params.text("ensure");
    return ensure == "present" ? "defined" : ensure;
  }
  static std::size_t find(const std::vector<std::string>& lines, const std::string& path) {
    for (std::size_t i = 0; i < lines.size(); ++i)
      if (auto entry = MountLine::read(lines[i]); entry && entry->path == path) return i;
    return lines.size();
  }
  static Result<void> command(Context& c, std::vector<std::string> argv) {
    Command k;
    k.argv = std::move(argv);
    k.timeout = std::chrono::minutes(5);
    k.cancel = c.cancel;
    auto r = c.host.run(k);
    if (r.end == CommandResult::End::kLost) return failure(r.describe(), r.lost_code());
    if (!r.ok())
      return failure(fmt::format("Execution of '{}' returned {}: {}{}", fmt::join(k.argv, " "), r.code, r.out, r.err));
    return {};
  }
  static Result<void> mount(Context& c, bool again) {
    std::vector<std::string> argv{"mount"};
    if (again) argv.insert(argv.end(), {"-o", "remount"});
    if (target(c) != "/etc/fstab") argv.insert(argv.end(), {"-T", target(c)});
    argv.push_back(path(c));
    return command(c, std::move(argv));
  }
  static Result<bool> mounted(Context& c) {
    auto text = c.host.read("/proc/self/mounts");
    if (!text) return tl::unexpected(text.error());
    for (auto& l : lines_of(*text)) {
      auto f = fields_of(l);
      if (f.size() > 1 && unescaped(f[1]) == path(c)) return true;
    }
    return false;
  }
};

constexpr std::string_view kCron[] = {"ensure",  "command", "minute", "hour",        "monthday", "month",
                                      "weekday", "special", "user",   "environment", "target",   "provider"};

// The fields that say when, in the order in which they stand in a line.
struct TimeField {
  const char* name;
  int least, most;
  std::vector<std::string_view> names;  // of the values, from 0 on
};
const TimeField kTimes[] = {
    {"minute", 0, 59, {}},
    {"hour", 0, 23, {}},
    {"monthday", 1, 31, {}},
    {"month",
     1,
     12,
     {"", "january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november",
      "december"}},
    {"weekday", 0, 7, {"sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"}}};

// A value as it stands in a crontab: names become numbers. nullopt: it cannot be.
std::optional<std::string> time_value(const TimeField& field, const std::string& given) {
  auto digits = [](std::string_view t) {
    return !t.empty() && t.find_first_not_of("0123456789") == std::string_view::npos;
  };
  std::string_view v = given;
  std::size_t slash = v.find('/'), dash = v.find('-');
  if (slash != std::string_view::npos && !digits(v.substr(slash + 1))) return std::nullopt;
  std::string_view range = v.substr(0, slash);
  if (range == "*" && slash != std::string_view::npos) return given;
  if (dash != std::string_view::npos && digits(range.substr(0, dash)) && digits(range.substr(dash + 1))) return given;
  if (digits(v)) {
    long n = std::strtol(given.c_str(), nullptr, 10);
    return n >= field.least && n <= field.most ? std::optional(given) : std::nullopt;
  }
  std::string word;
  for (char ch : given) word += static_cast<char>(std::tolower(static_cast<unsigned char>(ch)));
  for (std::size_t i = 0; i < field.names.size(); ++i)
    if (!field.names[i].empty() && (word == field.names[i] || (word.size() == 3 && field.names[i].starts_with(word))))
      return std::to_string(i);
  return std::nullopt;
}

// "['1', '15']"
Shown shown_list(const std::vector<std::string>& items) {
  if (items.empty()) return Shown::none();
  std::string out;
  for (auto& i : items) out += (out.empty() ? "'" : ", '") + i + "'";
  return Shown::plain("[" + out + "]");
}

// A line of a crontab: a job with what stands above it, or anything else, which is kept as it is.
struct CronLine {
  std::string text;  // of what is no job
  bool job = false;
  std::string name;  // of Puppet's comment; "": it has none
  std::vector<std::string> environment;
  std::vector<std::string> times[5];  // empty: *
  std::string special, command;

  std::vector<std::string> lines() const {
    if (!job) return {text};
    std::vector<std::string> out;
    if (!name.empty()) out.push_back(std::string(kMark) + name);
    out.insert(out.end(), environment.begin(), environment.end());
    std::string when = "@" + special;
    if (special.empty()) {
      when.clear();
      for (auto& t : times)
        when += (when.empty() ? "" : " ") + (t.empty() ? "*" : fmt::format("{}", fmt::join(t, ",")));
    }
    out.push_back(when + " " + command);
    return out;
  }

  static constexpr std::string_view kMark = "# Puppet Name: ";
};

// Words of a name, then an equals sign.
bool is_setting(std::string_view line) {
  std::size_t from = line.find_first_not_of(" \t"), end = from;
  if (from == std::string_view::npos) return false;
  while (end < line.size() && (std::isalnum(static_cast<unsigned char>(line[end])) || line[end] == '_')) ++end;
  std::size_t eq = line.find_first_not_of(" \t", end);
  return end > from && eq != std::string_view::npos && line[eq] == '=';
}

std::optional<CronLine> read_job(std::string_view line) {
  CronLine job;
  std::vector<std::string_view> when;
  std::size_t at = line.find_first_not_of(" \t");
  if (at == std::string_view::npos || line[at] == '#') return std::nullopt;
  std::size_t words = line[at] == '@' ? 1 : 5;
  while (when.size() < words && at != std::string_view::npos) {
    std::size_t end = line.find_first_of(" \t", at);
    if (end == std::string_view::npos) return std::nullopt;
    when.push_back(line.substr(at, end - at));
    at = line.find_first_not_of(" \t", end);
  }
  if (at == std::string_view::npos) return std::nullopt;
  job.job = true;
  job.command = line.substr(at);
  if (words == 1) {
    job.special = when[0].substr(1);
    return job;
  }
  for (std::size_t i = 0; i < 5; ++i)
    for (std::string_view rest = when[i]; rest != "*" && !rest.empty();) {
      std::size_t end = std::min(rest.find(','), rest.size());
      job.times[i].emplace_back(rest.substr(0, end));
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
  return job;
}

// The comment that names a job stands above it, the settings that are its own between the two.
std::vector<CronLine> read_table(const std::vector<std::string>& lines) {
  std::vector<CronLine> out;
  std::optional<std::string> name;
  std::vector<std::string> pending;  // the comment and the settings, as they were
  auto plain = [&](const std::string& text) {
    CronLine l;
    l.text = text;
    out.push_back(std::move(l));
  };
  for (auto& line : lines) {
    std::size_t mark = line.find("Puppet Name: ");
    if (fields_of(line).empty() || line[line.find_first_not_of(" \t")] == '#') {
      if (mark == std::string::npos) {
        plain(line);
        continue;
      }
      for (auto& l : pending) plain(l);
      name = line.substr(mark + 13);
      while (!name->empty() && std::isspace(static_cast<unsigned char>(name->back()))) name->pop_back();
      pending = {line};
    } else if (is_setting(line)) {
      if (name)
        pending.push_back(line);
      else
        plain(line);
    } else if (auto job = read_job(line)) {
      if (name) {
        job->name = *name;
        job->environment.assign(pending.begin() + 1, pending.end());
      }
      name.reset();
      pending.clear();
      out.push_back(std::move(*job));
    } else {
      plain(line);
    }
  }
  for (auto& l : pending) plain(l);
  return out;
}

// A job is known by the comment line above it, the one that Puppet writes, so that either tool finds the other's.
class Cron : public Provider {
 public:
  std::string_view type() const override { return "cron"; }
  std::span<const std::string_view> parameters() const override { return kCron; }
  std::vector<std::string> parts(const Resource& r) const override {
    Params p(r.parameters);
    return {"/var/spool/cron/crontabs/" + p.text("user", p.text("target", "root"))};
  }

  std::string check(const Resource& r) const override {
    static constexpr Rule kRules[] = {
        {"ensure", "present absent"},
        {"special", "reboot yearly annually monthly weekly daily midnight hourly absent"}};
    Params p(r.parameters);
    if (std::string wrong = wrong_value(p, kRules); !wrong.empty()) return wrong;
    std::string special = p.text("special", "absent");
    for (auto& field : kTimes)
      for (auto& v : p.list(field.name)) {
        if (v == "absent" || v == "*") continue;
        if (!time_value(field, v)) return fmt::format("{} is not a valid {}", v, field.name);
        if (special != "absent")
          return fmt::format("cannot specify both a special schedule and a value for {}", field.name);
      }
    for (auto& e : p.list("environment"))
      if (e != "absent" && !is_setting(e)) return fmt::format("Invalid environment setting \"{}\"", e);
    return "";
  }

  Result<Findings> examine(Context& c) const override {
    Findings f;
    auto lines = table(c, user(c));
    if (!lines) return tl::unexpected(lines.error());
    std::size_t at = find(c, *lines);
    bool there = at < lines->size();
    std::string ensure = wanted(c);
    if (there && ensure == "absent") f.changes.push_back({"ensure", "removed", "present", "absent", "", false});
    if (!there && ensure == "present") f.changes.push_back({"ensure", "created", "absent", "present", "", false});
    if (!there || ensure == "absent") return f;
    const CronLine& is = (*lines)[at];
    CronLine want = changed(c, is);
    auto word = [](const std::string& w) { return w.empty() ? Shown::none() : Shown{w}; };
    if (want.command != is.command) f.changes.push_back(property_change("command", {is.command}, {want.command}));
    if (want.special != is.special)
      f.changes.push_back(property_change("special", word(is.special), word(want.special)));
    for (std::size_t i : {0, 1, 4, 3, 2})
      if (want.times[i] != is.times[i])
        f.changes.push_back(property_change(kTimes[i].name, shown_list(is.times[i]), shown_list(want.times[i])));
    auto sorted = [](std::vector<std::string> v) {
      std::sort(v.begin(), v.end());
      return v;
    };
    if (sorted(want.environment) != sorted(is.environment))
      f.changes.push_back(property_change("environment", shown_list(is.environment),
                                          want.environment.empty()
                                              ? Shown::none()
                                              : Shown::plain(fmt::format("{}", fmt::join(want.environment, ",")))));
    return f;
  }

  // With a special word (@daily) its times are nowhere any more.
  Result<Former> keep_former(Context& c, const Findings& f) const override {
    auto lines = table(c, user(c));
    if (!lines) return tl::unexpected(lines.error());
    std::size_t at = find(c, *lines);
    if (!was_there(c, f) || at == lines->size()) return Former{};
    const CronLine& is = (*lines)[at];
    Former out{{"ensure!", "present"},
               {"command", is.command},
               {"special", is.special.empty() ? "absent" : is.special},
               {"environment[]", former_list(is.environment)}};
    for (std::size_t i = 0; i < 5; ++i)
      out[fmt::format("{}[]{}", kTimes[i].name, c.params.has("special") ? "!" : "")] = former_list(is.times[i]);
    return out;
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
      u32 number = 0;
      for (auto& line : *lines) {
        if (!line.job) continue;
        std::vector<Entry> more{{Symbol("user"), Field::kPlain, b.string(user)}};
        std::string name = line.name;
        if (name.empty()) {
          more.push_back({Symbol("line"), Field::kPlain, b.string(line.lines().back())});
          name = fmt::format("unmanaged:{}-{}", fmt::join(fields_of(line.command), "_"), ++number);
        }
        out.push_back(absent("cron", std::move(name), arena, std::move(more)));
      }
    }
    return out;
  }

  Result<void> apply(Context& c, const Findings& f, std::vector<Change>& done) const override {
    auto lock = exclusive_use(c.host, "crontab");
    auto lines = table(c, user(c));
    if (!lines) return tl::unexpected(lines.error());
    std::size_t at = find(c, *lines);
    bool there = at < lines->size();
    if (wanted(c) == "absent") {
      if (there) lines->erase(lines->begin() + static_cast<std::ptrdiff_t>(at));
    } else if (there) {
      (*lines)[at] = changed(c, (*lines)[at]);
    } else {
      CronLine fresh;
      fresh.job = true;
      fresh.name = name(c);
      fresh = changed(c, fresh);
      if (fresh.command.empty()) return failure("no command specified, cannot create");
      lines->push_back(std::move(fresh));
    }
    std::vector<std::string> all;
    for (auto& l : *lines)
      for (auto& text : l.lines()) all.push_back(text);
    Command k;
    k.argv = {"crontab", "-u", user(c), "-"};
    k.input = joined_lines(all);
    auto r = c.host.run(k);
    if (!r.ok()) return failure(fmt::format("crontab: {} {}", r.describe(), r.err));
    done = f.changes;
    return {};
  }

  std::vector<std::pair<std::string, std::string>> after(const Resource& r) const override {
    Params p(r.parameters);
    return {{"user", p.text("user", p.text("target", "root"))}};
  }

 private:
  static std::string user(Context& c) { return c.params.text("user", c.params.text("target", "root")); }
  static std::string name(Context& c) { return c.params.text("name", c.resource.title); }
  // Whoever says anything about a job wants it to be there.
  static std::string wanted(Context& c) {
    bool managed = given_any(c.params, {"command", "special", "minute", "hour", "weekday", "month", "monthday",
                                        "environment", "user", "target"});
    return c.params.text("ensure", managed ? "present" : "");
  }
  static Result<std::vector<CronLine>> table(Context& c, const std::string& user) {
    Command k;
    k.argv = {"crontab", "-u", user, "-l"};
    auto r = c.host.run(k);
    if (r.end != CommandResult::End::kExited) return failure(fmt::format("crontab: {}", r.describe()));
    return read_table(r.code == 0 ? lines_of(r.out) : std::vector<std::string>{});
  }

  static std::string trimmed(std::string text) {
    text.erase(0, text.find_first_not_of(" \t\n"));
    while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back()))) text.pop_back();
    return text;
  }

  // The job as it should be: what is not spoken of stays as it is.
  static CronLine changed(Context& c, CronLine job) {
    if (auto command = c.params.maybe("command")) job.command = trimmed(*command);
    if (auto special = c.params.maybe("special")) job.special = *special == "absent" ? "" : *special;
    for (std::size_t i = 0; i < 5; ++i)
      if (c.params.has(kTimes[i].name)) job.times[i] = times(c, i);
    if (c.params.has("environment")) {
      job.environment = c.params.list("environment");
      if (job.environment.size() == 1 && job.environment[0] == "absent") job.environment.clear();
    }
    return job;
  }
  static std::vector<std::string> times(Context& c, std::size_t field) {
    std::vector<std::string> out;
    for (auto& v : c.params.list(kTimes[field].name)) {
      if (v == "absent" || v == "*") return {};
      out.push_back(time_value(kTimes[field], v).value_or(v));
    }
    return out;
  }

  // By its name; else one without a name that does the same at the same times is taken for it.
  static std::size_t find(Context& c, const std::vector<CronLine>& lines) {
    auto first = [&](auto fits) {
      return static_cast<std::size_t>(std::find_if(lines.begin(), lines.end(), fits) - lines.begin());
    };
    if (auto line = c.params.maybe("line"))  // see instances
      return first([&](const CronLine& l) { return l.job && l.name.empty() && l.lines().back() == *line; });
    std::size_t at = first([&](const CronLine& l) { return l.job && l.name == name(c); });
    if (at < lines.size() || !c.params.has("command")) return at;
    return first([&](const CronLine& l) {
      if (!l.job || !l.name.empty()) return false;
      CronLine same = changed(c, l);
      same.environment = l.environment;
      return same.lines() == l.lines();
    });
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
