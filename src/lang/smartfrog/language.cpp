#include "lang/smartfrog/language.h"

#include <fmt/format.h>

#include "lang/smartfrog/eval/core.h"
#include "lang/smartfrog/eval/encode.h"
#include "lang/smartfrog/production/production.h"
#include "lang/smartfrog/reference/reference.h"
#include "lang/smartfrog/syntax/parser.h"

namespace tutti::smartfrog {
namespace {

std::optional<Level> level_of(Session& session, const Options& options) {
  std::string level = options.get("level", "core");
  if (level == "core") return Level::kCore;
  if (level == "production") return Level::kProduction;
  session.diagnostics.error("OPTION", {}, fmt::format("--level is `core` or `production`, not `{}`", level));
  return std::nullopt;
}

std::optional<Value> by_reference(Session& session, const Body& body) {
  auto result = reference::evaluate(body, session.arena);
  if (auto* v = std::get_if<reference::V>(&result)) return reference::to_tree(*v, session.arena);
  const auto& e = std::get<reference::Error>(result);
  session.diagnostics.error(fmt::format("SF-{}", e.number), e.where,
                            fmt::format("error {} of the semantics, definition {}", e.number, e.definition));
  return std::nullopt;
}

}  // namespace

std::span<const std::string_view> SmartFrog::extensions() const {
  static constexpr std::string_view kExtensions[] = {".sf"};
  return kExtensions;
}

std::span<const OptionSpec> SmartFrog::options() const {
  static constexpr OptionSpec kOptions[] = {
      {"level", "LEVEL", "the language: core (the published semantics) or production"},
      {"include", "DIR", "where #include looks, after the folder of the including file", true},
      {"property", "NAME=VALUE", "what PROPERTY NAME gives (production only)", true},
      {"reference", "", "evaluate by the definitions of the paper, one by one (core only, slow)"},
  };
  return kOptions;
}

std::optional<Value> SmartFrog::evaluate(Session& session, const Request& request) const {
  auto level = level_of(session, request.options);
  if (!level) return std::nullopt;
  Loader loader(session, request.options.all("include"));
  Parser parser(session, *level, &loader);
  const Body* body = nullptr;
  for (const std::string& file : request.files) {
    const Source* source = session.open(file);
    if (!source) return std::nullopt;
    body = parser.parse(*source);
    if (!body) return std::nullopt;
  }
  if (!body) return std::nullopt;
  if (*level == Level::kProduction) {
    production::Settings settings;
    for (const std::string& given : request.options.all("property")) {
      std::size_t equals = given.find('=');
      settings.properties[given.substr(0, equals)] = equals == std::string::npos ? "" : given.substr(equals + 1);
    }
    return production::Compiler(session, settings).run(*body);
  }
  if (request.options.has("reference")) return by_reference(session, *body);
  return CoreCompiler(session).run(*body);
}

Value SmartFrog::encode(Session& session, const Value& value, std::string_view, const Options&) const {
  return encode_tree(session, value);
}

const Language& language() {
  static const SmartFrog smartfrog;
  return smartfrog;
}

}  // namespace tutti::smartfrog
