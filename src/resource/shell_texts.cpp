// Texts of resources that a shell reads, and what stands in them as it is.
#include <fmt/format.h>

#include "resource/action.h"
#include "tree/raw_mark.h"

namespace tutti::resource {

namespace {

// "-c", "-ec", "-lc" of shells and others: the word after it is a program's text.
bool is_run_option(const Value& word) {
  if (!word.is(Kind::kString)) return false;
  std::string_view w = word.text();
  return w.size() >= 2 && w.size() <= 4 && w.starts_with('-') && w.ends_with('c');
}

}  // namespace

std::vector<const Value*> shell_texts(const Resource& r) {
  std::vector<const Value*> out;
  auto add = [&](const Value& of, std::string_view name) {
    const Value* v = Params(of).find(name);
    if (!v) return;
    if (v->is(Kind::kString)) out.push_back(v);
    if (!v->is(Kind::kList)) return;
    // Several checks are texts each; a command's are its words, but for what a shell is told to run: `sh -c TEXT`.
    for (std::size_t i = 0; i < v->size(); ++i) {
      bool text = name != "command" || (i > 0 && is_run_option(v->items()[i - 1]));
      if (text && v->items()[i].is(Kind::kString)) out.push_back(&v->items()[i]);
    }
  };
  constexpr std::string_view kNames[] = {"command",      "onlyif", "unless", "refresh", "stop",   "reload",
                                         "validate_cmd", "binary", "start",  "status",  "restart"};
  for (std::string_view name : kNames) add(r.parameters, name);
  if (const Value* ready = Params(r.parameters).find("ready"); ready && ready->is(Kind::kMap)) add(*ready, "command");
  return out;
}

std::string unquoted(const Resource& r, bool& mild) {
  Raw worst = Raw::kNone;
  std::string_view what;
  for (const Value* text : shell_texts(r)) {
    Raw raw = text->raw();
    if (raw <= worst) continue;
    worst = raw;
    std::size_t at = text->text().find("${");
    what = at == std::string_view::npos ? "" : text->text().substr(at, text->text().find('}', at) + 1 - at);
  }
  mild = worst == Raw::kSetting;
  if (worst == Raw::kNone) return "";
  if (mild) return "a setting that is no plain word stands as it is in a text for the shell";
  return what.empty()
             ? "what another component gave stands as it is in a text for the shell, and is no plain word"
             : fmt::format("{} stands as it is, or within quotes, in a text for the shell, and a host gives it", what);
}

}  // namespace tutti::resource
