#pragma once

#include <vector>

#include "lang/cdl/resolve/expression.h"
#include "lang/cdl/resolve/library.h"
#include "lang/cdl/resolve/node.h"

// Prototype resolution (7.2.2): from elements as written to nodes. Works from the top down and makes only what is
// wanted, so that it costs what it makes: a prototype is never copied as a whole, and a chain of prototypes is folded
// once for each list that others name.
namespace tutti::cdl {

enum class Failure : u8 {
  kNone,
  kNoSuchNode,
  kAmbiguous,
  kUnknownRoot,
  kExpression,  // said already
};

// A reference that is to be resolved: of an element or insertion, or one variable of an expression.
struct Task {
  Node* owner = nullptr;
  const Reference* ref = nullptr;
  struct Formula* formula = nullptr;  // of a variable: its expression
  Task* next_variable = nullptr;
  Node* target = nullptr;           // of a variable, once found and done
  Node* blocked = nullptr;          // what it waits for
  bool blocked_until_done = false;  // or else until settled
  bool lazy = false;
  bool resolved = false;
  Failure failure = Failure::kNone;
  u32 failed_step = 0;  // in the path
  Node* failed_at = nullptr;
  u32 mark = 0;  // used when leftovers are explained
};

// An expression with its variables.
struct Formula {
  const XPathNode* compiled = nullptr;
  Task* variables = nullptr;
  u32 unbound = 0;
};

class Instances {
 public:
  Instances(Session& session, const Library& library) : session_(session), library_(library) {}

  // The node of cdl:system, of cdl:configuration, or of a list.
  Node* make_system(const Document& document);
  Node* make_configuration(const Document& document);
  Node* make_list(const List& list);

  // References met since this was last emptied.
  std::vector<Task*>& fresh() { return fresh_; }
  const std::vector<Task*>& tasks() const { return tasks_; }
  const std::vector<Node*>& checked() const { return checked_; }  // nodes with cdl:type or cdl:use="required"

 private:
  struct Job {
    Node* node;
    const struct Overridden* overridden;
    const Element* via;  // the element whose cdl:extends brought it here, if any
  };

  const Shape* shape_of(const List& list);
  u64 size_of(const Element& e);
  void look_ahead();
  Node* make_node(const Element& e, Node* parent, u32 depth);
  void fill(const Job& job);
  void run();
  void add_task(Node& owner, const Reference& ref, bool lazy);
  void add_expression(Node& owner);
  void finish(Node* node);

  Session& session_;
  const Library& library_;
  std::vector<Job> jobs_;
  std::vector<Task*> fresh_;
  std::vector<Task*> tasks_;
  std::vector<Node*> checked_;
  std::unordered_map<const Element*, const XPathNode*> compiled_;
  static constexpr u64 kLookAhead = 1'000'000, kVast = u64{1} << 62;
  u64 made_ = 0;                  // of it
  const Element* top_ = nullptr;  // what is being made
  std::unordered_map<const Element*, u64> sizes_;
};

// Counts one thing less to wait for; true when that makes the node done.
inline bool less_pending(Node& node) { return --node.pending == 0; }

}  // namespace tutti::cdl
