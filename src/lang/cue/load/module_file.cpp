#include "lang/cue/load/module_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

#include "base/utf8.h"
#include "lang/cue/eval/error_code.h"
#include "lang/cue/format/literal.h"
#include "lang/cue/module/version.h"

namespace tutti::cue {

namespace {

// The version of the language that is read here, and the first whose module files had a schema.
constexpr std::string_view kEarliest = "v0.8.0-alpha.0";
constexpr std::string_view kMajorOnly = "path can contain major version only";
constexpr std::string_view kFields[] = {"module", "language", "source", "description", "deps", "custom"};

const ast::Node* field_of(ast::Nodes decls, std::string_view name) {
  for (const ast::Node* d : decls)
    if (d->kind == ast::Kind::kField && label_name(static_cast<const ast::Field*>(d)->label) == name)
      return static_cast<const ast::Field*>(d)->value;
  return nullptr;
}

bool is_text(const ast::Node* x) {
  return x->kind == ast::Kind::kLit && static_cast<const ast::Lit*>(x)->tok == Tok::kString;
}

// The kind of what stands where a string should; "" for what is not a literal.
std::string_view kind_of(const ast::Node* x) {
  if (x->kind == ast::Kind::kStruct) return "struct";
  if (x->kind == ast::Kind::kList) return "list";
  if (x->kind != ast::Kind::kLit) return "";
  switch (static_cast<const ast::Lit*>(x)->tok) {
    case Tok::kInt: return "int";
    case Tok::kFloat: return "float";
    case Tok::kTrue:
    case Tok::kFalse: return "bool";
    case Tok::kNull: return "null";
    default: return "";
  }
}

// An error where something else than a string stands.
bool wants_text(const ast::Node* x, std::string_view path, std::vector<LoadProblem>& problems) {
  std::string_view kind = kind_of(x);
  if (kind.empty()) return is_text(x);
  std::string value = kind == "struct" ? "{...}"
                      : kind == "list" ? "[...]"
                                       : std::string(static_cast<const ast::Lit*>(x)->text);
  problems.push_back(
      {fmt::format("{}: conflicting values {} and string (mismatched types {} and string)", path, value, kind),
       {ast::first(x).pos},
       "",
       "CUE-CONFLICT"});
  return false;
}

// What is wrong with the version of the language; "" for nothing.
std::string wrong_version(const std::string& text, const std::string& shown) {
  std::optional<Version> v = version_of(text);
  if (!v) return fmt::format("language version {} in module.cue is not valid semantic version", quote(text));
  if (*version_of(kLanguageVersion) < *v)
    return fmt::format("language version {} declared in module.cue is too new for current language version {}",
                       quote(text), quote(kLanguageVersion));
  if (*v < *version_of(kEarliest))
    return fmt::format("cannot find schema suitable for reading module file with language version {}", quote(text));
  if (!v->whole) return fmt::format("invalid module file {}: language version {} is not canonical", shown, text);
  return {};
}

// Folders that Windows cannot have.
bool is_device_name(std::string_view e) {
  static constexpr std::string_view kNames[] = {"con",  "com1", "com2", "com3", "com4", "com5", "com6", "com7",
                                                "com8", "com9", "aux",  "lpt1", "lpt2", "lpt3", "lpt4", "lpt5",
                                                "lpt6", "lpt7", "lpt8", "lpt9", "prn",  "nul"};
  return std::ranges::find(kNames, e) != std::end(kNames);
}

std::string wrong_element(std::string_view e) {
  auto is_mark = [](char c) { return c == '.' || c == '_' || c == '-'; };
  if (e.empty()) return "empty path element";
  if (e.find_first_not_of('.') == e.npos) return fmt::format("invalid path element {}", quote(e));
  if (is_mark(e.front())) return fmt::format("leading '{}' in path element", e.front());
  if (is_mark(e.back())) return fmt::format("trailing '{}' in path element", e.back());
  for (std::size_t i = 0; i < e.size();) {
    std::size_t from = i;
    utf8::decode(e, i);
    char c = e[from];
    if (!is_mark(c) && !(c >= '0' && c <= '9') && !(c >= 'a' && c <= 'z'))
      return fmt::format("invalid char '{}'", e.substr(from, i - from));
  }
  if (std::string_view name = e.substr(0, e.find('.')); is_device_name(name))
    return fmt::format("{} disallowed as path element component on Windows", quote(name));
  return {};
}

// What is wrong with the path that a module says it has; "" for nothing.
std::string wrong_own_path(const std::string& path) {
  if (path.empty()) return "empty module path";
  std::string why = wrong_module_path(path);
  if (why.empty()) return {};
  std::size_t at = path.find('@');
  if (at == path.npos) return fmt::format("module path {} is not valid: {}", quote(path), why);
  if (why == kMajorOnly && version_of(path.substr(at + 1)))
    return fmt::format("module path {} should contain the major version only", path);
  return fmt::format("malformed module path {}: {}", quote(path), why);
}

// The fields of a module file, which may stand in braces: `{module: ...}`.
ast::Nodes fields_of(ast::Nodes decls) {
  const ast::Node* only = nullptr;
  for (const ast::Node* d : decls) {
    if (d->kind == ast::Kind::kField || only) return decls;
    if (d->kind == ast::Kind::kEmbed) only = static_cast<const ast::Embed*>(d)->x;
  }
  return only && only->kind == ast::Kind::kStruct ? fields_of(static_cast<const ast::Struct*>(only)->elts) : decls;
}

template <class F>
void each_field(ast::Nodes decls, F each) {
  for (const ast::Node* d : decls) {
    const auto* f = d->kind == ast::Kind::kField ? static_cast<const ast::Field*>(d) : nullptr;
    if (f && f->value) each(label_name(f->label), f->value);
  }
}

ast::Nodes fields_in(const ast::Node* x) {
  return x->kind == ast::Kind::kStruct ? static_cast<const ast::Struct*>(x)->elts : ast::Nodes{};
}

std::string text_of(const ast::Node* x) {
  return is_text(x) ? unquote(static_cast<const ast::Lit*>(x)->text).text : std::string();
}

// Dependencies may be said in one struct or field by field.
std::map<std::string, ModuleFile::Dependency> needs_of(ast::Nodes decls) {
  std::map<std::string, ModuleFile::Dependency> out;
  each_field(decls, [&](const std::string& name, const ast::Node* all) {
    if (name != "deps") return;
    each_field(fields_in(all), [&](const std::string& path, const ast::Node* about) {
      ModuleFile::Dependency& need = out[path];
      each_field(fields_in(about), [&](const std::string& key, const ast::Node* x) {
        if (key == "v") need.version = text_of(x);
        if (key == "default")
          need.is_default = x->kind == ast::Kind::kLit && static_cast<const ast::Lit*>(x)->tok == Tok::kTrue;
        if (key == "replaceWith") need.replacement = text_of(x);
      });
    });
  });
  // The major version of a path without one is that of the version needed.
  std::map<std::string, ModuleFile::Dependency> whole;
  for (auto& [path, need] : out) {
    std::optional<Version> v = path.find('@') == path.npos ? version_of(need.version) : std::nullopt;
    whole[v ? path + "@" + v->major() : path] = std::move(need);
  }
  return whole;
}

}  // namespace

std::string wrong_language_version(const std::string& version) {
  if (!is_whole_version(version))
    return fmt::format("language version {} is not canonical (must include major, minor and patch versions)",
                       quote(version));
  if (*version_of(version) < *version_of(kEarliest))
    return fmt::format("language version {} is too early for module.cue schema (earliest allowed is {})",
                       quote(version), kEarliest);
  if (*version_of(kLanguageVersion) < *version_of(version))
    return fmt::format("language version {} may not be after current language version {}", quote(version),
                       kLanguageVersion);
  return {};
}

std::string wrong_module_path(std::string_view path) {
  if (std::size_t at = path.find('@'); at != path.npos) {
    std::optional<Version> v = version_of(path.substr(at + 1));
    if (!v || path.find_first_of(".-+", at) != path.npos) return std::string(kMajorOnly);
    path = path.substr(0, at);
  }
  if (path.empty()) return "empty string";
  if (path.front() == '-') return "leading dash";
  if (path.find("//") != path.npos) return "double slash";
  if (path.back() == '/') return "trailing slash";
  std::string_view first = path.substr(0, path.find('/'));
  for (std::string_view rest = path;;) {
    std::size_t end = std::min(rest.find('/'), rest.size());
    if (std::string wrong = wrong_element(rest.substr(0, end)); !wrong.empty()) return wrong;
    if (end == rest.size()) break;
    rest.remove_prefix(end + 1);
  }
  if (first.find('.') == first.npos) return "missing dot in first path element";
  if (first.find('_') != first.npos) return "invalid char '_' in first path element";
  return {};
}

std::string wrong_required_module(const std::string& path) {
  std::size_t at = path.find('@');
  if (at == path.npos) return fmt::format("invalid module path@version {}", quote(path));
  if (!is_whole_version(path.substr(at + 1))) return fmt::format("module version in {} is not canonical", quote(path));
  return {};
}

ModuleFile read_module_file(const ast::File& file, const std::string& shown) {
  ModuleFile out;
  auto wrong = [&](std::string message, const ast::Node* at, std::string near = {}, std::string_view code = {}) {
    out.problems.push_back(
        {std::move(message), at ? std::vector<Pos>{ast::first(at).pos} : std::vector<Pos>{}, std::move(near), code});
  };
  const ast::Nodes decls = fields_of(file.decls);
  const ast::Node* language = field_of(decls, "language");
  const ast::Node* version = language && language->kind == ast::Kind::kStruct
                                 ? field_of(static_cast<const ast::Struct*>(language)->elts, "version")
                                 : nullptr;
  if (!version) {
    wrong("no language version declared in module.cue; run 'cue mod fix'", nullptr);
  } else if (wants_text(version, "language.version", out.problems)) {
    std::string why = wrong_version(unquote(static_cast<const ast::Lit*>(version)->text).text, shown);
    if (!why.empty()) wrong(why, version);
  }
  for (const ast::Node* d : decls) {
    if (d->kind != ast::Kind::kField || !out.problems.empty()) continue;
    const ast::Node* label = static_cast<const ast::Field*>(d)->label;
    std::string name = label_name(label);
    if (std::find(std::begin(kFields), std::end(kFields), name) == std::end(kFields))
      wrong(name + ": field not allowed", label, meant_name(name, kFields), "CUE-NOT-ALLOWED");
  }
  const ast::Node* module = field_of(decls, "module");
  if (module && out.problems.empty() && wants_text(module, "module", out.problems)) {
    std::string path = unquote(static_cast<const ast::Lit*>(module)->text).text;
    if (std::string why = wrong_own_path(path); !why.empty())
      wrong(fmt::format("invalid module file {}: {}", shown, why), module);
  }
  if (module && is_text(module)) {
    out.module = unquote(static_cast<const ast::Lit*>(module)->text).text;
    std::size_t at = std::min(out.module.find('@'), out.module.size());
    out.major = at < out.module.size() ? out.module.substr(at + 1) : "v0";
    out.module.resize(at);
  }
  if (version) out.language = text_of(version);
  out.needs = needs_of(decls);
  for (const auto& [path, need] : out.needs)
    if (!need.version.empty() && !is_whole_version(need.version) && out.problems.empty())
      wrong(fmt::format("invalid module file {}: cannot make version from module {}, version {}: version {} (of module "
                        "{}) is not canonical",
                        shown, quote(path), quote(need.version), quote(need.version), quote(path)),
            nullptr);
  return out;
}

void read_local_module_file(const ast::File& file, const std::string& shown, ModuleFile& into) {
  std::map<std::string, ModuleFile::Dependency> local = needs_of(fields_of(file.decls));
  for (auto& [path, need] : local) {
    auto there = into.needs.find(path);
    if (there != into.needs.end()) {
      need.is_default |= there->second.is_default;
      if (need.version.empty()) need.version = there->second.version;
    }
    if (need.version.empty() && need.replacement.empty())
      into.problems.push_back(
          {fmt::format("dependency {} in {} has no version and is not present in module.cue", quote(path), shown),
           {ast::first(&file).pos}});
  }
  into.needs = std::move(local);
}

}  // namespace tutti::cue
