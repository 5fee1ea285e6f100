#include <arpa/inet.h>
#include <fmt/format.h>

#include "base/utf8.h"
#include "lang/puppet/eval/compiler.h"
#include "lang/puppet/functions/stdlib.h"
#include "lang/puppet/types/regex.h"
#include "lang/puppet/types/type_parse.h"

namespace tutti::puppet {
namespace {

bool matches(std::string_view pattern, std::string_view text) {
  const Regex* r = Regex::get(pattern, nullptr);
  return r != nullptr && r->search(text, 0);
}

bool ipv4(std::string_view text) {
  u8 bytes[4];
  std::string address(text.substr(0, text.find('/')));
  return inet_pton(AF_INET, address.c_str(), bytes) == 1;
}

bool ipv6(std::string_view text) {
  u8 bytes[16];
  std::string address(text.substr(0, text.find('/')));
  return inet_pton(AF_INET6, address.c_str(), bytes) == 1;
}

bool absolute(std::string_view text) {
  return text.starts_with('/') ||
         matches(
             "\\A(([A-Za-z]:[\\\\/])|([\\\\/][\\\\/][^\\\\/]+[\\\\/][^\\\\/]+)|([\\\\/][\\\\/]\\?[\\\\/][^\\\\/]+))",
             text);
}

bool domain_name(std::string_view text) {
  if (text == ".") return true;
  if (text.ends_with('.')) text.remove_suffix(1);
  if (text.empty() || text.size() > 255) return false;
  if (text.find('.') != std::string_view::npos && !matches("\\.[A-Za-z]+$", text)) return false;
  while (!text.empty()) {
    std::size_t end = std::min(text.find('.'), text.size());
    std::string_view label = text.substr(0, end);
    if (label.empty() || label.size() > 63 || label.starts_with('-') || label.ends_with('-')) return false;
    if (!matches("^[A-Za-z\\d-]+$", label)) return false;
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return true;
}

constexpr std::string_view kInteger = "^(?:-?(?:0|[1-9]\\d*)|0[0-7]+|0[xX][0-9A-Fa-f]+)$";

bool integer_like(const Val& v) {
  return v.is(VK::kInt) || (v.is(VK::kString) && matches("^-?(?:(?:[1-9]\\d*)|0)$", v.text()));
}
bool float_like(const Val& v) {
  return v.is(VK::kFloat) ||
         (v.is(VK::kString) && matches("^-?(?:(?:[1-9]\\d*)|0)(?:\\.\\d+)(?:[eE]-?\\d+)?$", v.text()));
}
bool numeric_like(const Val& v) {
  if (v.is(VK::kInt) || v.is(VK::kFloat)) return true;
  if (!v.is(VK::kString)) return false;
  return matches("^-?(?:(?:[1-9]\\d*)|0)(?:\\.\\d+)?(?:[eE]-?\\d+)?$", v.text());
}

template <bool (*test)(const Val&), std::size_t most = 1>
Val check(const FunctionCall& c) {
  expect_count(c, 1, most);
  return Val::boolean(test(c.arg(0)));
}

bool is_array(const Val& v) { return v.is(VK::kArray); }
bool is_hash(const Val& v) { return v.is(VK::kHash); }
bool is_bool(const Val& v) { return v.is(VK::kBool); }
// What looks like a number is none here; one with an exponent does not.
bool is_string(const Val& v) {
  return v.undefined() ||
         (v.is(VK::kString) && (!numeric_like(v) || v.text().find_first_of("eE") != std::string_view::npos));
}
bool is_ip(const Val& v) { return v.is(VK::kString) && (ipv4(v.text()) || ipv6(v.text())); }
bool is_ip4(const Val& v) { return v.is(VK::kString) && ipv4(v.text()); }
bool is_ip6(const Val& v) { return v.is(VK::kString) && ipv6(v.text()); }
bool is_mac(const Val& v) {
  return v.is(VK::kString) && (matches("^[a-fA-F0-9]{1,2}(?:[:-][a-fA-F0-9]{1,2}){5}$", v.text()) ||
                               matches("^[a-fA-F0-9]{1,2}(?:[:-][a-fA-F0-9]{1,2}){19}$", v.text()));
}
Val is_mac_address(const FunctionCall& c) {
  expect_count(c, 1, 1);
  if (!c.arg(0).is(VK::kString)) c.fail(fmt::format("is_mac_address(): {} is no text", ruby_inspect(c.arg(0))));
  return Val::boolean(is_mac(c.arg(0)));
}
bool is_path(const Val& v) { return v.is(VK::kString) && absolute(v.text()); }
bool is_domain(const Val& v) { return v.is(VK::kString) && domain_name(v.text()); }
bool is_email(const Val& v) {
  return v.is(VK::kString) && matches(
                                  "\\A[a-zA-Z0-9.!\\#$%&'*+/"
                                  "=?^_`{|}~-]+@[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?(?:\\.[a-zA-Z0-9](?:[a-zA-"
                                  "Z0-9-]{0,61}[a-zA-Z0-9])?)*\\z",
                                  v.text());
}
bool is_service_default(const Val& v) { return v.is(VK::kString) && v.text() == "<SERVICE DEFAULT>"; }

Val is_function_available(const FunctionCall& c) {
  expect_count(c, 1, 1);
  return Val::boolean(c.arg(0).is(VK::kString) && c.compiler.function_exists(Symbol(c.text(0))));
}

Val is_a(const FunctionCall& c) { return Val::boolean(is_instance(c.arg(1).t, c.arg(0))); }

// validate_array, validate_bool, ...: every argument must pass.
template <bool (*test)(const Val&)>
void each_must(const FunctionCall& c, std::string_view what) {
  if (c.count() < 1) c.fail(fmt::format("{}(): wrong number of arguments (0; must be > 0)", c.name));
  for (const Val& v : c.args) {
    if (!test(v)) c.fail(fmt::format("{} is not {}.  It looks to be a {}", ruby_inspect(v), what, ruby_class(v)));
  }
}
Val validate_array(const FunctionCall& c) {
  each_must<is_array>(c, "an Array");
  return {};
}
Val validate_hash(const FunctionCall& c) {
  each_must<is_hash>(c, "a Hash");
  return {};
}
Val validate_bool(const FunctionCall& c) {
  each_must<is_bool>(c, "a boolean");
  return {};
}
Val validate_string(const FunctionCall& c) {
  if (c.count() < 1) c.fail("validate_string(): wrong number of arguments (0; must be > 0)");
  for (const Val& v : c.args) {
    if (!v.is(VK::kString) && !v.undefined())
      c.fail(fmt::format("{} is not a string.  It looks to be a {}", ruby_inspect(v), ruby_class(v)));
  }
  return {};
}

template <bool (*test)(const Val&)>
void addresses_must(const FunctionCall& c, std::string_view what) {
  if (c.count() < 1) c.fail(fmt::format("{}(): wrong number of arguments (0; must be > 0)", c.name));
  for (const Val& v : c.args) {
    if (!v.is(VK::kString)) c.fail(fmt::format("{} is not a string.", ruby_inspect(v)));
    if (!test(v)) c.fail(fmt::format("{} is not a valid {}.", ruby_inspect(v), what));
  }
}
Val validate_ip_address(const FunctionCall& c) {
  addresses_must<is_ip>(c, "IP address");
  return {};
}
Val validate_ipv4_address(const FunctionCall& c) {
  addresses_must<is_ip4>(c, "IPv4 address");
  return {};
}
Val validate_ipv6_address(const FunctionCall& c) {
  addresses_must<is_ip6>(c, "IPv6 address");
  return {};
}
Val validate_domain_name(const FunctionCall& c) {
  addresses_must<is_domain>(c, "domain name");
  return {};
}
Val validate_email_address(const FunctionCall& c) {
  addresses_must<is_email>(c, "email address");
  return {};
}

Val validate_absolute_path(const FunctionCall& c) {
  if (c.count() < 1) c.fail("validate_absolute_path(): wrong number of arguments (0; must be > 0)");
  for (const Val& v : c.args) {
    bool ok = is_path(v);
    if (v.is(VK::kArray)) {
      ok = !v.items().empty();
      for (const Val& item : v.items()) ok = ok && is_path(item);
    }
    if (!ok) c.fail(fmt::format("{} is not an absolute path.", ruby_inspect(v)));
  }
  return {};
}

Val validate_re(const FunctionCall& c) {
  if (c.count() < 2 || c.count() > 3)
    c.fail(fmt::format("validate_re(): wrong number of arguments ({}; must be 2 or 3)", c.count()));
  if (!c.arg(0).is(VK::kString))
    c.fail(fmt::format("validate_re(): input needs to be a String, not a {}", ruby_class(c.arg(0))));
  std::span<const Val> patterns = c.arg(1).is(VK::kArray) ? c.arg(1).items() : c.args.subspan(1, 1);
  for (const Val& p : patterns) {
    if (!p.is(VK::kString)) c.fail(fmt::format("validate_re(): {} is no string", ruby_inspect(p)));
    if (matches(p.text(), c.text(0))) return {};
  }
  c.fail(c.count() > 2
             ? to_text(c.arg(2))
             : fmt::format("validate_re(): {} does not match {}", ruby_inspect(c.arg(0)), ruby_inspect(c.arg(1))));
}

Val validate_slength(const FunctionCall& c) {
  if (c.count() < 2 || c.count() > 3)
    c.fail(fmt::format("validate_slength(): Wrong number of arguments ({}; must be 2 or 3)", c.count()));
  i64 most = ruby_to_i(c.arg(1)), least = c.count() > 2 ? ruby_to_i(c.arg(2)) : 0;
  if (most <= 0 || !integer_like(c.arg(1))) {
    c.fail(fmt::format("validate_slength(): Expected second argument to be a positive Numeric, got {}:{}",
                       to_text(c.arg(1)), ruby_class(c.arg(1))));
  }
  if (most < least) c.fail("validate_slength(): Expected second argument to be equal to or larger than third argument");
  std::span<const Val> all = c.arg(0).is(VK::kArray) ? c.arg(0).items() : c.args.first(1);
  std::size_t position = 0;
  for (const Val& v : all) {
    if (!v.is(VK::kString)) {
      c.fail(c.arg(0).is(VK::kArray)
                 ? fmt::format("validate_slength(): Expected element at array position {} to be a String, got {}",
                               position, ruby_class(v))
                 : fmt::format("validate_slength(): Expected first argument to be a String or Array, got {}",
                               ruby_class(v)));
    }
    i64 length = static_cast<i64>(utf8::length(v.text()));
    if (length > most || length < least) {
      c.fail(fmt::format("validate_slength(): Expected length of {} to be between {} and {}, was {}",
                         ruby_inspect(c.arg(0)), least, most, length));
    }
    position++;
  }
  return {};
}

// validate_integer and validate_numeric: value or array, then the largest and the smallest that may be.
Val validate_range(const FunctionCall& c, bool whole) {
  std::string_view what = whole ? "an Integer" : "a Numeric";
  expect_count(c, 1, 3);
  double most = 0, least = 0;
  bool has_most = c.count() > 1 && !is_empty_text(c.arg(1)), has_least = c.count() > 2 && !is_empty_text(c.arg(2));
  if (has_most && !ruby_float_text(to_text(c.arg(1)), most)) {
    c.fail(fmt::format("{}(): Expected second argument to be unset or {}, got {}:{}", c.name, what, to_text(c.arg(1)),
                       ruby_class(c.arg(1))));
  }
  if (has_least && !ruby_float_text(to_text(c.arg(2)), least)) {
    c.fail(fmt::format("{}(): Expected third argument to be unset or {}, got {}:{}", c.name, what, to_text(c.arg(2)),
                       ruby_class(c.arg(2))));
  }
  if (has_most && has_least && least > most) {
    c.fail(fmt::format("{}(): Expected second argument to be larger than third argument, got {} < {}", c.name,
                       to_text(c.arg(1)), to_text(c.arg(2))));
  }
  bool array = c.arg(0).is(VK::kArray);
  std::size_t position = 0;
  for (const Val& v : array ? c.arg(0).items() : c.args.first(1)) {
    double number = 0;
    bool ok = !v.is(VK::kHash) && !v.is(VK::kArray) &&
              (whole ? v.is(VK::kInt) || (v.is(VK::kString) && matches(kInteger, v.text())) : true) &&
              ruby_float_text(to_text(v), number);
    if (!ok) {
      c.fail(array
                 ? fmt::format("{}(): Expected element at array position {} to be {}, got {}", c.name, position, what,
                               ruby_class(v))
                 : fmt::format("{}(): Expected first argument to be {} or Array, got {}", c.name, what, ruby_class(v)));
    }
    if (has_most && number > most) {
      c.fail(fmt::format("{}(): Expected {} to be smaller or equal to {}, got {}.", c.name, ruby_inspect(v),
                         to_text(c.arg(1)), ruby_inspect(v)));
    }
    if (has_least && number < least) {
      c.fail(fmt::format("{}(): Expected {} to be greater or equal to {}, got {}.", c.name, ruby_inspect(v),
                         to_text(c.arg(2)), ruby_inspect(v)));
    }
    position++;
  }
  return {};
}
Val validate_integer(const FunctionCall& c) { return validate_range(c, true); }
Val validate_numeric(const FunctionCall& c) { return validate_range(c, false); }

// A type and the name of an old validate_ function: the type decides, the function only softens.
Val validate_legacy(const FunctionCall& c) {
  const Type* type = c.arg(0).t;
  if (c.arg(0).is(VK::kString)) {
    try {
      type = type_of_text(c.arena(), c.text(0), [&](std::string_view n) { return c.compiler.find_type_name(n, c.at); });
    } catch (const TypeError& e) {
      c.fail(fmt::format("validate_legacy(): {}", e.what()));
    }
  }
  bool before = true;
  try {
    c.compiler.call_function(Symbol(c.text(1)), c.args.subspan(2), nullptr, c.scope, c.at);
  } catch (const EvalError&) {
    before = false;
  }
  if (is_instance(type, c.arg(2))) return {};
  std::vector<std::string> why = describe_mismatch(fmt::format("validate_legacy({})", c.text(1)), type, c.arg(2));
  std::string text;
  for (const std::string& w : why) text += (text.empty() ? "" : "\n") + w;
  if (!before) c.fail(text);
  c.warn(text);
  return {};
}

Val assert_private(const FunctionCall& c) {
  expect_count(c, 0, 1);
  const Val* caller = c.compiler.find_variable(c.scope, "caller_module_name");
  std::string_view own =
      c.scope.real != nullptr && !c.scope.real->module.empty() ? c.scope.real->module.text() : c.scope.module.text();
  std::string_view other = caller != nullptr && caller->is(VK::kString) ? caller->text() : std::string_view{};
  if (other == own) return {};
  if (c.count() > 0) c.fail(to_text(c.arg(0)));
  const Scope* real = c.scope.real != nullptr ? c.scope.real : &c.scope;
  bool is_class = real->kind == Scope::Kind::kClass;
  c.fail(fmt::format("{} {} is private", is_class ? "Class" : "Definition",
                     real->source != nullptr ? real->source->name.text() : ""));
}

Val os_version_gte(const FunctionCall& c) {
  const Val* facts = c.compiler.find_variable(c.scope, "facts");
  if (facts == nullptr || !facts->is(VK::kHash)) return Val::boolean(false);
  const Val* os = facts->get("operatingsystem");
  const Val* release = facts->get("operatingsystemmajrelease");
  if (os == nullptr || release == nullptr || to_text(*os) != c.text(0)) return Val::boolean(false);
  Val both[2] = {*release, c.arg(1)};
  return Val::boolean(c.compiler.call_function(Symbol("versioncmp"), both, nullptr, c.scope, c.at).i >= 0);
}

Val fact(const FunctionCall& c) {
  const Val* facts = c.compiler.facts_with(c.scope, c.text(0).substr(0, c.text(0).find('.')));
  Val at = facts != nullptr ? *facts : Val::undef();
  std::string_view rest = c.text(0);
  while (!rest.empty()) {
    std::string key;
    if (rest[0] == '"') {
      std::size_t end = std::min(rest.find('"', 1), rest.size());
      key = rest.substr(1, end - 1);
      rest.remove_prefix(std::min(end + 1, rest.size()));
    } else {
      std::size_t end = std::min(rest.find_first_of(".\""), rest.size());
      key = rest.substr(0, end);
      rest.remove_prefix(end);
    }
    if (rest.starts_with('.')) rest.remove_prefix(1);
    if (key.empty()) continue;
    const Val* next = nullptr;
    if (at.is(VK::kHash)) {
      next = at.get(key);
    } else if (at.is(VK::kArray) && matches("^\\d+$", key) && std::stoul(key) < at.items().size()) {
      next = &at.items()[std::stoul(key)];
    }
    if (next == nullptr) return {};
    at = *next;
  }
  return at;
}

bool interface_with(const FunctionCall& c, std::string_view kind, const Val& value) {
  const Val* list = c.compiler.find_variable(c.scope, "interfaces");
  if (list == nullptr || !list->is(VK::kString)) return false;
  if (!kind.empty()) {
    const Val* own = c.compiler.find_variable(c.scope, kind);
    if (own != nullptr && same(*own, value)) return true;
  }
  for (std::string_view rest = list->text(); !rest.empty();) {
    std::size_t end = std::min(rest.find(','), rest.size());
    std::string name(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (kind.empty()) {
      if (value.is(VK::kString) && value.text() == name) return true;
      continue;
    }
    const Val* of = c.compiler.find_variable(c.scope, fmt::format("{}_{}", kind, downcase(name)));
    if (of != nullptr && same(*of, value)) return true;
  }
  return false;
}
Val has_interface_with(const FunctionCall& c) {
  expect_count(c, 1, 2);
  return Val::boolean(c.count() == 1 ? interface_with(c, "", c.arg(0)) : interface_with(c, c.text(0), c.arg(1)));
}
Val has_ip_address(const FunctionCall& c) {
  expect_count(c, 1, 1);
  return Val::boolean(interface_with(c, "ipaddress", c.arg(0)));
}
Val has_ip_network(const FunctionCall& c) {
  expect_count(c, 1, 1);
  return Val::boolean(interface_with(c, "network", c.arg(0)));
}

Val deprecation(const FunctionCall& c) {
  std::string message = fmt::format("{} ({})", to_text(c.arg(1)), to_text(c.arg(0)));
  if (c.has(2) && !c.arg(2).truthy())  // stdlib 9: whatever `strict` says
    c.compiler.warn(c.at, message, "PP-DEPRECATED");
  else
    c.compiler.strict(c.at, message, "PP-DEPRECATED");
  return {};
}

}  // namespace

void add_stdlib_check_functions(Functions& f) {
  f.add3x("is_array", check<is_array, SIZE_MAX>);
  f.add3x("is_hash", check<is_hash>);
  f.add3x("is_bool", check<is_bool>);
  f.add("is_string", {{"Any+", check<is_string, SIZE_MAX>}});
  f.add3x("is_integer", check<integer_like>);
  f.add3x("is_float", check<float_like>);
  f.add3x("is_numeric", check<numeric_like>);
  f.add3x("is_ip_address", check<is_ip>);
  f.add3x("is_ipv4_address", check<is_ip4>);
  f.add3x("is_ipv6_address", check<is_ip6>);
  f.add3x("is_mac_address", is_mac_address);
  f.add3x("is_absolute_path", check<is_path>);
  f.add3x("is_domain_name", check<is_domain>);
  f.add3x("is_email_address", check<is_email>);
  f.of_module("openstacklib");
  f.add3x("is_service_default", check<is_service_default>);
  f.of_module("stdlib");
  f.add3x("is_function_available", is_function_available);
  f.add("is_a", {{"Any, Type", is_a}});
  f.add3x("validate_array", validate_array);
  f.add3x("validate_hash", validate_hash);
  f.add3x("validate_bool", validate_bool);
  f.add("validate_string", {{"Any*", validate_string}});
  f.add3x("validate_ip_address", validate_ip_address);
  f.add3x("validate_ipv4_address", validate_ipv4_address);
  f.add3x("validate_ipv6_address", validate_ipv6_address);
  f.add3x("validate_domain_name", validate_domain_name);
  f.add3x("validate_email_address", validate_email_address);
  f.add3x("validate_absolute_path", validate_absolute_path);
  f.add3x("validate_re", validate_re);
  f.add3x("validate_slength", validate_slength);
  f.add3x("validate_integer", validate_integer);
  f.add3x("validate_numeric", validate_numeric);
  f.add("validate_legacy", {{"Variant[Type, String], String, Any, Any*", validate_legacy}});
  f.add3x("assert_private", assert_private);
  f.add3x("private", assert_private);
  f.add("os_version_gte", {{"String[1], String[1]", os_version_gte}});
  f.add("fact", {{"String", fact}});
  f.add3x("has_interface_with", has_interface_with);
  f.add3x("has_ip_address", has_ip_address);
  f.add3x("has_ip_network", has_ip_network);
  f.add("deprecation", {{"String, String, Boolean?", deprecation}});
}

}  // namespace tutti::puppet
