// Digests, signatures and the UUIDs made of digests.
#include <fmt/format.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/provider.h>

#include <memory>
#include <optional>

#include "lang/cue/builtin/support.h"

namespace tutti::cue {

namespace {

std::string digest(const EVP_MD* md, std::string_view data) {
  unsigned char out[EVP_MAX_MD_SIZE];
  unsigned n = 0;
  EVP_Digest(data.data(), data.size(), out, &n, md, nullptr);
  return {reinterpret_cast<char*>(out), n};
}

template <const EVP_MD* (*F)()>
Node* sum(CallContext& c) {
  std::string_view data = c.bytes(0);
  return c.failed() ? nullptr : c.make_bytes(digest(F(), data));
}

constexpr Kinds kData = kBytesKind | kStringKind;

const BuiltinSpec kMd5[] = {{"Sum", {kData}, kData, sum<EVP_md5>}};
const BuiltinSpec kSha1[] = {{"Sum", {kData}, kData, sum<EVP_sha1>}};
const BuiltinSpec kSha256[] = {{"Sum256", {kData}, kData, sum<EVP_sha256>},
                               {"Sum224", {kData}, kData, sum<EVP_sha224>}};
const BuiltinSpec kSha512[] = {{"Sum512", {kData}, kData, sum<EVP_sha512>},
                               {"Sum384", {kData}, kData, sum<EVP_sha384>},
                               {"Sum512_224", {kData}, kData, sum<EVP_sha512_224>},
                               {"Sum512_256", {kData}, kData, sum<EVP_sha512_256>}};
const ConstantSpec kMd5Constants[] = {{"Size", "16"}, {"BlockSize", "64"}};
const ConstantSpec kSha1Constants[] = {{"Size", "20"}, {"BlockSize", "64"}};
const ConstantSpec kSha256Constants[] = {{"Size", "32"}, {"Size224", "28"}, {"BlockSize", "64"}};
const ConstantSpec kSha512Constants[] = {
    {"Size", "64"}, {"Size224", "28"}, {"Size256", "32"}, {"Size384", "48"}, {"BlockSize", "128"}};

const BuiltinSpec kHmac[] = {
    {"Sign",
     {kStringKind, kData, kData},
     kData,
     [](CallContext& c) -> Node* {
       std::string_view name = c.string(0), key = c.bytes(1), data = c.bytes(2);
       if (c.failed()) return nullptr;
       const EVP_MD* md = name == "MD5"          ? EVP_md5()
                          : name == "SHA1"       ? EVP_sha1()
                          : name == "SHA224"     ? EVP_sha224()
                          : name == "SHA256"     ? EVP_sha256()
                          : name == "SHA384"     ? EVP_sha384()
                          : name == "SHA512"     ? EVP_sha512()
                          : name == "SHA512_224" ? EVP_sha512_224()
                          : name == "SHA512_256" ? EVP_sha512_256()
                                                 : nullptr;
       if (!md) return c.error("unsupported hash function");
       unsigned char out[EVP_MAX_MD_SIZE];
       unsigned n = 0;
       HMAC(md, key.data(), static_cast<int>(key.size()), reinterpret_cast<const unsigned char*>(data.data()),
            data.size(), out, &n);
       return c.make_bytes({reinterpret_cast<char*>(out), n});
     }},
};
const ConstantSpec kHmacConstants[] = {{"MD5", "\"MD5\""},
                                       {"SHA1", "\"SHA1\""},
                                       {"SHA224", "\"SHA224\""},
                                       {"SHA256", "\"SHA256\""},
                                       {"SHA384", "\"SHA384\""},
                                       {"SHA512", "\"SHA512\""},
                                       {"SHA512_224", "\"SHA512_224\""},
                                       {"SHA512_256", "\"SHA512_256\""}};

const BuiltinSpec kEd25519[] = {
    {"Valid",
     {kData, kData, kData},
     kBoolKind,
     [](CallContext& c) -> Node* {
       std::string_view key = c.bytes(0), message = c.bytes(1), signature = c.bytes(2);
       if (c.failed()) return nullptr;
       if (key.size() != 32) return c.error("ed25519: publicKey must be 32 bytes");
       auto bytes = [](std::string_view s) { return reinterpret_cast<const unsigned char*>(s.data()); };
       std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)> pkey(
           EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, nullptr, bytes(key), key.size()), EVP_PKEY_free);
       std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context(EVP_MD_CTX_new(), EVP_MD_CTX_free);
       bool good =
           pkey && signature.size() == 64 &&
           EVP_DigestVerifyInit(context.get(), nullptr, nullptr, nullptr, pkey.get()) == 1 &&
           EVP_DigestVerify(context.get(), bytes(signature), signature.size(), bytes(message), message.size()) == 1;
       return c.make_bool(good);
     }},
};
const ConstantSpec kEd25519Constants[] = {{"PublicKeySize", "32"}};

// ---- uuid

std::string show_uuid(std::string_view b) {
  std::string out;
  for (std::size_t i = 0; i < 16; ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) out += '-';
    out += fmt::format("{:02x}", static_cast<u8>(b[i]));
  }
  return out;
}

// The forms with dashes, in braces, as urn:uuid: and as bare digits.
std::optional<std::string> parse_uuid(std::string_view s, std::string& error) {
  auto bad = [&](const char* why) {
    error = why;
    return std::nullopt;
  };
  std::string_view body = s;
  if (s.size() == 36 + 9) {
    std::string head(s.substr(0, 9));
    for (char& ch : head) ch = static_cast<char>(ch >= 'A' && ch <= 'Z' ? ch | 0x20 : ch);
    if (head != "urn:uuid:") {
      error = "invalid urn prefix: " + go_quote(s.substr(0, 9));
      return std::nullopt;
    }
    body = s.substr(9);
  } else if (s.size() == 38) {
    if (s.front() != '{' || s.back() != '}') return bad("invalid bracketed UUID format");
    body = s.substr(1, 36);
  } else if (s.size() != 36 && s.size() != 32) {
    error = fmt::format("invalid UUID length: {}", s.size());
    return std::nullopt;
  }
  std::string digits;
  if (body.size() == 36) {
    for (std::size_t i : {8, 13, 18, 23})
      if (body[i] != '-') return bad("invalid UUID format");
    for (std::size_t i = 0; i < 36; ++i)
      if (i != 8 && i != 13 && i != 18 && i != 23) digits += body[i];
  } else {
    digits = body;
  }
  std::string out;
  auto hex = [](char ch) {
    return ch >= '0' && ch <= '9'   ? ch - '0'
           : ch >= 'a' && ch <= 'f' ? ch - 'a' + 10
           : ch >= 'A' && ch <= 'F' ? ch - 'A' + 10
                                    : -1;
  };
  for (std::size_t i = 0; i < 32; i += 2) {
    int a = hex(digits[i]), b = hex(digits[i + 1]);
    if (a < 0 || b < 0) return bad("invalid UUID format");
    out += static_cast<char>(a * 16 + b);
  }
  return out;
}

Node* hashed_uuid(CallContext& c, const EVP_MD* md, int version) {
  std::string error;
  std::optional<std::string> space = parse_uuid(c.string(0), error);
  std::string_view data = c.bytes(1);
  if (c.failed()) return nullptr;
  if (!space) return c.error(error);
  std::string h = digest(md, *space + std::string(data)).substr(0, 16);
  h[6] = static_cast<char>((h[6] & 0x0F) | version << 4);
  h[8] = static_cast<char>((h[8] & 0x3F) | 0x80);
  return c.make_string(show_uuid(h));
}

template <class F>
Node* with_uuid(CallContext& c, F f) {
  std::string error;
  std::optional<std::string> u = parse_uuid(c.string(0), error);
  if (c.failed()) return nullptr;
  return u ? f(*u) : c.error(error);
}

const BuiltinSpec kUuid[] = {
    {"Valid",
     {kStringKind},
     kBottomKind,
     [](CallContext& c) -> Node* { return with_uuid(c, [&](const std::string&) { return c.make_bool(true); }); }},
    {"Parse",
     {kStringKind},
     kStringKind,
     [](CallContext& c) -> Node* {
       return with_uuid(c, [&](const std::string& u) { return c.make_string(show_uuid(u)); });
     }},
    {"URN",
     {kStringKind},
     kStringKind,
     [](CallContext& c) -> Node* {
       return with_uuid(c, [&](const std::string& u) { return c.make_string("urn:uuid:" + show_uuid(u)); });
     }},
    {"FromInt",
     {kIntKind},
     kStringKind,
     [](CallContext& c) -> Node* {
       Decimal n = c.number(0).abs();
       if (c.failed()) return nullptr;
       std::string b(16, '\0');
       for (std::size_t i = 16; i-- > 0;) {
         b[i] = static_cast<char>(*decimal::int_mod(n, Decimal(256)).to_u64());
         n = decimal::int_div(n, Decimal(256));
       }
       if (!n.is_zero()) return c.error("invalid UUID (got more than 16 bytes)");
       return c.make_string(show_uuid(b));
     }},
    {"ToInt",
     {kStringKind},
     kIntKind,
     [](CallContext& c) -> Node* {
       Decimal n;
       for (char ch : c.string(0))
         n = decimal::int_add(decimal::int_mul(n, Decimal(256)), Decimal(static_cast<u8>(ch)));
       return c.failed() ? nullptr : int_result(c, n);
     }},
    {"Variant",
     {kStringKind},
     kIntKind,
     [](CallContext& c) -> Node* {
       return with_uuid(c, [&](const std::string& u) {
         u8 b = static_cast<u8>(u[8]);
         return c.make_int((b & 0xC0) == 0x80 ? 1 : (b & 0xE0) == 0xC0 ? 3 : (b & 0xE0) == 0xE0 ? 4 : 2);
       });
     }},
    {"Version",
     {kStringKind},
     kIntKind,
     [](CallContext& c) -> Node* {
       return with_uuid(c, [&](const std::string& u) { return c.make_int(static_cast<u8>(u[6]) >> 4); });
     }},
    {"SHA1", {kStringKind, kData}, kStringKind, [](CallContext& c) -> Node* { return hashed_uuid(c, EVP_sha1(), 5); }},
    {"MD5", {kStringKind, kData}, kStringKind, [](CallContext& c) -> Node* { return hashed_uuid(c, EVP_md5(), 3); }},
};

const ConstantSpec kUuidConstants[] = {
    {"ns",
     "{DNS: \"6ba7b810-9dad-11d1-80b4-00c04fd430c8\", URL: \"6ba7b811-9dad-11d1-80b4-00c04fd430c8\", "
     "OID: \"6ba7b812-9dad-11d1-80b4-00c04fd430c8\", X500: \"6ba7b814-9dad-11d1-80b4-00c04fd430c8\", "
     "Nil: \"00000000-0000-0000-0000-000000000000\"}"},
    {"variants", "{Invalid: 0, RFC4122: 1, Reserved: 2, Microsoft: 3, Future: 4}"}};

}  // namespace

void add_crypto() {
  add_package("crypto/md5", kMd5, kMd5Constants);
  add_package("crypto/sha1", kSha1, kSha1Constants);
  add_package("crypto/sha256", kSha256, kSha256Constants);
  add_package("crypto/sha512", kSha512, kSha512Constants);
  add_package("crypto/hmac", kHmac, kHmacConstants);
  add_package("crypto/ed25519", kEd25519, kEd25519Constants);
}

void add_uuid() { add_package("uuid", kUuid, kUuidConstants); }

}  // namespace tutti::cue
