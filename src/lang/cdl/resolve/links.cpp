#include "lang/common/links.h"

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
    for (const Content& c : node.items()) {
      if (!c.node || c.node->source->kind != ElementKind::kProperty) continue;
      for (Entry& e : entries) {
        if (e.key != c.node->name().local || e.value.is(Kind::kList)) continue;
        std::string way = c.node->source->ref ? way_of(*c.node->source->ref) : "";
        const Value* target = way.empty() ? nullptr : follow(link_path(way));
        if (target && e.value.is(Kind::kLazy)) {
          e.value = Value::lazy(session_.arena.copy(std::string_view(way)), e.value.origin()).with_tag(link_tag());
        } else if (target && target != &value.find(e.key)->value && equal(*target, e.value, true)) {
          e.value = Value::reference(session_.arena.copy(std::string_view(way)), e.value.origin()).with_tag(link_tag());
        } else if (e.value.is(Kind::kLazy)) {
          e.value = waiting(e.value, &value.find(e.key)->value);
        } else {
          e.value = keep(*c.node, e.value);
        }
      }
    }
    maps_.pop_back();
    return session_.builder().map(entries, value.origin());
  }

 private:
  // What waits for another property is a lazy link to it; a lazy property itself is to be defined.
  Value waiting(const Value& lazy, const Value* self) {
    std::string way = "/" + std::string(lazy.text());
    const Value* target = follow(link_path(way));
    if (!target || target == self) return Value::open("TBD", lazy.origin());
    return Value::lazy(session_.arena.copy(std::string_view(way)), lazy.origin()).with_tag(link_tag());
  }

  static std::string way_of(const Reference& r) {
    if (r.rooted) return {};
    std::string way = r.path.absolute ? "/" : "";
    for (const PathStep& step : r.path.steps) {
      if (step.kind == PathStep::kHere) continue;
      if (!way.empty() && way.back() != '/') way += '/';
      way += step.kind == PathStep::kUp ? ".." : step.name.local.text();
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
