#include <fmt/format.h>

#include <cmath>
#include <cstdlib>

#include "base/base64.h"
#include "format/json.h"
#include "format/toml.h"
#include "tree/path.h"

namespace tutti {
namespace {

class TomlWriter {
 public:
  TomlWriter(Session& session, Sink& sink) : session_(session), sink_(sink) {}

  bool document(const Value& v) {
    if (!v.is(Kind::kMap)) {
      session_.diagnostics.error("OUT-TOML", session_.origins.nearest(v.origin()),
                                 fmt::format("TOML holds a map at the top, and this is a {}", kind_word(v.kind())));
      return false;
    }
    check(v);
    if (failed_) return false;
    table(v, "");
    return true;
  }

 private:
  void refuse(const Value& v, std::string_view what) {
    failed_ = true;
    session_.diagnostics.error("OUT-TOML", session_.origins.nearest(v.origin()),
                               fmt::format("{}: {}", path_.text(), what));
  }

  void check(const Value& v) {
    if (v.is(Kind::kNull)) return refuse(v, "TOML has no null");
    if (v.is(Kind::kInt) && !v.fits_i64() && v.number_text() != "-0") return refuse(v, "TOML's integers have 64 bits");
    if (v.is(Kind::kDecimal) && std::isinf(std::strtod(v.number_text().c_str(), nullptr))) {
      return refuse(v, "TOML's numbers end at 1.8e308");
    }
    u32 i = 0;
    for (const Value& item : v.items()) {
      path_.push(i++);
      check(item);
      path_.pop();
    }
    for (const Entry& e : v.entries()) {
      path_.push(e.key);
      check(e.value);
      path_.pop();
    }
  }

  static bool is_table(const Value& v) { return v.is(Kind::kMap) && v.size() > 0; }
  static bool is_tables(const Value& v) {
    if (!v.is(Kind::kList) || v.size() == 0) return false;
    for (const Value& item : v.items()) {
      if (!item.is(Kind::kMap)) return false;
    }
    return true;
  }

  static bool only_tables(const Value& v) {
    for (const Entry& e : v.entries()) {
      if (!is_table(e.value) && !is_tables(e.value)) return false;
    }
    return true;
  }

  static std::string key(Symbol name) {
    std::string_view s = name.text();
    bool bare = !s.empty();
    for (char c : s)
      bare &= (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
    return bare ? std::string(s) : quoted(s);
  }

  static std::string quoted(std::string_view s) {
    StringSink sink;
    write_json_string(s, false, sink);
    std::string out = sink.take();
    for (std::size_t at = out.find('\x7F'); at != std::string::npos; at = out.find('\x7F', at))
      out.replace(at, 1, "\\u007f");
    return out;
  }

  // What comes before the last plain value goes above the sub-tables' headers, maps among it with dotted keys.
  void table(const Value& v, const std::string& name) {
    std::size_t plain = 0;
    for (std::size_t i = 0; i < v.size(); i++) {
      const Value& value = v.entries()[i].value;
      if (!is_table(value) && !is_tables(value)) plain = i + 1;
    }
    for (std::size_t i = 0; i < plain; i++) line(key(v.entries()[i].key), v.entries()[i].value);
    for (std::size_t i = plain; i < v.size(); i++) {
      const Entry& e = v.entries()[i];
      std::string below = name.empty() ? key(e.key) : name + "." + key(e.key);
      if (is_table(e.value)) {
        if (!only_tables(e.value)) header("[", below, "]");
        table(e.value, below);
        continue;
      }
      for (const Value& item : e.value.items()) {
        header("[[", below, "]]");
        table(item, below);
      }
    }
  }

  void header(std::string_view open, std::string_view name, std::string_view close) {
    if (any_) sink_.put('\n');
    any_ = true;
    sink_.put(open);
    sink_.put(name);
    sink_.put(close);
    sink_.put('\n');
  }

  void line(const std::string& name, const Value& v) {
    any_ = true;
    if (is_table(v)) {
      for (const Entry& e : v.entries()) line(name + "." + key(e.key), e.value);
      return;
    }
    sink_.put(name);
    sink_.put(" = ");
    value(v);
    sink_.put('\n');
  }

  void value(const Value& v) {
    switch (v.kind()) {
      case Kind::kString: {
        std::string_view tag = v.tag().text();
        bool bare = tag == "datetime" || tag == "date" || tag == "time";
        if (tag == "float") {
          sink_.put(v.text().starts_with('-') ? "-" : "");
          return sink_.put(v.text().find_first_of("nN") != std::string_view::npos &&
                                   v.text().find_first_of("aA") != std::string_view::npos
                               ? "nan"
                               : "inf");
        }
        return sink_.put(bare ? std::string(v.text()) : quoted(v.text()));
      }
      case Kind::kDecimal: return sink_.put(v.text());
      case Kind::kBytes: return sink_.put(quoted(base64_encode(v.text())));
      case Kind::kList: {
        sink_.put('[');
        bool first = true;
        for (const Value& item : v.items()) {
          if (!first) sink_.put(", ");
          first = false;
          value(item);
        }
        return sink_.put(']');
      }
      case Kind::kMap: {
        sink_.put('{');
        bool first = true;
        for (const Entry& e : v.entries()) {
          sink_.put(first ? " " : ", ");
          first = false;
          sink_.put(key(e.key));
          sink_.put(" = ");
          value(e.value);
        }
        return sink_.put(first ? "}" : " }");
      }
      default: {
        StringSink json;
        write_json(v, {.indent = 0}, json);
        std::string s = json.take();
        s.pop_back();
        if (!v.is(Kind::kInt) && !v.is(Kind::kBool)) return sink_.put(quoted(s));  // not data: as JSON text
        return sink_.put(s == "-0" ? "0" : s);
      }
    }
  }

  Session& session_;
  Sink& sink_;
  Path path_;
  bool failed_ = false, any_ = false;
};

}  // namespace

bool write_toml(Session& session, const Value& value, Sink& sink) { return TomlWriter(session, sink).document(value); }

}  // namespace tutti
