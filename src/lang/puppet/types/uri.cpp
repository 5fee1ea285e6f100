#include "lang/puppet/types/uri.h"

#include <algorithm>
#include <cctype>
#include <string>
#include <utility>

namespace tutti::puppet {

// RFC 3986, as Ruby's library takes it.
bool is_uri(std::string_view text) {
  if (text.empty()) return false;
  for (std::size_t at = 0; at < text.size(); ++at) {
    unsigned char ch = static_cast<unsigned char>(text[at]);
    if (ch <= ' ' || ch >= 127 || std::string_view("\"<>\\^`{|}").find(text[at]) != std::string_view::npos)
      return false;
    auto hex = [&](std::size_t n) { return n < text.size() && std::isxdigit(static_cast<unsigned char>(text[n])); };
    if (ch == '%' && !(hex(at + 1) && hex(at + 2))) return false;
  }
  if (std::size_t hash = text.find('#'); hash != std::string_view::npos) {
    if (text.find_first_of("#[]", hash + 1) != std::string_view::npos) return false;
    text = text.substr(0, hash);
  }
  if (std::size_t query = text.find('?'); query != std::string_view::npos) {
    if (text.find_first_of("[]", query) != std::string_view::npos) return false;
    text = text.substr(0, query);
  }
  // What stands before a colon of the first segment is a scheme.
  std::size_t colon = text.find(':');
  if (colon < text.find('/')) {
    if (colon == 0 || !std::isalpha(static_cast<unsigned char>(text[0]))) return false;
    for (char ch : text.substr(0, colon))
      if (!std::isalnum(static_cast<unsigned char>(ch)) && ch != '+' && ch != '-' && ch != '.') return false;
    text.remove_prefix(colon + 1);
  }
  if (text.starts_with("//")) {
    std::string_view host = text.substr(2, text.find('/', 2) - 2);
    text.remove_prefix(2 + host.size());
    if (std::size_t user = host.find('@'); user != std::string_view::npos) host.remove_prefix(user + 1);
    if (host.starts_with('[')) {
      std::size_t close = host.find(']');
      if (close == std::string_view::npos) return false;
      host.remove_prefix(close + 1);
    } else {
      host.remove_prefix(std::min(host.find(':'), host.size()));
    }
    if (!host.empty() && (host[0] != ':' || host.find_first_not_of("0123456789", 1) != std::string_view::npos))
      return false;
  }
  return text.find_first_of("[]") == std::string_view::npos;
}

std::optional<Val> uri_part(Arena& arena, std::string_view uri, std::string_view name) {
  auto text = [&](std::string_view part) { return Val::string(arena.copy(part)); };
  Val query, fragment, scheme, userinfo, host, port, opaque, path;
  if (std::size_t at = uri.find('#'); at != std::string_view::npos)
    fragment = text(uri.substr(at + 1)), uri = uri.substr(0, at);
  if (std::size_t at = uri.find('?'); at != std::string_view::npos)
    query = text(uri.substr(at + 1)), uri = uri.substr(0, at);
  if (std::size_t at = uri.find(':'); at < uri.find('/')) scheme = text(uri.substr(0, at)), uri.remove_prefix(at + 1);
  if (uri.starts_with("//")) {
    std::string_view where = uri.substr(2, uri.find('/', 2) - 2);
    uri.remove_prefix(2 + where.size());
    if (std::size_t at = where.find('@'); at != std::string_view::npos)
      userinfo = text(where.substr(0, at)), where.remove_prefix(at + 1);
    std::size_t colon = where.rfind(':');
    if (colon != std::string_view::npos && where.find(']', colon) == std::string_view::npos) {
      i64 n = 0;
      for (char c : where.substr(colon + 1)) n = std::min<i64>(n * 10 + (c - '0'), 1'000'000'000);
      if (colon + 1 < where.size()) port = Val::integer(n);
      where = where.substr(0, colon);
    }
    host = text(where);
  } else if (!scheme.undefined() && !uri.starts_with('/')) {
    opaque = text(uri);
    uri = {};
  }
  if (opaque.undefined()) path = text(uri);
  static constexpr std::pair<std::string_view, i64> kPorts[] = {
      {"http", 80}, {"https", 443}, {"ftp", 21}, {"ldap", 389}, {"ldaps", 636}, {"ws", 80}, {"wss", 443}};
  if (port.undefined() && scheme.is(VK::kString))
    for (auto [known, usual] : kPorts)
      if (downcase(scheme.text()) == known) port = Val::integer(usual);
  if (name == "scheme") return scheme;
  if (name == "userinfo") return userinfo;
  if (name == "host") return host;
  if (name == "port") return port;
  if (name == "path") return path;
  if (name == "query") return query;
  if (name == "fragment") return fragment;
  if (name == "opaque") return opaque;
  return std::nullopt;
}

}  // namespace tutti::puppet
