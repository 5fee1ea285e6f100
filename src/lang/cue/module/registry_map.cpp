// CUE_REGISTRY: which registry has which modules.
#include <fmt/format.h>
#include <openssl/evp.h>

#include "base/file.h"
#include "lang/cue/format/literal.h"
#include "lang/cue/load/module_file.h"
#include "lang/cue/module/registry.h"
#include "lang/cue/syntax/parser.h"

namespace tutti::cue {

std::string sha256_text(std::string_view bytes) {
  unsigned char out[EVP_MAX_MD_SIZE];
  unsigned n = 0;
  EVP_Digest(bytes.data(), bytes.size(), out, &n, EVP_sha256(), nullptr);
  std::string text;
  for (unsigned i = 0; i < n; ++i) text += fmt::format("{:02x}", out[i]);
  return text;
}

namespace {

bool is_this_machine(std::string host) {
  if (host.starts_with('[')) {
    host = host.substr(1, host.find(']') - 1);
  } else if (std::size_t colon = host.rfind(':'); colon != host.npos) {
    host.resize(colon);
  }
  return host == "localhost" || host == "127.0.0.1" || host == "::1";
}

bool is_host(std::string_view s) {
  return !s.empty() &&
         s.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-:[]") == s.npos;
}

// The value of a literal field below; nullptr when there is none.
const ast::Node* field_below(ast::Nodes decls, std::string_view name) {
  for (const ast::Node* d : decls)
    if (d->kind == ast::Kind::kField && label_name(static_cast<const ast::Field*>(d)->label) == name)
      return static_cast<const ast::Field*>(d)->value;
  return nullptr;
}

ast::Nodes below(const ast::Node* x) {
  return x && x->kind == ast::Kind::kStruct ? static_cast<const ast::Struct*>(x)->elts : ast::Nodes{};
}

std::string text_below(ast::Nodes decls, std::string_view name) {
  const ast::Node* x = field_below(decls, name);
  bool text = x && x->kind == ast::Kind::kLit && static_cast<const ast::Lit*>(x)->tok == Tok::kString;
  return text ? unquote(static_cast<const ast::Lit*>(x)->text).text : "";
}

}  // namespace

Result<RegistryMap::Registry> RegistryMap::parse_registry(std::string text) {
  Registry r;
  if (text == "none") {
    r.none = true;
    return r;
  }
  std::string security;
  if (std::size_t plus = text.rfind('+'); plus != text.npos && plus > 0) {
    security = text.substr(plus);
    text.resize(plus);
  }
  std::size_t slash = std::min(text.find('/'), text.size());
  r.host = text.substr(0, slash);
  if (slash < text.size()) r.repository = text.substr(slash + 1);
  if (!is_host(r.host)) return failure(fmt::format("invalid host name {} in registry", quote(r.host)));
  if (r.repository.find_first_of(":@") != r.repository.npos) return failure("cannot have an associated tag or digest");
  if (security.empty()) security = is_this_machine(r.host) ? "+insecure" : "+secure";
  if (security != "+insecure" && security != "+secure")
    return failure(fmt::format("unknown suffix ({}), need +insecure, +secure or no suffix)", quote(security)));
  r.insecure = security == "+insecure";
  return r;
}

Result<RegistryMap> RegistryMap::parse_list(const std::string& text) {
  RegistryMap map;
  bool others = false;
  for (std::size_t at = 0; at <= text.size();) {
    std::size_t end = std::min(text.find(',', at), text.size());
    std::string part = text.substr(at, end - at), prefix;
    at = end + 1;
    if (part.empty()) return failure("empty registry part");
    std::size_t equals = part.find('=');
    if (equals != part.npos) {
      prefix = part.substr(0, equals);
      part = part.substr(equals + 1);
      if (prefix.empty()) return failure("empty module prefix");
      if (part.empty()) return failure("empty registry reference");
      if (std::string wrong = wrong_module_path(prefix); !wrong.empty())
        return failure(fmt::format("invalid module path {}: {}", quote(prefix), wrong));
      if (map.by_prefix_.contains(prefix)) return failure(fmt::format("duplicate module prefix {}", quote(prefix)));
    } else if (std::exchange(others, true)) {
      return failure("duplicate catch-all registry");
    }
    Result<Registry> r = parse_registry(part);
    if (!r) return failure(fmt::format("invalid registry {}: {}", quote(part), r.error().message));
    (prefix.empty() ? map.others_ : map.by_prefix_[prefix]) = *r;
  }
  if (!others) map.others_ = *parse_registry(std::string(kCentralRegistry));
  return map;
}

Result<RegistryMap> RegistryMap::parse_file(const std::string& name, const std::string& text) {
  Arena arena;
  Sources sources;
  Result<const Source*> source = sources.add(name, text);
  if (!source) return failure(source.error().message);
  ParsedFile parsed = cue::parse_file(**source, arena);
  if (!parsed.errors.empty()) return failure("invalid registry configuration file: " + parsed.errors[0].message);
  RegistryMap map;
  map.others_ = *parse_registry(std::string(kCentralRegistry));
  auto registry = [&](ast::Nodes fields) -> Result<Registry> {
    Result<Registry> r = parse_registry(text_below(fields, "registry"));
    if (!r) return r;
    std::string encoding = text_below(fields, "pathEncoding");
    r->encoding = encoding == "hashAsRepo"  ? Encoding::kHashAsRepository
                  : encoding == "hashAsTag" ? Encoding::kHashAsTag
                                            : Encoding::kPath;
    r->tag_prefix = text_below(fields, "prefixForTags");
    const ast::Node* strip = field_below(fields, "stripPrefix");
    r->strip_prefix = strip && strip->kind == ast::Kind::kLit && static_cast<const ast::Lit*>(strip)->tok == Tok::kTrue;
    if (r->strip_prefix && r->encoding != Encoding::kPath)
      return failure("cannot strip prefix unless using path encoding");
    if (r->strip_prefix && r->repository.empty())
      return failure("use of stripPrefix requires a non-empty repository within the registry");
    return r;
  };
  if (const ast::Node* x = field_below(parsed.file->decls, "defaultRegistry")) {
    Result<Registry> r = registry(below(x));
    if (!r) return failure("invalid default registry configuration: " + r.error().message);
    map.others_ = *r;
  }
  for (const ast::Node* all : parsed.file->decls) {
    const auto* f = all->kind == ast::Kind::kField ? static_cast<const ast::Field*>(all) : nullptr;
    if (!f || label_name(f->label) != "moduleRegistries") continue;
    for (const ast::Node* d : below(f->value)) {
      const auto* one = d->kind == ast::Kind::kField ? static_cast<const ast::Field*>(d) : nullptr;
      if (!one) continue;
      std::string prefix = label_name(one->label);
      Result<Registry> r = registry(below(one->value));
      if (!r) return failure(fmt::format("invalid registry configuration in {}: {}", quote(prefix), r.error().message));
      map.by_prefix_[prefix] = *r;
    }
  }
  return map;
}

Result<RegistryMap> RegistryMap::parse(const std::string& text) {
  auto of = [&](std::string_view kind) { return text.substr(kind.size()); };
  if (text.starts_with("file:")) {
    Result<std::string> content = read_own_file(of("file:"), 1 << 20);
    if (!content) return failure(content.error().message);
    return parse_file(of("file:"), *content);
  }
  if (text.starts_with("inline:")) return parse_file("inline", of("inline:"));
  std::string list = text.starts_with("simple:") ? of("simple:") : text;
  return parse_list(list.empty() ? std::string(kCentralRegistry) : list);
}

std::optional<RegistryLocation> RegistryMap::locate(const std::string& module, const std::string& version) const {
  const Registry* r = &others_;
  std::string matched;
  for (const auto& [prefix, registry] : by_prefix_) {
    bool fits = module == prefix || module.starts_with(prefix + "/");
    if (fits && prefix.size() > matched.size()) matched = prefix, r = &registry;
  }
  if (r->none) return std::nullopt;
  RegistryLocation at{r->host, r->repository, r->tag_prefix + version, r->insecure};
  auto add = [&](const std::string& path) {
    if (!path.empty()) at.repository += (at.repository.empty() ? "" : "/") + path;
  };
  switch (r->encoding) {
    case Encoding::kPath:
      add(!r->strip_prefix                     ? module
          : module.size() > matched.size() + 1 ? module.substr(matched.size() + (matched.empty() ? 0 : 1))
                                               : "");
      break;
    case Encoding::kHashAsRepository: add(sha256_text(module)); break;
    case Encoding::kHashAsTag: at.tag = fmt::format("{}{}-{}", r->tag_prefix, sha256_text(module), version); break;
  }
  return at;
}

}  // namespace tutti::cue
