#include "base/terminal.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <iterator>
#include <thread>

#include "base/pipe.h"
#include "base/quiet_thread.h"
#include "base/utf8.h"

namespace tutti {
namespace {

constexpr std::string_view kOwn[] = {"\x1b[1;31m", "\x1b[1;33m", "\x1b[1;34m", "\x1b[1m", "\x1b[0m",
                                     "\x1b[31m",   "\x1b[32m",   "\x1b[33m",   "\r\x1b[K"};

std::string written_out(char32_t c, std::string_view bytes) {
  if (c != utf8::kInvalid && c >= 0x80) return fmt::format("\\u{:04x}", static_cast<u32>(c));
  return fmt::format("\\x{:02x}", static_cast<unsigned char>(bytes[0]));
}

std::string without_tricks(std::string_view text, bool own_pass) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    unsigned char byte = static_cast<unsigned char>(text[at]);
    if ((byte >= 0x20 && byte < 0x7F) || byte == '\n' || byte == '\t') {
      out += text[at++];
      continue;
    }
    const auto* own = std::find_if(std::begin(kOwn), std::end(kOwn),
                                   [&](std::string_view o) { return text.substr(at).starts_with(o); });
    if (own_pass && own != std::end(kOwn)) {
      out += *own;
      at += own->size();
      continue;
    }
    std::size_t start = at;
    char32_t c = utf8::decode(text, at);
    std::string_view bytes = text.substr(start, at - start);
    out += c == utf8::kInvalid || disturbs_terminal(c) ? written_out(c, bytes) : std::string(bytes);
  }
  return out;
}

std::atomic<int> g_lost{0};  // why standard output did not take all of it

// How many bytes at the end are the beginning of a character, or of one of our own sequences.
std::size_t unfinished(std::string_view text) {
  constexpr std::size_t kLongest = 3;
  for (std::size_t back = 1; back <= std::min(kLongest, text.size()); ++back) {
    unsigned char byte = static_cast<unsigned char>(text[text.size() - back]);
    if ((byte & 0xC0) == 0x80) continue;
    std::size_t needs = byte >= 0xF0 ? 4 : byte >= 0xE0 ? 3 : byte >= 0xC0 ? 2 : 1;
    return needs > back ? back : 0;
  }
  return 0;
}

}  // namespace

bool disturbs_terminal(char32_t c) {
  if (c < 0x20) return c != '\n' && c != '\t';
  return c == 0x7F || (c >= 0x80 && c <= 0x9F) || c == 0x61C || c == 0x200E || c == 0x200F ||
         (c >= 0x202A && c <= 0x202E) || (c >= 0x2066 && c <= 0x2069);
}

std::string for_terminal(std::string_view text) { return without_tricks(text, false); }

std::string TerminalText::next(std::string_view piece) {
  kept_ += piece;
  std::size_t wait = unfinished(kept_);
  // A sequence of ours is cut nowhere but where a block ends: it waits for its end, too.
  if (std::size_t escape = kept_.rfind('\x1b'); escape != std::string::npos && kept_.size() - escape < 8 &&
                                                kept_.find_first_of("mK", escape) == std::string::npos)
    wait = std::max(wait, kept_.size() - escape);
  std::string out = without_tricks(std::string_view(kept_).substr(0, kept_.size() - wait), true);
  kept_.erase(0, kept_.size() - wait);
  return out;
}

std::string TerminalText::rest() {
  std::string out = without_tricks(kept_, true);
  kept_.clear();
  return out;
}

bool say_to(int descriptor, std::string_view text) {
  bool whole =
      ::isatty(descriptor) != 1 ? write_whole(descriptor, text) : write_whole(descriptor, without_tricks(text, true));
  int none = 0;
  if (!whole && descriptor == 1) g_lost.compare_exchange_strong(none, errno == 0 ? EIO : errno);
  return whole;
}

int output_lost() {
  int none = 0;
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0)
    g_lost.compare_exchange_strong(none, errno == 0 ? EIO : errno);
  return g_lost;
}

namespace {

// What helpers write goes through a pipe to a thread that shows it. At the end they are gone, and with them the pipe.
class Relay {
 public:
  Relay() {
    if (::pipe2(ends_, O_CLOEXEC) != 0) return;
    thread_ = quiet_thread([from = ends_[0]] {
      TerminalText text;
      char block[4096];
      for (;;) {
        ssize_t n = ::read(from, block, sizeof block);
        if (n < 0 && errno == EINTR) continue;
        write_whole(2, n > 0 ? text.next({block, static_cast<std::size_t>(n)}) : text.rest());
        if (n <= 0) return;
      }
    });
  }
  ~Relay() {
    if (!thread_.joinable()) return;
    ::close(ends_[1]);
    thread_.join();
    ::close(ends_[0]);
  }
  Relay(const Relay&) = delete;
  Relay& operator=(const Relay&) = delete;
  int in() const { return thread_.joinable() ? ends_[1] : 2; }

 private:
  int ends_[2] = {-1, -1};
  std::thread thread_;
};

}  // namespace

int error_descriptor_for_helpers() {
  if (::isatty(2) != 1) return 2;
  static Relay relay;
  return relay.in();
}

void print_to(std::FILE* stream, std::string_view text) {
  std::fflush(stream);
  say_to(::fileno(stream), text);
}

}  // namespace tutti
