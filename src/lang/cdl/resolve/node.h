#pragma once

#include <span>
#include <string>
#include <string_view>

#include "lang/cdl/syntax/document.h"
#include "tree/value.h"

namespace tutti::cdl {

struct Node;
struct Task;

// One piece of a node's content. A resolved value is shared by all who refer to it.
struct Content {
  Node* node = nullptr;  // or else text
  std::string_view text;
  Kind text_kind = Kind::kString;  // what an expression gave: string, number (kDecimal) or boolean
};

// Tasks that wait for a node.
struct Waiter {
  Task* task = nullptr;
  Waiter* next = nullptr;
};

// What only nodes need that have something to wait for, or are waited for.
struct Wait {
  Task* task = nullptr;  // of a reference, insertion or expression that is not resolved yet
  Waiter* on_settled = nullptr;
  Waiter* on_done = nullptr;
  Node* holder = nullptr;  // for insertions and expressions: the property they stand in
  u32 insertions = 0;      // directly in it, not resolved yet
};

// An element of the resolved document: prototypes have been followed, references are being resolved. Made by Instances,
// changed by the Resolver only.
//
// A node is *settled* when its own content is final as far as its children's names go: it is not lazy, its cdl:ref is
// resolved, the insertions and expressions directly in it are done. It is *done* when it is settled and all below it
// is, which is when its value may be taken (11.2.2). `pending` counts what keeps it from being done.
struct Node {
  const Element* source = nullptr;  // name, text and place
  Node* parent = nullptr;
  const Content* content = nullptr;
  const Attribute* attributes = nullptr;
  u32 content_size = 0;
  u32 attribute_count = 0;
  const Reference* ref = nullptr;  // a cdl:ref that is not resolved yet
  const Binding* scope = nullptr;  // of a value that was referred to: the namespaces in force where it was written
  Wait* wait = nullptr;
  Value value;  // of the common tree, once made
  Origin origin;
  u32 pending = 0;
  u32 depth = 0;
  bool lazy = false;
  bool settled = false;
  bool done = false;
  bool indexed = false;
  bool valued = false;        // `value` has been made
  bool inherited = false;     // comes from a prototype: absolute paths are shown as relative ones
  bool secret_below = false;  // of what is done: it or something below it is secret
  bool secret = false;        // its value is not to be shown
  bool required = false;      // cdl:use
  bool typed = false;         // has a cdl:type

  std::span<const Content> items() const { return {content, content_size}; }
  std::span<const Attribute> attrs() const { return {attributes, attribute_count}; }
  QName name() const { return source->name; }
  bool has_elements() const;
  bool empty() const { return content_size == 0; }
  const Binding* text_scope() const { return scope ? scope : source->scope; }
  Node* holder() const { return wait ? wait->holder : nullptr; }
  // Where it stands for its references: insertions and expressions stand for the property that holds them (7.3.5.1).
  const Node* place() const { return holder() ? holder() : this; }
};

// The node and all below it are final.
void mark_done(Node& node);

// Ends the request where a text made of others is too large: each may have two of another.
void check_length(std::size_t bytes, u32 at);

// All text below, in order. Values are shared, so a small document can stand for a huge text: past a limit a LimitError
// ends the request.
void append_text(std::string& out, const Node& node);
inline std::string text_of(const Content& c) {
  if (!c.node) return std::string(c.text);
  std::string out;
  append_text(out, *c.node);
  return out;
}

// The way to a node from the system, as one writes it in a path: `DB/hostname`; `@LIST/hostname` in a list of the
// configuration that is not part of the system.
std::string path_of(const Node& node);

}  // namespace tutti::cdl
