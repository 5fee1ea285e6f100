#include "lang/puppet/format.h"

#include <gtest/gtest.h>

namespace tutti::puppet {
namespace {

std::string formatted(const std::string& text) {
  Session session;
  auto out = format_manifest(session, **session.sources->add("t.pp", text));
  return out ? *out : "error";
}

TEST(PuppetFormat, IndentsAndAlignsArrows) {
  EXPECT_EQ(
      formatted(
          "class a {\nfile { '/x':\nensure => file,\n  content=> 'y',   \n      # why\n      mode => '0644',\n}\n}\n"),
      "class a {\n  file { '/x':\n    ensure  => file,\n    content => 'y',\n    # why\n    mode => '0644',\n  }\n}\n");
}

TEST(PuppetFormat, LeavesStringsAndHeredocsAlone) {
  std::string text = "$a = \"x\n   y  \n\"\n$b = @(END)\n      text  \n  | END\nnotice $a\n";
  EXPECT_EQ(formatted(text), text);
}

TEST(PuppetFormat, IsIdempotent) {
  for (const char* text : {"if $x {\n notice 1\n} else {\n   notice 2\n}\n\n\n\n$y = [\n1,\n  2,\n]\n",
                           "foo({\n'a' => 1,\n'bcd' => [\n1,\n],\n})\n", "node default {\n\tinclude a, b\n}\n",
                           "$x = $y ? {\n1 => 2,\n default => 3,\n}\n"}) {
    std::string once = formatted(text);
    EXPECT_EQ(formatted(once), once) << text;
  }
}

TEST(PuppetFormat, RefusesWhatDoesNotParse) { EXPECT_EQ(formatted("class {"), "error"); }

}  // namespace
}  // namespace tutti::puppet
