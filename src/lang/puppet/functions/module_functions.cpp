#include "lang/puppet/functions/stdlib.h"
#include "lang/puppet/types/regex.h"

namespace tutti::puppet {
namespace {

// apache::bool2httpd: what is true or false, or text that has such a word in it, is On or Off; the rest is text.
Val bool2httpd(const FunctionCall& c) {
  const Val& v = c.arg(0);
  auto says = [&](std::string_view word) {
    return v.is(VK::kString) && Regex::get(word, nullptr)->search(v.text(), 0);
  };
  if (!v.truthy() || says("(?i:false)")) return Val::string("Off");
  if (v.is(VK::kBool) || says("(?i:true)")) return Val::string("On");
  return c.string(ruby_to_s(v));
}

}  // namespace

void add_module_functions(Functions& f) { f.add("apache::bool2httpd", {{"Any", bool2httpd}}); }

}  // namespace tutti::puppet
