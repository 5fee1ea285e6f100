#include "lang/common/links.h"

#include <unordered_map>

#include "lang/cdl/resolve/system.h"

// References kept for another language (`--out sf`): where a cdl:ref leads to a property of the same system by a plain
// way (no refroot), the property becomes a link instead of the value it was resolved to. Whether the way means the same
// there is not argued but looked up: what it leads to in the resolved tree must be the value that the property has.
namespace tutti::cdl {
namespace {

class Keeper {
 public:
  explicit Keeper(Session& session) : session_(session) {}

  Value keep(const Node& node, const Value& value) {
    if (!value.is(Kind::kMap)) return value;
    Budget::Level level(session_.budget);
    maps_.push_back(&value);
    std::vector<Entry> entries(value.entries().begin(), value.entries().end());
    std::unordered_map<u32, std::size_t> at;  // key -> entry
    std::unordered_map<u64, u32> times;       // name -> how many children have it: more than one are a list
    for (std::size_t i = 0; i < entries.size(); i++) at.emplace(entries[i].key.id(), i);
    for (const Content& c : node.items())
      if (c.node) times[c.node->name().key()]++;
    for (const Content& c : node.items()) {
      if (!c.node || c.node->source->kind != ElementKind::kProperty || times[c.node->name().key()] > 1) continue;
      auto found = at.find(plain_name(c.node->name().local).id());
      if (found != at.end()) entries[found->second].value = kept(*c.node, value.entries()[found->second].value);
    }
    maps_.pop_back();
    return session_.builder().map(entries, value.origin());
  }

 private:
  Value kept(const Node& node, const Value& value) {
    if (value.is(Kind::kString) && stays_reference(node)) return Value::reference(value.text(), value.origin());
    std::string way = way_of(node);
    const Value* target = way.empty() ? nullptr : follow(link_path(way));
    if (target && value.is(Kind::kLazy))
      return Value::lazy(session_.arena.copy(std::string_view(way)), value.origin()).with_tag(link_tag());
    if (target && target != &value && equal(*target, value, true))
      return Value::reference(session_.arena.copy(std::string_view(way)), value.origin()).with_tag(link_tag());
    if (value.is(Kind::kList) && value.size() == node.items().size()) {  // a list that is an element of its own
      std::vector<Value> items(value.items().begin(), value.items().end());
      for (std::size_t i = 0; i < items.size(); i++)
        if (const Node* item = node.items()[i].node) items[i] = kept(*item, value.items()[i]);
      return session_.builder().list(items, value.origin());
    }
    return value.is(Kind::kLazy) ? waiting(value, &value) : keep(node, value);
  }

  // What waits for another property is a lazy link to it; a lazy property itself is to be defined.
  Value waiting(const Value& lazy, const Value* self) {
    std::string way = "/" + std::string(lazy.text());
    const Value* target = follow(link_path(way));
    if (!target || target == self) return Value::open("TBD", lazy.origin());
    return Value::lazy(session_.arena.copy(std::string_view(way)), lazy.origin()).with_tag(link_tag());
  }

  // An absolute path that has been inherited begins where the list it was written in begins now (7.3.3).
  static std::string way_of(const Node& node) {
    if (!node.source->ref || node.source->ref->rooted) return {};
    const RefPath& path = node.source->ref->path;
    std::vector<std::string_view> steps;
    bool from_root = path.absolute && !node.inherited;
    if (path.absolute && node.inherited)
      for (u32 i = 1; i < node.source->depth; i++) steps.push_back("..");
    for (const PathStep& step : path.steps) {
      if (step.kind == PathStep::kHere) continue;
      if (step.kind == PathStep::kName) {
        steps.push_back(plain_name(step.name.local).text());
      } else if (!steps.empty() && steps.back() != "..") {
        steps.pop_back();
      } else if (from_root) {
        return {};
      } else {
        steps.push_back("..");
      }
    }
    std::string way = from_root ? "/" : "";
    for (std::string_view step : steps) {
      if (!way.empty() && way.back() != '/') way += '/';
      way += step;
    }
    return way;
  }

  const Value* follow(const LinkPath& path) const {
    if (path.names.empty() || (!path.from_root && path.up >= maps_.size())) return nullptr;
    const Value* at = path.from_root ? maps_.front() : maps_[maps_.size() - 1 - path.up];
    for (Symbol name : path.names) {
      const Entry* e = at->find(name);
      if (!e) return nullptr;
      at = &e->value;
    }
    return at;
  }

  Session& session_;
  std::vector<const Value*> maps_;  // from the root to the one being looked at, as resolved
};

}  // namespace

Value with_links(Session& session, const System& system, const Value& value) {
  return Keeper(session).keep(system.root(), value);
}

}  // namespace tutti::cdl
