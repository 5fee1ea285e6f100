#include "lang/cue/cli/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "lang/cue/builtin/regex.h"
#include "lang/cue/format/format.h"
#include "lang/cue/format/literal.h"

namespace tutti::cue {

namespace fs = std::filesystem;

bool parse_file_args(const std::vector<std::string>& args, std::vector<std::string>& packages,
                     std::vector<DataFile>& files, std::string& error) {
  std::string type;
  bool pending = false;
  for (const std::string& a : args) {
    if (!pending && is_package_arg(a)) {
      packages.push_back(a);
      continue;
    }
    std::string path = a;
    std::size_t colon = a.find(':');
    bool is_type =
        colon != std::string::npos && colon > 0 && a.substr(0, colon).find_first_of("/.\\") == std::string::npos;
    if (is_type) {
      type = a.substr(0, colon);
      path = a.substr(colon + 1);
      if (path.empty()) {
        pending = true;
        std::string ignored;
        if (!data_file("-", type, error)) return false;
        continue;
      }
      std::optional<DataFile> d = data_file(path, type, error);
      if (!d) return false;
      files.push_back(*d);
      type.clear();
      pending = false;
      continue;
    }
    std::optional<DataFile> d = data_file(path, type, error);
    if (!d) return false;
    files.push_back(*d);
    pending = false;
    // A type of its own goes on for the files after it.
  }
  if (pending) {
    error = fmt::format("scoped qualifier \"{}:\" without file", type);
    return false;
  }
  return true;
}

Plan::Plan(Program& p, Mode mode, bool merge, bool importing)
    : p_(p), mode_(mode), merge_(merge), importing_(importing) {
  parse_flags();
}

void Plan::parse_flags() {
  const CommandFlags& f = p_.flags();
  merge_ = merge_ && f.on("merge");
  auto expression = [&](const char* name, const std::string& text) {
    ast::Node* x = p_.parse_flag(fmt::format("--{}", name), text);
    if (!x) {
      std::vector<LoadProblem> problems;
      for (const SyntaxError& e : p_.parse_errors_) {
        LoadProblem q{e.message, {}};
        if (e.pos) q.places.push_back(e.pos);
        problems.push_back(q);
      }
      p_.fail(problems);
    }
    return x;
  };
  if (mode_ != Mode::kInput) {
    std::string out = f.text("out"), file = f.text("outfile");
    if (out.find(':') != std::string::npos && file.find(':') != std::string::npos)
      p_.fail("cannot specify qualifier in both --out and --outfile");
    if (file.empty()) file = "-";
    std::string type = out;
    if (std::size_t colon = file.find(':'); colon != std::string::npos && colon > 0) {
      type = file.substr(0, colon);
      file = file.substr(colon + 1);
      if (file.empty()) file = "-";
    }
    if (std::size_t colon = type.find(':'); colon != std::string::npos) {
      if (colon + 1 < type.size()) file = type.substr(colon + 1);
      type = type.substr(0, colon);
    }
    std::string error;
    std::optional<DataFile> d;
    if (type.empty() && file == "-") {
      d = data_file("-", mode_ == Mode::kExport ? "json" : "cue", error);
    } else {
      d = data_file(file, type, error);
      if (d && file == "-" && type.find('+') == std::string::npos && !d->interpretation.empty() &&
          mode_ == Mode::kDef) {
        // def --out openapi is JSON unless it says otherwise
      }
    }
    if (!d) p_.fail(error);
    if (d->interpretation == "auto") d->interpretation.clear();
    output = *d;
    for (const std::string& e : f.all("expression")) {
      expressions.push_back(expression("expression", e));
      expression_texts.push_back(e);
    }
  }
  if (std::string s = f.text("schema"); !s.empty()) schema_expr_ = expression("schema", s);
}

void Plan::parse_placement() {
  const CommandFlags& f = p_.flags();
  if (importing_) per_file = f.on("files");
  use_list = f.on("list");
  use_context = f.on("with-context");
  for (const std::string& s : f.all("path")) {
    if (ast::Node* x = p_.parse_flag("--path", s)) {
      path.push_back(p_.arena().make<ast::Paren>(TokenPos{}, x, TokenPos{}));
      continue;
    }
    Result<const Source*> source = p_.sources().add("--path", s + "_");
    ParsedFile parsed = parse_file(**source, p_.arena());
    auto wrong = [&](const std::string& why) {
      p_.fail(
          fmt::format("labels must be expressions (-l foo -l 'strings.ToLower(bar)') or full paths (-l '\"foo\": "
                      "\"\\(strings.ToLower(bar))\":) : {}",
                      why));
    };
    if (!parsed.errors.empty()) wrong(fmt::format("parser error in path {}: {}", quote(s), parsed.errors[0].message));
    if (parsed.file->decls.size() != 1) wrong("path flag must be a space-separated sequence of labels");
    for (ast::Node* d = parsed.file->decls[0]; d;) {
      if (d->kind != ast::Kind::kField) wrong("not a sequence of labels");
      auto* field = static_cast<ast::Field*>(d);
      ast::Node* l = field->label;
      if (l->kind != ast::Kind::kIdent && l->kind != ast::Kind::kLit)
        l = l->kind == ast::Kind::kParen ? l : p_.arena().make<ast::Paren>(TokenPos{}, l, TokenPos{});
      path.push_back(l);
      if (!field->value || field->value->kind != ast::Kind::kStruct) break;
      auto* s2 = static_cast<ast::Struct*>(field->value);
      if (s2->elts.size() != 1) wrong("path value may not contain a struct");
      d = s2->elts[0];
    }
  }
  if (!importing_ && !per_file && !use_list && path.empty()) {
    if (use_context)
      p_.fail("flag \"with-context\" must be used with at least one of flag \"path\", \"list\", or \"files\"");
  } else if (schema_expr_) {
    p_.fail("cannot combine --schema flag with flag \"path\", \"list\", or \"files\"");
  }
}

Plan::Orphan Plan::decode(const DataFile& f) {
  Orphan o;
  o.file = f;
  std::vector<LoadProblem> problems;
  const Source* s = p_.loader().open(f.path, problems);
  if (!s) p_.fail(problems);
  DataFile plain = f;
  plain.interpretation.clear();
  Decoded original = f.interpretation.empty() ? Decoded{} : decode_file(plain, *s, p_.arena());
  Decoded d = decode_file(f, *s, p_.arena(), &o.interpretation);
  if (!d.ok()) {
    for (const SyntaxError& e : d.errors) {
      LoadProblem q{e.message, {}};
      if (e.pos) q.places.push_back(e.pos);
      problems.push_back(q);
    }
    p_.fail(problems);
  }
  for (std::size_t i = 0; i < d.documents.size(); ++i) {
    o.documents.push_back(p_.file_of(d.documents[i]));
    o.originals.push_back(i < original.documents.size() ? original.documents[i] : d.documents[i]);
  }
  return o;
}

void Plan::load(const std::vector<std::string>& args) {
  const CommandFlags& f = p_.flags();
  LoaderConfig config;
  config.tags = f.all("inject");
  config.tag_vars = f.on("inject-vars");
  config.data_files = importing_;
  p_.make_loader(config);
  if (!p_.loader().problems().empty()) p_.fail(p_.loader().problems());
  std::vector<std::string> packages;
  std::vector<DataFile> files;
  std::string error;
  if (!parse_file_args(args, packages, files, error)) p_.fail(error);
  if (packages.empty() && files.empty()) packages.push_back(".");
  std::vector<LoadedPackage*> loaded = p_.loader().load(packages, files);
  parse_placement();
  std::string filter = f.text("name");
  if (filter.empty()) filter = import_mode.filter;
  auto typed = [&](DataFile d) {
    if (import_mode.override_type) {
      d.encoding = import_mode.encoding;
      d.interpretation = import_mode.interpretation;
    } else if (importing_) {
      if (d.interpretation == "auto" || import_mode.force_interpretation) d.interpretation = import_mode.interpretation;
    }
    return d;
  };
  auto matches = [&](const std::string& name) {
    if (filter.empty()) return true;
    const auto* re = compile_regex(filter);
    return re && regex_matches(*re, name);
  };
  for (LoadedPackage* b : loaded) {
    p_.check(*b);
    if (!b->user) {
      if (importing_) {
        std::vector<Orphan> list;
        for (const DataFile& d : b->data)
          if (matches(fs::path(d.path).filename().string())) list.push_back(decode(typed(d)));
        for (Imported& i : place(list, b->name, f.text("package"))) imported.push_back(i);
      }
      instances.push_back(b);
    } else {
      user_ = b;
    }
  }
  if (instances.empty() && f.given("name")) p_.fail("use of -n/--name flag without a directory");
  if (!user_) {
    for (LoadedPackage* b : instances) {
      if (b->files.empty()) continue;
      Vertex* v = p_.build(*b);
      if (!f.on("ignore"))
        if (Bottom* e = p_.validate(v, false, false)) p_.fail(e);
    }
    return;
  }
  std::vector<Orphan> schemas, values;
  for (const DataFile& d : user_->data) {
    Orphan o = decode(typed(d));
    bool is_schema = !o.interpretation.empty() || d.form == "schema" || d.encoding == "proto";
    (is_schema ? schemas : values).push_back(std::move(o));
  }
  if (values.empty()) std::swap(values, schemas);
  std::vector<ast::File*> schema_files = user_->files;
  for (const Orphan& o : schemas) schema_files.insert(schema_files.end(), o.documents.begin(), o.documents.end());
  if (instances.size() > 1 && schema_expr_) p_.fail("cannot use --schema/-d with flag more than one schema");
  if (instances.size() > 1)
    p_.fail(fmt::format("too many packages defined ({}) in combination with files", instances.size()));
  if (instances.size() == 1) {
    if (!schemas.empty()) p_.fail("cannot combine packages with individual schema files");
    if (!user_->files.empty() && values.empty()) {
      // a package and loose CUE files: all of them together
    }
    schema_files = instances[0]->files;
    schema_package = instances[0]->import_path;
    schema_files.insert(schema_files.end(), user_->files.begin(), user_->files.end());
    instances.clear();
  }
  if (!schema_files.empty()) {
    schema_instance = p_.build_files(schema_files, schema_package);
    schema = schema_instance;
    if (schema_expr_) {
      Vertex* v = p_.build_expression(schema_expr_, schema_instance, schema_package);
      if (Bottom* e = p_.validate(v, false, false)) p_.fail(e);
      schema = v;
    }
  } else if (schema_expr_) {
    p_.fail("-d/--schema flag specified without a schema");
  }
  if (schema_expr_ && values.empty()) p_.fail("-d/--schema flag requires non-CUE input files");
  if (schema_expr_ || !(merge_ || placed() || importing_)) {
    orphans = std::move(values);
    return;
  }
  for (Imported& i : place(values, user_->name, f.text("package"))) {
    imported.push_back(i);
    placed_files_.push_back(i.file);
  }
}

void Plan::each(const std::function<void(Item&)>& f) {
  auto emit = [&](Item& item) {
    if (expressions.empty()) return f(item);
    for (std::size_t i = 0; i < expressions.size(); ++i) {
      Item e = item;
      e.file = nullptr;
      e.value = p_.build_expression(expressions[i], item.value, item.package);
      if (expressions.size() > 1) e.id = format_node(expressions[i]);
      f(e);
    }
  };
  if (!orphans.empty()) {
    for (const Orphan& o : orphans)
      for (ast::File* d : o.documents) {
        Item item;
        item.file = d;
        item.value = p_.build_files({d}, "");
        item.package = schema_package;
        p_.context().finalize(item.value);
        if (Bottom* b = item.value->bottom(); b && !b->incomplete()) p_.fail(b);
        if (schema) {
          item.value = p_.unify(item.value, schema);
          if (Bottom* b = item.value->bottom(); b && !b->incomplete()) {
            Bottom* all = p_.validate(item.value, false, false);
            p_.fail(all ? all : b);
          }
          item.file = nullptr;
        }
        emit(item);
      }
    return;
  }
  if (!placed_files_.empty()) {
    Item item;
    item.package = schema_package;
    std::string package;
    item.value = p_.build_files(placed_files_, package);
    if (!p_.flags().on("ignore"))
      if (Bottom* e = p_.validate(item.value, false, false)) p_.fail(e);
    if (schema_instance) item.value = p_.unify(item.value, schema_instance);
    p_.context().finalize(item.value);
    emit(item);
    return;
  }
  if (user_ && schema_instance) {
    Item item;
    item.value = schema_instance;
    item.package = schema_package;
    p_.context().finalize(item.value);
    emit(item);
    return;
  }
  for (LoadedPackage* b : instances) {
    Item item;
    item.package = b->import_path;
    item.id = b->import_path.empty() ? b->display : b->import_path;
    item.value = p_.build(*b);
    p_.context().finalize(item.value);
    emit(item);
  }
}

}  // namespace tutti::cue
