#include "store/integrity.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <openssl/evp.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <memory>

namespace tutti::store {
namespace {
constexpr const char* kHeadFile = "state.head";
constexpr std::size_t kDigestBytes = 16;  // against accidents, not against whoever can write the record
}  // namespace

std::string digest_of(std::string_view before, std::initializer_list<std::string_view> fields) {
  std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> c(EVP_MD_CTX_new(), EVP_MD_CTX_free);
  EVP_DigestInit_ex(c.get(), EVP_sha256(), nullptr);
  auto add = [&](std::string_view text) {
    u64 size = text.size();
    EVP_DigestUpdate(c.get(), &size, sizeof size);
    EVP_DigestUpdate(c.get(), text.data(), text.size());
  };
  add(before);
  for (std::string_view f : fields) add(f);
  std::array<unsigned char, EVP_MAX_MD_SIZE> out{};
  unsigned n = 0;
  EVP_DigestFinal_ex(c.get(), out.data(), &n);
  std::string text;
  for (std::size_t i = 0; i < kDigestBytes; ++i) text += fmt::format("{:02x}", out[i]);
  return text;
}

void note_commit(const OwnDirectory& directory, i64 number) {
  auto fd = directory.file(kHeadFile, O_WRONLY | O_CREAT);
  if (!fd) return;
  std::string text = fmt::format("{:>20}\n", number);
  [[maybe_unused]] ssize_t n = ::pwrite(*fd, text.data(), text.size(), 0);
  ::close(*fd);
}

i64 noted_commit(const OwnDirectory& directory) {
  auto fd = directory.file(kHeadFile, O_RDONLY);
  if (!fd) return 0;
  char text[32] = "";
  ssize_t n = ::pread(*fd, text, sizeof text - 1, 0);
  ::close(*fd);
  return n > 0 ? std::strtoll(text, nullptr, 10) : 0;
}

}  // namespace tutti::store
