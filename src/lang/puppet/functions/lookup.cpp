#include <fmt/format.h>

#include "lang/puppet/eval/compiler.h"
#include "lang/puppet/functions/stdlib.h"
#include "lang/puppet/hiera/hiera.h"
#include "lang/puppet/ruby/bridge.h"

namespace tutti::puppet {
namespace {

struct Wanted {
  std::vector<Val> names;
  const Type* type = nullptr;
  std::optional<MergeSpec> merge;
  bool has_default = false;
  Val otherwise, overrides, defaults;
};

void set_merge(const FunctionCall& c, const Val& v, Wanted& w) {
  if (v.undefined()) return;
  MergeSpec spec;
  std::string error;
  if (!parse_merge(v, c.arena(), spec, error)) c.fail(fmt::format("{}(): {}", c.name, error));
  w.merge = spec;
}

void set_names(const Val& v, Wanted& w) {
  if (v.is(VK::kArray)) {
    w.names.assign(v.items().begin(), v.items().end());
  } else {
    w.names = {v};
  }
}

void set_options(const FunctionCall& c, const Val& options, Wanted& w) {
  for (const Pair& p : options.entries()) {
    std::string_view key = p.key.text();
    if (key == "name") {
      set_names(p.value, w);
    } else if (key == "value_type") {
      w.type = p.value.is(VK::kType) ? p.value.t : nullptr;
    } else if (key == "merge") {
      set_merge(c, p.value, w);
    } else if (key == "default_value") {
      w.has_default = true;
      w.otherwise = p.value;
    } else if (key == "override") {
      w.overrides = p.value;
    } else if (key == "default_values_hash") {
      w.defaults = p.value;
    } else {
      c.fail(fmt::format("lookup(): there is no option '{}'", key));
    }
  }
}

Val checked(const FunctionCall& c, const Wanted& w, const Val& v, std::string_view what) {
  if (w.type == nullptr || is_instance(w.type, v)) return v;
  c.fail(fmt::format("{} has wrong type, {}", what, describe_mismatch("", w.type, v)[0]));
}

Val find(const FunctionCall& c, const Wanted& w) {
  std::string names;
  for (const Val& name : w.names) {
    if (!w.overrides.is(VK::kHash)) break;
    if (const Val* v = w.overrides.get(name)) return checked(c, w, *v, "Value found in override hash");
  }
  for (const Val& name : w.names) {
    std::optional<Val> v = c.compiler.hiera().lookup(name.text(), w.merge ? &*w.merge : nullptr, c.scope, c.at);
    if (v) return checked(c, w, *v, "Found value");
    names += fmt::format("{}'{}'", names.empty() ? "" : ", ", name.text());
  }
  for (const Val& name : w.names) {
    if (!w.defaults.is(VK::kHash)) break;
    if (const Val* v = w.defaults.get(name)) return checked(c, w, *v, "Default value found in default hash");
  }
  if (c.block != nullptr)
    return checked(c, w, c.yield(w.names.size() == 1 ? w.names[0] : c.array(w.names)),
                   "Value returned from default block");
  if (w.has_default) return checked(c, w, w.otherwise, "Default value");
  c.fail(w.names.size() == 1 ? fmt::format("Function lookup() did not find a value for the name {}", names)
                             : fmt::format("Function lookup() did not find a value for any of the names [{}]", names));
}

Val lookup_plain(const FunctionCall& c) {
  Wanted w;
  set_names(c.arg(0), w);
  if (c.has(1)) w.type = c.arg(1).t;
  if (c.has(2)) set_merge(c, c.arg(2), w);
  if (c.count() > 3) {
    w.has_default = true;
    w.otherwise = c.arg(3);
  }
  return find(c, w);
}

Val lookup_options(const FunctionCall& c) {
  Wanted w;
  set_names(c.arg(0), w);
  set_options(c, c.arg(1), w);
  return find(c, w);
}

Val lookup_hash(const FunctionCall& c) {
  Wanted w;
  set_options(c, c.arg(0), w);
  if (w.names.empty()) c.fail("lookup(): the options need a 'name'");
  return find(c, w);
}

// hiera(), hiera_array(), hiera_hash(): key, default, and an override that we have no use for.
Val old_lookup(const FunctionCall& c, std::optional<MergeSpec::Strategy> strategy) {
  expect_count(c, 1, 3);
  Wanted w;
  w.names = {c.arg(0)};
  if (strategy) {
    w.merge.emplace();
    w.merge->strategy = *strategy;
  }
  if (c.count() > 1) {
    w.has_default = true;
    w.otherwise = c.arg(1);
  }
  return find(c, w);
}
Val hiera(const FunctionCall& c) { return old_lookup(c, std::nullopt); }
Val hiera_array(const FunctionCall& c) { return old_lookup(c, MergeSpec::kUnique); }
Val hiera_hash(const FunctionCall& c) { return old_lookup(c, MergeSpec::kHash); }
Val hiera_include(const FunctionCall& c) {
  Val classes = old_lookup(c, MergeSpec::kUnique);
  c.compiler.include_classes(classes.is(VK::kArray) ? classes.items() : std::span<const Val>(&classes, 1), c.scope,
                             c.at);
  return {};
}

Val template_(const FunctionCall& c) {
  expect_count(c, 1, SIZE_MAX);
  std::string out;
  for (const Val& name : c.args) {
    std::string path = c.compiler.environment().module_file("templates", to_text(name));
    if (path.empty()) c.fail(fmt::format("Could not find template '{}'", to_text(name)));
    out += render_erb_file(c.compiler, c.scope, path, c.at);
  }
  return c.string(out);
}

Val inline_template(const FunctionCall& c) {
  expect_count(c, 1, SIZE_MAX);
  std::string out;
  for (const Val& text : c.args) out += render_erb_text(c.compiler, c.scope, to_text(text), c.at);
  return c.string(out);
}

}  // namespace

void add_lookup_functions(Functions& f) {
  constexpr const char* kNames = "Variant[String[1], Array[String[1]]]";
  static const std::string plain =
      fmt::format("{}, Type?, Variant[String[1], Hash[String[1], Any]]?, &?Callable[1, 1]", kNames);
  static const std::string with_default =
      fmt::format("{}, Optional[Type], Optional[Variant[String[1], Hash[String[1], Any]]], Any", kNames);
  static const std::string options = fmt::format("{}, Hash[String[1], Any], &?Callable[1, 1]", kNames);
  f.add("lookup", {{plain.c_str(), lookup_plain},
                   {with_default.c_str(), lookup_plain},
                   {options.c_str(), lookup_options},
                   {"Hash[String[1], Any], &?Callable[1, 1]", lookup_hash}});
  f.add("hiera", {{"String, Any?, Any?", hiera}});
  f.add("hiera_array", {{"String, Any?, Any?", hiera_array}});
  f.add("hiera_hash", {{"String, Any?, Any?", hiera_hash}});
  f.add("hiera_include", {{"String, Any?, Any?", hiera_include}});
  f.add3x("template", template_);
  f.add3x("inline_template", inline_template);
}

}  // namespace tutti::puppet
