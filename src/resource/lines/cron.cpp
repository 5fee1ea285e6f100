// cron: a job in a user's crontab, known by the comment above it.
#include <fmt/format.h>

#include <algorithm>

#include "resource/changes.h"
#include "resource/former.h"
#include "resource/lines/lines.h"
#include "resource/providers.h"
#include "resource/text_file.h"

namespace tutti::resource {
namespace {

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

const Provider& cron_provider() {
  static const Cron provider;
  return provider;
}

}  // namespace tutti::resource
