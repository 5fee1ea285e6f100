#include <fmt/format.h>

#include <algorithm>

#include "base/near.h"
#include "lang/cdl/resolve/resolver.h"

// What is wrong with references that could not be resolved. They wait for nodes, nodes wait for what is below or in
// them: a graph in which causes are lazy values (which is fine), paths that lead nowhere, and loops.
namespace tutti::cdl {
namespace {

struct Vertex {
  Task* task = nullptr;  // or else a node
  Node* node = nullptr;
  bool until_done = false;

  const void* key() const {
    if (task) return task;
    return reinterpret_cast<const char*>(node) + (until_done ? 1 : 0);
  }
};

void tasks_of(const Node& node, std::vector<Vertex>& out) {
  auto add = [&](Task* task) {
    for (; task; task = task->next_variable) {
      if (!task->resolved) out.push_back({task});
    }
  };
  if (node.ref && node.wait) add(node.wait->task);
  for (const Content& c : node.items()) {
    if (c.node && c.node->source->kind != ElementKind::kProperty && c.node->wait && !c.node->settled)
      add(c.node->wait->task);
  }
}

std::vector<Vertex> causes(const Vertex& v) {
  std::vector<Vertex> out;
  if (v.task) {
    if (!v.task->lazy && v.task->failure == Failure::kNone && v.task->blocked) {
      out.push_back({nullptr, v.task->blocked, v.task->blocked_until_done});
    }
    return out;
  }
  if (!v.node->settled) tasks_of(*v.node, out);
  if (v.until_done) {
    for (const Content& c : v.node->items()) {
      if (c.node && !c.node->done && c.node->source->kind == ElementKind::kProperty)
        out.push_back({nullptr, c.node, true});
    }
  }
  return out;
}

std::string text_of_reference(const Task& task) {
  const Reference& r = *task.ref;
  if (r.rooted) return fmt::format("`{}` in {}", r.path.text, r.root.name.local.text());
  return fmt::format("`{}`", r.path.text);
}

void report_failure(Session& session, const Library& library, Task& task) {
  if (task.failure == Failure::kExpression || !task.ref) return;
  const Reference& r = *task.ref;
  Span span = attribute_span(*r.at, "ref");
  std::string owner = path_of(*task.owner);
  if (task.failure == Failure::kUnknownRoot) {
    session.diagnostics
        .error("CDL-UNKNOWN-REFROOT", attribute_span(*r.at, "refroot"),
               fmt::format("there is no property list {} to refer to", r.root.name.text()))
        .did_you_mean(library.similar(*r.at->document, r.root.name.local).text());
    return;
  }
  std::string_view step =
      task.failed_step < r.path.steps.size() && r.path.steps[task.failed_step].kind == PathStep::kName
          ? r.path.steps[task.failed_step].name.local.text()
          : "..";
  std::string where = task.failed_at && task.failed_at->parent ? fmt::format("`{}`", path_of(*task.failed_at))
                      : task.failed_at ? fmt::format("`{}`", task.failed_at->name().local.text())
                                       : "the list it is in";
  if (task.failure == Failure::kAmbiguous) {
    session.diagnostics.error("CDL-AMBIGUOUS-REFERENCE", span,
                              fmt::format("there are several `{}` in {}, and a reference must be to one", step, where));
    return;
  }
  Diagnostic& d = session.diagnostics.error("CDL-NO-SUCH-NODE", span,
                                            step == ".." ? fmt::format("the path leads out of {}", where)
                                                         : fmt::format("there is no `{}` in {}", step, where));
  if (task.failed_at && session.diagnostics.left_out() == 0) {  // nobody will see what is said of the others
    std::vector<std::string_view> names;
    for (const Content& c : task.failed_at->items()) {
      if (c.node) names.push_back(c.node->name().local.text());
    }
    d.did_you_mean(nearest(step, names));
  }
  if (!owner.empty()) d.note(fmt::format("needed for `{}`", owner));
}

void report_loop(Session& session, std::span<const Vertex> loop) {
  std::vector<Task*> tasks;
  for (const Vertex& v : loop) {
    if (v.task && v.task->ref) tasks.push_back(v.task);
  }
  if (tasks.empty()) return;
  Diagnostic& d =
      session.diagnostics.error("CDL-CYCLIC-REFERENCE", attribute_span(*tasks[0]->ref->at, "ref"),
                                fmt::format("the value of `{}` depends on itself", path_of(*tasks[0]->owner)));
  for (Task* t : tasks) d.note(fmt::format("`{}` takes {}", path_of(*t->owner), text_of_reference(*t)));
  for (std::size_t i = 1; i < tasks.size() && i < 8; i++)
    d.relate(attribute_span(*tasks[i]->ref->at, "ref"), "part of the loop");
}

void collect(Node& node, std::vector<Task*>& out) {
  if (node.done) return;
  std::vector<Vertex> own;
  tasks_of(node, own);
  for (const Vertex& v : own) out.push_back(v.task);
  for (const Content& c : node.items()) {
    if (c.node && c.node->source->kind == ElementKind::kProperty) collect(*c.node, out);
  }
}

}  // namespace

void Resolver::explain(Node& root) {
  std::vector<Task*> tasks;
  collect(root, tasks);
  enum : u8 { kNew, kOpen, kClosed };
  std::unordered_map<const void*, u8> state;
  struct Frame {
    Vertex vertex;
    std::vector<Vertex> next;
    std::size_t at = 0;
  };
  for (Task* start : tasks) {
    if (state[start] != kNew) continue;
    std::vector<Frame> stack;
    std::vector<Vertex> way;
    auto enter = [&](const Vertex& v) {
      state[v.key()] = kOpen;
      if (v.task && !v.task->lazy && v.task->failure != Failure::kNone) report_failure(session_, library_, *v.task);
      stack.push_back({v, causes(v), 0});
      way.push_back(v);
    };
    enter({start});
    while (!stack.empty()) {
      Frame& top = stack.back();
      session_.budget.step();
      if (top.at == top.next.size()) {
        state[top.vertex.key()] = kClosed;
        stack.pop_back();
        way.pop_back();
        continue;
      }
      Vertex next = top.next[top.at++];
      u8 known = state[next.key()];
      if (known == kNew) {
        enter(next);
      } else if (known == kOpen) {
        auto from = std::find_if(way.begin(), way.end(), [&](const Vertex& v) { return v.key() == next.key(); });
        report_loop(session_, {from, way.end()});
      }
    }
  }
}

}  // namespace tutti::cdl
