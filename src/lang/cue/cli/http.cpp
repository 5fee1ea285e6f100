#include "lang/cue/cli/http.h"

#include <curl/curl.h>
#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "base/budget.h"
#include "base/library.h"
#include "lang/cue/builtin/support.h"

namespace tutti::cue {
namespace {

// The functions of libcurl that we call, loaded with the first request.
struct Curl {
#define TUTTI_CURL(F)   \
  F(curl_easy_cleanup)  \
  F(curl_easy_getinfo)  \
  F(curl_easy_init)     \
  F(curl_easy_perform)  \
  F(curl_easy_setopt)   \
  F(curl_easy_strerror) \
  F(curl_global_init)   \
  F(curl_slist_append)  \
  F(curl_slist_free_all)
#define F(name) decltype(&::name) name;
  TUTTI_CURL(F)
#undef F
};

const Curl& curl() {
  static const Curl loaded = [] {
    Library library("libcurl.so.4", "CUE-LIBRARY", "no request can be sent");
    Curl c;
#define F(name) library.find(#name, c.name);
    TUTTI_CURL(F)
#undef F
    c.curl_global_init(CURL_GLOBAL_DEFAULT);
    return c;
  }();
  return loaded;
}

constexpr std::size_t kLongestBody = std::size_t{1} << 30;

std::string_view trimmed(std::string_view s) {
  while (!s.empty() && std::isspace(static_cast<unsigned char>(s.back()))) s.remove_suffix(1);
  while (!s.empty() && std::isspace(static_cast<unsigned char>(s.front()))) s.remove_prefix(1);
  return s;
}

// Names of headers are written alike, however the server writes them: `content-type` is Content-Type.
std::string header_name(std::string_view s) {
  std::string out(s);
  bool first = true;
  for (char& c : out) {
    c = static_cast<char>(first ? std::toupper(static_cast<unsigned char>(c))
                                : std::tolower(static_cast<unsigned char>(c)));
    first = c == '-';
  }
  return out;
}

// What came back, of the last of several answers (a redirection is one, too).
struct Answer {
  std::string status, body;
  std::map<std::string, std::vector<std::string>> headers, trailers;
  bool body_begun = false, too_long = false;

  void line(std::string_view text) {
    text = trimmed(text);
    if (text.starts_with("HTTP/")) {
      *this = {};
      std::size_t space = text.find(' ');
      status = space == std::string_view::npos ? "" : trimmed(text.substr(space));
      return;
    }
    std::size_t colon = text.find(':');
    if (colon == std::string_view::npos) return;
    (body_begun ? trailers : headers)[header_name(text.substr(0, colon))].emplace_back(trimmed(text.substr(colon + 1)));
  }
};

std::size_t on_header(char* data, std::size_t, std::size_t size, void* answer) {
  static_cast<Answer*>(answer)->line({data, size});
  return size;
}

std::size_t on_body(char* data, std::size_t, std::size_t size, void* to) {
  auto* answer = static_cast<Answer*>(to);
  answer->body_begun = true;
  answer->too_long = answer->body.size() + size > kLongestBody;
  if (answer->too_long) return 0;
  answer->body.append(data, size);
  return size;
}

struct Request {
  CURL* handle = curl().curl_easy_init();
  curl_slist* headers = nullptr;
  char problem[CURL_ERROR_SIZE] = {};

  Request() {
    if (!handle) throw LimitError("LIMIT-MEMORY", "needs more memory than there is");
  }
  ~Request() {
    curl().curl_slist_free_all(headers);
    curl().curl_easy_cleanup(handle);
  }
  Request(const Request&) = delete;
  Request& operator=(const Request&) = delete;

  template <class T>
  void set(CURLoption option, T value) {
    curl().curl_easy_setopt(handle, option, value);
  }
  void header(const std::string& text) { headers = curl().curl_slist_append(headers, text.c_str()); }
};

// The method decides what becomes of it when the answer is a redirection, so that only unusual ones are said by name.
void set_method(Request& r, const TaskInput& t) {
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
std::string failure(const TaskInput& t, CURLcode code, const Request& r, const Answer& answer) {
  std::string method = header_name(t.method);
  if (answer.too_long) return fmt::format("{} {}: the answer is longer than 1 GiB", method, go_quote(t.url));
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
  Request r;
  Answer answer;
  r.set(CURLOPT_URL, t.url.c_str());
  r.set(CURLOPT_PROTOCOLS_STR, "http,https");
  r.set(CURLOPT_NOSIGNAL, 1L);  // requests are sent from several threads
  r.set(CURLOPT_ERRORBUFFER, r.problem);
  r.set(CURLOPT_USERAGENT, "tutti");
  r.set(CURLOPT_FOLLOWLOCATION, t.follow_redirects ? 1L : 0L);
  r.set(CURLOPT_MAXREDIRS, 10L);
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
  r.set(CURLOPT_HTTPHEADER, r.headers);
  r.set(CURLOPT_HEADERFUNCTION, on_header);
  r.set(CURLOPT_HEADERDATA, &answer);
  r.set(CURLOPT_WRITEFUNCTION, on_body);
  r.set(CURLOPT_WRITEDATA, &answer);
  if (CURLcode code = curl().curl_easy_perform(r.handle); code != CURLE_OK) {
    out.error = failure(t, code, r, answer);
    return out;
  }
  long status = 0;
  curl().curl_easy_getinfo(r.handle, CURLINFO_RESPONSE_CODE, &status);
  out.strings["status"] = answer.status;
  out.numbers["statusCode"] = std::to_string(status);
  out.strings["body"] = std::move(answer.body);
  out.headers = std::move(answer.headers);
  out.trailers = std::move(answer.trailers);
  return out;
}

}  // namespace tutti::cue
