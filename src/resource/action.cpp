// The resources that an action brings about: its steps with everything put in that they refer to, and the files that
// its component had and is no longer to have.
#include "resource/action.h"

#include <fmt/format.h>

#include <filesystem>
#include <set>

namespace tutti::resource {
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

// An action of one instance, being read: what its steps say becomes resources. One for each call.
class ActionReader {
 public:
  using Reads = std::map<std::string, Value>;
  ActionReader(const Knowledge& knowledge, const model::ComponentType& type, const engine::PlannedInstance& self,
               u32 instance, Arena& arena, std::string& problem, Reads* reads)
      : knowledge_(knowledge),
        type_(type),
        self_(self),
        instance_(instance),
        arena_(arena),
        builder_(arena),
        problem_(problem),
        reads_(reads) {}

  std::vector<Resource> read(const model::Action& action) {
    if (!settle(action.what)) return {};
    if (const Entry* run = action.what.find("run")) command(action, run->value);
    const Entry* todo = action.what.find("do");
    if (!todo) return std::move(out_);
    find_strays();
    for (const Value& step : todo->value.is(Kind::kList) ? todo->value.items() : std::span(&todo->value, 1))
      if (step.is(Kind::kMap) && !add_step(step, action.idempotent)) return std::move(out_);
    if (first_files_) let_go(std::move(former_), *first_files_, builder_, out_);
    return std::move(out_);
  }

 private:
  static bool is_said(const Value& v) { return !v.is(Kind::kNull); }
  static bool is_absent(const Value& parameters) {
    const Entry* ensure = parameters.find("ensure");
    return ensure && text_of(ensure->value) == "absent";
  }

  // The configurations that the steps may speak of; false where one of them lacks a value.
  bool settle(const Value& what) {
    std::string missing, missing_old, unknown;
    // What is there was made with the values of that time, and is found and removed by them.
    config_ =
        self_.goes() && is_said(self_.made) ? self_.made : knowledge_.settled(instance_, self_.config, arena_, missing);
    old_ = is_said(self_.made)  ? self_.made
           : is_said(self_.old) ? knowledge_.settled(instance_, self_.old, arena_, missing_old)
                                : config_;
    // What it was to become when a run failed, of which there may be something, too.
    tried_ = is_said(self_.tried) ? knowledge_.settled(instance_, self_.tried, arena_, unknown) : old_;
    if (!mentions(what, "${config")) missing.clear();
    if (mentions(what, "${old") && missing.empty()) missing = missing_old;
    if (missing.empty()) return true;
    problem_ = fmt::format("there is no value yet for `${{{}}}`, which its configuration refers to", missing);
    return false;
  }

  std::optional<Value> look_up(std::string_view path) {
    constexpr std::string_view kTried = "tried.";
    auto found = path.starts_with(kTried) ? model::at_path(tried_, path.substr(kTried.size()))
                                          : knowledge_.look_up(instance_, path, config_, old_, arena_);
    if (reads_ && found && !is_own(path)) (*reads_)[std::string(path)] = *found;
    lacks_ = lacks_ || (!found && !is_own(path));
    return found;
  }

  // Settings of its own may be left out. What another should have given may not, except to whoever goes.
  Value full(const Value& text) {
    lacks_ = false;
    Value full = model::expand(
        text, [this](std::string_view path) { return look_up(path); }, builder_);
    if (!lacks_ || self_.goes()) return full;
    auto others = [this](std::string_view path) {
      return is_own(path) ? std::optional<Value>(Value::string("?"))
                          : knowledge_.look_up(instance_, path, config_, old_, arena_);
    };
    std::string lacking;
    model::expand(text, others, builder_, &lacking);
    if (!lacking.empty() && problem_.empty())
      problem_ = fmt::format("there is no value yet for `${{{}}}`, which its action refers to", lacking);
    return full;
  }

  Value as_it_was(const Value& step) const {
    return model::expand(
        step, [this](std::string_view path) { return knowledge_.look_up(instance_, path, old_, old_, arena_); },
        builder_);
  }

  void add(std::string_view type, const Value& parameters) {
    Resource r;
    r.type = type;
    const Entry* title = parameters.find("title");
    r.title = title ? text_of(title->value) : std::string(self_.made_as());
    MapDraft m;
    for (const Entry& e : parameters.entries())
      if (e.key.text() != "title") m.set(e.key, e.value);
    r.parameters = m.build(builder_);
    out_.push_back(std::move(r));
  }

  // `run`: a command of the action itself.
  void command(const model::Action& action, const Value& run) {
    std::vector<Entry> p{{Symbol("command"), Field::kPlain, full(run)},
                         {Symbol("provider"), Field::kPlain, Value::string("shell")}};
    for (std::string_view key : {"cwd", "environment", "creates", "unless", "onlyif"})
      if (const Entry* e = action.what.find(key)) p.push_back({e->key, Field::kPlain, full(e->value)});
    if (action.idempotent) p.push_back({Symbol("repeatable"), Field::kPlain, Value::boolean(true)});
    if (action.timeout > 0)
      p.push_back({Symbol("timeout"), Field::kPlain, Value::integer(static_cast<i64>(action.timeout + 1))});
    add("exec", builder_.map(p));
  }

  // Of what a failed action has written, what no action would write now.
  void find_strays() {
    stray_ = strays(self_);
    if (stray_.empty()) return;
    std::set<std::string> meant;
    auto lookup = [this](std::string_view path) { return look_up(path); };
    for (auto& t : type_.transitions)
      for (const std::string& name : files_named(type_.action_of(t).what, lookup, builder_)) meant.insert(normal(name));
    std::erase_if(stray_, [&](auto& name) { return meant.count(normal(name)) != 0 && self_.stays; });
  }

  // False where it asks for what no provider gives.
  bool add_step(const Value& step, bool repeatable) {
    Value now = full(step);
    if ((step.find("files") || step.find("file")) && !stray_.empty()) {
      writes_files();
      former_.insert(former_.end(), stray_.begin(), stray_.end());
      stray_.clear();
    }
    if (step.find("files")) {
      add_files(step, now);
      return true;
    }
    for (const Entry& e : now.entries()) {
      if (!find_provider(e.key.text())) {
        problem_ = fmt::format("there is no resource type `{}`", e.key.text());
        return false;
      }
      if (e.value.is(Kind::kMap)) add_resource(step, e, repeatable);
    }
    return true;
  }

  void writes_files() {
    if (!first_files_) first_files_ = out_.size();
  }

  void add_files(const Value& step, const Value& now) {
    bool absent = is_absent(now);
    writes_files();
    for_files(now, [&](const std::string& name, const Value& file) {
      out_.push_back(absent ? removal(name, builder_) : written(name, file, builder_));
    });
    if (!absent && self_.stays)
      for_files(as_it_was(step), [&](const std::string& name, const Value&) { former_.push_back(name); });
  }

  void add_resource(const Value& step, const Entry& e, bool repeatable) {
    // Its name may depend on a setting that was another one.
    if (e.key.text() == "file" && !is_absent(e.value) && self_.stays && is_said(self_.old)) {
      writes_files();
      if (const Entry* was = as_it_was(step).find(e.key); was && was->value.is(Kind::kMap))
        former_.push_back(Params(was->value).text("path", Params(was->value).text("title")));
    }
    if (!repeatable || e.key.text() != "exec") return add(e.key.text(), e.value);
    MapDraft m;
    for (const Entry& p : e.value.entries()) m.set(p.key, p.value);
    m.set(Symbol("repeatable"), Value::boolean(true));
    add("exec", m.build(builder_));
  }

  const Knowledge& knowledge_;
  const model::ComponentType& type_;
  const engine::PlannedInstance& self_;
  u32 instance_;
  Arena& arena_;
  TreeBuilder builder_;
  std::string& problem_;
  Reads* reads_;

  Value config_, old_, tried_;
  bool lacks_ = false;  // something of another's, which may have words in its place
  std::vector<Resource> out_;
  std::vector<std::string> stray_;
  std::optional<std::size_t> first_files_;  // where files are first written
  std::vector<std::string> former_;         // files that it may have and may not be about to have
};

}  // namespace

std::vector<Resource> Knowledge::resources(u32 instance, const model::Action& action, Arena& arena,
                                           std::string& problem, std::map<std::string, Value>* reads) const {
  ActionReader reader(*this, system_.type_of(instance), instances_[instance], instance, arena, problem, reads);
  return reader.read(action);
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
