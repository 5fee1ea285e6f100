// Functions on values of every kind: numbers, order, digging, files, templates.
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cmath>

#include "base/boundary.h"
#include "base/file.h"
#include "base/utf8.h"
#include "lang/puppet/eval/compiler.h"
#include "lang/puppet/functions/stdlib.h"
#include "lang/puppet/hiera/lookup.h"
#include "lang/puppet/run_program.h"
#include "lang/puppet/types/regex.h"
#include "lang/puppet/types/time.h"

namespace tutti::puppet {
namespace {

double number_of(const Val& v) { return v.is(VK::kInt) ? static_cast<double>(v.i) : v.d; }

Val abs_(const FunctionCall& c) {
  return c.arg(0).is(VK::kInt) ? Val::integer(std::abs(c.arg(0).i)) : Val::real(std::fabs(c.arg(0).d));
}
Val abs_text(const FunctionCall& c) {
  Val n;
  std::string_view digits = c.text(0);
  if (digits.starts_with('-')) digits.remove_prefix(1);
  std::string_view decimal = digits;  // without zeros that would say "octal"
  while (decimal.size() > 1 && decimal[0] == '0' && decimal[1] != '.') decimal.remove_prefix(1);
  if (digits.find_first_not_of("0123456789.") != std::string_view::npos || !parse_number(decimal, n))
    c.fail("abs(): Requires float or integer to work with - was given non decimal string");
  return n.is(VK::kInt) ? Val::integer(std::abs(n.i)) : Val::real(std::fabs(n.d));
}
Val whole(const FunctionCall& c, double x) {
  if (c.arg(0).is(VK::kInt)) return c.arg(0);
  if (!(x >= -0x1p63 && x < 0x1p63)) c.fail(fmt::format("{}(): the result does not fit an Integer", c.name));
  return Val::integer(static_cast<i64>(x));
}
// Text is taken as Ruby's Float() takes it.
double numeric_argument(const FunctionCall& c) {
  double x = 0;
  if (!c.arg(0).is(VK::kString)) return number_of(c.arg(0));
  if (!ruby_float_text(c.text(0), x))
    c.fail(fmt::format("{}(): cannot convert given value to a floating point value.", c.name));
  return x;
}
Val ceiling(const FunctionCall& c) { return whole(c, std::ceil(numeric_argument(c))); }
Val floor_(const FunctionCall& c) { return whole(c, std::floor(numeric_argument(c))); }
Val round_(const FunctionCall& c) {
  double x = number_of(c.arg(0));
  return whole(c, std::trunc(x > 0 ? x + 0.5 : x - 0.5));
}

int compare_plain(std::string_view a, std::string_view b) { return a < b ? -1 : a > b ? 1 : 0; }

// Numbers by value, text by bytes, text that looks like numbers as numbers (as max and min have always done).
int order(const FunctionCall& c, const Val& a, const Val& b) {
  if (c.block != nullptr) {
    Val v = c.yield(a, b);
    if (!v.is(VK::kInt)) c.fail(fmt::format("{}(): the block must give an Integer", c.name));
    return v.i < 0 ? -1 : v.i > 0 ? 1 : 0;
  }
  if (is_number(a) && is_number(b)) return number_of(a) < number_of(b) ? -1 : number_of(a) > number_of(b) ? 1 : 0;
  std::string x = to_text(a), y = to_text(b);
  const Regex* number = Regex::get("\\A-?\\d+([._eE]\\d+)?\\z", nullptr);
  if (number->search(x, 0) && number->search(y, 0)) {
    double p = std::strtod(x.c_str(), nullptr), q = std::strtod(y.c_str(), nullptr);
    return p < q ? -1 : p > q ? 1 : 0;
  }
  return compare_plain(x, y);
}

Val extreme(const FunctionCall& c, int sign) {
  std::span<const Val> all = c.count() == 1 && c.arg(0).is(VK::kArray) ? c.arg(0).items() : c.args;
  if (all.empty() && c.block != nullptr) return Val::undef();
  if (all.empty()) c.fail(fmt::format("{}(): Wrong number of arguments need at least one", c.name));
  Val best = all[0];
  for (const Val& v : all.subspan(1)) {
    if (order(c, v, best) * sign > 0) best = v;
  }
  return best;
}
Val max_(const FunctionCall& c) { return extreme(c, 1); }
Val min_(const FunctionCall& c) { return extreme(c, -1); }

Val compare_(const FunctionCall& c) {
  const Val &a = c.arg(0), &b = c.arg(1);
  if (a.is(VK::kString) && b.is(VK::kString)) {
    bool fold = c.count() < 3 || c.arg(2).truthy();
    int n = fold ? compare_plain(downcase(a.text()), downcase(b.text())) : compare_plain(a.text(), b.text());
    return Val::integer(n);
  }
  if (a.is(VK::kSemVer) && b.is(VK::kSemVer)) {
    SemVer x, y;
    parse_semver(a.text(), x);
    parse_semver(b.text(), y);
    int n = compare_semver(x, y);
    return Val::integer(n < 0 ? -1 : n > 0 ? 1 : 0);
  }
  if (std::optional<int> order = compare_times(a, b)) return Val::integer(*order);
  if (!is_number(a) || !is_number(b))
    c.fail(
        fmt::format("compare(): Can only compare values of the same type (or for Timestamp/Timespan also against "
                    "Numeric). Got {} and {}",
                    type_text_short(infer(c.arena(), a)), type_text_short(infer(c.arena(), b))));
  double x = number_of(a), y = number_of(b);
  return Val::integer(x < y ? -1 : x > y ? 1 : 0);
}

std::vector<Val> letters(const FunctionCall& c, std::string_view s) {
  std::vector<Val> out;
  for (std::size_t at = 0; at < s.size();) {
    std::size_t start = at;
    utf8::decode(s, at);
    out.push_back(c.string(s.substr(start, at - start)));
  }
  return out;
}
Val glued(const FunctionCall& c, const std::vector<Val>& all) {
  std::string out;
  for (const Val& v : all) out += v.text();
  return c.string(out);
}

// Ruby's <=>: -1, 0, 1, or nullopt where the two have no order.
std::optional<int> ruby_order(const FunctionCall& c, const Val& a, const Val& b) {
  c.compiler.budget().step();
  if (is_number(a) && is_number(b)) return number_of(a) < number_of(b) ? -1 : number_of(a) > number_of(b) ? 1 : 0;
  if (a.is(VK::kString) && b.is(VK::kString)) return compare_plain(a.text(), b.text());
  if (a.is(VK::kArray) && b.is(VK::kArray)) {
    const Budget::Level level(c.compiler.budget());
    for (u32 n = 0; n < std::min(a.size, b.size); ++n)
      if (std::optional<int> first = ruby_order(c, a.list[n], b.list[n]); first != 0) return first;
    return a.size < b.size ? -1 : a.size > b.size ? 1 : 0;
  }
  if (std::optional<int> times = compare_times(a, b)) return times;
  return same(a, b) ? std::optional(0) : std::nullopt;
}

std::vector<Val> sorted(const FunctionCall& c, std::vector<Val> all) {
  std::stable_sort(all.begin(), all.end(), [&](const Val& a, const Val& b) {
    c.compiler.budget().step();
    if (c.block != nullptr) return order(c, a, b) < 0;
    if (std::optional<int> n = ruby_order(c, a, b)) return *n < 0;
    c.fail(fmt::format("sort(): comparison of {} with {} failed", ruby_class(a), ruby_inspect(b)));
  });
  return all;
}
Val sort_array(const FunctionCall& c) { return c.array(sorted(c, {c.arg(0).items().begin(), c.arg(0).items().end()})); }
Val sort_text(const FunctionCall& c) { return glued(c, sorted(c, letters(c, c.text(0)))); }

std::vector<Val> unique_of(const FunctionCall& c, std::span<const Val> all) {
  std::vector<Val> out;
  HashDraft seen;
  for (const Val& v : all) {
    Val key = c.block != nullptr ? c.yield(v) : v;
    if (seen.get(key) != nullptr) continue;
    seen.set(key, Val::boolean(true));
    out.push_back(v);
  }
  return out;
}
Val unique_array(const FunctionCall& c) { return c.array(unique_of(c, c.arg(0).items())); }
Val unique_items(const FunctionCall& c) { return c.array(unique_of(c, iterate(c, c.arg(0)))); }
Val unique_text(const FunctionCall& c) { return glued(c, unique_of(c, letters(c, c.text(0)))); }
Val unique_hash(const FunctionCall& c) {
  struct Group {
    Val key;
    std::vector<Val> keys, values;
  };
  std::vector<Group> groups;
  for (const Pair& p : c.arg(0).entries()) {
    Val key = c.block != nullptr ? c.yield(p.value) : p.value;
    auto it = std::find_if(groups.begin(), groups.end(), [&](const Group& g) { return same(g.key, key); });
    if (it == groups.end()) it = groups.insert(groups.end(), Group{key, {}, {}});
    it->keys.push_back(p.key);
    if (std::none_of(it->values.begin(), it->values.end(), [&](const Val& v) { return same(v, p.value); }))
      it->values.push_back(p.value);
  }
  HashDraft out;
  for (const Group& g : groups) out.set(c.array(g.keys), c.array(g.values));
  return c.hash(out);
}

void flatten_into(const Val& v, std::vector<Val>& out) {
  if (!v.is(VK::kArray)) {
    out.push_back(v);
    return;
  }
  for (const Val& item : v.items()) flatten_into(item, out);
}
Val flatten(const FunctionCall& c) {
  std::vector<Val> out;
  for (const Val& v : c.args) flatten_into(v, out);
  return c.array(out);
}

// --- digging

Val dig_path(const FunctionCall& c, Val at, std::span<const Val> path) {
  std::string walked;
  for (const Val& key : path) {
    if (at.undefined() || key.undefined()) return {};
    if (!at.is(VK::kArray) && !at.is(VK::kHash)) {
      c.fail(fmt::format("The given data does not contain a Collection at [{}], got '{}'", walked,
                         type_text(infer(c.arena(), at, Infer::kGeneralized))));
    }
    walked += (walked.empty() ? "" : ", ") + ruby_inspect(key);
    if (at.is(VK::kArray)) {
      if (!key.is(VK::kInt)) {
        c.fail(fmt::format("The given data requires an Integer index at [{}], got '{}'", walked,
                           type_text(infer(c.arena(), key, Infer::kGeneralized))));
      }
      i64 i = key.i < 0 ? key.i + static_cast<i64>(at.size) : key.i;
      at = i >= 0 && i < static_cast<i64>(at.size) ? at.items()[static_cast<std::size_t>(i)] : Val::undef();
    } else {
      const Val* next = at.get(key);
      at = next != nullptr ? *next : Val::undef();
    }
  }
  return at;
}
Val dig_(const FunctionCall& c) { return dig_path(c, c.arg(0), c.args.subspan(1)); }

Val get_from(const FunctionCall& c, const Val& value, std::string_view navigation, const Val& otherwise) {
  if (value.undefined()) return otherwise;
  if (navigation.empty()) return value;
  std::vector<Val> path;
  try {
    // The first part of a key is text even where it is digits; here it comes second.
    std::vector<KeySegment> segments = split_key(fmt::format("x.{}", navigation));
    for (const KeySegment& s : std::span(segments).subspan(1))
      path.push_back(s.number ? Val::integer(std::strtoll(s.text.c_str(), nullptr, 10)) : c.string(s.text));
  } catch (const HieraError&) {
    c.fail("Syntax error in dotted-navigation string");
  }
  try {
    Val found = dig_path(c, value, path);
    return found.undefined() ? otherwise : found;
  } catch (const EvalError& e) {
    if (c.block == nullptr) throw;
    return c.yield(c.string(e.what()));
  }
}
Val get_(const FunctionCall& c) { return get_from(c, c.arg(0), c.text(1), c.count() > 2 ? c.arg(2) : Val::undef()); }
Val getvar(const FunctionCall& c) {
  std::string_view text = c.text(0);
  const Regex* form = Regex::get("\\A(?:::)?(?:[a-z]\\w*::)*[a-z_]\\w*(?:\\.|\\z)", nullptr);
  if (!form->search(text, 0)) c.fail("The given string does not start with a valid variable name");
  std::size_t dot = text.find('.');
  std::string_view name = text.substr(0, dot);
  if (name.starts_with("::")) name.remove_prefix(2);
  if (name == "facts" && dot != std::string_view::npos)
    c.compiler.facts_with(c.scope, text.substr(dot + 1, text.find('.', dot + 1) - dot - 1));
  const Val* v = c.compiler.find_variable(c.scope, name);
  Val otherwise = c.count() > 1 ? c.arg(1) : Val::undef();
  if (v == nullptr) return otherwise;
  return get_from(c, *v, dot == std::string_view::npos ? "" : text.substr(dot + 1), otherwise);
}

Val unwrap(const FunctionCall& c) {
  Val v = c.arg(0).is(VK::kSensitive) ? *c.arg(0).box : c.arg(0);
  return c.block != nullptr ? c.yield(v) : v;
}

Val convert_to(const FunctionCall& c) {
  std::vector<Val> args = {c.arg(0)};
  args.insert(args.end(), c.args.begin() + 2, c.args.end());
  // What is of the type already needs no constructor, which types such as Scalar do not have.
  bool is_it = args.size() == 1 && is_instance(c.arg(1).t, c.arg(0));
  Val made = is_it ? c.arg(0) : c.compiler.construct(c.arg(1).t, args, c.at);
  return c.block != nullptr ? c.yield(made) : made;
}

// --- files and templates

bool exists(const std::string& path) {
  struct stat st {};
  return !path.empty() && ::stat(path.c_str(), &st) == 0;
}

std::string found_file(const FunctionCall& c, std::string_view folder, const Val& name) {
  std::string text = to_text(name), path = c.compiler.environment().module_file(folder, text);
  c.compiler.need_inside(c.at, path.empty() && text.starts_with('/') ? text : path);
  return exists(path) ? path : "";
}

std::string read_first(const FunctionCall& c) {
  std::string names;
  for (const Val& v : c.args) {
    std::string path = found_file(c, "files", v);
    names += (names.empty() ? "" : ", ") + to_text(v);
    if (path.empty()) continue;
    Result<std::string> text = read_file(path, u64{1} << 28);
    if (!text) c.compiler.fail_read(c.at, text.error());
    return *text;
  }
  c.fail(fmt::format("Could not find any files from {}", names));
}
Val file_(const FunctionCall& c) {
  expect_count(c, 1, SIZE_MAX);
  return c.string(read_first(c));
}
Val binary_file(const FunctionCall& c) { return Val::with_text(VK::kBinary, c.arena().copy(read_first(c))); }

Val find_in(const FunctionCall& c, std::string_view folder) {
  std::vector<Val> names;
  for (const Val& v : c.args) flatten_into(v, names);
  for (const Val& v : names) {
    if (std::string path = found_file(c, folder, v); !path.empty()) return c.string(path);
  }
  return {};
}
Val find_file(const FunctionCall& c) { return find_in(c, "files"); }
Val find_template(const FunctionCall& c) { return find_in(c, "templates"); }

Val module_directory(const FunctionCall& c) {
  std::vector<Val> names;
  for (const Val& v : c.args) flatten_into(v, names);
  for (const Val& v : names) {
    if (const Module* m = c.compiler.environment().module(v.text())) return c.string(m->path);
  }
  return {};
}

// What goes wrong in a template is told with the place that asked for it.
Val rendered(const FunctionCall& c, const Program& program, Scope& scope) {
  std::span<const Pair> args = c.has(1) ? c.arg(1).entries() : std::span<const Pair>{};
  try {
    return c.string(c.compiler.render_epp(program, args, scope, c.at));
  } catch (EvalError& e) {
    e.notes.push_back(fmt::format("in the template rendered at {}", c.compiler.session().sources->show(c.at)));
    throw;
  }
}

Val epp(const FunctionCall& c) {
  // The ending may be left out, of any name that is not that of a file as it stands.
  std::string name(c.text(0)), path;
  if (!name.ends_with(".epp") && !(name.starts_with('/') && exists(name))) name += ".epp";
  path = found_file(c, "templates", c.string(name));
  if (path.empty()) c.fail(fmt::format("Could not find template '{}'", name));
  const Program* program = c.compiler.environment().load(path, LexMode::kEpp, c.compiler.diagnostics());
  if (program == nullptr || !program->ok) c.fail(fmt::format("the template {} has syntax errors", path));
  return rendered(c, *program, c.compiler.top());
}
Val inline_epp(const FunctionCall& c) {
  const Program* program = c.compiler.environment().parse_text("inline EPP", std::string(c.text(0)), LexMode::kEpp,
                                                               c.compiler.diagnostics());
  if (program == nullptr || !program->ok) c.fail("the inline template has syntax errors");
  return rendered(c, *program, c.scope);
}

// The output of a command, started without a shell in its own directory.
Val generate(const FunctionCall& c) {
  expect_count(c, 1, SIZE_MAX);
  std::string command = to_text(c.arg(0));
  if (!command.starts_with('/')) c.fail("Generators must be fully qualified");
  if (!Regex::get("\\A[-/\\w.+]+\\z", nullptr)->search(command, 0)) {
    c.fail("Generators can only contain alphanumerics, file separators, and dashes");
  }
  if (command.find("..") != std::string::npos) c.fail("Can not use generators with '..' in them.");
  c.compiler.need_trust(c.at, fmt::format("generate() runs {}", command));
  std::vector<std::string> words;
  for (const Val& v : c.args) words.push_back(to_text(v));
  auto run =
      run_program(words, command.substr(0, command.rfind('/') + 1), true, [&] { c.compiler.budget().step(4096); });
  if (!run) c.fail(fmt::format("Failed to execute generator {}: {}", command, run.error().message));
  if (run->status != 0) c.fail(fmt::format("Failed to execute generator {}: {}", command, run->output));
  return c.string(run->output);
}

}  // namespace

void add_value_functions(Functions& f) {
  f.add("abs", {{"Numeric", abs_}, {"String", abs_text}});
  f.add("ceiling", {{"Numeric", ceiling}, {"String", ceiling}});
  f.add("floor", {{"Numeric", floor_}, {"String", floor_}});
  f.add("round", {{"Numeric", round_}});
  f.add("max", {{"Any*, &?Callable[2, 2]", max_}});
  f.add("min", {{"Any*, &?Callable[2, 2]", min_}});
  f.add("compare", {{"Numeric, Numeric", compare_},
                    {"String, String, Boolean?", compare_},
                    {"SemVer, SemVer", compare_},
                    {"Variant[Numeric, Timespan, Timestamp], Variant[Numeric, Timespan, Timestamp]", compare_}});
  f.add("sort", {{"String, &?Callable[2, 2]", sort_text}, {"Array, &?Callable[2, 2]", sort_array}});
  f.add("unique", {{"String, &?Callable[1, 1]", unique_text},
                   {"Hash, &?Callable[1, 1]", unique_hash},
                   {"Array, &?Callable[1, 1]", unique_array},
                   {"Iterable, &?Callable[1, 1]", unique_items}});
  f.add("flatten", {{"Any*", flatten}});
  f.add("dig", {{"Optional[Collection], Any*", dig_}});
  f.add("get", {{"Any, String, Any?, &?Callable[1, 1]", get_}});
  f.add("getvar", {{"String, Any?, &?Callable[1, 1]", getvar}});
  f.add("unwrap", {{"Any, &?Callable[1, 1]", unwrap}});
  f.add("convert_to", {{"Any, Type, Any*, &?Callable[1, 1]", convert_to}});
  f.add3x("file", file_);
  f.add("binary_file", {{"String", binary_file}});
  f.add("find_file", {{"Variant[String, Array[String]]*", find_file}});
  f.add("find_template", {{"Variant[String, Array[String]]*", find_template}});
  f.add("module_directory", {{"Variant[String, Array[String]]*", module_directory}});
  f.add("epp", {{"String, Hash[Pattern[/^\\w+$/], Any]?", epp}});
  f.add("inline_epp", {{"String, Hash[Pattern[/^\\w+$/], Any]?", inline_epp}});
  f.add3x("generate", generate);
}

}  // namespace tutti::puppet
