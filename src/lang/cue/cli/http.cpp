#include "lang/cue/cli/http.h"

#include <fmt/format.h>

#include <algorithm>

#include "lang/cue/builtin/support.h"
#include "lang/cue/module/curl.h"

namespace tutti::cue {
namespace {

// The method decides what becomes of it when the answer is a redirection, so that only unusual ones are said by name.
void set_method(HttpRequest& r, const TaskInput& t) {
  if (t.method == "GET" && t.body.empty()) {
    r.set(CURLOPT_HTTPGET, 1L);
    return;
  }
  if (t.method == "HEAD") {
    r.set(CURLOPT_NOBODY, 1L);
    return;
  }
  if (!t.body.empty() || t.method == "POST" || t.method == "PUT") {
    r.set(CURLOPT_POST, 1L);
    r.set(CURLOPT_POSTFIELDS, t.body.data());
    r.set(CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(t.body.size()));
  }
  if (t.method != "POST") r.set(CURLOPT_CUSTOMREQUEST, t.method.c_str());
}

// In the words of the original, where it has words for it.
std::string failure(const TaskInput& t, CURLcode code, const HttpRequest& r) {
  std::string method = header_name(t.method);
  if (r.answer.too_long) return fmt::format("{} {}: the answer is longer than 1 GiB", method, go_quote(t.url));
  std::string host = t.url.substr(std::min(t.url.size(), t.url.find("://") + 3));
  host = host.substr(0, host.find_first_of("/?#"));
  host = host.substr(host.find('@') == std::string::npos ? 0 : host.find('@') + 1);
  std::string port = t.url.starts_with("https:") ? "443" : "80", name = host;
  if (std::size_t colon = host.rfind(':'); colon != std::string::npos && host.find(']', colon) == std::string::npos) {
    name = host.substr(0, colon);
    port = host.substr(colon + 1);
  }
  std::string what;
  switch (code) {
    case CURLE_COULDNT_RESOLVE_HOST: what = fmt::format("dial tcp: lookup {}: no such host", name); break;
    case CURLE_COULDNT_CONNECT: what = fmt::format("dial tcp {}:{}: connect: connection refused", name, port); break;
    case CURLE_GOT_NOTHING: what = "EOF"; break;
    case CURLE_TOO_MANY_REDIRECTS: what = "stopped after 10 redirects"; break;
    case CURLE_PEER_FAILED_VERIFICATION: what = fmt::format("tls: failed to verify certificate: {}", r.problem); break;
    default: what = r.problem[0] ? r.problem : curl().curl_easy_strerror(code);
  }
  return fmt::format("{} {}: {}", method, go_quote(t.url), what);
}

}  // namespace

TaskOutput run_http(const TaskInput& t) {
  TaskOutput out;
  if (std::string scheme = t.url.substr(0, t.url.find("://")); scheme != "http" && scheme != "https") {
    bool has_one = t.url.find("://") != std::string::npos;
    out.error = fmt::format("{} {}: unsupported protocol scheme {}", header_name(t.method), go_quote(t.url),
                            go_quote(has_one ? scheme : ""));
    return out;
  }
  HttpRequest r(t.url);
  r.set(CURLOPT_FOLLOWLOCATION, t.follow_redirects ? 1L : 0L);
  r.set(CURLOPT_SSL_VERIFYPEER, t.verify ? 1L : 0L);
  r.set(CURLOPT_SSL_VERIFYHOST, t.verify ? 2L : 0L);
  if (!t.ca_cert.empty()) {
    curl_blob certificates{const_cast<char*>(t.ca_cert.data()), t.ca_cert.size(), CURL_BLOB_COPY};
    r.set(CURLOPT_CAINFO_BLOB, &certificates);
    r.set(CURLOPT_CAPATH, nullptr);
  }
  set_method(r, t);
  bool has_type = false;
  for (const auto& [name, value] : t.headers) {
    has_type = has_type || header_name(name) == "Content-Type";
    r.header(value.empty() ? name + ";" : name + ": " + value);
  }
  if (!has_type) r.header("Content-Type:");  // none of its own
  r.header("Expect:");
  if (CURLcode code = r.perform(); code != CURLE_OK) {
    out.error = failure(t, code, r);
    return out;
  }
  HttpAnswer& answer = r.answer;
  long status = r.status_code();
  out.strings["status"] = answer.status;
  out.numbers["statusCode"] = std::to_string(status);
  out.strings["body"] = std::move(answer.body);
  out.headers = std::move(answer.headers);
  out.trailers = std::move(answer.trailers);
  return out;
}

}  // namespace tutti::cue
