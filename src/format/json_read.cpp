#include <fmt/format.h>

#include <unordered_map>
#include <vector>

#include "base/scan.h"
#include "base/utf8.h"
#include "format/json.h"
#include "format/write.h"

namespace tutti {
namespace {

// The values and entries of all open lists and maps lie on two stacks; a closing bracket moves the top ones to the
// arena.
enum class Repeated : u8 { kRefused, kLastCounts };  // keys

class JsonReader {
 public:
  JsonReader(Session& session, const Source& source, Repeated repeated = Repeated::kRefused)
      : session_(session), source_(source), text_(source.text), builder_(session.arena), repeated_(repeated) {}

  std::optional<Value> one() {
    if (!start()) return std::nullopt;
    std::optional<Value> value = next();
    if (!value) return std::nullopt;
    space();
    if (at_ < text_.size()) {
      error("JSON-TRAILING", at_, at_ + 1, "there is more after the end of the value");
      return std::nullopt;
    }
    return failed_ ? std::nullopt : value;
  }

  std::optional<Value> stream() {
    if (!start()) return std::nullopt;
    std::vector<Value> documents;
    for (space(); at_ < text_.size(); space()) {
      std::optional<Value> value = next();
      if (!value) return std::nullopt;
      documents.push_back(*value);
    }
    return failed_ ? std::nullopt : std::optional(documents_of(builder_, documents, source_.first));
  }

 private:
  struct Frame {
    bool map;
    std::size_t base;  // in items_ or entries_
    std::size_t at;    // of the opening bracket
  };

  bool start() {
    if (std::size_t bad = utf8::first_invalid(text_); bad != std::string_view::npos) {
      error("TEXT-UTF8", bad, bad + 1, fmt::format("byte 0x{:02x} is not UTF-8", static_cast<u8>(text_[bad])));
      return false;
    }
    if (text_.starts_with("\xEF\xBB\xBF")) at_ = 3;
    return true;
  }

  void space() {
    while (at_ < text_.size()) {
      char c = text_[at_];
      if (c == '/' || c == '#') {
        if (!comment()) return;
        continue;
      }
      if (c != ' ' && c != '\n' && c != '\t' && c != '\r') return;
      at_++;
    }
  }

  // Comments are told and passed over.
  bool comment() {
    std::string_view rest = text_.substr(at_);
    std::size_t size = rest.starts_with("/*") ? rest.find("*/", 2) : rest.find('\n');
    if (rest.starts_with('/') && !rest.starts_with("//") && !rest.starts_with("/*")) return false;
    std::size_t end = size == std::string_view::npos ? text_.size() : at_ + size + (rest.starts_with("/*") ? 2 : 0);
    error("JSON-SYNTAX", at_, end, "JSON has no comments");
    at_ = end;
    return true;
  }

  Diagnostic& error(std::string code, std::size_t from, std::size_t to, std::string message) {
    failed_ = true;
    return session_.diagnostics.error(std::move(code), source_.span(from, std::min(to, text_.size())),
                                      std::move(message));
  }

  std::string seen() const {
    if (at_ >= text_.size()) return "the end of the text";
    std::size_t end = at_;
    utf8::decode(text_, end);
    return fmt::format("`{}`", text_.substr(at_, end - at_));
  }

  void expected(std::string_view what) {
    Diagnostic& d = error("JSON-SYNTAX", at_, at_ + 1, fmt::format("expected {}, found {}", what, seen()));
    if (at_ < text_.size() && text_[at_] == '\'') d.suggest("strings are written in double quotes");
    if (!frames_.empty() && at_ >= text_.size()) {
      d.relate(source_.span(frames_.back().at, frames_.back().at + 1), "opened here and not closed");
    }
  }

  enum class State : u8 {
    kValue,  // a value begins here
    kKey,
    kDone,   // a value was read: it is to be put where it belongs
    kAfter,  // behind a value
    kLost,   // an error was told
  };

  // One whole value, however deep. What is wrong in a list or map is told, and what follows is looked at too.
  std::optional<Value> next() {
    std::size_t bottom = frames_.size();
    Value value;
    for (State state = State::kValue;;) {
      switch (state) {
        case State::kValue: state = begin(value); break;
        case State::kKey: state = key() ? State::kValue : State::kLost; break;
        case State::kDone:
          session_.budget.node();
          if (frames_.size() == bottom) return value;
          if (frames_.back().map) {
            entries_.back().value = value;
          } else {
            items_.push_back(value);
          }
          [[fallthrough]];
        case State::kAfter: state = after(value); break;
        case State::kLost:
          if (!recover(bottom)) return std::nullopt;
          state = State::kAfter;
          break;
      }
    }
  }

  State begin(Value& value) {
    space();
    if (at_ >= text_.size()) {
      expected("a value");
      return State::kLost;
    }
    char c = text_[at_];
    if (c != '{' && c != '[') return scalar(c, value) ? State::kDone : State::kLost;
    open(c == '{');
    space();
    if (at_ >= text_.size() || text_[at_] != (c == '{' ? '}' : ']')) return c == '{' ? State::kKey : State::kValue;
    value = close();
    return State::kDone;
  }

  State after(Value& value) {
    space();
    const bool map = frames_.back().map;
    const char closing = map ? '}' : ']';
    char c = at_ < text_.size() ? text_[at_] : '\0';
    if (c == ',') {
      std::size_t comma = at_++;
      space();
      c = at_ < text_.size() ? text_[at_] : '\0';
      if (c != closing) return map ? State::kKey : State::kValue;
      error("JSON-SYNTAX", comma, comma + 1, "a comma after the last item is not allowed");
    }
    if (c == closing) {
      value = close();
      return State::kDone;
    }
    expected(map ? "`,` or `}`" : "`,` or `]`");
    // What begins here was to follow a comma.
    if (map) return c == '"' ? State::kKey : State::kLost;
    return c == '"' || c == '{' || c == '[' ? State::kValue : State::kLost;
  }

  // Goes to the next comma of the innermost open list or map, or to a bracket that closes it or one around it. False
  // when there is none.
  bool recover(std::size_t bottom) {
    for (std::size_t inside = 0; frames_.size() > bottom && at_ < text_.size(); at_++) {
      char c = text_[at_];
      if (c == '"') {
        at_ = text_.find_first_of("\"\n", at_ + 1);
        if (at_ == std::string_view::npos) return false;
      } else if (c == '{' || c == '[') {
        inside++;
      } else if ((c == '}' || c == ']') && inside > 0) {
        inside--;
      } else if (c == '}' || c == ']') {
        std::size_t closed = frames_.size();
        while (closed > bottom && frames_[closed - 1].map != (c == '}')) closed--;
        if (closed == bottom) continue;
        while (frames_.size() > closed) drop();
        return true;
      } else if (c == ',' && inside == 0) {
        return true;
      }
    }
    return false;
  }

  // An open list or map that is not closed before the one around it is.
  void drop() {
    Frame frame = frames_.back();
    frames_.pop_back();
    if (frame.map) {
      entries_.resize(frame.base);
      key_at_.resize(frame.base);
    } else {
      items_.resize(frame.base);
    }
  }

  void open(bool map) {
    if (frames_.size() >= session_.budget.limits().depth) session_.budget.too_deep(source_.pos(at_).at);
    frames_.push_back({map, map ? entries_.size() : items_.size(), at_});
    at_++;
  }

  Value close() {
    Frame frame = frames_.back();
    frames_.pop_back();
    at_++;
    Origin origin = source_.pos(frame.at);
    if (!frame.map) {
      Value list = builder_.list(std::span(items_).subspan(frame.base), origin);
      items_.resize(frame.base);
      return list;
    }
    std::span<const Entry> entries = std::span(entries_).subspan(frame.base);
    if (repeated_ == Repeated::kLastCounts)
      entries = entries.first(keep_last(entries));
    else
      refuse_repeated(entries, frame.base);
    Value map = builder_.map(entries, origin);
    entries_.resize(frame.base);
    key_at_.resize(frame.base);
    return map;
  }

  // Each key where it came first, with its last value; how many there are.
  std::size_t keep_last(std::span<const Entry> entries) {
    Entry* kept = entries_.data() + (entries_.size() - entries.size());
    std::unordered_map<u32, std::size_t> place;
    for (const Entry& e : entries) {
      auto [it, fresh] = place.try_emplace(e.key.id(), place.size());
      kept[it->second] = e;
    }
    return place.size();
  }

  // Each name remembers the last map that it was met in: one pass, whatever the size of the map.
  void refuse_repeated(std::span<const Entry> entries, std::size_t base) {
    if (entries.size() < 2) return;
    if (entries.size() <= 8) {
      bool repeated = false;
      for (std::size_t i = 1; i < entries.size(); i++) {
        for (std::size_t j = 0; j < i; j++) repeated |= entries[i].key == entries[j].key;
      }
      if (!repeated) return;
    }
    serial_++;
    for (std::size_t i = 0; i < entries.size(); i++) {
      u32 id = entries[i].key.id();
      if (id >= met_.size()) met_.resize(id + id / 2 + 64);
      if (met_[id].serial != serial_) {
        met_[id] = {serial_, static_cast<u32>(i)};
        continue;
      }
      std::size_t at = key_at_[base + i], first = key_at_[base + met_[id].index];
      std::size_t size = entries[i].key.text().size() + 2;
      error("JSON-DUPLICATE-KEY", at, at + size, fmt::format("the key \"{}\" is there twice", entries[i].key.text()))
          .relate(source_.span(first, first + size), "first here");
    }
  }

  bool key() {
    if (at_ >= text_.size() || text_[at_] != '"') {
      expected("a key in double quotes");
      return false;
    }
    std::size_t start = at_;
    std::string_view name;
    if (!string(name)) return false;
    entries_.push_back({symbol(name), Field::kPlain, {}});
    key_at_.push_back(static_cast<u32>(start));
    space();
    if (at_ >= text_.size() || text_[at_] != ':') {
      expected("`:`");
      return false;
    }
    at_++;
    return true;
  }

  // Records repeat their keys: a small table in front of the interning one saves its hash and lock.
  Symbol symbol(std::string_view name) {
    if (name.empty()) return {};
    std::size_t slot = (name.size() * 31 + static_cast<u8>(name.front()) * 7 + static_cast<u8>(name.back())) % kRecent;
    Recent& recent = recent_[slot];
    if (recent.name != name) recent = {name, Symbol(name)};
    return recent.symbol;
  }

  bool scalar(char c, Value& value) {
    Origin origin = source_.pos(at_);
    switch (c) {
      case '"': {
        std::string_view s;
        if (!string(s)) return false;
        value = Value::string(s, origin);
        return true;
      }
      case 't': return word("true", Value::boolean(true, origin), value);
      case 'f': return word("false", Value::boolean(false, origin), value);
      case 'n': return word("null", Value::null(origin), value);
      default:
        if (c == '-' || (c >= '0' && c <= '9')) return number(value, origin);
        expected("a value");
        return false;
    }
  }

  bool word(std::string_view name, const Value& meaning, Value& value) {
    if (!text_.substr(at_).starts_with(name)) {
      expected("a value");
      return false;
    }
    at_ += name.size();
    value = meaning;
    return true;
  }

  bool number(Value& value, Origin origin) {
    std::size_t start = at_;
    auto digit = [&] { return at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9'; };
    auto digits = [&] {
      if (!digit()) {
        expected("a digit");
        return false;
      }
      while (digit()) at_++;
      return true;
    };
    if (text_[at_] == '-') at_++;
    std::size_t whole = at_;
    if (!digits()) return false;
    if (text_[whole] == '0' && at_ - whole > 1) {
      error("JSON-NUMBER", start, at_, "a number may not begin with 0").suggest("remove the 0, or make it a string");
    }
    if (at_ < text_.size() && text_[at_] == '.') {
      at_++;
      if (!digits()) return false;
    }
    if (at_ < text_.size() && (text_[at_] == 'e' || text_[at_] == 'E')) {
      at_++;
      if (at_ < text_.size() && (text_[at_] == '+' || text_[at_] == '-')) at_++;
      if (!digits()) return false;
    }
    value = Value::number(text_.substr(start, at_ - start), origin);
    return true;
  }

  bool string(std::string_view& out) {
    std::size_t start = ++at_;
    at_ += plain_run(text_.substr(at_));
    if (at_ >= text_.size()) return unfinished(start);
    char c = text_[at_];
    if (c == '\\') return escaped(start, out);
    if (c != '"') return control(static_cast<u8>(c));
    out = text_.substr(start, at_++ - start);
    return true;
  }

  bool control(u8 c) {
    Diagnostic& d = error("JSON-STRING", at_, at_ + 1, fmt::format("control character 0x{:02x} in a string", c));
    if (c == '\n') d.suggest("close the string on its line, or write \\n");
    return false;
  }

  bool unfinished(std::size_t start) {
    error("JSON-STRING", start - 1, start, "the string is not closed");
    return false;
  }

  bool escaped(std::size_t start, std::string_view& out) {
    std::string made(text_.substr(start, at_ - start));
    while (at_ < text_.size()) {
      u8 c = static_cast<u8>(text_[at_]);
      if (c == '"') {
        at_++;
        out = session_.arena.copy(std::string_view(made));
        return true;
      }
      if (c < 0x20) return control(c);
      if (c != '\\') {
        std::size_t n = plain_run(text_.substr(at_));
        made += text_.substr(at_, n);
        at_ += n;
        continue;
      }
      std::size_t from = at_++;
      if (at_ >= text_.size()) break;
      switch (text_[at_++]) {
        case '"': made += '"'; break;
        case '\\': made += '\\'; break;
        case '/': made += '/'; break;
        case 'b': made += '\b'; break;
        case 'f': made += '\f'; break;
        case 'n': made += '\n'; break;
        case 'r': made += '\r'; break;
        case 't': made += '\t'; break;
        case 'u': {
          char32_t unit = hex4();
          if (unit >= 0xD800 && unit < 0xDC00 && text_.substr(at_).starts_with("\\u")) {
            std::size_t back = at_;
            at_ += 2;
            char32_t low = hex4();
            if (low >= 0xDC00 && low < 0xE000) {
              unit = 0x10000 + ((unit - 0xD800) << 10) + (low - 0xDC00);
            } else {
              at_ = back;
            }
          }
          if (unit == utf8::kInvalid || (unit >= 0xD800 && unit < 0xE000)) {
            error("JSON-STRING", from, at_,
                  unit == utf8::kInvalid ? "\\u needs four hexadecimal digits" : "half of a surrogate pair");
          } else {
            utf8::append(made, unit);
          }
          break;
        }
        default: error("JSON-STRING", from, at_, "unknown escape");
      }
    }
    return unfinished(start);
  }

  char32_t hex4() {
    char32_t c = 0;
    for (int i = 0; i < 4; i++, at_++) {
      char h = at_ < text_.size() ? text_[at_] : '\0';
      int d = h >= '0' && h <= '9' ? h - '0' : (h | 32) >= 'a' && (h | 32) <= 'f' ? (h | 32) - 'a' + 10 : -1;
      if (d < 0) return utf8::kInvalid;
      c = c * 16 + static_cast<char32_t>(d);
    }
    return c;
  }

  struct Met {
    u32 serial = 0, index = 0;
  };
  struct Recent {
    std::string_view name;
    Symbol symbol;
  };
  static constexpr std::size_t kRecent = 256;

  Session& session_;
  const Source& source_;
  std::string_view text_;
  TreeBuilder builder_;
  Repeated repeated_;
  std::size_t at_ = 0;
  bool failed_ = false;
  std::vector<Frame> frames_;
  std::vector<Value> items_;
  std::vector<Entry> entries_;
  std::vector<u32> key_at_;  // where each of entries_ has its key
  std::vector<Met> met_;     // by id of the name
  u32 serial_ = 0;
  Recent recent_[kRecent];
};

}  // namespace

std::optional<Value> read_json(Session& session, const Source& source) { return JsonReader(session, source).one(); }
std::optional<Value> read_lax_json(Session& session, const Source& source) {
  return JsonReader(session, source, Repeated::kLastCounts).one();
}
std::optional<Value> read_json_stream(Session& session, const Source& source) {
  return JsonReader(session, source).stream();
}

}  // namespace tutti
