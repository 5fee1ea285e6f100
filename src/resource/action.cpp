#include "resource/action.h"

#include <fmt/format.h>

#include <filesystem>
#include <set>

#include "tree/raw_mark.h"

namespace tutti::resource {

constexpr u32 kMostThrough = 50;

Knowledge::Knowledge(const engine::PlannedSystem& plan)
    : system_(plan.system), instances_(plan.instances), outputs_(instances_.size()) {
  for (u32 i = 0; i < instances_.size(); ++i) {
    if (instances_[i].stays)
      by_component_[instances_[i].component] = i;
    else
      by_component_.try_emplace(instances_[i].component, i);
  }
}

void Knowledge::learn(u32 instance, const std::map<std::string, std::string>& outputs) {
  std::lock_guard lock(mutex_);
  for (auto& [k, v] : outputs) {
    auto [at, fresh] = outputs_[instance].try_emplace(k);
    if (!fresh && at->second == v) continue;
    at->second = v;
    ++version_;
  }
}

std::map<std::string, std::string> Knowledge::outputs(u32 instance) const {
  std::lock_guard lock(mutex_);
  return outputs_[instance];
}

std::optional<Value> Knowledge::look_up(u32 instance, std::string_view path, const Value& config, const Value& old,
                                        Arena& arena, u32 through) const {
  TreeBuilder builder(arena);
  const engine::PlannedInstance& self = instances_[instance];
  auto rest = [&](std::string_view prefix) -> std::optional<std::string_view> {
    if (path.substr(0, prefix.size()) != prefix) return std::nullopt;
    return path.substr(prefix.size());
  };
  // Something of another instance: what its actions gave, else its configuration.
  auto of_instance = [&](u32 other, std::string_view key) -> std::optional<Value> {
    {
      std::lock_guard lock(mutex_);
      auto it = outputs_[other].find(std::string(key));
      if (it != outputs_[other].end()) {
        Value output = builder.string(it->second);
        return other == instance || is_plain_word(it->second) ? output : output.as_raw(Raw::kOutput);
      }
    }
    const engine::PlannedInstance& o = instances_[other];
    if (key == "host") return builder.string(o.host.empty() ? "localhost" : o.host.text());
    if (key == "address") {
      if (o.host.empty()) return builder.string("127.0.0.1");
      auto h = hosts_.find(std::string(o.host.text()));
      if (h != hosts_.end())
        if (const Entry* a = h->second.find("address")) return a->value;
      return builder.string(o.host.text());
    }
    auto v = model::at_path(o.config, key);
    if (!v && supposing_ && other != instance) return builder.string(fmt::format("${{{}}}", path)).as_raw(Raw::kOutput);
    return v ? put_in(other, *v, o.config, arena, through) : v;
  };
  if (path == "name") return builder.string(self.made_as());
  if (path == "home") {
    auto h = hosts_.find(std::string(self.host.text()));
    if (const Entry* own = h != hosts_.end() && h->second.is(Kind::kMap) ? h->second.find("directory") : nullptr)
      return own->value;
    return builder.string(self.host.empty() ? home_ : remote_home_);
  }
  if (path == "component") return builder.string(self.component);
  if (path == "half_made") return Value::boolean(self.half_made);
  if (path == "host") return builder.string(self.host.empty() ? "localhost" : self.host.text());
  if (auto key = rest("config.")) return model::at_path(config, *key);
  if (path == "config") return config;
  if (auto key = rest("old.")) return model::at_path(old, *key);
  if (auto key = rest("self.")) return of_instance(instance, *key);
  if (auto key = rest("hosts.")) {
    std::size_t dot = key->find('.');
    auto h = hosts_.find(std::string(key->substr(0, dot)));
    if (h == hosts_.end() || dot == std::string_view::npos) return std::nullopt;
    return model::at_path(h->second, key->substr(dot + 1));
  }
  std::string_view p = path;
  if (auto key = rest("uses.")) p = *key;
  // A port of its own, then a component; a component's name may hold dots.
  for (const engine::PlannedNeed& n : self.needs) {
    std::string_view name = n.port.text();
    if (n.instance == model::kNone || !p.starts_with(name) || p.size() <= name.size() || p[name.size()] != '.')
      continue;
    if (auto v = of_instance(n.instance, p.substr(name.size() + 1))) return v;
  }
  for (std::size_t at = 0; at < p.size(); ++at) {
    if (p[at] != '.' && p[at] != ':') continue;
    auto it = by_component_.find(std::string(p.substr(0, at)));
    if (it != by_component_.end())
      if (auto v = of_instance(it->second, p.substr(at + 1))) return v;
  }
  return std::nullopt;
}

std::optional<Value> Knowledge::put_in(u32 instance, const Value& v, const Value& config, Arena& arena,
                                       u32 through) const {
  if (!model::has_placeholders(v)) return v;
  if (through >= kMostThrough) return std::nullopt;  // circles are refused where they are read
  std::string missing;
  auto inner = [&](std::string_view path) { return of_config(instance, path, config, arena, through + 1); };
  Value now = model::expand(v, inner, TreeBuilder(arena), &missing, true);
  return missing.empty() ? std::optional<Value>(now) : std::nullopt;
}

std::optional<Value> Knowledge::of_config(u32 instance, std::string_view path, const Value& config, Arena& arena,
                                          u32 through) const {
  auto found = look_up(instance, path, config, config, arena, through);
  bool own = path == "config" || path.starts_with("config.");  // as it is written: that may refer to others
  return found && own ? put_in(instance, *found, config, arena, through) : found;
}

namespace {

// Something of the component's own, and nobody else's to change.
bool is_own(std::string_view path) {
  return model::is_own_word(path) || path.starts_with("config.") || path.starts_with("old.") ||
         path.starts_with("tried.") || path.starts_with("self.");
}

// Whether what an action does depends on the present configuration (`${config`), or on the old one (`${old`).
bool mentions(const Value& v, std::string_view what) {
  switch (v.kind()) {
    case Kind::kString: return v.text().find(what) != std::string_view::npos;
    case Kind::kList:
      for (const Value& item : v.items())
        if (mentions(item, what)) return true;
      return false;
    case Kind::kMap:
      for (const Entry& e : v.entries())
        if (mentions(e.value, what)) return true;
      return false;
    default: return false;
  }
}

// The files of a step `files`: path, and content or parameters.
void for_files(const Value& step, const std::function<void(const std::string& name, const Value& file)>& found) {
  const Entry* files = step.find("files");
  if (!files || !files->value.is(Kind::kMap)) return;
  for (const Entry& f : files->value.entries()) {
    const Entry* path = f.value.is(Kind::kMap) ? f.value.find("path") : nullptr;
    found(path ? text_of(path->value) : std::string(f.key.text()), f.value);
  }
}

Resource written(const std::string& name, const Value& file, const TreeBuilder& builder) {
  MapDraft m;
  if (file.is(Kind::kMap)) {
    for (const Entry& e : file.entries())
      if (e.key.text() != "path") m.set(e.key, e.value);
  } else {
    m.set(Symbol("content"), file);
  }
  m.set(Symbol("parents"), Value::boolean(true));
  return {"file", name, m.build(builder)};
}

Resource removal(const std::string& name, const TreeBuilder& builder) {
  MapDraft m;
  m.set(Symbol("ensure"), Value::string("absent"));
  m.set(Symbol("parents"), Value::boolean(false));
  return {"file", name, m.build(builder)};
}

// Files that an action has written which failed, so that they are in no configuration that is recorded.
std::vector<std::string> strays(const engine::PlannedInstance& self) {
  std::vector<std::string> out;
  if (self.stray.is(Kind::kList))
    for (const Value& path : self.stray.items()) out.push_back(text_of(path));
  return out;
}

// The files that an action writes, by its steps.
std::vector<std::string> files_named(const Value& what, const model::Lookup& lookup, const TreeBuilder& builder) {
  std::vector<std::string> out;
  const Entry* todo = what.is(Kind::kMap) ? what.find("do") : nullptr;
  if (!todo) return out;
  for (const Value& step : todo->value.is(Kind::kList) ? todo->value.items() : std::span(&todo->value, 1)) {
    if (!step.is(Kind::kMap) || (!step.find("files") && !step.find("file"))) continue;
    Value full = model::expand(step, lookup, builder);
    const Entry* one = full.find("file");
    const Entry* ensure = one && one->value.is(Kind::kMap) ? one->value.find("ensure") : full.find("ensure");
    if (ensure && text_of(ensure->value) == "absent") continue;
    for_files(full, [&](const std::string& name, const Value&) { out.push_back(name); });
    if (one && one->value.is(Kind::kMap))
      out.push_back(Params(one->value).text("path", Params(one->value).text("title")));
  }
  return out;
}

std::string normal(const std::string& path) {
  std::string p = std::filesystem::path(path).lexically_normal().string();
  while (p.size() > 1 && p.back() == '/') p.pop_back();
  return p;
}

// Those of the files that an action does not speak of otherwise go, before it writes others: what was a file may be a
// directory now, and the same file may have another name.
void let_go(std::vector<std::string> former, std::size_t before, const TreeBuilder& builder,
            std::vector<Resource>& actions) {
  std::set<std::string> spoken_of;
  for (const Resource& r : actions)
    if (r.type == "file") spoken_of.insert(normal(Params(r.parameters).text("path", r.title)));
  for (auto& name : former) {
    if (!name.starts_with('/') || name.find("${") != std::string::npos) continue;  // its value is not known any more
    if (!spoken_of.insert(normal(name)).second) continue;
    Resource r = removal(name, builder);
    r.let_go = true;
    actions.insert(actions.begin() + static_cast<std::ptrdiff_t>(before++), std::move(r));
  }
}

}  // namespace

Value Knowledge::settled(u32 instance, const Value& v, Arena& arena, std::string& missing) const {
  if (!model::has_placeholders(v)) return v;
  return model::expand(
      v, [&](std::string_view path) { return of_config(instance, path, v, arena, 0); }, TreeBuilder(arena), &missing,
      true);
}

std::vector<Resource> Knowledge::resources(u32 instance, const model::Action& action, Arena& arena,
                                           std::string& problem, std::map<std::string, Value>* reads) const {
  std::vector<Resource> out;
  TreeBuilder builder(arena);
  const engine::PlannedInstance& self = instances_[instance];
  auto said = [](const Value& v) { return !v.is(Kind::kNull); };
  std::string missing, missing_old, unknown;
  // What is there was made with the values of that time, and is found and removed by them.
  Value config = self.goes() && said(self.made) ? self.made : settled(instance, self.config, arena, missing);
  Value old = said(self.made) ? self.made : said(self.old) ? settled(instance, self.old, arena, missing_old) : config;
  // What it was to become when a run failed, of which there may be something, too.
  Value tried = said(self.tried) ? settled(instance, self.tried, arena, unknown) : old;
  if (!mentions(action.what, "${config")) missing.clear();
  if (mentions(action.what, "${old") && missing.empty()) missing = missing_old;
  if (!missing.empty()) {
    problem = fmt::format("there is no value yet for `${{{}}}`, which its configuration refers to", missing);
    return out;
  }
  bool lacks = false;  // something of another's, which may have words in its place
  auto lookup = [&](std::string_view path) {
    auto found = path.starts_with("tried.") ? model::at_path(tried, path.substr(6))
                                            : look_up(instance, path, config, old, arena);
    if (reads && found && !is_own(path)) (*reads)[std::string(path)] = *found;
    lacks = lacks || (!found && !is_own(path));
    return found;
  };
  // Settings of its own may be left out. What another should have given may not, except to whoever goes.
  auto full_text = [&](const Value& text) {
    lacks = false;
    Value full = model::expand(text, lookup, builder);
    if (!lacks || self.goes()) return full;
    auto others = [&](std::string_view path) {
      return is_own(path) ? std::optional<Value>(Value::string("?")) : look_up(instance, path, config, old, arena);
    };
    std::string lacking;
    model::expand(text, others, builder, &lacking);
    if (!lacking.empty() && problem.empty())
      problem = fmt::format("there is no value yet for `${{{}}}`, which its action refers to", lacking);
    return full;
  };
  auto add = [&](std::string_view type, const Value& parameters, std::string_view fallback) {
    Resource r;
    r.type = type;
    const Entry* title = parameters.find("title");
    r.title = title ? text_of(title->value) : std::string(fallback);
    MapDraft m;
    for (const Entry& e : parameters.entries())
      if (e.key.text() != "title") m.set(e.key, e.value);
    r.parameters = m.build(builder);
    out.push_back(std::move(r));
  };
  if (const Entry* run = action.what.find("run")) {
    std::vector<Entry> p{{Symbol("command"), Field::kPlain, full_text(run->value)},
                         {Symbol("provider"), Field::kPlain, Value::string("shell")}};
    for (std::string_view key : {"cwd", "environment", "creates", "unless", "onlyif"})
      if (const Entry* e = action.what.find(key)) p.push_back({e->key, Field::kPlain, full_text(e->value)});
    if (action.idempotent) p.push_back({Symbol("repeatable"), Field::kPlain, Value::boolean(true)});
    if (action.timeout > 0)
      p.push_back({Symbol("timeout"), Field::kPlain, Value::integer(static_cast<i64>(action.timeout + 1))});
    add("exec", builder.map(p), self.made_as());
  }
  const Entry* todo = action.what.find("do");
  if (!todo) return out;
  std::vector<Value> steps;
  if (todo->value.is(Kind::kList))
    steps.assign(todo->value.items().begin(), todo->value.items().end());
  else
    steps.push_back(todo->value);
  std::optional<std::size_t> first_files;  // where files are first written
  std::vector<std::string> former;         // files that it may have and may not be about to have
  auto as_it_was = [&](const Value& step) {
    return model::expand(
        step, [&](std::string_view path) { return look_up(instance, path, old, old, arena); }, builder);
  };
  auto is_absent = [](const Value& parameters) {
    const Entry* ensure = parameters.find("ensure");
    return ensure && text_of(ensure->value) == "absent";
  };
  // Of what a failed action has written, what no action would write now.
  std::vector<std::string> stray = strays(self);
  if (!stray.empty()) {
    std::set<std::string> meant;
    for (auto& t : system_.type_of(instance).transitions)
      for (const std::string& name : files_named(system_.type_of(instance).action_of(t).what, lookup, builder))
        meant.insert(normal(name));
    std::erase_if(stray, [&](auto& name) { return meant.count(normal(name)) != 0 && self.stays; });
  }
  for (const Value& step : steps) {
    if (!step.is(Kind::kMap)) continue;
    Value full = full_text(step);
    if ((step.find("files") || step.find("file")) && !stray.empty()) {
      if (!first_files) first_files = out.size();
      former.insert(former.end(), stray.begin(), stray.end());
      stray.clear();
    }
    if (step.find("files")) {
      bool absent = is_absent(full);
      if (!first_files) first_files = out.size();
      for_files(full, [&](const std::string& name, const Value& file) {
        out.push_back(absent ? removal(name, builder) : written(name, file, builder));
      });
      if (!absent && self.stays)
        for_files(as_it_was(step), [&](const std::string& name, const Value&) { former.push_back(name); });
      continue;
    }
    for (const Entry& e : full.entries()) {
      if (!find_provider(e.key.text())) {
        problem = fmt::format("there is no resource type `{}`", e.key.text());
        return out;
      }
      // Its name may depend on a setting that was another one.
      if (e.key.text() == "file" && e.value.is(Kind::kMap) && !is_absent(e.value) && self.stays && said(self.old)) {
        if (!first_files) first_files = out.size();
        if (const Entry* was = as_it_was(step).find(e.key); was && was->value.is(Kind::kMap))
          former.push_back(Params(was->value).text("path", Params(was->value).text("title")));
      }
      if (e.value.is(Kind::kMap)) {
        if (action.idempotent && e.key.text() == "exec") {
          MapDraft m;
          for (const Entry& p : e.value.entries()) m.set(p.key, p.value);
          m.set(Symbol("repeatable"), Value::boolean(true));
          add("exec", m.build(builder), self.made_as());
        } else {
          add(e.key.text(), e.value, self.made_as());
        }
      }
    }
  }
  if (first_files) let_go(std::move(former), *first_files, builder, out);
  return out;
}

std::vector<Resource> foreseen(const Value& type, const Value& config, std::string_view name, Arena& arena) {
  std::vector<Resource> out;
  TreeBuilder builder(arena);
  auto lookup = [&](std::string_view path) -> std::optional<Value> {
    if (path == "name") return builder.string(name);
    if (path == "config") return config;
    for (std::string_view own : {"config.", "old.", "tried."})
      if (path.starts_with(own)) return model::at_path(config, path.substr(own.size()));
    return builder.string(fmt::format("${{{}}}", path));
  };
  const Entry* transitions = type.find("transitions");
  if (!transitions || !transitions->value.is(Kind::kMap)) return out;
  for (const Entry& t : transitions->value.entries()) {
    const Entry* todo = t.value.is(Kind::kMap) ? t.value.find("do") : nullptr;
    if (!todo) continue;
    for (const Value& step : todo->value.is(Kind::kList) ? todo->value.items() : std::span(&todo->value, 1)) {
      if (!step.is(Kind::kMap)) continue;
      Value full = model::expand(step, lookup, builder);
      const Entry* ensure = full.find("ensure");
      if (!ensure || text_of(ensure->value) != "absent")
        for_files(full,
                  [&](const std::string& path, const Value& file) { out.push_back(written(path, file, builder)); });
      for (const Entry& e : full.entries()) {
        if (!e.value.is(Kind::kMap) || !find_provider(e.key.text())) continue;
        const Entry* title = e.value.find("title");
        out.push_back({std::string(e.key.text()), title ? text_of(title->value) : std::string(name), e.value});
      }
    }
  }
  return out;
}

namespace {

// "-c", "-ec", "-lc" of shells and others: the word after it is a program's text.
bool is_run_option(const Value& word) {
  if (!word.is(Kind::kString)) return false;
  std::string_view w = word.text();
  return w.size() >= 2 && w.size() <= 4 && w.starts_with('-') && w.ends_with('c');
}

}  // namespace

std::vector<const Value*> shell_texts(const Resource& r) {
  std::vector<const Value*> out;
  auto add = [&](const Value& of, std::string_view name) {
    const Value* v = Params(of).find(name);
    if (!v) return;
    if (v->is(Kind::kString)) out.push_back(v);
    if (!v->is(Kind::kList)) return;
    // Several checks are texts each; a command's are its words, but for what a shell is told to run: `sh -c TEXT`.
    for (std::size_t i = 0; i < v->size(); ++i) {
      bool text = name != "command" || (i > 0 && is_run_option(v->items()[i - 1]));
      if (text && v->items()[i].is(Kind::kString)) out.push_back(&v->items()[i]);
    }
  };
  constexpr std::string_view kNames[] = {"command",      "onlyif", "unless", "refresh", "stop",   "reload",
                                         "validate_cmd", "binary", "start",  "status",  "restart"};
  for (std::string_view name : kNames) add(r.parameters, name);
  if (const Value* ready = Params(r.parameters).find("ready"); ready && ready->is(Kind::kMap)) add(*ready, "command");
  return out;
}

std::string unquoted(const Resource& r, bool& mild) {
  Raw worst = Raw::kNone;
  std::string_view what;
  for (const Value* text : shell_texts(r)) {
    Raw raw = text->raw();
    if (raw <= worst) continue;
    worst = raw;
    std::size_t at = text->text().find("${");
    what = at == std::string_view::npos ? "" : text->text().substr(at, text->text().find('}', at) + 1 - at);
  }
  mild = worst == Raw::kSetting;
  if (worst == Raw::kNone) return "";
  if (mild) return "a setting that is no plain word stands as it is in a text for the shell";
  return what.empty()
             ? "what another component gave stands as it is in a text for the shell, and is no plain word"
             : fmt::format("{} stands as it is, or within quotes, in a text for the shell, and a host gives it", what);
}

std::string unknown_step(const Value& what, const Value** at) {
  const Entry* todo = what.find("do");
  if (!todo) return "";
  auto steps = todo->value.is(Kind::kList) ? todo->value.items() : std::span<const Value>(&todo->value, 1);
  for (const Value& step : steps) {
    if (!step.is(Kind::kMap) || step.find("files")) continue;
    for (const Entry& e : step.entries()) {
      if (find_provider(e.key.text())) continue;
      if (at) *at = &step;
      return fmt::format("there is no resource type `{}`", e.key.text());
    }
  }
  return "";
}

bool repeatable(const std::vector<Resource>& resources) {
  for (const Resource& r : resources) {
    if (r.type != "exec") continue;
    Params p(r.parameters);
    if (!p.has("creates") && !p.has("unless") && !p.has("onlyif") && !p.truth("repeatable")) return false;
  }
  return true;
}

}  // namespace tutti::resource
