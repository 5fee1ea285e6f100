#include "lang/cdl/reference/door.h"

#include <fmt/format.h>

#include "lang/cdl/reference/reference.h"
#include "lang/cdl/resolve/system.h"

namespace tutti::cdl::reference {
namespace {

Pos line_of(const Source& source, int line) {
  std::size_t at = 0;
  for (int n = 1; n < line && at != std::string::npos; ++n) at = source.text.find('\n', at) + 1;
  return line > 0 && at < source.text.size() ? Pos{source.first.at + static_cast<u32>(at)} : Pos{};
}

bool one_document(Session& session, const Request& request) {
  if (request.files.size() != 1)
    session.diagnostics.error("CDL-ONE-FILE", {}, "one CDL document at a time: others come in with cdl:import");
  for (std::string_view beyond : {"catalog", "require-signature", "decrypt-key", "include"})
    if (request.options.has(beyond))
      session.diagnostics.error("REF-OUTSIDE", {}, fmt::format("the literal resolution has no --{}", beyond))
          .suggest(
              "it takes one document without imports, signature or encryption; leave out --reference for the rest");
  return session.diagnostics.ok();
}

// A resolved document as the common tree. It was resolved already: nothing is left to be done but reading it.
std::optional<Value> read_resolved(Session& session, const std::string& name, const std::string& document) {
  auto source = session.sources->add(name, document);
  if (!source) return std::nullopt;
  std::shared_ptr<System> system = System::load(session, **source, {});
  if (!system || !session.diagnostics.ok()) return std::nullopt;
  Value value = system->value();
  session.attach(value, std::move(system));
  return value;
}

}  // namespace

std::optional<Value> by_rules(Session& session, const Request& request, Steps* steps) {
  if (!one_document(session, request)) return std::nullopt;
  const Source* source = session.open(request.files[0]);
  if (!source) return std::nullopt;
  Outcome out = resolve(source->text, steps);
  if (!out.outside.empty()) {
    session.diagnostics.error("REF-OUTSIDE", Span(source->first), "the literal resolution has no " + out.outside)
        .suggest("leave out --reference");
    return std::nullopt;
  }
  for (const auto& [code, line] : out.errors)
    session.diagnostics.error(code, Span(line_of(*source, line)), "by the sections of the specification");
  return out.errors.empty() ? read_resolved(session, "(resolved by the sections)", out.document) : std::nullopt;
}

std::optional<Value> as_rules_say(Session& session, const Request& request) {
  std::unique_ptr<System> system =
      request.files.size() == 1 ? System::load(session, request.files[0], load_options(request.options)) : nullptr;
  if (!system || !session.diagnostics.ok()) return std::nullopt;
  return read_resolved(session, "(resolved)", to_document(*system, true, true));
}

}  // namespace tutti::cdl::reference
