#include "engine/report/drawing.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "engine/report/xml.h"

namespace tutti::engine {

using model::ComponentType;
using model::System;

Drawing draw_assembly(const System& system) {
  Drawing d{"assembly", {}, {}};
  std::vector<bool> gone(system.instances.size());
  std::vector<model::Link> links = system.links;
  for (const model::Instruction& in : system.program) {
    if (in.op == model::Op::kDel) gone[in.instance] = true;
    if (in.op == model::Op::kCon) links.push_back({in.instance, in.port, in.provider, in.provide});
    if (in.op == model::Op::kDcon)
      std::erase_if(links, [&](const model::Link& l) { return l.user == in.instance && l.use == in.port; });
  }
  for (u32 i = 0; i < system.instances.size(); ++i) {
    std::string label = fmt::format("{}\n{}", system.instances[i].name.text(), system.type_of(i).name.text());
    if (gone[i]) label += "\n(deleted)";
    d.nodes.push_back({label, DrawnNode::Shape::kBox, std::string(system.instances[i].host.text()), false});
  }
  for (const model::Link& l : links)
    d.edges.push_back({l.user, l.provider,
                       fmt::format("{} - {}", system.type_of(l.user).ports[l.use].name.text(),
                                   system.type_of(l.provider).ports[l.provide].name.text()),
                       false, false});
  return d;
}

Drawing draw_nets(const System& system) {
  Drawing d{"nets", {}, {}, true};
  for (const auto& type : system.types) {
    const ComponentType& t = *type;
    u32 first = static_cast<u32>(d.nodes.size());
    for (u32 p = 0; p < t.places.size(); ++p) {
      std::string label(t.places[p].name.text());
      for (u32 q = 0; q < t.ports.size(); ++q)
        if (t.group.test(q, p)) label += fmt::format("\n{}{}", t.ports[q].provide ? "+" : "-", t.ports[q].name.text());
      bool initial = std::find(t.initial.begin(), t.initial.end(), p) != t.initial.end();
      d.nodes.push_back({label, DrawnNode::Shape::kRound, std::string(t.name.text()), initial});
    }
    for (const model::Transition& k : t.transitions) {
      for (const model::Outcome& o : t.outcomes_of(k))
        d.edges.push_back(
            {first + k.source, first + t.stations[o.station].place,
             fmt::format("{}{}", k.name.text(),
                         k.behaviour == kNone ? "" : fmt::format(" ({})", t.behaviours[k.behaviour].name.text())),
             false, o.on_failure});
    }
  }
  return d;
}

Drawing draw_dependencies(const Graph& graph) {
  Drawing d{"dependencies", {}, {}};
  std::vector<bool> critical(graph.events().size());
  std::vector<double> durations = graph.expected();
  std::vector<u32> path;
  if (graph.acyclic()) {
    std::vector<double> early;
    graph.earliest(durations, early);
    path = graph.critical_path(durations, early);
  } else {
    path = graph.cycle();
    if (!path.empty()) path.push_back(path[0]);
  }
  for (u32 v : path) critical[v] = true;
  for (u32 v = 0; v < graph.events().size(); ++v) {
    const Event& e = graph.events()[v];
    std::string group = e.instance == kNone ? "" : std::string(graph.system().instances[e.instance].name.text());
    std::string label = graph.event_text(v);
    if (e.kind == Event::Kind::kFire && durations[v] != 0) label += fmt::format("\n{}", durations[v]);
    d.nodes.push_back(
        {label, e.kind == Event::Kind::kFire ? DrawnNode::Shape::kBox : DrawnNode::Shape::kRound, group, critical[v]});
  }
  for (u32 v = 0; v < graph.events().size(); ++v)
    for (const Arc& a : graph.out(v)) {
      bool on = false;
      for (std::size_t k = 0; k + 1 < path.size() && !on; ++k) on = path[k] == v && path[k + 1] == a.to;
      d.edges.push_back(
          {v, a.to, a.fire == kNone || durations[a.fire] == 0 ? "" : fmt::format("{}", durations[a.fire]), on, false});
    }
  return d;
}

namespace {

std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (c == '\n')
      out += "\\n";
    else
      out += c;
  }
  return out + "\"";
}

}  // namespace

std::string to_dot(const Drawing& d) {
  std::string t = fmt::format(
      "digraph {} {{\n  rankdir=LR;\n  node [fontname=\"sans-serif\", fontsize=10];\n  edge [fontname=\"sans-serif\", "
      "fontsize=9];\n",
      d.name);
  std::map<std::string, std::vector<u32>> groups;
  for (u32 k = 0; k < d.nodes.size(); ++k) groups[d.nodes[k].group].push_back(k);
  u32 number = 0;
  for (const auto& [name, members] : groups) {
    std::string pad = "  ";
    if (!name.empty()) {
      t += fmt::format("  subgraph cluster_{} {{\n    label={};\n", number++, quoted(name));
      pad = "    ";
    }
    for (u32 k : members) {
      const DrawnNode& n = d.nodes[k];
      t += fmt::format("{}n{} [label={}, shape={}{}];\n", pad, k, quoted(n.label),
                       n.shape == DrawnNode::Shape::kBox     ? "box"
                       : n.shape == DrawnNode::Shape::kRound ? "ellipse"
                                                             : "point",
                       n.strong ? ", penwidth=2, color=\"#c0392b\"" : "");
    }
    if (!name.empty()) t += "  }\n";
  }
  for (const DrawnEdge& e : d.edges) {
    t += fmt::format("  n{} -> n{} [", e.from, e.to);
    if (!e.label.empty()) t += fmt::format("label={}", quoted(e.label));
    if (e.strong) t += fmt::format("{}penwidth=2, color=\"#c0392b\"", e.label.empty() ? "" : ", ");
    if (e.dashed) t += fmt::format("{}style=dashed", e.label.empty() && !e.strong ? "" : ", ");
    t += "];\n";
  }
  return t + "}\n";
}

namespace {

struct Picture {
  std::string body;
  double width = 0, height = 0;
};

Picture paint(const Drawing& d, double top) {
  // Layers: the longest way from a node without predecessor; arcs that would go back are left out of that.
  std::size_t n = d.nodes.size();
  std::vector<std::vector<u32>> out(n);
  std::vector<u32> incoming(n), layer(n);
  for (const DrawnEdge& e : d.edges)
    if (e.from != e.to) out[e.from].push_back(e.to), ++incoming[e.to];
  std::vector<bool> done(n);
  std::vector<u32> ready;
  for (u32 k = 0; k < n; ++k)
    if (!incoming[k]) ready.push_back(k);
  std::size_t left = n, next = 0;
  while (left) {
    if (next == ready.size()) {  // a cycle: cut it at the first node that is left
      u32 k = 0;
      while (done[k] || std::find(ready.begin(), ready.end(), k) != ready.end()) ++k;
      ready.push_back(k);
    }
    u32 k = ready[next++];
    if (done[k]) continue;
    done[k] = true;
    --left;
    for (u32 to : out[k]) {
      if (done[to]) continue;
      layer[to] = std::max(layer[to], layer[k] + 1);
      if (--incoming[to] == 0) ready.push_back(to);
    }
  }
  u32 layers = 0;
  for (u32 l : layer) layers = std::max(layers, l + 1);
  std::vector<std::vector<u32>> columns(layers);
  for (u32 k = 0; k < n; ++k) columns[layer[k]].push_back(k);
  // Order within a layer: by the mean place of the neighbours before, then a second time from the other side.
  std::vector<double> place(n);
  std::vector<std::vector<u32>> in(n);
  for (const DrawnEdge& e : d.edges) in[e.to].push_back(e.from);
  auto arrange = [&](std::vector<u32>& column, const std::vector<std::vector<u32>>& beside) {
    std::vector<std::pair<double, u32>> keys;
    for (std::size_t k = 0; k < column.size(); ++k) {
      double sum = 0;
      for (u32 x : beside[column[k]]) sum += place[x];
      keys.push_back(
          {beside[column[k]].empty() ? static_cast<double>(k) : sum / static_cast<double>(beside[column[k]].size()),
           column[k]});
    }
    std::stable_sort(keys.begin(), keys.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    for (std::size_t k = 0; k < keys.size(); ++k) column[k] = keys[k].second, place[column[k]] = static_cast<double>(k);
  };
  for (int pass = 0; pass < 3; ++pass) {
    for (auto& c : columns) arrange(c, in);
    for (std::size_t c = columns.size(); c-- > 0;) arrange(columns[c], out);
  }
  for (auto& c : columns) arrange(c, in);

  // Room for the longest label, on the nodes and between them.
  auto longest_line = [](std::string_view label) {
    std::size_t longest = 0;
    for (std::size_t at = 0; at <= label.size();) {
      std::size_t end = std::min(label.find('\n', at), label.size());
      longest = std::max(longest, end - at);
      at = end + 1;
    }
    return static_cast<double>(longest);
  };
  auto height_of = [&](u32 k) {
    return 10 + 12.0 * static_cast<double>(1 + std::count(d.nodes[k].label.begin(), d.nodes[k].label.end(), '\n'));
  };
  double width = 100, gap = 40, row = 64;
  for (u32 k = 0; k < n; ++k) {
    width = std::max(width, 6 * longest_line(d.nodes[k].label) + 16);
    row = std::max(row, height_of(k) + 30);
  }
  for (const DrawnEdge& e : d.edges) gap = std::max(gap, 5.2 * longest_line(e.label) + 24);
  std::size_t tallest = 1;
  for (const auto& c : columns) tallest = std::max(tallest, c.size());
  auto x_of = [&](u32 k) { return 20 + (width + gap) * layer[k]; };
  auto y_of = [&](u32 k) {
    double room = row * static_cast<double>(tallest), mine = row * static_cast<double>(columns[layer[k]].size());
    return top + (room - mine) / 2 + row * place[k];
  };
  Picture picture{{}, 40 + (width + gap) * layers, row * static_cast<double>(tallest)};
  std::string& t = picture.body;
  std::map<std::pair<u32, u32>, u32> between;  // how many arcs there are already from one node to another
  for (const DrawnEdge& e : d.edges) {
    double x1 = x_of(e.from) + width, y1 = y_of(e.from) + height_of(e.from) / 2, x2 = x_of(e.to),
           y2 = y_of(e.to) + height_of(e.to) / 2, bend = 0;
    if (layer[e.to] <= layer[e.from]) {  // back: below
      x1 -= width / 2, y1 += height_of(e.from) / 2, x2 += width / 2, y2 += height_of(e.to) / 2;
      bend = 36;
    } else if (layer[e.to] > layer[e.from] + 1 && !e.label.empty()) {  // past other columns: around what is in them
      bend = row * 0.9;
    }
    bend += 18 * between[{e.from, e.to}]++;
    double mid = (x1 + x2) / 2, low = (y1 + y2) / 2 + bend * 0.75;
    picture.height = std::max(picture.height, low - top + 24);
    t += fmt::format(
        "<path d=\"M{:.0f} {:.0f}C{:.0f} {:.0f} {:.0f} {:.0f} {:.0f} {:.0f}\" fill=\"none\" stroke=\"{}\" "
        "stroke-width=\"{}\"{} marker-end=\"url(#a)\"/>\n",
        x1, y1, mid, y1 + bend, mid, y2 + bend, x2, y2, e.strong ? "#c0392b" : "#999", e.strong ? 2 : 1,
        e.dashed ? " stroke-dasharray=\"4 3\"" : "");
    if (!e.label.empty())
      t += fmt::format(
          "<text x=\"{:.0f}\" y=\"{:.0f}\" text-anchor=\"middle\" fill=\"#555\" stroke=\"white\" stroke-width=\"3\" "
          "paint-order=\"stroke\">{}</text>\n",
          mid, low - 3, xml_escaped(e.label));
  }
  for (u32 k = 0; k < n; ++k) {
    const DrawnNode& node = d.nodes[k];
    double x = x_of(k), y = y_of(k), h = height_of(k);
    t += fmt::format(
        "<rect x=\"{:.0f}\" y=\"{:.0f}\" width=\"{:.0f}\" height=\"{:.0f}\" rx=\"{}\" fill=\"{}\" stroke=\"{}\" "
        "stroke-width=\"{}\"/>\n",
        x, y, width, h, node.shape == DrawnNode::Shape::kRound ? 10 : 2, node.strong ? "#fdecea" : "#f4f6f8",
        node.strong ? "#c0392b" : "#5d6d7e", node.strong ? 2 : 1);
    std::size_t at = 0;
    for (double line = 0; at <= node.label.size(); ++line) {
      std::size_t end = std::min(node.label.find('\n', at), node.label.size());
      t += fmt::format("<text x=\"{:.0f}\" y=\"{:.0f}\" text-anchor=\"middle\"{}>{}</text>\n", x + width / 2,
                       y + 15 + 12 * line, line > 0 ? " fill=\"#666\"" : "",
                       xml_escaped(std::string_view(node.label).substr(at, end - at)));
      at = end + 1;
    }
  }
  return picture;
}

}  // namespace

std::string to_svg(const Drawing& d) {
  std::string body;
  double width = 0, height = 20;
  auto add = [&](const Drawing& part, std::string_view title) {
    if (!title.empty()) {
      body += fmt::format("<text x=\"20\" y=\"{:.0f}\" font-size=\"12\" font-weight=\"bold\">{}</text>\n", height + 4,
                          xml_escaped(title));
      height += 16;
    }
    Picture p = paint(part, height);
    body += p.body;
    width = std::max(width, p.width);
    height += p.height + 20;
  };
  if (d.apart) {  // each group by itself, one below the other
    std::vector<std::string> order;
    std::map<std::string, Drawing> parts;
    std::vector<u32> number(d.nodes.size());
    for (u32 k = 0; k < d.nodes.size(); ++k) {
      auto [it, fresh] = parts.try_emplace(d.nodes[k].group);
      if (fresh) order.push_back(d.nodes[k].group);
      number[k] = static_cast<u32>(it->second.nodes.size());
      it->second.nodes.push_back(d.nodes[k]);
    }
    for (DrawnEdge e : d.edges) {
      Drawing& part = parts[d.nodes[e.from].group];
      e.from = number[e.from], e.to = number[e.to];
      part.edges.push_back(std::move(e));
    }
    for (const std::string& group : order) add(parts[group], group);
  } else {
    add(d, "");
  }
  return fmt::format(
             "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{:.0f}\" height=\"{:.0f}\" "
             "font-family=\"sans-serif\" font-size=\"10\">\n"
             "<defs><marker id=\"a\" viewBox=\"0 0 10 10\" refX=\"9\" refY=\"5\" markerWidth=\"6\" "
             "markerHeight=\"6\" orient=\"auto-start-reverse\"><path d=\"M0 0L10 5L0 10z\" "
             "fill=\"#555\"/></marker></defs>\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n",
             width, height) +
         body + "</svg>\n";
}

}  // namespace tutti::engine
