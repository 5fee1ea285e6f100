#include "lang/cue/cli/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "lang/cue/builtin/regex.h"
#include "lang/cue/eval/error_code.h"
#include "lang/cue/format/format.h"
#include "lang/cue/format/literal.h"
#include "lang/cue/proto/data.h"

namespace tutti::cue {

namespace {

std::vector<LoadProblem> as_problems(const std::vector<SyntaxError>& errors) {
  std::vector<LoadProblem> out;
  for (const SyntaxError& e : errors)
    out.push_back({e.message, e.pos ? std::vector<Pos>{e.pos} : std::vector<Pos>{}, "", kSyntaxCode});
  return out;
}

// Combinations that are refused, the first that holds.
struct Refusal {
  bool when;
  std::string message;
};
void refuse(Program& p, std::initializer_list<Refusal> rules) {
  for (const Refusal& r : rules)
    if (r.when) p.fail(r.message);
}

// Data in which no field is said twice: by itself it cannot be wrong, and need not be evaluated to know that.
bool is_plain_data(const Node* x) {
  switch (x->type) {
    case NodeType::kNull:
    case NodeType::kBool:
    case NodeType::kNum:
    case NodeType::kString:
    case NodeType::kBytes: return true;
    case NodeType::kList: {
      auto elems = to<ListLit>(x)->elems;
      return std::all_of(elems.begin(), elems.end(), [](const Node* e) { return is_plain_data(e); });
    }
    case NodeType::kStruct: {
      auto decls = to<StructLit>(x)->decls;
      bool fields = std::all_of(decls.begin(), decls.end(), [&](const Node* d) {
        if (d->type != NodeType::kField) return decls.size() == 1 && is_plain_data(d);
        auto* f = to<Field>(d);
        return f->arc == ArcType::kMember && f->label.is_string() && is_plain_data(f->value);
      });
      if (!fields || decls.size() < 2) return fields;
      std::vector<u32> labels;
      labels.reserve(decls.size());
      for (const Node* d : decls) labels.push_back(to<Field>(d)->label.bits());
      std::sort(labels.begin(), labels.end());
      return std::adjacent_find(labels.begin(), labels.end()) == labels.end();
    }
    default: return false;
  }
}
bool is_plain_data(const Vertex* root) { return root->conjuncts.size() == 1 && is_plain_data(root->conjuncts[0].x); }

bool needs_guide(const DataFile& file) { return file.encoding == "textproto" || file.interpretation == "pb"; }

}  // namespace

Plan::Plan(Program& p, Mode mode, bool merge, bool importing)
    : p_(p), mode_(mode), merge_(merge && p.flags().on("merge")), importing_(importing) {
  const CommandFlags& f = p_.flags();
  if (mode_ != Mode::kInput) {
    std::string error;
    const char* otherwise = mode_ == Mode::kExport ? "json" : "cue";
    std::optional<DataFile> file = output_file(f.text("out"), f.text("outfile"), otherwise, error);
    if (f.text("out") == kLeaves) file = DataFile{f.text("outfile"), f.text("out"), "", "", {}};
    if (!file) p_.fail(error);
    output = std::move(*file);
    for (const std::string& text : f.all("expression")) {
      expressions.push_back(flag_expression(kExpressionFlag, text));
      expression_texts.push_back(text);
    }
  }
  if (std::string text = f.text("schema"); !text.empty()) schema_expr_ = flag_expression("--schema", text);
}

ast::Node* Plan::flag_expression(std::string_view flag, const std::string& text) {
  ast::Node* x = p_.parse_flag(std::string(flag), text);
  if (!x) p_.fail(as_problems(p_.parse_errors_));
  return x;
}

// ---- -l: an expression is one label that is computed, `a: "b": (c):` are the labels of a field

void Plan::parse_placement() {
  const CommandFlags& f = p_.flags();
  per_file = importing_ && f.on("files");
  use_list = f.on("list");
  use_context = f.on("with-context");
  for (const std::string& text : f.all("path")) {
    if (ast::Node* x = p_.parse_flag("--path", text))
      path.push_back(computed(x, text));
    else
      field_path(text);
  }
  bool anywhere = importing_ || placed();
  refuse(p_, {{!anywhere && use_context,
               "flag \"with-context\" must be used with at least one of flag \"path\", \"list\", or \"files\""},
              {anywhere && schema_expr_, "cannot combine --schema flag with flag \"path\", \"list\", or \"files\""}});
}

ast::Node* Plan::computed(ast::Node* x, const std::string& text) {
  // A choice is no name, whatever would be taken.
  const ast::Node* inner = x;
  while (inner->kind == ast::Kind::kParen) inner = ast::as<ast::Paren>(inner)->x;
  bool choice = inner->kind == ast::Kind::kBinary && ast::as<ast::Binary>(inner)->op == Tok::kOr;
  if (choice) p_.fail("expression is not a valid label: " + text);
  return p_.arena().make<ast::Paren>(TokenPos{}, x, TokenPos{});
}

void Plan::field_path(const std::string& text) {
  auto wrong = [&](const std::string& why) {
    p_.fail(
        "labels must be expressions (-l foo -l 'strings.ToLower(bar)') or full paths (-l '\"foo\": "
        "\"\\(strings.ToLower(bar))\":) : " +
        why);
  };
  // A value makes it a whole field.
  Result<const Source*> source = p_.sources().add("--path", text + "_");
  ParsedFile parsed = parse_file(**source, p_.arena());
  if (!parsed.errors.empty()) wrong(fmt::format("parser error in path {}: {}", quote(text), parsed.errors[0].message));
  if (parsed.file->decls.size() != 1) wrong("path flag must be a space-separated sequence of labels");
  ast::Nodes level = parsed.file->decls;
  while (!level.empty()) {
    if (level.size() != 1) wrong("path value may not contain a struct");
    if (level[0]->kind != ast::Kind::kField) wrong("not a sequence of labels");
    auto* field = ast::as<ast::Field>(level[0]);
    bool ready = field->label->kind == ast::Kind::kIdent || field->label->kind == ast::Kind::kLit ||
                 field->label->kind == ast::Kind::kParen;
    path.push_back(ready ? field->label : computed(field->label, format_node(field->label)));
    bool more = field->value && field->value->kind == ast::Kind::kStruct;
    level = more ? ast::as<ast::Struct>(field->value)->elts : ast::Nodes{};
  }
}

// ---- data files

// For import the mode may say more about a file than its name does.
DataFile Plan::retyped(DataFile file) const {
  const ImportMode& m = import_mode;
  if (m.override_type) file.encoding = m.encoding;
  if (m.override_type || (importing_ && (m.force_interpretation || file.interpretation == "auto")))
    file.interpretation = m.interpretation;
  const CommandFlags& f = p_.flags();
  file.package = f.text("package");
  for (const std::string& i : f.all("proto_path")) file.include.push_back(p_.absolute(i));
  // Used as it is, an enum is its names, as in data; only what is imported may have the numbers.
  if (file.encoding == "proto") file.tags["proto_enum"] = importing_ ? f.text("proto_enum") : "json";
  return file;
}

Plan::Orphan Plan::decode(const DataFile& file) {
  std::vector<LoadProblem> problems;
  const Source* source = p_.loader().open(file.path, problems);
  if (!source) p_.fail(problems);
  Orphan out{file, {}, {}, {}};
  Decoded read = decode_file(file, *source, p_.syntax(), &out.interpretation, &p_.sources());
  if (!read.ok()) p_.fail(as_problems(read.errors));
  // What was a schema is kept as the data it is, too: labels may ask for it.
  Decoded plain;
  if (!out.interpretation.empty()) {
    DataFile uninterpreted = file;
    uninterpreted.interpretation.clear();
    plain = decode_file(uninterpreted, *source, p_.syntax());
  }
  out.originals = read.documents;
  std::copy_n(plain.documents.begin(), std::min(plain.documents.size(), read.documents.size()), out.originals.begin());
  for (ast::Node* d : read.documents) out.documents.push_back(p_.file_of(d));
  return out;
}

// Data in the mappings of protocol buffers can only be understood with a schema.
void Plan::guide(const DataFile& from, ast::File* data, Vertex* by) {
  if (!needs_guide(from)) return;
  bool text = from.encoding == "textproto";
  if (!by) p_.fail(fmt::format("no schema specified for {} file", text ? "textproto" : "protobuf"));
  std::vector<SyntaxError> errors;
  apply_protobuf_schema(p_.context(), p_.arena(), data, by, text, errors);
  if (!errors.empty()) p_.fail(as_problems(errors));
}

// ---- loading: packages are instances; loose files are one schema with the data files that it is for

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
  if (!keep_syntax && !p_.loader().shows_syntax() && !p_.marks_secrets()) p_.forget_syntax();
  parse_placement();
  for (LoadedPackage* b : loaded) {
    p_.check(*b);
    if (b->user) {
      user_ = b;
    } else {
      if (importing_) import_directory(*b);
      instances.push_back(b);
    }
  }
  refuse(p_, {{instances.empty() && f.given("name"), "use of -n/--name flag without a directory"}});
  if (user_)
    load_files();
  else
    for (LoadedPackage* b : instances)
      if (!b->files.empty() && !f.on("ignore")) {
        Vertex* v = p_.build(*b);
        if (instances.size() == 1) p_.drop_syntax();
        if (Bottom* wrong = p_.validate(v, false, false)) {
          p_.keep_secrets_of(v);
          p_.fail(wrong);
        }
      }
}

// The data files beside a package, those whose names are asked for.
void Plan::import_directory(const LoadedPackage& package) {
  std::string filter = p_.flags().text("name");
  if (filter.empty()) filter = import_mode.filter;
  const re2::RE2* names = filter.empty() ? nullptr : compile_regex(filter);
  std::vector<Orphan> list;
  for (const DataFile& d : package.data) {
    bool wanted = filter.empty() || (names && regex_matches(*names, std::filesystem::path(d.path).filename().string()));
    if (wanted) list.push_back(decode(retyped(d)));
  }
  for (Imported& i : place(list, package.name, p_.flags().text("package"))) imported.push_back(std::move(i));
}

void Plan::load_files() {
  std::vector<Orphan> schemas, values;
  for (const DataFile& d : user_->data) {
    Orphan o = decode(retyped(d));
    bool is_schema = !o.interpretation.empty() || d.form == "schema" || d.encoding == "proto";
    (is_schema ? schemas : values).push_back(std::move(o));
  }
  if (values.empty()) std::swap(values, schemas);  // schemas alone are what is worked on
  std::size_t n = instances.size();
  refuse(p_, {{n > 1 && schema_expr_, "cannot use --schema/-d with flag more than one schema"},
              {n > 1, fmt::format("too many packages defined ({}) in combination with files", n)},
              {n == 1 && !schemas.empty(), "cannot combine packages with individual schema files"}});
  std::vector<ast::File*> files;
  if (n == 1) {
    files = instances[0]->files;
    schema_package = instances[0]->import_path;
    instances.clear();
  }
  files.insert(files.end(), user_->files.begin(), user_->files.end());
  for (const Orphan& o : schemas) files.insert(files.end(), o.documents.begin(), o.documents.end());
  refuse(p_, {{schema_expr_ && files.empty(), "-d/--schema flag specified without a schema"}});
  if (!files.empty()) schema = schema_instance = p_.build_files(files, schema_package);
  if (schema_expr_) {
    schema = p_.build_expression(schema_expr_, schema_instance, schema_package);
    if (Bottom* wrong = p_.validate(schema, false, false)) p_.fail(wrong);
  }
  refuse(p_, {{schema_expr_ && values.empty(), "-d/--schema flag requires non-CUE input files"}});
  if (values.empty()) p_.drop_syntax();
  // Data is checked document by document, or becomes part of the instance.
  bool one_by_one = schema_expr_ || !(merge_ || placed() || importing_);
  if (one_by_one) {
    for (const Orphan& o : values)
      for (ast::File* d : o.documents) guide(o.file, d, schema);
    orphans = std::move(values);
    return;
  }
  auto guided = std::find_if(values.begin(), values.end(), [](const Orphan& o) { return needs_guide(o.file); });
  for (Imported& i : place(values, user_->name, p_.flags().text("package"))) {
    if (guided != values.end()) guide(guided->file, i.file, schema_instance);
    placed_files_.push_back(i.file);
    imported.push_back(std::move(i));
  }
}

// ---- the values to work on

Item Plan::document_item(const Orphan& from, ast::File* document, bool last) {
  auto check = [&](Vertex* v, bool all) {
    Bottom* b = v->bottom();
    if (!b || b->incomplete()) return;
    Bottom* every = all ? p_.validate(v, false, false) : nullptr;
    p_.fail(every ? every : b);
  };
  Item item;
  if (!document->decls.empty())
    if (const TokenPos* at = ast::first_ref(document->decls[0])) item.data = at->pos;
  item.package = schema_package;
  bool data = from.file.encoding == "json" && from.interpretation.empty() && !needs_guide(from.file);
  item.value = p_.build_files({document}, "", data);
  if (last) p_.drop_syntax();
  if (!schema || !is_plain_data(item.value)) {
    p_.context().finalize(item.value);
    check(item.value, false);
  }
  if (!schema) {
    item.file = document;
    return item;
  }
  p_.context().finalize(schema);
  item.value = p_.context().unify_values(item.value, schema);
  p_.keep_secrets_of(item.value);
  // cue ends with the first document that is wrong; with diagnostics all of them are told.
  if (mode_ == Mode::kInput && !p_.answering().as_cue) return item;
  check(item.value, true);
  return item;
}

Item Plan::joined_item() {
  Item item;
  item.package = schema_package;
  if (placed_files_.empty()) {
    item.value = schema_instance;
  } else {
    item.value = p_.build_files(placed_files_, "");
    p_.drop_syntax();
    if (!p_.flags().on("ignore"))
      if (Bottom* wrong = p_.validate(item.value, false, false)) p_.fail(wrong);
    if (schema_instance) item.value = p_.unify(item.value, schema_instance);
  }
  p_.context().finalize(item.value);
  return item;
}

Item Plan::instance_item(LoadedPackage& package) {
  Item item;
  item.package = package.import_path;
  item.id = package.import_path.empty() ? package.display : package.import_path;
  item.value = p_.build(package);
  p_.context().finalize(item.value);
  return item;
}

void Plan::each(const std::function<void(Item&)>& f) {
  // The value itself, or what the expressions are in it.
  auto emit = [&](Item item) {
    p_.keep_secrets_of(item.value);
    if (expressions.empty()) return f(item);
    for (ast::Node* x : expressions) {
      Item part = item;
      part.file = nullptr;
      part.value = p_.build_expression(x, item.value, item.package);
      if (expressions.size() > 1) part.id = format_node(x);
      f(part);
    }
  };
  if (!orphans.empty()) {
    for (const Orphan& o : orphans)
      for (ast::File* d : o.documents) emit(document_item(o, d, &o == &orphans.back() && d == o.documents.back()));
  } else if (!placed_files_.empty() || (user_ && schema_instance)) {
    emit(joined_item());
  } else {
    for (LoadedPackage* b : instances) emit(instance_item(*b));
  }
}

}  // namespace tutti::cue
