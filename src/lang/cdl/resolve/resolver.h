#pragma once

#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "lang/cdl/resolve/instances.h"

// Value reference resolution (7.3, 7.5, 11.2.2, 11.3). The specification repeats "resolve a resolvable reference" until
// there is none; here a reference that is not resolvable yet is put down with what it waits for and taken up again when
// that is there, so that the whole costs what the paths are long. The same machinery goes on at run time when lazy
// values arrive.
//
// One gap is closed: while an insertion (cdl:ref element) or a reference may still change what is in a list, paths
// through that list wait for it. Without this the result would depend on the order of resolution.
namespace tutti::cdl {

class Resolver {
 public:
  Resolver(Session& session, const Library& library, Instances& instances)
      : session_(session), library_(library), instances_(instances) {}

  // Until there is no resolvable reference.
  void run();

  // Resolution of laziness (7.5): of a lazy property, with its value, or of a lazy reference. False (and a diagnostic)
  // when there is nothing lazy about the node. To be followed by run(); several may be given before.
  bool supply(Node& node, std::optional<std::string_view> value);

  // Says what is wrong with the references below `root` that are neither resolved nor wait for something lazy.
  void explain(Node& root);

  // Nodes that got their value in the last round, from supply() to the end of run(), in the order they did.
  const std::vector<Node*>& changed() const { return changed_; }
  u64 tries() const { return tries_; }   // references looked at so far
  bool stuck() const { return stuck_; }  // whether the last run left one of those it looked at unresolved

  // The child of that name. `many`: there are several (and null is returned).
  Node* child(Node& node, const PathStep& step, bool& many);

 private:
  void attempt(Task& task);
  Node* start_of(const Task& task, const List* list);
  Node* walk(Task& task);
  static bool waits_for_itself(const Task& task, const Node& node);
  static Node* child_so_far(const Node& node, const PathStep& step, bool& many);
  XPathWay way_of(const Task& task);
  void bind(Task& task, Node& target);
  void evaluate(Task& task);
  void fill(Node& node, const Content* content, u32 size);
  void splice(Node& holder);
  void settle(Node& node);
  void complete(Node* node);
  void wake(Waiter*& list);
  void block(Task& task, Node& on, bool until_done);
  void fail(Task& task, Failure failure, u32 step, Node* at);
  Node* named(Node& node, QName name, bool& many);

  Session& session_;
  const Library& library_;
  Instances& instances_;
  std::vector<Task*> queue_;
  std::vector<Node*> walked_;
  std::vector<Node*> changed_;
  std::unordered_map<const Content*, std::unordered_map<u64, Node*>> index_;
  u64 tries_ = 0;
  bool stuck_ = false;
  bool round_ends_ = false;  // what comes next belongs to another round
};

}  // namespace tutti::cdl
