#include <fmt/format.h>
#include <yaml.h>

#include <unordered_map>

#include "lang/puppet/hiera/data_file.h"
#include "lang/puppet/text/psych.h"
#include "lang/puppet/text/ruby_base64.h"

namespace tutti::puppet {
namespace {

constexpr u32 kDeepest = 1000;
constexpr u64 kMostNodes = 20'000'000;  // aliases counted as often as they stand: a bomb is refused, not built

class Reader {
 public:
  Reader(const Source& source, Arena& arena, DataError& error, Dates dates, bool* odd_keys)
      : source_(source), arena_(arena), error_(error), dates_(dates), odd_keys_(odd_keys) {
    yaml_parser_initialize(&parser_);
    yaml_parser_set_input_string(&parser_, reinterpret_cast<const unsigned char*>(source.text.data()),
                                 source.text.size());
  }
  ~Reader() {
    drop();
    yaml_parser_delete(&parser_);
  }
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;

  std::optional<Val> document() {
    while (next()) {
      switch (event_.type) {
        case YAML_STREAM_START_EVENT:
        case YAML_DOCUMENT_START_EVENT: continue;
        case YAML_STREAM_END_EVENT: return Val::undef();  // an empty file
        default: {
          Val value;
          if (!node(value, 0)) return std::nullopt;
          return value;
        }
      }
    }
    return std::nullopt;
  }

 private:
  void drop() {
    if (has_event_) yaml_event_delete(&event_);
    has_event_ = false;
  }

  bool next() {
    drop();
    if (yaml_parser_parse(&parser_, &event_) == 0) {
      return fail(parser_.problem != nullptr ? parser_.problem : "cannot be read", parser_.problem_mark.index);
    }
    has_event_ = true;
    return true;
  }

  bool fail(std::string message, std::size_t offset) {
    error_.message = std::move(message);
    error_.where = source_.pos(std::min(offset, source_.text.size()));
    return false;
  }

  Origin here() const { return source_.pos(event_.start_mark.index); }

  static std::string text_of(const yaml_char_t* s) { return s == nullptr ? "" : reinterpret_cast<const char*>(s); }

  // The node whose first event is current.
  bool node(Val& out, u32 depth) {
    if (depth > kDeepest) return fail("nested too deeply", event_.start_mark.index);
    if (++nodes_ > kMostNodes) return fail("too many values: are its aliases multiplying?", event_.start_mark.index);
    switch (event_.type) {
      case YAML_ALIAS_EVENT: {
        auto it = anchors_.find(text_of(event_.data.alias.anchor));
        if (it == anchors_.end())
          return fail("unknown alias: " + text_of(event_.data.alias.anchor), event_.start_mark.index);
        nodes_ += it->second.weight;
        if (nodes_ > kMostNodes) return fail("too many values: are its aliases multiplying?", event_.start_mark.index);
        out = it->second.value;
        return true;
      }
      case YAML_SCALAR_EVENT: {
        std::string anchor = text_of(event_.data.scalar.anchor);
        if (!scalar(out)) return false;
        if (!anchor.empty()) anchors_[anchor] = {out, 1};
        return true;
      }
      case YAML_SEQUENCE_START_EVENT: return sequence(out, depth);
      case YAML_MAPPING_START_EVENT: return mapping(out, depth);
      default: return fail("unexpected structure", event_.start_mark.index);
    }
  }

  // Objects of Ruby are not made from data.
  bool known_tag(const std::string& tag) {
    bool object = tag.starts_with("!ruby/") && !tag.starts_with("!ruby/sym");
    bool collection = tag == "tag:yaml.org,2002:set" || tag == "tag:yaml.org,2002:omap";
    return !(object || collection) || fail(fmt::format("`{}` is not data", tag), event_.start_mark.index);
  }

  bool sequence(Val& out, u32 depth) {
    Origin at = here();
    if (!known_tag(text_of(event_.data.sequence_start.tag))) return false;
    std::string anchor = text_of(event_.data.sequence_start.anchor);
    u64 before = nodes_;
    std::vector<Val> items;
    while (next()) {
      if (event_.type == YAML_SEQUENCE_END_EVENT) {
        out = make_array(arena_, items).with_origin(at);
        if (!anchor.empty()) anchors_[anchor] = {out, nodes_ - before};
        return true;
      }
      Val item;
      if (!node(item, depth + 1)) return false;
      items.push_back(item);
    }
    return false;
  }

  bool mapping(Val& out, u32 depth) {
    Origin at = here();
    if (!known_tag(text_of(event_.data.mapping_start.tag))) return false;
    std::string anchor = text_of(event_.data.mapping_start.anchor);
    u64 before = nodes_;
    HashDraft draft;
    while (next()) {
      if (event_.type == YAML_MAPPING_END_EVENT) {
        out = draft.build(arena_).with_origin(at);
        if (!anchor.empty()) anchors_[anchor] = {out, nodes_ - before};
        return true;
      }
      bool merge = event_.type == YAML_SCALAR_EVENT && event_.data.scalar.plain_implicit != 0 &&
                   text_of(event_.data.scalar.value) == "<<";
      std::size_t key_at = event_.start_mark.index;
      Val key, value;
      if (!node(key, depth + 1) || !next() || !node(value, depth + 1)) return false;
      if (merge && merge_into(draft, value)) continue;
      if (!key.is(VK::kString) && !key.is(VK::kInt) && !key.is(VK::kFloat)) {
        if (odd_keys_ == nullptr || key.is(VK::kArray) || key.is(VK::kHash))
          return fail("a key must be a string or a number; quote it if it is meant as text", key_at);
        *odd_keys_ = true;
      }
      draft.set(key, value);
    }
    return false;
  }

  // `<<: *anchor` and `<<: [*a, *b]`: keys that are not there yet.
  static bool merge_into(HashDraft& draft, const Val& from) {
    if (from.is(VK::kArray)) {
      bool all = true;
      for (const Val& one : from.items()) all = merge_into(draft, one) && all;
      return all;
    }
    if (!from.is(VK::kHash)) return false;
    for (const Pair& p : from.entries()) {
      if (draft.get(p.key) == nullptr) draft.set(p.key, p.value);
    }
    return true;
  }

  bool scalar(Val& out) {
    const auto& s = event_.data.scalar;
    std::string_view raw(reinterpret_cast<const char*>(s.value), s.length);
    std::string tag = text_of(s.tag);
    Origin at = here();
    constexpr std::string_view kOwn = "tag:yaml.org,2002:";
    std::string_view kind = tag.starts_with(kOwn) ? std::string_view(tag).substr(kOwn.size()) : "";
    if (kind == "binary") {
      std::optional<std::string> bytes = ruby_base64_decode(raw, false);
      out = make_string(arena_, bytes ? *bytes : std::string(raw)).with_origin(at);
      return true;
    }
    // Numbers, truth and nothing are read as if they stood without quotes; what a tag of one's own means nobody knows.
    bool named = kind == "int" || kind == "float" || kind == "bool" || kind == "null";
    if (!named && (s.style != YAML_PLAIN_SCALAR_STYLE || !tag.empty())) {
      if (!known_tag(tag)) return false;
      out = make_string(arena_, raw).with_origin(at);
      return true;
    }
    PsychScalar read = psych_scalar(raw);
    if (kind == "float" && read.what == PsychScalar::kInt)
      read = {.what = PsychScalar::kFloat, .real = static_cast<double>(read.integer)};
    switch (read.what) {
      case PsychScalar::kString: out = make_string(arena_, raw); break;
      case PsychScalar::kNull: out = Val::undef(); break;
      case PsychScalar::kBool: out = Val::boolean(read.boolean); break;
      case PsychScalar::kInt: out = Val::integer(read.integer); break;
      case PsychScalar::kFloat: out = Val::real(read.real); break;
      case PsychScalar::kSymbol: out = make_string(arena_, read.text); break;
      case PsychScalar::kDate:
        if (dates_ == Dates::kText) {
          out = make_string(arena_, raw);
          break;
        }
        return fail(fmt::format("`{}` is a date or time, which data may not hold; quote it", raw),
                    event_.start_mark.index);
    }
    out = out.with_origin(at);
    return true;
  }

  struct Anchor {
    Val value;
    u64 weight = 1;
  };

  const Source& source_;
  Arena& arena_;
  DataError& error_;
  Dates dates_;
  bool* odd_keys_;
  yaml_parser_t parser_{};
  yaml_event_t event_{};
  bool has_event_ = false;
  u64 nodes_ = 0;
  std::unordered_map<std::string, Anchor> anchors_;
};

}  // namespace

std::optional<Val> read_yaml(const Source& source, Arena& arena, DataError& error, Dates dates, bool* odd_keys) {
  return Reader(source, arena, error, dates, odd_keys).document();
}

}  // namespace tutti::puppet
