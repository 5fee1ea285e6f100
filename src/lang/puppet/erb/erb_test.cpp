#include <gtest/gtest.h>

#include "lang/puppet/erb/render.h"
#include "lang/puppet/eval/compiler.h"

namespace tutti::puppet {
namespace {

// Renders at top scope, without Ruby.
class Erb : public ::testing::Test {
 protected:
  Erb() : environment_({}, session_.sources, session_.budget.limits()), compiler_(environment_, session_, node()) {
    compiler_.compile({});
    set("port", Val::integer(80));
    set("on", Val::boolean(true));
    set("word", Val::string("été"));
    set("name_", Val::string("a.conf"));
    const Val words[] = {Val::string("b"), Val::string("a"), Val::undef()};
    set("words", make_array(session_.arena, words));
    const Pair pairs[] = {{Val::string("z"), Val::integer(1)}, {Val::string("k"), Val::string("v")}};
    set("map", make_hash(session_.arena, pairs));
  }

  std::string render(std::string_view text) {
    try {
      return erb::render(compiler_, compiler_.top(), text, {});
    } catch (const erb::Unsupported& u) {
      return "needs Ruby: " + u.what;
    }
  }
  bool needs_ruby(std::string_view text) { return render(text).starts_with("needs Ruby: "); }

 private:
  NodeInfo node() {
    NodeInfo n;
    n.name = "test.example.com";
    n.facts = make_hash(session_.arena, {});
    return n;
  }
  void set(std::string_view name, const Val& v) { compiler_.set_variable(compiler_.top(), Symbol(name), v); }

  static Limits few_steps() {
    Limits l;
    l.steps = 2'000'000;
    return l;
  }
  Session session_{few_steps()};
  Environment environment_;
  Compiler compiler_;
};

TEST_F(Erb, TagsTakeTheLinesTheyAreToldTo) {
  EXPECT_EQ(render("a\n  <%- if @on -%>\n b\n  <%- end -%>\nc"), "a\n b\nc");
  EXPECT_EQ(render("<% if @on %>\nb\n<% end %>\n"), "\nb\n\n");
  EXPECT_EQ(render("x  <%- 1 %>y"), "x  y");     // blanks that do not begin a line stay
  EXPECT_EQ(render("<% 1 %>  <%- 1 %>y"), "y");  // unless a tag ended there
  EXPECT_EQ(render("<%% a %%> <%= '%%>' %>"), "<% a %%> %>");
  EXPECT_EQ(render("a<%# no -%>\nb<%= @port -%>\r\nc"), "ab80c");
  EXPECT_EQ(render("<% # told -%>\na"), "a");
  EXPECT_TRUE(needs_ruby("<% # swallows the rest of the line %>a\nb"));
}

TEST_F(Erb, ShowsValuesAsRubyWritesThem) {
  EXPECT_EQ(render("<%= @port %> <%= @none %> <%= @on %> <%= @words %> <%= @map %> <%= 1.50 %> <%= :a %>"),
            "80  true [\"b\", \"a\", nil] {\"z\"=>1, \"k\"=>\"v\"} 1.5 a");
  EXPECT_EQ(render("<%= \"#{@port}-#{ \"#{@on}\" }\" + 'a\\'b\\n' %>"), "80-truea'b\\n");
  EXPECT_EQ(render("<%= [1, [2, [nil, 'x']]].join('-') %> <%= @words.compact.sort.join(' ') %>"), "1-2--x a b");
}

TEST_F(Erb, Branches) {
  EXPECT_EQ(render("<% if @port == 443 %>s<% elsif @port > 79 and not @none %>p<% else %>e<% end %>"), "p");
  EXPECT_EQ(render("<% unless @on %>a<% else %>b<% end %>"), "b");
  EXPECT_EQ(render("<%= @on ? 'y' : 'n' %><%= 'z' if @none %>"), "y");
  EXPECT_EQ(render("<% case @name_\nwhen /^b/, 'c' %>1<% when String then %>2<% end %>"), "2");
  EXPECT_EQ(render("<%= @none || @port && 'both' %> <%= !@on %>"), "both false");
}

TEST_F(Erb, GoesThroughArraysAndHashes) {
  EXPECT_EQ(render("<% @map.sort.each do |k, v| -%>\n<%= k %>=<%= v %>\n<% end -%>\n"), "k=v\nz=1\n");
  EXPECT_EQ(render("<%= @map.map { |k, v| \"#{k}:#{v}\" }.join(',') %>"), "z:1,k:v");
  EXPECT_EQ(render("<% @words.each_with_index do |w, i| next if w.nil? %><%= i %><%= w %>;<% end %>"), "0b;1a;");
  EXPECT_EQ(render("<%= @words.map(&:to_s).reject { |w| w.empty? }.inspect %>"), "[\"b\", \"a\"]");
  EXPECT_EQ(render("<%= @map.each_with_index.class %>").substr(0, 10), "needs Ruby");
  EXPECT_EQ(render("<% x = [] %><% @map.each { |k, v| x << k; x << v } %><%= x.inspect %>"),
            "[\"z\", 1, \"k\", \"v\"]");
  EXPECT_EQ(render("<%= [[1, [2, 3]]].map { |a, (b, c)| a + b + c }.first %>"), "6");
  EXPECT_EQ(render("<% [1, 2, 3].each { |n| break if n == 3 %><%= n %><% } %>"), "12");
  EXPECT_EQ(render("<%= ['b', 'a'].sort { |x, y| y <=> x }.join %> <%= %w(bb a).sort_by { |w| w.length }.join %>"),
            "ba abb");
}

TEST_F(Erb, LocalsAndVariablesOfTheTemplate) {
  EXPECT_EQ(render("<% a = 1; [1].each { b = 2; a += b } %><%= a %><% c ||= 'c' %><%= c %>"), "3c");
  EXPECT_EQ(render("<% @mine = @port + 1 %><%= @mine %><% @none ||= 'n' %><%= @none %>"), "81n");
  EXPECT_EQ(render("<% if defined?(@nothing) %>a<% end %><% if defined? @port %>b<% end %>"), "b");
  EXPECT_EQ(render("<% def yes(v) return 'y' if v\n 'n' end %><%= yes(@on) %><%= yes(nil) %>"), "yn");
  EXPECT_EQ(render("<%= scope['port'] %> <%= scope.lookupvar('::name_') %> <%= scope.to_hash.has_key?('none') %>"),
            "80 a.conf false");
  EXPECT_EQ(render("<% scope.setvar('v', {}) %><% scope.lookupvar('v')[:a] = 1 %><%= scope['v'][:a] %>"), "1");
  EXPECT_EQ(render("<%= scope.function_versioncmp(['1.10', '1.9']) %>"), "1");
}

TEST_F(Erb, Texts) {
  EXPECT_EQ(render("<%= @name_.sub(/\\.(\\w+)$/, '-\\1') %> <%= 'a-b-c'.gsub('-', '/') %>"), "a-conf a/b/c");
  EXPECT_EQ(render("<% if @name_ =~ /(.)\\.(.*)/ %><%= $2 %><%= $1 %><% end %>"), "confa");
  EXPECT_EQ(render("<%= @name_.match('c.n') ? 'y' : 'n' %><%= /(o)n/.match(@name_)[1] %>"), "yo");
  EXPECT_EQ(render("<%= ' x '.strip.ljust(3) %>|<%= 'abc'[1..-1] %>|<%= 'a,b,,'.split(',').length %>"), "x  |bc|2");
  EXPECT_EQ(render("<%= 'ab' * 2 %> <%= -7 / 2 %> <%= -7 % 3 %> <%= '12x'.to_i + 1 %>"), "abab -4 2 13");
}

// Arrays are shared with the manifest, as in Ruby: it sees what was added once the text is complete.
TEST_F(Erb, ChangesWhatAVariableHolds) {
  EXPECT_TRUE(needs_ruby("<% @words << 'c' %><%= scope['words'] %>"));
  EXPECT_TRUE(needs_ruby("<% @words << 'c' %><%= nil.foo %>"));
  EXPECT_EQ(render("<%= @words.inspect %>"), "[\"b\", \"a\", nil]");
  EXPECT_EQ(render("<% all = @words; all << 'c' %><%= @words.length %>"), "4");
  EXPECT_EQ(render("<%= @words.inspect %>"), "[\"b\", \"a\", nil, \"c\"]");
}

// What is not certain to be the same is left to Ruby, whole.
TEST_F(Erb, LeavesTheRestToRuby) {
  EXPECT_TRUE(needs_ruby("<% require 'yaml' %>"));
  EXPECT_TRUE(needs_ruby("<%= nil.foo %>"));
  EXPECT_TRUE(needs_ruby("<%= @none + 1 %>"));
  EXPECT_TRUE(needs_ruby("<%= @word.length %>"));  // characters, not bytes
  EXPECT_TRUE(needs_ruby("<%= 9223372036854775 * 100000 %>"));
  EXPECT_TRUE(needs_ruby("<% begin %><% rescue %><% end %>"));
  EXPECT_TRUE(needs_ruby("<% scope.function_notice(['x']) %>"));
  EXPECT_TRUE(needs_ruby("<%= unknown %>"));
  EXPECT_TRUE(needs_ruby("<% if @on %>"));
  EXPECT_TRUE(needs_ruby("<%= [1, 'a'].sort %>"));
}

TEST_F(Erb, LimitsHold) {
  EXPECT_THROW(render("<% 9999999999.times { |i| } %>"), LimitError);
  EXPECT_THROW(render("<% x = 'ab' %><% 99.times { x = x + x } %>"), LimitError);
  EXPECT_TRUE(needs_ruby("<% x = []; x << x %><%= x.inspect %>"));
  EXPECT_TRUE(needs_ruby("<% x = {}; y = [x]; x[1] = y %><%= x == x %>"));
  EXPECT_THROW(render("<% x = [1]; 60.times { x = [x, x] } %><%= x.inspect %>"), LimitError);
  EXPECT_THROW(render("<% x = [1]; y = [1]; 60.times { x = [x, x]; y = [y, y] } %><%= x == y %>"), LimitError);
  EXPECT_THROW(render("<% x = [1]; 60.times { x = [x, x] } %><% [] << x %>"), LimitError);
  EXPECT_THROW(render("<% x = [1]; 99999.times { x = [x] } %><%= x.flatten %>"), LimitError);
  EXPECT_THROW(render("<% x = [1]; 99999.times { x = [x] } %><%= x.to_s %>"), LimitError);
  std::string deep(100'000, '(');
  EXPECT_THROW(render("<%= " + deep + " %>"), LimitError);
}

}  // namespace
}  // namespace tutti::puppet
