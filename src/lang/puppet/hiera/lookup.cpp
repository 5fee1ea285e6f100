#include "lang/puppet/hiera/lookup.h"

#include <fmt/format.h>
#include <glob.h>

#include <algorithm>

#include "lang/puppet/hiera/layer.h"
#include "lang/puppet/types/regex.h"

namespace tutti::puppet {

std::vector<std::string> split_key(std::string_view key) {
  std::vector<std::string> out;
  std::string segment;
  bool any = false;
  for (std::size_t at = 0; at < key.size(); at++) {
    char c = key[at];
    if (c == '"' || c == '\'') {
      std::size_t end = key.find(c, at + 1);
      if (end == std::string_view::npos) throw HieraError(fmt::format("the quotes of the key `{}` do not match", key));
      segment += key.substr(at + 1, end - at - 1);
      at = end;
      any = true;
    } else if (c == '.') {
      if (!any && segment.empty()) throw HieraError(fmt::format("the key `{}` has an empty part", key));
      out.push_back(std::move(segment));
      segment.clear();
      any = false;
    } else {
      segment += c;
    }
  }
  if (!any && segment.empty()) throw HieraError(fmt::format("the key `{}` has an empty part", key));
  out.push_back(std::move(segment));
  return out;
}

std::optional<Val> dig(const Val& value, std::span<const std::string> segments) {
  Val at = value;
  for (const std::string& s : segments) {
    const Val* next = nullptr;
    bool number = !s.empty() && s.find_first_not_of("0123456789") == std::string::npos && s.size() < 10;
    if (at.is(VK::kHash)) {
      next = at.get(s);
      if (next == nullptr && number) next = at.get(Val::integer(std::stol(s)));
    } else if (at.is(VK::kArray) && number && std::stoul(s) < at.items().size()) {
      next = &at.items()[std::stoul(s)];
    }
    if (next == nullptr) return std::nullopt;
    at = *next;
  }
  return at;
}

// One look-up, with the keys being looked up for whoever interpolates them.
class HieraSearch {
 public:
  HieraSearch(DataLookup& hiera, HieraHost& host, std::string* explain)
      : hiera_(hiera), host_(host), explain_(explain) {}

  std::optional<HieraFound> key(std::string_view key, const MergeSpec* merge) {
    std::vector<std::string> segments = split_key(key);
    const std::string& root = segments[0];
    if (root == "lookup_options") return std::nullopt;
    if (std::find(active_.begin(), active_.end(), root) != active_.end()) {
      throw HieraError(fmt::format("recursive lookup detected in [{}]", fmt::join(active_, ", ")));
    }
    active_.push_back(root);
    MergeSpec spec;
    if (merge != nullptr) {
      spec = *merge;
    } else if (Val options = hiera_.options_for(host_, root); options.is(VK::kHash)) {
      std::string error;
      const Val* wanted = options.get("merge");
      if (wanted != nullptr && !parse_merge(*wanted, spec, error)) throw HieraError(error, wanted->origin.pos());
    }
    say(0, fmt::format("Searching for \"{}\"", key));
    std::optional<HieraFound> found = root_key(root, spec, std::span<const std::string>(segments).subspan(1));
    active_.pop_back();
    return found;
  }

  // Everything a layer says under `root`, highest level first.
  void collect(const HieraLayer& layer, const std::vector<HieraLevel>& levels, const std::string& root, bool all,
               std::vector<HieraFound>& out, bool raw = false) {
    if (!layer.module.empty() && !root.starts_with(layer.module + "::") && !raw) return;
    for (const HieraLevel& level : levels) {
      say(2, fmt::format("Hierarchy entry \"{}\"", level.name));
      if (level.backend == HieraLevel::kFunction) {
        from_function(layer, level, root, out);
      } else {
        for (const auto& [path, original] : paths_of(layer, level)) {
          from_file(level, path, original, root, out, raw);
          if (!all && !out.empty()) return;
        }
      }
      if (!all && !out.empty()) return;
    }
  }

  Val interpolate(const Val& v, bool methods) {
    switch (v.kind) {
      case VK::kString: return v.text().find("%{") == std::string_view::npos ? v : interpolate_text(v, methods);
      case VK::kArray: {
        std::vector<Val> items;
        items.reserve(v.items().size());
        for (const Val& item : v.items()) items.push_back(interpolate(item, methods));
        return make_array(hiera_.arena_, items).with_origin(v.origin);
      }
      case VK::kHash: {
        HashDraft draft;
        for (const Pair& p : v.entries()) draft.set(interpolate(p.key, methods), interpolate(p.value, methods));
        return draft.build(hiera_.arena_).with_origin(v.origin);
      }
      default: return v;
    }
  }

 private:
  void say(int depth, std::string_view text) {
    if (explain_ != nullptr) *explain_ += fmt::format("{:{}}{}\n", "", depth, text);
  }

  std::optional<HieraFound> root_key(const std::string& root, const MergeSpec& spec,
                                     std::span<const std::string> rest) {
    bool all = spec.strategy != MergeSpec::kFirst;
    std::vector<HieraFound> found;
    if (const HieraLayer* layer = hiera_.environment_layer()) {
      say(1, fmt::format("Environment Data Provider (hiera configuration version 5)\n  Using configuration \"{}\"",
                         layer->config));
      collect(*layer, layer->hierarchy, root, all, found);
    }
    const HieraLayer* module = nullptr;
    if (std::size_t colons = root.find("::"); colons != std::string::npos) {
      module = hiera_.module_layer(host_, std::string_view(root).substr(0, colons));
    }
    if (module != nullptr && (all || found.empty())) {
      say(1, fmt::format("Module \"{}\" Data Provider (hiera configuration version 5)\n  Using configuration \"{}\"",
                         module->module, module->config));
      collect(*module, module->hierarchy, root, all, found);
    }
    if (module != nullptr && found.empty()) collect(*module, module->default_hierarchy, root, all, found);
    if (found.empty()) return std::nullopt;
    std::vector<Val> values;
    std::string level;
    for (const HieraFound& f : found) {
      values.push_back(f.value);
      level += (level.empty() ? "" : ", ") + f.level;
    }
    Val merged;
    std::string error;
    if (!merge_values(values, spec, hiera_.arena_, merged, error)) {
      throw HieraError(fmt::format("lookup of '{}': {}", root, error), values.front().origin.pos());
    }
    // The merge is of the root key; the rest of the way is gone in what it gives.
    std::optional<Val> dug = dig(merged, rest);
    if (!dug) return std::nullopt;
    HieraFound result;
    result.value = *dug;
    result.level = level;
    return result;
  }

  struct Place {
    std::string path, original;
  };

  std::vector<Place> paths_of(const HieraLayer& layer, const HieraLevel& level) {
    std::vector<Place> out;
    std::string datadir = text(level.datadir);
    std::string base = datadir.starts_with('/') ? datadir : layer.directory + "/" + datadir;
    auto absolute = [&](const std::string& p) { return p.starts_with('/') ? p : base + "/" + p; };
    for (const HieraLevel::Location& l : level.locations) {
      switch (l.what) {
        case HieraLevel::Location::kPath: out.push_back({absolute(text(l.text)), l.text}); break;
        case HieraLevel::Location::kGlob: {
          glob_t g{};
          if (::glob(absolute(text(l.text)).c_str(), GLOB_BRACE, nullptr, &g) == 0) {
            for (std::size_t i = 0; i < g.gl_pathc; i++) out.push_back({g.gl_pathv[i], l.text});
          }
          ::globfree(&g);
          break;
        }
        case HieraLevel::Location::kMapped: {
          std::optional<Val> items = variable(l.variable);
          if (!items) break;
          Val one[] = {*items};
          for (const Val& item : items->is(VK::kArray) ? items->items() : std::span<const Val>(one)) {
            mapped_name_ = l.local;
            mapped_ = item;
            out.push_back({absolute(text(l.text)), l.text});
            mapped_name_.clear();
          }
          break;
        }
        case HieraLevel::Location::kUri: break;
      }
    }
    return out;
  }

  void from_file(const HieraLevel& level, const std::string& path, const std::string& original, const std::string& root,
                 std::vector<HieraFound>& out, bool raw) {
    say(3, fmt::format("Path \"{}\"\n      Original path: \"{}\"", path, original));
    auto format = level.backend == HieraLevel::kJson ? DataFiles::Format::kJson : DataFiles::Format::kYaml;
    const DataFiles::File& file = hiera_.files_->get(path, format);
    if (!file.exists) {
      say(4, "Path not found");
      return;
    }
    if (!file.data) throw HieraError(fmt::format("{}: {}", path, file.error.message), file.error.where);
    if (!file.data->is(VK::kHash)) throw HieraError(fmt::format("{}: the file must hold a hash", path));
    const Val* v = file.data->get(root);
    if (v == nullptr) {
      say(4, fmt::format("No such key: \"{}\"", root));
      return;
    }
    if (level.backend == HieraLevel::kEyaml && v->is(VK::kString) && v->text().starts_with("ENC[")) {
      throw HieraError(fmt::format("{}: the value of '{}' is encrypted (eyaml), which is not supported", path, root),
                       v->origin.pos());
    }
    Val value = raw ? *v : interpolate(*v, true);
    say(4, fmt::format("Found key: \"{}\" value: {}", root, to_literal(value)));
    out.push_back({value, fmt::format("{} ({})", original, level.name)});
  }

  void from_function(const HieraLayer& layer, const HieraLevel& level, const std::string& root,
                     std::vector<HieraFound>& out) {
    std::vector<Place> places = paths_of(layer, level);
    bool located = !level.locations.empty();
    if (!located) places.push_back({});
    for (const Place& place : places) {
      HashDraft options;
      if (level.options.is(VK::kHash)) {
        for (const Pair& p : level.options.entries()) options.set(p.key, interpolate(p.value, false));
      }
      if (located) options.set("path", make_string(hiera_.arena_, place.path));
      Val settings = options.build(hiera_.arena_);
      std::vector<Val> args = {settings, Val::undef()};
      if (level.shape != HieraLevel::kDataHash) args.insert(args.begin(), make_string(hiera_.arena_, root));
      Val answer = host_.call_backend(level.function, args);
      if (level.shape == HieraLevel::kDataHash) {
        const Val* v = answer.is(VK::kHash) ? answer.get(root) : nullptr;
        if (v == nullptr) continue;
        answer = *v;
      }
      if (answer.undefined()) continue;
      out.push_back({interpolate(answer, true), fmt::format("{} ({})", level.function, level.name)});
    }
  }

  std::string text(const std::string& pattern) {
    return to_text(interpolate(make_string(hiera_.arena_, pattern), false));
  }

  std::optional<Val> variable(std::string_view expression) {
    if (expression.starts_with("::")) expression.remove_prefix(2);
    std::vector<std::string> segments = split_key(expression);
    const Val* root = !mapped_name_.empty() && segments[0] == mapped_name_ ? &mapped_ : host_.variable(segments[0]);
    if (root == nullptr) return std::nullopt;
    return dig(*root, std::span<const std::string>(segments).subspan(1));
  }

  // %{variable}, %{lookup('key')}, %{hiera('key')}, %{alias('key')}, %{literal('%')}, %{scope('name')}
  Val interpolate_text(const Val& whole, bool methods) {
    std::string_view rest = whole.text();
    std::string out;
    while (!rest.empty()) {
      std::size_t open = rest.find("%{");
      std::size_t close = open == std::string_view::npos ? open : rest.find('}', open);
      if (close == std::string_view::npos) {
        out += rest;
        break;
      }
      out += rest.substr(0, open);
      std::string_view expression = rest.substr(open + 2, close - open - 2);
      while (!expression.empty() && expression.front() == ' ') expression.remove_prefix(1);
      while (!expression.empty() && expression.back() == ' ') expression.remove_suffix(1);
      bool entire = out.empty() && open == 0 && close + 1 == rest.size() && rest.size() == whole.size;
      rest.remove_prefix(close + 1);
      if (expression.empty() || expression == "::" || expression == "''" || expression == "\"\"") continue;
      bool is_alias = false;
      Val value = expression_value(expression, methods, is_alias);
      if (is_alias) {
        if (!entire)
          throw HieraError("'alias' interpolation is only permitted if the expression is equal to the entire string",
                           whole.origin.pos());
        return value.with_origin(whole.origin);
      }
      append_text(out, value);
    }
    return make_string(hiera_.arena_, out).with_origin(whole.origin);
  }

  Val expression_value(std::string_view expression, bool methods, bool& is_alias) {
    std::size_t paren = expression.find('(');
    if (paren != std::string_view::npos && expression.ends_with(')')) {
      std::string_view method = expression.substr(0, paren), inner = expression.substr(paren + 1);
      inner.remove_suffix(1);
      if (inner.size() >= 2 && (inner[0] == '"' || inner[0] == '\'') && inner.back() == inner[0])
        inner = inner.substr(1, inner.size() - 2);
      if (!methods) throw HieraError(fmt::format("the interpolation %{{{}}} may not call anything here", expression));
      if (method == "literal") return make_string(hiera_.arena_, inner);
      if (method == "scope") return variable(inner).value_or(Val::undef());
      is_alias = method == "alias";
      if (is_alias || method == "lookup" || method == "hiera") {
        std::optional<HieraFound> found = key(inner, nullptr);
        if (!found) throw HieraError(fmt::format("did not find a value for the name '{}'", inner));
        return found->value;
      }
      throw HieraError(fmt::format("unknown interpolation method '{}'", method));
    }
    std::optional<Val> v = variable(expression);
    return v ? interpolate(*v, methods) : Val::undef();
  }

  DataLookup& hiera_;
  HieraHost& host_;
  std::string* explain_;
  std::vector<std::string> active_;
  std::string mapped_name_;
  Val mapped_;
};

DataLookup::DataLookup(std::shared_ptr<DataFiles> files, Arena& arena, std::string environment_directory)
    : files_(std::move(files)), arena_(arena), environment_(std::move(environment_directory)) {}

DataLookup::~DataLookup() = default;

const HieraLayer* DataLookup::load_layer(const std::string& directory, bool of_module) {
  auto it = layers_.find(directory);
  if (it != layers_.end()) return it->second.get();
  std::unique_ptr<HieraLayer> layer;
  std::string config = directory + "/hiera.yaml";
  const DataFiles::File& file = files_->get(config, DataFiles::Format::kYaml);
  if (file.exists) {
    if (!file.data) throw HieraError(fmt::format("{}: {}", config, file.error.message), file.error.where);
    layer = std::make_unique<HieraLayer>();
    layer->directory = directory;
    layer->config = config;
    if (of_module) layer->module = directory.substr(directory.rfind('/') + 1);
    read_layer(*file.data, *layer);
  }
  return layers_.emplace(directory, std::move(layer)).first->second.get();
}

const HieraLayer* DataLookup::environment_layer() {
  return environment_.empty() ? nullptr : load_layer(environment_, false);
}

const HieraLayer* DataLookup::module_layer(HieraHost& host, std::string_view module) {
  std::string directory = host.module_directory(module);
  return directory.empty() ? nullptr : load_layer(directory, true);
}

Val DataLookup::layer_options(HieraHost& host, const HieraLayer* layer, std::string_view module) {
  auto it = options_.find(module);
  if (it != options_.end()) return it->second;
  Val merged;
  if (layer != nullptr) {
    std::vector<HieraFound> found;
    HieraSearch search(*this, host, nullptr);
    search.collect(*layer, layer->hierarchy, "lookup_options", true, found, true);
    std::vector<Val> values;
    for (const HieraFound& f : found) values.push_back(f.value);
    MergeSpec spec;
    spec.strategy = MergeSpec::kHash;
    std::string error;
    if (!values.empty() && !merge_values(values, spec, arena_, merged, error))
      throw HieraError("lookup_options: " + error);
  }
  options_.emplace(module, merged);
  return merged;
}

Val DataLookup::options_for(HieraHost& host, std::string_view key) {
  std::string root = split_key(key)[0];
  auto in = [&](const Val& options) -> const Val* {
    if (!options.is(VK::kHash)) return nullptr;
    if (const Val* exact = options.get(root)) return exact;
    for (const Pair& p : options.entries()) {
      if (!p.key.is(VK::kString) || !p.key.text().starts_with('^')) continue;
      const Regex* pattern = Regex::get(p.key.text(), nullptr);
      if (pattern != nullptr && pattern->search(root, 0)) return &p.value;
    }
    return nullptr;
  };
  Val environment = layer_options(host, environment_layer(), "");
  if (const Val* v = in(environment)) return *v;
  std::size_t colons = root.find("::");
  if (colons == std::string::npos) return {};
  std::string_view module = std::string_view(root).substr(0, colons);
  Val of_module = layer_options(host, module_layer(host, module), module);
  const Val* v = in(of_module);
  return v != nullptr ? *v : Val{};
}

std::optional<HieraFound> DataLookup::lookup(HieraHost& host, std::string_view key, const MergeSpec* merge,
                                             std::string* explain) {
  return HieraSearch(*this, host, explain).key(key, merge);
}

}  // namespace tutti::puppet
