#pragma once

#include <array>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/types.h"

namespace tutti {

// Detached signatures in minisign's format (Ed25519 over the BLAKE2b hash of a file, in FILE.minisig), made and checked
// by libsodium, so that what minisign signs is accepted here and the other way round. Rejected: OpenPGP, for its
// choices; signatures of ssh, which depend on a program of the machine that checks.
struct SignatureKey {
  std::array<u8, 8> id;
  std::array<u8, 32> key;
};

// Of a public key file's text, or the one line of it that is the key (`RWQ...`).
Result<SignatureKey> public_signature_key(std::string_view text);
std::string shown_key(const SignatureKey& key);  // as minisign shows it: 16 hexadecimal digits

// The trusted comment of a signature that one of the keys made of these bytes; or why it is none.
Result<std::string> verify_signature(std::string_view bytes, std::string_view signature,
                                     std::span<const SignatureKey> allowed);

// A secret key, in memory that is locked and cleared.
class SigningKey {
 public:
  // `passphrase` is asked only when the key is protected by one; it gives nothing when there is nobody to ask.
  static Result<SigningKey> open(std::string_view text, const std::function<Result<std::string>()>& passphrase);
  // The text of the signature file.
  std::string sign(std::string_view bytes, std::string_view trusted_comment) const;
  std::string id() const;

 private:
  SigningKey() = default;
  std::array<u8, 8> id_{};
  std::shared_ptr<u8> secret_;  // 64 bytes
};

// --require-signature: what a call reads as configuration must be signed. It is asked by read_file (base/file.h) with
// the very bytes that are then used. There is one for the process, for the reason that there is one Boundary.
class RequiredSignatures {
 public:
  // What the options name: files with public keys, or the keys themselves. A wrong one lets nothing be read.
  static void require(const std::vector<std::string>& keys);
  static bool in_force();
  // Whether it says so itself: of a PEM key (XML signatures) nothing is demanded here.
  static bool is_pem(const std::string& key);

  static Result<void> check(const std::string& path, std::string_view bytes, const Result<std::string>& signature);
};

constexpr std::string_view kSignatureEnding = ".minisig", kSignatureCode = "SIGNATURE";
extern const int kNotSigned;  // the code of the Failure

}  // namespace tutti
