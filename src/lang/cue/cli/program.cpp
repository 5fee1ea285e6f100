#include "lang/cue/cli/program.h"

#include <fmt/format.h>
#include <malloc.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <unordered_set>

#include "base/boundary.h"
#include "base/file.h"
#include "base/limit_place.h"
#include "base/machine.h"
#include "base/process_limits.h"
#include "base/progress.h"
#include "base/sink.h"
#include "base/terminal.h"
#include "lang/cue/cli/module_editor.h"
#include "lang/cue/eval/error_code.h"
#include "lang/cue/eval/limits.h"
#include "lang/cue/format/literal.h"
#include "lang/cue/import/decode.h"
#include "lang/cue/load/secrets.h"
#include "text/common_options.h"

namespace tutti::cue {

namespace fs = std::filesystem;

constexpr int kLimitMet = 124;  // the exit code, as of every verb

std::string Answering::read(const CommandFlags& flags) {
  // What is given on the command line comes before the environment.
  auto values = [&](std::string_view flag, const char* variable) {
    std::vector<std::string> out = flags.all(flag);
    if (const char* env = std::getenv(variable); out.empty() && env && *env) out.emplace_back(env);
    return out;
  };
  limits.memory = machine_memory();
  if (reads_only) limits.time = kReadingTime;
  for (const std::string& v : values("limit", "TUTTI_LIMIT"))
    if (std::string wrong = set_limit(limits, v); !wrong.empty()) return wrong;
  for (const std::string& v : values("diagnostics", "TUTTI_DIAGNOSTICS")) {
    as_cue = false;
    if (std::string wrong = set_style(style, v); !wrong.empty()) return wrong;
  }
  std::string wish = "auto";
  for (const std::string& v : values("color", "TUTTI_COLOR")) wish = v;
  colour = use_colour(wish, 2);
  return wrong_colour(wish);
}

Program::Program(const CommandSpec& command, CommandFlags flags, Answering answering, std::string dir)
    : command_(command),
      flags_(std::move(flags)),
      answering_(std::move(answering)),
      dir_(std::move(dir)),
      session_(answering_.limits) {
  Limits limits = evaluation_limits(answering_.limits);
  arena_.set_limit(limits.memory);
  syntax_.set_limit(limits.memory);
  budget_ = std::make_unique<Budget>(limits);
  store_ = std::make_unique<NodeStore>(arena_);
  context_ = std::make_unique<Context>(*store_, *budget_);
  context_->sources = &sources();
  context_->every_error = answering_.tells_all();
  context_->import_package = [this](Symbol path) -> Vertex* {
    if (const PackageTable* t = find_package(path.text())) return package_source(*t);
    LoadedPackage* p = loader_ ? loader_->import(std::string(path.text())) : nullptr;
    return p && p->problems.empty() ? build(*p) : nullptr;
  };
}

Program::~Program() = default;

// A builtin package that is one source: errors name its lines.
Vertex* Program::package_source(const PackageTable& t) {
  if (t.constants.empty() || !t.constants[0].name.empty()) return nullptr;
  Result<const Source*> source = sources().add(std::string(t.path), std::string(t.constants[0].source));
  if (!source) return nullptr;
  std::vector<SyntaxError> errors;
  ast::Node* x = parse_expression(**source, arena_, errors);
  if (!x) return nullptr;
  if (t.functions.empty()) return build_files({file_of(x)}, "");
  Compiler compiler(*store_);
  Node* all = compiler.expression(x, nullptr);
  if (!all || all->type != NodeType::kStruct) return nullptr;
  std::vector<Node*> decls(to<StructLit>(all)->decls.begin(), to<StructLit>(all)->decls.end());
  for (const auto& [name, function] : t.functions)
    decls.push_back(store_->make<Field>(Label::string(name), ArcType::kMember, static_cast<Node*>(function), nullptr));
  to<StructLit>(all)->decls = store_->keep(decls);
  StructLit* one[] = {to<StructLit>(all)};
  return context_->new_root(one);
}

void Program::make_loader(LoaderConfig config) {
  config.dir = dir_;
  config.fetches = answering_.named_cue || may_run_code();  // cue does; else a stranger's project makes no requests
  loader_ = std::make_unique<PackageLoader>(sources(), syntax_, std::move(config));
}

int Program::run() {
  using Run = void (*)(Program&);
  static const std::map<std::string_view, Run> kRuns = {
      {"eval", run_eval},
      {"export", run_export},
      {"def", run_def},
      {"vet", run_vet},
      {"fmt", run_fmt},
      {"import", run_import},
      {"trim", run_trim},
      {"cmd", run_cmd},
      {"fix", run_fix},
      {"mod init", run_mod_init},
      {"mod edit", run_mod_edit},
      {"mod rename", run_mod_rename},
      {"mod tidy", run_mod_tidy},
      {"mod fix", run_mod_fix}, {"mod get", run_mod_get},
      {"mod publish", run_mod_publish},
      {"mod resolve", run_mod_resolve},
      {"help cmd", run_help_cmd},
      {"exp", run_exp},
  };
  LimitPlace place(context_->src.at);
  std::optional<Progress> progress;  // tasks speak for themselves
  if (command_.name != "cmd") progress.emplace(std::string(command_.name));
  try {
    kRuns.at(command_.name)(*this);
  } catch (const Stop& s) {
    if (!s.silent) print_error(s.problems);
    failed_ = true;
  } catch (const LimitError& e) {
    return limit_met(e.code(), Pos{e.at()}, e.what());
  } catch (const std::bad_alloc&) {
    return limit_met("LIMIT-MEMORY", {}, out_of_memory());
  }
  if (::isatty(1) == 1) Progress::hide();
  print_to(stdout, out_);
  return failed_ ? 1 : 0;
}

// cue has no limits, and so no words for them. Nothing of the result is written.
int Program::limit_met(const std::string& code, Pos at, const std::string& what) {
  Diagnostics met;
  met.error(code, at, what);
  say(render(met, sources(), answering_.style, answering_.colour));
  return kLimitMet;
}

void Program::fail(std::string message, std::vector<Pos> places) {
  throw Stop{{{std::move(message), std::move(places)}}};
}
void Program::fail(std::vector<LoadProblem> problems) { throw Stop{std::move(problems)}; }
void Program::fail_write(const Failure& failure) {
  fail(std::vector{LoadProblem{failure.message, {}, {}, failure.code == kOutsideToWrite ? kOutsideToWriteCode : ""}});
}
void Program::fail(const Bottom* b) { throw Stop{problems_of(b)}; }

void Program::keep_secrets_of(const Vertex* v) {
  if (!answering_.named_cue) cue::keep_secrets(v, sources());
}

bool Program::hides_secrets() const {
  return !answering_.named_cue && !flags_.on("reveal") && session_.sources->has_said_secrets();
}

void Program::fail_with_diagnostics() {
  say(render(session_.diagnostics, sources(), answering_.style, answering_.colour));
  throw Stop{{}, true};
}

void Program::check(const LoadedPackage& p) {
  if (!loader_->problems().empty()) throw Stop{loader_->problems()};
  if (!p.problems.empty()) throw Stop{p.problems};
}

std::vector<LoadProblem> Program::problems_of(const Bottom* b) {
  std::vector<LoadProblem> out;
  for (const FlatError& e : flatten(b)) {
    LoadProblem p;
    p.message = e.path.empty() ? e.message : e.path + ": " + e.message;
    p.near = e.near;
    p.code = error_code(e.message);
    p.field = e.field;
    if (e.pos) p.places.push_back(e.pos);
    std::vector<Pos> rest;
    auto of_flag = [&](Pos o) { return sources().locate(o).file.starts_with("--"); };
    for (Pos o : e.others)
      if (o && o != e.pos && (!of_flag(o) || sources().locate(o).file == kExpressionFlag)) rest.push_back(o);
    std::sort(rest.begin(), rest.end(), [&](Pos x, Pos y) {
      Location a = sources().locate(x), c = sources().locate(y);
      if (of_flag(x) != of_flag(y)) return of_flag(y);
      if (a.file != c.file) return a.file < c.file;
      return x < y;
    });
    rest.erase(std::unique(rest.begin(), rest.end()), rest.end());
    p.places.insert(p.places.end(), rest.begin(), rest.end());
    out.push_back(std::move(p));
  }
  return out;
}

// The end of a file is on its last line, not on one after the line break.
std::string Program::shown_place(Pos at) const {
  const Source* s = session_.sources->find(at);
  bool after_last = s && !s->text.empty() && s->offset(at) == s->text.size() && s->text.back() == '\n';
  Location where = session_.sources->locate(after_last ? s->pos(s->text.size() - 1) : at);
  // cue counts bytes.
  return where.line == 0 ? std::string{} : fmt::format("{}:{}:{}", where.file, where.line, where.byte + after_last);
}

std::string Program::show(const std::vector<LoadProblem>& problems) const {
  std::string out;
  std::unordered_set<std::string> seen;
  for (const LoadProblem& p : problems) {
    std::string text = p.message;
    std::string places;
    for (Pos at : p.places)
      if (std::string s = shown_place(at); !s.empty()) places += "    " + s + "\n";
    if (places.empty())
      text += "\n";
    else
      text += ":\n" + places;
    if (answering_.hints && !p.near.empty()) text += fmt::format("    did you mean {}?\n", p.near);
    if (seen.insert(text).second) out += text;
  }
  return answering_.named_cue ? out : session_.sources->masked(out);
}

std::string Program::show_diagnostics(const std::vector<LoadProblem>& problems) const {
  Diagnostics list(answering_.limits.errors);
  for (const LoadProblem& p : problems) report(list, p);
  return render(list, *session_.sources, answering_.style, answering_.colour);
}

void Program::print(std::string_view text) { out_ += text; }

void Program::say(std::string_view text) {
  Progress::hide();
  print_to(stderr, text);
}

void Program::warn(std::string code, std::string message) {
  Diagnostics list;
  list.warning(std::move(code), {}, std::move(message));
  say(render(list, *session_.sources, answering_.style, answering_.colour));
}

void Program::print_error(const std::vector<LoadProblem>& problems) {
  say(answering_.as_cue ? show(problems) : show_diagnostics(problems));
  failed_ = true;
}

void Program::print_error(const Bottom* b) {
  if (b) print_error(problems_of(b));
}

// Packages that are imported are compiled when somebody asks for them, which must be before. One that is wrong is left
// for then, and so is the syntax.
namespace {
constexpr std::size_t kWorthGivingBack = std::size_t{1} << 18;
}

void Program::drop_syntax() {
  if (!store_->forgets_syntax()) return;
  if (marks_secrets()) return;  // their marks are in it
  if (loader_) {
    try {
      for (LoadedPackage* p : loader_->imported())
        if (p->problems.empty()) build(*p);
    } catch (const Stop&) {
      return;
    }
  }
  bool much = syntax_.bytes() > kWorthGivingBack;
  syntax_ = Arena();
  if (much) ::malloc_trim(0);  // what evaluation takes is not of these sizes
  arena_.set_limit(budget_->limits().memory);
}

Vertex* Program::build_files(const std::vector<ast::File*>& files, const std::string& package, bool data) {
  arena_.set_limit(budget_->limits().memory - std::min(budget_->limits().memory, u64{syntax_.bytes()}));
  Compiler compiler(*store_);
  CompileInput in;
  in.files = files;
  in.package = package;
  in.data = data;
  in.package_name = [this](std::string_view path) -> std::string {
    if (find_package(path)) return {};
    return loader_ ? loader_->package_name(std::string(path)) : "";
  };
  std::vector<StructLit*> lits = compiler.files(in);
  if (!compiler.errors().empty()) {
    std::vector<LoadProblem> problems;
    std::vector<CompileError> errors = compiler.errors();
    std::stable_sort(errors.begin(), errors.end(), [&](const CompileError& a, const CompileError& b) {
      std::string_view fa = sources().locate(a.pos).file, fb = sources().locate(b.pos).file;
      return fa != fb ? fa < fb : a.pos < b.pos;
    });
    for (const CompileError& e : errors) {
      LoadProblem p{e.path.empty() ? e.message : e.path + ": " + e.message, {}, e.near, error_code(e.message)};
      if (e.pos) p.places.push_back(e.pos);
      problems.push_back(std::move(p));
    }
    throw Stop{std::move(problems)};
  }
  return context_->new_root(lits);
}

Vertex* Program::build(LoadedPackage& p, bool with_tools) {
  std::string key = p.import_path;
  if (!key.empty() && !p.user && !with_tools)
    if (auto it = packages_.find(key); it != packages_.end()) return it->second;
  if (key.empty() && !p.user && !with_tools)
    if (auto it = nameless_.find(&p); it != nameless_.end()) return it->second;
  std::vector<ast::File*> files = p.files;
  if (with_tools) files.insert(files.end(), p.tools.begin(), p.tools.end());
  Vertex* v = build_files(files, p.import_path);
  if (!key.empty() && !p.user && !with_tools) packages_[key] = v;
  if (key.empty() && !p.user && !with_tools) nameless_[&p] = v;
  return v;
}

ast::Node* Program::parse_flag(const std::string& name, const std::string& text) {
  Result<const Source*> s = sources().add(name, text);
  parse_errors_.clear();
  ast::Node* x = s ? parse_expression(**s, arena_, parse_errors_) : nullptr;
  return parse_errors_.empty() ? x : nullptr;
}

Vertex* Program::build_expression(ast::Node* x, Vertex* scope, const std::string& package) {
  context_->finalize(scope);
  Vertex* at = scope->deref_value();
  // The names that the expression may use: the fields of the scope.
  auto* names = arena_.make<ast::File>();
  std::vector<ast::Node*> decls;
  for (Vertex* a : at->arcs) {
    if (a->label.is_let() || a->label.is_int() || !is_identifier(a->label.name())) continue;
    decls.push_back(make_field(arena_, make_ident(arena_, a->label.name()), make_ident(arena_, "_")));
  }
  names->decls = make_nodes(arena_, decls);
  CompileInput in;
  in.files = {names};
  in.package = package;
  Compiler compiler(*store_);
  compiler.infer_packages(true);
  Node* n = compiler.expression(x, &in);
  if (!compiler.errors().empty()) {
    std::vector<LoadProblem> problems;
    for (const CompileError& e : compiler.errors()) {
      LoadProblem p{e.message, {}, e.near, error_code(e.message)};
      if (e.pos) p.places.push_back(e.pos);
      problems.push_back(std::move(p));
    }
    throw Stop{std::move(problems)};
  }
  Vertex* v = context_->new_vertex();
  Environment* env = context_->new_env(nullptr, at);
  v->conjuncts.push(arena_, Conjunct{env, n, {}});
  context_->finalize(v);
  if (v->is_shared) {
    EvalScope here(*context_, env, n->pos);
    if (Vertex* field = context_->resolve(n, {.condition = kFieldSetKnown, .mode = Mode::kIgnore}))
      referred_.emplace(v, field);
  }
  return v;
}

Vertex* Program::unify(Vertex* a, Vertex* b) {
  context_->finalize(a);
  context_->finalize(b);
  Vertex* v = context_->unify_values(a, b);
  context_->finalize(v);
  return v;
}

Bottom* Program::validate(Vertex* v, bool concrete, bool final, bool disallow_cycles, Pos data) {
  context_->finalize(v);
  ValidateConfig config;
  config.concrete = concrete;
  config.final = final || concrete;
  config.disallow_cycles = disallow_cycles;
  config.all_errors = true;
  config.every = answering_.tells_all();
  if (config.every) config.data = data;
  auto field = referred_.find(v);
  return validate_tree(*context_, field == referred_.end() ? v : field->second, config);
}

ast::File* Program::file_of(ast::Node* x) {
  if (x->kind == ast::Kind::kFile) return static_cast<ast::File*>(x);
  auto* f = arena_.make<ast::File>();
  if (x->kind == ast::Kind::kStruct) {
    f->decls = static_cast<ast::Struct*>(x)->elts;
    f->notes = x->notes;
  } else {
    if (TokenPos* at = ast::first_ref(x)) at->rel = Rel::kNoSpace;
    f->decls = make_nodes(arena_, {arena_.make<ast::Embed>(x)});
  }
  return f;
}

void Program::write_output(const std::string& path, std::string text, bool force) {
  if ((path == "-" || path.empty()) && out_.empty()) {
    out_ = std::move(text);  // what is large is mostly all there is
    return;
  }
  if (path == "-" || path.empty()) return print(text);
  std::string abs = absolute(path);
  std::error_code ec;
  if (!force && fs::exists(abs, ec) && fs::is_regular_file(abs, ec))
    fail(fmt::format("error writing {}: file already exists", quote(path)));
  if (fs::exists(abs, ec) && !fs::is_regular_file(abs, ec)) {  // a device or a pipe
    FileSink through(abs);
    through.put(text);
    if (Result<void> r = through.commit(); !r) fail_write(r.error());
    return;
  }
  if (Result<void> r = write_file_atomically(abs, text); !r) fail_write(r.error());
}

}  // namespace tutti::cue
