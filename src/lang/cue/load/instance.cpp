#include "lang/cue/load/instance.h"

#include <fmt/format.h>

#include "lang/cue/format/literal.h"

namespace tutti::cue {

namespace {
Limits deep(Limits l) {
  // one level of a configuration is several of the evaluator
  l.depth = std::max<u32>(l.depth, 10'000) * 80;
  return l;
}
}  // namespace

Instance::Instance(Session& session) : session_(session), budget_(deep(session.budget.limits())) {
  context_ = std::make_unique<Context>(store_, budget_);
}

Instance::~Instance() = default;

bool Instance::load(const LoadOptions& options) {
  bool ok = true;
  module_ = find_module(options.directory);
  tags_ = std::make_unique<Tags>(*session_.sources, arena_, options.tags);
  for (auto& name : options.files) {
    auto source = session_.sources->open(name);
    if (!source) {
      errors_.push_back({"", source.error().message, {}, {}});
      ok = false;
      continue;
    }
    ok = parse(*source) && ok;
  }
  return ok && compile();
}

bool Instance::load_sources(std::span<const Source* const> sources) {
  bool ok = true;
  for (const Source* s : sources) ok = parse(s) && ok;
  return ok && compile();
}

bool Instance::parse(const Source* source) {
  ParsedFile p = parse_file(*source, arena_);
  for (auto& e : p.errors) errors_.push_back({"", e.message, e.pos, {}});
  if (!p.errors.empty() || !p.file) return false;
  std::size_t before = errors_.size();
  if (tags_) {
    tags_->excluded(p.file, errors_);  // a file that is named is never left out, but its tags count as used
    tags_->inject(p.file, errors_);
  }
  if (const ast::Package* k = p.file->package()) {
    std::string name(k->name->name.text());
    if (!package_.empty() && package_ != name) {
      errors_.push_back({"", fmt::format("found packages \"{}\" and \"{}\"", package_, name), ast::first(k).pos, {}});
      return false;
    }
    package_ = name;
  }
  files_.push_back(p.file);
  return errors_.size() == before;
}

CompileInput Instance::scope() const {
  CompileInput in;
  in.files = files_;
  in.package = package_.empty() ? "_" : module_ ? module_->path + ":" + package_ : ":" + package_;
  if (module_) in.version = module_->version;
  return in;
}

bool Instance::compile() {
  context_->import_package = [this](Symbol path) -> Vertex* {
    auto it = packages_.find(path.id());
    return it == packages_.end() ? nullptr : it->second.root;
  };
  if (tags_) tags_->check_used(errors_);
  if (!errors_.empty()) return false;
  return compile_files(scope(), &root_);
}

bool Instance::compile_files(const CompileInput& in, Vertex** root) {
  Compiler compiler(store_);
  auto lits = compiler.files(in);
  for (auto& e : compiler.errors()) errors_.push_back({e.path, e.message, e.pos, {}});
  if (!compiler.errors().empty()) return false;
  bool ok = true;
  for (Symbol path : compiler.imports()) {
    Pos at;
    for (ast::File* f : in.files)
      for (ast::Node* d : f->decls)
        if (d->kind == ast::Kind::kImport)
          for (ast::Node* n : ast::as<ast::Import>(d)->specs)
            if (auto u = unquote(ast::as<ast::ImportSpec>(n)->path->text); u.text == path.text() && !at)
              at = ast::as<ast::ImportSpec>(n)->path->pos.pos;
    ok = import(path, at) && ok;
  }
  *root = context_->new_root(lits);
  return ok;
}

// Makes a package ready to be referred to. Those without a dot in their first element are the language's own.
bool Instance::import(Symbol path, Pos at) {
  auto [it, fresh] = packages_.try_emplace(path.id());
  if (!fresh) {
    if (it->second.state == Package::kLoading) {
      errors_.push_back({"", "import failed: import cycle not allowed", at, {}});
      return false;
    }
    return it->second.state == Package::kReady;
  }
  std::string_view text = path.text();
  if (find_package(text)) {
    packages_.erase(it);
    return true;
  }
  Package& p = it->second;
  auto fail = [&](std::string message) {
    packages_[path.id()].state = Package::kFailed;
    errors_.push_back({"", std::move(message), at, {}});
    return false;
  };
  std::string name = import_name(text);
  std::string_view first = text.substr(0, text.find('/'));
  if (first.find('.') == std::string_view::npos || !module_)
    return fail(fmt::format("import failed: cannot find package \"{}\"", text));
  CompileInput in;
  in.package = std::string(text);
  if (in.package.find(':') == std::string::npos) in.package += ":" + name;
  in.version = module_->version;
  for (auto& dir : package_directories(*module_, text)) {
    // files of the same package in the directories above belong to it too
    std::vector<std::string> dirs;
    bool inside = dir.rfind(module_->root + "/cue.mod/", 0) != 0;
    for (std::string d = dir;; d = d.substr(0, d.rfind('/'))) {
      dirs.push_back(d);
      if (!inside || d.size() <= module_->root.size() || d.rfind('/') == std::string::npos) break;
    }
    if (cue_files(dir).empty()) continue;
    for (auto& d : dirs)
      for (auto& file : cue_files(d)) {
        auto source = session_.sources->open(file);
        if (!source) continue;
        ParsedFile parsed = parse_file(**source, arena_);
        if (parsed.file && parsed.errors.empty()) {
          const ast::Package* k = parsed.file->package();
          if (!k || k->name->name.text() != name) continue;
          if (tags_ && tags_->excluded(parsed.file, errors_)) continue;
          in.files.push_back(parsed.file);
        } else if (d == dir) {
          for (auto& e : parsed.errors) errors_.push_back({"", e.message, e.pos, {}});
          p.state = Package::kFailed;
          return false;
        }
      }
    if (!in.files.empty()) break;
  }
  if (in.files.empty()) return fail(fmt::format("import failed: cannot find package \"{}\"", text));
  Vertex* root = nullptr;
  bool ok = compile_files(in, &root);
  Package& q = packages_[path.id()];
  q.root = root;
  q.state = ok ? Package::kReady : Package::kFailed;
  return ok;
}

Vertex* Instance::evaluate() {
  if (!root_) return nullptr;
  context_->finalize(root_);
  return root_;
}

void report(Session& session, std::span<const FlatError> errors) {
  for (auto& e : errors) {
    std::string text = e.path.empty() ? e.message : e.path + ": " + e.message;
    Pos at = e.pos ? e.pos : e.others.empty() ? Pos{} : e.others[0];
    auto& d = session.diagnostics.error("CUE", at, text);
    for (Pos p : e.others)
      if (p != at) d.relate(p, "");
  }
}

// ---- the common tree

namespace {

struct Builder {
  Instance& in;
  Context& ctx;
  TreeOptions options;
  TreeBuilder build;
  std::vector<FlatError> errors;

  std::string_view keep(std::string_view s) { return in.session().arena.copy(s); }

  Value error(const Bottom* b) {
    std::string text = message_of(b->error);
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

  Value vertex(Vertex* v) {
    Budget::Level level(ctx.budget);
    v = v->deref_value();
    if (!v->base && v->status != Status::kFinalized) ctx.finalize(v);
    Bottom* b = v->bottom();
    if (b && !(b->child_error && b->node == v) && !b->told_elsewhere) return error(b);
    if (!b) {
      Node* d = ctx.default_of(v);
      if (d->type != NodeType::kVertex) return scalar(d);
      v = to<Vertex>(d)->deref_value();
      if (Bottom* e = v->bottom(); e && !(e->child_error && e->node == v) && !e->told_elsewhere) return error(e);
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
    bool is_struct = fields || !v->base || v->base->type == NodeType::kStructMarker || v->base->type == NodeType::kBottom;
    if (!is_struct) return scalar(v->base);
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
      entries.push_back({Symbol(l.plain()), f, vertex(a)});
    }
    return build.map(entries, Origin(at));
  }

  using Field = tutti::Field;
};

}  // namespace

Value to_tree(Instance& instance, Vertex* v, const TreeOptions& options) {
  Builder b{instance, instance.context(), options, instance.session().builder(), {}};
  return b.vertex(v);
}

}  // namespace tutti::cue
