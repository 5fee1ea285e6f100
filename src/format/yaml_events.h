#pragma once

#include <yaml.h>

#include <optional>
#include <string_view>

#include "format/yaml_lines.h"

namespace tutti {

// The events of a YAML stream as libyaml has them, marks included: for CUE, whose own reader is a descendant of libyaml
// and differs from YAML 1.2 where that does. All else is read by format/yaml. Most documents are block maps and lists
// of scalars that stand on one line: those are read line by line (yaml_lines.h), in a fraction of the time. From the
// first line on that is anything else libyaml goes on, which is asked for all before it again: so what is wrong is
// always said by it.
class YamlEvents {
 public:
  // `encoding` is that of libyaml; YAML_ANY_ENCODING is told from the text. Without `by_lines` libyaml reads all.
  YamlEvents(std::string_view text, yaml_encoding_t encoding, bool by_lines = true);
  ~YamlEvents();
  YamlEvents(const YamlEvents&) = delete;
  YamlEvents& operator=(const YamlEvents&) = delete;

  // The next one; its texts last until the one after it is asked for. False: the text is no YAML, and parser() says
  // why.
  bool next(YamlEvent& event);
  const yaml_parser_t& parser() const { return parser_; }

 private:
  bool next_of_library();
  void clear();

  std::optional<YamlLines> lines_;
  std::size_t passed_ = 0;  // events that came from the lines
  yaml_parser_t parser_{};
  yaml_event_t event_{};
  bool filled_ = false;
};

}  // namespace tutti
