#include "lang/puppet/hiera/lookup.h"

#include <fmt/format.h>
#include <glob.h>

#include <algorithm>
#include <filesystem>

#include "base/boundary.h"
#include "lang/puppet/hiera/layer.h"
#include "lang/puppet/hiera/story.h"
#include "lang/puppet/types/regex.h"
#include "lang/puppet/types/type.h"
#include "lang/puppet/types/value_text.h"

namespace tutti::puppet {
namespace {

std::string_view trimmed(std::string_view s) {
  while (!s.empty() && std::isspace(static_cast<unsigned char>(s.front()))) s.remove_prefix(1);
  while (!s.empty() && std::isspace(static_cast<unsigned char>(s.back()))) s.remove_suffix(1);
  return s;
}

bool is_number(std::string_view s) {
  if (!s.empty() && (s[0] == '+' || s[0] == '-')) s.remove_prefix(1);
  return !s.empty() && s.size() < 18 && s.find_first_not_of("0123456789") == std::string_view::npos;
}

std::string_view module_of(std::string_view root) {
  std::size_t colons = root.find("::");
  return colons == std::string_view::npos ? std::string_view{} : root.substr(0, colons);
}

}  // namespace

std::vector<KeySegment> split_key(std::string_view key) {
  if (key.find_first_of("'\".") == std::string_view::npos) return {{std::string(key), false}};
  auto wrong = [&] { return HieraError(fmt::format("Syntax error in key: '{}'", key)); };
  std::vector<KeySegment> out;
  for (std::string_view rest = key;;) {
    std::string_view lead = rest.substr(0, std::min(rest.find_first_not_of(" \t\n"), rest.size()));
    char quote = lead.size() < rest.size() ? rest[lead.size()] : 0;
    if (quote == '"' || quote == '\'') {
      rest.remove_prefix(lead.size() + 1);
      std::size_t end = rest.find(quote);
      if (end == std::string_view::npos || end == 0) throw wrong();
      out.push_back({std::string(rest.substr(0, end)), false});
      rest.remove_prefix(end + 1);
      while (!rest.empty() && std::isspace(static_cast<unsigned char>(rest.front()))) rest.remove_prefix(1);
    } else {
      std::string_view plain = rest.substr(0, rest.find_first_of("'\"."));
      if (plain.empty()) throw wrong();
      rest.remove_prefix(plain.size());
      plain = trimmed(plain);
      out.push_back({std::string(plain), !out.empty() && is_number(plain)});
    }
    if (rest.empty()) return out;
    if (rest[0] != '.' || rest.size() == 1) throw wrong();
    rest.remove_prefix(1);
  }
}

// One look-up, with the keys being looked up for whoever interpolates them.
class HieraSearch : private BackendCaller {
 public:
  HieraSearch(DataLookup& hiera, HieraHost& host, Story* story)
      : hiera_(hiera), host_(host), story_(story != nullptr ? story : hiera.story_) {}

  std::optional<HieraFound> key(std::string_view key, const MergeSpec* merge) {
    if (key == "lookup_options" || key.starts_with("lookup_options.")) {
      say("Invalid key \"lookup_options\"");
      return std::nullopt;
    }
    std::vector<KeySegment> segments = split_key(key);
    const std::string& root = segments[0].text;
    host_.looks(hiera_.active_.size());
    Active active(*this, std::string(key));
    const std::vector<KeySegment>* outer = std::exchange(wanted_, &segments);
    auto found = of_root(key, root, std::span(segments).subspan(1), merge);
    wanted_ = outer;
    return found;
  }

  // What lookup_options say of the keys of a module ("": of keys that have none), those of the environment included.
  Val options_of(std::string_view module) {
    if (auto known = hiera_.options_.find(module); known != hiera_.options_.end()) return known->second;
    Within within(*this, "Searching for \"lookup_options\"");
    MergeSpec hash;
    hash.strategy = MergeSpec::kHash;
    auto outer = hiera_.options_.find("");
    if (outer == hiera_.options_.end()) {
      std::vector<Val> both;
      for (std::size_t n : {kGlobal, kEnvironment})
        if (auto found = layer(n, kOptions, kOptions, {}, hash)) both.push_back(checked_options(found->value, ""));
      outer = hiera_.options_.emplace("", both.empty() ? Val{} : merge(both, hash)).first;
    }
    if (module.empty()) return outer->second;
    Val merged = outer->second;
    if (auto found = layer(kModule, kOptions, kOptions, module, hash)) {
      Val own = checked_options(found->value, module);
      if (merged.undefined()) {
        merged = own;
      } else {
        enter_merge(hash);
        for (const auto& [name, value] : {std::pair{std::string("Global and Environment"), merged},
                                          std::pair{fmt::format("Module {}", module), own}}) {
          Within part(*this, name);
          say("Found key: \"lookup_options\" value: ", value);
        }
        merged = merge(std::vector{merged, own}, hash);
        leave_merge(merged);
      }
    }
    hiera_.options_.emplace(module, merged);
    return merged;
  }

  // The entry for a key: its own before a pattern's.
  static Val option_of(const Val& options, const std::string& root) {
    if (!options.is(VK::kHash)) return {};
    if (const Val* exact = options.get(root)) return *exact;
    for (const Pair& p : options.entries()) {
      if (!p.key.is(VK::kString) || !p.key.text().starts_with('^')) continue;
      const Regex* pattern = Regex::get(p.key.text(), nullptr);
      if (pattern != nullptr && pattern->search(root, 0)) return p.value;
    }
    return {};
  }

  void tell_options(std::string_view module) {
    MergeSpec hash;
    hash.strategy = MergeSpec::kHash;
    in_all(hash, 3, [&](std::size_t n) { return layer(n, kOptions, kOptions, module, hash); });
  }

 private:
  static constexpr const char* kOptions = "lookup_options";
  enum : std::size_t { kGlobal, kEnvironment, kModule };

  // A part of the story, as long as it lasts.
  class Within {
   public:
    Within(HieraSearch& search, std::string head) : story_(search.story_) {
      if (story_ != nullptr) story_->enter(std::move(head));
    }
    Within(const Within&) = delete;
    Within& operator=(const Within&) = delete;
    ~Within() {
      if (story_ != nullptr) story_->leave();
    }

   private:
    Story* story_;
  };

  // A key that is being looked up, so that one that needs itself is seen.
  class Active {
   public:
    Active(HieraSearch& search, std::string name) : active_(search.hiera_.active_) {
      if (std::find(active_.begin(), active_.end(), name) != active_.end())
        throw HieraError(fmt::format("Recursive lookup detected in [{}]", fmt::join(active_, ", ")));
      active_.push_back(std::move(name));
    }
    Active(const Active&) = delete;
    Active& operator=(const Active&) = delete;
    ~Active() { active_.pop_back(); }

   private:
    std::vector<std::string>& active_;
  };

  std::optional<HieraFound> of_root(std::string_view key, const std::string& root, std::span<const KeySegment> rest,
                                    const MergeSpec* merge) {
    std::string_view module = module_of(root);
    MergeSpec spec;
    if (Val options = option_of(options_of(module), root); options.is(VK::kHash) && merge == nullptr) {
      if (read_merge(options, spec)) say("Using merge options from \"lookup_options\" hash");
    }
    if (merge != nullptr) spec = *merge;
    Within within(*this, fmt::format("Searching for \"{}\"", key));
    if (std::optional<HieraFound> found = dug(layers(key, root, spec), key, rest)) return found;
    return dug(in_default_hierarchy(module, key, root), key, rest);
  }

  Val interpolated(const Val& value) override { return interpolate(value, true); }
  bool telling() const override { return story_ != nullptr; }
  void tell(std::string text) override { say(std::move(text)); }

  void say(std::string text) {
    if (story_ != nullptr) story_->line(std::move(text));
  }
  void say(std::string text, const Val& value) {
    if (story_ != nullptr) story_->line(std::move(text), value);
  }

  void enter_merge(const MergeSpec& spec) {
    if (story_ == nullptr) return;
    constexpr std::string_view kNames[] = {"first", "unique", "hash", "deep"};
    story_->enter_merge(fmt::format("Merge strategy {}", kNames[spec.strategy]));
    if (spec.given.is(VK::kHash)) story_->line("Options: ", spec.given);
  }
  void leave_merge(const std::optional<Val>& result) {
    if (story_ == nullptr) return;
    if (result) story_->line("Merged result: ", *result);
    story_->leave();
  }

  bool read_merge(const Val& options, MergeSpec& spec) const {
    const Val* wanted = options.is(VK::kHash) ? options.get("merge") : nullptr;
    std::string error;
    if (wanted != nullptr && !parse_merge(*wanted, hiera_.arena_, spec, error))
      throw HieraError(error, wanted->origin.pos());
    return wanted != nullptr;
  }

  Val checked_options(const Val& options, std::string_view module) const {
    if (!options.is(VK::kHash)) throw HieraError("value of lookup_options must be a hash", options.origin.pos());
    for (const Pair& p : options.entries()) {
      std::string_view name = p.key.is(VK::kString) ? p.key.text() : std::string_view{};
      bool pattern = name.starts_with('^');
      std::string why;
      if (pattern && Regex::get(name, &why) == nullptr)
        throw HieraError(fmt::format("lookup_options: `{}` is no pattern: {}", name, why), p.value.origin.pos());
      if (pattern) name.remove_prefix(1);
      if (!module.empty() && !name.starts_with(fmt::format("{}::", module)))
        throw HieraError(fmt::format("all lookup_options {} with module name '{}'",
                                     pattern ? "patterns must match a key starting" : "keys must start", module),
                         p.value.origin.pos());
    }
    return options;
  }

  Val merge(std::span<const Val> values, const MergeSpec& spec) const {
    Val merged;
    std::string error;
    if (!merge_values(values, spec, hiera_.arena_, merged, error)) throw HieraError(error, values.front().origin.pos());
    return merged;
  }

  // What several places that may have the key give: the first of them, or all that have it, merged. Layers, the levels
  // of a hierarchy and the files of a level are each merged by themselves.
  template <class Each>
  std::optional<HieraFound> in_all(const MergeSpec& spec, std::size_t count, Each each) {
    if (spec.strategy == MergeSpec::kFirst) {
      for (std::size_t n = 0; n < count; n++)
        if (std::optional<HieraFound> found = each(n)) return found;
      return std::nullopt;
    }
    if (count == 0) return std::nullopt;
    if (count == 1) {
      std::optional<HieraFound> found = each(0);
      if (found && spec.strategy == MergeSpec::kUnique) found->value = merge(std::span(&found->value, 1), spec);
      return found;
    }
    enter_merge(spec);
    std::vector<Val> values;
    std::string level;
    for (std::size_t n = 0; n < count; n++) {
      std::optional<HieraFound> found = each(n);
      if (!found) continue;
      values.push_back(found->value);
      level += (level.empty() ? "" : ", ") + found->level;
    }
    std::optional<Val> merged;
    if (!values.empty()) merged = merge(values, spec);
    leave_merge(merged);
    if (!merged) return std::nullopt;
    return HieraFound{*merged, level};
  }

  std::optional<HieraFound> layers(std::string_view key, const std::string& root, const MergeSpec& spec) {
    return in_all(spec, 3, [&](std::size_t n) { return layer(n, key, root, module_of(root), spec); });
  }

  std::optional<HieraFound> layer(std::size_t which, std::string_view key, const std::string& root,
                                  std::string_view module, const MergeSpec& spec) {
    if (which == kGlobal) return in_layer(hiera_.global_layer(host_), "Global", key, root, spec);
    if (which == kEnvironment) {
      const HieraLayer* found = hiera_.environment_layer(host_);
      if (found == nullptr) return std::nullopt;
      return in_layer(found, "Environment", key, root, spec);
    }
    if (module.empty()) return std::nullopt;
    const HieraLayer* found = hiera_.module_layer(host_, module);
    if (found != nullptr) return in_layer(found, fmt::format("Module \"{}\"", module), key, root, spec);
    bool there = !host_.module_directory(module).empty();
    if (story_ != nullptr) {
      Within within(*this, fmt::format("Module {}\"{}\" not found", there ? "data provider for module " : "", module));
    }
    return std::nullopt;
  }

  std::optional<HieraFound> in_layer(const HieraLayer* layer, std::string_view name, std::string_view key,
                                     const std::string& root, const MergeSpec& spec) {
    Within within(*this, fmt::format("{} Data Provider (hiera configuration version 5)", name));
    if (layer != nullptr) say(fmt::format("Using configuration \"{}\"", layer->config));
    if (layer == nullptr || layer->hierarchy.empty()) {
      say(fmt::format("No such key: \"{}\"", key));
      return std::nullopt;
    }
    return in_levels(*layer, layer->hierarchy, root, spec);
  }

  std::optional<HieraFound> in_levels(const HieraLayer& layer, const std::vector<HieraLevel>& levels,
                                      const std::string& root, const MergeSpec& spec) {
    return in_all(spec, levels.size(), [&](std::size_t n) { return in_level(layer, levels[n], root, spec); });
  }

  // What nothing else has is looked for in the module's default hierarchy, which has lookup_options of its own.
  std::optional<HieraFound> in_default_hierarchy(std::string_view module, std::string_view key,
                                                 const std::string& root) {
    if (module.empty()) return std::nullopt;
    const HieraLayer* layer = hiera_.module_layer(host_, module);
    if (layer == nullptr || layer->default_hierarchy.empty()) return std::nullopt;
    Within within(*this, fmt::format("Searching default_hierarchy of module \"{}\"", module));
    auto search = [&](std::string_view what, const std::string& of, const MergeSpec& spec) {
      Within searching(*this, fmt::format("Searching for \"{}\"", what));
      Within provider(*this, fmt::format("Module \"{}\" Data Provider (hiera configuration version 5)", module));
      say(fmt::format("Using configuration \"{}\"", layer->config));
      return in_levels(*layer, layer->default_hierarchy, of, spec);
    };
    MergeSpec spec;
    auto known = hiera_.default_options_.find(module);
    if (known == hiera_.default_options_.end()) {
      spec.strategy = MergeSpec::kHash;
      auto found = search(kOptions, kOptions, spec);
      known = hiera_.default_options_.emplace(module, found ? checked_options(found->value, module) : Val{}).first;
      spec.strategy = MergeSpec::kFirst;
    }
    read_merge(option_of(known->second, root), spec);
    return search(key, root, spec);
  }

  std::optional<HieraFound> in_level(const HieraLayer& layer, const HieraLevel& level, const std::string& root,
                                     const MergeSpec& spec) {
    Within within(*this, fmt::format("Hierarchy entry \"{}\"", level.name));
    if (level.locations.empty()) return from_backend(layer, level, nullptr, root);
    std::vector<Place> places = places_of(layer, level);
    return in_all(spec, places.size(), [&](std::size_t n) { return in_place(layer, level, places[n], root); });
  }

  struct Place {
    std::string path, original;
    bool uri = false;
  };

  // The global layer is what the user named or what the installed Puppet has, and so are the folders that it names, as
  // far as no variable of a manifest has a say.
  static void let_read(const std::string& directory, const std::string& datadir) {
    Boundary* boundary = Boundary::in_force();
    std::size_t variable = datadir.find("%{");
    std::string fixed = variable == std::string::npos ? datadir : datadir.substr(0, datadir.rfind('/', variable) + 1);
    if (boundary == nullptr || fixed.empty()) return;
    boundary->add_root(fixed.starts_with('/') ? fixed : directory + "/" + fixed);
  }

  std::vector<Place> places_of(const HieraLayer& layer, const HieraLevel& level) {
    std::vector<Place> out;
    Story* told = std::exchange(story_, nullptr);  // where a path comes from is not told
    std::string datadir = text(level.datadir);
    std::string base = datadir.starts_with('/') ? datadir : layer.directory + "/" + datadir;
    if (layer.config == hiera_.global_config_) let_read(layer.directory, level.datadir);
    auto absolute = [&](const std::string& p) { return p.starts_with('/') ? p : base + "/" + p; };
    for (const HieraLevel::Location& l : level.locations) {
      switch (l.what) {
        case HieraLevel::Location::kPath: out.push_back({absolute(text(l.text)), l.text}); break;
        case HieraLevel::Location::kGlob: {
          glob_t g{};
          std::string pattern = absolute(text(l.text));
          if (::glob(pattern.c_str(), GLOB_BRACE, nullptr, &g) == 0) {
            for (std::size_t i = 0; i < g.gl_pathc; i++)
              if (may_look_at(g.gl_pathv[i])) out.push_back({g.gl_pathv[i], pattern});
          }
          ::globfree(&g);
          break;
        }
        case HieraLevel::Location::kMapped: {
          Val items = variable(l.variable);
          if (items.undefined()) break;
          Val one[] = {items};
          for (const Val& item : items.is(VK::kArray) ? items.items() : std::span<const Val>(one)) {
            mapped_name_ = l.local;
            mapped_ = item;
            out.push_back({absolute(text(l.text)), l.text});
            mapped_name_.clear();
          }
          break;
        }
        case HieraLevel::Location::kUri: out.push_back({text(l.text), l.text, true}); break;
      }
    }
    story_ = told;
    return out;
  }

  std::optional<HieraFound> in_place(const HieraLayer& layer, const HieraLevel& level, const Place& place,
                                     const std::string& root) {
    const char* what = place.uri ? "URI" : "Path";
    Within within(*this, fmt::format("{} \"{}\"", what, place.path));
    say(fmt::format("Original {}: \"{}\"", place.uri ? "uri" : "path", place.original));
    if (level.backend == HieraLevel::kFunction) {
      std::error_code error;
      if (place.uri || (may_look_at(place.path) && std::filesystem::exists(place.path, error)))
        return from_backend(layer, level, &place, root);
      say(fmt::format("{} not found", what));
      return std::nullopt;
    }
    auto format = level.backend == HieraLevel::kJson ? DataFiles::Format::kJson : DataFiles::Format::kYaml;
    const DataFiles::File& file = hiera_.files_->get(place.path, format);
    if (!file.exists) {
      say("Path not found");
      return std::nullopt;
    }
    if (!file.data) throw HieraError(fmt::format("{}: {}", place.path, file.error.message), file.error.where);
    if (!file.data->is(VK::kHash)) {
      std::string empty = fmt::format("{}: the file does not hold a hash", place.path);
      if (host_.strict_errors() && !file.data->undefined()) throw HieraError(empty, file.data->origin.pos());
      if (hiera_.empty_files_.insert(place.path).second) host_.warn(empty);
      return none(root);
    }
    const Val* v = file.data->get(root);
    if (v == nullptr) return none(root);
    if (const Val* odd = file.odd_keys ? odd_key(*v) : nullptr)
      throw HieraError(
          fmt::format("{}: in the value of '{}' the key {} is no string or number; quote it if it is meant as text",
                      place.path, root, to_literal(*odd)),
          v->origin.pos());
    if (level.backend == HieraLevel::kEyaml && v->is(VK::kString) && v->text().starts_with("ENC[")) {
      throw HieraError(
          fmt::format("{}: the value of '{}' is encrypted (eyaml), which is not supported", place.path, root),
          v->origin.pos());
    }
    return got(root, *v, fmt::format("{} ({})", place.original, level.name));
  }

  // A key that values of a look-up may not have.
  static const Val* odd_key(const Val& v) {
    if (v.is(VK::kArray)) {
      for (const Val& item : v.items())
        if (const Val* odd = odd_key(item)) return odd;
    }
    if (!v.is(VK::kHash)) return nullptr;
    for (const Pair& p : v.entries()) {
      if (!p.key.is(VK::kString) && !p.key.is(VK::kInt) && !p.key.is(VK::kFloat)) return &p.key;
      if (const Val* odd = odd_key(p.value)) return odd;
    }
    return nullptr;
  }

  std::optional<HieraFound> none(const std::string& root) {
    say(fmt::format("No such key: \"{}\"", root));
    return std::nullopt;
  }

  HieraFound got(const std::string& root, const Val& raw, std::string level) {
    Val value = interpolate(raw, true);
    say(fmt::format("Found key: \"{}\" value: ", root), value);
    return {value, std::move(level)};
  }

  // What was asked of a backend, as it is told and as errors name it.
  std::string_view shape_name(const HieraLevel& level) const {
    constexpr std::string_view kNames[] = {"data_hash", "lookup_key", "data_dig"};
    return kNames[level.shape];
  }

  Val call_backend(const HieraLayer& layer, const HieraLevel& level, const Place* place, BackendMemory& memory,
                   const Val* key) {
    if (!host_.has_function(level.function))
      throw HieraError(fmt::format("{}: the {} of the entry '{}' is `{}`, and there is no such function", layer.config,
                                   shape_name(level), level.name, level.function));
    if (const Type* returns = host_.backend_returns(level.function)) {
      Arena& arena = hiera_.arena_;
      const Type* wanted = plain(TK::kRichData);
      if (level.shape == HieraLevel::kDataHash) {
        Val of[] = {Val::type(plain(TK::kRichDataKey)), Val::type(wanted)};
        wanted = parameterize(arena, plain(TK::kHash), of);
      }
      if (!assignable(wanted, returns))
        throw HieraError(fmt::format("Return type of '{}' function named '{}' is incorrect, expects a {} value, got {}",
                                     shape_name(level), level.function, type_text(wanted), type_text(returns)));
    }
    HashDraft options;
    if (level.options.is(VK::kHash)) {
      Story* told = std::exchange(story_, nullptr);  // where options come from is not told
      for (const Pair& p : level.options.entries()) options.set(p.key, interpolate(p.value, false));
      story_ = told;
    }
    if (place != nullptr) options.set(place->uri ? "uri" : "path", make_string(hiera_.arena_, place->path));
    LookupContext& context =
        hiera_.contexts_.emplace_back(static_cast<i64>(hiera_.contexts_.size()), host_, memory,
                                      static_cast<BackendCaller&>(*this), hiera_.arena_, hiera_.read_by_backends_);
    std::vector<Val> args;
    if (key != nullptr) args.push_back(*key);
    args.push_back(options.build(hiera_.arena_));
    args.push_back(context.object(layer.module));
    // Look-ups that the backend makes itself belong to this one.
    struct OwnLookups {
      OwnLookups(DataLookup& hiera, Story* story, LookupContext& context)
          : hiera_(hiera), context_(context), outer_(std::exchange(hiera.story_, story)) {}
      OwnLookups(const OwnLookups&) = delete;
      OwnLookups& operator=(const OwnLookups&) = delete;
      ~OwnLookups() {
        hiera_.story_ = outer_;
        context_.call_ended();
      }
      DataLookup& hiera_;
      LookupContext& context_;
      Story* outer_;
    } own(hiera_, story_, context);
    return host_.call_backend(level.function, args);
  }

  [[noreturn]] void wrong_answer(const HieraLevel& level, const Place* place, std::string_view what,
                                 std::string_view expected, const Val& answer) {
    throw HieraError(fmt::format("{} returned from {} function '{}'{} has wrong type, expects {}, got {}", what,
                                 shape_name(level), level.function,
                                 place ? fmt::format(", when using location '{}',", place->path) : "", expected,
                                 type_text(infer(hiera_.arena_, answer, Infer::kGeneralized))));
  }

  std::optional<HieraFound> from_backend(const HieraLayer& layer, const HieraLevel& level, const Place* place,
                                         const std::string& root) {
    BackendMemory& memory = hiera_.memories_[{&level, place != nullptr ? place->path : ""}];
    std::string where = fmt::format("{} ({})", level.function, level.name);
    if (level.shape == HieraLevel::kDataHash) {
      if (!memory.data) {
        Val answer;
        try {
          answer = call_backend(layer, level, place, memory, nullptr);
        } catch (const BackendHasNoSuchKey&) {
          return none(root);
        }
        if (!answer.is(VK::kHash)) wrong_answer(level, place, "Value", "a Hash value", answer);
        memory.data = answer;
      }
      const Val* v = memory.data->get(root);
      if (v == nullptr) return none(root);
      return got(root, *v, where);
    }
    // A data_dig function gets the whole key and gives the value at its end; what is made around it can be dug into.
    std::vector<KeySegment> whole{{root, false}};
    if (level.shape == HieraLevel::kDataDig && wanted_ != nullptr && (*wanted_)[0].text == root) whole = *wanted_;
    std::string shown;
    std::vector<Val> parts;
    for (const KeySegment& s : whole) {
      shown += (shown.empty() ? "" : ".") + s.text;
      parts.push_back(s.number ? Val::integer(std::strtoll(s.text.c_str(), nullptr, 10))
                               : make_string(hiera_.arena_, s.text));
    }
    Val key = level.shape == HieraLevel::kDataDig ? make_array(hiera_.arena_, parts) : parts[0];
    const Val* known = memory.answers.get(key);
    Val answer = known != nullptr ? *known : Val::undef();
    if (known == nullptr) {
      try {
        answer = call_backend(layer, level, place, memory, &key);
      } catch (const BackendHasNoSuchKey&) {
        return none(shown);
      }
      if (!is_instance(plain(TK::kRichData), answer))
        wrong_answer(level, place, fmt::format("Value for key '{}',", shown), "Puppet::LookupValue", answer);
      memory.answers.set(key, answer);
    }
    say(fmt::format("Found key: \"{}\" value: ", shown), answer);
    for (std::size_t n = parts.size(); n-- > 1;) {
      Pair one{parts[n], answer};
      answer = make_hash(hiera_.arena_, std::span<const Pair>(&one, 1));
    }
    return HieraFound{answer, where};
  }

  // The merge is of the root key; the rest of the way is gone in what it gives.
  std::optional<HieraFound> dug(std::optional<HieraFound> found, std::string_view key,
                                std::span<const KeySegment> segments) {
    if (!found || segments.empty()) return found;
    std::optional<Val> value = dig(found->value, key, segments);
    if (!value) return std::nullopt;
    found->value = *value;
    return found;
  }

  std::optional<Val> dig(Val value, std::string_view key, std::span<const KeySegment> segments) {
    std::string path;
    for (const KeySegment& s : segments) path += (path.empty() ? "" : ".") + s.text;
    Within within(*this, fmt::format("Sub key: \"{}\"", path));
    for (const KeySegment& s : segments) {
      const Val* next = nullptr;
      i64 n = s.number ? std::strtoll(s.text.c_str(), nullptr, 10) : -1;
      if (s.number && value.is(VK::kArray)) {
        if (n >= 0 && n < static_cast<i64>(value.items().size())) next = &value.items()[static_cast<std::size_t>(n)];
      } else if (value.is(VK::kHash)) {
        next = s.number ? value.get(Val::integer(n)) : value.get(s.text);
      } else if (!value.undefined()) {
        throw HieraError(fmt::format("a hash is expected where '{}' is looked up, from key '{}', and there is {}",
                                     s.text, key, to_literal(value)),
                         value.origin.pos());
      }
      if (next == nullptr) {
        say(fmt::format("No such key: \"{}\"", s.text));
        return std::nullopt;
      }
      value = *next;
      say(fmt::format("Found key: \"{}\" value: ", s.text), value);
    }
    return value;
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
        for (const Pair& p : v.entries()) {
          Val key = interpolate(p.key, methods);  // told before the value
          draft.set(key, interpolate(p.value, methods));
        }
        return draft.build(hiera_.arena_).with_origin(v.origin);
      }
      default: return v;
    }
  }

  std::string text(const std::string& pattern) {
    return to_text(interpolate(make_string(hiera_.arena_, pattern), false));
  }

  Val variable(std::string_view expression) {
    std::vector<KeySegment> segments = split_key(expression);
    std::string_view root = segments[0].text;
    if (root.starts_with("::")) root.remove_prefix(2);
    const Val* found = nullptr;
    {
      Within within(*this, "Global Scope");
      found = !mapped_name_.empty() && root == mapped_name_
                  ? &mapped_
                  : host_.variable(root, segments.size() > 1 ? segments[1].text : std::string_view{});
      if (found != nullptr) say(fmt::format("Found key: \"{}\" value: ", segments[0].text), *found);
    }
    if (found == nullptr || found->undefined()) return {};
    if (segments.size() == 1) return *found;
    return dig(*found, expression, std::span(segments).subspan(1)).value_or(Val{});
  }

  // %{variable}, %{lookup('key')}, %{hiera('key')}, %{alias('key')}, %{literal('%')}, %{scope('name')}
  Val interpolate_text(const Val& whole, bool methods) {
    Within within(*this, fmt::format("Interpolation on \"{}\"", whole.text()));
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
      std::string_view expression = trimmed(rest.substr(open + 2, close - open - 2));
      bool entire = out.empty() && open == 0 && close + 1 == rest.size() && rest.size() == whole.size;
      rest.remove_prefix(close + 1);
      constexpr std::string_view kNothing[] = {"", "::", "''", "\"\"", "'::'", "\"::\""};
      if (std::find(std::begin(kNothing), std::end(kNothing), expression) != std::end(kNothing)) continue;
      std::string_view method = "scope", name = expression;
      const Regex* call = Regex::get("\\A(\\w+)\\((?:\"([^\"]+)\"|'([^']+)')\\)\\z", nullptr);
      if (call->search(expression, 0)) {
        method = expression.substr(0, expression.find('('));
        name = expression.substr(method.size() + 2, expression.size() - method.size() - 4);
        if (!methods) throw HieraError(fmt::format("the interpolation %{{{}}} may not call anything here", expression));
      }
      bool is_alias = method == "alias";
      if (is_alias && !entire)
        throw HieraError("'alias' interpolation is only permitted if the expression is equal to the entire string",
                         whole.origin.pos());
      Val value = called(method, name);
      if (is_alias) return value.with_origin(whole.origin);
      {
        Active active(*this, method == "scope" ? fmt::format("scope:{}", name) : std::string(name));
        value = interpolate(value, methods);
      }
      out += ruby_to_s(value);
    }
    return make_string(hiera_.arena_, out).with_origin(whole.origin);
  }

  Val called(std::string_view method, std::string_view name) {
    if (method == "literal") return make_string(hiera_.arena_, name);
    if (method == "scope") return variable(name);
    if (method != "alias" && method != "lookup" && method != "hiera")
      throw HieraError(fmt::format("unknown interpolation method '{}'", method));
    std::optional<HieraFound> found = key(name, nullptr);
    return found ? found->value : make_string(hiera_.arena_, "");
  }

  DataLookup& hiera_;
  HieraHost& host_;
  Story* story_;
  const std::vector<KeySegment>* wanted_ = nullptr;  // the key that is being looked up
  std::string mapped_name_;
  Val mapped_;
};

DataLookup::DataLookup(std::shared_ptr<DataFiles> files, Arena& arena, std::string environment_directory,
                       std::string global_config)
    : files_(std::move(files)),
      arena_(arena),
      environment_(std::move(environment_directory)),
      global_config_(std::move(global_config)) {}

DataLookup::~DataLookup() = default;

const HieraLayer* DataLookup::load_layer(HieraHost& host, const std::string& config, Of of) {
  auto it = layers_.find(config);
  if (it != layers_.end()) return it->second.get();
  std::unique_ptr<HieraLayer> layer;
  const DataFiles::File& file = files_->get(config, DataFiles::Format::kYaml);
  if (file.exists) {
    if (!file.data) throw HieraError(fmt::format("{}: {}", config, file.error.message), file.error.where);
    std::filesystem::path directory = std::filesystem::path(config).parent_path();
    layer = std::make_unique<HieraLayer>();
    layer->directory = directory.string();
    layer->config = config;
    if (of == Of::kModule) layer->module = directory.filename().string();
    layer->of_environment = of == Of::kEnvironment;
    read_layer(*file.data, *layer);
    if (!layer->warning.empty()) host.warn(layer->warning);
  }
  return layers_.emplace(config, std::move(layer)).first->second.get();
}

const HieraLayer* DataLookup::global_layer(HieraHost& host) {
  return global_config_.empty() ? nullptr : load_layer(host, global_config_, Of::kAll);
}

const HieraLayer* DataLookup::environment_layer(HieraHost& host) {
  return environment_.empty() ? nullptr : load_layer(host, environment_ + "/hiera.yaml", Of::kEnvironment);
}

const HieraLayer* DataLookup::module_layer(HieraHost& host, std::string_view module) {
  std::string directory = host.module_directory(module);
  return directory.empty() ? nullptr : load_layer(host, directory + "/hiera.yaml", Of::kModule);
}

Val DataLookup::options_for(HieraHost& host, std::string_view key) {
  std::string root = split_key(key)[0].text;
  return HieraSearch::option_of(HieraSearch(*this, host, nullptr).options_of(module_of(root)), root);
}

void DataLookup::tell_options(HieraHost& host, std::string_view key, Story& story) {
  HieraSearch(*this, host, &story).tell_options(module_of(split_key(key)[0].text));
}

Val DataLookup::context(i64 number) const {
  if (number < 0 || number >= static_cast<i64>(contexts_.size())) return {};
  return contexts_[static_cast<std::size_t>(number)].object({});
}

std::optional<HieraFound> DataLookup::lookup(HieraHost& host, std::string_view key, const MergeSpec* merge,
                                             Story* story) {
  return HieraSearch(*this, host, story).key(key, merge);
}

}  // namespace tutti::puppet
