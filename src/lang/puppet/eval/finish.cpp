// What happens to the catalog once nothing new comes: relationships, late overrides, checks, what containers hand down.
#include <fmt/format.h>

#include <algorithm>
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
  for (const Relationship& rel : relationships_) {
    auto resources = [&](const Val& ref, Collector* collector, bool is_source) {
      std::vector<Resource*> out;
      if (collector) {
        out = collector->seen;
        if (out.empty() && is_source)
          for (const Val& v : collector->empty_alternative)
            if (Resource* r = find_resource(v.t)) out.push_back(r);
        return out;
      }
      Resource* r = find_resource(ref.t);
      if (!r) {
        std::string other = is_source ? (rel.target_collector ? "a collector" : type_text(rel.target.t))
                                      : (rel.source_collector ? "a collector" : type_text(rel.source.t));
        fail(rel.at,
             fmt::format("could not find resource '{}' for relationship {} '{}'", type_text(ref.t),
                         is_source ? "on" : "from", other),
             "PP-RELATIONSHIP");
      }
      out.push_back(r);
      return out;
    };
    std::vector<Resource*> sources = resources(rel.source, rel.source_collector, true),
                           targets = resources(rel.target, rel.target_collector, false);
    Symbol name = rel.notify ? notify : before;
    for (Resource* s : sources)
      for (Resource* t : targets) {
        ResourceParam* p = s->find(name);
        std::vector<Val> list;
        if (p && p->value.is(VK::kArray))
          list.assign(p->value.items().begin(), p->value.items().end());
        else if (p && !p->value.undefined())
          list.push_back(p->value);
        list.push_back(make_string(arena(), t->ref()).with_origin(rel.at));
        Val value = make_array(arena(), list).with_origin(rel.at);
        if (p) {
          p->value = value;
        } else {
          ResourceParam n;
          n.name = name;
          n.value = value;
          n.at = rel.at;
          s->params.push_back(n);
        }
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

void Compiler::finish() {
  relate();
  std::unordered_map<const Resource*, std::vector<PendingOverride*>> pending;
  for (PendingOverride& o : overrides_)
    if (Resource* r = find_resource(o.reference)) pending[r].push_back(&o);
  for (std::size_t n = 0; n < catalog_.resources.size(); ++n) {
    Resource& r = *catalog_.resources[n];
    if (auto mine = pending.find(&r); mine != pending.end())
      for (PendingOverride* o : mine->second) {
        o->done = true;
        override_params(r, o->params, o->source, o->from_collector, o->at);
      }
    merge_scope_tags(r);
    for (ResourceParam& p : r.params)
      if (p.value.is(VK::kSensitive)) {
        r.sensitive.push_back(p.name);
        p.value = p.value.box->with_origin(p.value.origin);
      }
    check_native(r);
    if (r.definition && !r.is_node)
      for (const ResourceParam& p : r.params) {
        bool known = is_metaparameter(p.name) || p.name.text() == "name" || p.name.text() == "title" ||
                     std::any_of(r.definition->params.begin(), r.definition->params.end(),
                                 [&](const Param& x) { return x.name == p.name; });
        if (!known) fail(p.at, fmt::format("{}: has no parameter named '{}'", r.ref(), p.name.text()), "PP-PARAMETER");
      }
  }
  copy_metaparameters();
}

// noop, schedule, tags and the like come down from containers to what they contain, starting at Class[main].
void Compiler::copy_metaparameters() {
  std::vector<std::vector<Resource*>> children(catalog_.resources.size());
  for (const Edge& e : catalog_.edges) children[e.source->index].push_back(e.target);
  Resource* main = catalog_.find(Symbol("Class"), "main");
  std::vector<Resource*> queue{main};
  std::vector<bool> seen(catalog_.resources.size());
  seen[main->index] = true;
  for (std::size_t n = 0; n < queue.size(); ++n) {
    Resource* source = queue[n];
    for (Resource* target : children[source->index]) {
      for (Symbol m : metaparameters()) {
        if (is_relationship(m)) continue;
        const ResourceParam* p = source->find(m);
        if (!p || p->value.undefined()) continue;
        ResourceParam* have = target->find(m);
        if (have && !have->value.undefined()) continue;
        ResourceParam copy = *p;
        copy.how = How::kInherited;
        set_param(*target, copy);
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
    if (!find_resource(t))
      fail(p.at ? p.at : r.at,
           fmt::format("could not find resource '{}' in parameter '{}' of {}", type_text(t), p.name.text(), r.ref()),
           "PP-RELATIONSHIP");
  };
  for (Resource* each : catalog_.resources) {
    Resource& r = *each;
    if (r.is_virtual) continue;
    for (const ResourceParam& p : r.params)
      if (is_relationship(p.name)) check(check, r, p, p.value);
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
