#include "lang/cue/cli/module_editor.h"

#include "base/file.h"
#include "format/json.h"
#include "lang/cue/format/format.h"
#include "lang/cue/format/literal.h"
#include "lang/cue/load/instance.h"
#include "lang/cue/load/module_file.h"

namespace tutti::cue {

namespace fs = std::filesystem;

namespace {

Value sorted(const Value& v, const TreeBuilder& builder) {
  if (v.is(Kind::kList)) {
    std::vector<Value> items;
    for (const Value& x : v.items()) items.push_back(sorted(x, builder));
    return builder.list(items);
  }
  if (!v.is(Kind::kMap)) return v;
  std::vector<Entry> entries;
  for (const Entry& e : v.entries()) entries.push_back({e.key, tutti::Field::kPlain, sorted(e.value, builder)});
  std::ranges::sort(entries, {}, [](const Entry& e) { return e.key.text(); });
  return builder.map(entries);
}

std::string text(const Value& map, std::string_view key) {
  const Entry* e = map.find(Symbol(key));
  return e && e->value.is(Kind::kString) ? std::string(e->value.text()) : "";
}

}  // namespace

ModuleEditor::ModuleEditor(Program& p) : p_(p) {
  LoaderConfig config;
  config.skip_imports = config.tools = true;
  p.make_loader(config);
  if (root().empty()) p.fail("module root not found");
  file_ = root() + "/cue.mod/module.cue";
}

Module ModuleEditor::read(bool tidy) {
  const std::string shown = tidy ? "cue.mod/module.cue" : file_;
  std::error_code ec;
  if (!fs::exists(file_, ec))
    p_.fail(fmt::format("{}open {}: no such file or directory", tidy ? "cannot read cue.mod file: " : "", shown));
  std::vector<LoadProblem> problems = p_.loader().problems();
  for (LoadProblem& problem : problems)
    if (!tidy) problem.message.resize(std::min(problem.message.find("; run 'cue mod fix'"), problem.message.size()));
  if (!problems.empty()) p_.fail(problems);
  Value tree = value_of(p_.loader().parse(file_, problems));
  Module m;
  m.path = text(tree, "module");
  if (m.path.empty()) p_.fail(fmt::format("invalid module file {}: empty module path", shown));
  if (const Entry* language = tree.find(Symbol("language"))) m.version = text(language->value, "version");
  if (const Entry* source = tree.find(Symbol("source"))) m.source = text(source->value, "kind");
  if (const Entry* needs = tree.find(Symbol("deps")))
    for (const Entry& e : needs->value.entries()) {
      const Entry* is_default = e.value.find(Symbol("default"));
      m.needs[std::string(e.key.text())] = {
          text(e.value, "v"), is_default && is_default->value.is(Kind::kBool) && is_default->value.as_bool()};
    }
  if (const Entry* custom = tree.find(Symbol("custom")))
    m.custom = sorted(custom->value, TreeBuilder(p_.session().arena));
  return m;
}

Module ModuleEditor::read_legacy() {
  if (p_.loader().problems().empty()) return read();
  std::vector<LoadProblem> problems;
  ast::File* f = p_.loader().parse(file_, problems);
  if (!f && !problems.empty()) {
    problems[0].message = "invalid module file syntax: " + problems[0].message;
    p_.fail(problems);
  }
  Value tree = value_of(f);
  TreeBuilder builder(p_.session().arena);
  Module m;
  m.version = "v0.9.0";
  std::vector<Entry> others;
  for (const Entry& e : tree.entries()) {
    if (e.key.text() != "module") {
      others.push_back({e.key, tutti::Field::kPlain, sorted(e.value, builder)});
      continue;
    }
    if (!e.value.is(Kind::kString)) p_.fail("module field is not a string");
    m.path = e.value.text();
  }
  if (m.path.empty()) m.path = "test.example";
  if (std::string why = wrong_module_path(m.path); !why.empty())
    p_.fail(fmt::format("cannot format fixed file: cannot parse result: module path {} is not valid: {}", quote(m.path),
                        why));
  std::ranges::sort(others, {}, [](const Entry& e) { return e.key.text(); });
  if (!others.empty()) {
    Entry legacy{Symbol("legacy"), tutti::Field::kPlain, builder.map(others)};
    m.custom = builder.map(std::span<const Entry>(&legacy, 1));
  }
  return m;
}

std::string ModuleEditor::text_of(const Module& m) {
  std::string source = fmt::format("module: {}, language: version: {}\n", quote(m.path), quote(m.version));
  if (!m.source.empty()) source += fmt::format("source: kind: {}\n", quote(m.source));
  for (const auto& [path, need] : m.needs)
    source += fmt::format("deps: {}: {{v: {}{}}}\n", quote(path), quote(need.version),
                          need.is_default ? ", default: true" : "");
  if (m.custom) {
    StringSink json;
    write_json(*m.custom, {.indent = 0}, json);
    source += "custom: " + json.take();
  }
  Result<const Source*> made = p_.sources().add("module.cue", source);
  if (!made) p_.fail(made.error().message);
  Vertex* v = p_.build_files({parse_file(**made, p_.arena()).file}, "");
  p_.context().finalize(v);
  return format_node(export_value(p_.context(), p_.sources(), "", v, {}));
}

void ModuleEditor::put(const std::string& path, const std::string& text) {
  Result<std::string> before = read_file(path, ~u64{0});
  if (before && *before == text) return;
  if (Result<void> r = write_file_atomically(path, text); !r) p_.fail_write(r.error());
}

Value ModuleEditor::value_of(ast::File* file) {
  Vertex* v = p_.build_files({file}, "");
  p_.context().finalize(v);
  if (Bottom* b = p_.validate(v, true, true)) p_.fail(b);
  return to_tree(p_.session(), p_.context(), v);
}

void wants_arguments(Program& p, std::size_t n) {
  if (std::size_t given = p.flags().arguments().size(); given != n)
    p.fail(fmt::format("accepts {} arg(s), received {}", n, given));
}

std::vector<ast::Lit*> imports_of(const ast::File& file) {
  std::vector<ast::Lit*> out;
  for (ast::Node* d : file.decls)
    if (d->kind == ast::Kind::kImport)
      for (ast::Node* s : ast::as<ast::Import>(d)->specs) out.push_back(ast::as<ast::ImportSpec>(s)->path);
  return out;
}

}  // namespace tutti::cue
