#include "model/shell_quotes.h"

#include <gtest/gtest.h>

namespace tutti::model {
namespace {

TEST(ShellQuotes, ATextThatIsCutOffWithinQuotes) {
  for (const char* text :
       {"echo \"hello ", "echo '", "bash -c 'echo ", "cat > o <<E\n", "cat <<-'E' >o\nline\n", "a \"$(echo x) ",
        "echo \"${'name} ", "x `echo \"", "# a line\necho '", "cat <<A; cat <<B\n1\nA\n", "echo it's "})
    EXPECT_TRUE(is_within_quotes(text)) << text;
}

TEST(ShellQuotes, ATextThatIsNot) {
  for (const char* text :
       {"", "echo ", "echo \"a\" 'b' ", "echo \\\" ", "echo \"$(printf %s ", "test \"$(cmd 'x' \"y\" ",
        "# don't\necho ", "cat <<E\nit's\nE\necho ", "cat <<<word ", "echo ${'name|it's} ", "case $x in a) echo ",
        "x=`echo ", "echo \"a\\\"b\" ", "\"$TUTTI_SCOPE/\"", "echo $$${x:-y} ", "echo $((1 + 2)) "})
    EXPECT_FALSE(is_within_quotes(text)) << text;
}

}  // namespace
}  // namespace tutti::model
