#include "tree/secret.h"

#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "text/secret_words.h"
#include "tree/secret_mark.h"

namespace tutti {
namespace {

class Spreader {
 public:
  Spreader(const TreeBuilder& builder, SecretWords words) : builder_(builder), words_(std::move(words)) {}

  bool collect(const Value& v, bool secret) {
    secret = secret || v.secret();
    bool compound = v.is(Kind::kMap) || v.is(Kind::kList);
    // What is shared is looked at once, and again when it is in a secret for the first time.
    if (compound && v.size() && !(secret ? hidden_ : seen_).insert(body(v)).second) return any();
    for (const Value& i : v.items()) collect(i, secret);
    for (const Entry& e : v.entries()) collect(e.value, secret);
    if (secret && v.is(Kind::kString)) words_.add(v.text());
    if (secret && (v.is(Kind::kInt) || v.is(Kind::kDecimal))) words_.add(v.number_text());
    return any();
  }
  bool any() const { return !words_.empty(); }

  Value marked(const Value& v) {
    if (v.is(Kind::kString) && !v.secret())
      return words_.is_one(v.text()) ? v.as_secret() : words_.in(v.text()) ? made_of_secret(v) : v;
    // What could not be resolved is shown as it is written, with what is in it.
    if ((v.is(Kind::kReference) || v.is(Kind::kLazy)) && !v.secret()) return words_.in(v.text()) ? v.as_secret() : v;
    if ((v.is(Kind::kInt) || v.is(Kind::kDecimal)) && !v.secret())
      return words_.is_one(v.number_text()) ? v.as_secret() : v;
    if ((!v.is(Kind::kMap) && !v.is(Kind::kList)) || v.size() == 0) return v;
    if (auto it = made_.find(body(v)); it != made_.end()) return like(it->second, v);
    Value made = v.is(Kind::kMap) ? map(v) : list(v);
    made_.emplace(body(v), made);
    return like(made, v);
  }

 private:
  static const void* body(const Value& v) {
    return v.is(Kind::kMap) ? static_cast<const void*>(v.entries().data()) : static_cast<const void*>(v.items().data());
  }
  static Value like(Value made, const Value& v) {
    made = made.with_origin(v.origin());
    if (!v.tag().empty()) made = made.with_tag(v.tag());
    return secret_like(made, v);
  }
  // A body stays the same one where nothing in it is marked anew: who holds on to it finds it again.
  static bool same(const Value& a, const Value& b) {
    return a.secret() == b.secret() && a.tag() == b.tag() && (a.size() == 0 || a.same_body(b));
  }
  Value map(const Value& v) {
    std::vector<Entry> entries;
    bool changed = false;
    for (const Entry& e : v.entries()) {
      entries.push_back({e.key, e.field, marked(e.value)});
      changed |= !same(entries.back().value, e.value);
    }
    return changed ? builder_.map(entries, v.origin()) : v;
  }
  Value list(const Value& v) {
    std::vector<Value> items;
    bool changed = false;
    for (const Value& i : v.items()) {
      items.push_back(marked(i));
      changed |= !same(items.back(), i);
    }
    return changed ? builder_.list(items, v.origin()) : v;
  }

  TreeBuilder builder_;
  SecretWords words_;
  std::unordered_set<const void*> seen_, hidden_;
  std::unordered_map<const void*, Value> made_;
};

void keep(const Value& v, bool secret, Sources& sources, std::unordered_set<const void*> (&seen)[2]) {
  secret = secret || v.secret();
  if (v.size() && !seen[secret].insert(v.body()).second) return;
  for (const Value& i : v.items()) keep(i, secret, sources, seen);
  for (const Entry& e : v.entries()) keep(e.value, secret, sources, seen);
  if (secret && v.is(Kind::kString)) sources.keep_secret(v.text());
  if (secret && (v.is(Kind::kInt) || v.is(Kind::kDecimal))) sources.keep_secret(v.number_text());
}

}  // namespace

Value secret_throughout(const Value& v, const TreeBuilder& builder) {
  if (v.is(Kind::kList)) {
    std::vector<Value> items;
    for (const Value& i : v.items()) items.push_back(secret_throughout(i, builder));
    return builder.list(items, v.origin()).with_tag(v.tag()).as_secret();
  }
  if (v.is(Kind::kMap)) {
    std::vector<Entry> entries;
    for (const Entry& e : v.entries()) entries.push_back({e.key, e.field, secret_throughout(e.value, builder)});
    return builder.map(entries, v.origin()).with_tag(v.tag()).as_secret();
  }
  return v.as_secret();
}

Value spread_secrets(const Value& root, const TreeBuilder& builder, const Sources* sources) {
  if (!any_secret_made() && !(sources && sources->has_said_secrets())) return root;
  Spreader s(builder, sources ? sources->said_secrets() : SecretWords());
  return s.collect(root, false) ? s.marked(root) : root;
}

void keep_secrets(const Value& root, Sources& sources) {
  if (!any_secret_made()) return;
  std::unordered_set<const void*> seen[2];
  keep(root, false, sources, seen);
}

}  // namespace tutti
