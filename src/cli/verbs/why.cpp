#include <fmt/format.h>

#include <algorithm>

#include "base/near.h"
#include "cli/doors/registry.h"
#include "cli/output.h"
#include "cli/system/wanted.h"
#include "format/json.h"
#include "format/write.h"
#include "tree/secret.h"
#include "tree/show.h"

namespace tutti {
namespace {

constexpr OptionSpec kWhyOptions[] = {
    {"out", "FORMAT", "text (the default) or json", false, 0, "text json"},
    {"steps", "N", "tell at most N steps (40)"},
    {"reveal", "", "show secrets in clear"},
    {"schema", "EXPRESSION", "what in the CUE files the others are read against: '#Catalog'", false, 'd'},
};

// The value at the path, or what is wrong at the first step that leads nowhere. What is in error has nothing in it:
// then the path becomes that of the error, which is why there is no such thing.
const Value* look_up(Call& call, const Value& root, Path& path) {
  const Value* v = &root;
  Path done;
  for (const Path::Step& step : path.steps()) {
    const Value* next = nullptr;
    if (step.is_key()) {
      if (const Entry* e = v->find(step.key)) next = &e->value;
    } else if (step.index < v->items().size()) {
      next = &v->items()[step.index];
    }
    if (next == nullptr) {
      std::string wanted =
          step.is_key() ? fmt::format("key `{}`", step.key.text()) : fmt::format("position {}", step.index);
      Diagnostic& d = call.session.diagnostics.error("WHY-PATH", call.session.origins.nearest(v->origin()),
                                                     fmt::format("there is no {} in {}", wanted, done.text()));
      if (v->is(Kind::kMap) && step.is_key()) {
        std::vector<std::string_view> names;
        for (const Entry& e : v->entries()) names.push_back(e.key.text());
        d.did_you_mean(nearest(step.key.text(), names));
      } else {
        d.note(fmt::format("it is {}", show(*v)));
      }
      if (!v->is(Kind::kError) || done.empty()) return nullptr;
      path = done;
      return v;
    }
    v = next;
    if (step.is_key()) {
      done.push(step.key);
    } else {
      done.push(step.index);
    }
  }
  return v;
}

// SmartFrog writes a:b and CDL a/b for what is a.b here. Such a path is taken so when
// it leads nowhere as it stands.
std::optional<Path> as_languages_write(const Value& root, const Path& path) {
  Path split;
  for (const Path::Step& step : path.steps()) {
    if (!step.is_key()) {
      split.push(step.index);
      continue;
    }
    std::string_view rest = step.key.text();
    for (std::size_t end = 0; end != std::string_view::npos;) {
      end = rest.find_first_of(":/");
      if (end != 0 && !rest.empty()) split.push(Symbol(rest.substr(0, end)));
      if (end != std::string_view::npos) rest.remove_prefix(end + 1);
    }
  }
  bool begins = !split.empty() && split.steps()[0].is_key() && root.find(split.steps()[0].key) != nullptr;
  if (find(root, path) != nullptr || !begins) return std::nullopt;
  return split;
}

void children(Call& call, const Value& v) {
  constexpr std::size_t kMost = 30;
  std::size_t shown = 0;
  auto line = [&](const std::string& name, const Value& child) {
    if (shown++ >= kMost) return;
    std::string at = call.session.sources->show(call.session.origins.written(child.origin()));
    call.out.put(fmt::format("  {}: {}{}\n", name, show(child), at.empty() ? "" : "  (" + at + ")"));
  };
  for (const Entry& e : v.entries()) {
    std::string name;
    append_path_key(name, e.key.text(), true);
    line(name, e.value);
  }
  for (std::size_t i = 0; i < v.items().size(); i++) line(fmt::format("[{}]", i), v.items()[i]);
  if (shown > kMost) call.out.put(fmt::format("  ... and {} more\n", shown - kMost));
}

void json_steps(Call& call, Origin o, std::size_t most, std::string& out) {
  auto text = [](std::string_view s) {
    StringSink sink;
    write_json_string(s, false, sink);
    return sink.take();
  };
  out += '[';
  for (bool first = true; o && most > 0; most--, first = false) {
    if (!first) out += ',';
    if (!o.is_step()) {
      out += fmt::format("{{\"how\":\"written\",\"at\":{}}}", text(call.session.sources->show(o.pos())));
      break;
    }
    const OriginStep& step = call.session.origins[o];
    out += fmt::format("{{\"how\":{}", text(how_word(step.how)));
    if (step.at) out += fmt::format(",\"at\":{}", text(call.session.sources->show(step.at)));
    if (!step.name.empty()) out += fmt::format(",\"name\":{}", text(step.name.text()));
    if (step.other) {
      out += ",\"other\":";
      json_steps(call, step.other, std::min<std::size_t>(most - 1, 8), out);
    }
    out += '}';
    o = step.value;
  }
  out += ']';
}

// A copy of a map or list shares what is in it, so how a value came here may be told by what it lies in.
struct Around {
  Path path;
  const Value* value;
};
std::vector<Around> around(const Value& root, const Path& path) {
  std::vector<Around> found;
  const Value* v = &root;
  Path here;
  for (const Path::Step& step : path.steps()) {
    if (v->origin().is_step()) found.push_back({here, v});
    if (step.is_key()) {
      v = &v->find(step.key)->value;
      here.push(step.key);
    } else {
      v = &v->items()[step.index];
      here.push(step.index);
    }
  }
  std::reverse(found.begin(), found.end());
  return found;
}

// Files of a system are laid over each other, as `plan` does it, where the path leads nowhere in the list of them.
std::optional<Value> laid_over(Call& call, const Value& all, std::size_t files, const std::optional<Path>& path) {
  if (files < 2 || !all.is(Kind::kList) || all.size() == 0 || !path || find(all, *path) != nullptr) return std::nullopt;
  Value root = laid_over_each_other(call, all.items());
  return find(root, *path) != nullptr ? std::optional<Value>(root) : std::nullopt;
}

// What a system is laid over has components of its own; a schema says only what they must be.
bool is_system(const Call& call, const Part& part) {
  Session alone(call.session.budget.limits(), call.session.sources);
  std::optional<Value> tree = part.language->evaluate(alone, Request{part.files, call.options, false});
  const Entry* components = tree ? tree->find(Symbol("components")) : nullptr;
  return components != nullptr && components->value.size() > 0;
}

// A schema and what is read against it mean one tree, as for `vet`.
std::optional<Evaluated> with_schema(Call& call, std::span<const std::string> files) {
  std::vector<Part> parts = call.parts(files);
  auto schema = std::find_if(parts.begin(), parts.end(), [](const Part& p) { return p.language->checks_trees(); });
  if (parts.empty()) return Evaluated{};
  if (schema == parts.end() || parts.size() == 1 || is_system(call, *schema)) return std::nullopt;
  std::vector<Value> trees;
  for (const Part& part : parts) {
    if (&part == &*schema) continue;
    std::optional<Value> tree = part.language->evaluate(call.session, Request{part.files, call.options, false});
    if (!tree) return Evaluated{};
    for (const Value& document : documents(*tree)) trees.push_back(document);
  }
  return Evaluated{{*schema},
                   schema->language->evaluate_with(call.session, Request{schema->files, call.options, false}, trees)};
}

// What was there once and is not in the result.
void why_not(Call& call, std::span<const Part> parts, const Path& path) {
  if (parts.size() != 1) return;
  std::string text =
      parts[0].language->explain_missing(call.session, path, Request{parts[0].files, call.options, false});
  if (text.empty()) return;
  Diagnostic& d = call.session.diagnostics.add(Severity::kNote, "WHY-GONE", {},
                                               fmt::format("{} was there for a while:", path.text()));
  for (std::size_t at = 0, end; at < text.size(); at = end + 1) {
    end = std::min(text.find('\n', at), text.size());
    d.note(call.session.sources->masked(text.substr(at + 2, end - at - 2)));
  }
}

int run_why(Call& call) {
  if (refuses_reference(call, "tells where values come from, which the published rules do not keep"))
    return exit_code::kError;
  std::string path_text = call.arguments.back();
  std::span<const std::string> files(call.arguments.data(), call.arguments.size() - 1);
  std::optional<Path> path = Path::parse(path_text);
  std::optional<Evaluated> checked = with_schema(call, files);
  Evaluated e = checked ? std::move(*checked) : evaluate_files(call, files, false);
  if (!e.value) return exit_code::kError;
  if (std::optional<Value> laid = checked ? std::nullopt : laid_over(call, *e.value, files.size(), path))
    e.value = laid;
  if (!path || find(*e.value, *path) == nullptr) {
    for (const Language* language : languages().all()) {
      std::optional<Language::NamedPath> named = language->named_path(*e.value, path_text);
      if (!named) continue;
      if (!named->wrong.empty()) {
        call.session.diagnostics.error("WHY-PATH", {}, named->wrong).did_you_mean(named->near);
        return exit_code::kError;
      }
      path = named->path;
      break;
    }
  }
  if (!path) {
    call.session.diagnostics.error("WHY-PATH", {}, fmt::format("`{}` is not a path", path_text))
        .suggest("paths look like a.b[0].\"odd key\"");
    return exit_code::kError;
  }
  if (std::optional<Path> meant = as_languages_write(*e.value, *path)) path = meant;
  if (!call.options.has("reveal")) keep_secrets(*e.value, *call.session.sources);  // in lines that hold others, too
  const Value* v = look_up(call, *e.value, *path);
  if (v == nullptr) {
    why_not(call, e.parts, *path);
    return exit_code::kError;
  }
  std::size_t most = 40;
  if (call.options.has("steps"))
    most = std::max<std::size_t>(1, std::strtoul(call.options.get("steps").c_str(), nullptr, 10));
  if (call.options.get("out") == "json") {
    std::string out;
    json_steps(call, v->origin(), most, out);
    StringSink quoted;
    write_json_string(path->text(), false, quoted);
    std::string inside;
    for (const Around& a : around(*e.value, *path)) {
      StringSink name;
      write_json_string(a.path.text(), false, name);
      inside += fmt::format("{}{{\"path\":{},\"steps\":", inside.empty() ? "" : ",", name.take());
      json_steps(call, a.value->origin(), most, inside);
      inside += '}';
    }
    call.out.put(fmt::format("{{\"path\":{},\"kind\":\"{}\",\"steps\":{},\"inside\":[{}]}}\n", quoted.take(),
                             kind_word(v->kind()), out, inside));
    return call.code();
  }
  bool hidden = v->secret() && !call.options.has("reveal");
  std::string shown = show(*v, 400);
  if (v->secret() && !hidden) {
    StringSink clear;
    write_json(*v, {.indent = 0}, clear);
    shown = clear.take();
    if (shown.ends_with('\n')) shown.pop_back();
  }
  call.out.put(fmt::format("{} = {}\n", path->text(), shown));
  call.out.put(story(call.session, *v, call.manner.colour_out, most));
  for (const Around& a : around(*e.value, *path)) {
    call.out.put(fmt::format("  in {}, which was\n", a.path.text()));
    call.out.put(story(call.session, *a.value, call.manner.colour_out, most, 4));
  }
  for (const Part& part : e.parts) {
    if (e.parts.size() != 1) break;
    std::string more = part.language->explain(call.session, *e.value, *path, Request{part.files, call.options, false});
    call.out.put(call.session.sources->masked(more));
  }
  children(call, *v);
  return call.code();
}

}  // namespace

extern const Verb why_verb = {
    .name = "why",
    .group = "Configuration",
    .summary = "tell where a value comes from, step by step, with the source lines",
    .arguments = "FILE... PATH",
    .details =
        "The path is written as everywhere: web.ports[0].\"odd key\", `.` for the whole tree. What SmartFrog "
        "writes web:port and CDL /web/port is understood too, and in a Puppet catalog apache::port, "
        "Class[apache]/port and File[/etc/motd]/mode.\n"
        "Files beside a CUE schema are read against it, as by vet: what both say is told.",
    .examples =
        "$ tutti why site.yaml web.port\n$ tutti why base.cue prod.cue 'services.web.replicas'\n"
        "$ tutti why schema.cue site.yaml web.port",
    .options = kWhyOptions,
    .run = run_why,
    .least = 2,
    .reads = true,
};

}  // namespace tutti
