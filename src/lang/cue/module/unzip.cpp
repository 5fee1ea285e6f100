#include "lang/cue/module/unzip.h"

#include <fmt/format.h>
#include <zlib.h>

#include "base/library.h"
#include "base/types.h"

namespace tutti::cue {

namespace {

// What of zlib is called, loaded with the first archive.
struct Zlib {
  decltype(&::crc32) crc32;
  decltype(&::inflate) inflate;
  decltype(&::inflateEnd) inflateEnd;
  decltype(&::inflateInit2_) inflateInit2_;
};

const Zlib& zlib() {
  static const Zlib loaded = [] {
    Library library("libz.so.1", "CUE-LIBRARY", "no module can be unpacked");
    Zlib z;
    library.find("crc32", z.crc32);
    library.find("inflate", z.inflate);
    library.find("inflateEnd", z.inflateEnd);
    library.find("inflateInit2_", z.inflateInit2_);
    return z;
  }();
  return loaded;
}

u32 sum_of(std::string_view s) {
  return static_cast<u32>(
      zlib().crc32(0, reinterpret_cast<const unsigned char*>(s.data()), static_cast<unsigned>(s.size())));
}

// Numbers of an archive, the least byte first; 0 beyond its end.
class Bytes {
 public:
  explicit Bytes(std::string_view s) : s_(s) {}
  u32 two(std::size_t at) const { return one(at) | one(at + 1) << 8; }
  u32 four(std::size_t at) const { return two(at) | two(at + 2) << 16; }

 private:
  u32 one(std::size_t at) const { return at < s_.size() ? static_cast<unsigned char>(s_[at]) : 0; }
  std::string_view s_;
};

bool inflated(std::string_view packed, std::size_t size, std::string& out) {
  out.assign(size, '\0');
  z_stream z{};
  z.next_in = reinterpret_cast<unsigned char*>(const_cast<char*>(packed.data()));
  z.avail_in = static_cast<unsigned>(packed.size());
  z.next_out = reinterpret_cast<unsigned char*>(out.data());
  z.avail_out = static_cast<unsigned>(size);
  if (zlib().inflateInit2_(&z, -15, ZLIB_VERSION, static_cast<int>(sizeof z)) != Z_OK) return false;
  int end = zlib().inflate(&z, Z_FINISH);
  bool whole = end == Z_STREAM_END && z.total_out == size;
  zlib().inflateEnd(&z);
  return whole;
}

bool stays_inside(std::string_view name) {
  if (name.empty() || name.front() == '/' || name.find('\\') != name.npos || name.find('\0') != name.npos) return false;
  while (true) {
    std::size_t end = std::min(name.find('/'), name.size());
    std::string_view part = name.substr(0, end);
    if (part.empty() || part == "." || part == "..") return false;
    if (end == name.size()) return true;
    name.remove_prefix(end + 1);
  }
}

constexpr u32 kEnd = 0x06054b50, kEntry = 0x02014b50, kLocal = 0x04034b50;
constexpr std::size_t kEndSize = 22, kEntrySize = 46, kLocalSize = 30;

}  // namespace

Result<void> unzip(std::string_view archive, std::size_t most,
                   const std::function<Result<void>(const std::string& name, std::string_view content)>& each) {
  Bytes b(archive);
  std::size_t end = archive.size() < kEndSize ? archive.npos : archive.size() - kEndSize;
  while (end != archive.npos && b.four(end) != kEnd) end = end == 0 ? archive.npos : end - 1;
  if (end == archive.npos) return failure("zip: not a valid zip file");
  std::size_t at = b.four(end + 16), unpacked = 0;
  for (u32 n = b.two(end + 10); n > 0; --n) {
    if (b.four(at) != kEntry) return failure("zip: not a valid zip file");
    std::size_t packed = b.four(at + 20), size = b.four(at + 24), length = b.two(at + 28), local = b.four(at + 42);
    u32 method = b.two(at + 10), sum = b.four(at + 16), type = b.four(at + 38) >> 28;
    std::string name(archive.substr(std::min(at + kEntrySize, archive.size()), length));
    at += kEntrySize + length + b.two(at + 30) + b.two(at + 32);
    if (name.ends_with('/')) continue;
    if (!stays_inside(name)) return failure(fmt::format("zip: the name \"{}\" leads out of the archive", name));
    constexpr u32 kLink = 0xA;
    if (type == kLink) return failure(fmt::format("zip: {} is a link", name));
    std::size_t from = local + kLocalSize + b.two(local + 26) + b.two(local + 28);
    if (b.four(local) != kLocal || from > archive.size() || packed > archive.size() - from)
      return failure("zip: not a valid zip file");
    if (size > most || (unpacked += size) > most) return failure("zip: the archive unpacks to too much");
    std::string content;
    std::string_view bytes = archive.substr(from, packed);
    if (method == 0)
      content = bytes;
    else if (method != 8 || !inflated(bytes, size, content))
      return failure(fmt::format("zip: {} cannot be unpacked", name));
    if (content.size() != size || sum_of(content) != sum) return failure("zip: checksum error");
    if (Result<void> r = each(name, content); !r) return r;
  }
  return {};
}

namespace {

void put(std::string& out, u64 value, int bytes) {
  for (int i = 0; i < bytes; ++i) out += static_cast<char>(value >> (8 * i) & 0xFF);
}

// What the header of a file and its entry in the directory have alike: version, flags, method, time, sum, sizes,
// length.
std::string described(const std::string& name, std::string_view content) {
  std::string out;
  put(out, 20, 2);
  put(out, 0, 2);
  put(out, 0, 2);
  put(out, 0x00210000, 4);  // 1980-01-01: the same files are the same archive
  put(out, sum_of(content), 4);
  put(out, content.size(), 4);
  put(out, content.size(), 4);
  put(out, name.size(), 2);
  put(out, 0, 2);
  return out;
}

}  // namespace

void ZipWriter::add(const std::string& name, std::string_view content) {
  std::string about = described(name, content);
  put(directory_, kEntry, 4);
  put(directory_, 20, 2);
  directory_ += about;
  directory_.append(2 + 2 + 2 + 4, '\0');  // no remark, first disk, nothing about the file
  put(directory_, out_.size(), 4);
  directory_ += name;
  put(out_, kLocal, 4);
  out_ += about + name;
  out_ += content;
  ++count_;
}

std::string ZipWriter::finish() {
  std::string end;
  put(end, kEnd, 4);
  put(end, 0, 4);
  put(end, count_, 2);
  put(end, count_, 2);
  put(end, directory_.size(), 4);
  put(end, out_.size(), 4);
  put(end, 0, 2);
  return out_ + directory_ + end;
}

}  // namespace tutti::cue
