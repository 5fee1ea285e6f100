#include <crypt.h>
#include <fmt/format.h>

#include <ctime>
#include <random>

#include "base/utf8.h"
#include "lang/puppet/eval/compiler.h"
#include "lang/puppet/functions/stdlib.h"
#include "lang/puppet/text/digest.h"
#include "lang/puppet/text/ruby_random.h"

namespace tutti::puppet {
namespace {

std::string fqdn_of(const FunctionCall& c) {
  const Val* facts = c.compiler.find_variable(c.compiler.top(), "facts");
  const Val* networking = facts != nullptr && facts->is(VK::kHash) ? facts->get("networking") : nullptr;
  const Val* name = networking != nullptr && networking->is(VK::kHash) ? networking->get("fqdn") : nullptr;
  return name != nullptr ? to_text(*name) : "";
}

std::string joined_seed(const Val& v) {
  if (!v.is(VK::kArray)) return to_text(v);
  std::string out;
  for (std::size_t i = 0; i < v.items().size(); i++) out += (i > 0 ? ":" : "") + joined_seed(v.items()[i]);
  return out;
}

// The host's name, the limit and what the caller adds, hashed, are the seed: the same host always gets the same number.
i64 host_number(const FunctionCall& c, i64 limit, const std::string& seed, bool downcase_name) {
  std::string name = downcase_name ? downcase(fqdn_of(c)) : fqdn_of(c);
  return static_cast<i64>(RubyRandom::from_hex(digest_hex("md5", fmt::format("{}:{}:{}", name, limit, seed)))
                              .below(static_cast<u64>(limit)));
}

Val fqdn_rand(const FunctionCall& c) {
  expect_count(c, 1, 3);
  i64 limit = ruby_to_i(c.arg(0));
  if (limit <= 0)
    c.fail(fmt::format("fqdn_rand(): the limit must be a positive number, not {}", ruby_inspect(c.arg(0))));
  return Val::integer(
      host_number(c, limit, c.count() > 1 ? joined_seed(c.arg(1)) : "", c.count() > 2 && c.arg(2).truthy()));
}

Val fqdn_rand_string(const FunctionCall& c) {
  expect_count(c, 1, SIZE_MAX);
  i64 length = ruby_to_i(c.arg(0));
  if (length <= 0 || length > 100'000) c.fail("fqdn_rand_string(): first argument must be a positive integer");
  bool whole = c.arg(0).is(VK::kInt) || (c.arg(0).is(VK::kString) && c.text(0) == std::to_string(length));
  if (!whole) c.fail("fqdn_rand_string(): first argument must be a positive integer");
  if (c.count() > 1 && !c.arg(1).is(VK::kString))
    c.fail("fqdn_rand_string(): second argument must be undef or a string");
  std::string set = c.count() > 1 ? to_text(c.arg(1)) : "";
  std::vector<std::string> letters;
  for (std::size_t at = 0; at < set.size();) {
    std::size_t start = at;
    utf8::decode(set, at);
    letters.push_back(set.substr(start, at - start));
  }
  if (letters.empty()) {
    for (char ch : std::string_view("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"))
      letters.emplace_back(1, ch);
  }
  std::string seed, out;
  for (const Val& v : c.args.subspan(std::min<std::size_t>(2, c.count()))) seed += ruby_to_s(v) + ":";
  for (i64 i = 1; i <= length; i++) {
    out += letters[static_cast<std::size_t>(
        host_number(c, static_cast<i64>(letters.size()), seed + fmt::format("{}", i), false))];
  }
  return c.string(out);
}

std::vector<Val> pieces(const FunctionCall& c) {
  const Val& v = c.arg(0);
  if (v.is(VK::kArray)) return {v.items().begin(), v.items().end()};
  if (!v.is(VK::kString)) c.fail(fmt::format("{}(): Requires either array or string to work with", c.name));
  std::vector<Val> out;
  std::string_view s = v.text();
  for (std::size_t at = 0; at < s.size();) {
    std::size_t start = at;
    utf8::decode(s, at);
    out.push_back(Val::string(s.substr(start, at - start)));
  }
  return out;
}

Val joined(const FunctionCall& c, const std::vector<Val>& all) {
  if (c.arg(0).is(VK::kArray)) return c.array(all);
  std::string out;
  for (const Val& v : all) out += v.text();
  return c.string(out);
}

Val fqdn_rotate(const FunctionCall& c) {
  expect_count(c, 1, SIZE_MAX);
  std::vector<Val> all = pieces(c);
  if (all.size() <= 1) return c.arg(0);
  const Val* fqdn = c.compiler.find_variable(c.compiler.top(), "fqdn");
  std::string text = fqdn ? to_text(*fqdn) : "";
  auto add = [&](auto&& self, const Val& v) -> void {
    if (v.is(VK::kArray)) {
      for (const Val& item : v.items()) self(self, item);
      return;
    }
    text += ":" + ruby_to_s(v);
  };
  if (c.count() == 1) text += ":";
  for (const Val& v : c.args.subspan(1)) add(add, v);
  u64 offset = RubyRandom::from_hex(digest_hex("md5", text)).below(all.size());
  std::rotate(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(offset), all.end());
  return joined(c, all);
}

Val shuffle(const FunctionCall& c) {
  expect_count(c, 1, SIZE_MAX);
  std::vector<Val> all = pieces(c);
  std::random_device device;
  std::shuffle(all.begin(), all.end(), std::mt19937(device()));
  return joined(c, all);
}

Val seeded_rand(const FunctionCall& c) {
  expect_count(c, 2, 2);
  bool octal = c.arg(0).is(VK::kString) && c.text(0).starts_with('0');
  if (c.arg(0).is(VK::kFloat) || octal || ruby_to_i(c.arg(0)) <= 0)
    c.fail("seeded_rand(): first argument must be a positive integer");
  if (!c.arg(1).is(VK::kString)) c.fail("seeded_rand(): second argument must be a string");
  return Val::integer(static_cast<i64>(
      RubyRandom::from_hex(digest_hex("md5", c.text(1))).below(static_cast<u64>(ruby_to_i(c.arg(0))))));
}

Val seeded_rand_string(const FunctionCall& c) {
  std::string set =
      c.count() > 2 ? to_text(c.arg(2)) : "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
  RubyRandom random = RubyRandom::from_hex(digest_hex("sha256", c.text(1)));
  std::string out;
  for (i64 i = 0; i < std::min<i64>(c.arg(0).i, 1'000'000); i++) out += set[random.below(set.size())];
  return c.string(out);
}

Val fqdn_uuid(const FunctionCall& c) {
  expect_count(c, 1, 1);
  if (!c.arg(0).is(VK::kString)) c.fail(fmt::format("fqdn_uuid(): {} is no string", ruby_inspect(c.arg(0))));
  std::string bytes = digest_bytes(
      "sha1", std::string("\x6b\xa7\xb8\x10\x9d\xad\x11\xd1\x80\xb4\x00\xc0\x4f\xd4\x30\xc8", 16) + to_text(c.arg(0)));
  bytes[6] = static_cast<char>((bytes[6] & 0x0f) | 0x50);
  bytes[8] = static_cast<char>((bytes[8] & 0x3f) | 0x80);
  std::string out;
  for (std::size_t i = 0; i < 16; i++) {
    if (i == 4 || i == 6 || i == 8 || i == 10) out += '-';
    out += fmt::format("{:02x}", static_cast<u8>(bytes[i]));
  }
  return c.string(out);
}

Val pw_hash(const FunctionCall& c) {
  if (c.count() != 3) c.fail(fmt::format("pw_hash(): wrong number of arguments ({} for 3)", c.count()));
  Val password = c.arg(0).is(VK::kSensitive) ? *c.arg(0).box : c.arg(0);
  if (!is_empty_text(password) && !password.is(VK::kString)) c.fail("pw_hash(): first argument must be a string");
  constexpr std::pair<std::string_view, std::string_view> kKinds[] = {
      {"md5", "1"},       {"sha-256", "5"},   {"sha-512", "6"},  {"bcrypt", "2b"},
      {"bcrypt-a", "2a"}, {"bcrypt-x", "2x"}, {"bcrypt-y", "2y"}};
  std::string_view prefix;
  for (auto [name, code] : kKinds) {
    if (downcase(to_text(c.arg(1))) == name) prefix = code;
  }
  if (prefix.empty()) c.fail(fmt::format("pw_hash(): {} is not a valid hash type", to_text(c.arg(1))));
  if (!c.arg(2).is(VK::kString)) c.fail("pw_hash(): third argument must be a string");
  if (c.arg(2).size == 0) c.fail("pw_hash(): third argument must not be empty");
  if (!prefix.starts_with('2') &&
      c.text(2).find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789./") !=
          std::string_view::npos) {
    c.fail("pw_hash(): characters in salt must be in the set [a-zA-Z0-9./]");
  }
  if (is_empty_text(password)) return {};
  crypt_data data{};
  const char* made =
      crypt_r(std::string(password.text()).c_str(), fmt::format("${}${}", prefix, c.text(2)).c_str(), &data);
  if (made == nullptr || made[0] == '*') c.fail("pw_hash(): system does not support enhanced salts");
  return Val::with_text(VK::kBinary, c.arena().copy(std::string_view(made)));  // bytes to Puppet, as crypt gives them
}

Val time_(const FunctionCall& c) {
  expect_count(c, 0, 1);
  return Val::integer(std::time(nullptr));
}

}  // namespace

void add_stdlib_random_functions(Functions& f) {
  f.of_module("");  // Puppet has this one itself
  f.add3x("fqdn_rand", fqdn_rand);
  f.of_module("stdlib");
  f.add3x("fqdn_rand_string", fqdn_rand_string);
  f.add3x("fqdn_rotate", fqdn_rotate);
  f.add3x("shuffle", shuffle);
  f.add3x("seeded_rand", seeded_rand);
  f.add("seeded_rand_string", {{"Integer[1], String, String[2]?", seeded_rand_string}});
  f.add3x("fqdn_uuid", fqdn_uuid);
  f.add3x("pw_hash", pw_hash);
  f.add3x("time", time_);
}

}  // namespace tutti::puppet
