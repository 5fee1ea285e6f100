#include "lang/cue/eval/evidence.h"

namespace tutti::cue {

Evidence::Evidence(Context& ctx, const List<ReqSet>& all) : ctx_(ctx) {
  auto set = [&](DefId id) -> const ReqSet* {
    u32 at = id ? ctx_.requirement_at.get(id) : 0;
    return at ? &all[at - 1] : nullptr;
  };
  for (const ReqSet& a : all) {
    if (a.ignored || a.removed) continue;
    Need n{bit(a.id), -1, -1, a.conjunct_opened && a.parent == 0, a.parent == 0, true};
    if (const ReqSet* embed = set(a.embed)) {
      n.embed = static_cast<i32>(bit(embed->id));
      n.embed_known = embed->parent == 0 || set(embed->parent);
    }
    if (const ReqSet* outer = set(a.parent); outer && !outer->removed) n.outer = static_cast<i32>(bit(outer->id));
    needs_.push_back(n);
  }
  words_ = bits_ / 64 + 1;
  rows_.assign(words_, 0);  // of no number
}

u32 Evidence::bit(DefId id) {
  u32& at = bit_of_.at(id);
  if (!at) at = ++bits_;
  return at - 1;
}

Evidence::Row Evidence::row(DefId id) {
  path_.clear();
  Row from = 0;
  for (; id != 0; id = ctx_.containments[id].id) {
    if (u32 at = row_of_.get(id)) {
      from = at * words_;
      break;
    }
    path_.push_back(id);
  }
  for (std::size_t i = path_.size(); i-- > 0;) {
    Row next = rows_.size();
    rows_.resize(next + words_);
    for (std::size_t w = 0; w < words_; ++w) rows_[next + w] = rows_[from + w];
    if (u32 own = bit_of_.get(path_[i])) rows_[next + (own - 1) / 64] |= u64{1} << (own - 1) % 64;
    row_of_.at(path_[i]) = static_cast<u32>(next / words_);
    from = next;
  }
  return from;
}

bool Evidence::met(const Need& n) const {
  std::size_t count = own_.size();
  if (any_[n.id / 64] >> n.id % 64 & 1) return true;
  if (n.embed < 0) return false;
  auto inside = [&](std::size_t i) { return has(embed_[i], static_cast<u32>(n.embed)); };
  if (n.opened) {
    for (std::size_t i = 0; i < count; ++i)
      if (inside(i)) return false;
    return true;
  }
  for (std::size_t i = 0; i < count; ++i) {
    if (inside(i)) continue;
    if (n.top ? n.embed_known : n.outer < 0 || has(own_[i], static_cast<u32>(n.outer))) return true;
  }
  return false;
}

bool Evidence::holds(std::span<const ConjunctInfo> list) {
  constexpr std::size_t kMost = std::size_t{1} << 23;
  if (rows_.size() > kMost) {
    rows_.resize(words_);
    row_of_.clear();
  }
  own_.clear(), embed_.clear();
  any_.assign(words_, 0);
  for (const ConjunctInfo& c : list) {
    own_.push_back(row(c.id));
    embed_.push_back(row(c.embed));
    for (std::size_t w = 0; w < words_; ++w) any_[w] |= rows_[own_.back() + w];
  }
  for (const Need& n : needs_)
    if (!met(n)) return false;
  return true;
}

}  // namespace tutti::cue
