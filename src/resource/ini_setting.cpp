// ini_setting: one setting in a section of an INI file; the type of Puppet's module inifile.
#include <fmt/format.h>

#include <algorithm>

#include "resource/changes.h"
#include "resource/former.h"
#include "resource/providers.h"
#include "resource/text_file.h"

namespace tutti::resource {
namespace {

constexpr std::string_view kIniSetting[] = {"ensure",         "section",
                                            "setting",        "value",
                                            "path",           "key_val_separator",
                                            "section_prefix", "section_suffix",
                                            "indent_char",    "indent_width",
                                            "refreshonly",    "show_diff",
                                            "provider",       "force_new_section_creation"};
constexpr std::string_view kBlank = " \t\r\f\v";

std::string_view trimmed(std::string_view text) {
  std::size_t from = text.find_first_not_of(kBlank);
  if (from == std::string_view::npos) return "";
  return text.substr(from, text.find_last_not_of(kBlank) - from + 1);
}
bool is_blank(std::string_view line) { return trimmed(line).empty(); }

// A line `key = value`, in its parts as they are written.
struct SettingLine {
  std::string_view indent, key, between, value;
};

// The lines of a file as sections: those before the first header are the section without a name.
class Ini {
 public:
  Ini(const Params& p, std::vector<std::string> lines)
      : prefix_(p.text("section_prefix", "[")),
        suffix_(p.text("section_suffix", "]")),
        separator_(p.text("key_val_separator", " = ")),
        indent_char_(p.text("indent_char", " ")),
        lines_(std::move(lines)) {
    if (p.has("indent_width")) indent_width_ = static_cast<std::size_t>(std::max(0.0, p.number("indent_width", 0)));
    mark_ = is_blank(separator_) ? " " : std::string(trimmed(separator_));
  }

  const std::vector<std::string>& lines() const { return lines_; }

  bool has_section(std::string_view name) const { return name.empty() || find(name).has_value(); }
  std::optional<std::string> value(std::string_view section, std::string_view key) const {
    std::optional<std::string> out;
    if (auto s = find(section))
      for (std::size_t i = s->first; i < s->end; ++i)
        if (auto x = setting(lines_[i]); x && x->key == key) out = std::string(x->value);
    return out;
  }

  void set(const std::string& section, const std::optional<std::string>& key, const std::string& to) {
    auto s = find(section);
    if (!s || (section.empty() && s->first == s->end)) return add_section(section, key, to);
    if (!key) return;
    bool there = false;
    for (std::size_t i = s->first; i < s->end; ++i)
      if (auto x = setting(lines_[i]); x && x->key == *key) {
        lines_[i] = fmt::format("{}{}{}{}", x->indent, x->key, x->between, to);
        there = true;
      }
    if (there) return;
    // Beside the same setting that is commented out; else behind all others of the section.
    std::size_t at = s->end;
    while (at > s->first && is_blank(lines_[at - 1])) --at;
    for (std::size_t i = s->first; i < s->end; ++i)
      if (is_commented(lines_[i], *key)) {
        at = i + 1;
        break;
      }
    std::size_t width = indent_width_.value_or(indentation(*s));
    lines_.insert(lines_.begin() + static_cast<std::ptrdiff_t>(at), indented(width) + *key + separator_ + to);
  }

  void remove(std::string_view section, std::string_view key) {
    auto s = find(section);
    if (!s) return;
    for (std::size_t i = s->first; i < s->end; ++i) {
      auto x = setting(lines_[i]);
      if (!x || x->key != key) continue;
      lines_.erase(lines_.begin() + static_cast<std::ptrdiff_t>(i));
      // A section in which nothing is left goes, too.
      if (!section.empty() && s->end - s->first == 1)
        lines_.erase(lines_.begin() + static_cast<std::ptrdiff_t>(s->first - 1));
      return;
    }
  }

 private:
  struct Span {
    std::size_t first, end;  // lines without the header
  };

  std::optional<std::string_view> header(std::string_view line) const {
    std::string_view text = trimmed(line);
    if (text.size() < prefix_.size() + suffix_.size() || !text.starts_with(prefix_) || !text.ends_with(suffix_))
      return std::nullopt;
    return text.substr(prefix_.size(), text.size() - prefix_.size() - suffix_.size());
  }

  std::optional<Span> find(std::string_view name) const {
    std::optional<Span> out;
    if (name.empty()) out = Span{0, 0};
    for (std::size_t i = 0; i < lines_.size(); ++i) {
      auto h = header(lines_[i]);
      if (h && out && out->end == i) return out;
      if (h && *h == name && !name.empty()) out = Span{i + 1, i + 1};
      if (!h && out && out->end == i) out->end = i + 1;
    }
    return out;
  }

  std::optional<SettingLine> setting(std::string_view line) const {
    std::size_t from = line.find_first_not_of(kBlank);
    if (from == std::string_view::npos || line[from] == '#' || line[from] == ';') return std::nullopt;
    std::size_t mark = line.find(mark_, from + 1);
    if (mark == std::string_view::npos) return std::nullopt;
    std::size_t key_end = line.find_last_not_of(kBlank, mark - 1) + 1;
    std::size_t value = std::min(line.find_first_not_of(" \t", mark + mark_.size()), line.size());
    return SettingLine{line.substr(0, from), line.substr(from, key_end - from), line.substr(key_end, value - key_end),
                       line.substr(value)};
  }

  bool is_commented(std::string_view line, std::string_view key) const {
    std::string_view text = trimmed(line);
    std::size_t words = text.find_first_not_of("#;");
    if (words == 0 || words == std::string_view::npos) return false;
    std::string_view rest = text.substr(words);
    rest.remove_prefix(std::min(rest.find_first_not_of(kBlank), rest.size()));
    std::size_t mark = rest.find(mark_);
    return mark != std::string_view::npos && trimmed(rest.substr(0, mark)) == key;
  }

  std::size_t indentation(const Span& s) const {
    std::optional<std::size_t> least;
    for (std::size_t i = s.first; i < s.end; ++i)
      if (auto x = setting(lines_[i])) least = std::min(least.value_or(x->indent.size()), x->indent.size());
    return least.value_or(0);
  }

  std::string indented(std::size_t width) const {
    std::string out;
    for (std::size_t i = 0; i < width; ++i) out += indent_char_;
    return out;
  }

  void add_section(const std::string& section, const std::optional<std::string>& key, const std::string& to) {
    std::vector<std::string> added;
    std::string line = key ? indented(indent_width_.value_or(0)) + *key + separator_ + to : "";
    if (section.empty()) {  // before everything else, apart from it by a line
      if (!key) return;
      added = {line};
      if (!lines_.empty()) added.emplace_back();
      lines_.insert(lines_.begin(), added.begin(), added.end());
      return;
    }
    if (!lines_.empty()) lines_.emplace_back();
    lines_.push_back(prefix_ + section + suffix_);
    if (key) lines_.push_back(line);
  }

  std::string prefix_, suffix_, separator_, indent_char_, mark_;
  std::optional<std::size_t> indent_width_;
  std::vector<std::string> lines_;
};

class IniSetting : public Provider {
 public:
  std::string_view type() const override { return "ini_setting"; }
  std::span<const std::string_view> parameters() const override { return kIniSetting; }

  std::string check(const Resource& r) const override {
    static constexpr Rule kRules[] = {{"ensure", "present absent"}};
    Params p(r.parameters);
    if (std::string wrong = wrong_value(p, kRules); !wrong.empty()) return wrong;
    if (std::string path = p.text("path"); !path.starts_with('/'))
      return fmt::format("File paths must be fully qualified, not '{}'", path);
    return "";
  }

  Result<Findings> examine(Context& c) const override {
    Findings f;
    if (c.params.truth("refreshonly")) return f;
    auto ini = read(c);
    if (!ini) return tl::unexpected(ini.error());
    std::string section = c.params.text("section");
    bool absent = c.params.text("ensure", "present") == "absent", there = ini->has_section(section);
    auto key = key_of_setting(c);
    if (!there && !c.params.truth("force_new_section_creation", true)) return f;
    std::optional<std::string> now = key ? ini->value(section, *key) : std::nullopt;
    if (key) there = now.has_value();
    if (there && absent) f.changes.push_back({"ensure", "removed", "present", "absent", "", false});
    if (!there && !absent) f.changes.push_back({"ensure", "created", "absent", "present", "", false});
    if (there && !absent && now && c.params.has("value") && *now != wanted(c)) {
      // As in Puppet, where what is in such files is shown only where differences are asked for.
      Shown hidden = Shown::plain("[redacted sensitive information]");
      f.changes.push_back(property_change("value", hidden, hidden));
    }
    return f;
  }

  Result<Former> keep_former(Context& c, const Findings& f) const override {
    auto ini = read(c);
    if (!ini) return tl::unexpected(ini.error());
    auto key = key_of_setting(c);
    auto now = key ? ini->value(c.params.text("section"), *key) : std::nullopt;
    return was_there(c, f) && now ? Former{{"ensure!", "present"}, {"value", *now}} : Former{};
  }

  Result<void> apply(Context& c, const Findings& f, std::vector<Change>& done) const override {
    if (auto r = bring_about(c); !r) return r;
    done = f.changes;
    return {};
  }

  bool minds() const override { return true; }
  Result<bool> refresh(Context& c) const override {
    if (!c.params.truth("refreshonly")) return false;
    if (auto r = bring_about(c); !r) return tl::unexpected(r.error());
    return true;
  }

  std::vector<std::string> parts(const Resource& r) const override { return {Params(r.parameters).text("path")}; }
  std::vector<std::string> writes(const Resource& r) const override {
    Params p(r.parameters);
    return {fmt::format("ini_setting:{}#{}#{}", p.text("path"), p.text("section"), p.text("setting"))};
  }
  std::vector<std::pair<std::string, std::string>> after(const Resource& r) const override {
    std::string path = Params(r.parameters).text("path");
    return {{"file", path.substr(0, path.rfind('/'))}};
  }

 private:
  static std::optional<std::string> key_of_setting(Context& c) {
    auto key = c.params.maybe("setting");
    return key ? std::optional<std::string>(trimmed(*key)) : std::nullopt;
  }
  static std::string wanted(Context& c) { return std::string(trimmed(c.params.text("value"))); }
  static Result<Ini> read(Context& c) {
    auto text = read_text(c, c.params.text("path"));
    if (!text) return tl::unexpected(text.error());
    return Ini(c.params, std::move(text->lines));
  }

  static Result<void> bring_about(Context& c) {
    std::string path = c.params.text("path"), section = c.params.text("section");
    auto lock = exclusive_use(c.host, "lines:" + path);
    auto text = read_text(c, path);
    if (!text) return tl::unexpected(text.error());
    Ini ini(c.params, text->lines);
    auto key = key_of_setting(c);
    if (c.params.text("ensure", "present") != "absent")
      ini.set(section, key, wanted(c));
    else if (key)
      ini.remove(section, *key);
    return c.host.write(path, joined_lines(ini.lines()), text->mode);
  }
};

}  // namespace

const Provider& ini_setting_provider() {
  static const IniSetting provider;
  return provider;
}

}  // namespace tutti::resource
