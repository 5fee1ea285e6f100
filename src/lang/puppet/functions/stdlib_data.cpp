#include <fmt/format.h>
#include <glob.h>

#include <algorithm>

#include "base/base64.h"
#include "base/boundary.h"
#include "base/file.h"
#include "lang/puppet/catalog/output.h"
#include "lang/puppet/eval/compiler.h"
#include "lang/puppet/functions/stdlib.h"
#include "lang/puppet/functions/yaml_text.h"
#include "lang/puppet/hiera/data_file.h"
#include "lang/puppet/text/digest.h"
#include "lang/puppet/text/ruby_base64.h"
#include "lang/puppet/text/ruby_format.h"

namespace tutti::puppet {
namespace {

Val to_json(const FunctionCall& c) { return c.string(json_text(c.arg(0))); }

Val to_json_pretty(const FunctionCall& c) {
  JsonLayout form{"  ", " ", "\n", "\n"};
  if (c.has(2)) {
    auto option = [&](std::string_view key, std::string& into) {
      if (const Val* v = c.arg(2).get(key); v != nullptr && v->is(VK::kString)) into = v->text();
    };
    option("indent", form.indent);
    option("space", form.space);
    option("object_nl", form.map_line);
    option("array_nl", form.list_line);
  }
  Val data = c.arg(0);
  if (c.has(1) && c.arg(1).truthy()) {
    if (data.is(VK::kArray)) {
      std::vector<Val> kept;
      for (const Val& v : data.items()) {
        if (!v.undefined()) kept.push_back(v);
      }
      data = c.array(kept);
    } else {
      HashDraft kept;
      for (const Pair& p : data.entries()) {
        if (!p.value.undefined()) kept.set(p.key, p.value);
      }
      data = c.hash(kept);
    }
  }
  return c.string(json_text(data, form) + "\n");
}

Val to_yaml(const FunctionCall& c) {
  YamlLayout layout;
  if (c.has(1)) {
    auto number = [&](std::string_view key, int& into) {
      if (const Val* v = c.arg(1).get(key); v != nullptr && v->is(VK::kInt))
        into = static_cast<int>(std::clamp<i64>(v->i, -1, 1000));
    };
    number("indentation", layout.indent);
    number("line_width", layout.width);
    if (const Val* v = c.arg(1).get("canonical")) layout.canonical = v->truthy();
  }
  return c.string(yaml_text(c.arg(0), layout));
}

// What JSON has no word for is written as catalogs write it. Secrets are not written out.
Val rich_data(const FunctionCall& c, const Val& v) {
  switch (v.kind) {
    case VK::kArray: {
      std::vector<Val> items;
      for (const Val& i : v.items()) items.push_back(rich_data(c, i));
      return c.array(items);
    }
    case VK::kHash: {
      bool texts = true;
      for (const Pair& p : v.entries()) texts = texts && p.key.is(VK::kString);
      HashDraft draft;
      std::vector<Val> flat;
      for (const Pair& p : v.entries())
        if (texts)
          draft.set(p.key, rich_data(c, p.value));
        else
          flat.push_back(rich_data(c, p.key)), flat.push_back(rich_data(c, p.value));
      if (!texts) draft.set("__ptype", Val::string("Hash")), draft.set("__pvalue", c.array(flat));
      return c.hash(draft);
    }
    case VK::kSensitive: return v;
    case VK::kType: {
      const Type* t = resolved(v.t);
      return t->has_title ? v : from_tree(c.arena(), to_tree(c.compiler.session().builder(), v, {}));
    }
    default: return from_tree(c.arena(), to_tree(c.compiler.session().builder(), v, {}));
  }
}
Val to_python(const FunctionCall& c) { return c.string(python_literal(rich_data(c, c.arg(0)))); }
Val to_ruby(const FunctionCall& c) { return c.string(ruby_literal(rich_data(c, c.arg(0)))); }

// Text or a file as data; the second argument is what to answer where it cannot be read.
Val parsed(const FunctionCall& c, std::string name, std::string text, bool yaml) {
  DataError error;
  std::optional<Val> value;
  Result<const Source*> source = c.compiler.environment().sources().add(std::move(name), std::move(text));
  if (source) value = yaml ? read_yaml(**source, c.arena(), error) : read_json_data(**source, c.arena(), error);
  if (value) return value->truthy() || c.count() < 2 ? *value : c.arg(1);
  if (c.count() > 1 && c.arg(1).truthy()) return c.arg(1);
  c.fail(fmt::format("{}(): {}", c.name, error.message));
}
Val parse_data(const FunctionCall& c, bool yaml) {
  expect_count(c, 1, SIZE_MAX);
  if (!c.arg(0).is(VK::kString)) {
    if (c.count() > 1 && c.arg(1).truthy()) return c.arg(1);
    c.fail(fmt::format("{}(): text is needed, not {}", c.name, ruby_class(c.arg(0))));
  }
  return parsed(c, fmt::format("<{}>", c.name), to_text(c.arg(0)), yaml);
}
Val parsejson(const FunctionCall& c) { return parse_data(c, false); }
// An array or a hash, as JSON once had to be.
Val parsepson(const FunctionCall& c) {
  std::string text = c.count() > 0 ? to_text(c.arg(0)) : "";
  std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first != std::string::npos && text[first] != '[' && text[first] != '{') {
    if (c.count() > 1 && c.arg(1).truthy()) return c.arg(1);
    c.fail(fmt::format("source '{}' not in PSON!", text));
  }
  return parsejson(c);
}
Val parseyaml(const FunctionCall& c) { return parse_data(c, true); }

Val load_data(const FunctionCall& c, bool yaml) {
  expect_count(c, 1, 2);
  std::string path = to_text(c.arg(0));
  if (path.starts_with("http://") || path.starts_with("https://"))
    c.fail(fmt::format("{}(): reading from the network is not supported", c.name));
  Result<std::string> text = read_file(path, u64{1} << 28);
  if (!text && is_refused(text.error())) c.compiler.fail_read(c.at, text.error());
  if (!text) {
    c.warn(fmt::format("Can't load '{}' File does not exist!", path));
    return c.count() > 1 ? c.arg(1) : Val::undef();
  }
  return parsed(c, path, std::move(*text), yaml);
}
Val loadjson(const FunctionCall& c) { return load_data(c, false); }
Val loadyaml(const FunctionCall& c) { return load_data(c, true); }

Val base64_(const FunctionCall& c) {
  if (c.count() < 2) c.fail(fmt::format("base64(): Wrong number of arguments ({}; must be >= 2)", c.count()));
  std::string action = to_text(c.arg(0)), method = c.count() > 2 ? to_text(c.arg(2)) : "default";
  if (action != "encode" && action != "decode")
    c.fail("base64(): the first argument must be one of 'encode' or 'decode'");
  if (!c.arg(1).is(VK::kString)) c.fail("base64(): the second argument must be a string to base64");
  if (method != "default" && method != "strict" && method != "urlsafe") {
    c.fail("base64(): the third argument must be one of 'default', 'strict', or 'urlsafe'");
  }
  auto swap = [](std::string s, std::string_view from, std::string_view to) {
    for (char& ch : s) {
      if (std::size_t at = from.find(ch); at != std::string_view::npos) ch = to[at];
    }
    return s;
  };
  if (action == "encode") {
    std::string made = method == "default" ? ruby_base64_lines(c.text(1)) : base64_encode(c.text(1));
    return c.string(method == "urlsafe" ? swap(made, "+/", "-_") : made);
  }
  std::string text(c.text(1));
  if (method == "urlsafe") {
    text = swap(std::move(text), "-_", "+/");
    while (text.size() % 4 != 0) text += '=';
  }
  auto out = ruby_base64_decode(text, method != "default");
  if (!out) c.fail("base64(): invalid base64");
  return c.string(*out);
}

std::string module_path(const FunctionCall& c, const std::string& name) {
  const Module* m = c.compiler.environment().module(name);
  if (m == nullptr)
    c.fail(fmt::format("Could not find module {} in environment {}", name, c.compiler.settings().environment_name));
  return m->path;
}
Val get_module_path(const FunctionCall& c) {
  expect_count(c, 1, 1);
  return c.string(module_path(c, to_text(c.arg(0))));
}
Val load_module_metadata(const FunctionCall& c) {
  expect_count(c, 1, 2);
  std::string name = to_text(c.arg(0)), path = module_path(c, name) + "/metadata.json";
  Result<std::string> text = read_file(path, u64{1} << 24);
  if (text) return parsed(c, path, std::move(*text), false);
  if (is_refused(text.error())) c.compiler.fail_read(c.at, text.error());
  if (c.count() < 2 || !c.arg(1).truthy())
    c.fail(fmt::format("load_module_metadata(): No metadata.json file for module {}", name));
  return make_hash(c.arena(), {});
}

Val glob_(const FunctionCall& c) {
  expect_count(c, 1, 1);
  std::vector<Val> out;
  auto one = [&](const Val& v) {
    glob_t found{};
    if (::glob(to_text(v).c_str(), GLOB_BRACE, nullptr, &found) == 0) {
      for (std::size_t i = 0; i < found.gl_pathc; i++) {
        c.compiler.need_inside(c.at, found.gl_pathv[i]);
        out.push_back(c.string(found.gl_pathv[i]));
      }
    }
    ::globfree(&found);
  };
  if (c.arg(0).is(VK::kArray)) {
    for (const Val& v : c.arg(0).items()) one(v);
  } else if (c.arg(0).is(VK::kString)) {
    one(c.arg(0));
  } else {
    c.fail("glob(): Requires either array or string to work");
  }
  return c.array(out);
}

Val type_of(const FunctionCall& c) { return Val::type(infer(c.arena(), c.arg(0))); }

// --- what is in the catalog

Resource* resource_named(const FunctionCall& c, const Val& reference) {
  if (reference.is(VK::kType)) return c.compiler.find_resource(reference.t);
  std::string text = to_text(reference);
  std::size_t open = text.find('[');
  if (open == std::string::npos || !text.ends_with(']')) return nullptr;
  std::string title = text.substr(open + 1, text.size() - open - 2);
  if (title.size() > 1 && (title[0] == '\'' || title[0] == '"') && title.back() == title[0])
    title = title.substr(1, title.size() - 2);
  return c.compiler.find_resource(
      resource_type(c.arena(), c.arena().copy(text.substr(0, open)), c.arena().copy(title)));
}

bool defined_with(const FunctionCall& c, Resource* r, const Val& params) {
  if (r == nullptr) return false;
  if (!params.is(VK::kHash)) return true;
  for (const Pair& p : params.entries()) {
    const Val* there = c.compiler.resource_parameter(*r, Symbol(to_text(p.key)));
    bool undefined = there == nullptr || there->undefined();
    if (undefined ? !p.value.undefined() : !same(*there, p.value)) return false;
  }
  return true;
}

Val defined_with_params(const FunctionCall& c) {
  expect_count(c, 1, 2);
  Resource* r = resource_named(c, c.arg(0));
  return Val::boolean(r != c.scope.resource && defined_with(c, r, c.count() > 1 ? c.arg(1) : Val::undef()));
}

void ensure_one(const FunctionCall& c, const std::string& type, const Val& title, const Val& params) {
  Val reference = c.string(fmt::format("{}[{}]", type, to_text(title)));
  Resource* r = resource_named(c, reference);
  if (r != c.scope.resource && defined_with(c, r, params)) return;
  HashDraft one;
  one.set(title, params.is(VK::kHash) ? params : make_hash(c.arena(), {}));
  Val args[2] = {c.string(type), c.hash(one)};
  c.compiler.call_function(Symbol("create_resources"), args, nullptr, c.scope, c.at);
}

void ensure_all(const FunctionCall& c, const std::string& type, const Val& titles, const Val& params) {
  if (titles.is(VK::kArray)) {
    for (const Val& v : titles.items()) ensure_all(c, type, v, params);
    return;
  }
  ensure_one(c, type, titles, params);
}

Val merged(const FunctionCall& c, const Val& below, const Val& above) {
  HashDraft out;
  for (const Val* v : {&below, &above}) {
    for (const Pair& p : v->is(VK::kHash) ? v->entries() : std::span<const Pair>{}) out.set(p.key, p.value);
  }
  return c.hash(out);
}

Val ensure_resource(const FunctionCall& c) {
  if (c.count() < 1) c.fail("Must specify a type");
  if (c.count() < 2) c.fail("Must specify a title");
  ensure_all(c, to_text(c.arg(0)), c.arg(1), c.count() > 2 ? c.arg(2) : Val::undef());
  return {};
}

Val ensure_resources(const FunctionCall& c) {
  if (c.count() < 2) c.fail(c.count() < 1 ? "Must specify a type" : "Must specify a title");
  if (!c.arg(1).is(VK::kHash)) c.fail("ensure_resources(): Requires second argument to be a Hash");
  Val common = c.count() > 2 ? c.arg(2) : Val::undef();
  for (const Pair& p : c.arg(1).entries()) ensure_one(c, to_text(c.arg(0)), p.key, merged(c, common, p.value));
  return {};
}

Val ensure_packages(const FunctionCall& c) {
  HashDraft draft;
  draft.set("ensure", Val::string("installed"));
  Val defaults = c.hash(draft);
  if (c.has(1)) {
    defaults = merged(c, defaults, c.arg(1));
    const Val* wanted = defaults.get("ensure");
    if (wanted->is(VK::kString) && wanted->text() == "present") defaults = merged(c, defaults, c.hash(draft));
  }
  if (c.arg(0).is(VK::kHash)) {
    for (const Pair& p : c.arg(0).entries()) ensure_one(c, "package", p.key, merged(c, defaults, p.value));
  } else {
    ensure_all(c, "package", c.arg(0), defaults);
  }
  return {};
}

Val getparam(const FunctionCall& c) {
  expect_count(c, 2, 2);
  Resource* r = resource_named(c, c.arg(0));
  if (!c.arg(1).is(VK::kString)) c.fail("Must specify name of a parameter");
  const Val* v = r != nullptr ? c.compiler.resource_parameter(*r, Symbol(c.text(1))) : nullptr;
  return v != nullptr && !v->undefined() ? *v : c.string("");
}

}  // namespace

void add_stdlib_data_functions(Functions& f) {
  f.add("to_json", {{"Any", to_json}});
  f.add("to_json_pretty", {{"Variant[Hash, Array], Optional[Boolean]?, Hash?", to_json_pretty}});
  f.add("to_yaml", {{"Any, Hash?", to_yaml}});
  f.add("to_python", {{"Any", to_python}});
  f.add("to_ruby", {{"Any", to_ruby}});
  f.add3x("parsejson", parsejson);
  f.add3x("parsepson", parsepson);
  f.add3x("parseyaml", parseyaml);
  f.add3x("loadjson", loadjson);
  f.add3x("loadyaml", loadyaml);
  f.add3x("base64", base64_);
  f.add3x("get_module_path", get_module_path);
  f.add3x("load_module_metadata", load_module_metadata);
  f.add3x("glob", glob_);
  f.add("type_of", {{"Any", type_of}});
  f.add3x("defined_with_params", defined_with_params);
  f.add3x("ensure_resource", ensure_resource);
  f.add3x("ensure_resources", ensure_resources);
  f.add("ensure_packages", {{"Variant[String[1], Array[String[1]], Hash[String[1], Any]], Hash?", ensure_packages}});
  f.add3x("getparam", getparam);
}

}  // namespace tutti::puppet
