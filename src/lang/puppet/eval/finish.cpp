// What happens to the catalog once nothing new comes: relationships, late overrides, checks, what containers hand down.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <unordered_map>
#include <unordered_set>

#include "base/near.h"
#include "lang/puppet/catalog/native_type.h"
#include "lang/puppet/eval/compiler.h"
#include "lang/puppet/types/type_parse.h"

namespace tutti::puppet {
namespace {
bool is_relationship(Symbol s) {
  static const Symbol all[4] = {Symbol("require"), Symbol("before"), Symbol("notify"), Symbol("subscribe")};
  return s == all[0] || s == all[1] || s == all[2] || s == all[3];
}
}  // namespace

// Arrows become `before` or `notify` of the resource on their left.
void Compiler::relate() {
  static const Symbol before("before"), notify("notify");
  // Lists are put together here and made values once: thousands of arrows may leave one resource.
  struct Leaving {
    Resource* source;
    Symbol name;
    Pos first, last;
    std::vector<Val> to;
  };
  std::deque<Leaving> leaving;
  // The titles of one resource body share what an attribute of it says: an arrow from one of them leaves all of them,
  // as in Puppet, where they have the same list.
  std::unordered_map<const Val*, Leaving*> of_bodies;
  std::unordered_map<u64, Leaving*> lists;  // by the number of the source, twice, and the kind of arrow
  std::vector<Val> names(
      relationships_.empty() ? 0 : catalog_.resources.size());  // references to those that arrows lead to
  for (const Relationship& rel : relationships_) {
    auto resource = [&](const Val& ref, bool is_source) {
      Resource* r = find_resource(ref.t);
      if (r) return r;
      std::string other = is_source ? (rel.target_collector ? "a collector" : type_text(rel.targets[0].t))
                                    : (rel.source_collector ? "a collector" : type_text(rel.source.t));
      fail(rel.at,
           fmt::format("could not find resource '{}' for relationship {} '{}'", type_text(ref.t),
                       is_source ? "on" : "from", other),
           "PP-RELATIONSHIP");
    };
    // What is on the left of a collector that found nothing stands in for it.
    std::vector<Resource*> sources, targets;
    std::span<const Val> instead;
    for (const Collector* c = rel.source_collector; c && sources.empty() && instead.empty(); c = c->left_collector) {
      sources = c->seen;
      if (sources.empty()) instead = c->empty_alternative;
    }
    // Where a collector found nothing there is no relationship, and the other side need not be there either.
    if (rel.source_collector && sources.empty() && instead.empty()) continue;
    if (rel.target_collector && (targets = rel.target_collector->seen).empty()) continue;
    for (const Val& v : instead) sources.push_back(resource(v, true));
    if (!rel.source_collector) sources = {resource(rel.source, true)};
    if (!rel.target_collector)
      for (const Val& v : rel.targets) targets.push_back(resource(v, false));
    std::vector<Val> references;
    for (std::size_t n = 0; n < targets.size(); ++n) {
      const Resource* t = targets[n];
      Val& name = names[t->index];
      if (name.undefined()) name = make_string(arena(), t->ref());
      // By another of its names, where it was found by that one.
      const Type* written = rel.target_collector || t->is_class ? nullptr : resolved(rel.targets[n].t);
      Val by_alias = written == nullptr || written->title == t->title
                         ? name
                         : make_string(arena(), fmt::format("{}[{}]", t->type.text(), written->title));
      references.push_back(by_alias.with_origin(rel.at));
    }
    for (Resource* s : sources) {
      Leaving*& list = lists[u64{s->index} * 2 + (rel.notify ? 1 : 0)];
      if (!list) {
        const ResourceParam* p = s->find(rel.notify ? notify : before);
        const bool is_list = p && p->value.is(VK::kArray);
        Leaving** shared = is_list && p->of_body ? &of_bodies[p->value.list] : nullptr;
        if (shared && *shared) {
          list = *shared;
        } else {
          list = &leaving.emplace_back(Leaving{s, rel.notify ? notify : before, rel.at, rel.at, {}});
          if (is_list)
            list->to.assign(p->value.items().begin(), p->value.items().end());
          else if (p && !p->value.undefined())
            list->to.push_back(p->value);
          if (shared) *shared = list;
        }
      }
      list->to.insert(list->to.end(), references.begin(), references.end());
      list->last = rel.at;
      budget_.step(references.size());
    }
  }
  std::unordered_map<const Leaving*, Val> values;
  for (Leaving& l : leaving) {
    values[&l] = make_array(arena(), l.to).with_origin(l.last);
    l.to = {};
  }
  for (Resource* r : of_bodies.empty() ? std::vector<Resource*>{} : catalog_.resources)
    for (Symbol name : {before, notify})
      if (ResourceParam* p = r->find(name); p && p->of_body)
        if (auto it = of_bodies.find(p->value.list); it != of_bodies.end()) p->value = values[it->second];
  for (Leaving& l : leaving) {
    const Val& value = values[&l];
    if (ResourceParam* p = l.source->find(l.name)) {
      p->value = value;
    } else {
      ResourceParam fresh;
      fresh.name = l.name;
      fresh.value = value;
      fresh.at = l.first;
      l.source->params.push_back(fresh);
    }
  }
}

void Compiler::check_native(Resource& r) {
  if (!r.native) return;
  for (const ResourceParam& p : r.params) {
    if (p.name.text() == "name" || r.native->has_attribute(p.name) || is_metaparameter(p.name)) continue;
    EvalError e("PP-UNKNOWN-PARAMETER", p.at ? p.at : r.at,
                fmt::format("no parameter named '{}' on {}", p.name.text(), r.ref()));
    Symbol near = nearest(p.name, r.native->attributes);
    if (!near.empty()) e.help = fmt::format("did you mean `{}`?", near.text());
    throw e;
  }
}

// The parameters of what is defined in the language were checked when it was evaluated; this is for what never is,
// being virtual to the end, and for values that came after that.
void Compiler::check_parameters(Resource& r) {
  for (const Param& p : r.definition->params) {
    const ResourceParam* given = r.find(p.name);
    if (!given) {
      if (!p.value)
        fail(r.at, fmt::format("{}: expects a value for parameter '{}'", r.ref(), p.name.text()), "PP-PARAMETER");
      continue;
    }
    if (!p.type) continue;
    const Type* t = type_of_node(p.type, *top_);
    if (is_instance(t, given->value)) continue;
    auto wrong = describe_mismatch(fmt::format("parameter '{}'", p.name.text()), t, given->value);
    fail(given->at ? given->at : r.at, fmt::format("{}: {}", r.ref(), wrong.empty() ? "wrong type" : wrong[0]),
         "PP-PARAMETER");
  }
}

static bool holds_endless_type(const Val& v) {
  auto in_pair = [](const Pair& p) { return holds_endless_type(p.key) || holds_endless_type(p.value); };
  switch (v.kind) {
    case VK::kType: return is_endless(v.t);
    case VK::kArray: return std::any_of(v.items().begin(), v.items().end(), holds_endless_type);
    case VK::kHash: return std::any_of(v.entries().begin(), v.entries().end(), in_pair);
    case VK::kObject: return std::any_of(v.o->fields.begin(), v.o->fields.end(), in_pair);
    case VK::kSensitive: return holds_endless_type(*v.box);
    default: return false;
  }
}

// JSON, in which catalogs are written, has no word for it.
static bool holds_no_number(const Val& v) {
  auto in_pair = [](const Pair& p) { return holds_no_number(p.key) || holds_no_number(p.value); };
  switch (v.kind) {
    case VK::kFloat: return !std::isfinite(v.d);
    case VK::kArray: return std::any_of(v.items().begin(), v.items().end(), holds_no_number);
    case VK::kHash: return std::any_of(v.entries().begin(), v.entries().end(), in_pair);
    case VK::kObject: return std::any_of(v.o->fields.begin(), v.o->fields.end(), in_pair);
    case VK::kSensitive: return holds_no_number(*v.box);
    default: return false;
  }
}

void Compiler::finish_resource(Resource& r) {
  merge_scope_tags(r);
  if (r.definition && !r.is_node && (!r.evaluated || changed_late_.contains(&r))) check_parameters(r);
  for (ResourceParam& p : r.params)
    if (p.value.is(VK::kSensitive)) {
      r.sensitive.push_back(p.name);
      p.value = p.value.box->with_origin(p.value.origin);
    }
  for (const ResourceParam& p : r.params)
    if (!r.is_virtual && holds_endless_type(p.value))
      fail(p.at,
           fmt::format("{}: the value of '{}' is a type that contains itself, which a catalog cannot hold", r.ref(),
                       p.name.text()),
           "PP-CATALOG");
  for (const ResourceParam& p : r.params)
    if (!r.is_virtual && holds_no_number(p.value))
      fail(p.at ? p.at : r.at,
           fmt::format("{}: the value of '{}' is infinite or no number, which a catalog cannot hold", r.ref(),
                       p.name.text()),
           "PP-CATALOG");
  check_native(r);
  if (r.definition && !r.is_node)
    for (const ResourceParam& p : r.params) {
      bool known = is_metaparameter(p.name) || p.name.text() == "name" || p.name.text() == "title" ||
                   std::any_of(r.definition->params.begin(), r.definition->params.end(),
                               [&](const Param& x) { return x.name == p.name; });
      if (!known) fail(p.at, fmt::format("{}: has no parameter named '{}'", r.ref(), p.name.text()), "PP-PARAMETER");
    }
}

void Compiler::finish() {
  relate();
  std::unordered_map<const Resource*, std::vector<PendingOverride*>> pending;
  for (PendingOverride& o : overrides_)
    if (Resource* r = find_resource(o.reference)) pending[r].push_back(&o);
  for (Resource* r : catalog_.resources) {
    if (auto mine = pending.find(r); mine != pending.end())
      for (PendingOverride* o : mine->second) {
        o->done = true;
        override_params(*r, o->params, o->source, o->from_collector, o->at);
      }
    try {
      finish_resource(*r);
    } catch (EvalError& e) {
      note_containers(e, *r);
      throw;
    }
  }
  copy_metaparameters();
  order_edges();
}

// As Puppet's graph lists them: those that lead to the first resource, then to the second, and so on.
void Compiler::order_edges() {
  std::stable_sort(catalog_.edges.begin(), catalog_.edges.end(),
                   [](const Edge& a, const Edge& b) { return a.target->index < b.target->index; });
}

void Compiler::note_containers(EvalError& e, const Resource& r) {
  const Resource* inner = &r;
  for (Resource* c = r.scope ? r.scope->resource : nullptr; c && c != inner && c != top_->resource;
       inner = c, c = c->scope ? c->scope->resource : nullptr) {
    Pos at = c->at ? c->at : c->included_at;
    if (e.notes.size() < 24)
      e.notes.push_back(fmt::format("in {}{}", c->ref(), at ? ", declared at " + session_.sources->show(at) : ""));
  }
}

// noop, schedule, tags and the like come down from containers to what they contain, starting at Class[main].
void Compiler::copy_metaparameters() {
  // The edges of each source, in their order: those of resource n are ordered[first[n]] up to ordered[first[n + 1]].
  std::vector<u32> first(catalog_.resources.size() + 2), ordered(catalog_.edges.size());
  for (const Edge& e : catalog_.edges) ++first[e.source->index + 2];
  for (std::size_t n = 2; n < first.size(); ++n) first[n] += first[n - 1];
  for (std::size_t n = 0; n < ordered.size(); ++n)
    ordered[first[catalog_.edges[n].source->index + 1]++] = static_cast<u32>(n);
  Resource* main = catalog_.find(Symbol("Class"), "main");
  std::vector<Resource*> queue{main};
  std::vector<bool> seen(catalog_.resources.size());
  seen[main->index] = true;
  for (std::size_t n = 0; n < queue.size(); ++n) {
    Resource* source = queue[n];
    std::vector<ResourceParam> handed;
    for (Symbol m : metaparameters()) {
      const ResourceParam* p = is_relationship(m) ? nullptr : source->find(m);
      if (!p || p->value.undefined()) continue;
      handed.push_back(*p);
      handed.back().how = How::kInherited;
    }
    for (u32 edge = first[source->index]; edge < first[source->index + 1]; ++edge) {
      Resource* target = catalog_.edges[ordered[edge]].target;
      for (const ResourceParam& p : handed) {
        const ResourceParam* have = target->find(p.name);
        if (have && !have->value.undefined()) continue;
        set_param(*target, p);
        if (p.name.text() == "alias" && (!target->is_virtual || target->exported)) add_aliases(*target);
      }
      for (Symbol t : source->tags) target->tag(t);
      if (!seen[target->index]) {
        seen[target->index] = true;
        queue.push_back(target);
      }
    }
  }
}

// Every reference in require, before, notify and subscribe must be to a resource of the catalog.
void Compiler::check_references() {
  auto check = [&](auto&& self, Resource& r, const ResourceParam& p, const Val& v) -> void {
    if (v.undefined()) return;
    if (v.is(VK::kArray)) {
      for (const Val& i : v.items()) self(self, r, p, i);
      return;
    }
    const Type* t = nullptr;
    if (v.is(VK::kType)) {
      t = v.t;
    } else if (v.is(VK::kString)) {
      try {
        t = type_of_text(arena(), v.text(), [&](std::string_view n) { return find_type_name(n, p.at); });
      } catch (const TypeError&) {
        fail(p.at, fmt::format("{} is not a valid resource reference in parameter '{}'", to_literal(v), p.name.text()),
             "PP-RELATIONSHIP");
      }
    } else {
      fail(p.at, fmt::format("{} is not a valid resource reference in parameter '{}'", to_literal(v), p.name.text()),
           "PP-RELATIONSHIP");
    }
    // Class['main'] is no name that a manifest can give: the catalog has it as Class[main].
    bool is_main = t->kind == TK::kClass && t->name == "main";
    if (is_main || !find_resource(t))
      fail(p.at ? p.at : r.at,
           fmt::format("could not find resource '{}' in parameter '{}' of {}", type_text(t), p.name.text(), r.ref()),
           "PP-RELATIONSHIP");
  };
  for (Resource* each : catalog_.resources) {
    Resource& r = *each;
    if (r.is_virtual) continue;
    try {
      for (const ResourceParam& p : r.params)
        if (is_relationship(p.name)) check(check, r, p, p.value);
    } catch (EvalError& e) {
      note_containers(e, r);
      throw;
    }
  }
}

void Compiler::check_unevaluated() {
  std::string missing;
  Pos at;
  for (const PendingOverride& o : overrides_)
    if (!o.done) missing += (missing.empty() ? "" : ", ") + type_text(o.reference), at = o.at;
  if (!missing.empty()) fail(at, fmt::format("could not find resource(s) {} for overriding", missing), "PP-OVERRIDE");
  for (const Collector& c : collectors_)
    for (const Type* t : c.wanted) missing += (missing.empty() ? "" : ", ") + type_text(t), at = c.at;
  if (!missing.empty()) fail(at, fmt::format("failed to realize virtual resources {}", missing), "PP-REALIZE");
}

}  // namespace tutti::puppet
