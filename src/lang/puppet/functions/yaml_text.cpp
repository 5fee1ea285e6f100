#include "lang/puppet/functions/yaml_text.h"

#include <yaml.h>

#include <unordered_map>

#include "lang/puppet/text/psych.h"
#include "lang/puppet/types/regex.h"

namespace tutti::puppet {
namespace {

class YamlWriter {
 public:
  explicit YamlWriter(const YamlLayout& layout) {
    yaml_emitter_initialize(&emitter_);
    yaml_emitter_set_output(&emitter_, take, &out_);
    yaml_emitter_set_unicode(&emitter_, 1);
    yaml_emitter_set_indent(&emitter_, layout.indent);
    yaml_emitter_set_width(&emitter_, layout.width);
    yaml_emitter_set_canonical(&emitter_, layout.canonical ? 1 : 0);
  }
  ~YamlWriter() { yaml_emitter_delete(&emitter_); }
  YamlWriter(const YamlWriter&) = delete;
  YamlWriter& operator=(const YamlWriter&) = delete;

  std::string document(const Val& v) {
    find_shared(v);
    yaml_event_t event;
    yaml_stream_start_event_initialize(&event, YAML_UTF8_ENCODING);
    emit(event);
    yaml_document_start_event_initialize(&event, nullptr, nullptr, nullptr, 0);
    emit(event);
    node(v);
    yaml_document_end_event_initialize(&event, 1);
    emit(event);
    yaml_stream_end_event_initialize(&event);
    emit(event);
    yaml_emitter_flush(&emitter_);
    return std::move(out_);
  }

 private:
  struct Shared {
    int number = 0;  // 0: stands in one place only
    bool written = false;
  };

  static int take(void* out, unsigned char* bytes, size_t size) {
    static_cast<std::string*>(out)->append(reinterpret_cast<const char*>(bytes), size);
    return 1;
  }
  void emit(yaml_event_t& event) { yaml_emitter_emit(&emitter_, &event); }

  static bool container(const Val& v) { return v.is(VK::kArray) || v.is(VK::kHash); }
  // Empty ones have no body of their own by which to tell them apart.
  static const void* body(const Val& v) { return v.size == 0 ? nullptr : static_cast<const void*>(v.s); }

  // Numbered in the order in which they are met again.
  void find_shared(const Val& v) {
    if (!container(v) || body(v) == nullptr) return;
    auto [at, fresh] = shared_.try_emplace(body(v));
    if (!fresh) {
      if (at->second.number == 0) at->second.number = ++numbers_;
      return;
    }
    if (v.is(VK::kArray)) {
      for (const Val& item : v.items()) find_shared(item);
    } else {
      for (const Pair& p : v.entries()) {
        find_shared(p.key);
        find_shared(p.value);
      }
    }
  }

  void node(const Val& v) {
    if (container(v)) return contain(v);
    switch (v.kind) {
      case VK::kUndef: return scalar("", "tag:yaml.org,2002:null", true, false, YAML_ANY_SCALAR_STYLE);
      case VK::kString: return string(v.text());
      case VK::kDefault: return scalar(":default", nullptr, true, false, YAML_ANY_SCALAR_STYLE);
      case VK::kRegex:
        return scalar("/" + std::string(v.text()) + "/", "!ruby/regexp", false, false, YAML_ANY_SCALAR_STYLE);
      default: return scalar(to_text(v), nullptr, true, false, YAML_ANY_SCALAR_STYLE);
    }
  }

  void contain(const Val& v) {
    yaml_event_t event;
    std::string anchor;
    if (const void* b = body(v)) {
      Shared& s = shared_.at(b);
      if (s.number != 0) anchor = std::to_string(s.number);
      if (s.written) {
        yaml_alias_event_initialize(&event, bytes(anchor));
        return emit(event);
      }
      s.written = true;
    }
    yaml_char_t* name = anchor.empty() ? nullptr : bytes(anchor);
    if (v.is(VK::kArray)) {
      yaml_sequence_start_event_initialize(&event, name, nullptr, 1, YAML_BLOCK_SEQUENCE_STYLE);
      emit(event);
      for (const Val& item : v.items()) node(item);
      yaml_sequence_end_event_initialize(&event);
    } else {
      yaml_mapping_start_event_initialize(&event, name, nullptr, 1, YAML_BLOCK_MAPPING_STYLE);
      emit(event);
      for (const Pair& p : v.entries()) {
        node(p.key);
        node(p.value);
      }
      yaml_mapping_end_event_initialize(&event);
    }
    emit(event);
  }

  // Which strings Ruby puts between quotes, and which (several lines) it writes as a block.
  void string(std::string_view s) {
    const Regex* lines = Regex::get("\\n(?!\\Z)", nullptr);
    const Regex* odd_begin = Regex::get("^[^[:word:]][^\"]*$", nullptr);
    const Regex* octal = Regex::get("\\A0[0-7]*[89]", nullptr);
    yaml_scalar_style_t style = YAML_PLAIN_SCALAR_STYLE;
    if (lines->search(s, 0)) {
      style = YAML_LITERAL_SCALAR_STYLE;
    } else if (s == "<<") {
      return scalar(s, "tag:yaml.org,2002:str", false, false, YAML_SINGLE_QUOTED_SCALAR_STYLE);
    } else if (s == "y" || s == "n" || odd_begin->search(s, 0)) {
      style = YAML_DOUBLE_QUOTED_SCALAR_STYLE;
    } else if (psych_scalar(s).what != PsychScalar::kString || octal->search(s, 0)) {
      style = YAML_SINGLE_QUOTED_SCALAR_STYLE;
    }
    scalar(s, nullptr, true, true, style);
  }

  void scalar(std::string_view s, const char* tag, bool plain, bool quoted, yaml_scalar_style_t style) {
    std::string text(s), kind(tag ? tag : "");
    yaml_event_t event;
    if (!yaml_scalar_event_initialize(&event, nullptr, tag ? bytes(kind) : nullptr, bytes(text),
                                      static_cast<int>(text.size()), plain, quoted, style))
      return;
    emit(event);
  }

  static yaml_char_t* bytes(std::string& s) { return reinterpret_cast<yaml_char_t*>(s.data()); }

  yaml_emitter_t emitter_;
  std::string out_;
  std::unordered_map<const void*, Shared> shared_;
  int numbers_ = 0;
};

}  // namespace

std::string yaml_text(const Val& v, const YamlLayout& layout) { return YamlWriter(layout).document(v); }

}  // namespace tutti::puppet
