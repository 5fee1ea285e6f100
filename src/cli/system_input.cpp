#include "cli/system_input.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>

#include "cli/system/wanted.h"
#include "format/write.h"

namespace tutti {

bool is_program_file(std::string_view file) { return file.ends_with(".concerto") || file.ends_with(".prog"); }

std::optional<SystemInput> read_system_input(Call& call, std::span<const std::string> files) {
  std::vector<std::string> configurations;
  model::ReadOptions options;
  for (const std::string& f : files) {
    if (!is_program_file(f)) {
      configurations.push_back(f);
    } else if (!(options.text = call.session.open(f))) {
      return std::nullopt;
    }
  }
  options.program = call.options.get("program");
  for (const std::string& s : call.options.all("set")) {
    auto eq = s.find('=');
    i64 n = 0;
    bool ok = eq != std::string::npos;
    if (ok) {
      auto [end, error] = std::from_chars(s.data() + eq + 1, s.data() + s.size(), n);
      ok = error == std::errc() && end == s.data() + s.size();
    }
    if (!ok) {
      call.session.diagnostics.error("CLI-SET", {}, fmt::format("--set {}: expected NAME=NUMBER", s));
      return std::nullopt;
    }
    options.parameters[s.substr(0, eq)] = n;
  }
  if (configurations.empty()) {
    call.session.diagnostics.error("CLI-NO-SYSTEM", {}, "no configuration with the component types was given");
    return std::nullopt;
  }
  auto wanted = wanted_tree(call, configurations);
  if (!wanted) return std::nullopt;
  SystemInput in;
  in.root = *wanted;
  auto system = model::read_system(call.session, in.root, options);
  if (!system) return std::nullopt;
  in.system = std::move(*system);
  in.options = std::move(options);
  return in;
}

Value TreeMaker::number(double d) const {
  if (!std::isfinite(d)) return Value::null();
  if (d == std::floor(d) && std::fabs(d) < 1e15) return Value::integer(static_cast<i64>(d));
  return builder_.number(fmt::format("{}", d));
}

Value TreeMaker::list(const std::vector<std::string>& items) const {
  std::vector<Value> values;
  for (const std::string& s : items) values.push_back(text(s));
  return builder_.list(values);
}

Value TreeMaker::map(std::initializer_list<std::pair<std::string_view, Value>> entries) const {
  MapDraft draft;
  for (const auto& [k, v] : entries) draft.set(Symbol(k), v);
  return draft.build(builder_);
}

bool write_answer(Call& call, const Value& value, std::string_view output) {
  return write_tree(call.session, value, output, {}, call.out);
}

}  // namespace tutti
