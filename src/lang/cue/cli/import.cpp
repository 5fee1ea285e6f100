// import: data files to CUE files.
#include <fmt/format.h>

#include <filesystem>
#include <set>

#include "base/file.h"
#include "lang/cue/builtin/regex.h"
#include "lang/cue/cli/plan.h"
#include "lang/cue/format/format.h"
#include "lang/cue/format/literal.h"
#include "lang/cue/format/walk.h"

namespace tutti::cue {

namespace fs = std::filesystem;
using ast::as;

namespace {

// Strings that hold JSON or YAML become calls of Marshal on what they hold.
class Hoister {
 public:
  Hoister(Program& p, ast::File* f) : p_(p) {
    names(f);
    ast::Nodes decls = f->decls;
    hoist(decls);
    std::vector<ast::Node*> out;
    bool placed = imports_.empty();
    auto add_imports = [&] {
      std::vector<ast::Node*> specs;
      for (const std::string& path : imports_)
        specs.push_back(arena().make<ast::ImportSpec>(
            nullptr, make_lit(arena(), Tok::kString, "\"" + path + "\"",
                              TokenPos{{}, imports_.size() > 1 ? Rel::kNewline : Rel::kNone})));
      TokenPos paren{{}, imports_.size() > 1 ? Rel::kBlank : Rel::kNone};
      out.push_back(arena().make<ast::Import>(TokenPos{}, paren, make_nodes(arena(), specs), TokenPos{}));
      placed = true;
    };
    for (ast::Node* d : decls) {
      if (!placed && d->kind != ast::Kind::kPackage && d->kind != ast::Kind::kAttribute) add_imports();
      out.push_back(d);
    }
    if (!placed) add_imports();
    f->decls = make_nodes(arena(), out);
  }

 private:
  Arena& arena() { return p_.arena(); }

  void names(ast::Node* n) {
    if (n->kind == ast::Kind::kField)
      if (std::string s = label_name(as<ast::Field>(n)->label); !s.empty()) taken_.insert(s);
    for_children(n, [&](ast::Node* c) { names(c); });
  }

  ast::Node* parse(const std::string& text, std::string& encoding) {
    Result<const Source*> s = p_.sources().add("", text);
    if (!s) return nullptr;
    Decoded d = decode_json(**s, arena());
    encoding = "json";
    if (!d.ok()) {
      if (text.find('\n') == std::string::npos) return nullptr;
      d = decode_yaml(**s, arena());
      encoding = "yaml";
    }
    if (!d.ok() || d.documents.size() != 1) return nullptr;
    ast::Node* x = d.documents[0];
    return x->kind == ast::Kind::kStruct || x->kind == ast::Kind::kList ? x : nullptr;
  }

  std::string unique(const std::string& base) {
    std::string clean;
    for (char c : base)
      clean += (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || (c & 0x80) ? c : '_';
    for (std::string extra;; extra += 'x') {
      std::string name = "_cue_" + extra + clean;
      if (taken_.insert(name).second) return name;
    }
  }

  void hoist(ast::Nodes& list) {
    std::vector<ast::Node*> out;
    for (ast::Node* d : list) {
      out.push_back(d);
      if (d->kind != ast::Kind::kField) continue;
      auto* f = as<ast::Field>(d);
      value(f->value);
      std::string name = label_name(f->label);
      if (name.empty() || f->value->kind != ast::Kind::kLit || as<ast::Lit>(f->value)->tok != Tok::kString) continue;
      Unquoted u = unquote(as<ast::Lit>(f->value)->text);
      std::string encoding;
      ast::Node* x = u.ok() ? parse(u.text, encoding) : nullptr;
      if (!x) continue;
      value(x);
      if (x->kind == ast::Kind::kStruct)
        x = make_struct(arena(), {as<ast::Struct>(x)->elts.begin(), as<ast::Struct>(x)->elts.end()});
      imports_.insert("encoding/" + encoding);
      std::string data = unique(name);
      ast::Node* fun =
          arena().make<ast::Selector>(make_ident(arena(), encoding), TokenPos{}, make_ident(arena(), "Marshal"));
      f->value = arena().make<ast::Call>(fun, TokenPos{}, make_nodes(arena(), {make_ident(arena(), data)}), TokenPos{});
      out.push_back(arena().make<ast::Let>(TokenPos{}, make_ident(arena(), data), TokenPos{}, x));
    }
    list = make_nodes(arena(), out);
  }

  void value(ast::Node* n) {
    if (n->kind == ast::Kind::kStruct) return hoist(as<ast::Struct>(n)->elts);
    for_children(n, [&](ast::Node* c) { value(c); });
  }

  Program& p_;
  std::set<std::string> taken_, imports_;
};

// Whether a field is there more than once somewhere, or a text holds half a character: only then data can be wrong.
bool may_be_wrong(ast::Nodes decls) {
  std::set<std::string> names;
  bool again = false;
  auto see = [&](auto& self, const ast::Node* n) -> void {
    if (n->kind == ast::Kind::kStruct) again |= may_be_wrong(as<ast::Struct>(n)->elts);
    if (n->kind == ast::Kind::kLit && as<ast::Lit>(n)->text.find("\\u") != std::string_view::npos)
      again |= !unquote(as<ast::Lit>(n)->text).ok();
    if (n->kind == ast::Kind::kList)
      for (const ast::Node* e : as<ast::List>(n)->elts) self(self, e);
  };
  for (const ast::Node* d : decls) {
    if (d->kind != ast::Kind::kField) continue;
    const auto* f = as<ast::Field>(d);
    again |= !names.insert(label_name(f->label)).second;
    if (!again) see(see, f->value);
  }
  return again;
}

}  // namespace

void run_import(Program& p) {
  const CommandFlags& f = p.flags();
  std::vector<std::string> args = f.arguments();
  if (import_protobuf(p)) return;
  ImportMode mode;
  mode.filter = "\\.(json|yaml|yml|toml|jsonl|ndjson|ldjson)$";
  mode.interpretation = "auto";
  std::vector<std::string> extensions = f.all("ext");
  if (!args.empty() && args[0].find_first_of("/\\:.") == std::string::npos) {
    std::string word = args[0];
    args.erase(args.begin());
    mode.interpretation.clear();
    mode.override_type = !extensions.empty();
    mode.encoding = word;
    if (word == "proto")
      mode.filter = "\\.proto$";
    else if (word == "json")
      mode.filter = "\\.(json|jsonl|ndjson|ldjson)$";
    else if (word == "yaml")
      mode.filter = "\\.(yaml|yml)$";
    else if (word == "toml")
      mode.filter = "\\.toml$";
    else if (word == "text")
      mode.filter = "\\.txt$";
    else if (word == "binary") {
      if (extensions.empty()) p.fail("use of --ext flag required in binary mode");
    } else if (word == "auto" || word == "openapi" || word == "jsonschema") {
      mode.interpretation = word;
      mode.encoding = "yaml";
      mode.force_interpretation = word != "auto";
    } else if (word == "data")
      mode.encoding.clear();
    else
      p.fail(fmt::format("unknown mode {}", quote(word)));
  }
  if (!extensions.empty()) {
    mode.filter = "\\.(";
    for (std::size_t i = 0; i < extensions.size(); ++i) mode.filter += (i ? "|" : "") + extensions[i];
    mode.filter += ")$";
  }
  Plan plan(p, Plan::Mode::kInput, true, true);
  plan.import_mode = mode;
  plan.load(args);
  if (plan.instances.size() > 1 && f.text("package").empty())
    for (LoadedPackage* i : plan.instances)
      if (i->name.empty()) p.fail("must specify package name with the -p flag");
  for (const Plan::Imported& i : plan.imported)
    if (may_be_wrong(i.file->decls))
      if (Bottom* wrong = p.validate(p.build_files({i.file}, ""), false, false)) p.fail(wrong);
  for (const Plan::Imported& i : plan.imported) write_imported(p, i.file, i.name);
}

void write_imported(Program& p, ast::File* imported, const std::string& name) {
  const CommandFlags& f = p.flags();
  std::string out = f.text("outfile");
  std::string file = out.empty() ? name : out;
  std::string path = file == "-" ? file : p.absolute(file);
  std::error_code ec;
  if (file != "-" && fs::exists(path, ec) && !f.on("force")) {
    std::string shown = out.empty() ? name : file;
    p.say(fmt::format("Skipping file {}: already exists.\n", quote(out.empty() ? name : file)));
    p.say(shown.starts_with("cue.mod") ? "Use -Rf to override.\n" : "Use -f to override.\n");
    return;
  }
  if (f.on("recursive")) Hoister(p, imported);
  if (f.on("dry-run")) {
    p.say(fmt::format("importing into {}\n", fs::path(path).lexically_relative(p.dir()).string()));
    return;
  }
  if (const ast::Package* package = imported->package(); package && !is_identifier(package->name->name.text()))
    p.fail(fmt::format("error formatting file: invalid identifier {}", quote(package->name->name.text())));
  FormatOptions options;
  options.simplify = true;
  std::string text = format_node(imported, options);
  if (file == "-") {
    p.print(text);
    return;
  }
  Result<void> done = make_folders_for(path);
  if (done) done = write_file_atomically(path, text);
  if (!done) p.fail_write(done.error());
  if (!p.answering().named_cue) p.say(fmt::format("wrote {}\n", fs::path(path).lexically_relative(p.dir()).string()));
}

}  // namespace tutti::cue
