#include "lang/cue/module/curl.h"

#include <cctype>

#include "base/budget.h"
#include "base/library.h"

namespace tutti::cue {

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

namespace {

constexpr std::size_t kLongestBody = std::size_t{1} << 30;

std::string_view without_space(std::string_view s) {
  while (!s.empty() && std::isspace(static_cast<unsigned char>(s.back()))) s.remove_suffix(1);
  while (!s.empty() && std::isspace(static_cast<unsigned char>(s.front()))) s.remove_prefix(1);
  return s;
}

std::size_t take_header(char* data, std::size_t, std::size_t size, void* answer) {
  static_cast<HttpAnswer*>(answer)->line({data, size});
  return size;
}

std::size_t take_body(char* data, std::size_t, std::size_t size, void* to) {
  auto* answer = static_cast<HttpAnswer*>(to);
  answer->body_begun = true;
  answer->too_long = answer->body.size() + size > kLongestBody;
  if (answer->too_long) return 0;
  answer->body.append(data, size);
  return size;
}

}  // namespace

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

void HttpAnswer::line(std::string_view text) {
  text = without_space(text);
  if (text.starts_with("HTTP/")) {
    *this = {};
    std::size_t space = text.find(' ');
    status = space == std::string_view::npos ? "" : without_space(text.substr(space));
    return;
  }
  std::size_t colon = text.find(':');
  if (colon == std::string_view::npos) return;
  (body_begun ? trailers : headers)[header_name(text.substr(0, colon))].emplace_back(
      without_space(text.substr(colon + 1)));
}

HttpRequest::HttpRequest(const std::string& url) {
  if (!handle) throw LimitError("LIMIT-MEMORY", "needs more memory than there is");
  set(CURLOPT_URL, url.c_str());
  set(CURLOPT_PROTOCOLS_STR, "http,https");
  set(CURLOPT_NOSIGNAL, 1L);  // requests are sent from several threads
  set(CURLOPT_ERRORBUFFER, problem);
  set(CURLOPT_USERAGENT, "tutti");
  set(CURLOPT_MAXREDIRS, 10L);
}

HttpRequest::~HttpRequest() {
  curl().curl_slist_free_all(headers);
  curl().curl_easy_cleanup(handle);
}

CURLcode HttpRequest::perform() {
  set(CURLOPT_HTTPHEADER, headers);
  set(CURLOPT_HEADERFUNCTION, take_header);
  set(CURLOPT_HEADERDATA, &answer);
  set(CURLOPT_WRITEFUNCTION, take_body);
  set(CURLOPT_WRITEDATA, &answer);
  return curl().curl_easy_perform(handle);
}

long HttpRequest::status_code() const {
  long status = 0;
  curl().curl_easy_getinfo(handle, CURLINFO_RESPONSE_CODE, &status);
  return status;
}

}  // namespace tutti::cue
