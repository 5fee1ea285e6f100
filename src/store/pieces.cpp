#include "store/pieces.h"

#include <fmt/format.h>
#include <openssl/evp.h>
#include <xxhash.h>

#include <algorithm>
#include <charconv>
#include <memory>

#include "store/store.h"

namespace tutti::store {
namespace {

constexpr std::size_t kInline = 1024;       // a text shorter than this is kept where it is referred to
constexpr std::size_t kAbout = 4096;        // the length of a piece, on average
constexpr std::size_t kMost = 16 * kAbout;  // and at most, where entries are shorter than that
constexpr std::size_t kAboutListed = 64;    // pieces in a list of pieces, on average
constexpr std::size_t kMostListed = 512;    // and at most
constexpr int kDeepestCut = 2;              // the depth of brackets below which nothing is cut
constexpr u32 kDeepestList = 16;            // lists of lists: more than any text could need
constexpr char kReference = '@';            // no text of JSON begins so

// Whether a text is cut behind this entry. A long entry is a piece by itself; of short ones as many stand together as
// make a piece of the usual length, whatever stands before or behind them.
bool ends_piece(std::string_view entry) {
  if (entry.size() >= kAbout) return true;
  return XXH3_64bits(entry.data(), entry.size()) % (kAbout / std::max<std::size_t>(entry.size(), 1)) == 0;
}

std::string digest_of_piece(u32 level, std::string_view piece) {
  std::string out(kPieceDigest, '\0');
  std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> c(EVP_MD_CTX_new(), EVP_MD_CTX_free);
  EVP_DigestInit_ex(c.get(), EVP_sha256(), nullptr);
  EVP_DigestUpdate(c.get(), &level, sizeof level);  // a list is never taken for a text that reads the same
  EVP_DigestUpdate(c.get(), piece.data(), piece.size());
  unsigned n = 0;
  EVP_DigestFinal_ex(c.get(), reinterpret_cast<unsigned char*>(out.data()), &n);
  return out;
}

struct Reference {
  u32 level = 0;  // 0: of a piece of text, 1: of a list of those, ...
  std::string digest;
};

std::string written(const Reference& r) {
  std::string out = fmt::format("{}{}:", kReference, r.level);
  for (unsigned char c : r.digest) out += fmt::format("{:02x}", c);
  return out;
}

std::optional<Reference> read_reference(std::string_view kept) {
  Reference out;
  const char* end = kept.data() + kept.size();
  auto [colon, wrong] = std::from_chars(kept.data() + 1, end, out.level);
  if (wrong != std::errc() || colon == end || *colon != ':' || out.level > kDeepestList) return std::nullopt;
  std::string_view hex(colon + 1, end);
  if (hex.size() != 2 * kPieceDigest) return std::nullopt;
  for (std::size_t i = 0; i < hex.size(); i += 2) {
    unsigned char byte = 0;
    auto [to, bad] = std::from_chars(hex.data() + i, hex.data() + i + 2, byte, 16);
    if (bad != std::errc() || to != hex.data() + i + 2) return std::nullopt;
    out.digest += static_cast<char>(byte);
  }
  return out;
}

// Lists of pieces are cut by the same rule: by what stands before the cut.
std::vector<std::string_view> lists_of(std::string_view digests) {
  std::vector<std::string_view> out;
  std::size_t from = 0;
  for (std::size_t at = kPieceDigest; at <= digests.size(); at += kPieceDigest) {
    std::string_view last = digests.substr(at - kPieceDigest, kPieceDigest);
    std::size_t listed = (at - from) / kPieceDigest;
    bool cut = static_cast<unsigned char>(last.back()) % kAboutListed == 0 && listed >= 2;  // two: a list is no shorter
    if (!cut && listed < kMostListed && at < digests.size()) continue;
    out.push_back(digests.substr(from, at - from));
    from = at;
  }
  return out;
}

tl::unexpected<Failure> damaged() {
  return failure("a part of what is recorded is gone, or is not what was written", kDamaged);
}

Result<std::string> piece_at(PieceShelf& shelf, u32 level, std::string_view digest) {
  auto piece = shelf.get(digest);
  if (!piece) return tl::unexpected(piece.error());
  if (!*piece || digest_of_piece(level, **piece) != digest) return damaged();
  if (level > 0 && (*piece)->size() % kPieceDigest != 0) return damaged();
  return std::move(**piece);
}

// Of each list the digests, in order.
template <class F>
Result<void> for_each_listed(std::string_view list, F&& f) {
  for (std::size_t at = 0; at + kPieceDigest <= list.size(); at += kPieceDigest)
    if (auto r = f(list.substr(at, kPieceDigest)); !r) return r;
  return {};
}

// At most kDeepestList deep.
Result<void> collect(PieceShelf& shelf, u32 level, std::string_view digest, std::string& text) {
  auto piece = piece_at(shelf, level, digest);
  if (!piece) return tl::unexpected(piece.error());
  if (level == 0) {
    text += *piece;
    return {};
  }
  return for_each_listed(*piece, [&](std::string_view d) { return collect(shelf, level - 1, d, text); });
}

Result<void> walk(PieceShelf& shelf, u32 level, std::string_view digest,
                  const std::function<bool(std::string_view)>& found) {
  if (!found(digest) || level == 0) return {};
  auto list = piece_at(shelf, level, digest);
  if (!list) return tl::unexpected(list.error());
  return for_each_listed(*list, [&](std::string_view d) { return walk(shelf, level - 1, d, found); });
}

}  // namespace

std::vector<std::string_view> pieces_of(std::string_view text) {
  std::vector<std::string_view> out;
  std::size_t piece = 0, entry = 0;  // where they begin
  int depth = 0;
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (quoted) {
      if (c == '\\') ++i;
      quoted = c != '"';
      continue;
    }
    if (c == '"') quoted = true;
    if (c == '{' || c == '[') ++depth;
    if (c == '}' || c == ']') --depth;
    if (c != ',' || depth > kDeepestCut) continue;
    bool cut = ends_piece(text.substr(entry, i + 1 - entry)) || i + 1 - piece >= kMost;
    entry = i + 1;
    if (!cut) continue;
    out.push_back(text.substr(piece, entry - piece));
    piece = entry;
  }
  if (piece < text.size() || out.empty()) out.push_back(text.substr(piece));
  return out;
}

Result<std::string> keep_text(PieceShelf& shelf, std::string_view text) {
  if (text.size() < kInline && !text.starts_with(kReference)) return std::string(text);
  std::vector<std::string_view> parts = pieces_of(text);
  std::string digests;
  for (u32 level = 0;; ++level) {
    std::string above;
    for (std::string_view part : parts) {
      std::string digest = digest_of_piece(level, part);
      auto there = shelf.has(digest);
      if (!there) return tl::unexpected(there.error());
      if (!*there)
        if (auto r = shelf.put(digest, part); !r) return tl::unexpected(r.error());
      above += digest;
    }
    digests = std::move(above);
    if (digests.size() == kPieceDigest) return written({level, digests});
    parts = lists_of(digests);
  }
}

Result<std::string> kept_text(PieceShelf& shelf, std::string kept) {
  if (!kept.starts_with(kReference)) return kept;
  auto reference = read_reference(kept);
  if (!reference) return damaged();
  std::string text;
  if (auto r = collect(shelf, reference->level, reference->digest, text); !r) return tl::unexpected(r.error());
  return text;
}

Result<void> walk_pieces(PieceShelf& shelf, std::string_view kept, const std::function<bool(std::string_view)>& found) {
  if (!kept.starts_with(kReference)) return {};
  auto reference = read_reference(kept);
  if (!reference) return damaged();
  return walk(shelf, reference->level, reference->digest, found);
}

}  // namespace tutti::store
