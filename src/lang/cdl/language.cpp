#include "lang/cdl/language.h"

#include <fmt/format.h>

#include "base/minisign.h"
#include "lang/cdl/reference/door.h"
#include "lang/cdl/resolve/system.h"
#include "lang/cdl/resolve/types.h"
#include "lang/cdl/syntax/format.h"

namespace tutti::cdl {
namespace {

class CdlLanguage final : public Language {
 public:
  std::string_view name() const override { return "cdl"; }
  std::span<const std::string_view> extensions() const override {
    static constexpr std::string_view kExtensions[] = {".cdl"};
    return kExtensions;
  }
  std::span<const OptionSpec> options() const override {
    static constexpr OptionSpec kOptions[] = {
        {"catalog", "FILE", "cdl: an XML catalog that maps locations of imports to files"},
        {"include", "DIR", "where imports are looked for", true},
        {"require-signature", "KEY",
         "everything that is read must be signed with this key of minisign (tutti help sign); cdl: or every document "
         "with "
         "the key (PEM) in this file",
         true},
        {"decrypt-key", "KEY", "cdl: the key (PEM, or the bytes of an AES key) for encrypted parts"},
    };
    return kOptions;
  }
  std::span<const std::string_view> outputs() const override {
    static constexpr std::string_view kOutputs[] = {"xml", "cdl"};
    return kOutputs;
  }

  std::optional<Value> evaluate(Session& session, const Request& request) const override {
    if (request.files.size() != 1) {
      session.diagnostics.error("CDL-ONE-FILE", {}, "one CDL document at a time: others come in with cdl:import");
      return std::nullopt;
    }
    // Mistakes are found stage by stage (document, prototypes, references, types) and told in the order of the text.
    std::size_t first = session.diagnostics.all().size();
    std::shared_ptr<System> system = System::load(session, request.files[0], load_options(request.options));
    if (system && request.concrete) check_types(*system, false);
    session.diagnostics.sort_from(first);
    if (!system) return std::nullopt;
    Value value = system->value();
    if (request.options.get("out") == "sf") value = with_links(session, *system, value);
    session.attach(value, std::move(system));
    return value;
  }

  bool has_rules() const override { return true; }
  std::optional<Value> by_rules(Session& session, const Request& request, Steps* steps) const override {
    return reference::by_rules(session, request, steps);
  }
  std::optional<Value> as_rules_say(Session& session, const Request& request) const override {
    return reference::as_rules_say(session, request);
  }
  bool rules_have_order() const override { return true; }

  bool can_format() const override { return true; }
  std::optional<std::string> format(Session& session, const Source& source) const override {
    return format_document(session, source);
  }

  // Says whether the system can be deployed (3.2.2): all required values are there, or will be at run time.
  bool vet(Session& session, const Request& request) const override {
    bool fine = true;
    for (const std::string& file : request.files) {
      std::size_t first = session.diagnostics.all().size();
      std::shared_ptr<System> system = System::load(session, file, load_options(request.options));
      TypeReport report;
      bool loaded = system && session.diagnostics.ok();
      if (loaded) report = check_types(*system, true);
      if (loaded) warn_about_repeated(*system);
      session.diagnostics.sort_from(first);
      if (!loaded) {
        fine = false;
        continue;
      }
      fine &= report.fits && report.missing.empty();
      say(session, *system, report);
    }
    return fine;
  }

  // `xml` is the resolved cdl:system as it is; `cdl` the whole resolved document, or one made of a tree of another
  // language.
  bool write(Session& session, const Value& value, std::string_view output, const Options& options,
             Sink& sink) const override {
    bool compact = options.has("compact"), reveal = options.has("reveal");
    System* system = session.attached<System>(value);
    if (!system)
      sink.put(tree_to_cdl(value, compact, reveal));
    else
      sink.put(output == "xml" ? to_xml(*system, compact, reveal) : to_document(*system, compact, reveal));
    return true;
  }

 private:
  static void say(Session& session, const System& system, const TypeReport& report) {
    Pos at = system.root().source->pos;
    if (!system.has_system()) {
      session.diagnostics.add(Severity::kNote, "CDL-TEMPLATES", at,
                              "there is no cdl:system: these are templates for others");
      return;
    }
    if (!report.missing.empty()) {
      std::size_t n = report.missing.size();
      Diagnostic& d = session.diagnostics.add(
          Severity::kNote, "CDL-PARTIAL", at,
          fmt::format("the system is partial: {} required value{} missing", n, n == 1 ? " is" : "s are"));
      for (const Node* m : report.missing) d.note(path_of(*m));
      return;
    }
    if (!report.fits) return;
    std::size_t n = report.at_runtime.size();
    Diagnostic& d =
        session.diagnostics.add(Severity::kNote, "CDL-DEPLOYABLE", at,
                                n == 0 ? "the system is deployable"
                                       : fmt::format("the system is deployable; {} value{} come{} at run time", n,
                                                     n == 1 ? "" : "s", n == 1 ? "s" : ""));
    for (const std::string& path : report.at_runtime) d.note(path);
  }
};

}  // namespace

LoadOptions load_options(const Options& options) {
  std::string pem;  // a key of minisign is asked for where files are read
  for (const std::string& key : options.all("require-signature"))
    if (RequiredSignatures::is_pem(key)) pem = key;
  return {pem, options.get("decrypt-key"), options.get("catalog"), options.all("include")};
}

const Language& language() {
  static const CdlLanguage cdl;
  return cdl;
}

}  // namespace tutti::cdl
