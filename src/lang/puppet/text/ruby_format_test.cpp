#include "lang/puppet/text/ruby_format.h"

#include <gtest/gtest.h>

namespace tutti::puppet {
namespace {

FormatDirective directive(std::string_view format) {
  std::size_t at = 1;
  std::optional<FormatDirective> d = parse_directive(format, at);
  EXPECT_TRUE(d) << format;
  return d.value_or(FormatDirective{});
}
std::string integer(std::string_view format, i64 value) { return format_integer(directive(format), value); }
std::string real(std::string_view format, double value) { return format_real(directive(format), value); }
std::string text(std::string_view format, std::string_view value) { return format_text(directive(format), value); }

// Answers of Ruby 3.1.
TEST(RubyFormat, Floats) {
  EXPECT_EQ(ruby_float(1.0), "1.0");
  EXPECT_EQ(ruby_float(1.5), "1.5");
  EXPECT_EQ(ruby_float(-0.0), "-0.0");
  EXPECT_EQ(ruby_float(1.0e+15), "1.0e+15");
  EXPECT_EQ(ruby_float(1.0e+16), "1.0e+16");
  EXPECT_EQ(ruby_float(0.0001), "0.0001");
  EXPECT_EQ(ruby_float(1.0e-05), "1.0e-05");
  EXPECT_EQ(ruby_float(123456789.125), "123456789.125");
  EXPECT_EQ(ruby_float(1.0e+100), "1.0e+100");
  EXPECT_EQ(ruby_float(0.30000000000000004), "0.30000000000000004");
  EXPECT_EQ(ruby_float(100.0), "100.0");
  EXPECT_EQ(ruby_float(5.0e-324), "5.0e-324");
  EXPECT_EQ(ruby_float(-2.5e-07), "-2.5e-07");
}

TEST(RubyFormat, Directives) {
  EXPECT_EQ(integer("%d", 5), "5");
  EXPECT_EQ(integer("%5d", 5), "    5");
  EXPECT_EQ(integer("%-5d|", 5), "5    ");
  EXPECT_EQ(integer("%05d", -5), "-0005");
  EXPECT_EQ(integer("%+d", 5), "+5");
  EXPECT_EQ(integer("% d", 5), " 5");
  EXPECT_EQ(integer("%x", 255), "ff");
  EXPECT_EQ(integer("%#x", 255), "0xff");
  EXPECT_EQ(integer("%X", 255), "FF");
  EXPECT_EQ(integer("%x", -255), "..f01");
  EXPECT_EQ(integer("%b", 5), "101");
  EXPECT_EQ(integer("%08b", 5), "00000101");
  EXPECT_EQ(integer("%b", -5), "..1011");
  EXPECT_EQ(integer("%o", 8), "10");
  EXPECT_EQ(integer("%#o", 8), "010");
  EXPECT_EQ(integer("%.3d", 5), "005");
  EXPECT_EQ(integer("%08.3d", 5), "     005");
  EXPECT_EQ(integer("%+x", -255), "-ff");
  EXPECT_EQ(integer("%08x", -255), "..ffff01");
  EXPECT_EQ(integer("%c", 65), "A");
  EXPECT_EQ(real("%f", 1.5), "1.500000");
  EXPECT_EQ(real("%.2f", 1.005), "1.00");
  EXPECT_EQ(real("%e", 12345.678), "1.234568e+04");
  EXPECT_EQ(real("%g", 10000000000.0), "1e+10");
  EXPECT_EQ(real("%10.3f", 3.14159), "     3.142");
  EXPECT_EQ(real("%-10.1f", 2.25), "2.2       ");
  EXPECT_EQ(real("%+.1f", 1.0), "+1.0");
  EXPECT_EQ(real("%010.2f", -1.5), "-000001.50");
  EXPECT_EQ(real("%G", 1.0e-10), "1E-10");
  EXPECT_EQ(text("%s", "ab"), "ab");
  EXPECT_EQ(text("%5s", "ab"), "   ab");
  EXPECT_EQ(text("%-5s", "ab"), "ab   ");
  EXPECT_EQ(text("%.1s", "ab"), "a");
  EXPECT_EQ(text("%5.1s", "äb"), "    ä");
}

TEST(RubyFormat, NamesAndPositions) {
  std::size_t at = 1;
  EXPECT_EQ(parse_directive("%<port>05d", at)->name, "port");
  at = 1;
  EXPECT_TRUE(parse_directive("%{port}d", at)->braced);
  EXPECT_EQ(at, 7u);
  at = 1;
  EXPECT_EQ(parse_directive("%2$s", at)->position, 2);
  at = 1;
  EXPECT_FALSE(parse_directive("%5", at));
}

}  // namespace
}  // namespace tutti::puppet
