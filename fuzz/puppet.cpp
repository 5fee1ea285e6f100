// campaign: not part of the short pass
// layers: lang/puppet
#include "lang/puppet/catalog/output.h"
#include "lang/puppet/eval/compiler.h"
#include "lang/puppet/format.h"
#include "reader.h"

// Parses as a manifest and as a template, lays the manifest out twice, compiles it and writes the catalog.
extern "C" int LLVMFuzzerTestOneInput(const tutti::u8* data, std::size_t size) {
  using namespace tutti;
  Session session(fuzz_limits());
  std::string text(reinterpret_cast<const char*>(data), size);
  // Nothing that starts processes or reads this machine's files may be reached from here.
  for (const char* word : {"generate", "template", "file", "epp", "glob", "load", "hiera", "lookup"})
    if (text.find(word) != std::string::npos) return 0;
  try {
    auto source = session.sources->add("input.pp", text);
    if (!source) return 0;
    {
      Session other(fuzz_limits());
      parse(**other.sources->add("input.epp", text), puppet::LexMode::kEpp, other.arena, other.diagnostics,
            other.budget);
    }
    {
      Session other(fuzz_limits());
      if (auto once = puppet::format_manifest(other, **other.sources->add("a.pp", text))) {
        auto twice = puppet::format_manifest(other, **other.sources->add("b.pp", *once));
        if (!twice || *twice != *once) __builtin_trap();  // not idempotent, or it broke the manifest
      }
    }
    puppet::Environment environment({}, session.sources, session.budget.limits());
    const puppet::Program* program = environment.add_manifest(**source, session.diagnostics);
    if (program) {
      puppet::NodeInfo node;
      node.name = "fuzz";
      node.facts = puppet::make_hash(session.arena, {});
      puppet::Compiler compiler(environment, session, std::move(node));
      if (compiler.compile(std::span<const puppet::Program* const>(&program, 1))) {
        StringSink whole, streamed;
        puppet::write_catalog(catalog_tree(compiler), whole);
        puppet::write_catalog(compiler, streamed, true);
        if (whole.take() != streamed.take()) __builtin_trap();
      } else if (session.diagnostics.ok()) {
        __builtin_trap();  // refused without a word
      }
    } else if (session.diagnostics.ok()) {
      __builtin_trap();
    }
    render(session.diagnostics, *session.sources, DiagnosticStyle::kExcerpt, false);
  } catch (const LimitError&) {
  }
  return 0;
}
