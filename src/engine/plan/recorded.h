#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "model/deployment.h"

namespace tutti::engine {

// One component as the last run left it.
struct RecordedComponent {
  std::string name;
  std::string instance;  // its name in programs; name#2 after a replacement
  u32 generation = 1;
  // The names in programs that it had before it was renamed, the oldest first: what is there was made under that one.
  std::vector<std::string> former;
  std::string_view made_as() const { return former.empty() ? instance : former[0]; }
  std::string type;
  Symbol host;
  std::vector<Symbol> marking;  // names of elements: where it is half way not only places
  Value config;
  Value tried;  // where it has not become what it should be, the configuration it was to have; null where it has
  Value made;   // the configuration with the values it was made with; null when it refers to nothing that varies
  Value reads;  // what its actions took from others beside that: path -> value; null when it was nothing
  bool protect = false;
  bool untouched = false;  // what failed had not begun to act: there is nothing of it anywhere
  bool found = false;      // all of it was there when it came, and it was never changed: going, it is left as it is
  // Of the things it is about ("file:/etc/motd"): those that were right when it first came to them and were never
  // changed since, which it leaves when it goes; and those that are its own doing. Lists of texts, or null.
  Value before, touched;
  Value formerly;  // of those that are its own doing, what there was before: thing -> how to put it back; or null
  Value stray;     // paths of files that a failed action has written and `config` may not speak of; a list, or null
  // Nobody looks after it any more. It stands for what is gone only as long as others hold its ports: it is never
  // wanted, and going it does nothing.
  bool forgotten = false;
  std::vector<model::Need> needs;  // provider is the instance's component
  std::vector<model::Order> orders;
  std::map<std::string, std::string> outputs;
  std::set<std::string> secret;  // which of them nobody may see
  std::vector<Value> held;       // resources it holds: {type, title, parameters}; for drift
  std::string failed;            // the transition that failed, "" when none did
};

struct Recorded {
  std::map<std::string, RecordedComponent> components;
  std::map<std::string, Value> kinds;  // the types they were made with, whole
  std::vector<std::string> order;      // names as they were added
  // By the name it has in programs; nullptr when there is none.
  std::map<std::string_view, const RecordedComponent*> by_instance() const;
  Value hosts;           // how hosts are reached, by the names that the system gives them; a map, or null
  bool program = false;  // left by a program that was run as it was written: there is nothing to plan from

  bool catalog() const;  // the resources of a catalog
  void add(RecordedComponent component);
  void remove(const std::string& component);
  // Drops the types that no component is of any more.
  void forget_unused_kinds();
};

// "db", and "db#2" of the second that came in its place.
std::string instance_name(const std::string& component, u32 generation);

// To and from the tree that is stored. Its `format` is the version of its form, which a reader of today checks before
// (deploy/record/format.h); what a version did not know is absent and reads as it was before there was such a thing.
inline constexpr i64 kRecordedFormat = 1;
Recorded read_recorded(const Value& state);
Value write_orders(const std::vector<model::Order>& orders, const TreeBuilder& builder);
std::vector<model::Order> read_orders(const Value& list);
Value write_recorded(const Recorded& recorded, const TreeBuilder& builder);

}  // namespace tutti::engine
