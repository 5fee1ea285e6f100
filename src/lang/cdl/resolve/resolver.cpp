#include "lang/cdl/resolve/resolver.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>

namespace tutti::cdl {
namespace {

Node kMany;  // stands for "several" in an index

Wait& wait_of(Arena& arena, Node& node) {
  if (!node.wait) node.wait = arena.make<Wait>();
  return *node.wait;
}

bool is_blank(std::string_view text) { return text.find_first_not_of(" \t\r\n") == std::string_view::npos; }

}  // namespace

void Resolver::run() {
  std::size_t at = 0;
  stuck_ = false;
  for (;;) {
    std::vector<Task*>& fresh = instances_.fresh();
    queue_.insert(queue_.end(), fresh.begin(), fresh.end());
    fresh.clear();
    if (at == queue_.size()) break;
    Task& task = *queue_[at++];
    if (!task.resolved) attempt(task);
    stuck_ |= !task.resolved;
  }
  queue_.clear();
  round_ends_ = true;
}

void Resolver::attempt(Task& task) {
  session_.budget.step();
  tries_++;
  task.blocked = nullptr;
  task.failure = Failure::kNone;
  if (!task.ref) return evaluate(task);
  Node* target = walk(task);
  if (!target) return;
  if (!target->done) return block(task, *target, true);
  bind(task, *target);
}

Node* Resolver::named(Node& node, QName name, bool& many) {
  if (node.content_size <= 8) {
    Node* found = nullptr;
    for (const Content& c : node.items()) {
      if (!c.node || c.node->name() != name || c.node->source->kind != ElementKind::kProperty) continue;
      if (found) {
        many = true;
        return nullptr;
      }
      found = c.node;
    }
    return found;
  }
  auto [it, fresh] = index_.try_emplace(node.content);
  if (fresh) {
    it->second.reserve(node.content_size);
    for (const Content& c : node.items()) {
      if (!c.node || c.node->source->kind != ElementKind::kProperty) continue;
      auto [entry, first] = it->second.try_emplace(c.node->name().key(), c.node);
      if (!first) entry->second = &kMany;
    }
  }
  auto entry = it->second.find(name.key());
  if (entry == it->second.end()) return nullptr;
  if (entry->second != &kMany) return entry->second;
  many = true;
  return nullptr;
}

Node* Resolver::child(Node& node, const PathStep& step, bool& many) {
  many = false;
  Node* found = named(node, step.name, many);
  if (found || many || step.prefixed || step.name.ns.empty()) return found;
  return named(node, {Symbol(), step.name.local}, many);
}

// Where a path starts (7.3.1); `list`: the one that refroot names.
Node* Resolver::start_of(const Task& task, const List* list) {
  if (list) return instances_.make_list(*list);
  const Node* place = task.owner->place();
  if (!task.ref->path.absolute) return place->parent;
  // The root of the list the reference was written in: that many steps up wherever it has been inherited to, which is
  // the translation to a relative path that 7.3.3 asks for.
  Node* at = const_cast<Node*>(place);
  for (u32 i = task.ref->at->depth; i > 0 && at; i--) at = at->parent;
  return at;
}

// The way by which a path that has been followed leads to its target.
XPathWay Resolver::way_of(const Task& task) {
  const Reference& ref = *task.ref;
  Node* at = start_of(task, ref.rooted ? library_.find(*ref.at->document, ref.root) : nullptr);
  auto position = [&](const Node& in, const Node* child) {
    session_.budget.step(in.content_size);
    auto found =
        std::find_if(in.content, in.content + in.content_size, [&](const Content& c) { return c.node == child; });
    return reinterpret_cast<std::uintptr_t>(found);
  };
  std::vector<Node*> nodes;  // from the root to where we are
  for (Node* n = at; n; n = n->parent) nodes.insert(nodes.begin(), n);
  for (const PathStep& step : ref.path.steps) {
    bool many;
    if (step.kind == PathStep::kUp) nodes.pop_back();
    if (step.kind == PathStep::kName) nodes.push_back(child(*nodes.back(), step, many));
  }
  XPathWay way{nodes[0]->source->pos.at};
  for (std::size_t i = 1; i < nodes.size(); i++) way.push_back(position(*nodes[i - 1], nodes[i]));
  return way;
}

// An insertion may lead through the property it stands in, where nothing but itself is open.
bool Resolver::waits_for_itself(const Task& task, const Node& node) {
  return task.owner->holder() == &node && !node.lazy && !node.ref && node.wait->insertions == 1;
}

// The child of a property into which something is still to be inserted: what has been counts.
Node* Resolver::child_so_far(const Node& node, const PathStep& step, bool& many) {
  std::vector<Node*> properties;
  auto collect = [&](const Node& from) {
    for (const Content& c : from.items())
      if (c.node && c.node->source->kind == ElementKind::kProperty) properties.push_back(c.node);
  };
  for (const Content& c : node.items()) {
    if (!c.node) continue;
    if (c.node->source->kind == ElementKind::kProperty) {
      properties.push_back(c.node);
    } else if (c.node->settled) {
      collect(*c.node);
    }
  }
  many = false;
  for (QName name : {step.name, QName{Symbol(), step.name.local}}) {
    Node* found = nullptr;
    for (Node* p : properties) {
      if (p->name() != name) continue;
      many |= found != nullptr;
      found = p;
    }
    if (found || step.prefixed) return many ? nullptr : found;
  }
  return nullptr;
}

// Follows the path (7.3.1). Null when it waits or fails, which is then noted in the task.
Node* Resolver::walk(Task& task) {
  const Reference& ref = *task.ref;
  const List* list = ref.rooted ? library_.find(*ref.at->document, ref.root) : nullptr;
  Node* at = ref.rooted && !list ? nullptr : start_of(task, list);
  if (!at) {
    fail(task, ref.rooted ? Failure::kUnknownRoot : Failure::kNoSuchNode, 0, nullptr);
    return nullptr;
  }
  walked_.clear();
  for (u32 i = 0; i < ref.path.steps.size(); i++) {
    const PathStep& step = ref.path.steps[i];
    session_.budget.step();
    if (step.kind == PathStep::kHere) continue;
    if (step.kind == PathStep::kUp) {
      // Back the way we came, since a value that was referred to is shared and has another parent.
      Node* up = at->parent;
      if (!walked_.empty()) {
        up = walked_.back();
        walked_.pop_back();
      }
      if (!up) {
        fail(task, Failure::kNoSuchNode, i, at);
        return nullptr;
      }
      at = up;
      continue;
    }
    bool open = !at->settled;
    if (open && !waits_for_itself(task, *at)) {
      block(task, *at, false);
      return nullptr;
    }
    bool many;
    Node* next = open ? child_so_far(*at, step, many) : child(*at, step, many);
    if (!next) {
      fail(task, many ? Failure::kAmbiguous : Failure::kNoSuchNode, i, at);
      return nullptr;
    }
    walked_.push_back(at);
    at = next;
  }
  return at;
}

void Resolver::block(Task& task, Node& on, bool until_done) {
  Wait& wait = wait_of(session_.arena, on);
  Waiter*& list = until_done ? wait.on_done : wait.on_settled;
  list = session_.arena.make<Waiter>(&task, list);
  task.blocked = &on;
  task.blocked_until_done = until_done;
}

void Resolver::fail(Task& task, Failure failure, u32 step, Node* at) {
  task.failure = failure;
  task.failed_step = step;
  task.failed_at = at;
}

void Resolver::wake(Waiter*& list) {
  for (Waiter* w = list; w; w = w->next) queue_.push_back(w->task);
  list = nullptr;
}

// The target's value becomes that of the one who refers to it: shared, since what is done never changes.
void Resolver::bind(Task& task, Node& target) {
  task.resolved = true;
  task.target = &target;
  if (task.formula) {
    if (--task.formula->unbound == 0) evaluate(task);
    return;
  }
  Node& owner = *task.owner;
  owner.origin =
      session_.origins.add(How::kReferenced, task.ref->at->pos, target.origin, {}, Symbol(task.ref->path.text));
  owner.secret |= target.secret;
  owner.scope = target.text_scope();
  fill(owner, target.content, target.content_size);
}

void Resolver::evaluate(Task& task) {
  Formula& formula = *task.formula;
  Node& owner = *task.owner;
  task.resolved = true;
  std::vector<std::pair<Symbol, XPathValue>> bound;
  std::deque<XPathWay> ways;
  bool joins = formula.compiled && joins_sets(*formula.compiled);
  for (Task* t = formula.variables; t && t->ref; t = t->next_variable) {
    XPathValue value{.kind = XPathValue::kNodes};
    if (joins) ways.push_back(way_of(*t));
    for (const Content& c : t->target->items()) value.nodes.push_back({&c, joins ? &ways.back() : nullptr});
    owner.secret |= t->target->secret_below;
    bound.emplace_back(t->ref->variable, std::move(value));
  }
  std::optional<XPathValue> value;
  if (formula.compiled) {
    value = evaluate_expression(session_, *owner.source, *formula.compiled, [&](Symbol name) -> const XPathValue* {
      for (const auto& [n, v] : bound) {
        if (n == name) return &v;
      }
      return nullptr;
    });
  }
  if (!value) {
    task.resolved = false;
    return fail(task, Failure::kExpression, 0, nullptr);
  }
  Content* content = session_.arena.make<Content>();
  content->text = session_.arena.copy(std::string_view(value->as_string()));
  if (value->kind == XPathValue::kNumber) content->text_kind = Kind::kDecimal;
  if (value->kind == XPathValue::kBoolean) content->text_kind = Kind::kBool;
  Task* first = formula.variables && formula.variables->ref ? formula.variables : nullptr;
  Task* second = first ? first->next_variable : nullptr;
  owner.origin = session_.origins.add(How::kComputed, owner.source->pos, first ? first->target->origin : Origin(),
                                      second ? second->target->origin : Origin(), Symbol("cdl:expression"));
  fill(owner, content, content->text.empty() ? 0 : 1);
}

void Resolver::fill(Node& node, const Content* content, u32 size) {
  node.content = content;
  node.content_size = size;
  node.ref = nullptr;
  Node* holder = node.holder();
  if (!holder) return settle(node);
  node.settled = true;
  mark_done(node);
  u32 left = --holder->wait->insertions;
  if (left == 1) wake(holder->wait->on_settled);  // it may wait for nothing but itself now
  if (left == 0 && !holder->lazy) splice(*holder);
}

// All insertions of a property are there: they become part of its content.
void Resolver::splice(Node& holder) {
  std::vector<Content> all;
  bool elements = false;
  u64 pieces = 0;  // values are shared, so a small document can stand for a huge one
  for (const Content& c : holder.items()) pieces += c.node ? std::max(c.node->content_size, 1u) : 1;
  if (pieces * 12 * sizeof(Content) > session_.budget.limits().memory)
    throw LimitError("LIMIT-MEMORY", "what is inserted into a property is too much", holder.source->pos.at);
  for (const Content& c : holder.items()) {
    if (c.node && c.node->source->kind != ElementKind::kProperty && !c.node->has_elements())
      holder.secret |= c.node->secret;
    if (c.node && c.node->source->kind != ElementKind::kProperty) {
      all.insert(all.end(), c.node->items().begin(), c.node->items().end());
      if (holder.content_size == 1) {
        holder.origin = c.node->origin;
        holder.scope = c.node->scope;
      }
    } else {
      all.push_back(c);
    }
  }
  for (const Content& c : all) elements |= c.node != nullptr;
  std::vector<Content> joined;
  for (const Content& c : all) {
    if (!c.node && elements && is_blank(c.text)) continue;
    if (!c.node && !joined.empty() && !joined.back().node) {
      std::string text(joined.back().text);
      text += c.text;
      check_length(text.size(), holder.source->pos.at);
      joined.back() = {nullptr, session_.arena.copy(std::string_view(text))};
    } else {
      joined.push_back(c);
    }
  }
  std::span<Content> content = session_.arena.copy(std::span<const Content>(joined));
  holder.content = content.data();
  holder.content_size = static_cast<u32>(content.size());
  settle(holder);
}

void Resolver::settle(Node& node) {
  if (round_ends_) {
    changed_.clear();
    round_ends_ = false;
  }
  changed_.push_back(&node);
  node.settled = true;
  if (node.wait) wake(node.wait->on_settled);
  if (less_pending(node)) complete(&node);
}

void Resolver::complete(Node* node) {
  for (;;) {
    mark_done(*node);
    if (node->wait) wake(node->wait->on_done);
    node = node->parent;
    if (!node || !less_pending(*node)) return;
  }
}

bool Resolver::supply(Node& node, std::optional<std::string_view> value) {
  bool any = false;
  if (node.lazy && !value && !node.ref && node.empty()) {
    session_.diagnostics
        .error("CDL-NO-VALUE", name_span(*node.source),
               fmt::format("{} is a lazy property without a value: there is nothing to resolve it to", path_of(node)))
        .suggest(fmt::format("give it one: {}=VALUE", path_of(node)));
    return false;
  }
  if (node.lazy) {
    any = true;
    node.lazy = false;
    if (value) {
      Content* content = session_.arena.make<Content>();
      content->text = session_.arena.copy(*value);
      node.content = content;
      node.content_size = value->empty() ? 0 : 1;
      node.ref = nullptr;
      if (node.wait && node.wait->task) node.wait->task->resolved = true;
      node.origin = session_.origins.add(How::kSupplied, node.source->pos, {}, node.origin);
      settle(node);
    } else if (node.ref) {
      node.wait->task->lazy = false;
      queue_.push_back(node.wait->task);
    } else if (!node.wait || node.wait->insertions == 0) {
      splice(node);  // what was inserted while it was lazy
    }
  }
  if (!value && !node.settled) {
    for (const Content& c : node.items()) {
      if (!c.node || c.node->source->kind == ElementKind::kProperty || !c.node->wait) continue;
      bool lazy_insertion = c.node->lazy;
      c.node->lazy = false;
      any |= lazy_insertion;
      Task* task = c.node->wait->task;
      for (; task; task = task->next_variable) {
        any |= task->lazy;
        if (task->lazy) queue_.push_back(task);
        task->lazy = false;
      }
    }
  }
  if (!any) {
    bool again = node.origin.is_step() && session_.origins[node.origin].how == How::kSupplied;
    session_.diagnostics.error(
        "CDL-NOT-LAZY", name_span(*node.source),
        again ? fmt::format("{} has been given its value already", path_of(node))
              : fmt::format("{} is not lazy{}", path_of(node), value ? ": its value cannot be supplied" : ""));
  }
  return any;
}

}  // namespace tutti::cdl
