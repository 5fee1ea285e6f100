#include "cli/deferred.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>

#include "base/boundary.h"
#include "base/file.h"
#include "cli/doors/registry.h"
#include "tree/secret.h"
#include "tree/secret_mark.h"

namespace tutti {
namespace {

bool is_deferred(const Value& v) {
  if (!v.is(Kind::kMap)) return false;
  const Entry* t = v.find("__ptype");
  return t && t->value.is(Kind::kString) && t->value.text() == "Deferred";
}

bool any_deferred(const Value& v) {
  if (is_deferred(v)) return true;
  if (v.is(Kind::kList))
    for (const Value& i : v.items())
      if (any_deferred(i)) return true;
  if (v.is(Kind::kMap))
    for (const Entry& e : v.entries())
      if (any_deferred(e.value)) return true;
  return false;
}

std::string expression(const Value& v);

std::string expressions(std::span<const Value> all) {
  std::string out;
  for (const Value& v : all) out += (out.empty() ? "" : ", ") + expression(v);
  return out;
}

std::string quoted(std::string_view text) {
  std::string out = "'";
  for (char c : text) {
    if (c == '\\' || c == '\'') out += '\\';
    out += c;
  }
  return out + "'";
}

// What a catalog writes as {__ptype: T, __pvalue: V}, said in the language; "" for any other map.
std::string typed(const Value& v) {
  const Entry *type = v.find("__ptype"), *value = v.find("__pvalue");
  if (!type || !value || !type->value.is(Kind::kString)) return {};
  std::string_view name = type->value.text();
  if (name == "Hash") return fmt::format("Hash([{}])", expressions(value->value.items()));
  if (name == "Regexp") return fmt::format("Regexp.new({})", expression(value->value));
  return fmt::format("{}({})", name, expression(value->value));
}

// A value as an expression of the language.
std::string expression(const Value& v) {
  switch (v.kind()) {
    case Kind::kNull: return "undef";
    case Kind::kBool: return v.as_bool() ? "true" : "false";
    case Kind::kInt:
    case Kind::kDecimal: return v.number_text();
    case Kind::kList: return "[" + expressions(v.items()) + "]";
    case Kind::kMap: {
      if (is_deferred(v)) {
        const Entry* arguments = v.find("arguments");
        bool any = arguments && arguments->value.is(Kind::kList);
        return fmt::format("{}({})", v.find("name")->value.text(), any ? expressions(arguments->value.items()) : "");
      }
      if (std::string said = typed(v); !said.empty()) return said;
      std::string out;
      for (const Entry& e : v.entries())
        out += (out.empty() ? "" : ", ") + quoted(e.key.text()) + " => " + expression(e.value);
      return "{" + out + "}";
    }
    default: return quoted(v.text());
  }
}

// Every outermost Deferred becomes the message of a notify in one small manifest; what the language makes of it is put
// in its place.
class Caller {
 public:
  explicit Caller(Call& call) : call_(call), builder_(call.session.arena) {}

  std::optional<Value> run(const Value& catalog) {
    gather(catalog);
    std::string manifest;
    for (std::size_t i = 0; i < found_.size(); ++i) {
      begins_.push_back(manifest.size());
      manifest += fmt::format("notify {{ 'd{}': message => {} }}\n", i, found_[i].expression);
    }
    // In memory: it may hold secrets, and is nobody's file to sign.
    static std::atomic<u64> number{0};
    std::string name = fmt::format("(deferred values {}).pp", ++number);
    std::optional<Value> answers;
    const Language* puppet = languages().named("puppet");
    if (puppet && call_.session.sources->add(name, manifest, name)) {
      Request request;
      request.files = {name};
      request.options = call_.options;
      answers = puppet->evaluate(call_.session, request);
    }
    show_in_manifest(name);
    if (!answers || !call_.session.diagnostics.ok()) return std::nullopt;
    const Entry* resources = answers->find("resources");
    if (!resources) return std::nullopt;
    for (std::size_t i = 0; i < found_.size(); ++i) {
      const Entry* r = resources->value.find(fmt::format("Notify[d{}]", i));
      const Entry* p = r ? r->value.find("parameters") : nullptr;
      const Entry* m = p ? p->value.find("message") : nullptr;
      values_.push_back(m ? m->value : Value::null());
    }
    next_ = 0;
    return put(catalog);
  }

 private:
  void gather(const Value& v) {
    if (is_deferred(v)) return found_.push_back({expression(v), v.origin()});
    if (v.is(Kind::kList))
      for (const Value& i : v.items()) gather(i);
    if (v.is(Kind::kMap))
      for (const Entry& e : v.entries()) gather(e.value);
  }
  // What is wrong with a call is wrong where that is written, and not in our small manifest.
  void show_in_manifest(std::string_view name) {
    Diagnostics& said = call_.session.diagnostics;
    std::vector<Diagnostic> all = said.all();
    said.clear();
    for (Diagnostic& d : all) {
      const Source* source = call_.session.sources->find(d.where.begin);
      if (source && source->path == name) {
        auto after = std::upper_bound(begins_.begin(), begins_.end(), source->offset(d.where.begin));
        auto which = static_cast<std::size_t>(after - begins_.begin()) - 1;
        d.where = call_.session.origins.nearest(found_[which].origin);
      }
      Diagnostic& again = said.add(d.severity, d.code, d.where, d.message);
      again = std::move(d);
    }
  }
  Value put(const Value& v) {
    if (is_deferred(v)) {
      Value made = values_[next_++].with_origin(v.origin());
      return v.secret() ? secret_throughout(made, builder_) : made;  // Sensitive(Deferred(...))
    }
    if (!any_deferred(v)) return v;
    if (v.is(Kind::kList)) {
      std::vector<Value> items;
      for (const Value& i : v.items()) items.push_back(put(i));
      return secret_like(builder_.list(items, v.origin()).with_tag(v.tag()), v);
    }
    std::vector<Entry> entries;
    for (const Entry& e : v.entries()) entries.push_back({e.key, e.field, put(e.value)});
    return secret_like(builder_.map(entries, v.origin()).with_tag(v.tag()), v);
  }

  Call& call_;
  TreeBuilder builder_;
  struct Found {
    std::string expression;
    Origin origin;
  };
  std::vector<Found> found_;
  std::vector<std::size_t> begins_;  // where each is in the manifest
  std::vector<Value> values_;
  std::size_t next_ = 0;
};

}  // namespace

std::optional<Value> call_deferred(Call& call, const Value& catalog) {
  if (!any_deferred(catalog)) return catalog;
  keep_secrets(catalog, *call.session.sources);
  std::optional<Value> made = Caller(call).run(catalog);
  if (!made) return made;
  keep_secrets(*made, *call.session.sources);
  return spread_secrets(*made, call.session.builder(), call.session.sources.get());
}

}  // namespace tutti
