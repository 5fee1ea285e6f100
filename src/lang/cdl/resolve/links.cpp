#include "lang/common/links.h"

#include <algorithm>
#include <charconv>
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
    std::unordered_map<u64, std::vector<Value>> repeated;
    std::vector<Entry> tags;
    for (const Content& c : node.items()) {
      if (!c.node || c.node->source->kind != ElementKind::kProperty) continue;
      auto found = at.find(plain_name(c.node->name().local).id());
      if (found == at.end()) continue;
      Entry& entry = entries[found->second];
      const Value& own = value.entries()[found->second].value;
      u32 n = times[c.node->name().key()];
      if (n == 1) {
        entry.value = kept(*c.node, own);
      } else if (own.is(Kind::kList) && own.size() == n) {
        std::vector<Value>& items = repeated[c.node->name().key()];
        lists_++;
        items.push_back(kept(*c.node, own.items()[items.size()]));
        lists_--;
        if (items.size() == n) entry.value = session_.builder().list(items, own.origin());
      }
      if (std::string_view words = mark(*c.node, "tags"); !words.empty()) add_tags(tags, entry.key, words);
    }
    maps_.pop_back();
    if (!tags.empty()) entries.push_back({tags_key(), Field::kHidden, session_.builder().map(tags, value.origin())});
    Value made = session_.builder().map(entries, value.origin());
    return mark(node, "data") == "true" ? made.with_tag(data_tag()) : made;
  }

 private:
  Value kept(const Node& node, const Value& value) {
    if (value.is(Kind::kString) && !node.source->ref && stays_reference(node)) {
      Value reference = Value::reference(value.text(), value.origin());
      return mark(node, "kind") == "link" ? reference.with_tag(Symbol("LINK")) : reference;
    }
    std::string way = way_of(node);
    // What is in a list of SmartFrog stands in a function, by whose levels no way of CDL counts.
    if (lists_ > 0 && !way.starts_with('/')) way.clear();
    const Value* target = way.empty() ? nullptr : follow(link_path(way));
    if (target && value.is(Kind::kLazy)) {
      std::string_view text = session_.arena.copy(std::string_view(way));
      bool only_parts = value.tag() == partly_open_tag();  // for SmartFrog, what is open in it stays open in the copy
      return (only_parts ? Value::reference(text, value.origin()) : Value::lazy(text, value.origin()))
          .with_tag(link_tag());
    }
    if (target && target != &value && equal(*target, value, true))
      return Value::reference(session_.arena.copy(std::string_view(way)), value.origin()).with_tag(link_tag());
    if (value.is(Kind::kList) && value.size() == node.items().size()) {  // a list that is an element of its own
      std::vector<Value> items(value.items().begin(), value.items().end());
      lists_++;
      for (std::size_t i = 0; i < items.size(); i++)
        if (const Node* item = node.items()[i].node) items[i] = kept(*item, value.items()[i]);
      lists_--;
      return session_.builder().list(items, value.origin());
    }
    return value.is(Kind::kLazy) ? waiting(node, value) : restored(node, value);
  }

  // With what SmartFrog knows of it and the tree of CDL does not: bytes, long and float.
  Value restored(const Node& node, const Value& value) {
    if (value.is(Kind::kString) && mark(node, "kind") == "bytes") {
      std::string bytes;
      std::string_view hex = value.text();
      unsigned byte = 0;
      for (; hex.size() > 1; hex.remove_prefix(2)) {
        auto [end, error] = std::from_chars(hex.data(), hex.data() + 2, byte, 16);
        if (error != std::errc() || end != hex.data() + 2) break;
        bytes += static_cast<char>(byte);
      }
      if (hex.empty()) return Value::bytes(session_.arena.copy(std::string_view(bytes)), value.origin());
    }
    if (value.is(Kind::kInt) && has_type(node, "long")) return value.with_tag(Symbol("LONG"));
    if ((value.is(Kind::kInt) || value.is(Kind::kDecimal)) && has_type(node, "float"))
      return value.with_tag(Symbol("FLOAT"));
    return keep(node, value);
  }

  static std::string_view mark(const Node& node, std::string_view name) {
    for (const Attribute& a : node.attrs())
      if (a.name.ns.text() == kKindNamespace && a.name.local.text() == name) return a.value;
    return {};
  }

  void add_tags(std::vector<Entry>& tags, Symbol key, std::string_view words) {
    for (const Entry& e : tags)
      if (e.key == key) return;  // of repeated elements, which all have them
    std::vector<Value> names;
    while (!words.empty()) {
      std::size_t end = std::min(words.find(' '), words.size());
      if (end > 0) names.push_back(Value::string(plain_name(Symbol(words.substr(0, end))).text()));
      words.remove_prefix(std::min(end + 1, words.size()));
    }
    tags.push_back({key, Field::kPlain, session_.builder().list(names)});
  }

  // What waits for another property is a lazy link to it, and a lazy property itself one to itself: its value is what
  // it will be.
  Value waiting(const Node& node, const Value& lazy) {
    if (std::string_view words = mark(node, "lazy"); !words.empty()) return Value::lazy(words, lazy.origin());
    if (lazy.text().find('(') != std::string_view::npos) return lazy;  // an expression, which is no link
    std::string way = "/" + std::string(lazy.text());
    const Value* target = follow(link_path(way));
    if (!target || target == &lazy) way = node.name().local.text();
    return Value::lazy(session_.arena.copy(std::string_view(way)), lazy.origin()).with_tag(link_tag());
  }

  // An absolute path that has been inherited begins where the list it was written in begins now (7.3.3).
  static std::string way_of(const Node& node) {
    if (!node.source->ref || node.source->ref->rooted) return {};
    const RefPath& path = node.source->ref->path;
    std::vector<std::string_view> steps;
    bool from_root = path.absolute && !node.inherited;
    if (path.absolute && node.inherited)
      for (u32 i = 1; i < node.source->ref->at->depth; i++) steps.push_back("..");
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
  u32 lists_ = 0;                   // that we are in
  std::vector<const Value*> maps_;  // from the root to the one being looked at, as resolved
};

}  // namespace

Value with_links(Session& session, const System& system, const Value& value) {
  return Keeper(session).keep(system.root(), value);
}

}  // namespace tutti::cdl
