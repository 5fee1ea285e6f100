// The values of a task's fields, as what runs it needs them.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <set>

#include "lang/cue/builtin/support.h"
#include "lang/cue/cli/cmd_task.h"
#include "lang/cue/format/literal.h"

namespace tutti::cue {

namespace {

class Reader {
 public:
  explicit Reader(Context& c) : c_(c) {}

  Vertex* field(const CommandTask& t, std::string_view name) {
    Vertex* v = t.value->deref_value()->find_raw(Label::string(name));
    return v && v->arc_type == ArcType::kMember ? v : nullptr;
  }
  Node* known(const CommandTask& t, std::string_view name) {
    Vertex* v = field(t, name);
    return v ? plain(c_.default_of(v)) : nullptr;
  }

  // The task, then all that speaks of the field: where it is declared and what it is.
  void bad_argument(const CommandTask& t, std::string_view name, const char* kind, std::vector<LoadProblem>& problems) {
    Vertex* v = field(t, name);
    std::set<Pos> places;
    std::string why;
    if (!v) {
      why = fmt::format("field not found: {}", name);
    } else if (Bottom* b = v->bottom()) {
      auto all = flatten(b);
      // Of a choice the first that did not fit.
      if (all.size() > 1 && all[0].message.find("empty disjunction") != std::string::npos) all.erase(all.begin());
      why = all.empty() ? "error" : all[0].message;
      if (!all.empty()) {
        places.insert(all[0].pos);
        places.insert(all[0].others.begin(), all[0].others.end());
      }
    } else {
      why = fmt::format("non-concrete value {}", kinds_text(c_.kinds(v)));
      if (Node* base = v->deref_value()->base; base && base->is_value()) places.insert(base->pos);
    }
    if (v)
      for (const KeptConjunct& k : v->conjuncts) places.insert(k.x->pos);
    LoadProblem p{fmt::format("{}.{}: invalid {} argument: {}", t.name(), name, kind, why), {}};
    for (const KeptConjunct& k : t.value->conjuncts)
      if (k.x->pos && p.places.empty()) p.places.push_back(k.x->pos);
    std::copy_if(places.begin(), places.end(), std::back_inserter(p.places),
                 [&](Pos at) { return at && (p.places.empty() || at != p.places[0]); });
    problems.push_back(std::move(p));
  }

  std::string text(const CommandTask& t, std::string_view name, std::vector<LoadProblem>& problems,
                   bool bytes = false) {
    Node* n = known(t, name);
    if (n && n->type == NodeType::kString) return std::string(to<String>(n)->text);
    if (bytes && n && n->type == NodeType::kBytes) return std::string(to<Bytes>(n)->text);
    bad_argument(t, name, bytes ? "bytes" : "string", problems);
    return {};
  }

  TaskInput input(const CommandTask& t, std::vector<LoadProblem>& problems) {
    TaskInput in;
    in.kind = t.kind;
    auto string_type = [&](std::string_view name) {
      Vertex* v = field(t, name);
      Kinds k = v ? c_.kinds(v) : kTopKind;
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
      in.as_bool = r && c_.kinds(r) == kBoolKind;
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
        std::string want = c_.kinds(a) & kStringKind ? "string" : "number";
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
      Vertex* request = field(t, "request");
      auto text_of = [&](Vertex* v) -> std::optional<std::string> {
        Node* n = v ? plain(c_.default_of(v)) : nullptr;
        if (n && n->type == NodeType::kString) return std::string(to<String>(n)->text);
        if (n && n->type == NodeType::kBytes) return std::string(to<Bytes>(n)->text);
        return std::nullopt;
      };
      auto truth_of = [&](Vertex* v, bool otherwise) {
        Node* n = v ? plain(c_.default_of(v)) : nullptr;
        return n && n->type == NodeType::kBool ? to<Bool>(n)->value : otherwise;
      };
      in.body = text_of(below_field(request, "body")).value_or("");
      in.follow_redirects = truth_of(field(t, "followRedirects"), true);
      in.verify = truth_of(below_field(field(t, "tls"), "verify"), true);
      in.ca_cert = text_of(below_field(field(t, "tls"), "caCert")).value_or("");
      if (Vertex* h = below_field(request, "header"))
        for (Vertex* a : h->deref_value()->arcs) {
          std::string name(a->label.name());
          if (auto one = text_of(a)) in.headers.emplace_back(name, *one);
          for (Vertex* each : a->deref_value()->arcs)
            if (auto one = text_of(each)) in.headers.emplace_back(name, *one);
        }
    }
    return in;
  }

 private:
  Context& c_;
};

}  // namespace

TaskInput task_input(Context& c, const CommandTask& t, std::vector<LoadProblem>& problems) {
  return Reader(c).input(t, problems);
}

}  // namespace tutti::cue
