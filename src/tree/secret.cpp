#include "tree/secret.h"

#include <algorithm>
#include <string>
#include <unordered_map>
#include <vector>

#include "tree/secret_mark.h"

namespace tutti {
namespace {

class Spreader {
 public:
  explicit Spreader(const TreeBuilder& builder) : builder_(builder) {}

  bool collect(const Value& v, bool secret) {
    secret = secret || v.secret();
    bool compound = v.is(Kind::kMap) || v.is(Kind::kList);
    if (compound && v.size() && !seen_.emplace(body(v), Value()).second) return !words_.empty() || !numbers_.empty();
    if (v.is(Kind::kList))
      for (const Value& i : v.items()) collect(i, secret);
    if (v.is(Kind::kMap))
      for (const Entry& e : v.entries()) collect(e.value, secret);
    if (secret && v.is(Kind::kString) && v.text().size() > 3) words_.emplace_back(v.text());
    if (secret && (v.is(Kind::kInt) || v.is(Kind::kDecimal)) && v.number_text().size() > 3)
      numbers_.push_back(v.number_text());
    return !words_.empty() || !numbers_.empty();
  }

  const std::vector<std::string>& words() const { return words_; }
  const std::vector<std::string>& numbers() const { return numbers_; }

  Value marked(const Value& v) {
    if (v.is(Kind::kString) && !v.secret()) {
      bool made = false;
      for (const std::string& w : words_) {
        if (v.text() == w) return v.as_secret();
        made = made || v.text().find(w) != std::string_view::npos;
      }
      return made ? made_of_secret(v) : v;
    }
    if ((v.is(Kind::kInt) || v.is(Kind::kDecimal)) && !v.secret())
      return std::find(numbers_.begin(), numbers_.end(), v.number_text()) != numbers_.end() ? v.as_secret() : v;
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
  Value map(const Value& v) {
    std::vector<Entry> entries;
    for (const Entry& e : v.entries()) entries.push_back({e.key, e.field, marked(e.value)});
    return builder_.map(entries, v.origin());
  }
  Value list(const Value& v) {
    std::vector<Value> items;
    for (const Value& i : v.items()) items.push_back(marked(i));
    return builder_.list(items, v.origin());
  }

  TreeBuilder builder_;
  std::vector<std::string> words_, numbers_;
  std::unordered_map<const void*, Value> seen_, made_;
};

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

Value spread_secrets(const Value& root, const TreeBuilder& builder) {
  Spreader s(builder);
  return s.collect(root, false) ? s.marked(root) : root;
}

void keep_secrets(const Value& root, Sources& sources) {
  Arena none;
  Spreader s{TreeBuilder(none)};
  s.collect(root, false);
  for (auto* all : {&s.words(), &s.numbers()})
    for (const std::string& word : *all) sources.keep_secret(word);
}

}  // namespace tutti
