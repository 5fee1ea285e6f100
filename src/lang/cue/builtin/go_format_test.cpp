#include "lang/cue/builtin/go_format.h"

#include <gtest/gtest.h>

#include "lang/cue/builtin/go_float.h"

namespace tutti::cue {
namespace {

using V = GoValue;

std::string printed(std::string_view format, GoValue::List args) { return go_sprintf(format, args); }

GoValue inside(GoValue v) {
  v.boxed = true;
  return v;
}
GoValue list_of(GoValue::List items) {
  for (GoValue& i : items) i.boxed = true;
  return V::list(std::move(items));
}
GoValue map_of(GoValue::Map fields) {
  GoValue v;
  v.kind = V::kMap;
  v.fields = std::make_shared<const GoValue::Map>(std::move(fields));
  return v;
}

TEST(GoFormat, Integers) {
  EXPECT_EQ(printed("%d|%5d|%-5d|%05d|%+d|% d",
                    {V::number(42), V::number(42), V::number(42), V::number(-42), V::number(42), V::number(42)}),
            "42|   42|42   |-0042|+42| 42");
  EXPECT_EQ(printed("%b %o %O %#o %x %X %#x", GoValue::List(7, V::number(200))), "11001000 310 0o310 0310 c8 C8 0xc8");
  EXPECT_EQ(printed("%c %q %U %#U", GoValue::List(4, V::number(0x1F600))), "😀 '😀' U+1F600 U+1F600 '😀'");
  EXPECT_EQ(printed("%.3d|%8.3d|%.0d|", {V::number(5), V::number(-5), V::number(0)}), "005|    -005||");
}

TEST(GoFormat, Texts) {
  V s = V::string("héllo");
  EXPECT_EQ(printed("%7s|%-7s|%.2s|%q|%+q|%#q|%x|% X", GoValue::List(8, s)),
            "  héllo|héllo  |hé|\"héllo\"|\"h\\u00e9llo\"|`héllo`|68c3a96c6c6f|68 C3 A9 6C 6C 6F");
}

TEST(GoFormat, Floats) {
  EXPECT_EQ(printed("%v %v %v %g", {V::floating(1.5), V::floating(1e6), V::floating(1e-5), V::floating(100000)}),
            "1.5 1e+06 1e-05 100000");
  EXPECT_EQ(printed("%.2f|%8.2f|%-8.2f|%08.2f|%+.1e|%#g", GoValue::List(6, V::floating(-3.14159))),
            "-3.14|   -3.14|-3.14   |-0003.14|-3.1e+00|-3.14159");
  EXPECT_EQ(printed("%x %X %b", GoValue::List(3, V::floating(1.5))), "0x1.8p+00 0X1.8P+00 6755399441055744p-52");
}

TEST(GoFormat, ListsAndMaps) {
  V m = map_of({{"b", inside(V::number(1, V::kInt64))}, {"a", inside(list_of({V::string("x"), V()}))}});
  EXPECT_EQ(printed("%v", {m}), "map[a:[x <nil>] b:1]");
  EXPECT_EQ(printed("%#v", {m}), R"(map[string]interface {}{"a":[]interface {}{"x", interface {}(nil)}, "b":1})");
  EXPECT_EQ(printed("%d", {m}), "map[%!d(string=a):[%!d(string=x) <nil>] %!d(string=b):1]");
  EXPECT_EQ(printed("%T", {m}), "map[string]interface {}");
}

TEST(GoFormat, ArgumentsAndMistakes) {
  EXPECT_EQ(printed("%[2]d %[1]d", {V::number(1), V::number(2)}), "2 1");
  EXPECT_EQ(printed("%*d|%-*d|%.*f",
                    {V::number(4), V::number(1), V::number(3), V::number(2), V::number(1), V::floating(2.55)}),
            "   1|2  |2.5");
  EXPECT_EQ(printed("%d", {V::string("a")}), "%!d(string=a)");
  EXPECT_EQ(printed("%d", {}), "%!d(MISSING)");
  EXPECT_EQ(printed("%d", {V::number(1), V::number(2), V()}), "1%!(EXTRA int=2, <nil>)");
  EXPECT_EQ(printed("%[3]d", {V::number(1)}), "%!d(BADINDEX)");
  EXPECT_EQ(printed("%*d", {V::string("a"), V::number(1)}), "%!(BADWIDTH)1");
  EXPECT_EQ(printed("%", {}), "%!(NOVERB)");
  EXPECT_EQ(printed("%99999999d", {V::number(1)}), "%!(NOVERB)%!(EXTRA int=1)");
  EXPECT_EQ(printed("%z%%", {V::number(1)}), "%!z(int=1)%");
}

TEST(GoFormat, Print) {
  GoValue::List args = {V::number(1), V::number(2), V::string("a"), V::number(3), V::string("b"), V::string("c")};
  EXPECT_EQ(go_sprint(args), "1 2a3bc");
  EXPECT_EQ(go_sprintln(args), "1 2 a 3 b c\n");
}

TEST(GoFloat, Forms) {
  EXPECT_EQ(go_float(255, 'b', -1), "8972014882652160p-45");
  EXPECT_EQ(go_float(255.5, 'x', 3), "0x1.ff0p+07");
  EXPECT_EQ(go_float(3.14, 'X', 0), "0X1P+02");
  EXPECT_EQ(go_float(1e6, 'g', -1), "1e+06");
  EXPECT_EQ(go_float(123456, 'g', 3), "1.23e+05");
  EXPECT_EQ(go_float(3e100, 'f', -1), "3" + std::string(100, '0'));
  EXPECT_EQ(go_float(0.1, 'e', -1, 32), "1e-01");
}

}  // namespace
}  // namespace tutti::cue
