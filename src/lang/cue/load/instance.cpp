#include "lang/cue/load/instance.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "base/limit_place.h"
#include "lang/cue/eval/error_code.h"
#include "lang/cue/eval/limits.h"
#include "lang/cue/load/secrets.h"
#include "tree/secret.h"

namespace tutti::cue {

Instance::Instance(Session& session) : session_(session), budget_(evaluation_limits(session.budget.limits())) {
  arena_.set_limit(budget_.limits().memory);
  context_ = std::make_unique<Context>(store_, budget_);
}

Instance::~Instance() = default;

void Instance::problems(const std::vector<LoadProblem>& list) {
  for (auto& p : list) {
    FlatError e{"", p.message, p.places.empty() ? Pos{} : p.places[0], {}, p.near, p.code};
    for (std::size_t i = 1; i < p.places.size(); ++i) e.others.push_back(p.places[i]);
    errors_.push_back(std::move(e));
  }
}

bool Instance::load(const LoadOptions& options) {
  LoaderConfig config;
  config.dir = options.directory.empty() ? std::filesystem::current_path().string() : options.directory;
  config.tags = options.tags;
  std::vector<DataFile> files;
  std::vector<std::string> folders;
  for (auto& name : options.files) {
    std::filesystem::path path = std::filesystem::path(config.dir) / name;
    if (std::error_code none; std::filesystem::is_directory(path, none))
      folders.push_back(path.lexically_normal().string());
    else
      files.push_back({name, "cue", "", "", {}});
  }
  if (!folders.empty()) config.module_of = folders[0];
  loader_ = std::make_unique<PackageLoader>(*session_.sources, arena_, config);
  std::vector<LoadedPackage*> loaded = loader_->load(folders, files);
  problems(loader_->problems());
  for (LoadedPackage* p : loaded) {
    problems(p->problems);
    for (ast::File* f : p->files)
      if (std::find(files_.begin(), files_.end(), f) == files_.end()) files_.push_back(f);
    package_ = p->import_path;
  }
  return errors_.empty() && compile();
}

bool Instance::load_sources(std::span<const Source* const> sources) {
  bool ok = true;
  for (const Source* s : sources) ok = parse(s) && ok;
  return ok && compile();
}

bool Instance::parse(const Source* source) {
  ParsedFile p = parse_file(*source, arena_);
  for (auto& e : p.errors) errors_.push_back({"", e.message, e.pos, {}, "", kSyntaxCode});
  if (!p.errors.empty() || !p.file) return false;
  files_.push_back(p.file);
  return true;
}

CompileInput Instance::scope() const {
  CompileInput in;
  in.files = files_;
  in.package = package_;
  return in;
}

bool Instance::compile() {
  context_->import_package = [this](Symbol path) { return import(path); };
  root_ = compile_files(files_, package_);
  return errors_.empty();
}

Vertex* Instance::compile_files(const std::vector<ast::File*>& files, const std::string& package) {
  Compiler compiler(store_);
  CompileInput in;
  in.files = files;
  in.package = package;
  in.package_name = [this](std::string_view path) -> std::string {
    if (!loader_ || find_package(path)) return {};
    return loader_->package_name(std::string(path));
  };
  auto lits = compiler.files(in);
  for (auto& e : compiler.errors()) errors_.push_back({e.path, e.message, e.pos, {}, e.near});
  for (Symbol path : compiler.imports()) {
    if (find_package(path.text())) continue;
    LoadedPackage* p = loader_ ? loader_->import(std::string(path.text())) : nullptr;
    if (!p)
      errors_.push_back({"", fmt::format("import failed: cannot find package \"{}\"", path.text()), {}, {}});
    else
      problems(p->problems);
  }
  return context_->new_root(lits);
}

Vertex* Instance::import(Symbol path) {
  if (!loader_ || find_package(path.text())) return nullptr;
  LoadedPackage* p = loader_->import(std::string(path.text()));
  if (!p || !p->problems.empty()) return nullptr;
  auto it = packages_.find(p->import_path);
  if (it != packages_.end()) return it->second;
  std::size_t before = errors_.size();
  Vertex* v = compile_files(p->files, p->import_path);
  if (errors_.size() > before) {
    // compile errors of a package are errors of whatever refers to it
    v->base = context_->store.make<Bottom>(
        Code::kEval, context_->error_at(errors_[before].pos, "{}", std::string_view(errors_[before].message)));
    v->status = Status::kFinalized;
  }
  packages_[p->import_path] = v;
  return v;
}

Vertex* Instance::evaluate() {
  if (!root_) return nullptr;
  LimitPlace place(context_->src.at);
  context_->finalize(root_);
  return root_;
}

void report(Session& session, std::span<const FlatError> errors) {
  for (auto& e : errors) {
    LoadProblem p{e.path.empty() ? e.message : e.path + ": " + e.message, {}, e.near, e.code};
    if (p.code.empty()) p.code = error_code(e.message);
    if (e.pos) p.places.push_back(e.pos);
    p.places.insert(p.places.end(), e.others.begin(), e.others.end());
    p.field = e.field;
    report(session.diagnostics, p);
  }
}

// ---- the common tree

namespace {

struct Builder {
  Session& session;
  Context& ctx;
  TreeOptions options;
  TreeBuilder build;
  WritingLimit written{ctx.budget.limits()};
  std::vector<FlatError> errors;

  std::string_view keep(std::string_view s) { return session.arena.copy(s); }

  Value error(const Bottom* b) {
    std::string text = message_of(b->error);
    if (!options.reveal && session.sources->has_secrets()) text = session.sources->masked(text);
    return Value::error(keep(text), Symbol(b->incomplete() ? "incomplete" : "error"),
                        Origin(b->error ? b->error->pos : Pos{}));
  }

  // An undecided struct or list shows as one without fields; anything else as its constraint.
  Value open(Node* n) {
    Kinds k = ctx.kinds(n);
    if (k == kStructKind) return build.map({}, Origin(n->pos)).with_tag(Symbol("open"));
    return Value::open(keep(compact(n)), Origin(n->pos));
  }

  Value scalar(Node* n) {
    Origin o(n->pos);
    switch (n->type) {
      case NodeType::kNull: return Value::null(o);
      case NodeType::kBool: return Value::boolean(to<Bool>(n)->value, o);
      case NodeType::kNum: {
        auto* x = to<Num>(n);
        std::string t = x->value.text('E');
        return Value::number(keep(t), o);
      }
      case NodeType::kString: return Value::string(keep(to<String>(n)->text), o);
      case NodeType::kBytes: return Value::bytes(keep(to<Bytes>(n)->text), o);
      case NodeType::kBottom: return error(to<Bottom>(n));
      case NodeType::kVertex: return vertex(to<Vertex>(n));
      default: return open(n);
    }
  }

  // What was computed is at least from the field that says how.
  static Value placed(Value out, const Vertex* v) {
    return out.origin() || v->conjuncts.empty() ? out : out.with_origin(Origin(v->conjuncts[0].x->pos));
  }

  Value vertex(Vertex* v) {
    Level level(ctx);
    written.value();
    v = v->deref_value();
    if (!v->base && v->status != Status::kFinalized) ctx.finalize(v);
    Bottom* b = v->bottom();
    if (b && !b->child_error && !b->told_elsewhere) return error(b);
    if (!b) {
      Node* d = ctx.default_of(v);
      if (d->type != NodeType::kVertex) return placed(scalar(d), v);
      v = to<Vertex>(d)->deref_value();
      if (Bottom* e = v->bottom(); e && !e->child_error && !e->told_elsewhere) return error(e);
    }
    Pos at;
    if (v->conjuncts.size() > 0) at = v->conjuncts[0].x->pos;
    bool fields = false;
    if (options.leaves && v->is_list())
      for (Vertex* a : v->arcs) fields |= !a->label.is_int() && !a->label.is_let() && a->arc_type == ArcType::kMember;
    if (v->is_list() && !fields) {
      std::vector<Value> items;
      for (u32 i = 0; i < v->arcs.size(); ++i)
        if (v->arcs[i]->label.is_int()) items.push_back(vertex(v->arcs[i]));
      return build.list(items, Origin(at));
    }
    bool is_struct =
        fields || !v->base || v->base->type == NodeType::kStructMarker || v->base->type == NodeType::kBottom;
    if (!is_struct) return placed(scalar(v->base), v);
    std::vector<Entry> entries;
    for (u32 i = 0; i < v->arcs.size(); ++i) {
      Vertex* a = v->arcs[i];
      Label l = a->label;
      if (l.is_let() || a->arc_type > ArcType::kOptional) continue;
      Field f = Field::kPlain;
      if (l.is_hidden()) {
        if (!options.hidden) continue;
        f = Field::kHidden;
      } else if (l.is_def()) {
        if (!options.definitions) continue;
        f = Field::kDefinition;
      }
      if (a->arc_type == ArcType::kOptional) {
        if (!options.optional) continue;
        f = Field::kOptional;
      }
      if (a->arc_type == ArcType::kRequired) {
        if (!options.optional) continue;
        f = Field::kRequired;
      }
      Value value = vertex(a);
      if (is_secret(a)) value = value.as_secret();
      entries.push_back({Symbol(l.plain()), f, value});
    }
    return build.map(entries, Origin(at));
  }

  using Field = tutti::Field;
};

}  // namespace

Value to_tree(Session& session, Context& context, Vertex* v, const TreeOptions& options) {
  Builder b{session, context, options, session.builder()};
  return spread_secrets(b.vertex(v), b.build, session.sources.get());
}

}  // namespace tutti::cue
