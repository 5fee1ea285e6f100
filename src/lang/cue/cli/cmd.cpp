// `cmd`: the tasks of a command, each run once all tasks it refers to are done, side by side where they are
// independent.
#include <fmt/format.h>

#include <algorithm>
#include <condition_variable>
#include <cstdlib>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <thread>

#include "base/boundary.h"
#include "base/terminal.h"
#include "lang/cue/builtin/support.h"
#include "lang/cue/cli/cmd_task.h"
#include "lang/cue/cli/plan.h"
#include "lang/cue/eval/error_code.h"
#include "lang/cue/format/literal.h"
#include "lang/cue/import/decode.h"
#include "lang/cue/syntax/parser.h"

namespace tutti::cue {

namespace {

class Commander {
 public:
  Commander(Program& p, std::string name) : p_(p), c_(p.context()), name_(std::move(name)) {}

  void run() {
    load();
    for (;;) {
      evaluate();
      find_tasks();
      if (tasks_.empty() && done_.empty()) {
        if (Bottom* b = command_->bottom()) p_.fail(b);
        p_.fail(fmt::format("command.{}: no tasks found", label_text(name_)));
      }
      std::vector<CommandTask*> ready;
      bool open = false;
      for (CommandTask& t : tasks_) {
        if (done_.count(t.name())) {
          // What came of it may contradict what was said about it.
          if (Bottom* b = p_.validate(t.value, false, false)) p_.fail(b);
          continue;
        }
        open = true;
        bool waits = running_.count(t.name()) > 0;
        for (const std::string& n : t.needs)
          if (n != t.name() && !done_.count(n)) waits = true;
        if (!waits) ready.push_back(&t);
      }
      if (debug_) show_graph(ready);
      if (!open) return;
      if (ready.empty() && running_.empty()) cycle();
      start(ready);
      take_results();
    }
  }

 private:
  void load() {
    LoaderConfig config;
    config.tags = p_.flags().all("inject");
    config.tag_vars = p_.flags().on("inject-vars");
    config.tools = true;
    p_.make_loader(config);
    std::vector<std::string> args(p_.flags().arguments().begin() + 1, p_.flags().arguments().end()), packages;
    std::vector<DataFile> files;
    std::string error;
    if (!parse_file_args(args, packages, files, error)) p_.fail(error);
    if (packages.empty() && files.empty()) packages.push_back(".");
    std::vector<LoadedPackage*> loaded = p_.loader().load(packages, files);
    for (LoadedPackage* l : loaded) p_.check(*l);
    if (loaded.size() > 1) merge(loaded);
    std::set<ast::File*> seen;
    for (LoadedPackage* l : loaded) {
      for (ast::File* f : l->files)
        if (merged_.empty() && seen.insert(f).second) files_.push_back(f);
      for (ast::File* f : l->tools)
        if (seen.insert(f).second) {
          files_.push_back(f);
          tools_.insert(f);
        }
      if (package_.empty()) package_ = l->import_path;
    }
  }

  // The tools see one value, the data of all packages together: each is evaluated by itself, as its own definitions
  // and hidden fields are nobody else's. Where they do not agree is wrong once a task asks for it.
  void merge(const std::vector<LoadedPackage*>& loaded) {
    std::set<std::string_view> known;
    std::string names = "package names\n";  // that the files of the tools may use
    for (LoadedPackage* l : loaded) {
      if (l->files.empty()) continue;
      Vertex* one = c_.to_data(p_.build_files(l->files, l->import_path));
      merged_.push_back(one);
      for (const Vertex* a : one->deref_value()->arcs)
        if (a->label.is_string() && is_identifier(a->label.name()) && known.insert(a->label.name()).second)
          names += std::string(a->label.name()) + ": _\n";
    }
    if (Result<const Source*> source = p_.sources().add("names", names); source && !known.empty())
      files_.push_back(parse_file(**source, p_.arena()).file);
  }

  // What is wrong in another command is of no concern.
  void fail_of_others(const Vertex* commands) {
    for (Vertex* a : root_->deref_value()->arcs)
      if (a != commands && !a->label.is_let() && p_.validate(a, false, false))
        p_.fail(p_.validate(root_, false, false));
  }

  void evaluate() {
    std::vector<ast::File*> files = files_;
    files.insert(files.end(), results_.begin(), results_.end());
    root_ = p_.build_files(files, package_);
    for (Vertex* one : merged_) root_->conjuncts.push(c_.arena, Conjunct{nullptr, one, {}});
    c_.finalize(root_);
    if (first_) {
      first_ = false;
      Vertex* commands = root_->deref_value()->find_raw(Label::string("command"));
      Vertex* command = commands ? commands->deref_value()->find_raw(Label::string(name_)) : nullptr;
      bool from_tool = false;
      if (commands)
        for (const KeptConjunct& k : commands->conjuncts)
          if (const Source* s = p_.sources().find(k.x->pos)) from_tool |= s->name.ends_with("_tool.cue");
      if (!command || !from_tool) {
        if (!command) fail_of_others(commands);
        std::string what = fmt::format("could not find command {}", quote(name_));
        if (!command)
          what = commands ? fmt::format("command: field not found: {}", label_text(name_)) : "field not found: command";
        if (commands && p_.answering().hints) {
          std::vector<std::string_view> names;
          for (const Vertex* a : commands->deref_value()->arcs)
            if (a->label.is_string()) names.push_back(a->label.name());
          if (std::string near = meant_name(name_, names); !near.empty())
            what += fmt::format("\n    did you mean {}?", near);
        }
        print_to(
            stderr,
            fmt::format("{}\nEnsure custom commands are defined in a \"_tool.cue\" file.\nRun 'cue help cmd' to list "
                        "available custom commands.\n",
                        what));
        throw Stop{{}, true};
      }
      if (merged_.empty()) fail_of_others(commands);
      if (Bottom* b = p_.validate(command, false, false)) p_.fail(b);
    }
    Vertex* commands = root_->deref_value()->find_raw(Label::string("command"));
    command_ = commands->deref_value()->find_raw(Label::string(name_));
    c_.finalize(command_);
  }

  // A struct with $id of a tool.
  std::string task_kind(Vertex* v) {
    v = v->deref_value();
    Vertex* id = v->find_raw(Label::string("$id"));
    if (!id) return {};
    // Only what was unified with a schema of tool/* is a task: what merely says so must not run anything.
    if (tool_ids_.empty()) find_tool_ids();
    bool from_tool = false;
    for (const KeptConjunct& k : id->conjuncts) from_tool |= tool_ids_.count(k.x) > 0;
    if (!from_tool) return {};
    Node* n = plain(c_.default_of(id));
    if (!n || n->type != NodeType::kString) return {};
    std::string s(to<String>(n)->text);
    if (s == "exec") return "tool/exec.Run";
    if (s == "print") return "tool/cli.Print";
    if (s == "http") return "tool/http.Do";
    return s.starts_with("tool/") ? s : "";
  }

  void find_tool_ids() {
    static constexpr std::string_view kSchemas =
        "import (\n\"tool/cli\"\n\"tool/exec\"\n\"tool/file\"\n\"tool/http\"\n\"tool/os\"\n)\n"
        "[cli.Print, cli.Ask, exec.Run, file.Read, file.Append, file.Create, file.Symlink, file.Glob, file.Mkdir, "
        "file.MkdirAll, file.MkdirTemp, file.RemoveAll, http.Do, http.Get, http.Post, http.Put, http.Delete, "
        "os.Setenv, os.Getenv, os.Environ, os.Clearenv]\n";
    Result<const Source*> source = p_.sources().add("tool", std::string(kSchemas));
    if (!source) return;
    Vertex* list = p_.build_files({parse_file(**source, p_.arena()).file}, "");
    c_.finalize(list);
    for (Vertex* a : list->deref_value()->arcs)
      if (Vertex* id = a->deref_value()->find_raw(Label::string("$id")))
        for (const KeptConjunct& k : id->conjuncts) tool_ids_.insert(k.x);
  }

  void find(Vertex* v, std::vector<Label>& path) {
    Vertex* at = v->deref_value();
    std::string kind = task_kind(v);
    if (!kind.empty()) {
      CommandTask t;
      t.path = path;
      t.value = v;
      t.kind = kind;
      tasks_.push_back(std::move(t));
      return;
    }
    for (Vertex* a : at->arcs) {
      if (a->label.is_let() || a->arc_type != ArcType::kMember || a->label == Label::string("$after")) continue;
      path.push_back(a->label);
      find(a, path);
      path.pop_back();
    }
  }

  void find_tasks() {
    tasks_.clear();
    std::vector<Label> path{Label::string("command"), Label::string(name_)};
    find(command_, path);
    // Tasks elsewhere that these refer to are found on the way, and run too.
    for (std::size_t i = 0; i < tasks_.size(); ++i) {
      CommandTask& t = tasks_[i];
      visited_.clear();
      needs_ = &t.needs;
      self_ = &t;
      walk(t.value);
    }
  }

  // ---- what a task refers to

  static bool below(Vertex* v, Vertex* of) {
    of = of->deref_value();
    for (Vertex* p = v; p; p = p->parent)
      if (p == of || p->deref_value() == of) return true;
    return false;
  }

  // The task that a value is part of and that no command names. What is inside a task is no other task.
  void adopt(Vertex* v) {
    Vertex* outermost = nullptr;
    for (Vertex* p = v; p && p->parent; p = p->parent) {
      if (p->label == Label::string("$after")) return;  // what is waited for is said here, not done
      if (!task_kind(p).empty()) outermost = p;
    }
    if (Vertex* p = outermost) {
      std::string kind = task_kind(p);
      for (const CommandTask& t : tasks_)
        if (t.value == p || t.value->deref_value() == p->deref_value()) return;
      CommandTask t;
      for (Vertex* a = p; a->parent; a = a->parent) t.path.insert(t.path.begin(), a->label);
      Vertex* top = p;
      while (top->parent) top = top->parent;
      if (top != root_->deref_value() && top != root_) return;  // a schema of tool/* itself
      t.value = p;
      t.kind = kind;
      tasks_.push_back(std::move(t));
    }
  }

  // Nothing that a task does can change it any more.
  static bool settled(Vertex* v) {
    Vertex* d = v->deref_value();
    if (!d->base) return false;
    switch (d->base->type) {
      case NodeType::kNull:
      case NodeType::kBool:
      case NodeType::kNum:
      case NodeType::kString:
      case NodeType::kBytes: return true;
      default: return false;
    }
  }

  void target(Vertex* v) {
    if (!v) return;
    // What a task says itself is known before it runs; elsewhere a value may come of what a task has yet to say.
    bool known = settled(v), inside = false;
    if (!known) adopt(v);
    for (CommandTask& t : tasks_) {
      bool in_it = below(v, t.value);
      inside |= in_it;
      if (&t != self_ && !known && (in_it || below(t.value, v))) needs_->insert(t.name());
    }
    if (!inside) walk(v);
  }

  void walk(Vertex* v) {
    if (!visited_.insert(v).second) return;
    Vertex* d = v->deref_value();
    Restore at(at_, v);
    for (const KeptConjunct& k : v->conjuncts) {
      Node* x = expression_of(k.x);
      // The elements of a list that is known are seen below, each with the variables it was made with.
      if (x && x->type == NodeType::kList && d->is_list()) {
        list_sources(k.env, to<ListLit>(x));
        continue;
      }
      expression(k.env, x, true);
    }
    if (d != v && d->parent != v) {
      target(d);
    }
    for (Vertex* a : v->arcs) walk(a);
  }

  static Environment* up(Environment* e, u32 n) {
    for (; e && n > 0; --n) e = e->up;
    return e;
  }

  // nullptr: not known, perhaps since a variable of a comprehension is not.
  Node* index_value(Environment* env, Node* x) {
    if (x->type == NodeType::kNum || x->type == NodeType::kString) return x;
    for (Environment* e = env; e; e = e->up)
      if (e->vertex == c_.empty_node) return nullptr;
    EvalScope scope(c_, env, x->pos);
    Node* v = plain(c_.concrete(env, x, Op::kNone));
    return c_.has_err() ? nullptr : v;
  }

  Vertex* resolve(Environment* env, Node* x) {
    switch (x->type) {
      case NodeType::kFieldRef: {
        Environment* e = up(env, to<FieldRef>(x)->up);
        return e && e->vertex ? e->vertex->deref_value()->find_raw(to<FieldRef>(x)->label) : nullptr;
      }
      case NodeType::kLetRef: {
        Environment* e = up(env, to<LetRef>(x)->up);
        return e && e->vertex ? e->vertex->deref_value()->find_raw(to<LetRef>(x)->label) : nullptr;
      }
      case NodeType::kValueRef: {
        Environment* e = up(env, to<ValueRef>(x)->up);
        return e ? e->vertex.get() : nullptr;
      }
      case NodeType::kSelector: {
        Vertex* v = resolve(env, to<Selector>(x)->x);
        return v ? v->deref_value()->find_raw(to<Selector>(x)->label) : nullptr;
      }
      case NodeType::kIndex: {
        Vertex* v = resolve(env, to<Index>(x)->x);
        Node* i = v ? index_value(env, to<Index>(x)->index) : nullptr;
        if (!i) return nullptr;
        if (i->type == NodeType::kNum)
          if (auto n = to<Num>(i)->value.to_u64())
            return v->deref_value()->find_raw(Label::integer(static_cast<u32>(*n)));
        if (i->type == NodeType::kString) return v->deref_value()->find_raw(Label::string(to<String>(i)->text));
        return nullptr;
      }
      default: return nullptr;
    }
  }

  void expression(Environment* env, Node* x, bool top) {
    if (!x) return;
    auto inner = [&](Node* n) { expression(env, n, false); };
    switch (x->type) {
      case NodeType::kFieldRef:
      case NodeType::kLetRef:
      case NodeType::kValueRef:
        if (Vertex* v = resolve(env, x)) {
          if (x->type == NodeType::kValueRef) return;
          target(v);
        }
        return;
      case NodeType::kSelector:
      case NodeType::kIndex: {
        if (x->type == NodeType::kIndex) inner(to<Index>(x)->index);
        // The longest part of the way that is there.
        Node* at = x;
        while (at) {
          if (Vertex* v = resolve(env, at)) return target(v);
          at = at->type == NodeType::kSelector ? to<Selector>(at)->x.get()
               : at->type == NodeType::kIndex  ? to<Index>(at)->x.get()
                                               : nullptr;
          if (at && !at->is_reference()) {
            inner(at);
            return;
          }
        }
        return;
      }
      case NodeType::kBinary: expression(env, to<Binary>(x)->x, top), expression(env, to<Binary>(x)->y, top); return;
      case NodeType::kUnary: inner(to<Unary>(x)->x); return;
      case NodeType::kBoundExpr: inner(to<BoundExpr>(x)->x); return;
      case NodeType::kOpen: inner(to<Open>(x)->x); return;
      case NodeType::kSlice: inner(to<Slice>(x)->x), inner(to<Slice>(x)->low), inner(to<Slice>(x)->high); return;
      case NodeType::kInterpolation:
        for (Node* n : to<Interpolation>(x)->parts) inner(n);
        return;
      case NodeType::kCall:
        inner(to<Call>(x)->fun);
        for (Node* n : to<Call>(x)->args) inner(n);
        return;
      case NodeType::kDisjunctionExpr:
        for (const Disjunct& d : to<DisjunctionExpr>(x)->values) expression(env, d.value, top);
        return;
      case NodeType::kStruct: {
        // The fields of a literal that is a conjunct are seen where they ended up.
        Environment* e = c_.new_env(env, top ? at_ : c_.empty_node);
        for (Node* d : to<StructLit>(x)->decls) {
          if (top && (d->type == NodeType::kField || d->type == NodeType::kLetField)) continue;
          declaration(e, d, top);
        }
        return;
      }
      case NodeType::kList: {
        Environment* e = c_.new_env(env, c_.empty_node);
        for (Node* d : to<ListLit>(x)->elems) declaration(e, d, false);
        return;
      }
      case NodeType::kComprehension: declaration(env, x, top); return;
      default: return;
    }
  }

  // What decides which elements there are.
  void list_sources(Environment* env, ListLit* x) {
    Environment* e = c_.new_env(env, c_.empty_node);
    for (Node* d : x->elems)
      if (d->type == NodeType::kComprehension) clauses(e, to<Comprehension>(d));
  }

  // The scope of what the comprehension makes.
  Environment* clauses(Environment* e, Comprehension* d) {
    for (Node* k : d->clauses) {
      if (k->type == NodeType::kFor) {
        expression(e, to<ForClause>(k)->source, false);
        e = c_.new_env(e, c_.empty_node);
      } else if (k->type == NodeType::kIf) {
        expression(e, to<IfClause>(k)->condition, false);
      } else if (k->type == NodeType::kLet) {
        expression(e, to<LetClause>(k)->x, false);
        e = c_.new_env(e, c_.empty_node);
      } else if (k->type == NodeType::kTry) {
        expression(e, to<TryClause>(k)->x, false);
        if (to<TryClause>(k)->label.valid()) e = c_.new_env(e, c_.empty_node);
      }
    }
    return e;
  }

  void declaration(Environment* env, Node* d, bool top) {
    switch (d->type) {
      case NodeType::kField: return expression(env, to<Field>(d)->value, false);
      case NodeType::kLetField: return expression(env, to<LetField>(d)->value, false);
      case NodeType::kDynamicField:
        expression(env, to<DynamicField>(d)->key, false);
        if (top) return;  // once the name is known it is a field
        return expression(env, to<DynamicField>(d)->value, false);
      case NodeType::kPattern: return expression(c_.new_env(env, c_.empty_node), to<Pattern>(d)->value, false);
      case NodeType::kEllipsis: return expression(env, to<Ellipsis>(d)->value, false);
      case NodeType::kComprehension:
        return expression(clauses(env, to<Comprehension>(d)), to<Comprehension>(d)->value, top);
      default: return expression(env, d, false);
    }
  }

  // CUE_DEBUG=toolsflow: what waits for what, as a diagram.
  void show_graph(const std::vector<CommandTask*>& ready) {
    std::string out = "tools/flow task dependency graph:\n```mermaid\ngraph TD\n", edges;
    std::map<std::string, std::size_t> number;
    for (std::size_t i = 0; i < tasks_.size(); ++i) number[tasks_[i].name()] = i;
    for (std::size_t i = 0; i < tasks_.size(); ++i) {
      const CommandTask& t = tasks_[i];
      std::string shown;
      for (char ch : t.name()) shown += ch == '"' ? "#quot;" : ch == '#' ? "#35;" : std::string(1, ch);
      bool now = std::find(ready.begin(), ready.end(), &t) != ready.end();
      out += fmt::format("  t{}(\"{} [{}]\")\n", i, shown,
                         done_.count(t.name()) ? "Terminated"
                         : now                 ? "Ready"
                                               : "Waiting");
      needed_[t.name()].insert(t.needs.begin(), t.needs.end());
      for (const std::string& n : needed_[t.name()])
        if (n != t.name() && number.count(n)) edges += fmt::format("  t{}-->t{}\n", i, number[n]);
    }
    print_to(stderr, out + edges + "```\n");
  }

  [[noreturn]] void cycle() {
    std::map<std::string, const CommandTask*> open;
    for (const CommandTask& t : tasks_)
      if (!done_.count(t.name())) open[t.name()] = &t;
    // Every open task waits for another one: following them comes back to where it was.
    std::vector<const CommandTask*> way;
    const CommandTask* at = open.begin()->second;
    while (std::find(way.begin(), way.end(), at) == way.end()) {
      way.push_back(at);
      for (const std::string& n : at->needs)
        if (n != at->name() && open.count(n)) {
          at = open[n];
          break;
        }
    }
    way.erase(way.begin(), std::find(way.begin(), way.end(), at));
    LoadProblem p{"cyclic task dependency:", {}};
    for (const CommandTask* t : way) {
      p.message += fmt::format("\n\ttask {} refers to", t->name());
      for (const KeptConjunct& k : t->value->conjuncts)
        if (k.x->pos) {
          p.places.push_back(k.x->pos);
          break;
        }
    }
    p.message += fmt::format("\n\ttask {}", at->name());
    p_.fail(std::vector<LoadProblem>{p});
  }

  // ---- running

  // What may take long: programs and requests run side by side, the rest at once.
  static bool takes_long(const TaskInput& i) { return i.kind == "tool/exec.Run" || i.kind == "tool/http.Do"; }

  void start(const std::vector<CommandTask*>& ready) {
    std::vector<TaskInput> inputs;
    std::vector<LoadProblem> problems;
    for (CommandTask* t : ready) {
      if (Bottom* b = t->value->bottom(); b && !b->incomplete()) {
        Bottom* all = p_.validate(t->value, false, false);
        p_.fail(all ? all : b);
      }
      inputs.push_back(task_input(c_, *t, problems));
    }
    if (!problems.empty()) p_.fail(problems);
    for (std::size_t i = 0; i < ready.size(); ++i) {
      running_.emplace(ready[i]->name(), *ready[i]);
      std::string name = ready[i]->name();
      if (takes_long(inputs[i])) {
        threads_.emplace_back([this, name, input = std::move(inputs[i])] { finish(name, run_task(input)); });
        continue;
      }
      TaskOutput output = run_task(inputs[i]);
      bool failed = !output.error.empty();
      finish(name, std::move(output));
      if (failed) return;
    }
  }

  void finish(const std::string& name, TaskOutput output) {
    std::lock_guard lock(finished_lock_);
    finished_.emplace_back(name, std::move(output));
    something_finished_.notify_one();
  }

  // Waits for one task at least: with what it says others may begin while the rest still runs.
  void take_results() {
    std::vector<std::pair<std::string, TaskOutput>> now;
    {
      std::unique_lock lock(finished_lock_);
      something_finished_.wait(lock, [&] { return !finished_.empty(); });
      now.swap(finished_);
    }
    for (auto& [name, output] : now) {
      if (!output.error.empty()) p_.fail("task failed: " + output.error);
      auto task = running_.extract(name);
      done_.insert(name);
      fill(task.mapped(), output);
    }
  }

  // The results as a file that is unified with the rest.
  void fill(const CommandTask& t, const TaskOutput& o) {
    Arena& a = p_.arena();
    std::vector<ast::Node*> fields;
    auto add = [&](const std::string& name, ast::Node* v) {
      fields.push_back(make_field(a, make_lit(a, Tok::kString, quote(name)), v));
    };
    for (const auto& [k, v] : o.bools) add(k, make_lit(a, v ? Tok::kTrue : Tok::kFalse, v ? "true" : "false"));
    auto list_of = [&](const std::vector<std::string>& texts) {
      std::vector<ast::Node*> items;
      for (const std::string& s : texts) items.push_back(make_lit(a, Tok::kString, quote(s)));
      return make_list(a, items);
    };
    for (const auto& [k, v] : o.lists) add(k, list_of(v));
    std::vector<ast::Node*>* to_fields = &fields;
    std::vector<ast::Node*> response;
    if (t.kind == "tool/http.Do") to_fields = &response;
    auto add_to = [&](const std::string& name, ast::Node* v) {
      to_fields->push_back(make_field(a, make_lit(a, Tok::kString, quote(name)), v));
    };
    for (const auto& [k, v] : o.strings) add_to(k, make_lit(a, Tok::kString, quote(v)));
    for (const auto& [k, v] : o.bytes) add_to(k, make_bytes(a, v));
    for (const auto& [k, v] : o.numbers) add_to(k, make_lit(a, Tok::kInt, v));
    if (t.kind == "tool/http.Do") {
      auto add_headers = [&](const char* name, const std::map<std::string, std::vector<std::string>>& from) {
        std::vector<ast::Node*> headers;
        for (const auto& [k, values] : from)
          headers.push_back(make_field(a, make_lit(a, Tok::kString, quote(k)), list_of(values)));
        response.push_back(make_field(a, make_ident(a, name), make_struct(a, headers)));
      };
      add_headers("header", o.headers);
      add_headers("trailer", o.trailers);
      fields.push_back(make_field(a, make_ident(a, "response"), make_struct(a, response)));
    }
    if (fields.empty()) return;
    // Each in a file of its own: the order in which they are known says nothing about the order of fields.
    for (ast::Node* f : fields) result(t, make_struct(a, {f}));
  }

  void result(const CommandTask& t, ast::Node* v) {
    Arena& a = p_.arena();
    for (std::size_t i = t.path.size(); i-- > 0;) {
      Label l = t.path[i];
      if (l.is_int()) {
        std::vector<ast::Node*> items;
        for (u32 k = 0; k < l.index(); ++k) items.push_back(make_ident(a, "_"));
        items.push_back(v);
        items.push_back(a.make<ast::Ellipsis>(TokenPos{}));
        v = make_list(a, items);
        continue;
      }
      ast::Node* label =
          l.is_string() ? static_cast<ast::Node*>(make_lit(a, Tok::kString, quote(l.name()))) : make_ident(a, l.name());
      v = make_struct(a, {make_field(a, label, v)});
    }
    auto* file = a.make<ast::File>();
    file->decls = static_cast<ast::Struct*>(v)->elts;
    results_.push_back(file);
  }

  Program& p_;
  Context& c_;
  std::string name_, package_;
  std::vector<ast::File*> files_, results_;
  std::set<ast::File*> tools_;
  Vertex *root_ = nullptr, *command_ = nullptr;
  std::vector<Vertex*> merged_;  // what each of several packages is; none where files_ are all of one
  bool first_ = true;
  bool debug_ = std::getenv("CUE_DEBUG") &&
                std::string_view(std::getenv("CUE_DEBUG")).find("toolsflow") != std::string_view::npos;
  std::map<std::string, std::set<std::string>> needed_;  // ever, for the diagram
  std::set<const Node*> tool_ids_;                       // the $id of each schema of tool/*
  std::deque<CommandTask> tasks_;                        // that stay where they are while more are found
  std::set<std::string> done_;
  std::set<Vertex*> visited_;
  std::set<std::string>* needs_ = nullptr;
  CommandTask* self_ = nullptr;
  Vertex* at_ = nullptr;  // whose conjuncts are looked at
  std::map<std::string, CommandTask> running_;
  std::mutex finished_lock_;
  std::condition_variable something_finished_;
  std::vector<std::pair<std::string, TaskOutput>> finished_;
  std::vector<std::jthread> threads_;  // last, so that they have ended before anything they use is gone
};

}  // namespace

void run_cmd(Program& p) {
  if (p.flags().arguments().empty()) {
    std::fputs("cmd must be run as one of its subcommands\nRun 'cue help cmd' for known subcommands.\n", stderr);
    throw Stop{{}, true};
  }
  if (!may_run_code())
    p.fail(std::vector{LoadProblem{
        "the commands of the package are not run: the project is not trusted to run code", {}, {}, kNeedsTrustCode}});
  Commander(p, p.flags().arguments()[0]).run();
}

}  // namespace tutti::cue
