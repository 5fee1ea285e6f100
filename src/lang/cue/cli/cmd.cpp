// `cmd`: the tasks of a command, each run once all tasks it refers to are done, side by side where they are
// independent.
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <set>
#include <thread>

#include "lang/cue/builtin/support.h"
#include "lang/cue/cli/plan.h"
#include "lang/cue/cli/tasks.h"
#include "lang/cue/format/literal.h"
#include "lang/cue/import/decode.h"

namespace tutti::cue {

namespace {

struct Task {
  std::vector<Label> path;  // below the command
  Vertex* value = nullptr;
  std::string kind;
  std::set<std::string> needs;
  std::string name() const {
    std::string s;
    for (Label l : path) s += "." + l.text();
    return s;
  }
};

class Commander {
 public:
  Commander(Program& p, std::string name) : p_(p), c_(p.context()), name_(std::move(name)) {}

  void run() {
    load();
    for (;;) {
      evaluate();
      find_tasks();
      if (tasks_.empty() && done_.empty()) p_.fail(fmt::format("command.{}: no tasks found", label_text(name_)));
      std::vector<Task*> ready;
      bool open = false;
      for (Task& t : tasks_) {
        if (done_.count(t.name())) continue;
        open = true;
        bool waits = false;
        for (const std::string& n : t.needs)
          if (n != t.name() && !done_.count(n)) waits = true;
        if (!waits) ready.push_back(&t);
      }
      if (!open) return;
      if (ready.empty()) cycle();
      run_all(ready);
    }
  }

 private:
  void load() {
    LoaderConfig config;
    config.tags = p_.flags().all("inject");
    config.tag_vars = !p_.flags().given("inject-vars") || p_.flags().on("inject-vars");
    config.tools = true;
    p_.make_loader(config);
    std::vector<std::string> args(p_.flags().arguments().begin() + 1, p_.flags().arguments().end()), packages;
    std::vector<DataFile> files;
    std::string error;
    if (!parse_file_args(args, packages, files, error)) p_.fail(error);
    if (packages.empty() && files.empty()) packages.push_back(".");
    std::vector<LoadedPackage*> loaded = p_.loader().load(packages, files);
    std::set<ast::File*> seen;
    for (LoadedPackage* l : loaded) {
      p_.check(*l);
      for (ast::File* f : l->files)
        if (seen.insert(f).second) files_.push_back(f);
      for (ast::File* f : l->tools)
        if (seen.insert(f).second) {
          files_.push_back(f);
          tools_.insert(f);
        }
      if (package_.empty()) package_ = l->import_path;
    }
  }

  void evaluate() {
    std::vector<ast::File*> files = files_;
    files.insert(files.end(), results_.begin(), results_.end());
    root_ = p_.build_files(files, package_);
    c_.finalize(root_);
    if (first_) {
      first_ = false;
      Vertex* commands = root_->deref_value()->find_raw(Label::string("command"));
      Vertex* command = commands ? commands->deref_value()->find_raw(Label::string(name_)) : nullptr;
      bool from_tool = false;
      if (commands)
        for (const Conjunct& k : commands->conjuncts)
          if (const Source* s = p_.sources().find(k.x->pos)) from_tool |= s->name.ends_with("_tool.cue");
      if (!command || !from_tool) {
        if (Bottom* b = p_.validate(root_, false, false); b && !command) p_.fail(b);
        std::string what = !command && commands
                               ? fmt::format("command.{}: field not found: {}", label_text(name_), label_text(name_))
                               : "";
        if (!command)
          what = commands ? fmt::format("field not found: {}", label_text(name_)) : "field not found: command";
        else
          what = fmt::format("could not find command {}", quote(name_));
        fmt::print(stderr,
                   "{}\nEnsure custom commands are defined in a \"_tool.cue\" file.\nRun 'cue help cmd' to list "
                   "available custom commands.\n",
                   what);
        throw Stop{{}, true};
      }
      if (Bottom* b = p_.validate(root_, false, false)) p_.fail(b);
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
    // Only what was unified with a schema of tool/* is a task: data that merely says so must not run anything. The
    // schemas say `$id: _id`, which data cannot.
    bool from_tool = false;
    for (const Conjunct& k : id->conjuncts) {
      Node* x = expression_of(k.x);
      from_tool |= x && x->type == NodeType::kFieldRef && to<FieldRef>(x)->label == Label::ident("_id", "");
    }
    if (!from_tool) return {};
    Node* n = plain(c_.default_of(id));
    if (!n || n->type != NodeType::kString) return {};
    std::string s(to<String>(n)->text);
    if (s == "exec") return "tool/exec.Run";
    if (s == "print") return "tool/cli.Print";
    if (s == "http") return "tool/http.Do";
    return s.starts_with("tool/") ? s : "";
  }

  void find(Vertex* v, std::vector<Label>& path) {
    Vertex* at = v->deref_value();
    std::string kind = task_kind(v);
    if (!kind.empty()) {
      Task t;
      t.path = path;
      t.value = v;
      t.kind = kind;
      tasks_.push_back(std::move(t));
      return;
    }
    for (Vertex* a : at->arcs) {
      if (a->label.is_let() || a->arc_type != ArcType::kMember) continue;
      path.push_back(a->label);
      find(a, path);
      path.pop_back();
    }
  }

  void find_tasks() {
    tasks_.clear();
    std::vector<Label> path;
    find(command_, path);
    for (Task& t : tasks_) {
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

  void target(Vertex* v) {
    if (!v) return;
    bool inside = false;
    for (Task& t : tasks_) {
      if (&t == self_) {
        if (below(v, t.value)) inside = true;
        continue;
      }
      if (below(v, t.value) || below(t.value, v)) needs_->insert(t.name());
      if (below(v, t.value)) inside = true;
    }
    if (!inside) walk(v);
  }

  void walk(Vertex* v) {
    if (!visited_.insert(v).second) return;
    for (const Conjunct& k : v->conjuncts) expression(k.env, expression_of(k.x), true);
    Vertex* d = v->deref_value();
    if (d != v && d->parent != v) {
      target(d);
    }
    for (Vertex* a : v->arcs) walk(a);
  }

  static Environment* up(Environment* e, u32 n) {
    for (; e && n > 0; --n) e = e->up;
    return e;
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
        return e ? e->vertex : nullptr;
      }
      case NodeType::kSelector: {
        Vertex* v = resolve(env, to<Selector>(x)->x);
        return v ? v->deref_value()->find_raw(to<Selector>(x)->label) : nullptr;
      }
      case NodeType::kIndex: {
        Vertex* v = resolve(env, to<Index>(x)->x);
        Node* i = to<Index>(x)->index;
        if (!v) return nullptr;
        if (i->type == NodeType::kNum)
          if (auto n = to<Num>(i)->value.to_u64())
            return v->deref_value()->find_raw(Label::integer(static_cast<u32>(*n)));
        if (i->type == NodeType::kString) return v->deref_value()->find_raw(Label::string(to<String>(i)->text));
        return v;
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
          at = at->type == NodeType::kSelector ? to<Selector>(at)->x
               : at->type == NodeType::kIndex  ? to<Index>(at)->x
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
        Environment* e = c_.new_env(env, nullptr);
        for (Node* d : to<StructLit>(x)->decls) {
          if (top && (d->type == NodeType::kField || d->type == NodeType::kLetField)) continue;
          declaration(e, d);
        }
        return;
      }
      case NodeType::kList: {
        Environment* e = c_.new_env(env, nullptr);
        for (Node* d : to<ListLit>(x)->elems) declaration(e, d);
        return;
      }
      case NodeType::kComprehension: declaration(env, x); return;
      default: return;
    }
  }

  void declaration(Environment* env, Node* d) {
    switch (d->type) {
      case NodeType::kField: return expression(env, to<Field>(d)->value, false);
      case NodeType::kLetField: return expression(env, to<LetField>(d)->value, false);
      case NodeType::kDynamicField:
        expression(env, to<DynamicField>(d)->key, false);
        return expression(env, to<DynamicField>(d)->value, false);
      case NodeType::kPattern: return expression(c_.new_env(env, nullptr), to<Pattern>(d)->value, false);
      case NodeType::kEllipsis: return expression(env, to<Ellipsis>(d)->value, false);
      case NodeType::kComprehension: {
        Environment* e = env;
        for (Node* k : to<Comprehension>(d)->clauses) {
          if (k->type == NodeType::kFor) {
            expression(e, to<ForClause>(k)->source, false);
            e = c_.new_env(e, nullptr);
          } else if (k->type == NodeType::kIf) {
            expression(e, to<IfClause>(k)->condition, false);
          } else if (k->type == NodeType::kLet) {
            expression(e, to<LetClause>(k)->x, false);
            e = c_.new_env(e, nullptr);
          } else if (k->type == NodeType::kTry) {
            expression(e, to<TryClause>(k)->x, false);
            if (to<TryClause>(k)->label.valid()) e = c_.new_env(e, nullptr);
          }
        }
        return expression(e, to<Comprehension>(d)->value, false);
      }
      default: return expression(env, d, false);
    }
  }

  [[noreturn]] void cycle() {
    std::string names;
    for (const Task& t : tasks_)
      if (!done_.count(t.name())) {
        names = "command." + label_text(name_) + t.name();
        break;
      }
    p_.fail(fmt::format("cyclic task dependency: {}", names));
  }

  // ---- inputs

  Vertex* field(const Task& t, std::string_view name) {
    Vertex* v = t.value->deref_value()->find_raw(Label::string(name));
    return v && v->arc_type == ArcType::kMember ? v : nullptr;
  }
  Node* known(const Task& t, std::string_view name) {
    Vertex* v = field(t, name);
    return v ? plain(c_.default_of(v)) : nullptr;
  }

  void bad_argument(const Task& t, std::string_view name, const char* kind, std::vector<LoadProblem>& problems) {
    Vertex* v = field(t, name);
    LoadProblem p;
    std::string path = "command." + label_text(name_) + t.name() + "." + std::string(name);
    std::string why;
    if (!v) {
      why = fmt::format("field not found: {}", name);
    } else if (Bottom* b = v->bottom()) {
      auto all = flatten(b);
      why = all.empty() ? "error" : all[0].message;
      if (!all.empty()) {
        if (all[0].pos) p.places.push_back(all[0].pos);
        for (Pos o : all[0].others) p.places.push_back(o);
      }
    } else {
      why = fmt::format("non-concrete value {}", compact(v));
      for (const Conjunct& k : v->conjuncts)
        if (k.x->pos) p.places.push_back(k.x->pos);
    }
    p.message = fmt::format("{}: invalid {} argument: {}", path, kind, why);
    for (const Conjunct& k : t.value->conjuncts)
      if (k.x->pos) {
        p.places.insert(p.places.begin(), k.x->pos);
        break;
      }
    problems.push_back(std::move(p));
  }

  std::string text(const Task& t, std::string_view name, std::vector<LoadProblem>& problems, bool bytes = false) {
    Node* n = known(t, name);
    if (n && n->type == NodeType::kString) return std::string(to<String>(n)->text);
    if (bytes && n && n->type == NodeType::kBytes) return std::string(to<Bytes>(n)->text);
    bad_argument(t, name, bytes ? "bytes" : "string", problems);
    return {};
  }

  TaskInput input(const Task& t, std::vector<LoadProblem>& problems) {
    TaskInput in;
    in.kind = t.kind;
    auto string_type = [&](std::string_view name) {
      Vertex* v = field(t, name);
      Kinds k = v ? v->kinds() : kTopKind;
      Node* d = known(t, name);
      if (d && d->type == NodeType::kBasicType) k = to<BasicType>(d)->kind;
      return (k & kStringKind) != 0 && (k & kBytesKind) == 0;
    };
    auto integer = [&](std::string_view name, long otherwise) {
      Node* n = known(t, name);
      if (n && n->type == NodeType::kNum)
        if (auto i = to<Num>(n)->value.to_i64()) return static_cast<long>(*i);
      return otherwise;
    };
    auto truth = [&](std::string_view name, bool otherwise) {
      Node* n = known(t, name);
      return n && n->type == NodeType::kBool ? to<Bool>(n)->value : otherwise;
    };
    const std::string& k = t.kind;
    if (k == "tool/cli.Print") {
      in.text = text(t, "text", problems);
    } else if (k == "tool/cli.Ask") {
      in.text = text(t, "prompt", problems);
      Vertex* r = field(t, "response");
      in.as_bool = r && r->kinds() == kBoolKind;
    } else if (k == "tool/exec.Run") {
      Node* cmd = known(t, "cmd");
      if (cmd && cmd->type == NodeType::kString) {
        std::string word;
        for (char ch : std::string(to<String>(cmd)->text) + " ") {
          if (ch != ' ' && ch != '\t' && ch != '\n') {
            word += ch;
          } else if (!word.empty()) {
            in.command.push_back(word);
            word.clear();
          }
        }
      } else if (cmd && cmd->type == NodeType::kVertex && to<Vertex>(cmd)->is_list()) {
        for (Vertex* a : to<Vertex>(cmd)->arcs) {
          Node* n = plain(c_.default_of(a));
          if (n && n->type == NodeType::kString)
            in.command.emplace_back(to<String>(n)->text);
          else
            bad_argument(t, "cmd", "string", problems);
        }
      } else {
        bad_argument(t, "cmd", "string", problems);
      }
      if (in.command.empty() && problems.empty()) problems.push_back({"empty command", {}});
      if (Node* d = known(t, "dir"); d && d->type == NodeType::kString) in.dir = to<String>(d)->text;
      auto streams = [&](std::string_view name) {
        Vertex* v = field(t, name);
        if (!v || v->is_err()) return false;
        Node* n = known(t, name);
        return n && n->type != NodeType::kNull;
      };
      in.capture_out = streams("stdout");
      in.capture_err = streams("stderr");
      if (streams("stdin")) in.stdin_text = text(t, "stdin", problems, true);
      in.must_succeed = truth("mustSucceed", true);
      if (Node* env = known(t, "env"); env && env->type == NodeType::kVertex) {
        for (Vertex* a : to<Vertex>(env)->arcs) {
          Node* n = plain(c_.default_of(a));
          if (a->label.is_int() && n->type == NodeType::kString)
            in.environment.emplace_back(to<String>(n)->text);
          else if (a->label.is_string() && a->arc_type == ArcType::kMember) {
            if (n->type == NodeType::kString)
              in.environment.push_back(std::string(a->label.name()) + "=" + std::string(to<String>(n)->text));
            else if (n->type == NodeType::kNum)
              in.environment.push_back(std::string(a->label.name()) + "=" + to<Num>(n)->value.text());
            else
              problems.push_back({fmt::format("invalid environment variable value {}", quote(compact(n))),
                                  {a->conjuncts.size() ? a->conjuncts[0].x->pos : Pos{}}});
          }
        }
        in.has_environment = !in.environment.empty();
      }
    } else if (k == "tool/file.Read") {
      in.filename = text(t, "filename", problems);
      in.as_string = string_type("contents");
    } else if (k == "tool/file.Create" || k == "tool/file.Append") {
      in.text = text(t, "contents", problems, true);
      in.filename = text(t, "filename", problems);
      in.permissions = integer("permissions", 0666);
    } else if (k == "tool/file.Symlink") {
      in.filename = text(t, "filename", problems);
      in.target = text(t, "target", problems);
    } else if (k == "tool/file.Glob") {
      in.filename = text(t, "glob", problems);
    } else if (k == "tool/file.Mkdir") {
      in.filename = text(t, "path", problems);
      in.permissions = integer("permissions", 0777);
      in.parents = truth("createParents", false);
    } else if (k == "tool/file.MkdirTemp") {
      in.dir = text(t, "dir", problems);
      in.target = text(t, "pattern", problems);
    } else if (k == "tool/file.RemoveAll") {
      in.filename = text(t, "path", problems);
    } else if (k.starts_with("tool/os.")) {
      for (Vertex* a : t.value->deref_value()->arcs) {
        if (!a->label.is_string() || a->label.name().starts_with('$') || a->arc_type != ArcType::kMember) continue;
        Node* n = plain(c_.default_of(a));
        std::string want = a->kinds() & kStringKind ? "string" : "number";
        if (k == "tool/os.Setenv") {
          if (n->type == NodeType::kString)
            want = to<String>(n)->text;
          else if (n->type == NodeType::kNum)
            want = to<Num>(n)->value.text();
          else if (n->type == NodeType::kBool)
            want = to<Bool>(n)->value ? "1" : "0";
          else
            continue;
        }
        in.names.emplace_back(std::string(a->label.name()), want);
      }
    } else if (k == "tool/http.Do") {
      in.method = text(t, "method", problems);
      in.url = text(t, "url", problems);
      auto below_field = [&](Vertex* v, std::string_view n) -> Vertex* {
        return v ? v->deref_value()->find_raw(Label::string(n)) : nullptr;
      };
      Vertex *request = field(t, "request"), *response = field(t, "response");
      if (Vertex* b = below_field(request, "body")) {
        Node* n = plain(c_.default_of(b));
        if (n->type == NodeType::kString) in.body = to<String>(n)->text;
        if (n->type == NodeType::kBytes) in.body = to<Bytes>(n)->text;
      }
      if (Vertex* h = below_field(request, "header"))
        for (Vertex* a : h->deref_value()->arcs) {
          Node* n = plain(c_.default_of(a));
          if (n->type == NodeType::kString)
            in.headers.emplace_back(std::string(a->label.name()), std::string(to<String>(n)->text));
        }
      if (Vertex* b = below_field(response, "body")) in.as_string = b->kinds() == kStringKind;
    }
    return in;
  }

  // ---- running

  void run_all(const std::vector<Task*>& ready) {
    std::vector<TaskInput> inputs;
    std::vector<LoadProblem> problems;
    for (Task* t : ready) {
      if (Bottom* b = t->value->bottom(); b && !b->incomplete()) {
        Bottom* all = p_.validate(t->value, false, false);
        p_.fail(all ? all : b);
      }
      inputs.push_back(input(*t, problems));
    }
    if (!problems.empty()) p_.fail(problems);
    std::vector<TaskOutput> outputs(ready.size());
    bool parallel = ready.size() > 1 && std::any_of(inputs.begin(), inputs.end(), [](const TaskInput& i) {
                      return i.kind == "tool/exec.Run" || i.kind == "tool/http.Do";
                    });
    if (parallel) {
      std::vector<std::thread> threads;
      for (std::size_t i = 0; i < ready.size(); ++i) threads.emplace_back([&, i] { outputs[i] = run_task(inputs[i]); });
      for (std::thread& th : threads) th.join();
    } else {
      for (std::size_t i = 0; i < ready.size(); ++i) {
        outputs[i] = run_task(inputs[i]);
        if (!outputs[i].error.empty()) break;
      }
    }
    for (std::size_t i = 0; i < ready.size(); ++i) {
      if (!outputs[i].error.empty()) p_.fail("task failed: " + outputs[i].error);
      done_.insert(ready[i]->name());
      fill(*ready[i], outputs[i]);
    }
  }

  // The results as a file that is unified with the rest.
  void fill(const Task& t, const TaskOutput& o) {
    Arena& a = p_.arena();
    std::vector<ast::Node*> fields;
    auto add = [&](const std::string& name, ast::Node* v) {
      fields.push_back(make_field(a, make_lit(a, Tok::kString, quote(name)), v));
    };
    for (const auto& [k, v] : o.bools) add(k, make_lit(a, v ? Tok::kTrue : Tok::kFalse, v ? "true" : "false"));
    for (const auto& [k, v] : o.lists) {
      std::vector<ast::Node*> items;
      for (const std::string& s : v) items.push_back(make_lit(a, Tok::kString, quote(s)));
      add(k, make_list(a, items));
    }
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
      std::vector<ast::Node*> headers;
      for (const auto& [k, v] : o.headers)
        headers.push_back(
            make_field(a, make_lit(a, Tok::kString, quote(k)), make_list(a, {make_lit(a, Tok::kString, quote(v))})));
      response.push_back(make_field(a, make_ident(a, "header"), make_struct(a, headers)));
      fields.push_back(make_field(a, make_ident(a, "response"), make_struct(a, response)));
    }
    if (fields.empty()) return;
    ast::Node* v = make_struct(a, fields);
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
    v = make_struct(a, {make_field(a, make_lit(a, Tok::kString, quote(name_)), v)});
    auto* file = a.make<ast::File>();
    file->decls = make_nodes(a, {make_field(a, make_lit(a, Tok::kString, "\"command\""), v)});
    results_.push_back(file);
  }

  Program& p_;
  Context& c_;
  std::string name_, package_;
  std::vector<ast::File*> files_, results_;
  std::set<ast::File*> tools_;
  Vertex *root_ = nullptr, *command_ = nullptr;
  bool first_ = true;
  std::vector<Task> tasks_;
  std::set<std::string> done_;
  std::set<Vertex*> visited_;
  std::set<std::string>* needs_ = nullptr;
  Task* self_ = nullptr;
};

}  // namespace

void run_cmd(Program& p) {
  if (p.flags().arguments().empty()) {
    std::fputs("cmd must be run as one of its subcommands\nRun 'cue help cmd' for known subcommands.\n", stderr);
    throw Stop{{}, true};
  }
  Commander(p, p.flags().arguments()[0]).run();
}

}  // namespace tutti::cue
