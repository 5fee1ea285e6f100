#include <gtest/gtest.h>

#include <random>
#include <thread>

#include "base/arena.h"
#include "base/base64.h"
#include "base/budget.h"
#include "base/file.h"
#include "base/near.h"
#include "base/quiet_thread.h"
#include "base/sequence.h"
#include "base/sink.h"
#include "base/symbol.h"
#include "base/utf8.h"

namespace tutti {
namespace {

TEST(Arena, KeepsWhatItGivesOutApartAndAligned) {
  Arena arena;
  std::vector<std::pair<u64*, u64>> given;
  std::mt19937 random(1);
  for (u64 i = 0; i < 5000; i++) {
    arena.allocate(random() % 300, 1);  // leaves the next place unaligned
    u64* n = arena.make<u64>(i);
    ASSERT_EQ(reinterpret_cast<std::uintptr_t>(n) % alignof(u64), 0u);
    given.emplace_back(n, i);
  }
  std::string_view large = arena.copy(std::string(10'000'000, 'x'));
  for (auto [n, i] : given) ASSERT_EQ(*n, i);
  EXPECT_EQ(large.size(), 10'000'000u);
  EXPECT_EQ(large.find_first_not_of('x'), std::string_view::npos);
}

TEST(Arena, EndsAtItsLimit) {
  Arena arena;
  arena.set_limit(1 << 20);
  EXPECT_THROW(
      {
        for (int i = 0; i < 1000; i++) arena.allocate(4096);
      },
      LimitError);
}

TEST(Symbol, EqualNamesAreEqualFromAnyThread) {
  constexpr int kNames = 20'000;
  std::vector<std::vector<u32>> seen(4, std::vector<u32>(kNames));
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < seen.size(); t++) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < kNames; i++) {
        int n = t % 2 ? i : kNames - 1 - i;
        seen[t][static_cast<std::size_t>(n)] = Symbol("thread name " + std::to_string(n)).id();
      }
    });
  }
  for (std::thread& t : threads) t.join();
  for (int i = 0; i < kNames; i++) {
    u32 id = seen[0][static_cast<std::size_t>(i)];
    for (const auto& s : seen) ASSERT_EQ(s[static_cast<std::size_t>(i)], id);
    ASSERT_EQ(Symbol::from_id(id).text(), "thread name " + std::to_string(i));
  }
  EXPECT_TRUE(Symbol("").empty());
  EXPECT_EQ(Symbol{}.text(), "");
}

TEST(Utf8, DecodesWhatItAppends) {
  for (char32_t c :
       {U'\0', U'a', U'\x7f', U'\x80', U'\x7ff', U'\x800', U'\xd7ff', U'\xe000', U'\xffff', U'\x10000', U'\x10ffff'}) {
    std::string s;
    utf8::append(s, c);
    std::size_t at = 0;
    EXPECT_EQ(utf8::decode(s, at), c);
    EXPECT_EQ(at, s.size());
  }
}

TEST(Utf8, RefusesWhatIsNotUtf8) {
  for (std::string_view bad :
       {"\x80", "\xc0\x80", "\xc1\xbf", "\xe0\x80\x80", "\xed\xa0\x80", "\xf0\x80\x80\x80", "\xf4\x90\x80\x80",
        "\xf5\x80\x80\x80", "\xff", "\xc3", "\xe2\x82", "\xf0\x9f\x98", "\xc3(", "\xe2\x28\xa1"}) {
    std::size_t at = 0;
    EXPECT_EQ(utf8::decode(bad, at), utf8::kInvalid);
    EXPECT_EQ(at, 1u);
    EXPECT_EQ(utf8::first_invalid("12345678abc" + std::string(bad)), 11u);
  }
  EXPECT_EQ(utf8::first_invalid("plain text, é, 漢, 😀"), std::string_view::npos);
}

TEST(Utf8, CountsAndMeasures) {
  EXPECT_EQ(utf8::length("aé漢😀"), 4u);
  EXPECT_EQ(utf8::length("a\xff\xfe"), 3u);
  EXPECT_EQ(utf8::width("aé漢"), 4u);
  EXPECT_EQ(utf8::width("e\u0301"), 1u);
}

TEST(Near, FindsWhatWasMeant) {
  std::vector<std::string_view> names = {"port", "host", "replicas", "image"};
  EXPECT_EQ(nearest("prot", names), "port");
  EXPECT_EQ(nearest("replica", names), "replicas");
  EXPECT_EQ(nearest("imgae", names), "image");
  EXPECT_EQ(nearest("volume", names), "");
  EXPECT_EQ(nearest("x", names), "");
  EXPECT_EQ(nearest("port", {}), "");
}

TEST(Base64, RoundTripsEveryLength) {
  std::string bytes;
  for (int i = 0; i < 300; i++) {
    std::optional<std::string> back = base64_decode(base64_encode(bytes));
    ASSERT_TRUE(back);
    ASSERT_EQ(*back, bytes);
    bytes += static_cast<char>(i * 37);
  }
  EXPECT_EQ(base64_encode("hello"), "aGVsbG8=");
  EXPECT_FALSE(base64_decode("a"));
  EXPECT_FALSE(base64_decode("a==="));
  EXPECT_FALSE(base64_decode("ab=c"));
  EXPECT_FALSE(base64_decode("ab*d"));
}

TEST(Budget, CountsDepthThroughThrows) {
  Limits limits;
  limits.depth = 3;
  Budget budget(limits);
  for (int round = 0; round < 3; round++) {
    try {
      Budget::Level a(budget), b(budget), c(budget);
      EXPECT_THROW(Budget::Level d(budget), LimitError);
      throw 1;
    } catch (int) {
    }
  }
}

TEST(Budget, EndsByStepsNodesAndFlag) {
  Limits limits;
  limits.steps = 10'000;
  limits.nodes = 10;
  Budget budget(limits);
  EXPECT_THROW(
      {
        for (int i = 0; i < 20'000; i++) budget.step();
      },
      LimitError);
  EXPECT_THROW(budget.node(11), LimitError);
  Budget stopped;
  stopped.stop();
  EXPECT_THROW(stopped.step(5000), LimitError);
}

TEST(Sequence, EveryDiffRebuildsTheSecond) {
  std::mt19937 random(7);
  for (int round = 0; round < 2000; round++) {
    std::vector<int> a, b;
    for (u32 i = random() % 12; i > 0; i--) a.push_back(static_cast<int>(random() % 4));
    for (u32 i = random() % 12; i > 0; i--) b.push_back(static_cast<int>(random() % 4));
    auto steps = sequence_diff(a.size(), b.size(), [&](std::size_t i, std::size_t j) { return a[i] == b[j]; });
    std::vector<int> before, after;
    std::size_t common = 0;
    for (const SequenceStep& s : steps) {
      if (s.what != SequenceStep::What::kAdded) before.push_back(a[s.before]);
      if (s.what != SequenceStep::What::kRemoved) after.push_back(b[s.after]);
      if (s.what == SequenceStep::What::kBoth) {
        ASSERT_EQ(a[s.before], b[s.after]);
        common++;
      }
    }
    ASSERT_EQ(before, a);
    ASSERT_EQ(after, b);
    // As long a common part as there is.
    std::vector<std::vector<std::size_t>> longest(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
    for (std::size_t i = 0; i < a.size(); i++) {
      for (std::size_t j = 0; j < b.size(); j++) {
        longest[i + 1][j + 1] = a[i] == b[j] ? longest[i][j] + 1 : std::max(longest[i][j + 1], longest[i + 1][j]);
      }
    }
    ASSERT_EQ(common, longest[a.size()][b.size()]);
  }
}

TEST(File, WrittenWholeOrNotAtAll) {
  std::string path = testing::TempDir() + "/tutti_file_test";
  ASSERT_TRUE(write_file_atomically(path, "one"));
  EXPECT_EQ(read_file(path, 100).value(), "one");
  {
    FileSink sink(path);
    sink.put(std::string(200'000, 'x'));  // goes out of the buffer, and is not committed
  }
  EXPECT_EQ(read_file(path, 100).value(), "one");
  {
    FileSink sink(path);
    sink.put("two");
    ASSERT_TRUE(sink.commit());
  }
  EXPECT_EQ(read_file(path, 100).value(), "two");
  EXPECT_FALSE(read_file(path, 2));
  EXPECT_FALSE(read_file(path + ".none", 2));
  EXPECT_FALSE(read_file("/", 2));
  ::remove(path.c_str());
}

// From its first moment on: a signal that comes before it has looked after itself would end the program.
TEST(QuietThread, GetsNoSignalsAndItsMakerDoes) {
  sigset_t inside, outside;
  quiet_thread([&] { pthread_sigmask(SIG_BLOCK, nullptr, &inside); }).join();
  pthread_sigmask(SIG_BLOCK, nullptr, &outside);
  for (int s : {SIGINT, SIGTERM, SIGHUP}) {
    EXPECT_TRUE(sigismember(&inside, s));
    EXPECT_FALSE(sigismember(&outside, s));
  }
}

}  // namespace
}  // namespace tutti
