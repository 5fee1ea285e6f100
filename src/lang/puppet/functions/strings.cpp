// Functions on strings. Also the example of how functions are written: see functions/function.h.
#include <fmt/format.h>

#include "base/utf8.h"
#include "lang/puppet/functions/function.h"

namespace tutti::puppet {
namespace {

// Most string functions take a string, or an array whose strings are each done; numbers pass through.
template <class F>
Val each_string(const FunctionCall& c, F one) {
  const Val& v = c.arg(0);
  if (v.is(VK::kString)) return c.string(one(v.text()));
  if (v.is(VK::kArray)) {
    std::vector<Val> out;
    for (const Val& i : v.items()) out.push_back(i.is(VK::kString) ? c.string(one(i.text())) : i);
    return c.array(out);
  }
  return v;
}

bool is_space(char x) { return x == ' ' || (x >= '\t' && x <= '\r') || x == '\0'; }

std::string lstrip_text(std::string_view s) {
  while (!s.empty() && is_space(s.front())) s.remove_prefix(1);
  return std::string(s);
}
std::string rstrip_text(std::string_view s) {
  while (!s.empty() && is_space(s.back())) s.remove_suffix(1);
  return std::string(s);
}
std::string capitalize_text(std::string_view s) {
  std::size_t at = 0;
  if (s.empty()) return {};
  utf8::decode(s, at);
  std::string_view first = s.substr(0, at);
  return (first == "\u00DF" ? "Ss" : upcase(first)) + downcase(s.substr(at));
}
std::string camelcase_text(std::string_view s) {
  std::string out;
  while (!s.empty()) {
    std::string_view part = s.substr(0, s.find('_'));
    s.remove_prefix(std::min(s.size(), part.size() + 1));
    out += capitalize_text(part);
  }
  return out;
}
std::string chomp_text(std::string_view s) {
  if (s.size() >= 2 && s.substr(s.size() - 2) == "\r\n")
    s.remove_suffix(2);
  else if (!s.empty() && (s.back() == '\n' || s.back() == '\r'))
    s.remove_suffix(1);
  return std::string(s);
}
std::string chop_text(std::string_view s) {
  if (s.size() >= 2 && s.substr(s.size() - 2) == "\r\n") return std::string(s.substr(0, s.size() - 2));
  if (s.empty()) return {};
  std::size_t at = s.size() - 1;
  while (at > 0 && (static_cast<unsigned char>(s[at]) & 0xC0) == 0x80) --at;
  return std::string(s.substr(0, at));
}

// Of a hash, keys and values alike, all the way down.
template <class F>
Val each_deep(const FunctionCall& c, const Val& v, F one) {
  if (v.is(VK::kString)) return c.string(one(v.text()));
  if (v.is(VK::kArray)) {
    std::vector<Val> out;
    for (const Val& i : v.items()) out.push_back(each_deep(c, i, one));
    return c.array(out);
  }
  if (v.is(VK::kInt) || v.is(VK::kFloat)) return v;
  if (!v.is(VK::kHash)) c.fail(fmt::format("'{}' expects texts and numbers, got {}", c.name, to_literal(v)));
  HashDraft out;
  for (const Pair& p : v.entries()) out.set(each_deep(c, p.key, one), each_deep(c, p.value, one));
  return c.hash(out);
}
Val f_downcase(const FunctionCall& c) {
  return each_deep(c, c.arg(0), [](std::string_view s) { return downcase(s); });
}
Val f_upcase(const FunctionCall& c) {
  return each_deep(c, c.arg(0), [](std::string_view s) { return upcase(s); });
}
Val f_capitalize(const FunctionCall& c) { return each_string(c, capitalize_text); }
Val f_camelcase(const FunctionCall& c) { return each_string(c, camelcase_text); }
Val f_strip(const FunctionCall& c) {
  return each_string(c, [](std::string_view s) { return lstrip_text(rstrip_text(s)); });
}
Val f_lstrip(const FunctionCall& c) { return each_string(c, lstrip_text); }
Val f_rstrip(const FunctionCall& c) { return each_string(c, rstrip_text); }
Val f_chomp(const FunctionCall& c) { return each_string(c, chomp_text); }
Val f_chop(const FunctionCall& c) { return each_string(c, chop_text); }

}  // namespace

void add_string_functions(Functions& f) {
  const char* one = "Variant[String, Numeric]";
  const char* many = "Iterable[Variant[String, Numeric]]";
  // Texts and numbers at any depth.
  f.add("downcase", {{"Any", f_downcase}});
  f.add("upcase", {{"Any", f_upcase}});
  f.add("capitalize", {{one, f_capitalize}, {many, f_capitalize}});
  f.add("camelcase", {{one, f_camelcase}, {many, f_camelcase}});
  f.add("strip", {{one, f_strip}, {many, f_strip}});
  f.add("lstrip", {{one, f_lstrip}, {many, f_lstrip}});
  f.add("rstrip", {{one, f_rstrip}, {many, f_rstrip}});
  f.add("chomp", {{one, f_chomp}, {many, f_chomp}});
  f.add("chop", {{one, f_chop}, {many, f_chop}});
}

}  // namespace tutti::puppet
