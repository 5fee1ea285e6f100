#include "project/project.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "base/near.h"
#include "format/write.h"
#include "model/secret_settings.h"
#include "tree/secret.h"

namespace tutti {

const Language* Languages::named(std::string_view name) const {
  for (const Language* language : all_) {
    if (language->name() == name) return language;
  }
  return for_file(fmt::format(".{}", name));  // `--lang sf`, `--lang yml`
}

const Language* Languages::for_file(std::string_view path) const {
  const Language* best = nullptr;
  std::size_t longest = 0;
  for (const Language* language : all_) {
    for (std::string_view extension : language->extensions()) {
      if (extension.size() <= longest || !path.ends_with(extension)) continue;
      best = language;
      longest = extension.size();
    }
  }
  return best;
}

const Language* Languages::for_folder(const std::string& path) const {
  auto it = std::find_if(all_.begin(), all_.end(), [&](const Language* l) { return l->reads_folder(path); });
  return it == all_.end() ? nullptr : *it;
}

namespace {

void unknown_language(Session& session, const Languages& languages, std::string_view name) {
  std::vector<std::string_view> names;
  std::string list;
  for (const Language* language : languages.all()) {
    names.push_back(language->name());
    list += fmt::format("{}{}", list.empty() ? "" : ", ", language->name());
  }
  session.diagnostics.error("USE-LANGUAGE", {}, fmt::format("there is no language `{}`", name))
      .note("there are " + list)
      .did_you_mean(nearest(name, names));
}

}  // namespace

std::vector<Part> parts_of(Session& session, const Languages& languages, std::span<const std::string> files,
                           std::string_view lang) {
  const Language* forced = nullptr;
  if (!lang.empty()) {
    forced = languages.named(lang);
    if (forced == nullptr) {
      unknown_language(session, languages, lang);
      return {};
    }
  }
  // Standard input has no name to go by: where it is among the files, it is what `lang` is said of.
  bool of_input = std::find(files.begin(), files.end(), "-") != files.end();
  std::vector<Part> parts;
  bool wrong = false;
  for (const std::string& file : files) {
    const Language* language = file == "-" ? nullptr : languages.for_file(file);
    if (forced && (!of_input || !language)) language = forced;
    std::error_code unknown;
    const auto what = file == "-" ? std::filesystem::file_status() : std::filesystem::status(file, unknown);
    if (language == nullptr && std::filesystem::is_directory(what)) language = languages.for_folder(file);
    if (language == nullptr && what.type() == std::filesystem::file_type::not_found) {
      session.diagnostics.error("IO-READ", {}, fmt::format("cannot read {}: No such file or directory", file));
      wrong = true;
      continue;
    }
    if (language == nullptr && std::filesystem::is_directory(what)) {
      session.diagnostics.error("USE-LANGUAGE", {}, fmt::format("there is nothing to read in the folder {}", file))
          .suggest("name the files themselves, an environment of Puppet, or the folder of a CUE package");
      wrong = true;
      continue;
    }
    if (language == nullptr) {
      std::string message = file == "-" ? "the language of standard input is not known"
                                        : fmt::format("the language of {} is not known from its name", file);
      session.diagnostics.error("USE-LANGUAGE", {}, message).suggest("say which with --lang");
      wrong = true;
      continue;
    }
    auto it = parts.begin();
    while (it != parts.end() && it->language != language) ++it;
    if (it == parts.end()) it = parts.insert(it, {language, {}});
    it->files.push_back(file);
  }
  if (wrong) return {};
  const Language* taker = nullptr;
  std::size_t not_data = 0;
  for (const Part& part : parts) {
    if (part.language->is_data()) continue;
    not_data++;
    if (part.language->takes_data()) taker = part.language;
  }
  if (taker != nullptr && not_data == 1 && parts.size() > 1) return {Part{taker, {files.begin(), files.end()}}};
  return parts;
}

std::optional<Value> evaluate(Session& session, std::span<const Part> parts, const Options& options, bool concrete,
                              std::string_view output) {
  if (parts.empty()) return std::nullopt;
  std::vector<Value> all;
  bool failed = false;
  const bool literal = options.has("reference");
  for (const Part& part : parts) {
    Request request{part.files, options, concrete, parts.size() == 1 && !literal ? output : ""};
    std::optional<Value> value =
        literal ? part.language->by_rules(session, request, nullptr) : part.language->evaluate(session, request);
    failed |= !value;
    if (!value) continue;
    Value marked = model::with_secret_settings(*value, session.builder());
    keep_secrets(marked, *session.sources);
    marked = spread_secrets(marked, session.builder(), session.sources.get());
    session.attach_also(*value, marked);
    value = marked;
    if (parts.size() == 1) return value;
    for (const Value& document : documents(*value)) all.push_back(document);
  }
  if (failed) return std::nullopt;
  return documents_of(session.builder(), all, {});
}

}  // namespace tutti
