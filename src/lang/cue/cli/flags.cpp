#include "lang/cue/cli/flags.h"

#include <fmt/format.h>

namespace tutti::cue {

namespace {

const FlagSpec* by_name(std::span<const FlagSpec> specs, std::string_view name) {
  for (const FlagSpec& f : specs)
    if (f.name == name) return &f;
  for (const FlagSpec& f : global_flags())
    if (f.name == name) return &f;
  return nullptr;
}

const FlagSpec* by_letter(std::span<const FlagSpec> specs, char letter) {
  for (const FlagSpec& f : specs)
    if (f.letter == letter) return &f;
  for (const FlagSpec& f : global_flags())
    if (f.letter == letter) return &f;
  return nullptr;
}

bool is_bool(std::string_view s) {
  for (std::string_view t : {"1", "t", "T", "TRUE", "true", "True", "0", "f", "F", "FALSE", "false", "False"})
    if (s == t) return true;
  return false;
}

}  // namespace

bool CommandFlags::parse(std::span<const std::string> args, std::span<const FlagSpec> specs, std::string& error) {
  for (const FlagSpec& f : specs)
    if (!f.initial.empty()) initial_[std::string(f.name)] = f.initial;
  auto set = [&](const FlagSpec& f, std::string value, std::string_view shown) {
    if (f.kind == FlagSpec::kBool && !is_bool(value)) {
      error = fmt::format("invalid argument \"{}\" for \"{}\" flag: strconv.ParseBool: parsing \"{}\": invalid syntax",
                          value, shown, value);
      return false;
    }
    auto& list = values_[std::string(f.name)];
    if (f.kind != FlagSpec::kStrings) list.clear();
    list.push_back(std::move(value));
    return true;
  };
  for (std::size_t i = 0; i < args.size(); ++i) {
    const std::string& a = args[i];
    if (a == "--") {
      arguments_.insert(arguments_.end(), args.begin() + static_cast<long>(i) + 1, args.end());
      break;
    }
    if (a.size() < 2 || a[0] != '-') {
      arguments_.push_back(a);
      continue;
    }
    if (a.starts_with("--")) {
      std::size_t eq = a.find('=');
      std::string name = a.substr(2, eq == std::string::npos ? eq : eq - 2);
      const FlagSpec* f = by_name(specs, name);
      if (!f) {
        error = "unknown flag: --" + name;
        return false;
      }
      std::string value;
      if (eq != std::string::npos)
        value = a.substr(eq + 1);
      else if (f->kind == FlagSpec::kBool)
        value = "true";
      else if (i + 1 < args.size())
        value = args[++i];
      else {
        error = "flag needs an argument: --" + name;
        return false;
      }
      std::string shown = f->letter ? fmt::format("-{}, --{}", f->letter, f->name) : fmt::format("--{}", f->name);
      if (!set(*f, value, shown)) return false;
      continue;
    }
    for (std::size_t k = 1; k < a.size(); ++k) {
      const FlagSpec* f = by_letter(specs, a[k]);
      if (!f) {
        error = fmt::format("unknown shorthand flag: '{}' in {}", a[k], a);
        return false;
      }
      std::string shown = fmt::format("-{}, --{}", f->letter, f->name);
      if (k + 1 < a.size() && a[k + 1] == '=') {
        if (!set(*f, a.substr(k + 2), shown)) return false;
        break;
      }
      if (f->kind == FlagSpec::kBool) {
        set(*f, "true", shown);
        continue;
      }
      std::string value;
      if (k + 1 < a.size())
        value = a.substr(k + 1);
      else if (i + 1 < args.size())
        value = args[++i];
      else {
        error = fmt::format("flag needs an argument: '{}' in {}", a[k], a);
        return false;
      }
      if (!set(*f, value, shown)) return false;
      break;
    }
  }
  return true;
}

bool CommandFlags::on(std::string_view name) const {
  std::string v = text(name);
  return v == "true" || v == "1" || v == "t" || v == "T" || v == "TRUE" || v == "True";
}

std::string CommandFlags::text(std::string_view name) const {
  if (auto it = values_.find(name); it != values_.end()) return it->second.back();
  auto it = initial_.find(name);
  return it == initial_.end() ? "" : it->second;
}

std::vector<std::string> CommandFlags::all(std::string_view name) const {
  auto it = values_.find(name);
  return it == values_.end() ? std::vector<std::string>{} : it->second;
}

}  // namespace tutti::cue
