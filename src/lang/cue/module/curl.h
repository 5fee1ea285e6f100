#pragma once

#include <curl/curl.h>

#include <map>
#include <string>
#include <string_view>
#include <vector>

// One HTTP request with libcurl, which is loaded with the first one. Used by the task tool/http.Do and to speak with
// registries of modules.
namespace tutti::cue {

// The functions of libcurl that we call.
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
const Curl& curl();

// Names of headers are written alike, however the server writes them: `content-type` is Content-Type.
std::string header_name(std::string_view s);

// What came back, of the last of several answers (a redirection is one, too).
struct HttpAnswer {
  std::string status, body;
  std::map<std::string, std::vector<std::string>> headers, trailers;
  bool body_begun = false, too_long = false;

  void line(std::string_view text);
};

class HttpRequest {
 public:
  CURL* handle = curl().curl_easy_init();
  curl_slist* headers = nullptr;
  char problem[CURL_ERROR_SIZE] = {};
  HttpAnswer answer;

  explicit HttpRequest(const std::string& url);
  ~HttpRequest();
  HttpRequest(const HttpRequest&) = delete;
  HttpRequest& operator=(const HttpRequest&) = delete;

  template <class T>
  void set(CURLoption option, T value) {
    curl().curl_easy_setopt(handle, option, value);
  }
  void header(const std::string& text) { headers = curl().curl_slist_append(headers, text.c_str()); }
  CURLcode perform();  // fills `answer`
  long status_code() const;
};

}  // namespace tutti::cue
