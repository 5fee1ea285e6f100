#include "lang/cue/module/registry.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "base/base64.h"
#include "base/file.h"
#include "format/json.h"
#include "lang/cue/format/literal.h"
#include "lang/cue/module/curl.h"
#include "lang/cue/module/version.h"
#include "tree/session.h"

namespace tutti::cue {

namespace {

constexpr std::string_view kManifest = "application/vnd.oci.image.manifest.v1+json";
constexpr std::string_view kModuleFileLayer = "application/vnd.cue.modulefile.v1";
constexpr std::string_view kModuleConfig = "application/vnd.cue.module.v1+json";
constexpr long kSecondsToConnect = 30;

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

std::string home_file(const char* variable, const char* in_home, const std::string& name) {
  std::string folder = environment(variable);
  if (folder.empty()) folder = environment("HOME") + in_home;
  return folder + "/" + name;
}

// A JSON text read for as long as this lives.
class Json {
 public:
  explicit Json(const std::string& text) {
    if (Result<const Source*> s = session_.sources->add("answer", text)) root_ = read_json(session_, **s);
  }
  bool ok() const { return root_ && root_->is(Kind::kMap); }
  // The field at the end of a path; nullptr when it is not there.
  const Value* at(std::initializer_list<std::string_view> path) const {
    const Value* v = ok() ? &*root_ : nullptr;
    for (std::string_view name : path) {
      const Entry* e = v && v->is(Kind::kMap) ? v->find(Symbol(name)) : nullptr;
      v = e ? &e->value : nullptr;
    }
    return v;
  }
  static std::string text(const Value* v) { return v && v->is(Kind::kString) ? std::string(v->text()) : ""; }
  std::string text(std::initializer_list<std::string_view> path) const { return text(at(path)); }

 private:
  Session session_;
  std::optional<Value> root_;
};

// `Bearer realm="...",service="..."`: what stands behind a name; "" for nothing.
std::string parameter(const std::string& challenge, const std::string& name) {
  std::size_t at = challenge.find(name + "=\"");
  if (at == challenge.npos) return {};
  at += name.size() + 2;
  return challenge.substr(at, challenge.find('"', at) - at);
}

std::string escaped(std::string_view s) {
  std::string out;
  for (char c : s) {
    bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_' ||
                 c == '.' || c == '~';
    out += plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return out;
}

// The name and password of a host in Docker's settings, as `Basic` has them; "" for none.
std::string basic_of(const std::string& host) {
  Result<std::string> text = read_own_file(home_file("DOCKER_CONFIG", "/.docker", "config.json"), 1 << 20);
  if (!text) return {};
  Json config(*text);
  for (const std::string& name : {host, "https://" + host, "http://" + host}) {
    if (std::string auth = config.text({"auths", name, "auth"}); !auth.empty()) return auth;
    std::string user = config.text({"auths", name, "username"}), password = config.text({"auths", name, "password"});
    if (!user.empty()) return base64_encode(user + ":" + password);
  }
  return {};
}

// What `cue login` wrote down for a host.
std::string login_token(const std::string& host) {
  std::string folder = environment("CUE_CONFIG_DIR");
  if (folder.empty()) folder = home_file("XDG_CONFIG_HOME", "/.config", "cue");
  Result<std::string> text = read_own_file(folder + "/logins.json", 1 << 20);
  return text ? Json(*text).text({"registries", host, "access_token"}) : "";
}

std::string problem_of(long status, const std::string& body) {
  Json answer(body);
  const Value* errors = answer.at({"errors"});
  std::string said;
  if (errors && errors->is(Kind::kList) && !errors->items().empty())
    if (const Entry* e = errors->items()[0].find(Symbol("message"))) said = Json::text(&e->value);
  return fmt::format("{}{}{}", status, said.empty() ? "" : ": ", said);
}

bool is_absent(long status) { return status == 404; }

}  // namespace

Result<RegistryClient::Answer> RegistryClient::call(const RegistryLocation& at, const Call& c) {
  std::string url = c.path.find("://") != c.path.npos
                        ? c.path
                        : fmt::format("{}://{}{}", at.insecure ? "http" : "https", at.host, c.path);
  std::string key = at.host + "/" + at.repository + (c.push ? "+push" : "");
  // An upload may go on at another host, which is to learn nothing.
  bool own = url.starts_with(fmt::format("{}://{}/", at.insecure ? "http" : "https", at.host));
  if (!tokens_.contains(key))
    if (std::string token = login_token(at.host); !token.empty()) tokens_[key] = "Bearer " + token;
  for (bool again : {false, true}) {
    HttpRequest r(url);
    r.set(CURLOPT_FOLLOWLOCATION, 1L);
    r.set(CURLOPT_CONNECTTIMEOUT, kSecondsToConnect);
    if (!c.accept.empty()) r.header("Accept: " + c.accept);
    if (c.method == "HEAD") {
      r.set(CURLOPT_NOBODY, 1L);
    } else if (c.method != "GET") {
      r.set(CURLOPT_POST, 1L);
      r.set(CURLOPT_POSTFIELDS, c.body.data());
      r.set(CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(c.body.size()));
      r.set(CURLOPT_CUSTOMREQUEST, c.method.c_str());
      r.header("Content-Type: " + (c.type.empty() ? "application/octet-stream" : c.type));
      r.header("Expect:");
    }
    if (auto token = tokens_.find(key); own && token != tokens_.end()) r.header("Authorization: " + token->second);
    if (CURLcode code = r.perform(); code != CURLE_OK)
      return failure(fmt::format("cannot do HTTP request: {} {}: {}", c.method, url,
                                 r.problem[0] ? r.problem : curl().curl_easy_strerror(code)));
    long status = r.status_code();
    if (status == 401 && own && !again) {
      const auto& wants = r.answer.headers["Www-Authenticate"];
      Result<std::string> token = authorize(at, wants.empty() ? "" : wants[0], c.push);
      if (!token) return failure(token.error().message);
      if (token->empty()) return failure(fmt::format("401 Unauthorized: no credentials for {}", at.host));
      tokens_[key] = *token;
      continue;
    }
    const auto& location = r.answer.headers["Location"];
    return Answer{status, std::move(r.answer.body), location.empty() ? "" : location[0]};
  }
  return failure("401 Unauthorized");
}

// What is to be sent to a host that asked who we are; "" where we have nothing to say.
Result<std::string> RegistryClient::authorize(const RegistryLocation& at, const std::string& challenge, bool push) {
  std::string basic = basic_of(at.host);
  std::string realm = challenge.starts_with("Bearer ") ? parameter(challenge, "realm") : "";
  if (realm.empty()) return basic.empty() ? "" : "Basic " + basic;
  std::string scope = parameter(challenge, "scope");
  if (scope.empty()) scope = fmt::format("repository:{}:{}", at.repository, push ? "pull,push" : "pull");
  HttpRequest r(fmt::format("{}{}service={}&scope={}", realm, realm.find('?') == realm.npos ? '?' : '&',
                            escaped(parameter(challenge, "service")), escaped(scope)));
  r.set(CURLOPT_FOLLOWLOCATION, 1L);
  r.set(CURLOPT_CONNECTTIMEOUT, kSecondsToConnect);
  if (!basic.empty()) r.header("Authorization: Basic " + basic);
  if (CURLcode code = r.perform(); code != CURLE_OK)
    return failure(fmt::format("cannot get a token of {}: {}", realm, curl().curl_easy_strerror(code)));
  if (r.status_code() != 200)
    return failure(fmt::format("cannot get a token of {}: {}", realm, problem_of(r.status_code(), r.answer.body)));
  Json answer(r.answer.body);
  std::string token = answer.text({"token"});
  if (token.empty()) token = answer.text({"access_token"});
  return token.empty() ? "" : "Bearer " + token;
}

Result<std::string> RegistryClient::blob(const RegistryLocation& at, const std::string& digest) {
  Call c;
  c.path = fmt::format("/v2/{}/blobs/{}", at.repository, digest);
  Result<Answer> a = call(at, c);
  if (!a) return failure(a.error().message);
  if (a->status != 200) return failure(problem_of(a->status, a->body));
  if (digest != "sha256:" + sha256_text(a->body))
    return failure(
        fmt::format("digest mismatch: {} is what was asked for, sha256:{} came", digest, sha256_text(a->body)));
  return std::move(a->body);
}

Result<std::string> RegistryClient::layer(const std::string& module, const std::string& version, std::size_t index) {
  std::optional<RegistryLocation> at = map_.locate(module, version);
  std::string name = module + "@" + version;
  if (!at) return failure("module not found: no registry is configured for it");
  Call c;
  c.path = fmt::format("/v2/{}/manifests/{}", at->repository, at->tag);
  c.accept = kManifest;
  Result<Answer> a = call(*at, c);
  if (!a) return failure(fmt::format("module {}: {}", name, a.error().message));
  if (is_absent(a->status)) return failure(fmt::format("module {}: module not found", name));
  if (a->status != 200) return failure(fmt::format("module {}: {}", name, problem_of(a->status, a->body)));
  Json manifest(a->body);
  const Value* layers = manifest.at({"layers"});
  if (!layers || !layers->is(Kind::kList) || layers->items().size() != 2)
    return failure(fmt::format("module {}: module manifest should refer to exactly two blobs", name));
  const Entry* digest = layers->items()[index].find(Symbol("digest"));
  Result<std::string> bytes = blob(*at, digest ? Json::text(&digest->value) : "");
  if (!bytes) return failure(fmt::format("module {}: {}", name, bytes.error().message));
  return bytes;
}

Result<std::string> RegistryClient::archive(const std::string& module, const std::string& version) {
  return layer(module, version, 0);
}
Result<std::string> RegistryClient::module_file(const std::string& module, const std::string& version) {
  return layer(module, version, 1);
}

Result<std::vector<std::string>> RegistryClient::versions(const std::string& module) {
  std::optional<RegistryLocation> at = map_.locate(module, "");
  std::vector<std::string> out;
  if (!at) return out;
  Call c;
  c.path = fmt::format("/v2/{}/tags/list", at->repository);
  Result<Answer> a = call(*at, c);
  if (!a) return failure(fmt::format("module {}: {}", module, a.error().message));
  if (is_absent(a->status)) return out;
  if (a->status != 200) return failure(fmt::format("module {}: {}", module, problem_of(a->status, a->body)));
  Json answer(a->body);
  const Value* tags = answer.at({"tags"});
  if (tags && tags->is(Kind::kList))
    for (const Value& t : tags->items()) {
      std::string tag = Json::text(&t);
      if (tag.starts_with(at->tag) && is_whole_version(tag.substr(at->tag.size())))
        out.push_back(tag.substr(at->tag.size()));
    }
  std::ranges::sort(out, [](const std::string& x, const std::string& y) { return is_older(x, y); });
  return out;
}

Result<std::string> RegistryClient::push_blob(const RegistryLocation& at, const std::string& bytes) {
  std::string digest = "sha256:" + sha256_text(bytes);
  Call start;
  start.method = "POST";
  start.path = fmt::format("/v2/{}/blobs/uploads/", at.repository);
  start.push = true;
  Result<Answer> a = call(at, start);
  if (!a) return failure(a.error().message);
  if (a->status != 202) return failure("cannot begin to send: " + problem_of(a->status, a->body));
  Call send;
  send.method = "PUT";
  send.path = a->location + (a->location.find('?') == a->location.npos ? "?" : "&") + "digest=" + escaped(digest);
  send.body = bytes;
  send.push = true;
  a = call(at, send);
  if (!a) return failure(a.error().message);
  if (a->status != 201) return failure("cannot send: " + problem_of(a->status, a->body));
  return digest;
}

Result<void> RegistryClient::publish(const std::string& module, const std::string& version, const Content& content) {
  std::optional<RegistryLocation> at = map_.locate(module, version);
  if (!at) return failure(fmt::format("no registry is configured for {}", module));
  const std::string config = "{}";
  Result<std::string> configured = push_blob(*at, config);
  Result<std::string> archived = configured ? push_blob(*at, content.archive) : configured;
  Result<std::string> file = archived ? push_blob(*at, content.module_file) : archived;
  if (!file) return failure(file.error().message);
  auto described = [](std::string_view type, const std::string& digest, std::size_t size) {
    return fmt::format(R"({{"mediaType":"{}","digest":"{}","size":{}}})", type, digest, size);
  };
  Call c;
  c.method = "PUT";
  c.path = fmt::format("/v2/{}/manifests/{}", at->repository, at->tag);
  c.type = kManifest;
  c.push = true;
  c.body = fmt::format(R"({{"schemaVersion":2,"mediaType":"{}","config":{},"layers":[{},{}]}})", kManifest,
                       described(kModuleConfig, *configured, config.size()),
                       described("application/zip", *archived, content.archive.size()),
                       described(kModuleFileLayer, *file, content.module_file.size()));
  Result<Answer> a = call(*at, c);
  if (!a) return failure(a.error().message);
  if (a->status != 201) return failure("cannot tag: " + problem_of(a->status, a->body));
  return {};
}

}  // namespace tutti::cue
