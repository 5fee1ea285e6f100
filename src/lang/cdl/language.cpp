#include "lang/cdl/language.h"

#include "lang/cdl/resolve/system.h"

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
    };
    return kOptions;
  }
  std::span<const std::string_view> outputs() const override {
    static constexpr std::string_view kOutputs[] = {"xml"};
    return kOutputs;
  }

  std::optional<Value> evaluate(Session& session, const Request& request) const override {
    if (request.files.size() != 1) {
      session.diagnostics.error("CDL-ONE-FILE", {}, "one CDL document at a time: others come in with cdl:import");
      return std::nullopt;
    }
    std::shared_ptr<System> system = System::load(session, request.files[0], load_options(request.options));
    if (!system) return std::nullopt;
    Value value = system->value();
    session.attach(value, std::move(system));
    return value;
  }

  std::optional<std::string> write(Session& session, const Value& value, std::string_view,
                                   const Options& options) const override {
    const System* system = session.attached<System>(value);
    return system ? to_xml(*system, options.has("compact")) : tree_to_cdl(value, options.has("compact"));
  }

 private:
  static LoadOptions load_options(const Options& options) { return {options.get("catalog"), options.all("include")}; }
};

}  // namespace

const Language& language() {
  static const CdlLanguage cdl;
  return cdl;
}

}  // namespace tutti::cdl
