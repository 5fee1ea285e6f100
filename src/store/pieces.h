#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/types.h"

// Keeps large texts of which most are nearly alike: the state of a system, and the plan of each run. A change of one
// component in 100,000 changes one line of a text of 50 MB, so a record that kept each text whole would grow by all of
// it with every run.
//
// A text is cut into pieces, each is kept once under the digest of what it says, and the text is the list of its
// pieces, which is kept in the same way, up to a single piece: its root. What two texts have in common is there once,
// whichever runs and systems they belong to, and what is there is told from what a disk has made of it.
//
// Where a text is cut depends on what stands just before the cut and on nothing else, so that a change in one place
// moves no cut elsewhere. The cuts lie behind the entries of JSON at the first two levels, which for everything that
// is recorded means: between components, types and hosts. Cutting at fixed lengths was rejected (whatever is inserted
// moves every cut behind it); so was a row for each component that the caller names (the plan of a run is not a list
// of components, and every store would have to know what the texts mean).
namespace tutti::store {

// In order; together they are the text.
std::vector<std::string_view> pieces_of(std::string_view text);

inline constexpr std::size_t kPieceDigest = 32;  // bytes

// Where pieces are kept.
class PieceShelf {
 public:
  virtual ~PieceShelf() = default;
  virtual Result<bool> has(std::string_view digest) = 0;
  virtual Result<void> put(std::string_view digest, std::string_view piece) = 0;
  virtual Result<std::optional<std::string>> get(std::string_view digest) = 0;
};

// Keeps a text; what is kept in its place: a reference to its root or, when it is short, the text itself.
Result<std::string> keep_text(PieceShelf& shelf, std::string_view text);
// The text again. A failure with kDamaged where a piece is gone or is not what was written.
Result<std::string> kept_text(PieceShelf& shelf, std::string kept);

// Calls `found` for each piece of a text that is kept, lists of pieces included, and goes below a list only where
// `found` says so: what was met before needs no second look.
Result<void> walk_pieces(PieceShelf& shelf, std::string_view kept, const std::function<bool(std::string_view)>& found);

}  // namespace tutti::store
