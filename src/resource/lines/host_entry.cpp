// host: a line of /etc/hosts.
#include <arpa/inet.h>
#include <fmt/format.h>

#include <algorithm>

#include "resource/changes.h"
#include "resource/former.h"
#include "resource/lines/lines.h"
#include "resource/providers.h"
#include "resource/text_file.h"

namespace tutti::resource {
namespace {

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

}  // namespace

const Provider& host_provider() {
  static const HostEntry provider;
  return provider;
}

}  // namespace tutti::resource
