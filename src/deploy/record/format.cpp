#include "deploy/record/format.h"

#include <fmt/format.h>

#include <iterator>

#include "engine/plan/recorded.h"

namespace tutti::deploy {
namespace {

constexpr std::string_view kKey = "$format";

using Upgrade = Value (*)(const Value& tree, const TreeBuilder& builder);

// Before there were versions: everything is where it is today, and what was not known then is absent.
Value from_0(const Value& tree, const TreeBuilder&) { return tree; }

constexpr Upgrade kUpgrades[] = {from_0};
static_assert(std::size(kUpgrades) == kStoredFormat, "a step for every version");

i64 version_of(const Value& tree, std::string_view key) {
  const Entry* e = tree.is(Kind::kMap) ? tree.find(key) : nullptr;
  return e && e->value.fits_i64() ? e->value.as_i64() : 0;
}

bool is_known(Session& session, const std::string& name, i64 version, i64 newest) {
  if (version >= 0 && version <= newest) return true;
  session.diagnostics
      .error(
          "STATE-NEWER", {},
          fmt::format("{} was written by a newer tutti (its version is {}, this one knows {})", name, version, newest))
      .suggest("the tutti that wrote it, or a newer one");
  return false;
}

}  // namespace

Value with_format(const Value& tree, const TreeBuilder& b) {
  if (!tree.is(Kind::kMap)) return tree;
  MapDraft m;
  m.set(Symbol(kKey), Value::integer(kStoredFormat));
  for (const Entry& e : tree.entries()) m.set(e.key, e.value, e.field);
  return m.build(b, tree.origin());
}

std::optional<Value> without_format(Session& session, const std::string& name, const Value& tree) {
  i64 version = version_of(tree, kKey);
  if (!is_known(session, name, version, kStoredFormat)) return std::nullopt;
  TreeBuilder b(session.arena);
  Value now = tree;
  if (tree.is(Kind::kMap) && tree.find(kKey)) {
    MapDraft m;
    for (const Entry& e : tree.entries())
      if (e.key.text() != kKey) m.set(e.key, e.value, e.field);
    now = m.build(b, tree.origin());
  }
  for (; version < kStoredFormat; ++version) now = kUpgrades[version](now, b);
  return now;
}

bool is_readable_state(Session& session, const std::string& name, const Value& state) {
  return is_known(session, name, version_of(state, "format"), engine::kRecordedFormat);
}

}  // namespace tutti::deploy
