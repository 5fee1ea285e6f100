// What a file should be, by its parameters, and the words in which that is told.
#include <fmt/format.h>
#include <openssl/evp.h>

#include <algorithm>
#include <ctime>

#include "base/base64.h"
#include "resource/catalog.h"
#include "resource/file/file.h"
#include "resource/mode.h"

namespace tutti::resource {

std::string path_of(const Resource& r) { return managed_as(r); }

std::string parent_of(const std::string& path) {
  std::size_t slash = path.rfind('/');
  return slash == 0 || slash == std::string::npos ? "/" : path.substr(0, slash);
}

std::string_view kind_text(FileKind k) {
  switch (k) {
    case FileKind::kAbsent: return "absent";
    case FileKind::kFile: return "file";
    case FileKind::kDirectory: return "directory";
    case FileKind::kLink: return "link";
    default: return "other";
  }
}

std::string time_text(i64 seconds) {
  std::time_t t = seconds;
  std::tm tm{};
  ::localtime_r(&t, &tm);
  char text[40];
  std::strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S %z", &tm);
  return text;
}

std::string digest_word(const Context& c) {
  std::string word = c.params.text("checksum", "sha256");
  static constexpr std::string_view kDigests[] = {"md5", "md5lite", "sha1", "sha224", "sha256lite", "sha384", "sha512"};
  return std::find(std::begin(kDigests), std::end(kDigests), word) == std::end(kDigests) ? "sha256" : word;
}

std::string digest_of(std::string word, std::string_view bytes) {
  if (word.ends_with("lite")) {
    word.resize(word.size() - 4);
    bytes = bytes.substr(0, 512);
  }
  unsigned char out[EVP_MAX_MD_SIZE];
  unsigned size = 0;
  const EVP_MD* how = ::EVP_get_digestbyname(word.c_str());
  if (!how || ::EVP_Digest(bytes.data(), bytes.size(), out, &size, how, nullptr) != 1) return "";
  std::string hex;
  for (unsigned i = 0; i < size; ++i) hex += fmt::format("{:02x}", out[i]);
  return hex;
}

WantedFile wanted_file(const Params& p, const Resource& r) {
  WantedFile w;
  using E = WantedFile::Ensure;
  w.path = path_of(r);
  w.target = p.text("target");
  w.mode = p.text("mode");
  w.owner = p.text("owner");
  w.group = p.text("group");
  if (const Value* content = p.find("content")) {
    const Entry* bytes = content->is(Kind::kMap) ? content->find("__pvalue") : nullptr;  // Puppet's Binary
    w.content = bytes ? base64_decode(text_of(bytes->value)).value_or("") : text_of(*content);
    w.secret = content->secret();
  }
  std::string e = p.text("ensure");
  if (e == "absent" || e == "false")
    w.ensure = E::kAbsent;
  else if (e == "present")
    w.ensure = E::kPresent;
  else if (e == "file")
    w.ensure = E::kFile;
  else if (e == "directory")
    w.ensure = E::kDirectory;
  else if (e == "link")
    w.ensure = E::kLink;
  else if (!e.empty())
    w.ensure = E::kLink, w.target = e;  // ensure => '/where/it/points'
  else if (!w.target.empty())
    w.ensure = E::kLink;
  else if (w.content)
    w.ensure = E::kFile;
  return w;
}

Result<void> take_permissions(Context& c, const FileState& source, WantedFile& want) {
  std::string how = c.params.text("source_permissions", "ignore");
  if (how == "ignore") return {};
  if (how == "use_when_creating") {
    auto is = c.host.stat(want.path, false, false);
    if (!is) return tl::unexpected(is.error());
    if (is->kind != FileKind::kAbsent) return {};
  }
  if (!c.params.has("owner")) want.owner = std::to_string(source.uid);
  if (!c.params.has("group")) want.group = std::to_string(source.gid);
  if (!c.params.has("mode")) want.mode = mode_text(source.mode);
  return {};
}

}  // namespace tutti::resource
