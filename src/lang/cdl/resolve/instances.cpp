#include "lang/cdl/resolve/instances.h"

#include <fmt/format.h>

#include <algorithm>

#include "lang/cdl/resolve/shape.h"

namespace tutti::cdl {

// The chain of prototypes above a list is folded from its far end. Only the list that was asked for keeps its shape:
// keeping all would cost the square of a chain's length.
const Shape* Instances::shape_of(const List& list) {
  if (list.shape) return list.shape;
  std::vector<const Element*> chain;
  const List* l = &list;
  for (; l && !l->shape; l = l->element->extends ? l->element->extends->target : nullptr) {
    session_.budget.step();
    chain.push_back(l->element);
  }
  std::reverse(chain.begin(), chain.end());
  return list.shape = session_.arena.make<Shape>(fold(session_.arena, chain, l ? l->shape : nullptr));
}

Node* Instances::make_node(const Element& e, Node* parent, u32 depth) {
  if (depth > session_.budget.limits().depth) {
    throw LimitError("LIMIT-DEPTH", "property lists are nested too deeply once prototypes are followed");
  }
  session_.budget.node();
  if (++made_ == kLookAhead) look_ahead();
  Node* n = session_.arena.make<Node>();
  n->source = &e;
  n->parent = parent;
  n->depth = depth;
  n->origin = Origin(e.pos);
  return n;
}

// How many nodes an element becomes, at most `kVast`.
u64 Instances::size_of(const Element& e) {
  auto [it, fresh] = sizes_.try_emplace(&e, kVast);  // what contains itself has no end
  if (!fresh) return it->second;
  Budget::Level level(session_.budget);
  u64 size = 1;
  auto add = [&](const Item& item) {
    if (item.element && size < kVast) size += size_of(*item.element);
  };
  if (e.extends && e.extends->target) {
    const Element* own = &e;
    for (const Slot& slot : fold(session_.arena, {&own, 1}, shape_of(*e.extends->target)).slots) add(slot.item);
  } else {
    for (const Item& item : e.items) add(item);
  }
  return sizes_[&e] = std::min(size, kVast);
}

// A small document can stand for a vast one, as each list may have two of another. Where many nodes have been made it
// is worked out how many there are going to be, instead of making them until there is no room.
void Instances::look_ahead() {
  u64 room = std::min(session_.budget.limits().nodes, session_.budget.limits().memory / sizeof(Node));
  if (size_of(*top_) > room)
    throw LimitError("LIMIT-NODES", "more properties than there is room for, once prototypes are followed",
                     top_->pos.at);
}

void Instances::add_task(Node& owner, const Reference& ref, bool lazy) {
  Task* task = session_.arena.make<Task>();
  task->owner = &owner;
  task->ref = &ref;
  task->lazy = lazy;
  if (!owner.wait) owner.wait = session_.arena.make<Wait>();
  owner.wait->task = task;
  tasks_.push_back(task);
  if (!lazy) fresh_.push_back(task);
}

void Instances::add_expression(Node& owner) {
  const Element& e = *owner.source;
  auto [it, fresh] = compiled_.try_emplace(&e, nullptr);
  if (fresh) it->second = compile_expression(session_, e);
  Formula* formula = session_.arena.make<Formula>();
  formula->compiled = it->second;
  Task** tail = &formula->variables;
  for (const Reference& v : e.variables) {
    Task* task = session_.arena.make<Task>();
    task->owner = &owner;
    task->ref = &v;
    task->formula = formula;
    task->lazy = v.lazy;
    *tail = task;
    tail = &task->next_variable;
    formula->unbound++;
    tasks_.push_back(task);
    if (!v.lazy) fresh_.push_back(task);
  }
  if (!formula->variables) {  // nothing to wait for: one task without a reference evaluates it
    Task* task = session_.arena.make<Task>();
    task->owner = &owner;
    task->formula = formula;
    formula->variables = task;
    tasks_.push_back(task);
    fresh_.push_back(task);
  }
  owner.wait->task = formula->variables;
}

// A node has become done: its parents may be too.
void Instances::finish(Node* node) {
  for (;;) {
    mark_done(*node);
    node = node->parent;
    if (!node || !less_pending(*node)) return;
  }
}

void Instances::fill(const Job& job) {
  Node& n = *job.node;
  const Element& e = *n.source;
  std::span<const Slot> slots;
  Slot plain[8];
  std::vector<Slot> many;
  std::span<const Attribute> attributes = e.attributes;
  n.ref = e.ref;
  n.lazy = e.lazy;
  if (e.extends && e.extends->target) {
    const Element* own = &e;
    Shape shape = fold(session_.arena, {&own, 1}, shape_of(*e.extends->target));
    slots = shape.slots;
    attributes = shape.attributes;
    n.ref = shape.ref;
    n.lazy = shape.lazy;
  } else if (e.items.size() <= std::size(plain)) {
    for (std::size_t i = 0; i < e.items.size(); i++) plain[i] = {e.items[i], nullptr, nullptr};
    slots = {plain, e.items.size()};
  } else {
    many.resize(e.items.size());
    for (std::size_t i = 0; i < e.items.size(); i++) many[i] = {e.items[i], nullptr, nullptr};
    slots = many;
  }
  for (const Overridden* o = job.overridden; o; o = o->next) {
    attributes = join_attributes(session_.arena, attributes, o->element->attributes);
    if (o->element->extends && o->element->extends->target) {
      attributes = join_attributes(session_.arena, attributes, shape_of(*o->element->extends->target)->attributes);
    }
  }
  n.attributes = attributes.data();
  n.attribute_count = static_cast<u32>(attributes.size());
  static const Symbol kUse("use"), kType("type");
  static const QName kSecret{Symbol(kSecretNamespace), Symbol("secret")};
  for (const Attribute& a : attributes) {
    if (a.name == kSecret) n.secret = a.value == "true" || a.value == "1";
    if (!is_cdl_namespace(a.name.ns)) continue;
    if (a.name.local == kUse) n.required = a.value == "required";
    if (a.name.local == kType) n.typed = true;
  }
  if (n.required || n.typed) checked_.push_back(&n);

  Content* content = session_.arena.array<Content>(slots.size());
  u32 size = 0;
  const Element* known_via = nullptr;  // looking for its cdl:extends means reading its tag again
  Pos extends_at;
  for (const Slot& slot : slots) {
    if (!slot.item.element) {
      if (n.ref) continue;  // the reference replaces it
      content[size++] = {nullptr, slot.item.text};
      continue;
    }
    const Element& child = *slot.item.element;
    Node* c = make_node(child, &n, n.depth + 1);
    content[size++] = {c, {}};
    c->secret = n.secret;
    const Element* via = slot.via ? slot.via : job.via;
    if (via) {
      c->inherited = true;
      if (via != known_via) extends_at = attribute_span(*via, "extends").begin;
      known_via = via;
      c->origin = session_.origins.add(How::kInherited, extends_at, Origin(child.pos), {},
                                       via->extends ? via->extends->name.name.local : Symbol());
    }
    if (slot.overridden) {
      c->origin = session_.origins.add(How::kOverridden, child.pos, c->origin, Origin(slot.overridden->element->pos));
    }
    if (child.kind != ElementKind::kProperty) {
      c->wait = session_.arena.make<Wait>();
      c->wait->holder = &n;
      c->parent = nullptr;
      c->lazy = child.lazy;
      c->attributes = child.attributes.data();
      c->attribute_count = static_cast<u32>(child.attributes.size());
      if (!n.wait) n.wait = session_.arena.make<Wait>();
      n.wait->insertions++;
      continue;
    }
    bool simple = !child.extends && !child.ref && !child.lazy && !slot.overridden && child.attributes.empty() &&
                  (child.items.empty() || (child.items.size() == 1 && !child.items[0].element));
    if (simple) {
      if (!child.items.empty()) {
        Content* text = session_.arena.make<Content>();
        text->text = child.items[0].text;
        c->content = text;
        c->content_size = 1;
      }
      c->settled = true;
      mark_done(*c);
      continue;
    }
    n.pending++;
    jobs_.push_back({c, slot.overridden, via});
  }
  n.content = content;
  n.content_size = size;
  if (n.ref || n.lazy || (n.wait && n.wait->insertions > 0)) {
    n.pending++;
    if (n.ref) add_task(n, *n.ref, n.lazy);
    for (u32 i = 0; i < size; i++) {
      Node* c = content[i].node;
      if (!c || c->source->kind == ElementKind::kProperty) continue;
      if (c->source->kind == ElementKind::kExpression) {
        add_expression(*c);
      } else if (c->source->ref) {
        c->ref = c->source->ref;
        add_task(*c, *c->ref, c->lazy);
      }
    }
  } else {
    n.settled = true;
  }
  if (n.pending == 0) finish(&n);
}

void Instances::run() {
  while (!jobs_.empty()) {
    Job job = jobs_.back();
    jobs_.pop_back();
    session_.budget.step();
    fill(job);
  }
}

Node* Instances::make_system(const Document& document) {
  top_ = document.system;
  Node* n = make_node(*document.system, nullptr, 0);
  jobs_.push_back({n, nullptr, nullptr});
  run();
  return n;
}

Node* Instances::make_list(const List& list) {
  if (list.root) return list.root;
  top_ = list.element;
  made_ = 0;
  list.root = make_node(*list.element, nullptr, 0);
  jobs_.push_back({list.root, nullptr, nullptr});
  run();
  return list.root;
}

Node* Instances::make_configuration(const Document& document) {
  made_ = 0;
  Node* n = make_node(*document.configuration, nullptr, 0);
  Content* content = session_.arena.array<Content>(document.lists.size());
  u32 size = 0;
  for (const Element* e : document.lists) {
    if (const List* list = library_.list_of(*e)) content[size++] = {make_list(*list), {}};
  }
  n->content = content;
  n->content_size = size;
  n->settled = true;
  return n;
}

}  // namespace tutti::cdl
