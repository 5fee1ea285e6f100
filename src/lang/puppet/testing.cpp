#include "lang/puppet/testing.h"

#include "lang/puppet/eval/compiler.h"

namespace tutti::puppet {

namespace {

// Tests run on a usual stack, unlike the program.
Limits test_limits(Limits limits) {
  limits.depth = 1'000;
  return limits;
}

Compiled compile(const std::string& manifest, const CompileOptions& options) {
  Session session(test_limits(options.limits));
  Settings settings;
  settings.strict_variables = options.strict;
  Environment environment(settings, session.sources, session.budget.limits());
  Compiled out;
  auto source = session.sources->add("test.pp", manifest);
  if (!source) return out;
  const Program* program = environment.add_manifest(**source, session.diagnostics);
  if (program) {
    NodeInfo node;
    node.name = options.node;
    HashDraft facts;
    for (const auto& [k, v] : options.facts) {
      Val value = make_string(session.arena, v);
      parse_number(v, value);
      facts.set(make_string(session.arena, k), value);
    }
    node.facts = facts.build(session.arena);
    Compiler compiler(environment, session, std::move(node));
    out.ok = compiler.compile(std::span<const Program* const>(&program, 1));
    if (out.ok)
      for (const Resource* r : compiler.catalog().resources) {
        if (r->is_virtual) continue;
        out.order.push_back(r->ref());
        if (!r->native || r->is_stage) continue;
        auto& attributes = out.resources[downcase(r->type.text()) + "[" + std::string(r->title) + "]"];
        for (const ResourceParam& p : r->params)
          if (!p.value.undefined()) attributes.emplace_back(std::string(p.name.text()), to_literal(p.value));
      }
    for (Symbol c : compiler.catalog().classes) out.classes.emplace_back(c.text());
  }
  out.errors = render(session.diagnostics, *session.sources, DiagnosticStyle::kLine, false);
  return out;
}

}  // namespace

Compiled compile_for_test(const std::string& manifest, const CompileOptions& options) {
  try {
    return compile(manifest, options);
  } catch (const LimitError& e) {
    Compiled out;
    out.errors = e.code() + ": " + e.what();
    return out;
  }
}

}  // namespace tutti::puppet
