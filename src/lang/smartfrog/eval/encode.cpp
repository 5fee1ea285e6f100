#include "lang/smartfrog/eval/encode.h"

#include <fmt/format.h>

#include <unordered_map>
#include <vector>

namespace tutti::smartfrog {
namespace {

const Symbol kLong("LONG"), kFloat("FLOAT"), kDouble("DOUBLE"), kLink("LINK"), kDataRef("DATA-REFERENCE");

class Encoder {
 public:
  Encoder(Session& session, bool yaml) : session_(session), builder_(session.arena), yaml_(yaml) {}

  Value encode(const Value& v) {
    switch (v.kind()) {
      case Kind::kInt:
        if (v.tag() == kLong) return wrap("$LONG", v.number_text(), v.origin());
        return v;
      case Kind::kDecimal:
        return v.tag().empty() ? v : wrap(v.tag() == kFloat ? "$FLOAT" : "$DOUBLE", v.number_text(), v.origin());
      case Kind::kString:  // NaN and the infinities
        if (v.tag() == kFloat || v.tag() == kDouble)
          return wrap(v.tag() == kFloat ? "$FLOAT" : "$DOUBLE", v.text(), v.origin());
        return v;
      case Kind::kBytes: {
        std::string hex = "#HEX#";
        for (unsigned char c : v.text()) hex += fmt::format("{:02X}", c);
        return wrap("$BYTES", hex + "#", v.origin());
      }
      case Kind::kReference:
        if (v.tag() == kLink) return reference("", v);
        if (v.tag() == kDataRef) return reference("DATA ", v);
        return builder_.string(fmt::format("{}{}", yaml_ ? "" : "$.", v.text()), v.origin());
      case Kind::kLazy: return reference("LAZY ", v);
      case Kind::kOpen:
        return wrap("$OTHER", fmt::format("org.smartfrog.sfcore.languages.sf.constraints.FreeVar {}", v.text()),
                    v.origin());
      case Kind::kList: return list(v);
      case Kind::kMap: return map(v);
      default: return v;
    }
  }

 private:
  // The text of a reference, runs of blanks as one: it may hold descriptions that were laid out over several lines.
  Value reference(std::string_view mark, const Value& v) {
    std::string text(mark);
    for (char c : v.text())
      if (c != ' ' || (!text.empty() && text.back() != ' ')) text += c;
    if (text.ends_with(' ')) text.pop_back();
    return wrap("$REF", text, v.origin(), v.secret());
  }

  Value wrap(std::string_view key, std::string_view text, Origin origin, bool secret = false) {
    Value said = builder_.string(text, origin);
    Entry e{Symbol(key), Field::kPlain, secret ? said.as_secret() : said};
    return builder_.map(std::span<const Entry>(&e, 1), origin);
  }

  Value list(const Value& v) {
    Budget::Level level(session_.budget);
    std::vector<Value> items;
    bool changed = false;
    for (const Value& item : v.items()) {
      items.push_back(encode(item));
      changed |= !(items.back().kind() == item.kind() && (item.is_scalar() || items.back().same_body(item)));
    }
    return changed ? builder_.list(items, v.origin()) : v;
  }

  Value map(const Value& v) {
    bool data = v.tag() == data_tag();
    auto known = done_.find({v.body(), data});
    if (known != done_.end()) return known->second.with_origin(v.origin());
    Budget::Level level(session_.budget);
    std::vector<Entry> entries;
    bool changed = false;
    if (data) {
      entries.push_back({Symbol("$DATA"), Field::kPlain, Value::boolean(true)});
      changed = true;
    }
    for (const Entry& e : v.entries()) {
      if (e.key == tags_key() && e.field == Field::kHidden) {
        entries.push_back({e.key, Field::kPlain, e.value});
        changed = true;
        continue;
      }
      entries.push_back({e.key, e.field, encode(e.value)});
      const Value& now = entries.back().value;
      changed |= !(now.kind() == e.value.kind() && (e.value.is_scalar() || now.same_body(e.value)));
    }
    Value made = changed ? builder_.map(entries, v.origin()) : v;
    done_.emplace(std::make_pair(v.body(), data), made);
    return made;
  }

  struct Hash {
    std::size_t operator()(const std::pair<const void*, bool>& p) const {
      return std::hash<const void*>()(p.first) * 2 + p.second;
    }
  };
  Session& session_;
  TreeBuilder builder_;
  bool yaml_;
  std::unordered_map<std::pair<const void*, bool>, Value, Hash> done_;
};

}  // namespace

Symbol plain_tag() {
  static const Symbol tag("sf-plain");
  return tag;
}

Value encode_tree(Session& session, const Value& value, bool yaml) {
  if (value.tag() == plain_tag()) return value;
  return Encoder(session, yaml).encode(value);
}

}  // namespace tutti::smartfrog
