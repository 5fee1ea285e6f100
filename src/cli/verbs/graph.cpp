#include <fmt/format.h>

#include <map>
#include <unordered_map>
#include <unordered_set>

#include "cli/graph_system.h"
#include "cli/output.h"
#include "cli/system_input.h"
#include "format/json.h"
#include "format/write.h"
#include "tree/show.h"

namespace tutti {
namespace {

constexpr OptionSpec kGraphOptions[] = {
    {"type", "WHAT",
     "tree (the default): what lies in what; origin: which values come from which; of a system: assembly, nets, "
     "dependencies (of its program), summary (what behaviours need and provide)",
     false, 0, "tree origin assembly nets dependencies summary"},
    {"out", "FORMAT", "dot (the default) or json; of a system dot, svg or text", false, 0, "dot json svg text"},
    TUTTI_SYSTEM_OPTIONS,
    {"depth", "N", "go N levels down (3)"},
};

struct Node {
  std::string path, label;
};
struct Edge {
  std::size_t from, to;
  std::string label;
};
struct Graph {
  std::vector<Node> nodes;
  std::vector<Edge> edges;
};

// Maps and lists are nodes, with their scalars in the label.
std::size_t add_tree(Graph& graph, const Value& v, const Path& path, std::string_view name, std::size_t depth) {
  std::size_t id = graph.nodes.size();
  graph.nodes.push_back({path.text(), {}});
  std::string label(name);
  auto child = [&](const Path& below, const std::string& key, const Value& value) {
    if (value.size() > 0 && depth > 0) {
      std::size_t to = add_tree(graph, value, below, key, depth - 1);
      graph.edges.push_back({id, to, ""});
    } else {
      label += fmt::format("\n{}: {}", key, show(value, 30));
    }
  };
  for (const Entry& e : v.entries()) {
    Path below = path;
    below.push(e.key);
    child(below, std::string(e.key.text()), e.value);
  }
  for (std::size_t i = 0; i < v.items().size(); i++) {
    Path below = path;
    below.push(static_cast<u32>(i));
    child(below, fmt::format("[{}]", i), v.items()[i]);
  }
  if (v.size() == 0) label += "\n" + show(v, 30);
  graph.nodes[id].label = label;
  return id;
}

// An edge from each derived value to the value written at the far end of its chain, and labelled with the nearest step.
// What is written outside of the tree (a prototype, say) is shown as its place.
class OriginGraph {
 public:
  OriginGraph(const Session& session, std::size_t depth) : session_(session), depth_(depth) {}

  Graph make(const Value& root) {
    Path path;
    index(root, path);
    walk(root, path);
    return std::move(graph_);
  }

 private:
  template <class F>
  static void each(const Value& v, Path& path, F f) {
    for (const Entry& e : v.entries()) {
      path.push(e.key);
      f(e.value);
      path.pop();
    }
    for (std::size_t i = 0; i < v.items().size(); i++) {
      path.push(static_cast<u32>(i));
      f(v.items()[i]);
      path.pop();
    }
  }

  void index(const Value& v, Path& path) {
    if (v.origin() && is_own(v.origin())) written_.emplace(session_.origins.written(v.origin()).at, path.text());
    // What is shared has been written in one place only.
    const void* content = v.is(Kind::kMap) ? static_cast<const void*>(v.entries().data()) : v.items().data();
    if (v.size() > 0 && !seen_.insert(content).second) return;
    each(v, path, [&](const Value& child) { index(child, path); });
  }

  // Whether the text that a value has was written for it: at its place, or to take the place of another.
  bool is_own(Origin o) const {
    return !o.is_step() || session_.origins[o].how == How::kOverridden || session_.origins[o].how == How::kPlaced;
  }

  void walk(const Value& v, Path& path) {
    if (++walked_ > kMostValues) throw LimitError("LIMIT-OUTPUT", "there are too many values to draw (--depth)");
    if (v.origin().is_step()) {
      const OriginStep& step = session_.origins[v.origin()];
      Pos written = session_.origins.written(v.origin());
      auto it = written_.find(written.at);
      std::string label(how_word(step.how));
      if (!step.name.empty()) label += fmt::format(" {}", step.name.text());
      if (it != written_.end() && it->second != path.text()) {
        graph_.edges.push_back({node(path.text()), node(it->second), label});
      } else if (it == written_.end() && written) {
        graph_.edges.push_back({node(path.text()), node(session_.sources->show(written)), label});
      }
    }
    if (path.size() < depth_) each(v, path, [&](const Value& child) { walk(child, path); });
  }

  std::size_t node(const std::string& path) {
    auto [it, fresh] = nodes_.emplace(path, graph_.nodes.size());
    if (fresh) graph_.nodes.push_back({path, path});
    return it->second;
  }

  const Session& session_;
  std::size_t depth_;
  static constexpr u64 kMostValues = 2'000'000;
  u64 walked_ = 0;
  std::unordered_set<const void*> seen_;
  std::unordered_map<u32, std::string> written_;
  std::map<std::string, std::size_t> nodes_;
  Graph graph_;
};

std::string json_text(std::string_view s) {
  StringSink sink;
  write_json_string(s, false, sink);
  return sink.take();
}

void print_dot(Call& call, const Graph& graph) {
  auto text = [](std::string_view s) {
    std::string out = "\"";
    for (char c : s) {
      if (c == '"' || c == '\\') out += '\\';
      out += c == '\n' ? std::string("\\l") : std::string(1, c);
    }
    return out + "\"";
  };
  call.out.put("digraph tutti {\n  rankdir=LR;\n  node [shape=box, fontname=\"sans-serif\"];\n");
  for (std::size_t i = 0; i < graph.nodes.size(); i++) {
    call.out.put(fmt::format("  n{} [label={}, tooltip={}];\n", i, text(graph.nodes[i].label + "\n"),
                             text(graph.nodes[i].path)));
  }
  for (const Edge& e : graph.edges) {
    call.out.put(fmt::format("  n{} -> n{}{};\n", e.from, e.to,
                             e.label.empty() ? "" : fmt::format(" [label={}]", text(e.label))));
  }
  call.out.put("}\n");
}

void print_json(Call& call, const Graph& graph) {
  call.out.put("{\"nodes\":[");
  for (std::size_t i = 0; i < graph.nodes.size(); i++) {
    call.out.put(fmt::format("{}\n  {{\"path\":{},\"label\":{}}}", i ? "," : "", json_text(graph.nodes[i].path),
                             json_text(graph.nodes[i].label)));
  }
  call.out.put("],\n\"edges\":[");
  for (std::size_t i = 0; i < graph.edges.size(); i++) {
    const Edge& e = graph.edges[i];
    call.out.put(fmt::format("{}\n  {{\"from\":{},\"to\":{},\"label\":{}}}", i ? "," : "",
                             json_text(graph.nodes[e.from].path), json_text(graph.nodes[e.to].path),
                             json_text(e.label)));
  }
  call.out.put("]}\n");
}

int run_graph(Call& call) {
  std::string type = call.options.get("type", "tree"), out = call.options.get("out", "dot");
  if (draws_system(type)) return graph_system(call, type, out);
  if ((type != "tree" && type != "origin") || (out != "dot" && out != "json")) {
    call.session.diagnostics.error(
        "USE", {},
        "graph draws tree or origin as dot or json; assembly, nets or dependencies as dot or svg; summary as text");
    return exit_code::kError;
  }
  Evaluated e = evaluate_files(call, call.arguments, false);
  if (!e.value) return exit_code::kError;
  refuse_too_deep(call, *e.value);
  std::size_t depth = type == "tree" ? 3 : 100;
  if (call.options.has("depth")) depth = std::strtoul(call.options.get("depth").c_str(), nullptr, 10);
  Graph graph;
  if (type == "tree") {
    add_tree(graph, *e.value, Path{}, call.arguments[0], depth);
  } else {
    graph = OriginGraph(call.session, depth).make(*e.value);
  }
  out == "dot" ? print_dot(call, graph) : print_json(call, graph);
  return call.code();
}

}  // namespace

extern const Verb graph_verb = {
    .name = "graph",
    .group = "Configuration",
    .summary = "draw the tree, or which values come from which, for Graphviz",
    .arguments = "FILE...",
    .examples = "$ tutti graph site.yaml | dot -Tsvg > site.svg\n$ tutti graph --type origin site.cue",
    .options = kGraphOptions,
    .run = run_graph,
    .least = 1,
    .reads = true,
};

}  // namespace tutti
