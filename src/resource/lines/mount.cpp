// mount: a line of /etc/fstab, and what is mounted by it.
#include <fmt/format.h>

#include <algorithm>

#include "resource/changes.h"
#include "resource/former.h"
#include "resource/lines/lines.h"
#include "resource/providers.h"
#include "resource/text_file.h"

namespace tutti::resource {
namespace {

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

}  // namespace

const Provider& mount_provider() {
  static const Mount provider;
  return provider;
}

}  // namespace tutti::resource
