#include "lang/cue/fix.h"

#include <fmt/format.h>

#include <array>

#include "base/file.h"
#include "lang/cue/cli/plan.h"
#include "lang/cue/format/format.h"
#include "lang/cue/format/literal.h"
#include "lang/cue/load/module_file.h"

namespace tutti::cue {

namespace {

using Version = std::array<int, 3>;

Version parse_version(const std::string& s) {
  Version v{0, 0, 0};
  if (std::sscanf(s.c_str(), "v%d.%d.%d", &v[0], &v[1], &v[2]) < 2) return {0, 17, 0};
  return v;
}

struct Experiment {
  std::string_view name, since, stable;  // the versions of the language; stable: "" while it is one
};
constexpr Experiment kExperiments[] = {
    {"accepted_", "v0.13.0", "v0.15.0"}, {"aliasv2", "v0.15.0", ""},          {"explicitopen", "v0.15.0", ""},
    {"shortcircuit", "v0.17.0", ""},     {"structcmp", "v0.14.0", "v0.15.0"}, {"try", "v0.16.0", ""},
};

// The language version that the module names.
std::string module_version(Program& p) {
  std::vector<LoadProblem> problems;
  if (p.loader().root().empty()) return std::string(kLanguageVersion);
  ast::File* f = p.loader().parse(p.loader().root() + "/cue.mod/module.cue", problems);
  if (!f) return std::string(kLanguageVersion);
  auto member = [](ast::Nodes decls, std::string_view name) -> ast::Node* {
    for (ast::Node* d : decls) {
      if (d->kind != ast::Kind::kField) continue;
      auto* field = ast::as<ast::Field>(d);
      if (field->label->kind == ast::Kind::kIdent && ast::as<ast::Ident>(field->label)->name.text() == name)
        return field->value;
    }
    return nullptr;
  };
  ast::Node* language = member(f->decls, "language");
  if (!language || language->kind != ast::Kind::kStruct) return std::string(kLanguageVersion);
  ast::Node* version = member(ast::as<ast::Struct>(language)->elts, "version");
  if (!version || version->kind != ast::Kind::kLit) return std::string(kLanguageVersion);
  return unquote(ast::as<ast::Lit>(version)->text).text;
}

FixOptions options_of(Program& p) {
  FixOptions o;
  std::string version = module_version(p);
  auto take = [&](std::string_view name) {
    if (name == "explicitopen") o.explicit_open = true;
    if (name == "aliasv2") o.alias_v2 = true;
    if (name == "explicitopen" || name == "aliasv2") o.mark.emplace_back(name);
  };
  for (const std::string& list : p.flags().all("exp"))
    for (std::size_t at = 0; at <= list.size();) {
      std::size_t comma = std::min(list.find(',', at), list.size());
      std::string name = list.substr(at, comma - at);
      at = comma + 1;
      if (name.empty()) continue;
      const Experiment* e = nullptr;
      for (const Experiment& x : kExperiments)
        if (x.name == name) e = &x;
      if (name == "all") {
        for (const Experiment& x : kExperiments)
          if (x.stable.empty() && parse_version(version) >= parse_version(std::string(x.since))) take(x.name);
        continue;
      }
      if (!e) p.fail(fmt::format("fix: unknown experiment {}", quote(name)));
      if (!e->stable.empty() && parse_version(version) >= parse_version(std::string(e->stable)))
        p.fail(fmt::format("fix: experiment {} is already stable as of language version {} - cannot apply fix",
                           quote(name), e->stable));
      if (parse_version(version) < parse_version(std::string(e->since)))
        p.fail(fmt::format("fix: experiment {} requires language version {} or later, have {}", quote(name), e->since,
                           version));
      take(e->name);
    }
  return o;
}

}  // namespace

void run_fix(Program& p) {
  LoaderConfig config;
  config.skip_imports = true;
  config.tools = true;
  p.make_loader(config);
  FixOptions options = options_of(p);
  for (const std::string& path : cue_files(p, p.flags().arguments())) {
    std::vector<LoadProblem> problems;
    ast::File* f = p.loader().parse(path, problems);
    if (!f) {
      if (!p.flags().on("force")) p.fail(problems);
      p.print_error(problems);
      continue;
    }
    fix_file(p.arena(), f, options);
    FormatOptions format;
    format.simplify = p.flags().on("simplify");
    std::string text = format_node(f, format);
    if (path == "-") {
      p.print(text);
      continue;
    }
    // laid out, too, as cue does; a file that is right is left alone
    Result<std::string> before = read_file(p.absolute(path), ~u64{0});
    if (before && *before == text) continue;
    if (Result<void> r = write_file_atomically(p.absolute(path), text); !r) p.fail_write(r.error());
  }
}

}  // namespace tutti::cue
