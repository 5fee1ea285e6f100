#include "engine/rules/rules.h"

#include <algorithm>
#include <bit>
#include <map>

namespace tutti::engine {

using model::ComponentType;
using model::for_each_bit;
using model::Instruction;
using model::Op;
using model::Outcome;

namespace {

// A marking on the stack where it is small, which nearly all are.
class Scratch {
 public:
  explicit Scratch(std::size_t words) : size_(words) {
    if (words > kSmall) large_.resize(words);
  }
  u64* data() { return size_ > kSmall ? large_.data() : small_; }
  u64& operator[](std::size_t w) { return data()[w]; }
  std::size_t size() const { return size_; }

 private:
  static constexpr std::size_t kSmall = 8;
  std::size_t size_;
  u64 small_[kSmall];
  std::vector<u64> large_;
};

}  // namespace

Rules::Rules(const model::System& system, const RuleOptions& options) : system_(system), options_(options) {
  read_program();
  pc_ = place_field(static_cast<u32>(std::bit_width(system.program.size())));
  failures_ = place_field(static_cast<u32>(std::bit_width(options.failures)));
  layout_.resize(system.instances.size());
  for (u32 i = 0; i < system.instances.size(); ++i) {
    const ComponentType& type = system.type_of(i);
    layout_[i].finished = place_field(static_cast<u32>(std::bit_width(pushes_[i].size())));
    layout_[i].marking = place_field(type.elements);
    if (options.failures) layout_[i].failed = place_field(static_cast<u32>(type.transitions.size()));
    most_words_ = std::max(most_words_, type.words());
  }
  words_ = next_word_ + (next_bit_ ? 1 : 0);
  if (words_ == 0) words_ = 1;
}

// Small fields share words but never straddle two; large ones begin a word of their own.
Rules::Field Rules::place_field(u32 bits) {
  if (bits == 0) return {};
  if (bits > 64 - next_bit_ && next_bit_) ++next_word_, next_bit_ = 0;
  Field f{next_word_, next_bit_, bits};
  next_bit_ += bits;
  next_word_ += next_bit_ / 64;
  next_bit_ %= 64;
  return f;
}

void Rules::read_program() {
  std::size_t n = system_.instances.size();
  present_.resize(n);
  pushes_.resize(n);
  as_user_.resize(n);
  as_provider_.resize(n);
  first_use_.resize(n + 1);
  for (u32 i = 0; i < n; ++i) first_use_[i + 1] = first_use_[i] + system_.type_of(i).uses;
  last_link_.assign(first_use_[n], kNone);
  std::map<std::pair<u32, u32>, u32> open;  // (user, use) -> link
  std::vector<u32> links_of(n);
  auto connect = [&](u32 user, u32 use, u32 provider, u32 provide, u32 from) {
    u32 k = static_cast<u32>(links_.size());
    links_.push_back({user, use, provider, provide, from, kNone});
    before_.push_back(last_link_[first_use_[user] + use]);
    last_link_[first_use_[user] + use] = k;
    as_user_[user].push_back(k);
    as_provider_[provider].push_back(k);
    ++links_of[user], ++links_of[provider];
    open[{user, use}] = k;
  };
  for (u32 i = 0; i < n; ++i)
    if (system_.instances[i].present) present_[i] = {0, kNone};
  for (const model::Link& l : system_.links) connect(l.user, l.use, l.provider, l.provide, 0);
  possible_.assign(system_.program.size(), true);
  for (u32 at = 0; at < system_.program.size(); ++at) {
    const Instruction& in = system_.program[at];
    switch (in.op) {
      case Op::kAdd: present_[in.instance] = {at + 1, kNone}; break;
      case Op::kDel:
        possible_[at] = links_of[in.instance] == 0;
        present_[in.instance].to = at;
        break;
      case Op::kCon:
        possible_[at] = !open.count({in.instance, in.port});
        if (possible_[at]) connect(in.instance, in.port, in.provider, in.provide, at + 1);
        break;
      case Op::kDcon:
        if (auto it = open.find({in.instance, in.port}); it != open.end()) {
          LinkSpan& l = links_[it->second];
          l.to = at;
          --links_of[l.user], --links_of[l.provider];
          open.erase(it);
        }
        break;
      case Op::kPush: pushes_[in.instance].push_back({at, in.behaviour}); break;
      case Op::kWait:
      case Op::kWaitAll: break;
    }
  }
}

Rules::State Rules::initial() const {
  State s(words_);
  // Instances that an `add` will bring have their initial marking from the start: before that they are not present.
  for (u32 i = 0; i < system_.instances.size(); ++i)
    for (u32 e : system_.instances[i].marking) put_bit(s.data(), layout_[i].marking, e, true);
  return s;
}

u32 Rules::pushed_at(u32 i, u32 pc) const {
  const auto& p = pushes_[i];
  return static_cast<u32>(std::partition_point(p.begin(), p.end(), [&](const Push& x) { return x.at < pc; }) -
                          p.begin());
}

u32 Rules::current(const u64* s, u32 i) const {
  u32 f = finished(s, i);
  return f < pushes_[i].size() && pushes_[i][f].at < pc(s) ? pushes_[i][f].behaviour : kNone;
}

bool Rules::marked(const u64* s, u32 i, u32 element) const { return test_bit(s, layout_[i].marking, element); }

void Rules::marking(const u64* s, u32 i, u64* out) const {
  const Field& f = layout_[i].marking;
  if (f.bits <= 64) {
    out[0] = get(s, f);
    return;
  }
  u32 n = (f.bits + 63) / 64;
  for (u32 w = 0; w < n; ++w) out[w] = s[f.word + w];
  if (f.bits % 64) out[n - 1] &= (u64{1} << (f.bits % 64)) - 1;
}

bool Rules::may_fail(const u64* s, u32 i, u32 t) const {
  if (!options_.failures || get(s, failures_) >= options_.failures) return false;
  const ComponentType& type = system_.type_of(i);
  auto outcomes = type.outcomes_of(type.transitions[t]);
  return std::none_of(outcomes.begin(), outcomes.end(), [](const Outcome& o) { return o.on_failure; });
}

bool Rules::failed_transition(const u64* s, u32 i, u32 t) const {
  return options_.failures && test_bit(s, layout_[i].failed, t);
}

bool Rules::failed(const u64* s, u32 i) const {
  if (!options_.failures) return false;
  const Field& f = layout_[i].failed;
  for (u32 t = 0; t < f.bits; ++t)
    if (test_bit(s, f, t)) return true;
  return false;
}

bool Rules::active(const u64* s, u32 i, u32 port) const {
  const ComponentType& type = system_.type_of(i);
  const Field& f = layout_[i].marking;
  const u64* group = type.group.row(port);
  if (f.bits <= 64) return (get(s, f) & group[0]) != 0;
  u32 n = (f.bits + 63) / 64;
  for (u32 w = 0; w < n; ++w) {
    u64 m = s[f.word + w];
    if (w == n - 1 && f.bits % 64) m &= (u64{1} << (f.bits % 64)) - 1;
    if (m & group[w]) return true;
  }
  return false;
}

void Rules::take(const u64* s, u32 i, std::vector<u64>& out) const {
  const Layout& l = layout_[i];
  out.assign(1, get(s, l.finished));
  for (const Field* f : {&l.marking, &l.failed})
    for (u32 at = 0; at < f->bits; at += 64) {
      u32 bit = f->shift + at, left = f->bits - at;
      const u64* w = s + f->word + bit / 64;
      u64 v = w[0] >> bit % 64;
      if (bit % 64 && left > 64 - bit % 64) v |= w[1] << (64 - bit % 64);
      out.push_back(left < 64 ? v & ((u64{1} << left) - 1) : v);
    }
}

void Rules::put(u64* s, u32 i, const std::vector<u64>& held) const {
  const Layout& l = layout_[i];
  set(s, l.finished, held[0]);
  std::size_t next = 1;
  for (const Field* f : {&l.marking, &l.failed})
    for (u32 at = 0; at < f->bits; at += 64, ++next)
      for (u32 k = 0; k < 64 && at + k < f->bits; ++k) put_bit(s, *f, at + k, held[next] >> k & 1);
}

// Active, a behaviour is current, and every token in the group is on an exit place of it: it is about to go. A failed
// instance refuses too (F4): whoever uses it may stay, nobody new comes.
bool Rules::refusing(const u64* s, u32 i, u32 port) const {
  if (!active(s, i, port)) return false;
  if (failed(s, i)) return true;
  u32 b = current(s, i);
  if (b == kNone) return false;
  const ComponentType& type = system_.type_of(i);
  Scratch m(type.words());
  marking(s, i, m.data());
  const u64* group = type.group.row(port);
  const u64* exits = type.exits.row(b * type.ports.size() + port);
  for (std::size_t w = 0; w < m.size(); ++w) {
    u64 exit = w < type.exits.words() ? exits[w] : 0;
    if (m[w] & group[w] & ~exit) return false;
  }
  return true;
}

const Rules::LinkSpan* Rules::link_of(const u64* s, u32 i, u32 use) const {
  u32 at = pc(s);
  for (u32 k = last_link_[first_use_[i] + use]; k != kNone; k = before_[k])
    if (links_[k].from <= at && at <= links_[k].to) return &links_[k];
  return nullptr;
}

bool Rules::can_fire(const u64* s, u32 i, u32 place, u32 b) const {
  const ComponentType& type = system_.type_of(i);
  auto out = type.out(place, b);
  if (out.empty() || failed(s, i)) return false;
  if (as_provider_[i].empty()) return true;
  Scratch after(type.words());
  marking(s, i, after.data());
  after[place / 64] &= ~(u64{1} << (place % 64));
  for (u32 t : out) {
    u32 e = type.transition_element(t);
    after[e / 64] |= u64{1} << (e % 64);
  }
  u32 at = pc(s);
  for (u32 k : as_provider_[i]) {
    const LinkSpan& l = links_[k];
    if (at < l.from || at > l.to) continue;
    if (!model::any_common(after.data(), type.group.row(l.provide), after.size()) && active(s, l.user, l.use))
      return false;
  }
  return true;
}

bool Rules::can_enter(const u64* s, u32 i, u32 station) const {
  const ComponentType& type = system_.type_of(i);
  const model::Station& st = type.stations[station];
  auto needs = type.needs_of(st);
  if (needs.empty() || !std::all_of(needs.begin(), needs.end(), [&](u32 e) { return marked(s, i, e); })) return false;
  for (u32 u = 0; u < type.uses; ++u) {
    if (!type.group.test(u, st.place)) continue;
    const LinkSpan* l = link_of(s, i, u);
    if (!l || !active(s, l->provider, l->provide)) return false;                 // provided
    if (refusing(s, l->provider, l->provide) && !active(s, i, u)) return false;  // allowed
  }
  return true;
}

bool Rules::can_finish(const u64* s, u32 i, u32 b) const {
  const ComponentType& type = system_.type_of(i);
  Scratch m(type.words());
  marking(s, i, m.data());
  bool ok = !failed(s, i);
  for_each_bit(m.data(), m.size(), [&](u32 e) { ok = ok && type.is_place(e) && type.out(e, b).empty(); });
  return ok;
}

void Rules::enabled_of(const u64* s, u32 i, std::vector<Step>& steps) const {
  visit_enabled(s, i, [&](const Step& step) {
    steps.push_back(step);
    return false;
  });
}

bool Rules::visit_enabled(const u64* s, u32 i, const Visitor& visitor) const {
  if (!present(s, i)) return false;
  u32 b = current(s, i);
  if (b == kNone) return false;  // what is half way from the start waits for a behaviour, too
  const ComponentType& type = system_.type_of(i);
  Scratch m(type.words());
  marking(s, i, m.data());
  u32 first_ending = static_cast<u32>(type.places.size() + type.transitions.size());
  bool endings = false;
  for (std::size_t w = 0; w < m.size(); ++w)
    for (u64 left = m[w]; left != 0; left &= left - 1) {
      u32 e = static_cast<u32>(w * 64 + static_cast<u32>(std::countr_zero(left)));
      if (type.is_place(e)) {
        if (can_fire(s, i, e, b) && visitor({Step::Kind::kFire, i, e, 0})) return true;
      } else if (e >= first_ending) {
        endings = true;
        break;
      } else {
        u32 t = type.element_transition(e);
        if (failed_transition(s, i, t)) continue;
        auto outcomes = type.outcomes_of(type.transitions[t]);
        for (u32 o = 0; o < outcomes.size(); ++o)
          if (visitor({Step::Kind::kEnd, i, t, o})) return true;
        if (may_fail(s, i, t) && visitor({Step::Kind::kFail, i, t, 0})) return true;
      }
    }
  if (endings) {
    for (u32 st = 0; st < type.stations.size(); ++st)
      if (type.stations[st].needs && test_bit(s, layout_[i].marking, type.needs[type.stations[st].first_need]) &&
          can_enter(s, i, st) && visitor({Step::Kind::kEnter, i, st, 0}))
        return true;
    return false;
  }
  return can_finish(s, i, b) && visitor({Step::Kind::kFinish, i, b, 0});
}

bool Rules::instruction_enabled(const u64* s) const {
  u32 at = pc(s);
  if (at >= system_.program.size()) return false;
  const Instruction& in = system_.program[at];
  switch (in.op) {
    case Op::kAdd:
    case Op::kPush: return true;
    case Op::kCon: return possible_[at];
    case Op::kDel: return possible_[at] && (!options_.del_waits || finished(s, in.instance) == pushed(s, in.instance));
    case Op::kDcon: return !active(s, in.instance, in.port);
    case Op::kWait: return finished(s, in.instance) >= in.upto;
    case Op::kWaitAll:
      for (u32 i = 0; i < layout_.size(); ++i)
        if (present(s, i) && finished(s, i) != pushed(s, i)) return false;
      return true;
  }
  return false;
}

void Rules::enabled(const u64* s, std::vector<Step>& steps) const {
  for (u32 i = 0; i < layout_.size(); ++i) enabled_of(s, i, steps);
  if (instruction_enabled(s)) steps.push_back({Step::Kind::kInstruction, kNone, pc(s), 0});
}

bool Rules::is_enabled(const u64* s, const Step& step) const {
  std::vector<Step> all;
  if (step.kind == Step::Kind::kInstruction) return step.index == pc(s) && instruction_enabled(s);
  enabled_of(s, step.instance, all);
  return std::find(all.begin(), all.end(), step) != all.end();
}

void Rules::apply(u64* s, const Step& step) const {
  if (step.kind == Step::Kind::kInstruction) {
    set(s, pc_, step.index + 1);
    return;
  }
  u32 i = step.instance;
  const ComponentType& type = system_.type_of(i);
  const Field& m = layout_[i].marking;
  switch (step.kind) {
    case Step::Kind::kFire: {
      u32 b = current(s, i);
      put_bit(s, m, step.index, false);
      for (u32 t : type.out(step.index, b)) put_bit(s, m, type.transition_element(t), true);
      break;
    }
    case Step::Kind::kEnd:
      put_bit(s, m, type.transition_element(step.index), false);
      put_bit(s, m, type.outcomes_of(type.transitions[step.index])[step.outcome].ending, true);
      break;
    case Step::Kind::kFail:
      put_bit(s, layout_[i].failed, step.index, true);
      set(s, failures_, get(s, failures_) + 1);
      break;
    case Step::Kind::kEnter:
      for (u32 e : type.needs_of(type.stations[step.index])) put_bit(s, m, e, false);
      put_bit(s, m, type.stations[step.index].place, true);
      break;
    case Step::Kind::kFinish: set(s, layout_[i].finished, finished(s, i) + 1); break;
    case Step::Kind::kInstruction: break;
  }
}

bool Rules::is_final(const u64* s) const {
  if (pc(s) != system_.program.size()) return false;
  for (u32 i = 0; i < layout_.size(); ++i)
    if (present(s, i) && finished(s, i) != pushed(s, i)) return false;
  return true;
}

}  // namespace tutti::engine
