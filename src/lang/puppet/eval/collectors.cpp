// Collectors and realize(): which resources they find, round by round.
#include <fmt/format.h>

#include <algorithm>

#include "lang/puppet/eval/compiler.h"

namespace tutti::puppet {
namespace {

const Node* without_parens(const Node* q) {
  while (q && q->kind == NodeKind::kParen) q = as<Unary>(q).expr;
  return q;
}

// The attribute that a comparison asks for; its name may be in quotes.
std::string_view queried(const Node* left) {
  return left->kind == NodeKind::kString ? as<Literal>(left).text : as<Named>(left).name.text();
}

bool asks_for_tags(const Node* q) {
  q = without_parens(q);
  if (!q) return false;
  const Binary& b = as<Binary>(q);
  if (b.op == Op::kAnd || b.op == Op::kOr) return asks_for_tags(b.left) || asks_for_tags(b.right);
  return queried(b.left) == "tag";
}

// Comparisons `name == 'text'` that whatever the query finds must pass; the first one is what to look by.
const Node* needed(const Collector& c, const Node* q) {
  q = without_parens(q);
  if (!q) return nullptr;
  const Binary& b = as<Binary>(q);
  if (b.op == Op::kAnd) {
    const Node* left = needed(c, b.left);
    return left ? left : needed(c, b.right);
  }
  return b.op == Op::kEqual && c.wanted_value(q).is(VK::kString) ? q : nullptr;
}

}  // namespace

Val Compiler::collect_expression(const Collect& c, Scope& scope) {
  std::string_view written = as<Named>(c.type).name.text();
  if (equal_text(written, "class")) fail(c.span(), "classes cannot be collected", "PP-COLLECT");
  Symbol type = resource_type_name(written);
  if (type.empty())
    fail(c.type->span(), fmt::format("resource type {} doesn't exist", downcase(written)), "PP-UNKNOWN-TYPE");
  collectors_.emplace_back();
  Collector& k = collectors_.back();
  k.type = type;
  k.syntax = &c;
  k.scope = scope.real;
  k.at = c.begin;
  attributes(c.attributes, scope, k.overrides, false);
  // The values of the query are those of now.
  auto evaluate_query = [&](auto&& self, const Node* q) -> void {
    q = without_parens(q);
    if (!q) return;
    const Binary& b = as<Binary>(q);
    if (b.op == Op::kAnd || b.op == Op::kOr) return self(self, b.left), self(self, b.right);
    const Node* value = without_parens(b.right);
    switch (value->kind) {
      case NodeKind::kUndef:
      case NodeKind::kBoolean:
      case NodeKind::kInteger:
      case NodeKind::kFloat:
      case NodeKind::kString:
      case NodeKind::kConcat:
      case NodeKind::kName:
      case NodeKind::kVariable:
      case NodeKind::kAccess: break;
      default:
        fail(value->span(), "a query compares with a literal, a variable or what an index gives, not with this",
             "PP-COLLECT");
    }
    k.query_values.push_back({q, evaluate(value, scope)});
  };
  evaluate_query(evaluate_query, c.query);
  if (const Node* q = needed(k, c.query)) {
    k.attribute = Symbol(queried(as<Binary>(q).left));
    k.look = k.attribute.text() == "tag" ? Collector::Look::kTag : Collector::Look::kText;
    k.key = k.wanted_value(q);
  } else if (asks_for_tags(c.query)) {
    k.look = Collector::Look::kAll;
  }
  if (c.exported && !settings().storeconfigs) {
    warn(c.span(),
         "you cannot collect exported resources without storeconfigs being set; the collection will be ignored",
         "PP-STORECONFIGS");
    k.done = true;
  }
  return Val::undef();
}

void Compiler::realize(std::span<const Val> references, Scope& scope, Pos at) {
  std::vector<const Type*> wanted;
  auto add = [&](auto&& self, const Val& v) -> void {
    if (v.is(VK::kArray)) {
      for (const Val& i : v.items()) self(self, i);
      return;
    }
    if (!v.is(VK::kType) || !resolved(v.t)->has_title)
      fail(at, "realize() needs references to resources", "PP-REALIZE");
    wanted.push_back(resolved(v.t));
  };
  for (const Val& v : references) add(add, v);
  if (wanted.empty()) return;
  collectors_.emplace_back();
  Collector& k = collectors_.back();
  k.wanted = std::move(wanted);
  k.scope = scope.real;
  k.at = at;
}

bool Compiler::evaluate_collectors() {
  bool found = false;
  index_.next_round();
  for (std::size_t n = 0, most = collectors_.size(); n < most; ++n)
    if (!collectors_[n].done && evaluate_collector(collectors_[n])) found = true;
  return found;
}

bool Compiler::query_matches(const Collector& c, const Node* q, Resource& r) {
  q = without_parens(q);
  if (!q) return true;
  const Binary& b = as<Binary>(q);
  if (b.op == Op::kAnd) return query_matches(c, b.left, r) && query_matches(c, b.right, r);
  if (b.op == Op::kOr) return query_matches(c, b.left, r) || query_matches(c, b.right, r);
  Val wanted = c.wanted_value(q);
  std::string_view name = queried(b.left);
  bool yes = false;
  if (name == "tag" && b.op == Op::kEqual) {
    for (const Val& v : wanted.is(VK::kArray) ? wanted.items() : std::span<const Val>(&wanted, 1)) {
      if (v.is(VK::kInt) || v.is(VK::kFloat)) fail(q->span(), "a number cannot be a tag", "PP-TAG");
      Symbol t(downcase(to_text(v)));
      // A resource has the tags of what contains it, also before they are copied to it.
      for (Resource* x = &r; x && !yes; x = x->scope && x->scope->resource != x ? x->scope->resource : nullptr)
        yes = std::find(x->tags.begin(), x->tags.end(), t) != x->tags.end();
    }
    return yes;
  }
  Val have;
  if (name == "title")
    have = Val::string(r.title);
  else if (const ResourceParam* p = r.find(Symbol(name)))
    have = p->value;
  if (b.op == Op::kEqual && have.is(VK::kArray))
    return contains(wanted, have, *c.scope, q->begin) || equal(have, wanted);
  return b.op == Op::kEqual ? equal(have, wanted) : !equal(have, wanted);
}

void Compiler::query(Collector& c, std::vector<Resource*>& found) {
  auto ask = [&](Resource* r) {
    budget_.step();
    if (r->type != c.type || (c.syntax->exported && !r->exported) || c.seen_set.contains(r)) return;
    if (query_matches(c, c.syntax->query, *r)) found.push_back(r);
  };
  switch (c.look) {
    case Collector::Look::kText:
      for (Resource* r : index_.having(c.type, c.attribute, c.key.text())) ask(r);
      break;
    case Collector::Look::kTag: {
      std::vector<Resource*> tagged;
      index_.tagged(c.type, Symbol(downcase(c.key.text())), tagged);
      for (Resource* r : tagged) ask(r);
      break;
    }
    case Collector::Look::kAll:
      for (Resource* r : index_.events(c.type)) ask(r);
      break;
    case Collector::Look::kChanges: {
      const std::vector<Resource*>& events = index_.events(c.type);
      for (; c.looked < events.size(); ++c.looked) ask(events[c.looked]);
      break;
    }
  }
  std::sort(found.begin(), found.end(), [](const Resource* a, const Resource* b) { return a->index < b->index; });
  found.erase(std::unique(found.begin(), found.end()), found.end());
}

bool Compiler::evaluate_collector(Collector& c) {
  std::vector<Resource*> found;
  if (!c.syntax) {  // realize
    std::vector<const Type*> missing;
    for (const Type* t : c.wanted) {
      if (Resource* r = find_resource(t))
        found.push_back(r);
      else
        missing.push_back(t);
    }
    c.wanted = std::move(missing);
    if (c.wanted.empty()) c.done = true;
  } else if (!c.syntax->query && !c.syntax->exported && !c.related && c.overrides.empty()) {
    // All of a type are realized, and nobody asks which ones: what one such collector did another need not do again.
    const std::vector<Resource*>& events = index_.events(c.type);
    std::size_t& realized = realized_[c.type];
    bool fresh = realized < events.size();
    for (; realized < events.size(); ++realized) events[realized]->is_virtual = false;
    return fresh;
  } else {
    query(c, found);
    if (c.syntax->exported && !c.store_asked) {
      c.store_asked = true;
      collect_from_store(c, found);
    }
  }
  // As in Puppet, a class or define whose collector has overridden something may override anything from then on.
  if (!found.empty() && !c.overrides.empty()) may_override_.insert(c.scope->source);
  // The defaults that hold where the collector stands come with what it overrides.
  std::vector<ResourceParam> overrides = c.overrides;
  if (const auto* defaults = found.empty() || overrides.empty() ? nullptr : defaults_of(*c.scope, c.type))
    for (const DefaultParam& d : *defaults) {
      auto same_name = [&](const ResourceParam& p) { return p.name == d.name; };
      if (std::any_of(c.overrides.begin(), c.overrides.end(), same_name)) continue;
      ResourceParam& p = overrides.emplace_back();
      p.name = d.name;
      p.value = d.value;
      p.at = d.at;
      p.source = d.source;
      p.how = How::kDefault;
    }
  bool fresh = false;
  for (Resource* r : found) {
    r->is_virtual = false;
    if (!c.seen_set.insert(r).second) continue;
    fresh = true;
    c.seen.push_back(r);
    if (!overrides.empty()) override_params(*r, overrides, c.scope->source, true, c.at);
  }
  return fresh;
}

}  // namespace tutti::puppet
