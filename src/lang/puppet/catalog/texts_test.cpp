#include "lang/puppet/catalog/texts.h"

#include <gtest/gtest.h>

namespace tutti::puppet {
namespace {

TEST(CatalogTexts, ComeOutInOrderFromMemoryAndFile) {
  CatalogTexts texts(9);
  std::string want;
  // 32 to 128 KB each: the first ones stay in memory, most do not. Kept from the last to the first.
  auto text = [](std::size_t n) { return std::string((n % 4 + 1) << 15, static_cast<char>('a' + n)) + "\n"; };
  for (std::size_t n = 9; n-- > 0;)
    if (n != 5) texts.keep(n, text(n));  // one has none
  for (std::size_t n = 0; n < 9; ++n)
    if (n != 5) want += text(n);
  StringSink sink;
  ASSERT_TRUE(texts.write(sink));
  EXPECT_TRUE(sink.take() == want);
}

}  // namespace
}  // namespace tutti::puppet
