#include "format/write.h"

#include <fmt/format.h>

#include <array>
#include <utility>

#include "format/json.h"
#include "format/toml.h"
#include "format/xml.h"
#include "format/yaml.h"
#include "tree/path.h"

namespace tutti {

Symbol documents_tag() {
  static const Symbol tag("documents");
  return tag;
}

Value documents_of(const TreeBuilder& builder, std::span<const Value> documents, Origin origin) {
  return builder.list(documents, origin).with_tag(documents_tag());
}

std::span<const Value> documents(const Value& value) {
  if (value.is(Kind::kList) && value.tag() == documents_tag()) return value.items();
  return {&value, 1};
}

namespace {

// Most trees are plain data and stay as they are: a copy is made only of what lies above a change.
class DataMaker {
 public:
  DataMaker(Session& session, const WriteOptions& options)
      : session_(session), options_(options), builder_(session.arena), written_(session.budget.limits()) {}

  bool failed() const { return failed_; }

  Value data(const Value& v) {
    written_.node();  // subtrees are shared in the tree, but not in a text
    switch (v.kind()) {
      case Kind::kList:
      case Kind::kMap: {
        bool outside = std::exchange(hidden_, hidden_ || (v.secret() && !options_.reveal));
        Value made = v.is(Kind::kList) ? list(v) : map(v);
        hidden_ = outside;
        return made;
      }
      case Kind::kReference:
      case Kind::kLazy:
      case Kind::kResource:
      case Kind::kOpen:
      case Kind::kError:
        if (options_.concrete) refuse(v);
        return v;
      default: return hidden_ || (v.secret() && !options_.reveal) ? Value::string("(secret)", v.origin()) : v;
    }
  }

 private:
  static bool same(const Value& a, const Value& b) {
    return a.kind() == b.kind() && a.body() == b.body() && a.size() == b.size() && a.secret() == b.secret();
  }

  Value list(const Value& v) {
    std::vector<Value> changed;
    std::span<const Value> items = v.items();
    for (std::size_t i = 0; i < items.size(); i++) {
      path_.push(static_cast<u32>(i));
      Value d = data(items[i]);
      path_.pop();
      if (changed.empty() && same(d, items[i])) continue;
      if (changed.empty()) {
        changed.reserve(items.size());
        changed.assign(items.begin(), items.begin() + static_cast<std::ptrdiff_t>(i));
      }
      changed.push_back(d);
    }
    return changed.empty() ? v : builder_.list(changed, v.origin()).with_tag(v.tag());
  }

  Value map(const Value& v) {
    std::vector<Entry> changed;
    bool copied = false;
    std::span<const Entry> entries = v.entries();
    for (std::size_t i = 0; i < entries.size(); i++) {
      const Entry& e = entries[i];
      bool shown = e.field == Field::kPlain;
      Value d;
      if (shown) {
        path_.push(e.key);
        d = data(e.value);
        path_.pop();
        if (!copied && same(d, e.value)) continue;
      } else if (e.field == Field::kRequired && options_.concrete) {
        path_.push(e.key);
        session_.diagnostics.error("OUT-NOT-CONCRETE", session_.origins.nearest(e.value.origin()),
                                   fmt::format("{}: required but not there", path_.text()));
        failed_ = true;
        path_.pop();
      }
      if (!copied) {
        copied = true;
        changed.reserve(entries.size());
        changed.assign(entries.begin(), entries.begin() + static_cast<std::ptrdiff_t>(i));
      }
      if (shown) changed.push_back({e.key, e.field, d});
    }
    return copied ? builder_.map(changed, v.origin()).with_tag(v.tag()) : v;
  }

  void refuse(const Value& v) {
    failed_ = true;
    Pos at = session_.origins.nearest(v.origin());
    std::string path = path_.text();
    switch (v.kind()) {
      case Kind::kError: session_.diagnostics.error("OUT-ERROR", at, fmt::format("{}: {}", path, v.text())); break;
      case Kind::kOpen:
        session_.diagnostics.error("OUT-NOT-CONCRETE", at,
                                   fmt::format("{}: `{}` is not a concrete value", path, v.text()));
        break;
      case Kind::kLazy:
        session_.diagnostics.error("OUT-NOT-DATA", at, fmt::format("{}: a lazy value ({}) is not data", path, v.text()))
            .suggest(
                "`tutti eval` shows it as it is; `tutti resolve --set PATH=VALUE` gives lazy properties of CDL a "
                "value");
        break;
      default:
        session_.diagnostics.error("OUT-NOT-DATA", at,
                                   fmt::format("{}: a {} ({}) is not data", path, kind_word(v.kind()), v.text()));
    }
  }

  Session& session_;
  const WriteOptions& options_;
  bool hidden_ = false;  // within what is secret as a whole
  TreeBuilder builder_;
  Path path_;
  Budget written_;
  bool failed_ = false;
};

}  // namespace

std::optional<Value> as_data(Session& session, const Value& value, const WriteOptions& options) {
  DataMaker maker(session, options);
  Value data = maker.data(value);
  if (maker.failed()) return std::nullopt;
  return data;
}

std::span<const std::string_view> output_names() {
  static constexpr std::array<std::string_view, 5> kNames = {"json", "yaml", "toml", "xml", "leaves"};
  return kNames;
}

bool write_tree(Session& session, const Value& value, std::string_view output, const WriteOptions& options,
                Sink& sink) {
  if (output == "leaves") {
    if (!as_data(session, value, options)) return false;
    write_leaves(value, session, sink);
    return true;
  }
  std::optional<Value> data = as_data(session, value, options);
  if (!data) return false;
  if (output == "json") {
    for (const Value& document : documents(*data)) write_json(document, {.indent = options.compact ? 0u : 2u}, sink);
    return true;
  }
  if (output == "yaml") {
    std::span<const Value> all = documents(*data);
    for (const Value& document : all) {
      if (all.size() > 1) sink.put("---\n");
      write_yaml(document, sink);
    }
    return true;
  }
  if (output == "toml" || output == "xml") {
    std::span<const Value> all = documents(*data);
    if (all.size() != 1) {
      session.diagnostics.error("OUT-DOCUMENTS", {},
                                fmt::format("{} holds one document, and there are {}", output, all.size()));
      return false;
    }
    return output == "toml" ? write_toml(session, all[0], sink) : write_xml(session, all[0], sink);
  }
  session.diagnostics.error("OUT-UNKNOWN", {}, fmt::format("there is no output format `{}`", output));
  return false;
}

}  // namespace tutti
