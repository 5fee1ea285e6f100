// file_line: a line of a text file, whatever else is in it; the type of Puppet's module stdlib.
#include <fmt/format.h>

#include <algorithm>

#include "base/ruby_regex.h"
#include "resource/changes.h"
#include "resource/providers.h"
#include "resource/text_file.h"

namespace tutti::resource {
namespace {

constexpr std::string_view kFileLine[] = {
    "ensure", "line",    "path",     "match",    "match_for_absence",  "multiple",
    "after",  "replace", "encoding", "provider", "append_on_no_match", "replace_all_matches_not_matching_line"};

// What the resource asks for.
struct Asked {
  explicit Asked(const Params& p)
      : path(p.text("path")),
        line(p.text("line")),
        match(p.text("match")),
        after(p.text("after")),
        absent(p.text("ensure", "present") == "absent"),
        by_match(p.has("match")),
        replace(p.truth("replace", true)),
        all(p.truth("replace_all_matches_not_matching_line")),
        append(p.truth("append_on_no_match", true)),
        multiple(p.truth("multiple")),
        goes_by_match(p.truth("match_for_absence") && p.has("match")) {
    if (const Value* former = p.find("former"); former && former->is(Kind::kMap) && absent)
      was = Params(*former).maybe("line");
  }

  std::string path, line, match, after;
  std::optional<std::string> was;  // comes back in its place
  bool absent, by_match, replace, all, append, multiple, goes_by_match;
};

Result<const Regex*> pattern(const std::string& text) {
  std::string wrong;
  const Regex* r = Regex::get(text, &wrong);
  if (!r) return failure(fmt::format("{}: /{}/", wrong, text));
  return r;
}

// The lines as they are to be; nullopt where they are so.
Result<std::optional<std::vector<std::string>>> settled(const Asked& a, const std::vector<std::string>& lines) {
  const Regex *match = nullptr, *after = nullptr;
  for (auto [text, to] : {std::pair{&a.match, &match}, std::pair{&a.after, &after}})
    if (!text->empty()) {
      auto r = pattern(*text);
      if (!r) return tl::unexpected(r.error());
      *to = *r;
    }
  auto matches = [](const Regex* r, const std::string& line) { return r && r->search(line + "\n", 0); };
  auto is_it = [&](const std::string& line) { return line == a.line; };
  std::size_t there = static_cast<std::size_t>(std::count_if(lines.begin(), lines.end(), is_it));
  std::size_t matching = static_cast<std::size_t>(std::count_if(
      lines.begin(), lines.end(), [&](auto& line) { return matches(match, line) && !(a.all && is_it(line)); }));
  auto too_many = [&]() -> tl::unexpected<Failure> {
    return failure(fmt::format("More than one line in file '{}' matches pattern '{}'", a.path, a.match));
  };
  std::vector<std::string> out;
  if (a.absent) {
    if (there == 0 && !(a.goes_by_match && matching)) return std::nullopt;
    if (a.goes_by_match && matching > 1 && !a.multiple) return too_many();
    for (auto& line : lines)
      if (a.was && is_it(line))
        out.push_back(*a.was);
      else if (!(a.goes_by_match ? matches(match, line) : is_it(line)))
        out.push_back(line);
    return out;
  }
  if (!match) {
    if (there) return std::nullopt;
  } else if (matching == 0) {
    if (there || !a.append) return std::nullopt;
  } else if (!a.replace || (there && !a.all)) {
    return std::nullopt;
  }
  if (match && matching > 1 && !a.multiple) return too_many();
  std::size_t places = static_cast<std::size_t>(
      std::count_if(lines.begin(), lines.end(), [&](auto& line) { return matches(after, line); }));
  if (!match && places > 1 && !a.multiple)
    return failure(fmt::format("{} lines match pattern '{}' in file '{}'. One or no line must match the pattern.",
                               places, a.after, a.path));
  bool put = matching > 0;
  for (auto& line : lines) {
    out.push_back(matches(match, line) ? a.line : line);
    // Beside a pattern that nothing matches the first such place counts; alone every one does.
    if (matching == 0 && matches(after, line) && !(match && put)) out.push_back(a.line), put = true;
  }
  if (!put) out.push_back(a.line);
  return out;
}

class FileLine : public Provider {
 public:
  std::string_view type() const override { return "file_line"; }
  std::span<const std::string_view> parameters() const override { return kFileLine; }

  std::string check(const Resource& r) const override {
    static constexpr Rule kRules[] = {
        {"ensure", "present absent"},         {"match_for_absence", "true false"},
        {"multiple", "true false"},           {"replace", "true false"},
        {"append_on_no_match", "true false"}, {"replace_all_matches_not_matching_line", "true false"}};
    Params p(r.parameters);
    if (std::string wrong = wrong_value(p, kRules); !wrong.empty()) return wrong;
    Asked a(p);
    if (a.all && p.has("multiple") && !a.multiple)
      return "multiple must be true when replace_all_matches_not_matching_line is true";
    if (a.all && !a.replace) return "replace must be true when replace_all_matches_not_matching_line is true";
    if (!p.has("line") && !(a.absent && a.goes_by_match)) return "line is a required attribute";
    if (!p.has("path")) return "path is a required attribute";
    if (!a.path.starts_with('/')) return fmt::format("File paths must be fully qualified, not '{}'", a.path);
    return "";
  }

  Result<Findings> examine(Context& c) const override {
    Findings f;
    Asked a(c.params);
    auto text = read_text(c, a.path);
    if (!text) return tl::unexpected(text.error());
    auto next = settled(a, text->lines);
    bool differs = !next || next->has_value();  // what cannot be is told of when it is to be done
    if (differs && a.absent) f.changes.push_back({"ensure", "removed", "present", "absent", "", false});
    if (differs && !a.absent) f.changes.push_back({"ensure", "created", "absent", "present", "", false});
    return f;
  }

  // The line that matched, where it was one.
  Result<Former> keep_former(Context& c, const Findings&) const override {
    Asked a(c.params);
    auto text = read_text(c, a.path);
    if (!text) return tl::unexpected(text.error());
    if (a.absent || c.catalog || a.match.empty()) return Former{};
    auto match = pattern(a.match);
    if (!match) return Former{};
    std::vector<std::string> were;
    for (auto& line : text->lines)
      if ((*match)->search(line + "\n", 0) && line != a.line) were.push_back(line);
    return were.size() == 1 ? Former{{"line", were[0]}} : Former{};
  }

  Result<void> apply(Context& c, const Findings& f, std::vector<Change>& done) const override {
    Asked a(c.params);
    auto lock = exclusive_use(c.host, "lines:" + a.path);
    auto text = read_text(c, a.path);
    if (!text) return tl::unexpected(text.error());
    // Who makes the file comes first; a dry run finds none, and nothing wrong with that.
    if (!text->there) return failure(fmt::format("No such file or directory @ rb_sysopen - {}", a.path), ENOENT);
    auto next = settled(a, text->lines);
    if (!next) return tl::unexpected(next.error());
    if (*next) {
      // Taking lines away leaves the rest as it is, the end of the last line too.
      std::string bytes = joined_lines(**next);
      if (a.absent && !text->ended && !(*next)->empty() && (*next)->back() == text->lines.back()) bytes.pop_back();
      if (auto r = c.host.write(a.path, bytes, text->mode); !r) return r;
    }
    done = f.changes;
    return {};
  }

  std::vector<std::string> parts(const Resource& r) const override { return {Params(r.parameters).text("path")}; }
  std::vector<std::string> writes(const Resource& r) const override {
    return {fmt::format("file_line:{}#{}", Params(r.parameters).text("path"), r.title)};
  }
  std::vector<std::pair<std::string, std::string>> after(const Resource& r) const override {
    return {{"file", Params(r.parameters).text("path")}};
  }
};

}  // namespace

const Provider& file_line_provider() {
  static const FileLine provider;
  return provider;
}

}  // namespace tutti::resource
