#include "deploy/record/encode.h"

#include <fmt/format.h>

#include <functional>

#include "base/utf8.h"
#include "deploy/record/format.h"
#include "format/json.h"
#include "tree/secret_mark.h"

namespace tutti::deploy {
namespace {

std::string json(const Value& v) {
  StringSink sink;
  write_json(v, {.indent = 0}, sink);
  std::string text = sink.take();
  // What comes from hosts (names of files) may be anything; what is recorded must be readable ever after.
  return utf8::first_invalid(text) == std::string::npos ? text : utf8::repaired(text);
}

using Hide = std::function<std::string(std::string_view secret)>;

Value sealed(const Value& v, const Hide& hide, const TreeBuilder& b) {
  if (v.secret()) {
    // A blank before it says that it is only made of secrets; whoever does not know that reads the same.
    std::vector<Entry> one{{Symbol("$sealed"), Field::kPlain, b.string(hide((secret_itself(v) ? "" : " ") + json(v)))}};
    return b.map(one);
  }
  if (v.is(Kind::kList)) {
    std::vector<Value> items;
    for (const Value& i : v.items()) items.push_back(sealed(i, hide, b));
    return b.list(items);
  }
  if (v.is(Kind::kMap)) {
    std::vector<Entry> entries;
    for (const Entry& e : v.entries())
      if (e.field == Field::kPlain) entries.push_back({e.key, e.field, sealed(e.value, hide, b)});
    return b.map(entries);
  }
  return v;
}

class Opener {
 public:
  Opener(Session& session, const store::Seal& seal) : session_(session), seal_(seal), builder_(session.arena) {}

  std::optional<Value> open(const Value& v) {
    if (v.is(Kind::kList)) {
      std::vector<Value> items;
      for (const Value& i : v.items()) {
        auto one = open(i);
        if (!one) return std::nullopt;
        items.push_back(*one);
      }
      return builder_.list(items, v.origin());
    }
    if (!v.is(Kind::kMap)) return v;
    if (v.size() == 1) {
      const Entry& e = v.entries()[0];
      if (e.key.text() == "$lazy" && e.value.is(Kind::kString)) return Value::lazy(e.value.text(), v.origin());
      if (e.key.text() == "$ref" && e.value.is(Kind::kString)) return Value::reference(e.value.text(), v.origin());
      if (e.key.text() == "$sealed" && e.value.is(Kind::kString)) {
        auto clear = seal_.unseal(e.value.text());
        if (!clear) {
          session_.diagnostics
              .error("STATE-SEAL", {},
                     fmt::format("a secret of the stored state cannot be opened: {} is not the key it was sealed with",
                                 seal_.file()))
              .suggest("put back the key file that was there, or begin anew with another --state DIRECTORY");
          return std::nullopt;
        }
        bool made = clear->starts_with(' ');
        auto source = session_.sources->add("(sealed)", std::move(*clear));
        if (!source) return std::nullopt;
        auto inner = read_json(session_, **source);
        if (!inner) return std::nullopt;
        auto opened = open(*inner);
        if (!opened) return std::nullopt;
        return made ? made_of_secret(*opened) : opened->as_secret();
      }
    }
    std::vector<Entry> entries;
    for (const Entry& e : v.entries()) {
      auto one = open(e.value);
      if (!one) return std::nullopt;
      entries.push_back({e.key, e.field, *one});
    }
    return builder_.map(entries, v.origin());
  }

 private:
  Session& session_;
  const store::Seal& seal_;
  TreeBuilder builder_;
};

}  // namespace

std::string encode(const Value& value, const store::Seal& seal) {
  Arena arena;
  return json(sealed(
      value, [&](std::string_view s) { return seal.seal(s); }, TreeBuilder(arena)));
}

std::string encode_for_run(const Value& tree, const store::Seal& seal) {
  Arena arena;
  return encode(with_format(tree, TreeBuilder(arena)), seal);
}

bool has_sealed(std::string_view stored) { return stored.find(R"({"$sealed":)") != std::string_view::npos; }

std::string fingerprint(const Value& value, const store::Seal& seal) {
  Arena arena;
  return json(sealed(
      value, [&](std::string_view s) { return seal.sign(s); }, TreeBuilder(arena)));
}

std::optional<Value> decode(Session& session, const std::string& name, std::string text, const store::Seal& seal) {
  auto source = session.sources->add(name, std::move(text));
  if (!source) {
    session.diagnostics.error("STATE-READ", {}, source.error().message);
    return std::nullopt;
  }
  auto v = read_json(session, **source);
  auto opened = v ? Opener(session, seal).open(*v) : std::nullopt;
  return opened ? without_format(session, name, *opened) : std::nullopt;
}

}  // namespace tutti::deploy
