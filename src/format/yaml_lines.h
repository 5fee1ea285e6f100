#pragma once

#include <yaml.h>

#include <array>
#include <string_view>
#include <vector>

#include "base/arena.h"

namespace tutti {

struct YamlEvent {
  yaml_event_type_t type = YAML_NO_EVENT;
  bool flow = false;  // of a list or map
  yaml_scalar_style_t style = YAML_ANY_SCALAR_STYLE;
  yaml_mark_t start{}, end{};
  std::string_view value;     // of a scalar, or the name of an alias
  const char* tag = nullptr;  // written out
  const char* anchor = nullptr;
};

// Reads block maps and lists of scalars that stand on one line, without tags and anchors, line by line. Gives the
// events that libyaml would give, and gives up at the first line that is anything else, or may be: the last event given
// is then one that libyaml gives before it has looked at that line.
class YamlLines {
 public:
  explicit YamlLines(std::string_view text);

  // The next event; nothing when this reader gives up. Texts of it last until the next is asked for.
  const YamlEvent* next();

 private:
  enum class Block : u8 { kMap, kList, kListOfMap };  // the last: as far left as the keys of the map it is a value in
  struct Level {
    Block block;
    std::size_t column;
  };
  static constexpr std::size_t kNone = std::string_view::npos;

  void fill();
  bool line();
  std::size_t content(std::size_t at);
  std::size_t document_start(std::size_t at);
  bool placed(std::size_t at, bool& fresh);
  std::size_t entry(std::size_t at, bool fresh);
  bool scalar(std::size_t& at, YamlEvent& event);
  bool plain(std::size_t& at, YamlEvent& event) const;
  bool quoted(std::size_t& at, YamlEvent& event);
  void next_line(std::size_t line_break);
  void finish();
  void leave(std::ptrdiff_t column, const yaml_mark_t& at);
  void settle_empty();

  char char_at(std::size_t at) const { return at < text_.size() ? text_[at] : '\n'; }
  bool blank_at(std::size_t at) const { return char_at(at) == ' ' || char_at(at) == '\n'; }
  bool dash_at(std::size_t at) const { return char_at(at) == '-' && blank_at(at + 1); }
  std::size_t after_spaces(std::size_t at) const;
  std::size_t line_end(std::size_t at) const;
  yaml_mark_t mark(std::size_t at) const;
  void add(yaml_event_type_t type, const yaml_mark_t& start, const yaml_mark_t& end);

  std::string_view text_;
  bool ascii_ = true, given_up_ = false, ended_ = false, begun_ = false, in_document_ = false;
  std::size_t line_ = 0, line_start_ = 0;
  std::size_t before_ = 0;  // characters before the line
  bool awaits_ = false;     // there is a key or dash whose value has not come yet
  yaml_mark_t awaited_{};   // the place of that value if it is none
  std::vector<Level> levels_;
  std::vector<YamlEvent> events_;
  std::size_t given_ = 0;       // of the events
  std::size_t sure_ = 0;        // of them: those before the line that was read last
  std::array<Arena, 2> texts_;  // that are not in the source as they are: of this filling and of the one before it
  std::size_t fillings_ = 0;
};

}  // namespace tutti
