#include "lang/cue/eval/evidence.h"

#include <algorithm>

namespace tutti::cue {

void Evidence::begin(const List<ReqSet>& all) {
  mentions_.clear();
  first_mention_.clear();
  row_of_.clear();
  most_ = kLeast;
  auto set_of = [&](DefId id) -> const ReqSet* {
    u32 at = id ? ctx_.requirement_at.get(id) : 0;
    return at ? &all[at - 1] : nullptr;
  };
  auto counts = [](const ReqSet& a) { return !a.ignored && !a.removed; };
  auto needs = static_cast<std::size_t>(std::count_if(all.begin(), all.end(), counts));
  words_ = needs / 64 + 1;
  for (Bits* bits : {&all_, &no_embed_, &opened_, &top_, &allows_}) bits->assign(words_, 0);
  u32 n = 0;
  for (const ReqSet& a : all) {
    if (!counts(a)) continue;
    set(all_, n);
    mentions_.push_back({a.id, kOwn, n});
    if (a.parent == 0) set(top_, n);
    const ReqSet *embed = set_of(a.embed), *outer = set_of(a.parent);
    if (embed)
      mentions_.push_back({embed->id, kEmbed, n});
    else
      set(no_embed_, n);
    if (a.conjunct_opened && a.parent == 0) set(opened_, n);
    if (a.parent == 0) {
      if (embed && (embed->parent == 0 || set_of(embed->parent))) set(allows_, n);
    } else if (!outer || outer->removed) {
      set(allows_, n);
    } else {
      mentions_.push_back({outer->id, kOuter, n});
    }
    ++n;
  }
  std::sort(mentions_.begin(), mentions_.end(), [](const Mention& a, const Mention& b) { return a.id < b.id; });
  for (std::size_t i = mentions_.size(); i-- > 0;) first_mention_.at(mentions_[i].id) = static_cast<u32>(i + 1);
  rows_.assign(kParts * words_, 0);  // of no number
}

void Evidence::end() {
  if (rows_.capacity() > kLeast) rows_ = {};
  constexpr std::size_t kFew = std::size_t{1} << 12;
  first_mention_.release(kFew);
  row_of_.release(kFew);
}

Evidence::Row Evidence::row(DefId id) {
  std::size_t size = kParts * words_;
  path_.clear();
  Row from = 0;
  for (; id != 0; id = ctx_.containments[id].id) {
    if (u32 at = row_of_.get(id)) {
      from = at * size;
      break;
    }
    path_.push_back(id);
  }
  for (std::size_t i = path_.size(); i-- > 0;) {
    // Most numbers stand between those that are asked about, and have the bits of what contains them.
    if (u32 at = first_mention_.get(path_[i])) {
      Row next = rows_.size();
      if (words_ == 1) {
        u64 part[kParts] = {rows_[from], rows_[from + 1], rows_[from + 2]};
        rows_.insert(rows_.end(), part, part + kParts);
      } else {
        rows_.resize(next + size);
        std::copy_n(rows_.begin() + static_cast<long>(from), size, rows_.begin() + static_cast<long>(next));
      }
      for (std::size_t m = at - 1; m < mentions_.size() && mentions_[m].id == path_[i]; ++m) {
        u32 need = mentions_[m].need;
        rows_[next + mentions_[m].part * words_ + need / 64] |= u64{1} << need % 64;
      }
      from = next;
    }
    if (from) row_of_.at(path_[i]) = static_cast<u32>(from / size);
  }
  return from;
}

// A requirement is met by a conjunct that is contained in it, or by one outside of where it was embedded: of whatever
// the embedding stands in, unless all conjuncts must be outside of it.
bool Evidence::holds(std::span<const ConjunctInfo> list) {
  // What is known of the numbers is forgotten now and then, where it is soon found again.
  if (rows_.size() > most_) {
    rows_.resize(kParts * words_);
    row_of_.clear();
  }
  std::size_t known = rows_.size();
  for (Bits* bits : {&any_, &inside_, &met_}) bits->assign(words_, 0);
  for (const ConjunctInfo& c : list) {
    Row own = row(c.id), embed = row(c.embed) + kEmbed * words_, outer = own + kOuter * words_;
    for (std::size_t w = 0; w < words_; ++w) {
      any_[w] |= rows_[own + w];
      inside_[w] |= rows_[embed + w];
      met_[w] |= ~rows_[embed + w] & (allows_[w] | (rows_[outer + w] & ~top_[w]));
    }
  }
  constexpr std::size_t kMost = std::size_t{1} << 23;
  if (rows_.size() - known > most_ / 4) most_ = std::min(kMost, most_ * 2);
  for (std::size_t w = 0; w < words_; ++w) {
    u64 left = all_[w] & ~any_[w];
    if (left & (no_embed_[w] | (opened_[w] & inside_[w]) | (~opened_[w] & ~met_[w]))) return false;
  }
  return true;
}

}  // namespace tutti::cue
