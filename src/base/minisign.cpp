// The format is that of minisign 0.9 and later (jedisct1.github.io/minisign): lines of a comment and of base64, numbers
// little-endian. Its older way, Ed25519 over the file itself, is read and not written.
#include "base/minisign.h"

#include <fmt/format.h>
#include <sodium.h>

#include <algorithm>
#include <cstring>
#include <ctime>
#include <optional>

#include "base/base64.h"
#include "base/file.h"

namespace tutti {

const int kNotSigned = 10'003;

namespace {

constexpr std::string_view kUntrusted = "untrusted comment: ", kTrusted = "trusted comment: ";
constexpr std::size_t kLongestKeyFile = 4096, kHash = crypto_generichash_BYTES_MAX;
static_assert(kHash == 64);

bool ready() { return ::sodium_init() >= 0; }

const u8* data_of(std::string_view text) { return reinterpret_cast<const u8*>(text.data()); }

// Line by line, without their ends.
std::string_view next_line(std::string_view& text) {
  std::size_t end = std::min(text.find('\n'), text.size());
  std::string_view line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

// What is encoded in a line, of this size.
std::optional<std::string> bytes_of(std::string_view line, std::size_t size) {
  auto bytes = base64_decode(line);
  if (!bytes || bytes->size() != size) return std::nullopt;
  return std::move(*bytes);
}

std::array<u8, kHash> hash_of(std::string_view bytes) {
  std::array<u8, kHash> hash;
  ::crypto_generichash(hash.data(), hash.size(), data_of(bytes), bytes.size(), nullptr, 0);
  return hash;
}

bool signed_by(const SignatureKey& key, std::string_view signature, const u8* what, std::size_t size) {
  return ::crypto_sign_verify_detached(data_of(signature), what, size, key.key.data()) == 0;
}

std::string hex_id(const std::array<u8, 8>& id) {
  std::string out;
  for (std::size_t i = id.size(); i-- > 0;) out += fmt::format("{:02X}", id[i]);
  return out;
}

auto wrong_signature(std::string what) { return failure(std::move(what), kNotSigned); }

}  // namespace

Result<SignatureKey> public_signature_key(std::string_view text) {
  std::string_view rest = text, line = next_line(rest);
  if (line.starts_with(kUntrusted)) line = next_line(rest);
  std::optional<std::string> bytes = bytes_of(line, 2 + 8 + crypto_sign_PUBLICKEYBYTES);
  if (!bytes || !bytes->starts_with("Ed")) return failure("not a public key of minisign");
  SignatureKey key;
  std::copy_n(data_of(*bytes) + 2, 8, key.id.begin());
  std::copy_n(data_of(*bytes) + 10, 32, key.key.begin());
  return key;
}

std::string shown_key(const SignatureKey& key) { return hex_id(key.id); }

Result<std::string> verify_signature(std::string_view bytes, std::string_view signature,
                                     std::span<const SignatureKey> allowed) {
  if (!ready()) return wrong_signature("libsodium cannot be used here");
  std::string_view rest = signature, comment = next_line(rest);
  std::optional<std::string> what = bytes_of(next_line(rest), 2 + 8 + crypto_sign_BYTES);
  std::string_view trusted = next_line(rest);
  std::optional<std::string> whole = bytes_of(next_line(rest), crypto_sign_BYTES);
  if (!comment.starts_with(kUntrusted) || !trusted.starts_with(kTrusted) || !what || !whole)
    return wrong_signature("its signature is not one of minisign");
  bool hashed = what->starts_with("ED");
  if (!hashed && !what->starts_with("Ed")) return wrong_signature("its signature is made in a way that is not known");
  trusted.remove_prefix(kTrusted.size());
  std::array<u8, 8> id;
  std::copy_n(data_of(*what) + 2, 8, id.begin());
  auto key = std::find_if(allowed.begin(), allowed.end(), [&](const SignatureKey& k) { return k.id == id; });
  if (key == allowed.end())
    return wrong_signature(fmt::format("it is signed with the key {}, which is not among those demanded", hex_id(id)));
  std::string_view made = std::string_view(*what).substr(10);
  std::array<u8, kHash> hash = hash_of(bytes);
  if (!(hashed ? signed_by(*key, made, hash.data(), hash.size()) : signed_by(*key, made, data_of(bytes), bytes.size())))
    return wrong_signature("its signature is of something else: it was changed after it was signed");
  std::string both = std::string(made) + std::string(trusted);
  if (!signed_by(*key, *whole, data_of(both), both.size()))
    return wrong_signature("the comment of its signature was changed after it was signed");
  return std::string(trusted);
}

// ---- signing

namespace {

// "Ed", the way of the passphrase, "B2", salt, two limits; then what may be hidden by the passphrase: id, key,
// checksum.
constexpr std::size_t kHead = 2 + 2 + 2 + 32 + 8 + 8, kHidden = 8 + crypto_sign_SECRETKEYBYTES + 32;

u64 little_endian(const u8* at) {
  u64 n = 0;
  for (int i = 7; i >= 0; i--) n = n << 8 | at[i];
  return n;
}

// What is hidden by a passphrase is laid bare, in place.
Result<void> lay_bare(const u8* head, u8* hidden, const std::function<Result<std::string>()>& passphrase) {
  Result<std::string> word = passphrase();
  if (!word) return tl::unexpected<Failure>(word.error());
  // minisign's own limits are 33554432 operations and 1 GiB; what asks for much more is not a key but an attack.
  u64 operations = little_endian(head + 38), memory = little_endian(head + 46);
  if (operations > (u64{1} << 30) || memory > (u64{1} << 31))
    return failure("the key asks for more time and memory than any key needs");
  std::array<u8, kHidden> stream;
  int failed = ::crypto_pwhash_scryptsalsa208sha256(stream.data(), stream.size(), word->data(), word->size(), head + 6,
                                                    operations, static_cast<std::size_t>(memory));
  ::sodium_memzero(word->data(), word->size());
  for (std::size_t i = 0; i < kHidden; i++) hidden[i] ^= stream[i];
  ::sodium_memzero(stream.data(), stream.size());
  if (failed) return failure("there is not enough memory to open the key");
  return {};
}

bool sum_fits(const u8* head, const u8* hidden) {
  std::array<u8, 32> sum;
  crypto_generichash_state state;
  ::crypto_generichash_init(&state, nullptr, 0, sum.size());
  ::crypto_generichash_update(&state, head, 2);
  ::crypto_generichash_update(&state, hidden, 8 + crypto_sign_SECRETKEYBYTES);
  ::crypto_generichash_final(&state, sum.data(), sum.size());
  return ::sodium_memcmp(sum.data(), hidden + 8 + crypto_sign_SECRETKEYBYTES, sum.size()) == 0;
}

// minisign writes no checksum into keys without a passphrase; a secret key holds its public half.
bool halves_fit(const u8* hidden) {
  std::array<u8, crypto_sign_SEEDBYTES> seed;
  std::array<u8, crypto_sign_SECRETKEYBYTES> again;
  std::array<u8, crypto_sign_PUBLICKEYBYTES> half;
  ::crypto_sign_ed25519_sk_to_seed(seed.data(), hidden + 8);
  ::crypto_sign_seed_keypair(half.data(), again.data(), seed.data());
  bool fits = ::sodium_memcmp(again.data(), hidden + 8, again.size()) == 0;
  ::sodium_memzero(seed.data(), seed.size());
  ::sodium_memzero(again.data(), again.size());
  return fits;
}

}  // namespace

Result<SigningKey> SigningKey::open(std::string_view text, const std::function<Result<std::string>()>& passphrase) {
  if (!ready()) return failure("libsodium cannot be used here");
  std::string_view rest = text, line = next_line(rest);
  if (line.starts_with(kUntrusted)) line = next_line(rest);
  std::optional<std::string> bytes = bytes_of(line, kHead + kHidden);
  if (!bytes || !bytes->starts_with("Ed") || bytes->substr(4, 2) != "B2")
    return failure("not a secret key of minisign (`minisign -G` makes one)");
  std::string_view way = std::string_view(*bytes).substr(2, 2);
  bool hidden_by_word = way == "Sc";
  if (!hidden_by_word && way != std::string_view("\0\0", 2))
    return failure("the key is protected in a way that is not known");
  u8* hidden = reinterpret_cast<u8*>(bytes->data()) + kHead;
  if (hidden_by_word)
    if (Result<void> bare = lay_bare(data_of(*bytes), hidden, passphrase); !bare)
      return tl::unexpected<Failure>(bare.error());
  bool right = hidden_by_word ? sum_fits(data_of(*bytes), hidden) : halves_fit(hidden);
  SigningKey key;
  std::copy_n(hidden, 8, key.id_.begin());
  key.secret_ = {static_cast<u8*>(::sodium_malloc(crypto_sign_SECRETKEYBYTES)), [](u8* p) { ::sodium_free(p); }};
  if (key.secret_) std::memcpy(key.secret_.get(), hidden + 8, crypto_sign_SECRETKEYBYTES);
  ::sodium_memzero(bytes->data(), bytes->size());
  if (!key.secret_) return failure("there is not enough memory to open the key");
  if (!right) return failure(hidden_by_word ? "wrong passphrase for that key" : "the secret key is damaged");
  return key;
}

std::string SigningKey::id() const { return hex_id(id_); }

std::string SigningKey::sign(std::string_view bytes, std::string_view trusted_comment) const {
  std::array<u8, kHash> hash = hash_of(bytes);
  std::string made(crypto_sign_BYTES, '\0'), whole(crypto_sign_BYTES, '\0');
  ::crypto_sign_detached(reinterpret_cast<u8*>(made.data()), nullptr, hash.data(), hash.size(), secret_.get());
  std::string both = made + std::string(trusted_comment);
  ::crypto_sign_detached(reinterpret_cast<u8*>(whole.data()), nullptr, data_of(both), both.size(), secret_.get());
  std::string what = "ED" + std::string(reinterpret_cast<const char*>(id_.data()), id_.size()) + made;
  return fmt::format("{}signature from tutti, key {}\n{}\n{}{}\n{}\n", kUntrusted, hex_id(id_), base64_encode(what),
                     kTrusted, trusted_comment, base64_encode(whole));
}

// ---- what a call demands

namespace {

struct Demand {
  std::vector<SignatureKey> keys;
  std::string wrong;  // with one of the keys
};
std::optional<Demand>& demand() {
  static std::optional<Demand> d;
  return d;
}

// `file:NAME` in a trusted comment: who signed it meant the file of that name, and not another beside it.
std::string_view file_meant(std::string_view comment) {
  for (std::size_t at = 0; at < comment.size();) {
    std::size_t end = std::min(comment.find('\t', at), comment.size());
    std::string_view word = comment.substr(at, end - at);
    if (word.starts_with("file:")) return word.substr(5);
    at = end + 1;
  }
  return {};
}

}  // namespace

bool RequiredSignatures::is_pem(const std::string& key) {
  Result<std::string> text = read_own_file(key, u64{1} << 20);
  return text && text->find("-----BEGIN") != std::string::npos;
}

void RequiredSignatures::require(const std::vector<std::string>& keys) {
  Demand d;
  for (const std::string& given : keys) {
    Result<std::string> text = read_own_file(given, kLongestKeyFile);
    Result<SignatureKey> key = public_signature_key(text ? *text : given);
    if (key) {
      d.keys.push_back(*key);
    } else if (d.wrong.empty()) {
      d.wrong = text ? fmt::format("{} is {}", given, key.error().message)
                     : fmt::format("{} is neither a file with a public key of minisign nor such a key", given);
    }
  }
  demand() = std::move(d);
}

bool RequiredSignatures::in_force() { return demand().has_value(); }

Result<void> RequiredSignatures::check(const std::string& path, std::string_view bytes,
                                       const Result<std::string>& signature) {
  const Demand& d = *demand();
  if (!d.wrong.empty()) return failure(d.wrong, kNotSigned);
  if (path == "-") return failure("standard input has no signature", kNotSigned);
  if (!signature)
    return failure(fmt::format("{} is not signed: there is no {}{}", path, path, kSignatureEnding), kNotSigned);
  Result<std::string> comment = verify_signature(bytes, *signature, d.keys);
  if (!comment) return failure(fmt::format("{} is not accepted: {}", path, comment.error().message), kNotSigned);
  std::string_view meant = file_meant(*comment), name = path;
  name.remove_prefix(name.rfind('/') + 1);
  if (!meant.empty() && meant != name)
    return failure(fmt::format("{} is not accepted: it was signed as {}", path, meant), kNotSigned);
  return {};
}

}  // namespace tutti
