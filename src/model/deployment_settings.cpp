#include "model/deployment_settings.h"

#include <algorithm>

#include "tree/secret.h"

namespace tutti::model {
namespace {

struct KindName {
  std::string_view word;
  Kind kind;
};
constexpr KindName kKinds[] = {{"string", Kind::kString},  {"int", Kind::kInt},   {"integer", Kind::kInt},
                               {"number", Kind::kDecimal}, {"bool", Kind::kBool}, {"list", Kind::kList},
                               {"map", Kind::kMap},        {"port", Kind::kInt},  {"seconds", Kind::kDecimal}};

bool can_be(const Value& number, std::string_view word) {
  if (word == "port") return number.fits_i64() && number.as_i64() > 0 && number.as_i64() < 65536;
  return word != "seconds" || !number.number_text().starts_with('-');
}
bool fits(const Value& v, std::string_view word) {
  if (word == "any" || v.is(Kind::kLazy) || v.is(Kind::kReference)) return true;
  if (v.is(Kind::kString) && v.text().find("${") != std::string_view::npos) return true;  // known when it runs
  for (auto& k : kKinds)
    if (k.word == word) return (v.is(k.kind) || (k.kind == Kind::kDecimal && v.is(Kind::kInt))) && can_be(v, word);
  return true;
}
std::string_view kind_words(std::string_view word) {
  return word == "port" ? "a port (1 to 65535)" : word == "seconds" ? "a number that is not below 0" : word;
}

}  // namespace

Value from_text(const Value& v) {
  if (!v.is(Kind::kString)) return v;
  std::string_view t = v.text();
  if (t == "true" || t == "false") return Value::boolean(t == "true", v.origin());
  std::size_t digits = t.substr(0, 1) == "-" ? 1 : 0;
  if (t.size() > digits && t.find_first_not_of("0123456789.", digits) == std::string_view::npos &&
      t.find('.') == t.rfind('.') && t.back() != '.' && t[digits] != '.')
    return Value::number(t, v.origin());
  return v;
}

Value SettingsReader::read(const ComponentKind& kind, const Value& config, const std::string& what,
                           const Value& where) {
  const Entry* description = kind.tree.find("config");
  if (!description || !description->value.is(Kind::kMap)) return config;
  const Value& fields = description->value;
  bool open = false;
  std::vector<std::string_view> known;
  for (const Entry& f : fields.entries()) {
    if (f.key.text() == "...") open = true;
    known.push_back(f.key.text());
  }
  MapDraft draft;
  for (const Entry& e : config.entries()) {
    if (e.field == Field::kHidden || e.field == Field::kDefinition || e.field == Field::kOptional) continue;
    const Entry* f = fields.find(e.key);
    if (!f && !open)
      error("DEPLOY-UNKNOWN-CONFIG", e.value,
            fmt::format("{} ({}) has no setting `{}`", what, kind.name.text(), e.key.text()))
          .did_you_mean(nearest(e.key.text(), known));
    draft.set(e.key, f ? read_one(e, f->value, what) : e.value);
  }
  fill_in(kind, fields, draft, what, where);
  return draft.build(builder_, config.origin());
}

Value SettingsReader::read_one(const Entry& e, const Value& description, const std::string& what) {
  const Value* is = description.is(Kind::kMap) ? find(description, {"is"}) : &description;
  const Entry* declared = description.is(Kind::kMap) ? description.find("secret") : nullptr;
  bool secret = declared && declared->value.is(Kind::kBool) && declared->value.as_bool();
  if (secret) keep_secrets(e.value.as_secret(), *session_.sources);
  Value given = is && !e.value.is(Kind::kNull) ? as_kind(e, *is, what) : e.value;
  return secret ? given.as_secret() : given;
}

Value SettingsReader::as_kind(const Entry& e, const Value& kinds, const std::string& what) {
  auto words = names(kinds, "a kind of value");
  auto any = [&](const Value& v) {
    return std::any_of(words.begin(), words.end(), [&](auto& w) { return fits(v, w.name.text()); });
  };
  Value given = e.value;
  if (words.empty() || any(given)) return given;
  given = from_text(given);
  if (any(given)) return given;
  std::string wanted;
  for (auto& w : words) wanted += (wanted.empty() ? "" : " or ") + std::string(kind_words(w.name.text()));
  bool number = e.value.is(Kind::kInt) || e.value.is(Kind::kDecimal);
  Diagnostic& d = error("DEPLOY-CONFIG-KIND", e.value,
                        fmt::format("`{}` of {} must be {}, not {}", e.key.text(), what, wanted,
                                    number && !e.value.secret() ? e.value.number_text() : kind_word(e.value.kind())));
  bool text = std::any_of(words.begin(), words.end(), [](auto& w) { return w.name.text() == "string"; });
  if (number && text) d.suggest("write it in quotes, as a text");
  return given;
}

void SettingsReader::fill_in(const ComponentKind& kind, const Value& fields, MapDraft& draft, const std::string& what,
                             const Value& where) {
  for (const Entry& f : fields.entries()) {
    const Value* given = draft.find(f.key);  // an empty `command:` of YAML says nothing
    if (!f.value.is(Kind::kMap) || (given && !given->is(Kind::kNull))) continue;
    if (const Entry* d = f.value.find("default"))
      draft.set(f.key, d->value);
    else if (const Entry* r = f.value.find("required"); r && r->value.is(Kind::kBool) && r->value.as_bool())
      error("DEPLOY-CONFIG-MISSING", where,
            fmt::format("{} ({}) needs `{}` in its config", what, kind.name.text(), f.key.text()));
  }
}

}  // namespace tutti::model
