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
#include "base/file.h"

namespace tutti::store {
namespace {

constexpr std::size_t kKey = 32, kNonce = 12, kTag = 16;
using Cipher = std::unique_ptr<EVP_CIPHER_CTX, decltype(&EVP_CIPHER_CTX_free)>;
unsigned char* bytes(std::string& s, std::size_t at = 0) { return reinterpret_cast<unsigned char*>(s.data()) + at; }
const unsigned char* bytes(std::string_view s, std::size_t at = 0) {
  return reinterpret_cast<const unsigned char*>(s.data()) + at;
}

}  // namespace

Result<Seal> Seal::open(const std::string& path) {
  for (int attempt = 0; attempt < 2; ++attempt) {
    int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd >= 0) {
      std::string key(kKey, '\0');
      ssize_t n = ::read(fd, key.data(), kKey);
      ::close(fd);
      if (n == static_cast<ssize_t>(kKey)) return Seal(std::move(key), path);
      return failure(fmt::format("{} is not a key", path));
    }
    if (errno != ENOENT) return failure(fmt::format("cannot read {}: {}", path, std::strerror(errno)), errno);
    std::string key(kKey, '\0'), beside = fmt::format("{}.{}", path, ::getpid());
    RAND_bytes(bytes(key), kKey);
    fd = ::open(beside.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0) return failure(fmt::format("cannot write {}: {}", beside, std::strerror(errno)), errno);
    bool ok = ::write(fd, key.data(), kKey) == static_cast<ssize_t>(kKey) && ::fsync(fd) == 0;
    ::close(fd);
    if (ok && ::link(beside.c_str(), path.c_str()) != 0 && errno != EEXIST) ok = false;  // whoever was first, wins
    ::unlink(beside.c_str());
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
