#include "base/decimal.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace tutti {
namespace {

Decimal d(std::string_view text) { return *Decimal::parse(text); }

struct Row {
  const char* op;
  const char* a;
  const char* b;
  const char* want;
};

DecimalResult apply(const Row& r) {
  std::string_view op = r.op;
  if (op == "+") return decimal::add(d(r.a), d(r.b));
  if (op == "-") return decimal::sub(d(r.a), d(r.b));
  if (op == "*") return decimal::mul(d(r.a), d(r.b));
  if (op == "/") return decimal::quo(d(r.a), d(r.b));
  if (op == "%") return decimal::rem(d(r.a), d(r.b));
  return decimal::pow(d(r.a), d(r.b));
}

// Facts of the General Decimal Arithmetic specification at 34 digits, half up.
TEST(Decimal, Arithmetic) {
  const Row rows[] = {
      {"+", "1.10", "1.1", "2.20"},
      {"+", "99999999999999999999999999999999999", "1", "1.000000000000000000000000000000000E+35"},
      {"+", "18446744073709551615", "1", "18446744073709551616"},
      {"+", "-1", "1", "0"},
      {"+", "1E+3", "1", "1001"},
      {"-", "1.3", "1.07", "0.23"},
      {"-", "0", "5", "-5"},
      {"*", "1.0", "3", "3.0"},
      {"*", "100", "1.1", "110.0"},
      {"*", "18446744073709551615", "18446744073709551615", "3.402823669209384634264811192843491E+38"},
      {"*", "-3", "0", "0"},
      {"/", "1", "3", "0.3333333333333333333333333333333333"},
      {"/", "2", "3", "0.6666666666666666666666666666666667"},
      {"/", "4", "2", "2.0"},
      {"/", "1", "4", "0.25"},
      {"/", "100", "10", "10"},
      {"/", "0", "7", "0"},
      {"/", "-1", "8", "-0.125"},
      {"%", "10", "3", "1"},
      {"%", "-10", "3", "-1"},
      {"%", "3.6", "1.3", "1.0"},
      {"^", "2", "10", "1024"},
      {"^", "2", "-2", "0.25"},
      {"^", "8", "0.5", "2.828427124746190097603377448419396"},
      {"^", "1.5", "2", "2.25"},
      {"^", "-2", "3", "-8"},
  };
  for (const Row& r : rows) {
    DecimalResult got = apply(r);
    ASSERT_TRUE(got.ok()) << r.a << r.op << r.b << ": " << got.error;
    EXPECT_EQ(got.value.text(), r.want) << r.a << r.op << r.b;
  }
}

TEST(Decimal, NoFiniteResult) {
  EXPECT_STREQ(decimal::quo(d("1"), d("0")).error, "division by zero");
  EXPECT_STREQ(decimal::quo(d("0"), d("0")).error, "division undefined");
  EXPECT_STREQ(decimal::mul(d("1e99999"), d("1e99999")).error, "overflow");
  EXPECT_STREQ(decimal::pow(d("10"), d("99999999999")).error, "overflow");
  EXPECT_STREQ(decimal::pow(d("-1"), d("0.5")).error, "invalid operation");
  EXPECT_STREQ(decimal::ln(d("-1")).error, "invalid operation");
}

TEST(Decimal, ParseAndPrint) {
  const char* same[] = {"0",
                        "1",
                        "-1",
                        "1.50",
                        "0.000001",
                        "1E+3",
                        "1E-7",
                        "1.5E+10",
                        "0.0",
                        "0.00000000",
                        "12345678901234567890123456789012345678901234567890"};
  for (const char* s : same) EXPECT_EQ(d(s).text(), s);
  EXPECT_EQ(d("1.").text(), "1");
  EXPECT_EQ(d(".5").text(), "0.5");
  EXPECT_EQ(d("1e3").text('e'), "1e+3");
  EXPECT_EQ(d("1e3").plain(), "1000");
  EXPECT_EQ(d("-12e-8").plain(), "-0.00000012");
  EXPECT_EQ(d("-0").text(), "0");
  for (const char* s : {"", ".", "-", "1e", "1x", "1.2.3", "e5", "1e99999999999", "--1"})
    EXPECT_FALSE(Decimal::parse(s)) << s;
  EXPECT_EQ(Decimal::parse_integer("ff", 16)->text(), "255");
  EXPECT_EQ(Decimal::parse_integer("-777", 8)->text(), "-511");
  EXPECT_FALSE(Decimal::parse_integer("8", 8));
  EXPECT_EQ(d("255").integer_text(16), "ff");
  EXPECT_EQ(d("-255").integer_text(2), "-11111111");
  EXPECT_EQ(Decimal::from_double(0.1).text(), "0.1");
  EXPECT_EQ(Decimal::from_double(1e300).text(), "1E+300");
}

TEST(Decimal, Compare) {
  EXPECT_EQ(d("1.0"), d("1"));
  EXPECT_EQ(d("1e3"), d("1000"));
  EXPECT_FALSE(d("1.0").same(d("1")));
  EXPECT_LT(d("-2"), d("1e-100"));
  EXPECT_LT(d("9.99"), d("1e1"));
  EXPECT_GT(d("-9.99"), d("-1e1"));
  EXPECT_EQ(d("1.00").hash(), d("1").hash());
  EXPECT_EQ(d("100000000000000000000000000").hash(), d("1e26").hash());
  EXPECT_LT(d("1e90000"), d("1e90001"));
}

TEST(Decimal, Whole) {
  EXPECT_TRUE(d("1e3").is_integer());
  EXPECT_TRUE(d("1.0").is_integer());
  EXPECT_FALSE(d("1.5").is_integer());
  EXPECT_EQ(d("-9223372036854775808").to_i64(), INT64_MIN);
  EXPECT_EQ(d("9223372036854775808").to_i64(), std::nullopt);
  EXPECT_EQ(d("18446744073709551615").to_u64(), UINT64_MAX);
  EXPECT_EQ(d("1.5").to_i64(), std::nullopt);
  // Euclid: (a, b, div, mod, quo, rem)
  const char* rows[][6] = {{"5", "3", "1", "2", "1", "2"},
                           {"-5", "3", "-2", "1", "-1", "-2"},
                           {"5", "-3", "-1", "2", "-1", "2"},
                           {"-5", "-3", "2", "1", "1", "-2"}};
  for (auto& r : rows) {
    EXPECT_EQ(decimal::int_div(d(r[0]), d(r[1])).text(), r[2]);
    EXPECT_EQ(decimal::int_mod(d(r[0]), d(r[1])).text(), r[3]);
    EXPECT_EQ(decimal::int_quo(d(r[0]), d(r[1])).text(), r[4]);
    EXPECT_EQ(decimal::int_rem(d(r[0]), d(r[1])).text(), r[5]);
  }
  EXPECT_EQ(decimal::int_and(d("-1"), d("255")).text(), "255");
  EXPECT_EQ(decimal::int_shift_left(d("1"), 100).text(), "1267650600228229401496703205376");
  EXPECT_EQ(decimal::to_integral(d("2.5"), Rounding::kHalfEven).text(), "2");
  EXPECT_EQ(decimal::to_integral(d("2.5"), Rounding::kHalfUp).text(), "3");
  EXPECT_EQ(decimal::to_integral(d("-2.5"), Rounding::kFloor).text(), "-3");
  EXPECT_EQ(decimal::to_integral(d("0.4"), Rounding::kHalfUp).text(), "0");
  EXPECT_EQ(decimal::to_integral(d("1e-50"), Rounding::kCeiling).text(), "1");
}

TEST(Decimal, Functions) {
  EXPECT_EQ(decimal::exp(d("1")).value.text(), "2.718281828459045235360287471352662");
  EXPECT_EQ(decimal::ln(d("10")).value.text(), "2.302585092994045684017991454684364");
  EXPECT_EQ(decimal::log10(d("1000")).value.text(), "3");
  EXPECT_EQ(decimal::cbrt(d("27")).value.text(), "3");
  EXPECT_EQ(decimal::sqrt(d("2")).value.text(), "1.414213562373095048801688724209698");
}

// Laws that hold for all numbers small enough not to be rounded.
TEST(Decimal, Laws) {
  std::mt19937_64 random(7);
  auto any = [&] {
    i64 c = static_cast<i64>(random()) >> (random() % 63);
    return *Decimal::parse(std::to_string(c % 1'000'000'000'000'000) + "e" +
                           std::to_string(static_cast<int>(random() % 13) - 6));
  };
  for (int i = 0; i < 3000; ++i) {
    Decimal a = any(), b = any(), c = any();
    EXPECT_EQ(decimal::add(a, b).value, decimal::add(b, a).value);
    EXPECT_TRUE(decimal::mul(a, b).value.same(decimal::mul(b, a).value));
    EXPECT_EQ(decimal::sub(decimal::add(a, b).value, b).value, a);
    EXPECT_EQ(a < b, decimal::sub(a, b).value.sign() < 0);
    EXPECT_TRUE(Decimal::parse(a.text())->same(a));
    EXPECT_EQ(*Decimal::parse(a.plain()), a);
    EXPECT_EQ(a.reduced(), a);
    EXPECT_EQ(a == b, a.text() == b.text() || a.reduced().same(b.reduced()));
    if ((a <=> b) == 0) {
      EXPECT_EQ(a.hash(), b.hash());
    }
    if (!b.is_zero()) {
      Decimal q = decimal::quo(a, b).value;
      Decimal back = decimal::mul(q, b).value;
      Decimal error = decimal::sub(back, a).value.abs();
      EXPECT_LE(error, decimal::mul(a.abs(), d("1e-32")).value);
    }
    double x = a.to_double();
    EXPECT_EQ(Decimal::from_double(x).to_double(), x);
  }
}

}  // namespace
}  // namespace tutti
