// toml++ keeps its tables sorted and its numbers as machine types; the text at each value's place gives back the order
// of keys and the exact numbers.
#include <stdexcept>

#undef NDEBUG  // with it toml++ takes what it asserts for granted
#ifndef __clang__
#pragma GCC diagnostic ignored "-Wterminate"
#endif
// Some inputs ("[[[") lead toml++ where it did not expect to be: an error for us, not the end of the program.
#define TOML_ASSERT(expression) static_cast<void>((expression) || (throw std::logic_error("this is not TOML"), false))
#define TOML_EXCEPTIONS 1
#define TOML_ENABLE_FORMATTERS 0
#define TOML_MAX_NESTED_VALUES 500
#define TOML_HEADER_ONLY 1
#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>

#include "base/utf8.h"
#include "format/toml.h"

namespace tutti {
namespace {

class TomlReader {
 public:
  TomlReader(Session& session, const Source& source)
      : session_(session), source_(source), text_(source.text), builder_(session.arena) {}

  std::optional<Value> read() {
    if (std::size_t bad = utf8::first_invalid(text_); bad != std::string_view::npos) {
      session_.diagnostics.error("TEXT-UTF8", source_.span(bad, bad + 1),
                                 fmt::format("byte 0x{:02x} is not UTF-8", static_cast<u8>(text_[bad])));
      return std::nullopt;
    }
    std::size_t bom = text_.starts_with("\xEF\xBB\xBF") ? 3 : 0;
    lines_.push_back(bom);
    for (std::size_t at = text_.find('\n'); at != std::string_view::npos; at = text_.find('\n', at + 1)) {
      lines_.push_back(at + 1);
    }
    try {
      toml::table parsed = toml::parse(text_.substr(bom));
      return table(parsed);
    } catch (const toml::parse_error& e) {
      std::string_view message = e.description();
      std::size_t colon = message.find(": ");
      if (message.starts_with("Error while parsing") && colon != std::string_view::npos)
        message.remove_prefix(colon + 2);
      session_.diagnostics.error("TOML-SYNTAX", {pos(e.source().begin), pos(e.source().end)}, std::string(message));
    } catch (const std::logic_error& e) {
      session_.diagnostics.error("TOML-SYNTAX", source_.first, e.what());
    }
    return std::nullopt;
  }

 private:
  // toml++ counts lines and characters from 1.
  std::size_t offset(const toml::source_position& p) const {
    if (p.line == 0) return 0;
    if (p.line > lines_.size()) return text_.size();
    std::size_t at = lines_[p.line - 1];
    for (u32 i = 1; i < p.column && at < text_.size(); i++) utf8::decode(text_, at);
    return at;
  }
  Pos pos(const toml::source_position& p) const { return source_.pos(offset(p)); }

  Value node(const toml::node& n, Pos key) {
    session_.budget.node();
    Budget::Level level(session_.budget);
    Pos at = n.source().begin ? pos(n.source().begin) : key;
    switch (n.type()) {
      case toml::node_type::table: {
        Value v = table(*n.as_table());
        return v.with_origin(at);
      }
      case toml::node_type::array: {
        std::vector<Value> items;
        for (const toml::node& item : *n.as_array()) items.push_back(node(item, at));
        return builder_.list(items, at);
      }
      case toml::node_type::string: return builder_.string(n.as_string()->get(), at);
      case toml::node_type::boolean: return Value::boolean(n.as_boolean()->get(), at);
      case toml::node_type::integer: return Value::integer(n.as_integer()->get(), at);
      case toml::node_type::floating_point: return decimal(n, at);
      case toml::node_type::date: return dated(n, "date", at);
      case toml::node_type::time: return dated(n, "time", at);
      case toml::node_type::date_time: return dated(n, "datetime", at);
      case toml::node_type::none: break;
    }
    return Value::null(at);
  }

  std::string_view written(const toml::node& n) const {
    std::size_t from = offset(n.source().begin), to = offset(n.source().end);
    std::string_view s = text_.substr(from, to - from);
    while (!s.empty() && (s.back() == ' ' || s.back() == '\t' || s.back() == '\r' || s.back() == '\n'))
      s.remove_suffix(1);
    return s;
  }

  Value decimal(const toml::node& n, Pos at) {
    std::string s(written(n));
    std::erase(s, '_');
    if (s.starts_with('+')) s.erase(0, 1);
    if (s.find_first_not_of("-+.eE0123456789") != std::string::npos || s.empty()) {
      return builder_.string(s, at).with_tag(Symbol("float"));
    }
    return builder_.number(s, at);
  }

  Value dated(const toml::node& n, std::string_view tag, Pos at) {
    return builder_.string(written(n), at).with_tag(Symbol(tag));
  }

  Value table(const toml::table& t) {
    struct Keyed {
      std::size_t at;
      const toml::key* key;
      const toml::node* node;
    };
    std::vector<Keyed> keyed;
    for (auto&& [k, n] : t) keyed.push_back({offset(k.source().begin), &k, &n});
    std::stable_sort(keyed.begin(), keyed.end(), [](const Keyed& a, const Keyed& b) { return a.at < b.at; });
    std::vector<Entry> entries;
    entries.reserve(keyed.size());
    for (const Keyed& k : keyed) {
      entries.push_back({Symbol(k.key->str()), Field::kPlain, node(*k.node, source_.pos(k.at))});
    }
    return builder_.map(entries, t.source().begin ? pos(t.source().begin) : source_.first);
  }

  Session& session_;
  const Source& source_;
  std::string_view text_;
  TreeBuilder builder_;
  std::vector<std::size_t> lines_;
};

}  // namespace

std::optional<Value> read_toml(Session& session, const Source& source) { return TomlReader(session, source).read(); }

}  // namespace tutti
