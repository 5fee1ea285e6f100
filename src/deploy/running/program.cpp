#include "deploy/running/program.h"

#include "model/read.h"
#include "tree/secret_mark.h"

namespace tutti::deploy {
namespace {

// What is stored has no definitions: `#Web` under `types` is the type `Web`.
Value without_definitions(const Value& v, const TreeBuilder& b, bool of_types) {
  if (!v.is(Kind::kMap)) return v;
  std::vector<Entry> entries;
  for (const Entry& e : v.entries()) {
    std::string_view key = e.key.text();
    bool definition = of_types && e.field == Field::kDefinition;
    if (e.field != Field::kPlain && !definition) continue;
    if (definition && key.starts_with("#")) key.remove_prefix(1);
    entries.push_back({Symbol(key), Field::kPlain, e.value});
  }
  Value plain = b.map(entries, v.origin());
  return secret_like(plain, v);
}

std::string text_of(const Value& map, std::string_view key) {
  const Entry* e = map.find(key);
  return e && e->value.is(Kind::kString) ? std::string(e->value.text()) : "";
}

}  // namespace

Value Program::stored(const TreeBuilder& b) const {
  MapDraft root;
  for (const Entry& e : without_definitions(tree, b, false).entries())
    root.set(e.key, e.key.text() == "types" ? without_definitions(e.value, b, true) : e.value);
  std::vector<Entry> numbers;
  for (auto& [name, n] : parameters) numbers.push_back({Symbol(name), Field::kPlain, Value::integer(n)});
  std::vector<Entry> all{{Symbol("tree"), Field::kPlain, root.build(b)},
                         {Symbol("text"), Field::kPlain, b.string(text)},
                         {Symbol("text_name"), Field::kPlain, b.string(text_name)},
                         {Symbol("entry"), Field::kPlain, b.string(entry)},
                         {Symbol("parameters"), Field::kPlain, b.map(numbers)},
                         {Symbol("keep_going"), Field::kPlain, Value::boolean(keep_going)}};
  return b.map(all);
}

std::optional<Program> Program::restored(Session& session, const Value& stored) {
  const Entry* tree = stored.find("tree");
  if (!tree) return std::nullopt;
  Program p;
  p.tree = tree->value;
  p.text = text_of(stored, "text");
  p.text_name = text_of(stored, "text_name");
  p.entry = text_of(stored, "entry");
  if (const Entry* e = stored.find("parameters"); e && e->value.is(Kind::kMap))
    for (const Entry& one : e->value.entries())
      if (one.value.fits_i64()) p.parameters[std::string(one.key.text())] = one.value.as_i64();
  if (const Entry* e = stored.find("keep_going")) p.keep_going = e->value.is(Kind::kBool) && e->value.as_bool();
  model::ReadOptions options;
  options.parameters = p.parameters;
  options.program = p.entry;
  if (!p.text_name.empty()) {
    auto source = session.sources->add(p.text_name, p.text);
    if (!source) return std::nullopt;
    options.text = *source;
  }
  auto model = model::read_system(session, p.tree, options);
  if (!model) return std::nullopt;
  p.model = std::move(*model);
  return p;
}

}  // namespace tutti::deploy
