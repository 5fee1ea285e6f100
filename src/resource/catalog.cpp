#include "resource/catalog.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <map>
#include <queue>
#include <set>

#include "model/reader.h"
#include "resource/provider.h"
#include "resource/real_path.h"
#include "resource/schedule.h"
#include "tree/secret.h"
#include "tree/secret_mark.h"

namespace tutti::resource {
namespace {

std::string lower(std::string_view s) {
  std::string out(s);
  for (char& c : out) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

struct Node {
  std::string ref;          // "File[/x]"; "begin Class[a]", "end Class[a]"
  std::string type, title;  // "File", "/x"; "begin", ...
  std::string label;        // "/Stage[main]/Main/File[/x]"
  Value parameters;
  const Provider* provider = nullptr;
  Pos at;
  u32 rank = 0;  // place in the catalog; the ends of a container have its
  bool noop = false;
  std::string loglevel;
  Value schedule;            // parameters of the one it is under; null: none
  std::map<u32, char> from;  // edges into it: d, n or w
};

class CatalogReader {
 public:
  CatalogReader(Session& session, const Value& library, const CatalogOptions& options)
      : session_(session), library_(library), options_(options), builder_(session.arena), reader_(session) {}

  std::optional<Catalog> read(const Value& root) {
    std::size_t before = session_.diagnostics.errors();
    collect(root);
    relate();
    watch_noop();
    validate();
    if (session_.diagnostics.errors() != before) return std::nullopt;
    automatic();
    if (!sort()) return std::nullopt;
    chain_execs();
    find_conflicts();
    chain_lines();
    emit();
    if (session_.diagnostics.errors() != before) return std::nullopt;
    return std::move(out_);
  }

 private:
  static std::string text(const Value& map, std::string_view key) {
    const Entry* e = map.is(Kind::kMap) ? map.find(key) : nullptr;
    return e && e->value.is(Kind::kString) ? std::string(e->value.text()) : "";
  }

  Value plain(const Value& v) { return plain_data(v, builder_); }

  // To all others bytes are their base64; a file gets the bytes themselves, which no text could hold.
  Value with_bytes(const Value& parameters, const Value& rich) const {
    const Entry* content = rich.find("content");
    if (!content) return parameters;
    bool secret = content->value.secret();
    const Value* v = &content->value;
    if (text(*v, "__ptype") == "Sensitive" && v->find("__pvalue")) v = &v->find("__pvalue")->value, secret = true;
    if (text(*v, "__ptype") != "Binary") return parameters;
    MapDraft out;
    for (const Entry& e : parameters.entries()) out.set(e.key, e.value, e.field);
    out.set(Symbol("content"), secret ? v->as_secret() : *v);
    return out.build(builder_, parameters.origin());
  }

  void collect(const Value& root) {
    const Value& resources = root.find("resources")->value;
    std::vector<const Value*> all;
    if (resources.is(Kind::kMap))
      for (const Entry& e : resources.entries()) all.push_back(&e.value);
    else if (resources.is(Kind::kList))
      for (const Value& v : resources.items()) all.push_back(&v);
    std::map<std::string, std::string> parent;
    if (const Entry* e = root.find("edges"); e && e->value.is(Kind::kList))
      for (const Value& v : e->value.items()) {
        std::string a, b;
        if (v.is(Kind::kMap)) a = text(v, "source"), b = text(v, "target");
        if (v.is(Kind::kList) && v.size() == 2) a = text_of(plain(v.items()[0])), b = text_of(plain(v.items()[1]));
        if (a.empty() || b.empty()) continue;
        children_[a].push_back(b);
        parent[b] = a;
      }
    u32 rank = 0;
    for (const Value* v : all) {
      ++rank;
      std::string type = text(*v, "type"), title = text(*v, "title"), ref = fmt::format("{}[{}]", type, title);
      const Provider* provider = find_provider(lower(type));
      const Entry* p = v->find("parameters");
      Value parameters = p ? plain(p->value) : builder_.map({});
      if (type == "File" && p) parameters = with_bytes(parameters, p->value);
      if (const Entry* secret = v->find("sensitive_parameters"); secret && secret->value.is(Kind::kList)) {
        MapDraft marked;
        for (const Entry& e : parameters.entries()) marked.set(e.key, e.value, e.field);
        for (const Value& name : secret->value.items())
          if (Value* there = name.is(Kind::kString) ? marked.find(Symbol(name.text())) : nullptr)
            *there = secret_throughout(*there, builder_);
        parameters = marked.build(builder_, parameters.origin());
      }
      keep_secrets(parameters, *session_.sources);
      std::string kind = text(*v, "kind");
      bool container = type == "Class" || type == "Stage" || type == "Node" || kind == "defined_type" ||
                       kind == "class" || (!provider && (children_.count(ref) || type.find("::") != std::string::npos));
      relations_.emplace_back(ref, parameters);
      if (container) {
        containers_[ref] = rank;
        if (!is_chosen(*v)) not_chosen_.insert(ref);
        continue;
      }
      if (type == "Schedule") {
        if (std::string wrong = wrong_schedule(parameters); !wrong.empty())
          session_.diagnostics.error("CATALOG-SCHEDULE", reader_.at(*v), fmt::format("{}: {}", ref, wrong));
        schedules_[title] = parameters;
        continue;
      }
      static const std::set<std::string> kNothing{"Filebucket", "Whit", "Component"};
      if (kNothing.count(type)) continue;
      if (!is_chosen(*v)) continue;
      Node n;
      n.ref = ref;
      n.rank = rank;
      n.type = type;
      n.title = title;
      n.parameters = parameters;
      n.provider = provider;
      n.at = reader_.at(*v);
      Params params(n.parameters);
      n.noop = params.truth("noop", options_.noop);
      n.loglevel = params.text("loglevel");
      std::string path;
      for (std::string at = ref; parent.count(at);) {
        at = parent[at];
        std::string name = at;
        if (name.rfind("Class[", 0) == 0) {
          name = name.substr(6, name.size() - 7);
          if (!name.empty()) name[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(name[0])));
        }
        path = "/" + name + path;
        if (path.size() > 10000) break;
      }
      n.label = path + "/" + ref;
      add(std::move(n));
    }
    for (Node& n : nodes_) give_schedule(n);
    out_.resources = nodes_.size();
  }

  // Nothing is touched when any resource says what cannot be. What is worked out on the node is looked at there.
  void validate() {
    for (const Node& n : nodes_) {
      if (!n.provider) continue;
      bool deferred = std::any_of(n.parameters.entries().begin(), n.parameters.entries().end(),
                                  [](const Entry& e) { return text(e.value, "__ptype") == "Deferred"; });
      if (deferred) continue;
      Resource r{lower(n.type), n.title, n.parameters};
      bool elsewhere = false;
      std::string wrong = wrong_provider(r, elsewhere);
      bool refused = !wrong.empty() && !elsewhere;
      if (!refused) wrong = n.provider->check(r);
      if (refused)
        session_.diagnostics.error("CATALOG-INVALID", n.at,
                                   fmt::format("Parameter provider failed on {}: {}", n.ref, wrong));
      else if (!wrong.empty())
        session_.diagnostics.error("CATALOG-INVALID", n.at, fmt::format("{}: {}", n.ref, wrong));
    }
  }

  void give_schedule(Node& n) {
    std::string name = Params(n.parameters).text("schedule");
    if (name.empty()) return;
    if (name.starts_with("Schedule[")) name = name.substr(9, name.size() - 10);
    if (auto it = schedules_.find(name); it != schedules_.end())
      n.schedule = it->second;
    else if (auto common = common_schedule(name, builder_))
      n.schedule = *common;
    else
      session_.diagnostics.error("CATALOG-SCHEDULE", n.at, fmt::format("Could not find schedule {}", name));
  }

  // What contains something that would only be done says how often it would have been refreshed, as Puppet does.
  void watch_noop() {
    if (std::none_of(nodes_.begin(), nodes_.end(), [](const Node& n) { return n.noop; })) return;
    std::map<std::string, u32> watch;
    for (auto& [ref, rank] : containers_) {
      if (not_chosen_.count(ref)) continue;
      Node n;
      n.ref = "watch " + ref;
      n.rank = rank;
      n.type = "watch";
      n.title = ref;
      n.label = ref;
      bool upper = ref.starts_with("Class[");  // Class[A::B]
      for (std::size_t k = 6; upper && k < n.label.size(); ++k)
        if (k == 6 || n.label.compare(k - 2, 2, "::") == 0)
          n.label[k] = static_cast<char>(std::toupper(static_cast<unsigned char>(n.label[k])));
      n.parameters = builder_.map({});
      n.noop = options_.noop;
      watch[ref] = add(std::move(n));
    }
    for (auto& [ref, id] : watch)
      for (auto& child : children_[ref]) {
        if (auto it = watch.find(child); it != watch.end())
          edge(it->second, id, 'n');
        else if (auto native = by_ref_.find(child); native != by_ref_.end())
          edge(native->second, id, 'n');
      }
  }

  bool chooses() const { return !options_.tags.empty() || !options_.without_tags.empty(); }
  bool is_chosen(const Value& v) const {
    return (options_.tags.empty() || tagged(v, options_.tags)) && !tagged(v, options_.without_tags);
  }
  static bool tagged(const Value& v, const std::vector<std::string>& tags) {
    const Entry* t = v.find("tags");
    if (!t || !t->value.is(Kind::kList)) return false;
    auto own = t->value.items();
    return std::any_of(own.begin(), own.end(), [&](const Value& tag) {  // those of a catalog are in small letters
      return std::ranges::find(tags, text_of(tag), [](const std::string& wanted) { return lower(wanted); }) !=
             tags.end();
    });
  }

  u32 add(Node n) {
    u32 id = static_cast<u32>(nodes_.size());
    by_ref_[n.ref] = id;
    if (n.provider) {
      Params p(n.parameters);
      std::string key = lower(n.type);
      by_name_[key + ":" + n.title] = id;
      if (auto name = p.maybe(key == "file" ? "path" : "name")) by_name_[key + ":" + *name] = id;
      if (auto alias = p.maybe("alias")) by_ref_[fmt::format("{}[{}]", n.type, *alias)] = id;
    }
    nodes_.push_back(std::move(n));
    return id;
  }

  // Natives below a container, however deep.
  void natives(const std::string& ref, std::vector<u32>& out, std::set<std::string>& seen) {
    for (auto& child : children_[ref]) {
      if (!seen.insert(child).second) continue;
      if (auto it = by_ref_.find(child); it != by_ref_.end())
        out.push_back(it->second);
      else
        natives(child, out, seen);
    }
  }

  std::pair<u32, u32> ends_of(const std::string& ref) {
    if (auto it = ends_.find(ref); it != ends_.end()) return it->second;
    Node b, e;
    b.ref = "begin " + ref;
    b.rank = containers_[ref];
    b.type = "begin";
    b.title = ref;
    b.label = "/" + ref;
    b.parameters = builder_.map({});
    e = b;
    e.ref = "end " + ref;
    e.type = "end";
    u32 begin = add(std::move(b)), end = add(std::move(e));
    ends_[ref] = {begin, end};
    std::vector<u32> inside;
    std::set<std::string> seen;
    natives(ref, inside, seen);
    edge(begin, end, 'd');
    for (u32 n : inside) {
      edge(begin, n, 'n');
      edge(n, end, 'n');
    }
    return {begin, end};
  }

  void edge(u32 from, u32 to, char how) {
    char& c = nodes_[to].from[from];
    if (c == 0 || how == 'n') c = how;
  }

  // A reference as it may be written in a parameter. Puppet capitalises each segment of a class.
  std::string resolve(const std::string& ref) {
    if (by_ref_.count(ref) || containers_.count(ref)) return ref;
    std::string low = lower(ref);
    for (auto& [c, rank] : containers_)
      if (lower(c) == low) return c;
    return ref;
  }

  void relate() {
    struct Relation {
      const char* name;
      bool before, refresh;
    };
    static constexpr Relation kRelations[] = {
        {"require", false, false}, {"subscribe", false, true}, {"before", true, false}, {"notify", true, true}};
    for (auto& [ref, parameters] : relations_) {
      bool self_container = containers_.count(ref);
      if (!self_container && !by_ref_.count(ref)) continue;
      for (auto& r : kRelations) {
        const Entry* e = parameters.find(r.name);
        if (!e) continue;
        std::vector<Value> targets;
        std::function<void(const Value&)> flat = [&](const Value& v) {
          if (v.is(Kind::kList))
            for (const Value& i : v.items()) flat(i);
          else
            targets.push_back(v);
        };
        flat(e->value);
        for (const Value& v : targets) {
          std::string other = resolve(text_of(v));
          bool other_container = containers_.count(other);
          if (!other_container && !by_ref_.count(other)) {
            if (!chooses())
              session_.diagnostics.error(
                  "CATALOG-MISSING", reader_.at(v),
                  fmt::format("Could not find resource '{}' in parameter '{}' of {}", other, r.name, ref));
            continue;
          }
          const std::string& first = r.before ? ref : other;
          const std::string& second = r.before ? other : ref;
          u32 from = containers_.count(first) ? ends_of(first).second : by_ref_.at(first);
          u32 to = containers_.count(second) ? ends_of(second).first : by_ref_.at(second);
          edge(from, to, r.refresh ? 'n' : 'd');
        }
      }
    }
  }

  std::vector<std::vector<u32>> successors() const {
    std::vector<std::vector<u32>> out(nodes_.size());
    for (u32 i = 0; i < nodes_.size(); ++i)
      for (auto& [from, how] : nodes_[i].from) out[from].push_back(i);
    return out;
  }

  static bool reaches(const std::vector<std::vector<u32>>& next, u32 from, u32 to) {
    if (next[from].empty()) return from == to;
    std::vector<u32> stack{from};
    std::set<u32> seen{from};
    while (!stack.empty()) {
      u32 n = stack.back();
      stack.pop_back();
      if (n == to) return true;
      for (u32 m : next[n])
        if (seen.insert(m).second) stack.push_back(m);
    }
    return false;
  }

  // What comes first without being asked for; never against what was asked for.
  void automatic() {
    auto next = successors();
    for (u32 i = 0; i < nodes_.size(); ++i) {
      Node& n = nodes_[i];
      if (!n.provider) continue;
      bool parent_found = false;
      bool nearest = n.provider->type() == "file" || n.provider->type() == "mount";
      std::string own = Params(n.parameters).text(n.provider->type() == "file" ? "path" : "name", n.title);
      for (auto& [type, title] : n.provider->after({lower(n.type), n.title, n.parameters})) {
        auto it = by_name_.find(type + ":" + title);
        if (it == by_name_.end()) continue;
        if (it->second == i) {
          if (type == "file") edge(i, i, 'd');  // a link that leads to itself: a cycle, as in Puppet
          continue;
        }
        if (nearest && type == n.provider->type() && own.starts_with(title.ends_with('/') ? title : title + "/")) {
          if (parent_found) continue;
          parent_found = true;
        }
        if (n.from.count(it->second) || reaches(next, i, it->second)) continue;
        edge(it->second, i, 'd');
        next[it->second].push_back(i);
      }
    }
  }

  // An order of all: what is ready, by its rank. Cycles are reported as Puppet does.
  bool sort() {
    std::vector<u32> left(nodes_.size());
    auto next = successors();
    auto later = [&](u32 a, u32 b) { return std::pair(nodes_[a].rank, a) > std::pair(nodes_[b].rank, b); };
    std::priority_queue<u32, std::vector<u32>, decltype(later)> ready(later);
    for (u32 i = 0; i < nodes_.size(); ++i)
      if ((left[i] = static_cast<u32>(nodes_[i].from.size())) == 0) ready.push(i);
    while (!ready.empty()) {
      u32 n = ready.top();
      ready.pop();
      order_.push_back(n);
      for (u32 m : next[n])
        if (--left[m] == 0) ready.push(m);
    }
    if (order_.size() == nodes_.size()) return true;
    // Walk back through what is left until something comes twice.
    u32 at = 0;
    while (left[at] == 0) ++at;
    std::vector<u32> path;
    while (std::find(path.begin(), path.end(), at) == path.end()) {
      path.push_back(at);
      for (auto& [from, how] : nodes_[at].from)
        if (left[from] > 0) {
          at = from;
          break;
        }
    }
    path.erase(path.begin(), std::find(path.begin(), path.end(), at));
    std::reverse(path.begin(), path.end());
    std::rotate(path.begin(), std::min_element(path.begin(), path.end()), path.end());
    std::string text;
    for (u32 n : path) text += nodes_[n].ref + " => ";
    text += nodes_[path[0]].ref;
    session_.diagnostics.error("CATALOG-CYCLE", nodes_[path[0]].at,
                               fmt::format("Found 1 dependency cycle: ({})", text));
    return false;
  }

  // Nobody can tell what two commands have to do with each other: they keep the catalog's order, but not each other's
  // failures.
  void chain_execs() {
    if (options_.parallel_execs) return;
    u32 last = model::kNone;
    for (u32 n : order_) {
      if (!nodes_[n].provider || nodes_[n].provider->type() != "exec") continue;
      if (last != model::kNone && !nodes_[n].from.count(last)) edge(last, n, 'w');
      last = n;
    }
  }

  // New lines of a file come in the catalog's order, whoever is quicker.
  void chain_lines() {
    std::map<std::string, u32> last;
    for (u32 n : order_) {
      if (!nodes_[n].provider) continue;
      for (auto& file : nodes_[n].provider->parts({lower(nodes_[n].type), nodes_[n].title, nodes_[n].parameters})) {
        auto [before, first] = last.try_emplace(file, n);
        if (!first && !nodes_[n].from.count(before->second)) edge(before->second, n, 'w');
        before->second = n;
      }
    }
  }

  // Writes more of a file than how it may be used.
  static bool writes_all(const Resource& r) {
    Params p(r.parameters);
    std::string ensure = p.text("ensure");
    return r.type == "file" && (p.has("content") || p.has("source") || p.has("target") || ensure == "absent");
  }

  void find_conflicts() {
    std::map<std::string, std::vector<u32>> writers, readers, whole, parts, made;
    std::vector<std::pair<std::string, u32>> purged, copied;  // directories with all that is in them
    RealPaths real;
    for (Node& n : nodes_)
      if (n.provider) real.learn({lower(n.type), n.title, n.parameters});
    for (u32 i = 0; i < nodes_.size(); ++i) {
      Node& n = nodes_[i];
      if (!n.provider) continue;
      Resource r{lower(n.type), n.title, n.parameters};
      for (auto& w : n.provider->writes(r)) {
        std::string thing = real.of_thing(w);
        writers[thing].push_back(i);
        if (writes_all(r)) whole[thing].push_back(i);
        if (r.type != "file" && thing.starts_with("file:")) made[thing].push_back(i);
      }
      Params p(r.parameters);
      // Which of two accounts gets a number is decided by which comes first.
      for (auto& [type, number] : {std::pair{"user", "uid"}, std::pair{"group", "gid"}})
        if (auto id = p.maybe(number); id && r.type == type && !p.truth("allowdupe"))
          writers[fmt::format("{}:{}", number, *id)].push_back(i);
      bool below = p.text("recurse", "false") != "false";
      std::string path = r.type == "file" || r.type == "tidy" ? real.of_path(p.text("path", r.title)) : "";
      while (path.ends_with('/')) path.pop_back();
      if (below && (r.type == "tidy" || (r.type == "file" && p.truth("purge"))))
        purged.emplace_back(fmt::format("file:{}/", path), i);
      std::string backup = p.text("backup");
      if (backup == "true") backup = ".puppet-bak";
      if (r.type == "file" && backup.starts_with('.')) writers[fmt::format("file:{}{}", path, backup)].push_back(i);
      for (auto& w : n.provider->reads(r)) {
        readers[real.of_thing(w)].push_back(i);
        if (std::string all = w + "/"; below) copied.emplace_back(real.of_thing(all), i);
      }
      for (auto& file : n.provider->parts(r)) parts["file:" + real.of_path(file)].push_back(i);
      out_.managed.push_back(managed_as(r));
    }
    std::sort(out_.managed.begin(), out_.managed.end());
    auto next = successors();
    auto ordered = [&](u32 a, u32 b) { return reaches(next, a, b) || reaches(next, b, a); };
    auto compare = [&](const std::vector<u32>& some, const std::vector<u32>& others, const std::string& thing,
                       bool reads) {
      for (u32 a : some)
        for (u32 b : others)
          if (a != b && !ordered(a, b)) out_.conflicts.push_back({nodes_[a].ref, nodes_[b].ref, thing, reads});
    };
    for (auto& [thing, who] : writers) {
      for (std::size_t a = 0; a < who.size(); ++a) compare({who[a]}, {who.begin() + a + 1, who.end()}, thing, false);
      if (auto it = readers.find(thing); it != readers.end()) compare(who, it->second, thing, true);
    }
    for (auto& [thing, who] : whole)
      if (auto it = parts.find(thing); it != parts.end()) compare(who, it->second, thing, false);
    auto for_below = [](auto& things, const std::string& directory, auto found) {
      for (auto it = things.lower_bound(directory); it != things.end() && it->first.starts_with(directory); ++it)
        found(it->first, it->second);
    };
    // What a command makes in a directory that is purged or tidied is there, or not.
    for (auto& [directory, who] : purged)
      for_below(made, directory, [&, who = who](auto& thing, auto& by) { compare({who}, by, thing, false); });
    for (auto& [directory, who] : copied)
      for_below(writers, directory, [&, who = who](auto& thing, auto& by) { compare(by, {who}, thing, true); });
  }

  void emit() {
    const Entry* kind = library_.find("resource");
    model::Deployment& d = out_.deployment;
    d.kinds["resource"] = model::describe_kind(Symbol("resource"), kind->value, {});
    std::vector<Symbol> names;
    for (auto& n : nodes_) names.push_back(Symbol(n.ref));
    for (u32 i : order_) {
      Node& n = nodes_[i];
      model::Component c;
      c.name = names[i];
      c.at = n.at;
      c.type = Symbol("resource");
      c.state = Symbol("done");
      MapDraft m;
      m.set(Symbol("type"), builder_.string(n.type));
      m.set(Symbol("title"), builder_.string(n.title));
      m.set(Symbol("label"), builder_.string(n.label));
      m.set(Symbol("parameters"), n.parameters);
      if (n.noop) m.set(Symbol("noop"), Value::boolean(true));
      if (n.schedule.is(Kind::kMap)) m.set(Symbol("schedule"), n.schedule);
      if (auto where = place_text(*session_.sources, n.at); !where.empty())
        m.set(Symbol("place"), builder_.string(where));
      if (!n.loglevel.empty()) m.set(Symbol("loglevel"), builder_.string(n.loglevel));
      c.config = m.build(builder_);
      u32 k[3] = {0, 0, 0};
      for (auto& [from, how] : n.from) {
        u32& count = k[how == 'n' ? 0 : how == 'w' ? 1 : 2];
        c.needs.push_back({Symbol(fmt::format("{}{}", how, count++)), names[from], Symbol("done"), false, n.at});
      }
      d.components.push_back(std::move(c));
    }
  }

  Session& session_;
  const Value& library_;
  const CatalogOptions& options_;
  TreeBuilder builder_;
  model::Reader reader_;
  std::vector<Node> nodes_;
  std::map<std::string, u32> by_ref_, by_name_;
  std::map<std::string, u32> containers_;  // with their places in the catalog
  std::set<std::string> not_chosen_;       // of them, by their tags
  std::map<std::string, Value> schedules_;
  std::map<std::string, std::vector<std::string>> children_;
  std::map<std::string, std::pair<u32, u32>> ends_;
  std::vector<std::pair<std::string, Value>> relations_;
  std::vector<u32> order_;
  Catalog out_;
};

}  // namespace

std::optional<Catalog> read_catalog(Session& session, const Value& root, const Value& library,
                                    const CatalogOptions& options) {
  return CatalogReader(session, library, options).read(root);
}

}  // namespace tutti::resource
