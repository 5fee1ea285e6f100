#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/types.h"

namespace tutti {

// A place in the text of all sources of a run, as one number: the sources are laid end to end, the first at 1. Lines
// and columns are worked out only when a place is shown. 0 is no place. 31 bits, so that an origin can hold one
// (tree/origin.h).
struct Pos {
  u32 at = 0;
  constexpr explicit operator bool() const { return at != 0; }
  friend constexpr auto operator<=>(Pos, Pos) = default;
};

struct Span {
  Pos begin, end;
  constexpr Span() = default;
  constexpr Span(Pos b) : begin(b), end(b) {}  // a place is a span without length
  constexpr Span(Pos b, Pos e) : begin(b), end(e) {}
};

struct Location {
  std::string_view file;
  u32 line = 0;           // from 1
  u32 column = 0;         // from 1, in characters, as editors count
  u32 byte = 0;           // from 1
  std::string_view text;  // the whole line, without its end
};

struct Source {
  std::string name;  // as shown to the user
  std::string path;  // as opened; empty for text that is in no file
  std::string text;  // never changes and never moves
  Pos first;         // place of text[0]; the place after the last byte belongs to the source too

  Pos pos(std::size_t offset) const { return {first.at + static_cast<u32>(offset)}; }
  Span span(std::size_t from, std::size_t to) const { return {pos(from), pos(to)}; }
  std::size_t offset(Pos p) const { return p.at - first.at; }

 private:
  friend class Sources;
  mutable std::once_flag lines_once_;
  mutable std::vector<u32> lines_;       // offset at which each line begins; made when a place is first asked for
  mutable std::vector<u32> characters_;  // how many begin before each further block of text: lines may be long
  std::size_t characters_before(std::size_t offset) const;
};

// All sources of a run. Adding and reading are safe from several threads; a Source stays where it is.
class Sources {
 public:
  // The same path is read once. "-" is standard input.
  Result<const Source*> open(const std::string& path, u64 most = u64{1} << 30);
  Result<const Source*> add(std::string name, std::string text);

  const Source* find(Pos pos) const;  // nullptr for no place
  Location locate(Pos pos) const;
  std::string show(Pos pos) const;  // file:line:column, or "" for no place

  // What stands somewhere in the sources and must not be shown where a line of them is: `masked` is a text of the same
  // length with stars in its place.
  void keep_secret(std::string_view text);
  std::string masked(std::string_view text) const;
  bool has_secrets() const;

 private:
  Result<const Source*> place(std::unique_ptr<Source> source);

  mutable std::mutex mutex_;
  std::vector<std::unique_ptr<Source>> sources_;
  u64 next_ = 1;
  std::vector<std::string> secrets_;
};

}  // namespace tutti
