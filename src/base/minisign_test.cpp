#include "base/minisign.h"

#include <gtest/gtest.h>

#include "base/base64.h"

namespace tutti {
namespace {

// Made with minisign 0.10 (`minisign -G -W`, `minisign -S -m hello`), of a file with the text "hello\n".
const std::string kPublic =
    "untrusted comment: minisign public key 67A26244EEF9460B\n"
    "RWQLRvnuRGKiZ5UnYnbyivjOQnp/eo2RRb4wpNfR+u5Xu4QSz99v4MEH\n";
const std::string kOtherPublic =
    "untrusted comment: minisign public key 1FBCEA4BC5D391DA\n"
    "RWTakdPFS+q8H75evrt6edjqJGaGGnz7qbtsdGb9wydn9WGtOW3Xe8sE\n";
const std::string kSecret =
    "untrusted comment: minisign encrypted secret key\n"
    "RWQAAEIyAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAC0b57kRiomcKFWfjkV7mjpE90BfJ09q0iajOHG182J"
    "luhIKSgCu+1pUnYnbyivjOQnp/eo2RRb4wpNfR+u5Xu4QSz99v4MEHAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=\n";
const std::string kSignature =
    "untrusted comment: signature from minisign secret key\n"
    "RUQLRvnuRGKiZyilyGHeAmP8IkgWC9Z0G/oZ6A1nzaHjJX+FBpYZGhaKghWvFfWQtPyDsiDX4ARgXrkC+FkxEGTEpNtBSyL5fAc=\n"
    "trusted comment: timestamp:1\tfile:hello\thashed\n"
    "9+P6iZqxVWu06HNt6fNv+tLhGVG6B369x2Rifvnvo6mZGIDBFflqatfBYp6GgQmhvbyoeXA7E491Xs1Jah/TDA==\n";
const std::string kOldSignature =
    "untrusted comment: signature from minisign secret key\n"
    "RWQLRvnuRGKiZ+wczo1fRBQcq3sHv1HTD7rdNrTnQlIt7Qa4KD6A/Jqd8sCHxIPGhG4jfcZv8rmLCae+glhWIm8ms7X4rMeQmQg=\n"
    "trusted comment: an old one\n"
    "TfBAiV7nwjDgpzJQlFqUfym/FJZg2Ko6RxaVFWPCEWEfqezAncWsJyA6W+RhWT3B11Uny/6hEwnuyudxDVGnDg==\n";
const std::string kComment = "timestamp:1\tfile:hello\thashed", kOldComment = "an old one";

Result<std::string> checked(std::string_view bytes, std::string_view signature, std::string_view key = kPublic) {
  std::vector<SignatureKey> keys{*public_signature_key(key)};
  return verify_signature(bytes, signature, keys);
}

std::string no_passphrase_asked() { return ""; }

TEST(Minisign, ItsSignaturesAreAccepted) {
  EXPECT_EQ(*checked("hello\n", kSignature), kComment);
  EXPECT_EQ(*checked("hello\n", kOldSignature), kOldComment);  // of the file itself, not of its hash
  std::string_view line = std::string_view(kPublic).substr(std::string_view(kPublic).find('\n') + 1);
  EXPECT_TRUE(checked("hello\n", kSignature, line.substr(0, 56)));  // the key alone
}

TEST(Minisign, WhatWasChangedIsNot) {
  EXPECT_FALSE(checked("hello", kSignature));
  EXPECT_FALSE(checked("", kSignature));
  EXPECT_FALSE(checked("hello\n", kSignature, kOtherPublic));
  std::string text = kSignature;
  for (std::size_t i = text.find('\n') + 1; i < text.size(); i++) {  // the first line is nobody's word
    std::string changed = text;
    changed[i] = static_cast<char>(changed[i] ^ 1);
    // Line ends, and digits of which a part is not used.
    if (changed[i] == '\n' || text[i] == '\n' || text[i] == '=' || text[i + 1] == '=') continue;
    EXPECT_FALSE(checked("hello\n", changed)) << i;
  }
  // Up to the last digit: what fills it up is not needed.
  for (std::size_t i = 0; i < text.size() - 4; i++) EXPECT_FALSE(checked("hello\n", text.substr(0, i))) << i;
}

TEST(Minisign, WhatIsSignedHereIsAccepted) {
  auto key = SigningKey::open(kSecret, [] { return Result<std::string>(no_passphrase_asked()); });
  ASSERT_TRUE(key) << key.error().message;
  for (std::string_view bytes : {"", "x", "hello\n"}) {
    std::string signature = key->sign(bytes, "file:a");
    EXPECT_EQ(*checked(bytes, signature), "file:a");
    EXPECT_FALSE(checked(std::string(bytes) + "x", signature));
  }
}

TEST(Minisign, DamagedKeysAreRefused) {
  auto none = [] { return Result<std::string>(std::string()); };
  std::string text = kSecret;
  std::size_t begin = text.find('\n') + 1;
  std::string bytes = *base64_decode(std::string_view(text).substr(begin));
  for (std::size_t at : {std::size_t{0}, std::size_t{2}, std::size_t{4}, std::size_t{64}, std::size_t{100}}) {
    std::string changed = bytes;
    changed[at] = static_cast<char>(changed[at] ^ 1);
    EXPECT_FALSE(SigningKey::open(base64_encode(changed), none)) << at;
  }
  EXPECT_FALSE(SigningKey::open("", none));
  EXPECT_FALSE(SigningKey::open(kPublic, none));
  EXPECT_FALSE(public_signature_key(kSecret));
}

}  // namespace
}  // namespace tutti
