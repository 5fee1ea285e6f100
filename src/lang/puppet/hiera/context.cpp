#include "lang/puppet/hiera/context.h"

#include <fmt/format.h>

#include <atomic>

#include "base/file.h"
#include "lang/puppet/hiera/lookup.h"
#include "lang/puppet/types/type.h"

namespace tutti::puppet {

const Type* LookupContext::type() {
  static const Type kType = [] {
    Type t = *plain(TK::kObject);
    t.name = "Puppet::LookupContext";
    return t;
  }();
  return &kType;
}

const Type* lookup_type_named(std::string_view name) {
  static const auto alias = [](std::string_view its_name, TK kind) {
    Type t;
    t.kind = TK::kAlias;
    t.name = its_name;
    t.inner = plain(kind);
    return t;
  };
  static const Type kKey = alias("Puppet::LookupKey", TK::kRichDataKey);
  static const Type kValue = alias("Puppet::LookupValue", TK::kRichData);
  if (!name.starts_with("Puppet::Lookup")) return nullptr;
  for (const Type* t : {LookupContext::type(), &kKey, &kValue})
    if (t->name == name) return t;
  return nullptr;
}

Val LookupContext::object(std::string_view module) const {
  Pair fields[] = {{Val::string("environment_name"), make_string(arena_, host_.environment_name())},
                   {Val::string("module_name"), module.empty() ? Val::undef() : make_string(arena_, module)}};
  ObjectBody body;
  body.type = type();
  body.fields = arena_.copy(std::span<const Pair>(fields));
  body.methods = const_cast<LookupContext*>(this);  // NOLINT: the language changes its cache through the object
  Val v;
  v.kind = VK::kObject;
  v.o = arena_.make<ObjectBody>(body);
  return v;
}

BackendCaller& LookupContext::caller(std::string_view method) const {
  if (caller_ == nullptr)
    throw TypeError(fmt::format("'{}' of a Puppet::LookupContext: the call that it was made for has ended", method));
  return *caller_;
}

std::optional<Val> LookupContext::call(std::string_view method, std::span<const Val> args, const Closure* block) {
  struct Method {
    std::string_view name;
    std::size_t arguments;
    char block;  // 'n'ever, 'm'ust, 'o'ptional
  };
  constexpr Method kMethods[] = {
      {"not_found", 0, 'n'},    {"explain", 0, 'm'},        {"interpolate", 1, 'n'},
      {"cache", 2, 'n'},        {"cache_all", 1, 'n'},      {"cache_has_key", 1, 'n'},
      {"cached_value", 1, 'n'}, {"cached_entries", 0, 'o'}, {"cached_file_data", 1, 'o'},
  };
  const Method* known = nullptr;
  for (const Method& m : kMethods)
    if (m.name == method) known = &m;
  if (known == nullptr) return std::nullopt;
  if (args.size() != known->arguments)
    throw TypeError(fmt::format("'{}' expects {} argument{}, got {}", method, known->arguments,
                                known->arguments == 1 ? "" : "s", args.size()));
  if (known->block == 'n' && block != nullptr) throw TypeError(fmt::format("'{}' does not expect a block", method));
  if (known->block == 'm' && block == nullptr) throw TypeError(fmt::format("'{}' expects a block", method));

  if (method == "not_found") {
    caller(method);
    throw BackendHasNoSuchKey{};
  }
  if (method == "interpolate") return caller(method).interpolated(args[0]);
  if (method == "explain") {
    if (caller(method).telling()) tell(to_text(host_.call_block(*block, {})));
    return Val::undef();
  }
  if (method == "cache") {
    memory_.cache.set(args[0], args[1]);
    return args[1];
  }
  if (method == "cache_all") {
    if (!args[0].is(VK::kHash)) throw TypeError("'cache_all' expects a Hash value");
    for (const Pair& p : args[0].entries()) memory_.cache.set(p.key, p.value);
    return Val::undef();
  }
  if (method == "cached_entries") return entries(block);
  if (method == "cached_file_data") return file(args[0], block);
  const Val* found = memory_.cache.get(args[0]);
  if (method == "cache_has_key") return Val::boolean(found != nullptr);
  return found != nullptr ? *found : Val::undef();
}

u64 BackendMemory::next_number() {
  static std::atomic<u64> last{0};
  return ++last;
}

void LookupContext::tell(std::string text) const {
  if (BackendCaller& to = caller("explain"); to.telling()) to.tell(std::move(text));
}

Val LookupContext::entries(const Closure* block) {
  std::vector<Val> all;
  for (const Pair& p : memory_.cache.pairs()) {
    Val both[] = {p.key, p.value};
    all.push_back(make_array(arena_, both));
  }
  if (block == nullptr) return make_array(arena_, all);
  bool two = host_.block_takes(*block) == 2;
  for (const Val& pair : all) host_.call_block(*block, two ? pair.items() : std::span<const Val>(&pair, 1));
  return Val::undef();
}

Val LookupContext::file(const Val& path, const Closure* block) {
  if (!path.is(VK::kString)) throw TypeError("'cached_file_data' expects a String value");
  if (const Val* known = files_.get(path)) return *known;
  Result<std::string> text = read_file(std::string(path.text()), host_.longest_file());
  if (!text) throw TypeError(text.error().message);
  Val content = make_string(arena_, *text);
  if (block != nullptr) content = host_.call_block(*block, std::span<const Val>(&content, 1));
  files_.set(path, content);
  return content;
}

}  // namespace tutti::puppet
