#pragma once

#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/arena.h"
#include "format/yaml/event.h"

// A parser of YAML 1.2.2, by the productions of its specification: block nodes call block nodes that are further to
// the right, flow nodes call flow nodes, and nothing is looked at twice but the few characters behind what may turn
// out to be a key.
//
// Why it is written by hand: libyaml reads YAML 1.1 (of the public test suite's 308 valid documents it refuses 49, and
// reads 5 as something else), and libfyaml 0.7, which reads all of them, can be made to crash and to hang by a few
// thousand altered documents, which is no reader for strangers' files.
//
// What is deeply nested ends where the handler ends it: it learns of every list and map before what is in it is read.
namespace tutti::yaml {

// The anchor and the tag of a node.
struct Properties {
  std::string_view anchor, tag;
  std::size_t start = 0;
  bool any() const { return !anchor.empty() || !tag.empty(); }
  // A node begins with its properties.
  std::size_t start_of(std::size_t content) const { return any() ? start : content; }
};

class Parser {
 public:
  // UTF-8 without a byte order mark at its beginning.
  Parser(std::string_view text, Handler& handler) : text_(text), handler_(handler) {}
  // nullopt: all of it was handed over.
  std::optional<Problem> parse();

 private:
  // Whether what stands here may be a key: of a map that begins with it, or has to be the next key of one.
  enum class AsKey : u8 { kNo, kFirst, kNext };
  // What may begin on the line of the indicator that a node stands behind.
  struct Place {
    int indent;              // of the node that this one belongs to; it has to be further to the right
    bool compact = false;    // a list or map may begin on this line: behind `-`, `?` and the `:` of a `?`
    bool dash_here = false;  // a list may be as far to the left as the keys of the map that it is a value in
    bool fresh = false;      // the line begins with it
  };
  // A flow collection whose end may show that it is a key: what a map began with before it was known to be one.
  struct Candidate {
    u64 id = 0;
    u64 first = 0;  // number of its first item
    std::size_t start = 0;
    Properties outer;  // of the map, or its own when it is no key
  };

  // ---- characters and lines (lines.cpp)
  char peek(std::size_t ahead = 0) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }
  static bool is_break(char c) { return c == '\n' || c == '\r' || c == '\0'; }
  static bool is_white(char c) { return c == ' ' || c == '\t'; }
  static bool is_blank(char c) { return is_white(c) || is_break(c); }
  static bool is_flow_indicator(char c) { return c == ',' || c == '[' || c == ']' || c == '{' || c == '}'; }
  bool ended() const { return at_ >= text_.size(); }
  bool indicator(char c) const { return peek() == c && is_blank(peek(1)); }
  int column() const { return static_cast<int>(at_ - line_); }
  bool marker() const;  // of a document's begin or end
  bool skip_white();    // whether a tab was among it
  void skip_break();
  void skip_comment();
  void finish_line();  // only a comment may follow
  void next_content();
  int here() const;  // the indentation of the content that was found, -1 at the end of the document
  [[noreturn]] void fail(std::string_view what, std::string_view help = {}) const { fail_at(at_, what, help); }
  [[noreturn]] void fail_at(std::size_t at, std::string_view what, std::string_view help = {}) const {
    throw Problem{at, what, help, brackets_.empty() ? std::string_view::npos : brackets_.back()};
  }
  void check_characters() const;

  // ---- documents and block nodes (parser.cpp)
  void stream();
  bool directives();
  void document(bool explicit_start);
  void block_node(Place place);
  bool content_below(const Place& place);
  void block_content(const Place& place, bool tab, const Properties& outer, const Properties& inner, std::size_t start);
  void list(const Properties& properties, std::size_t start);
  void map(const Properties& properties, std::size_t start, int indent);
  void rest_of_map(int indent);
  bool map_entry(int indent);
  void explicit_entry(int indent);
  void inline_node(int indent, const Properties& outer, const Properties& inner, std::size_t start, AsKey as_key);
  void value_behind_key(int indent);
  void block_scalar(int indent, const Properties& properties);

  // ---- flow nodes (flow.cpp)
  void flow_collection(int indent, const Properties& properties);
  void flow_entries(int indent, bool list);
  void flow_list_entry(int indent);
  void flow_map_entry(int indent);
  void flow_pair(int indent);
  void flow_value(int indent);
  bool flow_node(int indent);
  bool flow_absent() const;
  bool flow_colon(bool behind_json) const;
  void flow_space(int indent);

  // ---- scalars (scalars.cpp)
  struct Scalar {
    Item item;
    bool json_like = false;
  };
  bool begins_plain(bool flow) const;
  void scalar(int indent, bool flow, const Properties& properties);  // or an alias, into scalar_
  std::string_view plain(int indent, bool flow);
  std::size_t plain_line(bool flow);
  bool continues_plain(int indent, std::size_t& breaks);
  std::string_view quoted(int indent, char quote);
  void fold_quoted(int indent, bool escaped);
  void escape();
  u32 hex(std::size_t digits);

  // ---- properties and what is handed over (properties.cpp)
  Properties properties(bool flow);
  std::string_view anchor_name();
  std::string_view tag();
  std::string_view tag_text(std::string_view what);
  void tag_directive();
  void version_directive();
  Properties merged(const Properties& outer, const Properties& inner) const;
  void emit(Item item);
  void emit(Event event, std::size_t start, std::size_t end, const Properties& properties = {});
  void empty(std::size_t at, const Properties& properties = {});
  u64 hold(std::size_t start, const Properties& outer);
  bool may_be_key(u64 candidate) const { return !candidates_.empty() && candidates_.back().id == candidate; }
  void begin_map_at(u64 candidate);  // it was a key
  void settle(u64 candidate);        // it was none
  void settle_all();                 // the line has ended, and with it all that could be one
  void settle_first();
  void hand_over();

  std::string_view text_;
  Handler& handler_;
  std::size_t at_ = 0, line_ = 0;  // bytes: where it is, and where the line begins
  int indent_ = -1;                // of the content found last
  bool tabbed_ = false;            // behind its indentation stands a tab
  // The content behind the line break at `from`, where a plain text was seen not to go on.
  struct Ahead {
    std::size_t from = std::string_view::npos, at = 0, line = 0;
    int indent = -1;
    bool tabbed = false;
  } ahead_;
  std::vector<std::size_t> brackets_;  // those that are open
  Scalar scalar_;
  std::string folded_;    // the text of a scalar that does not stand in the source as it is
  std::size_t kept_ = 0;  // of it, what white space before a line break is not taken from
  std::map<std::string, std::string, std::less<>> handles_;
  Arena texts_;            // of a document: written-out tags
  std::deque<Item> held_;  // what is not handed over yet
  std::deque<std::string> held_texts_;
  std::deque<Candidate> candidates_;
  u64 handed_ = 0;  // number of the first item that is held
  u64 last_id_ = 0;
};

}  // namespace tutti::yaml
