#include "resource/catalog_result.h"

#include <gtest/gtest.h>

namespace tutti::resource {
namespace {

TEST(CatalogResults, ComeBackAsTheyWereWritten) {
  CatalogResult r;
  r.status = CatalogResult::Status::kFailed;
  r.changed = 3;
  r.noops = 2;
  r.noop = true;
  r.checked = 1700000000;
  r.name = "File[/a]\nFile[/b]";
  r.audited = {{"mode", "0644"}, {"owner", ""}};
  CatalogResult again = CatalogResult::read(r.write());
  EXPECT_TRUE(again.failed());
  EXPECT_EQ(again.changed, 3u);
  EXPECT_EQ(again.noops, 2u);
  EXPECT_TRUE(again.noop);
  EXPECT_EQ(again.checked, r.checked);
  EXPECT_EQ(again.name, r.name);
  EXPECT_EQ(again.audited, r.audited);
}

TEST(CatalogResults, OfWhoHasHadNoTurnNothingIsKnown) {
  CatalogResult r = CatalogResult::read({});
  EXPECT_FALSE(r.is_in_the_way());
  EXPECT_EQ(r.changed, 0u);
}

TEST(CatalogResults, WhatWasSkippedIsInTheWayAsWhatFailed) {
  EXPECT_TRUE(CatalogResult::read({{"status", "skipped"}}).is_in_the_way());
  EXPECT_FALSE(CatalogResult::read({{"status", "skipped"}}).failed());
  EXPECT_FALSE(CatalogResult::read({{"status", "ok"}}).is_in_the_way());
}

}  // namespace
}  // namespace tutti::resource
