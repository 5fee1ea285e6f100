// layers: lang/smartfrog
#include "lang/smartfrog/eval/core.h"
#include "lang/smartfrog/eval/encode.h"
#include "lang/smartfrog/production/production.h"
#include "lang/smartfrog/reference/reference.h"
#include "lang/smartfrog/syntax/format.h"
#include "lang/smartfrog/syntax/parser.h"
#include "lang/smartfrog/write.h"
#include "reader.h"

// Both levels on any text. Small core specifications must mean what the definitions of the paper say; what is formatted
// must format to itself; what is written from the result must be read again.
namespace tutti::smartfrog {
namespace {

void check_core(Session& session, const Body& body, std::size_t size) {
  CoreCompiler compiler(session);
  std::optional<Value> value = compiler.run(body);
  if (size < 400) {
    auto expected = reference::evaluate(body, session.arena);
    if (std::holds_alternative<reference::Error>(expected) == value.has_value() && body.orders.empty()) {
      // Contradicting order rules are an error that the paper does not have.
      bool order = false;
      for (const Diagnostic& d : session.diagnostics.all()) order |= d.code == "SF-ORDER";
      if (!order) __builtin_trap();
    }
  }
  if (value) encode_tree(session, *value);
}

void check_production(Session& session, const Body& body) {
  production::Settings settings;
  production::Compiler compiler(session, settings);
  std::optional<Value> value = compiler.run(body);
  if (!value) {
    if (session.diagnostics.ok()) __builtin_trap();
    return;
  }
  encode_tree(session, *value);
  write_smartfrog(session, *value);
}

void check_format(Session& session, const Source& source, Level level) {
  std::optional<std::string> once = format_source(session, source, level);
  if (!once) return;
  auto again = session.sources->add("formatted", *once);
  std::optional<std::string> twice = format_source(session, **again, level);
  if (!twice || *twice != *once) __builtin_trap();
}

}  // namespace
}  // namespace tutti::smartfrog

extern "C" int LLVMFuzzerTestOneInput(const tutti::u8* data, std::size_t size) {
  using namespace tutti;
  using namespace tutti::smartfrog;
  if (size < 1) return 0;
  Level level = data[0] % 2 == 0 ? Level::kCore : Level::kProduction;
  Session session(fuzz_limits());
  try {
    auto source = session.sources->add("input.sf", std::string(reinterpret_cast<const char*>(data) + 1, size - 1));
    if (!source) return 0;
    const Body* body = Parser(session, level, nullptr).parse(**source);
    if (!body) {
      if (session.diagnostics.ok()) __builtin_trap();
    } else if (level == Level::kCore) {
      check_core(session, *body, size);
    } else {
      check_production(session, *body);
    }
    render(session.diagnostics, *session.sources, DiagnosticStyle::kExcerpt, false);
    Session other(fuzz_limits());
    auto text = other.sources->add("input.sf", (*source)->text);
    check_format(other, **text, level);
  } catch (const LimitError&) {
  }
  return 0;
}
