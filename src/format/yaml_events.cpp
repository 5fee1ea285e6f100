#include "format/yaml_events.h"

namespace tutti {

namespace {
const char* text_of(const yaml_char_t* s) { return reinterpret_cast<const char*>(s); }
}  // namespace

YamlEvents::YamlEvents(std::string_view text, yaml_encoding_t encoding, bool by_lines) {
  if (by_lines) lines_.emplace(text);
  yaml_parser_initialize(&parser_);
  yaml_parser_set_encoding(&parser_, encoding);
  yaml_parser_set_input_string(&parser_, reinterpret_cast<const unsigned char*>(text.data()), text.size());
}

YamlEvents::~YamlEvents() {
  clear();
  yaml_parser_delete(&parser_);
}

void YamlEvents::clear() {
  if (filled_) yaml_event_delete(&event_);
  filled_ = false;
}

bool YamlEvents::next_of_library() {
  clear();
  filled_ = yaml_parser_parse(&parser_, &event_) != 0;
  return filled_;
}

bool YamlEvents::next(YamlEvent& event) {
  if (lines_) {
    if (const YamlEvent* e = lines_->next()) {
      event = *e;
      ++passed_;
      return true;
    }
    lines_.reset();
    for (; passed_ > 0; --passed_)
      if (!next_of_library()) return false;
  }
  if (!next_of_library()) return false;
  event = {};
  event.type = event_.type;
  event.start = event_.start_mark;
  event.end = event_.end_mark;
  switch (event_.type) {
    case YAML_ALIAS_EVENT: event.value = text_of(event_.data.alias.anchor); break;
    case YAML_SCALAR_EVENT:
      event.style = event_.data.scalar.style;
      event.value = {text_of(event_.data.scalar.value), event_.data.scalar.length};
      event.tag = text_of(event_.data.scalar.tag);
      event.anchor = text_of(event_.data.scalar.anchor);
      break;
    case YAML_SEQUENCE_START_EVENT:
      event.flow = event_.data.sequence_start.style == YAML_FLOW_SEQUENCE_STYLE;
      event.tag = text_of(event_.data.sequence_start.tag);
      event.anchor = text_of(event_.data.sequence_start.anchor);
      break;
    case YAML_MAPPING_START_EVENT:
      event.flow = event_.data.mapping_start.style == YAML_FLOW_MAPPING_STYLE;
      event.tag = text_of(event_.data.mapping_start.tag);
      event.anchor = text_of(event_.data.mapping_start.anchor);
      break;
    default: break;
  }
  return true;
}

}  // namespace tutti
