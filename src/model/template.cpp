#include "model/template.h"

#include <algorithm>
#include <charconv>

#include "model/shell_quotes.h"
#include "tree/raw_mark.h"
#include "tree/secret_mark.h"

namespace tutti::model {
namespace {

struct Expander {
  const Lookup& lookup;
  const TreeBuilder& builder;
  std::vector<std::string>* missing;
  bool keep = false;         // what is missing stays as it is written
  bool of_settings = false;  // settings leave a mark, too, where they are put into a text as they are

  // `${'path}` is the value as one word for a shell, of a list one for each item, of a map one for each key.
  std::optional<Value> find(std::string_view inside) const {
    if (!inside.starts_with('\'')) return found(inside);
    auto v = found(inside.substr(1));
    if (!v) return v;
    Value words = builder.string(shell_words(*v), v->origin());
    return v->is(Kind::kMap) ? words : secret_like(words, *v);
  }

  static std::string shell_words(const Value& v) {
    std::string out;
    auto add = [&](const std::string& word) {
      out += out.empty() ? "'" : " '";
      for (char c : word) c == '\'' ? out += "'\\''" : out += c;
      out += '\'';
    };
    if (v.is(Kind::kList)) {
      for (const Value& item : v.items()) add(scalar(item));
    } else if (v.is(Kind::kMap)) {
      for (const Entry& e : v.entries()) add(std::string(e.key.text()));
    } else {
      add(scalar(v));
    }
    return out;
  }

  // What `${'path}` leaves within quotes or a here-document of the shell's, where its own quotes mean nothing.
  Raw mark_within_quotes(std::string_view inside) const {
    auto v = lookup(inside.substr(0, inside.find('|')));
    if (!v) return Raw::kNone;
    return worse(mark_of(*v), v->is(Kind::kString) && !is_plain_word(v->text()) ? Raw::kSetting : Raw::kNone);
  }

  std::optional<Value> found(std::string_view inside) const {
    std::string_view path = inside, words;
    bool has_words = false;
    if (std::size_t bar = inside.find('|'); bar != std::string_view::npos) {
      path = inside.substr(0, bar);
      words = inside.substr(bar + 1);
      has_words = true;
    }
    auto v = lookup(path);
    if (v && !v->is(Kind::kNull)) return v;
    if (has_words && !keep) return text(builder.string(words));
    if (missing) missing->emplace_back(path);
    return std::nullopt;
  }

  static std::string scalar(const Value& v) {
    switch (v.kind()) {
      case Kind::kBool: return v.as_bool() ? "true" : "false";
      case Kind::kInt:
      case Kind::kDecimal: return v.number_text();
      case Kind::kList: {
        std::string out;
        for (const Value& item : v.items()) out += (out.empty() ? "" : " ") + scalar(item);
        return out;
      }
      case Kind::kMap: {
        std::string out;
        for (const Entry& e : v.entries()) out += (out.empty() ? "" : " ") + std::string(e.key.text());
        return out;
      }
      case Kind::kNull: return "";
      default: return std::string(v.text());
    }
  }

  // What it leaves in a text as it is.
  Raw mark_of(const Value& found) const {
    Raw raw = raw_throughout(found);
    if (!of_settings || raw != Raw::kNone) return raw;
    auto plain = [](const Value& one) { return is_plain_word(scalar(one)); };
    bool words = found.is(Kind::kList) ? std::all_of(found.items().begin(), found.items().end(), plain)
                                       : found.is(Kind::kMap) || plain(found);
    return words ? Raw::kNone : Raw::kSetting;
  }

  // The `}` that belongs to the `${` at `at`; the words after a bar may hold others.
  static std::size_t closing(std::string_view t, std::size_t at) {
    int open = 0;
    for (; at < t.size(); ++at) {
      if (t[at] == '$' && at + 1 < t.size() && t[at + 1] == '{') ++open;
      if (t[at] == '}' && --open == 0) return at;
    }
    return std::string_view::npos;
  }

  static bool splices(Symbol key) {
    return key.text().size() >= 3 && key.text().find_first_not_of('.') == std::string_view::npos;
  }

  std::optional<Value> text(const Value& v) const {
    std::string_view t = v.text();
    std::size_t at = t.find("${");
    if (at == std::string_view::npos) return v;
    if (at == 0 && closing(t, 0) == t.size() - 1) {
      auto found = find(t.substr(2, t.size() - 3));
      if (!found) return keep ? std::optional<Value>(v) : std::nullopt;
      return secret_like(*found, v);
    }
    std::string out;
    bool made = false;
    Raw raw = v.raw();
    for (std::size_t from = 0;;) {
      at = t.find("${", from);
      if (at == std::string_view::npos) {
        out += t.substr(from);
        break;
      }
      if (at > from && t[at - 1] == '$') {
        out += t.substr(from, at - 1 - from);
        out += keep ? "$${" : "${";
        from = at + 2;
        continue;
      }
      out += t.substr(from, at - from);
      std::size_t end = closing(t, at);
      if (end == std::string_view::npos) {
        out += t.substr(at);
        break;
      }
      if (auto found = find(t.substr(at + 2, end - at - 2))) {
        out += scalar(*found);
        if (t[at + 2] != '\'')
          raw = worse(raw, mark_of(*found));
        else if (is_within_quotes(t.substr(0, at)))
          raw = worse(raw, mark_within_quotes(t.substr(at + 3, end - at - 3)));
        made = made || (found->secret() && !found->is(Kind::kMap));  // of a map only the keys are there
      } else if (keep) {
        out += t.substr(at, end + 1 - at);
      }
      from = end + 1;
    }
    Value result = builder.string(out, v.origin()).as_raw(raw);
    return secret_like(made ? made_of_secret(result) : result, v);
  }

  // Keys too: a map may go from paths to contents.
  Symbol key(Symbol k) const {
    if (k.text().find("${") == std::string_view::npos) return k;
    auto now = text(Value::string(k.text()));
    return now && now->is(Kind::kString) ? Symbol(now->text()) : k;
  }

  std::optional<Value> value(const Value& v) const {
    switch (v.kind()) {
      case Kind::kString: return text(v);
      case Kind::kLazy: return find(v.text());
      case Kind::kList: {
        std::vector<Value> items;
        for (const Value& item : v.items())
          if (auto one = value(item)) items.push_back(*one);
        Value list = builder.list(items, v.origin());
        return secret_like(list, v);
      }
      case Kind::kMap: {
        MapDraft draft;
        for (const Entry& e : v.entries()) {
          auto one = value(e.value);
          if (!one) continue;
          if (splices(e.key) && one->is(Kind::kMap)) {
            for (const Entry& inner : one->entries()) draft.set(inner.key, secret_like(inner.value, *one));
          } else if (!splices(e.key)) {
            draft.set(key(e.key), *one, e.field);
          }
        }
        Value map = draft.build(builder, v.origin());
        return secret_like(map, v);
      }
      default: return v;
    }
  }
};

// Every placeholder of a text, also those in the words after a bar.
std::string text_with_paths(std::string_view t, const std::function<std::string(std::string_view)>& path) {
  std::string out;
  for (std::size_t from = 0;;) {
    std::size_t at = t.find("${", from);
    out += t.substr(from, at == std::string_view::npos ? at : at + 2 - from);
    if (at == std::string_view::npos) return out;
    from = at + 2;
    if (at > 0 && t[at - 1] == '$') continue;
    if (t.substr(from, 1) == "'") out += t[from++];
    std::size_t end = std::min(t.find_first_of("|}", from), t.size());
    out += path(t.substr(from, end - from));
    from = end;
  }
}

}  // namespace

Value with_paths(const Value& v, const std::function<std::string(std::string_view)>& path, const TreeBuilder& b) {
  auto marked = [&](const Value& now) { return secret_like(now, v); };
  switch (v.kind()) {
    case Kind::kString: return has_placeholders(v) ? marked(b.string(text_with_paths(v.text(), path), v.origin())) : v;
    case Kind::kLazy: return Value::lazy(b.string(path(v.text())).text(), v.origin());
    case Kind::kList: {
      std::vector<Value> items;
      for (const Value& item : v.items()) items.push_back(with_paths(item, path, b));
      return marked(b.list(items, v.origin()));
    }
    case Kind::kMap: {
      MapDraft draft;
      for (const Entry& e : v.entries())
        draft.set(Symbol(text_with_paths(e.key.text(), path)), with_paths(e.value, path, b), e.field);
      return marked(draft.build(b, v.origin()));
    }
    default: return v;
  }
}

Value expand(const Value& value, const Lookup& lookup, const TreeBuilder& builder, std::string* missing,
             bool of_settings) {
  std::vector<std::string> all;
  Value out = Expander{lookup, builder, &all, false, of_settings}.value(value).value_or(Value::null());
  if (missing && missing->empty() && !all.empty()) *missing = all[0];
  return out;
}

std::vector<std::string> missing_in(const Value& value, const Lookup& lookup, const TreeBuilder& builder) {
  std::vector<std::string> all, once;
  Expander{lookup, builder, &all}.value(value);
  for (std::string& path : all)
    if (std::find(once.begin(), once.end(), path) == once.end()) once.push_back(std::move(path));
  return once;
}

std::size_t find_reference(std::string_view text, std::string_view path) {
  for (std::size_t at = text.find("${"); at != std::string_view::npos; at = text.find("${", at + 2)) {
    std::string_view inside = text.substr(at + 2);
    if (inside.starts_with('\'')) inside.remove_prefix(1);
    if (!inside.starts_with(path) || (at > 0 && text[at - 1] == '$')) continue;
    if (inside = inside.substr(path.size()); inside.starts_with('}') || inside.starts_with('|')) return at;
  }
  return std::string_view::npos;
}

std::optional<Unfinished> unfinished_in(std::string_view text) {
  for (std::size_t at = text.find("${"); at != std::string_view::npos; at = text.find("${", at + 2)) {
    if (at > 0 && text[at - 1] == '$') continue;
    std::size_t end = Expander::closing(text, at);
    if (end == std::string_view::npos) return Unfinished{at, false};
    std::string_view inside = text.substr(at + 2, end - at - 2);
    if (inside.starts_with('\'')) inside.remove_prefix(1);
    inside = inside.substr(0, inside.find('|'));
    if (inside.find_first_not_of(" \t\r\n") == std::string_view::npos) return Unfinished{at, true};
  }
  return std::nullopt;
}

Value expand_known(const Value& value, const Lookup& lookup, const TreeBuilder& builder) {
  return Expander{lookup, builder, nullptr, true, true}.value(value).value_or(Value::null());
}

bool is_own_word(std::string_view path) {
  constexpr std::string_view kWords[] = {"name", "home", "component", "host", "config", "half_made"};
  return std::find(std::begin(kWords), std::end(kWords), path) != std::end(kWords);
}

bool has_placeholders(const Value& v) {
  switch (v.kind()) {
    case Kind::kString: return v.text().find("${") != std::string_view::npos;
    case Kind::kLazy: return true;
    case Kind::kList:
      for (const Value& item : v.items())
        if (has_placeholders(item)) return true;
      return false;
    case Kind::kMap:
      for (const Entry& e : v.entries())
        if (has_placeholders(e.value) || e.key.text().find("${") != std::string_view::npos) return true;
      return false;
    default: return false;
  }
}

std::optional<Value> at_path(const Value& root, std::string_view path) {
  Value v = root;
  // What is in something secret is secret.
  auto into = [&](const Value& inner) { return secret_like(inner, v); };
  while (!path.empty()) {
    if (v.is(Kind::kMap))  // a key may itself hold dots: the whole rest first
      if (const Entry* e = v.find(path)) return into(e->value);
    std::size_t dot = path.find('.');
    std::string_view step = path.substr(0, dot);
    path = dot == std::string_view::npos ? std::string_view{} : path.substr(dot + 1);
    if (v.is(Kind::kMap)) {
      const Entry* e = v.find(step);
      if (!e) return std::nullopt;
      v = into(e->value);
    } else if (v.is(Kind::kList)) {
      std::size_t i = 0;
      auto r = std::from_chars(step.data(), step.data() + step.size(), i);
      if (r.ec != std::errc{} || i >= v.size()) return std::nullopt;
      v = into(v.items()[i]);
    } else {
      return std::nullopt;
    }
  }
  return v;
}

}  // namespace tutti::model
