#include "lang/puppet/environment.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <filesystem>

#include "base/file.h"
#include "base/near.h"
#include "format/json.h"
#include "lang/puppet/catalog/native_type.h"
#include "lang/puppet/hiera/data_file.h"
#include "lang/puppet/ruby/own_types.h"

namespace fs = std::filesystem;

namespace tutti::puppet {

Environment::Environment(Settings settings, std::shared_ptr<Sources> sources, const Limits& limits)
    : number_([] {
        static std::atomic<u64> last{0};
        return ++last;
      }()),
      settings_(std::move(settings)),
      sources_(std::move(sources)),
      data_files_(std::make_shared<DataFiles>(sources_)),
      own_types_(std::make_unique<OwnTypes>()),
      limits_(limits) {}
Environment::~Environment() = default;

void Environment::scan_modules() {
  std::call_once(modules_once_, [this] {
    for (const std::string& dir : settings_.modulepath) {
      std::error_code error;
      std::vector<std::string> names;
      for (const auto& e : fs::directory_iterator(dir, error)) {
        std::string name = e.path().filename().string();
        bool good = !name.empty() && name[0] >= 'a' && name[0] <= 'z' &&
                    std::all_of(name.begin(), name.end(),
                                [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; });
        std::error_code ignored;
        if (good && fs::is_directory(e.path(), ignored)) names.push_back(name);
      }
      std::sort(names.begin(), names.end());
      for (const std::string& name : names) {
        Symbol s(name);
        if (modules_by_name_.count(s)) continue;
        modules_.push_back(std::make_unique<Module>(Module{s, dir + "/" + name}));
        modules_by_name_[s] = modules_.back().get();
        module_list_.push_back(modules_.back().get());
      }
    }
  });
}

const Module* Environment::module(std::string_view name) {
  scan_modules();
  auto it = modules_by_name_.find(Symbol(name));
  return it == modules_by_name_.end() ? nullptr : it->second;
}

const std::vector<const Module*>& Environment::modules() {
  scan_modules();
  return module_list_;
}

bool Environment::native_function_counts(Symbol name, std::string_view origin) {
  const RubyFunction* theirs = ruby_function(name);
  return theirs != nullptr ? theirs->module->name.text() == origin : module(origin) == nullptr;
}

const NativeType* Environment::native_type(std::string_view name, std::string* warning) {
  if (name.find(':') != std::string_view::npos) return nullptr;
  if (const NativeType* own = own_types_->find(*this, name, warning)) return own;
  return puppet::native_type(name);
}

// All of them are found at once: names that nobody defines are asked for too, and would be looked for in every module.
const RubyFunction* Environment::ruby_function(Symbol name) {
  scan_modules();
  std::call_once(ruby_functions_once_, [this] {
    for (const Module* m : module_list_)
      for (bool old : {false, true}) {
        std::string dir = m->path + (old ? "/lib/puppet/parser/functions" : "/lib/puppet/functions");
        std::error_code error;
        for (const auto& e : fs::recursive_directory_iterator(dir, error)) {
          if (e.path().extension() != ".rb") continue;
          std::string found = e.path().lexically_relative(dir).replace_extension().string();
          std::size_t slash = found.find('/');
          // Only a module's own namespace is looked for in it.
          if (slash != std::string::npos && (old || found.compare(0, slash, m->name.text()) != 0)) continue;
          for (std::size_t at; (at = found.find('/')) != std::string::npos;) found.replace(at, 1, "::");
          ruby_functions_.try_emplace(Symbol(found), RubyFunction{e.path().string(), old, m});
        }
      }
  });
  auto it = ruby_functions_.find(name);
  return it == ruby_functions_.end() ? nullptr : &it->second;
}

const Module* Environment::module_of(const Source* source) const {
  if (!source || source->path.empty()) return nullptr;
  for (const auto& m : modules_)
    if (source->path.size() > m->path.size() && source->path.compare(0, m->path.size(), m->path) == 0 &&
        source->path[m->path.size()] == '/')
      return m.get();
  return nullptr;
}

std::string Environment::module_file(std::string_view folder, std::string_view name) {
  if (!name.empty() && name[0] == '/') {
    std::error_code error;
    return fs::exists(fs::path(name), error) ? std::string(name) : std::string();
  }
  std::size_t slash = name.find('/');
  if (slash == std::string_view::npos) return {};
  const Module* m = module(name.substr(0, slash));
  if (!m) return {};
  std::string path = fmt::format("{}/{}/{}", m->path, folder, name.substr(slash + 1));
  std::error_code error;
  return fs::exists(path, error) ? path : std::string();
}

namespace {
// Heredocs that name their syntax hold text that must parse: json, yaml and manifests are checked, others are not
// known.
void check_heredocs(const Program& program, Diagnostics& d, const Limits& limits) {
  for (const Program::Heredoc& h : program.heredocs) {
    Session session(limits);
    auto source = session.sources->add("heredoc", std::string(h.text->text));
    if (!source) continue;
    bool good = true;
    if (h.syntax == "json") {
      good = read_json(session, **source).has_value();
    } else if (h.syntax == "yaml") {
      DataError wrong;
      good = read_yaml(**source, session.arena, wrong, Dates::kText).has_value();
    } else if (h.syntax == "pp" || h.syntax == "puppet" || h.syntax == "epp") {
      good = parse(**source, h.syntax == "epp" ? LexMode::kEpp : LexMode::kManifest, session.arena, session.diagnostics,
                   session.budget)
                 ->ok;
    }
    if (good) continue;
    Diagnostic& e = d.error("PP-HEREDOC", h.text->span(), fmt::format("the text is not valid {}", h.syntax));
    for (const Diagnostic& inner : session.diagnostics.all()) e.note(inner.message);
  }
}
}  // namespace

const Program* Environment::add_manifest(const Source& source, Diagnostics& diagnostics) {
  std::lock_guard loading(load_mutex_);
  Budget budget(limits_);
  auto program = parse(source, LexMode::kManifest, arena_, diagnostics, budget);
  const Program* p = program.get();
  std::unique_lock lock(mutex_);
  programs_.push_back(std::move(program));
  if (!p->ok) return nullptr;
  std::size_t before = diagnostics.errors();
  check_heredocs(*p, diagnostics, limits_);
  add_definitions(*p, nullptr, diagnostics);
  return diagnostics.errors() == before ? p : nullptr;
}

const Program* Environment::parse_text(std::string name, std::string text, LexMode mode, Diagnostics& diagnostics) {
  std::lock_guard loading(load_mutex_);
  std::string key = "\1" + name + "\1" + text;
  if (auto it = files_.find(key); it != files_.end() && it->second.program) return it->second.program;
  auto source = sources_->add(std::move(name), std::move(text));
  if (!source) {
    diagnostics.error("PP-FILE", {}, source.error().message);
    return nullptr;
  }
  Budget budget(limits_);
  auto program = parse(**source, mode, arena_, diagnostics, budget);
  const Program* p = program->ok ? program.get() : nullptr;
  programs_.push_back(std::move(program));
  files_[key].program = p;
  return p;
}

const Program* Environment::load(const std::string& path, LexMode mode, Diagnostics& diagnostics) {
  std::lock_guard loading(load_mutex_);
  Loaded& l = files_[path];
  if (!l.diagnostics) {
    l.diagnostics = std::make_unique<Diagnostics>();
    auto source = sources_->open(path, limits_.input_bytes);
    if (!source) {
      l.diagnostics->error(std::string(read_failure_code(source.error(), "PP-FILE")), {}, source.error().message)
          .suggest(read_failure_help(source.error()));
    } else {
      Budget budget(limits_);
      auto program = parse(**source, mode, arena_, *l.diagnostics, budget);
      const Program* p = program.get();
      programs_.push_back(std::move(program));
      if (p->ok && mode == LexMode::kManifest) {
        check_heredocs(*p, *l.diagnostics, limits_);
        scan_modules();
        if (const Module* m = module_of(*source)) check_module_file(*p, *m, NodeKind::kClass, *l.diagnostics);
        std::unique_lock lock(mutex_);
        add_definitions(*p, module_of(*source), *l.diagnostics);
      }
      if (l.diagnostics->ok()) l.program = p;
    }
  }
  for (const Diagnostic& d : l.diagnostics->all())
    diagnostics.add(d.severity, d.code, d.where, d.message).suggest(d.help);
  return l.program;
}

// A module's file holds definitions only, named after the file: m/manifests/a/b.pp defines m::a::b.
void Environment::check_module_file(const Program& program, const Module& module, NodeKind, Diagnostics& d) {
  std::string rest = program.source->path.substr(module.path.size() + 1);
  std::size_t slash = rest.find('/');
  std::string folder = rest.substr(0, slash), file = slash == std::string::npos ? "" : rest.substr(slash + 1);
  if (file.size() < 3) return;
  file.resize(file.size() - 3);
  std::string expected(module.name.text());
  if (!(folder == "manifests" && file == "init")) {
    expected += "::";
    for (char c : file) expected += c == '/' ? std::string("::") : std::string(1, c);
  }
  for (const Definition* def : program.definitions) {
    std::string name(def->name.text());
    std::transform(name.begin(), name.end(), name.begin(),
                   [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
    bool inside = name == expected || name.compare(0, expected.size() + 2, expected + "::") == 0;
    if (def->kind == NodeKind::kNodeDef || !inside)
      d.error("PP-AUTOLOAD", def->span(),
              fmt::format("`{}` is in the wrong place: this file must define `{}`", name, expected));
  }
  auto check = [&](const Node* n) {
    switch (n->kind) {
      case NodeKind::kClass:
      case NodeKind::kDefine:
      case NodeKind::kFunction:
      case NodeKind::kTypeAlias:
      case NodeKind::kNop:
      case NodeKind::kNodeDef: return;
      default: d.error("PP-AUTOLOAD", n->span(), "a module's file may hold only definitions at top level");
    }
  };
  if (program.body->kind == NodeKind::kBlock)
    for (const Node* n : as<Kids>(program.body).items) check(n);
  else
    check(program.body);
}

// Types go by their names without regard to case: `Corosync::SyslogPriority` is in syslogpriority.pp.
static Symbol type_key(Symbol name) {
  std::string lower(name.text());
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c + 32);
  }
  return Symbol(lower);
}

void Environment::add_definitions(const Program& program, const Module*, Diagnostics& d) {
  for (const Definition* def : program.definitions) {
    auto add = [&](auto& table, std::string_view what) {
      auto [it, fresh] = table.emplace(def->kind == NodeKind::kTypeAlias ? type_key(def->name) : def->name, def);
      if (fresh || it->second == def) return;
      d.error("PP-REDEFINED", def->begin,
              fmt::format("{} `{}` is already defined; cannot redefine it", what, def->name.text()))
          .relate(it->second->begin, "defined here first");
    };
    // In a class or define a metaparameter goes down to all that it contains.
    if (def->kind == NodeKind::kClass || def->kind == NodeKind::kDefine)
      for (const Param& p : def->params) {
        if (!is_metaparameter(p.name)) continue;
        if (p.value)
          d.warning("PP-METAPARAMETER", p.begin,
                    fmt::format("`{}` is a metaparameter: its value goes down to all that `{}` contains", p.name.text(),
                                def->name.text()));
        else
          d.error("PP-METAPARAMETER", p.begin,
                  fmt::format("`{}` is a metaparameter; `{}` must have another name for its parameter", p.name.text(),
                              def->name.text()));
      }
    auto taken_by = [&](const auto& table, Symbol name, std::string_view as) {
      if (auto it = table.find(name); it != table.end())
        d.error("PP-REDEFINED", def->begin,
                fmt::format("`{}` is already defined as a {}; cannot redefine it", def->name.text(), as))
            .relate(it->second->begin, "defined here first");
    };
    switch (def->kind) {
      case NodeKind::kClass:
        add(classes_, "class");
        if (auto it = defines_.find(def->name); it != defines_.end())
          d.error("PP-REDEFINED", def->begin,
                  fmt::format("`{}` is already defined as a define; cannot redefine it as a class", def->name.text()));
        break;
      case NodeKind::kDefine:
        add(defines_, "define");
        taken_by(types_, def->name, "type");
        if (auto it = classes_.find(def->name); it != classes_.end())
          d.error("PP-REDEFINED", def->begin,
                  fmt::format("`{}` is already defined as a class; cannot redefine it as a define", def->name.text()));
        break;
      case NodeKind::kFunction: add(functions_, "function"); break;
      case NodeKind::kTypeAlias:
        add(types_, "type");
        taken_by(defines_, type_key(def->name), "define");
        break;
      case NodeKind::kNodeDef: nodes_.push_back(def); break;
      default: break;
    }
  }
  // Names (and `default`) of nodes must differ in the whole site.
  std::unordered_map<std::string, const Definition*> names;
  for (const Definition* n : nodes_)
    for (const Node* h : n->hosts) {
      std::string key = h->kind == NodeKind::kDefault ? "default"
                        : h->kind == NodeKind::kRegex ? "/" + std::string(as<Literal>(h).text)
                                                      : std::string(as<Literal>(h).text);
      std::transform(key.begin(), key.end(), key.begin(),
                     [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
      auto [it, fresh] = names.emplace(key, n);
      if (!fresh && n->source == program.source)
        d.error("PP-REDEFINED", n->begin, fmt::format("node `{}` is already defined; cannot redefine it", key))
            .relate(it->second->begin, "defined here first");
    }
}

const Definition* Environment::known(NodeKind kind, Symbol name) const {
  if (kind == NodeKind::kTypeAlias) name = type_key(name);
  auto in = [&](const auto& table) {
    auto it = table.find(name);
    return it == table.end() ? nullptr : it->second;
  };
  switch (kind) {
    case NodeKind::kClass: return in(classes_);
    case NodeKind::kDefine: return in(defines_);
    case NodeKind::kFunction: return in(functions_);
    default: return in(types_);
  }
}

// The files in which a name may be defined, the likeliest first: m::a::b in a/b.pp, then a.pp, then init.pp.
std::vector<std::string> Environment::candidates(NodeKind kind, std::string_view name) {
  std::vector<std::string> out;
  std::size_t cut = name.find("::");
  std::string_view first = name.substr(0, cut);
  std::string lower(first);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  std::string base;
  if (const Module* m = module(lower)) base = m->path;
  std::string rest = cut == std::string_view::npos ? std::string() : std::string(name.substr(cut + 2));
  std::string file;
  for (std::size_t n = 0; n < rest.size(); ++n) {
    if (rest.compare(n, 2, "::") == 0)
      file += '/', ++n;
    else
      file += rest[n];
  }
  if (kind == NodeKind::kTypeAlias)
    std::transform(file.begin(), file.end(), file.begin(),
                   [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  if (kind == NodeKind::kFunction || kind == NodeKind::kTypeAlias) {
    std::string folder = kind == NodeKind::kFunction ? "functions" : "types";
    if (!base.empty()) out.push_back(fmt::format("{}/{}/{}.pp", base, folder, file.empty() ? "init" : file));
    if (!settings_.environment_dir.empty() && lower == "environment")
      out.push_back(fmt::format("{}/{}/{}.pp", settings_.environment_dir, folder, file));
    return out;
  }
  if (base.empty()) return out;
  for (;;) {
    out.push_back(fmt::format("{}/manifests/{}.pp", base, file.empty() ? "init" : file));
    if (file.empty()) return out;
    std::size_t slash = file.rfind('/');
    file = slash == std::string::npos ? std::string() : file.substr(0, slash);
  }
}

const Definition* Environment::find(NodeKind kind, Symbol name, Diagnostics& d) {
  int which = kind == NodeKind::kClass ? 0 : kind == NodeKind::kDefine ? 1 : kind == NodeKind::kFunction ? 2 : 3;
  {
    std::shared_lock lock(mutex_);
    if (const Definition* def = known(kind, name)) return def;
    if (missing_[which].count(name)) return nullptr;
  }
  std::lock_guard loading(load_mutex_);
  for (const std::string& path : candidates(kind, name.text())) {
    std::error_code error;
    if (!fs::is_regular_file(path, error)) continue;
    if (!load(path, LexMode::kManifest, d)) return nullptr;
    std::shared_lock lock(mutex_);
    if (const Definition* def = known(kind, name)) return def;
  }
  std::unique_lock lock(mutex_);
  if (const Definition* def = known(kind, name)) return def;
  missing_[which][name] = true;
  return nullptr;
}

std::string Environment::nearest_name(NodeKind kind, std::string_view name) {
  std::vector<std::string> names;
  {
    std::shared_lock lock(mutex_);
    for (const auto& [known, definition] : kind == NodeKind::kClass ? classes_ : defines_)
      names.emplace_back(known.text());
  }
  std::string_view first = name.substr(0, name.find("::"));
  for (const Module* m : modules()) {
    names.emplace_back(m->name.text());
    if (m->name.text() != first) continue;
    std::string dir = m->path + "/manifests";
    std::error_code error;
    for (fs::recursive_directory_iterator e(dir, error), end; !error && e != end; e.increment(error)) {
      if (e->path().extension() != ".pp") continue;
      std::string file = e->path().lexically_relative(dir).replace_extension().string();
      for (std::size_t at; (at = file.find('/')) != std::string::npos;) file.replace(at, 1, "::");
      if (file != "init") names.push_back(fmt::format("{}::{}", m->name.text(), file));
    }
  }
  std::sort(names.begin(), names.end());
  std::vector<std::string_view> views(names.begin(), names.end());
  return std::string(nearest(name, views));
}

}  // namespace tutti::puppet
