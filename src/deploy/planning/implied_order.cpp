#include "deploy/planning/implied_order.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <unordered_map>
#include <vector>

#include "resource/action.h"
#include "resource/real_path.h"

namespace tutti::deploy {
namespace {

using model::Component;
using resource::Resource;

bool is_open(std::string_view text) { return text.find("${") != std::string_view::npos; }

std::string normal(std::string_view path) {
  std::string p = std::filesystem::path(path).lexically_normal().string();
  while (p.size() > 1 && p.back() == '/') p.pop_back();
  return p;
}

class Implied {
 public:
  Implied(Session& session, model::Deployment& deployment, const std::function<bool(const std::string&)>& is_there,
          const resource::CanonicalDirectory& real_directory)
      : session_(session),
        all_(deployment.components),
        kinds_(deployment.kinds),
        is_there_(is_there),
        real_(real_directory) {}

  void find() {
    std::vector<std::vector<Resource>> wanted(all_.size());
    for (u32 i = 0; i < all_.size(); ++i) {
      named_[all_[i].name] = i;
      const Component& c = all_[i];
      if (kind_of(c).service.empty()) continue;
      wanted[i] = resource::foreseen(kind_of(c).tree, c.config, c.name.text(), session_.arena);
      std::erase_if(wanted[i], [](const Resource& r) { return ensure_of(r) == "absent" || is_open(name_of(r)); });
      if (c.host.empty())
        for (const Resource& r : wanted[i]) real_.learn(r);
    }
    for (u32 i = 0; i < all_.size(); ++i)
      for (const Resource& r : wanted[i])
        for (auto& thing : makes(all_[i], r)) makers_.try_emplace(thing, i);
    for (u32 i = 0; i < all_.size(); ++i) {
      std::set<u32> first;
      for (const Resource& r : wanted[i]) come_first(all_[i], r, first);
      first.erase(i);
      for (u32 other : first) add(i, other);
    }
  }

 private:
  const model::ComponentKind& kind_of(const Component& c) const { return kinds_.at(std::string(c.type.text())); }
  static std::string ensure_of(const Resource& r) { return resource::Params(r.parameters).text("ensure"); }
  static std::string name_of(const Resource& r) {
    return resource::Params(r.parameters).text(r.type == "file" ? "path" : "name", r.title);
  }
  static std::string key(const Component& c, std::string_view type, std::string_view name) {
    return fmt::format("{} {}:{}", c.host.text(), type, name);
  }
  // A path by its own name and, on this machine, as the file system has it.
  std::vector<std::string> paths(const Component& c, const std::string& path) {
    std::vector<std::string> out{normal(path)};
    if (!c.host.empty()) return out;
    if (std::string real = normal(real_.of_path(out[0])); real != out[0]) out.push_back(std::move(real));
    return out;
  }

  // What others may come after.
  std::vector<std::string> makes(const Component& c, const Resource& r) {
    if (r.type == "exec" || r.type == "process" || r.type == "wait") return {};
    std::vector<std::string> out;
    if (r.type == "file" || r.type == "mount")
      for (auto& path : paths(c, name_of(r))) out.push_back(key(c, r.type, path));
    else
      out.push_back(key(c, r.type, name_of(r)));
    return out;
  }

  void come_first(const Component& c, const Resource& r, std::set<u32>& first) {
    auto take = [&](std::string_view type, const std::string& name) {
      auto maker = makers_.find(key(c, type, name));
      if (maker != makers_.end()) first.insert(maker->second);
      return maker != makers_.end();
    };
    // The nearest of a path and the directories above it.
    auto nearest = [&](std::string_view type, std::string path) {
      while (!take(type, path) && path.size() > 1) path = std::filesystem::path(path).parent_path().string();
    };
    auto reach = [&](const std::string& path) {
      if (!path.starts_with('/') || is_open(path)) return;
      for (auto& p : paths(c, path)) nearest("file", p), nearest("mount", p);
    };
    const resource::Provider& provider = *resource::find_provider(r.type);
    bool file = r.type == "file";
    if (file && name_of(r).starts_with('/'))
      for (auto& p : paths(c, name_of(r))) reach(std::filesystem::path(p).parent_path().string());
    for (auto& [type, name] : provider.after(r)) {
      if (is_open(name)) continue;
      if (type != "file" && type != "mount")
        take(type, name);
      else if (!file)
        reach(name);
    }
    if (!file) return;
    constexpr std::string_view kFile = "file:";
    for (auto& thing : provider.reads(r)) reach(thing.substr(kFile.size()));
    if (std::string target = resource::Params(r.parameters).text("target"); !target.empty() && !is_open(target))
      reach((std::filesystem::path(name_of(r)).parent_path() / target).string());
  }

  void add(u32 i, u32 first) {
    Component &c = all_[i], &other = all_[first];
    const model::ComponentKind &kind = kind_of(c), &of_other = kind_of(other);
    // Both come, or both go: whoever only one of them is there for has said so.
    bool goes = c.state == kind.removed && other.state == of_other.removed && kind.removed != kind.goal;
    if (!goes && (c.state != kind.goal || other.state != of_other.goal)) return;
    if (!c.orders.empty() || !other.orders.empty()) {
      if (!c.orders.empty() && !other.orders.empty() && !of_other.rest.empty()) {
        add_order(c, "deploy", other);
        if (!kind.rest.empty()) add_order(other, "undeploy", c);
      }
      return;
    }
    if (kind.gate.empty() || needs(first, i) || !is_there_(std::string(other.name.text()))) return;
    u32 number = 1;
    for (auto& n : c.needs) {
      if (n.provider == other.name) return;
      number += n.implied;
    }
    c.needs.push_back({Symbol(fmt::format("first {}", number)), other.name, of_other.service, false, c.at, true});
  }

  // Whether a component needs another, directly or through others.
  bool needs(u32 i, u32 other) const {
    if (all_[i].needs.empty()) return false;
    std::set<u32> seen;
    std::vector<u32> todo{i};
    while (!todo.empty()) {
      u32 at = todo.back();
      todo.pop_back();
      if (at == other) return true;
      if (!seen.insert(at).second) continue;
      for (auto& n : all_[at].needs)
        if (auto p = named_.find(n.provider); p != named_.end()) todo.push_back(p->second);
    }
    return false;
  }

  // In the component model policies say who comes first; where they leave it open, this does.
  void add_order(Component& later, const std::string& operation, const Component& sooner) {
    Symbol gate(operation + "-gate"), done(operation + "ed");
    bool said = std::any_of(later.orders.begin(), later.orders.end(), [&](const model::Order& o) {
      return o.place == gate && o.provider == sooner.name && o.provide == done;
    });
    if (!said && !waits(sooner, operation, later)) later.orders.push_back({gate, sooner.name, done, later.at});
  }
  // Whether one can be done with the operation only after another is.
  bool waits(const Component& one, const std::string& operation, const Component& other) const {
    std::string gate = operation + "-gate", all = operation + "-all", begun = operation + "ing";
    std::set<std::pair<Symbol, bool>> seen;
    std::vector<std::pair<const Component*, bool>> todo{{&one, true}};  // with its children, or only its own beginning
    while (!todo.empty()) {
      auto [at, whole] = todo.back();
      todo.pop_back();
      if (at == &other) return true;
      if (!seen.insert({at->name, whole}).second) continue;
      for (auto& o : at->orders) {
        auto p = named_.find(o.provider);
        if (p != named_.end() && (o.place.text() == gate || (whole && o.place.text() == all)))
          todo.push_back({&all_[p->second], o.provide.text() != begun});
      }
    }
    return false;
  }

  Session& session_;
  std::vector<Component>& all_;
  const std::map<std::string, model::ComponentKind>& kinds_;
  const std::function<bool(const std::string&)>& is_there_;
  std::map<Symbol, u32> named_;
  resource::RealPaths real_;
  std::unordered_map<std::string, u32> makers_;  // "HOST file:/srv" -> who brings it about
};

}  // namespace

void imply_order(Session& session, model::Deployment& deployment,
                 const std::function<bool(const std::string& component)>& is_there,
                 const resource::CanonicalDirectory& real_directory) {
  Implied(session, deployment, is_there, real_directory).find();
}

}  // namespace tutti::deploy
