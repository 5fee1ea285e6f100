#include "store/seal.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>

#include "base/base64.h"

namespace tutti::store {
namespace {

constexpr std::size_t kKey = 32, kNonce = 12, kTag = 16;
using Cipher = std::unique_ptr<EVP_CIPHER_CTX, decltype(&EVP_CIPHER_CTX_free)>;
unsigned char* bytes(std::string& s, std::size_t at = 0) { return reinterpret_cast<unsigned char*>(s.data()) + at; }
const unsigned char* bytes(std::string_view s, std::size_t at = 0) {
  return reinterpret_cast<const unsigned char*>(s.data()) + at;
}

}  // namespace

Result<Seal> Seal::open(const OwnDirectory& directory) {
  std::string path = fmt::format("{}/{}", directory.shown(), kKeyFile);
  for (int attempt = 0; attempt < 2; ++attempt) {
    auto there = directory.file(kKeyFile, O_RDONLY);
    if (there) {
      std::string key(kKey, '\0');
      ssize_t n = ::read(*there, key.data(), kKey);
      ::close(*there);
      if (n == static_cast<ssize_t>(kKey)) return Seal(std::move(key), path);
      return failure(fmt::format("{} is not a key", path));
    }
    if (there.error().code != ENOENT) return tl::unexpected(there.error());
    std::string key(kKey, '\0'), beside = fmt::format("{}.{}", kKeyFile, ::getpid());
    RAND_bytes(bytes(key), kKey);
    auto fd = directory.file(beside, O_WRONLY | O_CREAT | O_EXCL);
    if (!fd) return tl::unexpected(fd.error());
    bool ok = ::write(*fd, key.data(), kKey) == static_cast<ssize_t>(kKey) && ::fsync(*fd) == 0;
    ::close(*fd);
    if (ok && ::linkat(directory.fd(), beside.c_str(), directory.fd(), kKeyFile, 0) != 0 && errno != EEXIST)
      ok = false;  // whoever was first, wins
    ::unlinkat(directory.fd(), beside.c_str(), 0);
    if (!ok) return failure(fmt::format("cannot write {}: {}", path, std::strerror(errno)), errno);
  }
  return failure(fmt::format("cannot make {}", path));
}

std::string Seal::seal(std::string_view secret) const {
  std::string out(kNonce + secret.size() + kTag, '\0');
  RAND_bytes(bytes(out), kNonce);
  Cipher c(EVP_CIPHER_CTX_new(), EVP_CIPHER_CTX_free);
  int n = 0;
  EVP_EncryptInit_ex(c.get(), EVP_aes_256_gcm(), nullptr, bytes(std::string_view(key_)), bytes(out));
  EVP_EncryptUpdate(c.get(), bytes(out, kNonce), &n, bytes(secret), static_cast<int>(secret.size()));
  EVP_EncryptFinal_ex(c.get(), bytes(out, kNonce + static_cast<std::size_t>(n)), &n);
  EVP_CIPHER_CTX_ctrl(c.get(), EVP_CTRL_GCM_GET_TAG, kTag, bytes(out, kNonce + secret.size()));
  return base64_encode(out);
}

std::string Seal::sign(std::string_view text) const {
  std::string out(EVP_MAX_MD_SIZE, '\0');
  unsigned n = 0;
  HMAC(EVP_sha256(), key_.data(), static_cast<int>(key_.size()), bytes(text), text.size(), bytes(out), &n);
  out.resize(n);
  return base64_encode(out);
}

std::optional<std::string> Seal::unseal(std::string_view sealed) const {
  auto raw = base64_decode(sealed);
  if (!raw || raw->size() < kNonce + kTag) return std::nullopt;
  std::size_t size = raw->size() - kNonce - kTag;
  std::string out(size, '\0');
  Cipher c(EVP_CIPHER_CTX_new(), EVP_CIPHER_CTX_free);
  int n = 0;
  EVP_DecryptInit_ex(c.get(), EVP_aes_256_gcm(), nullptr, bytes(std::string_view(key_)), bytes(*raw));
  EVP_DecryptUpdate(c.get(), bytes(out), &n, bytes(*raw, kNonce), static_cast<int>(size));
  EVP_CIPHER_CTX_ctrl(c.get(), EVP_CTRL_GCM_SET_TAG, kTag, bytes(*raw, kNonce + size));
  if (EVP_DecryptFinal_ex(c.get(), bytes(out, static_cast<std::size_t>(n)), &n) <= 0) return std::nullopt;
  return out;
}

}  // namespace tutti::store
