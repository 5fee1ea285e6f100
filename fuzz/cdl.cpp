// layers: lang/cdl
#include "lang/cdl/resolve/system.h"
#include "lang/cdl/resolve/types.h"
#include "lang/cdl/syntax/format.h"
#include "reader.h"

// Resolves, checks types, supplies every lazy value, writes both kinds of XML; the resolved document is its own result,
// and what is laid out stays as it is when laid out again.
namespace {

void check_document(tutti::cdl::System& system, std::size_t given) {
  using namespace tutti;
  Session& session = system.session();
  std::string text = cdl::to_document(system, true, true);
  if (text.size() > 100 * given || !session.diagnostics.ok()) return;
  Session other(fuzz_limits());
  std::shared_ptr<cdl::System> again = cdl::System::load(other, **other.sources->add("resolved.cdl", text), {});
  if (!again || !other.diagnostics.ok() || cdl::to_document(*again, true, true) != text) __builtin_trap();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const tutti::u8* data, std::size_t size) {
  using namespace tutti;
  Session session(fuzz_limits());
  try {
    auto source = session.sources->add("input.cdl", std::string(reinterpret_cast<const char*>(data), size));
    if (!source) return 0;
    std::shared_ptr<cdl::System> system = cdl::System::load(session, **source, {});
    if (system && session.diagnostics.ok()) {
      if (size < 3000) check_document(*system, size);
      cdl::check_types(*system, true);
      for (int round = 0; round < 3; round++) {
        for (const std::string& path : system->open())
          system->set(path, round == 0 ? std::optional<std::string_view>("v") : std::nullopt);
        system->resolve();
      }
      std::string xml = cdl::to_xml(*system, false, true);
      Session other(fuzz_limits());
      if (xml.size() < 1'000'000) cdl::tree_to_cdl(system->value(), true, true);
    } else if (!system && session.diagnostics.ok()) {
      __builtin_trap();  // refused without a word
    }
    auto laid_out = [](std::string text) {
      Session other(fuzz_limits());
      auto given = other.sources->add("input.cdl", std::move(text));
      return given ? cdl::format_document(other, **given) : std::nullopt;
    };
    if (auto once = laid_out((*source)->text); once && laid_out(*once) != once) __builtin_trap();
    render(session.diagnostics, *session.sources, DiagnosticStyle::kExcerpt, false);
  } catch (const LimitError&) {
  }
  return 0;
}
