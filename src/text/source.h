#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
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
  mutable std::vector<std::pair<u32, u32>> secret_;  // what it marks itself
  std::size_t characters_before(std::size_t offset) const;
};

class SecretWords;  // text/secret_words.h

// All sources of a run. Adding and reading are safe from several threads; a Source stays where it is.
class Sources {
 public:
  Sources();
  ~Sources();
  // The same path is read once. "-" is standard input.
  Result<const Source*> open(const std::string& path, u64 most = u64{1} << 30);
  // With a path, `open` of that path gives it from now on.
  Result<const Source*> add(std::string name, std::string text, std::string path = {});

  const Source* find(Pos pos) const;  // nullptr for no place
  Location locate(Pos pos) const;
  std::string show(Pos pos) const;  // file:line:column, or "" for no place

  // What must not be shown, in any form (text/secret_words.h): what languages have said, and beside it what the sources
  // themselves mark, also where they cannot be read (text/secret_marks.h). `masked` is a text of the same length with
  // stars in their place, `masked_line` the line of a place.
  void keep_secret(std::string_view text);
  std::string masked(std::string_view text) const;
  std::string masked_line(Pos pos) const;
  bool has_secrets() const;
  // Those that languages have said: what is made of them is one. The sources may go on learning others.
  SecretWords said_secrets() const;
  bool has_said_secrets() const;

 private:
  struct Secrets;
  Result<const Source*> place(std::unique_ptr<Source> source);
  void learn() const;

  mutable std::mutex mutex_;
  std::vector<std::unique_ptr<Source>> sources_;
  u64 next_ = 1;
  std::unique_ptr<Secrets> secrets_;
};

}  // namespace tutti
