// muPuppet's door to the command line: --reference, `step` and `agree`.
#include "lang/puppet/language.h"

#include <fmt/format.h>

#include <algorithm>

#include "lang/puppet/reference/mupuppet.h"
#include "lang/puppet/request.h"
#include "lang/puppet/syntax/parser.h"
#include "lang/puppet/types/value.h"

namespace tutti::puppet {
namespace {

// Options that give the compiler more than a manifest, a node and its facts.
constexpr std::string_view kBeyond[] = {"environment",  "modulepath",   "all-nodes", "enc",
                                        "hiera-config", "storeconfigs", "exported"};

// A fact as a value of muPuppet; nullptr where it has no such values.
mu::E fact(const Val& v) {
  mu::Expr e;
  switch (v.kind) {
    case VK::kInt: e.integer = v.i; break;
    case VK::kBool: e.kind = mu::Ek::kBool, e.boolean = v.b; break;
    case VK::kString: e.kind = mu::Ek::kString, e.text = v.text(); break;
    case VK::kArray:
      e.kind = mu::Ek::kArray;
      for (const Val& item : v.items()) {
        e.kids.push_back(fact(item));
        if (!e.kids.back()) return nullptr;
      }
      break;
    case VK::kHash:
      e.kind = mu::Ek::kHash;
      for (const Pair& p : v.entries()) {
        mu::E value = p.key.is(VK::kString) ? fact(p.value) : nullptr;
        if (!value) return nullptr;
        e.hash.emplace_back(std::string(p.key.text()), value);
      }
      break;
    default: return nullptr;
  }
  return std::make_shared<const mu::Expr>(std::move(e));
}

// σ holds what the client says of itself: its facts, as variables of the top scope.
mu::State start_of(const Val& facts) {
  mu::State st;
  for (const Pair& p : facts.entries())
    if (mu::E value = fact(p.value)) st.sigma["::"][std::string(p.key.text())] = value;
  return st;
}

class ToTree {
 public:
  explicit ToTree(Session& session) : build_(session.arena) {}

  Value value(const mu::Expr& e) const {
    switch (e.kind) {
      case mu::Ek::kInt: return Value::integer(e.integer);
      case mu::Ek::kBool: return Value::boolean(e.boolean);
      case mu::Ek::kRef:
        return Value::resource(Symbol(mu::as_reference(e.text)), build_.arena().copy(title(*e.kids[0])));
      case mu::Ek::kArray: {
        std::vector<Value> items;
        for (const mu::E& k : e.kids) items.push_back(value(*k));
        return build_.list(items);
      }
      case mu::Ek::kHash: {
        MapDraft draft;
        for (const auto& [k, v] : e.hash) draft.set(Symbol(k), value(*v));
        return draft.build(build_);
      }
      default: return build_.string(e.text);
    }
  }

  Value catalog(const std::vector<mu::ResourceValue>& resources) const {
    MapDraft all;
    for (const mu::ResourceValue& r : resources) {
      std::string type = mu::as_reference(r.type);
      MapDraft parameters, one;
      for (const auto& [k, v] : r.values) parameters.set(Symbol(k), value(*v));
      one.set(Symbol("type"), build_.string(type));
      one.set(Symbol("title"), build_.string(r.title));
      one.set(Symbol("parameters"), parameters.build(build_));
      all.set(Symbol(fmt::format("{}[{}]", type, r.title)), one.build(build_));
    }
    MapDraft root;
    root.set(Symbol("resources"), all.build(build_));
    return root.build(build_);
  }

 private:
  static std::string_view title(const mu::Expr& e) { return e.kind == mu::Ek::kString ? e.text : std::string_view(); }
  TreeBuilder build_;
};

std::optional<mu::Manifest> read(Session& session, const Request& request) {
  mu::Manifest all;
  for (const std::string& file : request.files) {
    const Source* source = session.open(file);
    auto program =
        source ? parse(*source, LexMode::kManifest, session.arena, session.diagnostics, session.budget) : nullptr;
    if (!program || !program->ok) return std::nullopt;
    try {
      mu::Manifest one = mu::from_syntax(*program);
      all.insert(all.end(), one.begin(), one.end());
    } catch (const mu::Outside& o) {
      session.diagnostics.error("REF-OUTSIDE", Span(o.at), fmt::format("muPuppet has no {}", o.what))
          .suggest("it is the language of figure 6 of the paper; leave out --reference for the rest");
      return std::nullopt;
    }
  }
  return all;
}

}  // namespace

std::optional<Value> Puppet::by_rules(Session& session, const Request& request, Steps* steps) const {
  for (std::string_view beyond : kBeyond) {
    if (!request.options.has(beyond)) continue;
    session.diagnostics.error("REF-OUTSIDE", {}, fmt::format("muPuppet has no --{}", beyond))
        .suggest("its rules take manifests, the name of a node (--node) and its facts (--facts)");
    return std::nullopt;
  }
  std::optional<mu::Manifest> manifest = read(session, request);
  auto facts = manifest ? read_facts(session, request.options.get("facts")) : std::nullopt;
  if (!facts) return std::nullopt;
  const Val* fqdn = facts->get("fqdn");
  std::string node = request.options.get("node", fqdn && fqdn->is(VK::kString) ? fqdn->text() : "localhost");
  try {
    mu::State end = mu::run(std::move(*manifest), node, start_of(*facts), {}, steps);
    return ToTree(session).catalog(end.catalog);
  } catch (const mu::Stuck& s) {
    session.diagnostics.error("REF-STUCK", Span(s.at), "no rule goes on here: " + s.why)
        .note("in muPuppet classes are defined before they are declared, and variables set before they are read");
    return std::nullopt;
  }
}

// Resources that rules put into the catalog, and of them type, title and parameters.
std::optional<Value> Puppet::as_rules_say(Session& session, const Request& request) const {
  Request strict = request;
  strict.options.add("strict-variables", "");
  std::optional<Value> tree = evaluate(session, strict);
  const Entry* resources = tree && session.diagnostics.ok() ? tree->find("resources") : nullptr;
  if (!resources) return std::nullopt;
  TreeBuilder build = session.builder();
  MapDraft all, root;
  for (const Entry& e : resources->value.entries()) {
    const Entry* kind = e.value.find("kind");
    if (!kind || kind->value.text() != "compilable_type" || e.key.text().starts_with("Stage[")) continue;
    MapDraft one;
    for (const char* part : {"type", "title", "parameters"}) {
      const Entry* p = e.value.find(part);
      one.set(Symbol(part), p ? p->value : build.map({}));
    }
    all.set(e.key, one.build(build));
  }
  root.set(Symbol("resources"), all.build(build));
  return root.build(build);
}

}  // namespace tutti::puppet
