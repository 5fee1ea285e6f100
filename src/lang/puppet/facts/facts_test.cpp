#include "lang/puppet/facts/facts.h"

#include <gtest/gtest.h>

#include "tree/path.h"

namespace tutti::puppet {
namespace {

const Value* at(const Value& facts, std::string_view path) { return find(facts, *Path::parse(path)); }

TEST(Facts, KnowTheHostTheyRunOn) {
  Session session;
  Value facts = gather_facts(session, false);
  ASSERT_NE(at(facts, "kernel"), nullptr);
  EXPECT_EQ(at(facts, "kernel")->text(), "Linux");
  for (std::string_view path :
       {"os.family", "os.release.full", "networking.hostname", "identity.user", "kernelmajversion"}) {
    const Value* found = at(facts, path);
    ASSERT_NE(found, nullptr) << path;
    EXPECT_FALSE(found->text().empty()) << path;
  }
  EXPECT_GT(at(facts, "memory.system.total_bytes")->as_i64(), at(facts, "memory.system.used_bytes")->as_i64());
  EXPECT_EQ(at(facts, "osfamily"), nullptr);
}

TEST(Facts, LegacyOnesFollowFromTheStructured) {
  Session session;
  TreeBuilder build = session.builder();
  Entry eth[] = {{Symbol("ip"), Field::kPlain, build.string("192.0.2.1")}};
  Entry interfaces[] = {{Symbol("eth0.1"), Field::kPlain, build.map(eth)}};
  Entry networking[] = {{Symbol("interfaces"), Field::kPlain, build.map(interfaces)}};
  Entry os[] = {{Symbol("family"), Field::kPlain, build.string("Debian")}};
  MapDraft facts;
  facts.set(Symbol("os"), build.map(os));
  facts.set(Symbol("networking"), build.map(networking));
  add_legacy_facts(session, facts);
  EXPECT_EQ(facts.find(Symbol("osfamily"))->text(), "Debian");
  EXPECT_EQ(facts.find(Symbol("ipaddress_eth0_1"))->text(), "192.0.2.1");
  EXPECT_EQ(facts.find(Symbol("interfaces"))->text(), "eth0_1");
}

}  // namespace
}  // namespace tutti::puppet
