#include "lang/smartfrog/language.h"

#include <fmt/format.h>

#include <algorithm>

#include "lang/smartfrog/eval/core.h"
#include "lang/smartfrog/eval/encode.h"
#include "lang/smartfrog/levels.h"
#include "lang/smartfrog/production/production.h"
#include "lang/smartfrog/reference/covered.h"
#include "lang/smartfrog/reference/reference.h"
#include "lang/smartfrog/syntax/format.h"
#include "lang/smartfrog/syntax/parser.h"
#include "lang/smartfrog/write.h"

namespace tutti::smartfrog {
namespace {

std::optional<Level> level_of(Session& session, const Options& options) {
  std::string level = options.get("level", "core");
  if (level == "core") return Level::kCore;
  if (level == "production") return Level::kProduction;
  session.diagnostics.error("OPTION", {}, fmt::format("--level is `core` or `production`, not `{}`", level));
  return std::nullopt;
}

std::optional<Value> by_definitions(Session& session, const Body& body, Steps* steps) {
  if (!reference::covered(session, body)) return std::nullopt;
  auto result = reference::evaluate(body, session.arena, steps);
  if (auto* v = std::get_if<reference::V>(&result)) return reference::to_tree(*v, session.arena);
  const auto& e = std::get<reference::Error>(result);
  session.diagnostics.error(fmt::format("SF-{}", e.number), e.where,
                            fmt::format("error {} of the semantics, definition {}", e.number, e.definition));
  return std::nullopt;
}

// What the core cannot read may be written for the other level.
void tell_level(Session& session, const Source& source, const Request& request) {
  Session scratch(session.budget.limits(), session.sources);
  Loader loader(scratch, request.options.all("include"));
  if (Parser(scratch, Level::kProduction, &loader).parse(source))
    session.diagnostics.add(Severity::kNote, "SF-LEVEL", {},
                            fmt::format("{} can be read with --level production", source.name));
}

const Body* parse_files(Session& session, const Request& request, Level level) {
  if (request.files.size() != 1) {
    session.diagnostics.error("SF-ONE-FILE", {}, "one SmartFrog file at a time: others come in with #include");
    return nullptr;
  }
  const Source* source = session.open(request.files[0]);
  if (!source) return nullptr;
  Loader loader(session, request.options.all("include"));
  const Body* body = Parser(session, level, &loader).parse(*source);
  if (!body && level == Level::kCore) tell_level(session, *source, request);
  return body;
}

production::Settings settings_of(const Options& options) {
  production::Settings settings;
  for (const std::string& given : options.all("property")) {
    std::size_t equals = given.find('=');
    settings.properties[given.substr(0, equals)] = equals == std::string::npos ? "" : given.substr(equals + 1);
  }
  std::string out = options.get("out");
  settings.keep_links = out == "cdl" || out == "sf";
  return settings;
}

std::string tell_position(const Session& session, Pos placed, const OrderRule* rule) {
  if (!placed) return {};
  return fmt::format("  its position among its neighbours was decided {}at {}\n", rule ? "by the order rule " : "",
                     session.sources->show(rule ? rule->begin : placed));
}

// What happened to an attribute, in words.
std::string tell(const Session& session, const CoreCompiler& compiler) {
  std::string out;
  auto at = [&](Pos p) { return session.sources->show(p); };
  for (const CoreEvent& e : compiler.events()) {
    std::string what;
    switch (e.what) {
      case CoreEvent::What::kWritten: what = "written"; break;
      case CoreEvent::What::kPlaced: what = "placed"; break;
      case CoreEvent::What::kLinked: what = fmt::format("taken from the link `{}`", e.from.text()); break;
      case CoreEvent::What::kInherited: what = fmt::format("inherited from the prototype `{}`", e.from.text()); break;
      case CoreEvent::What::kEmptied: what = "begun as a component"; break;
      case CoreEvent::What::kGone: what = "gone with what it was in, which is replaced"; break;
    }
    out += fmt::format("  {} at {}{}\n", what, at(e.at), e.created ? ", which made the attribute" : "");
  }
  bool gone = !compiler.events().empty() && compiler.events().back().what == CoreEvent::What::kGone;
  return gone ? out : out + tell_position(session, compiler.watched_placed(), compiler.watched_rule());
}

bool vet_file(Session& session, const Request& request, Level level) {
  std::size_t errors = session.diagnostics.errors();
  const Body* body = parse_files(session, request, level);
  if (!body) return false;
  production::Settings settings = settings_of(request.options);
  std::optional<Value> value;
  if (level == Level::kProduction) {
    production::Compiler compiler(session, settings);
    compiler.warn_about_order = true;
    value = compiler.run(*body);
  } else {
    CoreCompiler compiler(session);
    value = compiler.run(*body);
  }
  if (!value || session.diagnostics.errors() != errors) return false;
  compare_levels(session, request, level, *value, settings);
  return true;
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
      {"reference", "", "evaluate by the published rules, one by one: slow, and only what they speak of"},
  };
  return kOptions;
}

std::optional<Value> SmartFrog::evaluate(Session& session, const Request& request) const {
  auto level = level_of(session, request.options);
  if (!level) return std::nullopt;
  const Body* body = parse_files(session, request, *level);
  if (!body) return std::nullopt;
  if (*level == Level::kProduction) {
    production::Settings settings = settings_of(request.options);
    production::Compiler compiler(session, settings);
    compiler.partial = !request.concrete;
    return compiler.run(*body);
  }
  CoreCompiler compiler(session);
  compiler.partial = !request.concrete;
  return compiler.run(*body);
}

std::optional<Value> SmartFrog::by_rules(Session& session, const Request& request, Steps* steps) const {
  auto level = level_of(session, request.options);
  if (!level) return std::nullopt;
  if (*level == Level::kProduction) {
    session.diagnostics.error("USE-REFERENCE", {}, "the production language has no published definitions")
        .suggest("leave out --level production: they are of the core");
    return std::nullopt;
  }
  const Body* body = parse_files(session, request, *level);
  return body ? by_definitions(session, *body, steps) : std::nullopt;
}

std::optional<std::string> SmartFrog::format(Session& session, const Source& source) const {
  // Which level the file is written for is not asked: what the core does not take may still be production.
  Session scratch(session.budget.limits(), session.sources);
  if (auto text = format_source(scratch, source, Level::kCore)) return text;
  return format_source(session, source, Level::kProduction);
}

// Each file by itself.
bool SmartFrog::vet(Session& session, const Request& request) const {
  auto level = level_of(session, request.options);
  bool fine = level.has_value();
  for (const std::string& file : request.files) {
    if (!level) break;
    Request one = request;
    one.files = {file};
    fine &= vet_file(session, one, *level);
  }
  return fine;
}

std::string SmartFrog::explain(Session& session, const Value&, const Path& path, const Request& request) const {
  Session again(session.budget.limits(), session.sources);
  auto level = level_of(again, request.options);
  std::vector<Symbol> keys;
  for (const Path::Step& step : path.steps()) {
    if (!step.is_key()) break;
    keys.push_back(step.key);
  }
  const Body* body = level ? parse_files(again, request, *level) : nullptr;
  if (!body || keys.empty()) return {};
  if (*level == Level::kProduction) {
    production::Settings settings = settings_of(request.options);
    production::Compiler compiler(again, settings);
    if (!compiler.run(*body)) return {};
    production::Compiler::Position position = compiler.position(keys);
    return tell_position(again, position.placed, position.rule);
  }
  keys.insert(keys.begin(), Symbol("sfConfig"));
  CoreCompiler compiler(again);
  compiler.watch(keys);
  compiler.partial = true;
  if (!compiler.run(*body)) return {};
  return tell(again, compiler);
}

std::string SmartFrog::explain_missing(Session& session, const Path& path, const Request& request) const {
  auto tells = [](const Path::Step& step) { return !step.is_key(); };
  if (request.options.get("level", "core") != "core" || std::ranges::any_of(path.steps(), tells)) return {};
  return explain(session, Value{}, path, request);
}

std::span<const std::string_view> SmartFrog::outputs() const {
  static constexpr std::string_view kOutputs[] = {"sf"};
  return kOutputs;
}

bool SmartFrog::write(Session& session, const Value& value, std::string_view, const Options& options,
                      Sink& sink) const {
  std::optional<std::string> text = write_smartfrog(session, value, options.has("reveal"));
  if (text) sink.put(*text);
  return text.has_value();
}

Value SmartFrog::encode(Session& session, const Value& value, std::string_view output, const Options&) const {
  return encode_tree(session, value, output == "yaml");
}

const Language& language() {
  static const SmartFrog smartfrog;
  return smartfrog;
}

}  // namespace tutti::smartfrog
