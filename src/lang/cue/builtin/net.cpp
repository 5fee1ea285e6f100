#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <optional>

#include "lang/cue/builtin/address.h"
#include "lang/cue/builtin/support.h"
#include "lang/cue/eval/context.h"
#include "lang/cue/eval/print.h"

namespace tutti::cue {

namespace {

// The address in argument i: text, or a list of bytes.
std::optional<Address> address(CallContext& c, std::size_t i, std::string& error) {
  Node* n = plain(c.args[i]);
  switch (concrete_kind(n)) {
    case kStringKind: return parse_address(c.string(i), error);
    case kBytesKind: return parse_address(c.bytes(i), error);
    case kListKind: {
      Address a;
      for (Node* item : c.list(i)) {
        item = plain(item);
        std::optional<i64> v;
        if (concrete_kind(item) == kIntKind) v = to<Num>(item)->value.to_i64();
        if (!v || *v < 0 || *v > 255) {
          error =
              v ? fmt::format("invalid IP byte value {}", *v)
                : fmt::format("cannot use value {} (type {}) as int", compact(item), kinds_text(c.context.kinds(item)));
          return std::nullopt;
        }
        a.bytes += static_cast<char>(*v);
      }
      if (a.bytes.size() == 4 || a.bytes.size() == 16) return a;
      error = fmt::format("invalid IP length {}", a.bytes.size());
      return std::nullopt;
    }
    case 0:
      c.context.add_bottom(
          c.context.bottom(Code::kIncomplete, {}, "non-concrete value {}", static_cast<const Node*>(n)));
      return std::nullopt;
    default:
      c.wrong_for_good(fmt::format("invalid type {} for IP address", kinds_text(concrete_kind(n))));
      return std::nullopt;
  }
}

std::optional<Prefix> prefix(CallContext& c, std::size_t i, std::string& error) {
  Node* n = plain(c.args[i]);
  Kinds k = concrete_kind(n);
  if (k == kStringKind) return parse_prefix(c.string(i), error);
  if (k == kBytesKind) return parse_prefix(c.bytes(i), error);
  error = fmt::format("invalid type {} for IP CIDR", kinds_text(k));
  return std::nullopt;
}

template <bool (*F)(const Address&)>
Node* check(CallContext& c) {
  std::string error;
  std::optional<Address> a = address(c, 0, error);
  if (c.failed()) return nullptr;
  return a ? c.make_bool(F(*a)) : c.error(error);
}

bool is_multicast(const Address& a) { return a.is4() ? (a.at(0) & 0xF0) == 0xE0 : a.at(0) == 0xFF; }
bool is_loopback(const Address& x) {
  Address a = x.unmapped();
  return a.is4() ? a.at(0) == 127 : a.bytes == std::string(15, '\0') + '\x01';
}
bool is_unspecified(const Address& a) { return a.bytes == std::string(a.bytes.size(), '\0') && a.zone.empty(); }
bool is_link_unicast(const Address& x) {
  Address a = x.unmapped();
  return a.is4() ? a.at(0) == 169 && a.at(1) == 254 : a.at(0) == 0xFE && (a.at(1) & 0xC0) == 0x80;
}
bool is_global(const Address& a) {
  if (a.is4() && (is_unspecified(a) || a.bytes == std::string(4, '\xff'))) return false;
  return !is_unspecified(a) && !is_loopback(a) && !is_multicast(a.unmapped()) && !is_link_unicast(a);
}
bool is_interface_multicast(const Address& a) {
  return !a.is4() && !a.mapped() && a.at(0) == 0xFF && (a.at(1) & 0x0F) == 1;
}
bool is_link_multicast(const Address& x) {
  Address a = x.unmapped();
  return a.is4() ? a.at(0) == 224 && a.at(1) == 0 && a.at(2) == 0 : a.at(0) == 0xFF && (a.at(1) & 0x0F) == 2;
}
bool any_multicast(const Address& a) { return is_multicast(a.unmapped()); }
bool is_4(const Address& a) { return a.is4(); }
bool is_6(const Address& a) { return !a.is4(); }
bool is_any(const Address&) { return true; }

Node* byte_list(CallContext& c, std::string_view bytes) {
  std::vector<Node*> out;
  for (char b : bytes) out.push_back(c.make_int(static_cast<u8>(b)));
  return c.make_list(out);
}

std::optional<Address> add(const Address& a, const Decimal& offset, std::string& error) {
  Decimal n;
  for (char b : a.bytes) n = decimal::int_add(decimal::int_mul(n, Decimal(256)), Decimal(static_cast<u8>(b)));
  n = decimal::int_add(n, offset);
  if (n.negative()) {
    error = "IP address arithmetic resulted in out-of-range address (underflow)";
    return std::nullopt;
  }
  if (decimal::int_bit_length(n) > a.bytes.size() * 8) {
    error = "IP address arithmetic resulted in out-of-range address (overflow)";
    return std::nullopt;
  }
  Address out{std::string(a.bytes.size(), '\0'), ""};
  for (std::size_t i = a.bytes.size(); i-- > 0;) {
    out.bytes[i] = static_cast<char>(*decimal::int_mod(n, Decimal(256)).to_u64());
    n = decimal::int_div(n, Decimal(256));
  }
  return out;
}

// ---- URLs

bool unreserved(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_' ||
         c == '.' || c == '~';
}

std::string escape(std::string_view s, bool query) {
  std::string out;
  for (char c : s) {
    if (unreserved(c) || (!query && std::string_view("$&+:=@").find(c) != std::string_view::npos))
      out += c;
    else if (query && c == ' ')
      out += '+';
    else
      out += fmt::format("%{:02X}", static_cast<u8>(c));
  }
  return out;
}

bool unescape(std::string_view s, bool query, std::string& out, std::string& error) {
  auto hex = [](char c) {
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
  };
  for (std::size_t i = 0; i < s.size(); ++i) {
    if (s[i] == '%') {
      if (i + 2 >= s.size() || hex(s[i + 1]) < 0 || hex(s[i + 2]) < 0) {
        error = "invalid URL escape " + go_quote(s.substr(i, 3));
        return false;
      }
      out += static_cast<char>(hex(s[i + 1]) * 16 + hex(s[i + 2]));
      i += 2;
    } else {
      out += query && s[i] == '+' ? ' ' : s[i];
    }
  }
  return true;
}

// What Go's url.Parse refuses. `absolute` says whether there is a scheme.
std::string url_error(std::string_view url, bool& absolute) {
  absolute = false;
  auto bad = [&](std::string why) { return fmt::format("parse {}: {}", go_quote(url), why); };
  for (char c : url)
    if (static_cast<u8>(c) < 0x20 || c == 0x7F) return bad("net/url: invalid control character in URL");
  std::string_view s = url.substr(0, url.find('#'));
  std::size_t i = 0;
  for (; i < s.size(); ++i) {
    char c = s[i];
    if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')) continue;
    if ((c >= '0' && c <= '9') || c == '+' || c == '-' || c == '.') {
      if (i == 0) break;
      continue;
    }
    if (c == ':') {
      if (i == 0) return bad("missing protocol scheme");
      absolute = true;
      s.remove_prefix(i + 1);
    }
    break;
  }
  std::string_view path = s.substr(0, s.find('?'));
  if (!absolute && !path.starts_with('/')) {
    std::string_view segment = path.substr(0, path.find('/'));
    if (segment.find(':') != std::string_view::npos) return bad("first path segment in URL cannot contain colon");
  }
  if (path.starts_with("//")) {
    std::string_view host = path.substr(2);
    std::size_t end = host.find('/');
    path = end == std::string_view::npos ? std::string_view{} : host.substr(end);
    host = host.substr(0, end);
    if (std::size_t at = host.rfind('@'); at != std::string_view::npos) host = host.substr(at + 1);
    std::string_view port;
    if (host.starts_with('[')) {
      std::size_t close = host.rfind(']');
      if (close == std::string_view::npos) return bad("missing ']' in host");
      port = host.substr(close + 1);
      std::string error;
      if (!parse_address(host.substr(1, close - 1), error)) return bad("invalid host: " + error);
    } else {
      if (std::size_t colon = host.rfind(':'); colon != std::string_view::npos) port = host.substr(colon);
      for (char c : host)
        if (std::string_view(" <>\"\\^`{|}").find(c) != std::string_view::npos)
          return bad("invalid character " + go_quote(std::string(1, c)) + " in host name");
    }
    if (!port.empty() && (port[0] != ':' || port.find_first_not_of("0123456789", 1) != std::string_view::npos))
      return bad("invalid port " + go_quote(port) + " after host");
  }
  std::string out, error;
  if (!unescape(path, false, out, error)) return bad(error);
  if (std::size_t f = url.find('#'); f != std::string_view::npos && !unescape(url.substr(f + 1), false, out, error))
    return bad(error);
  return {};
}

bool is_fqdn(std::string_view s) {
  if (s.ends_with('.')) s.remove_suffix(1);
  if (s.empty() || s.size() > 253) return false;
  while (true) {
    std::string_view label = s.substr(0, s.find('.'));
    if (label.empty() || label.size() > 63 || label.starts_with('-') || label.ends_with('-')) return false;
    if (label.size() > 3 && label[2] == '-' && label[3] == '-' && !label.starts_with("xn")) return false;
    for (char c : label)
      if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-')) return false;
    if (label.size() == s.size()) return true;
    s.remove_prefix(label.size() + 1);
  }
}

bool split_host_port(std::string_view s, std::string& host, std::string& port, std::string& error) {
  auto bad = [&](const char* why) {
    error = fmt::format("address {}: {}", s, why);
    return false;
  };
  std::size_t colon = s.rfind(':');
  if (colon == std::string_view::npos) return bad("missing port in address");
  std::size_t j = 0, k = 0;
  if (s.starts_with('[')) {
    std::size_t end = s.find(']');
    if (end == std::string_view::npos) return bad("missing ']' in address");
    if (end + 1 == s.size()) return bad("missing port in address");
    if (end + 1 != colon) return bad(s[end + 1] == ':' ? "too many colons in address" : "missing port in address");
    host = s.substr(1, end - 1);
    j = 1;
    k = end + 1;
  } else {
    host = s.substr(0, colon);
    if (host.find(':') != std::string::npos) return bad("too many colons in address");
  }
  if (s.substr(j).find('[') != std::string_view::npos) return bad("unexpected '[' in address");
  if (s.substr(k).find(']') != std::string_view::npos) return bad("unexpected ']' in address");
  port = s.substr(colon + 1);
  return true;
}

template <bool Query>
Node* unescaped(CallContext& c) {
  std::string out, error;
  bool good = unescape(c.string(0), Query, out, error);
  if (c.failed()) return nullptr;
  return good ? c.make_string(out) : c.error(error);
}

const BuiltinSpec kFunctions[] = {
    {"SplitHostPort",
     {kStringKind},
     kListKind,
     [](CallContext& c) -> Node* {
       std::string host, port, error;
       bool good = split_host_port(c.string(0), host, port, error);
       if (c.failed()) return nullptr;
       return good ? strings_result(c, {host, port}) : c.error(error);
     }},
    {"JoinHostPort",
     {kTopKind, kTopKind},
     kStringKind,
     [](CallContext& c) -> Node* {
       std::string host, port, error;
       if (concrete_kind(plain(c.args[0])) == kListKind) {
         std::optional<Address> a = address(c, 0, error);
         if (!a) return c.error("invalid host");
         host = a->text();
       } else {
         host = c.bytes(0);
       }
       if (concrete_kind(plain(c.args[1])) == kIntKind)
         port = std::to_string(c.integer(1));
       else
         port = c.bytes(1);
       if (c.failed()) return nullptr;
       if (host.find(':') != std::string::npos) host = "[" + host + "]";
       return c.make_string(host + ":" + port);
     }},
    {"FQDN", {kStringKind}, kBoolKind, [](CallContext& c) -> Node* { return c.make_bool(is_fqdn(c.string(0))); }},
    {"ParseIP",
     {kStringKind},
     kListKind,
     [](CallContext& c) -> Node* {
       std::string error;
       std::optional<Address> a = parse_address(c.string(0), error);
       if (c.failed()) return nullptr;
       return a ? byte_list(c, a->bytes) : c.error("invalid IP address " + go_quote(c.string(0)));
     }},
    {"IPv4", {kTopKind}, kBoolKind, check<is_4>},
    {"IPv6", {kTopKind}, kBoolKind, check<is_6>},
    {"IP", {kTopKind}, kBoolKind, check<is_any>},
    {"IPCIDR",
     {kTopKind},
     kBoolKind,
     [](CallContext& c) -> Node* {
       std::string error;
       bool good = prefix(c, 0, error).has_value();
       if (c.failed()) return nullptr;
       return good ? c.make_bool(true) : c.error(error);
     }},
    {"LoopbackIP", {kTopKind}, kBoolKind, check<is_loopback>},
    {"MulticastIP", {kTopKind}, kBoolKind, check<any_multicast>},
    {"InterfaceLocalMulticastIP", {kTopKind}, kBoolKind, check<is_interface_multicast>},
    {"LinkLocalMulticastIP", {kTopKind}, kBoolKind, check<is_link_multicast>},
    {"LinkLocalUnicastIP", {kTopKind}, kBoolKind, check<is_link_unicast>},
    {"GlobalUnicastIP", {kTopKind}, kBoolKind, check<is_global>},
    {"UnspecifiedIP", {kTopKind}, kBoolKind, check<is_unspecified>},
    {"ToIP4",
     {kTopKind},
     kListKind,
     [](CallContext& c) -> Node* {
       std::string error;
       std::optional<Address> a = address(c, 0, error);
       if (c.failed()) return nullptr;
       if (!a) return c.error(error);
       if (!a->is4()) return c.error(fmt::format("cannot convert {} to IPv4", go_quote(a->text())));
       return byte_list(c, a->bytes);
     }},
    {"ToIP16",
     {kTopKind},
     kListKind,
     [](CallContext& c) -> Node* {
       std::string error;
       std::optional<Address> a = address(c, 0, error);
       if (c.failed()) return nullptr;
       if (!a) return c.error(error);
       return byte_list(c, a->is4() ? std::string(10, '\0') + "\xff\xff" + a->bytes : a->bytes);
     }},
    {"IPString",
     {kTopKind},
     kStringKind,
     [](CallContext& c) -> Node* {
       std::string error;
       std::optional<Address> a = address(c, 0, error);
       if (c.failed()) return nullptr;
       return a ? c.make_string(a->text()) : c.error(error);
     }},
    {"AddIP",
     {kTopKind, kIntKind},
     kStringKind,
     [](CallContext& c) -> Node* {
       std::string error;
       const Decimal& offset = c.number(1);
       std::optional<Prefix> p = prefix(c, 0, error);
       std::optional<Address> a = p ? p->address : address(c, 0, error);
       if (c.failed()) return nullptr;
       if (!a || !(a = add(*a, offset, error))) return c.error(error);
       return c.make_string(p ? fmt::format("{}/{}", a->text(), p->bits) : a->text());
     }},
    {"AddIPCIDR",
     {kTopKind, kIntKind},
     kStringKind,
     [](CallContext& c) -> Node* {
       std::string error;
       const Decimal& offset = c.number(1);
       std::optional<Prefix> p = prefix(c, 0, error);
       if (c.failed()) return nullptr;
       if (!p) return c.error(error);
       u32 shift = static_cast<u32>(static_cast<int>(p->address.bytes.size()) * 8 - p->bits);
       std::optional<Address> a = add(p->address, decimal::int_shift_left(offset, shift), error);
       return a ? c.make_string(fmt::format("{}/{}", a->text(), p->bits)) : c.error(error);
     }},
    {"ParseCIDR",
     {kStringKind},
     kStructKind,
     [](CallContext& c) -> Node* {
       std::string error;
       std::optional<Prefix> p = parse_prefix(c.string(0), error);
       if (c.failed()) return nullptr;
       if (!p) return c.error(error);
       Address mask{std::string(p->address.bytes.size(), '\0'), ""}, network = p->address, broadcast;
       for (int i = 0; i < p->bits; ++i)
         mask.bytes[static_cast<std::size_t>(i) / 8] |= static_cast<char>(0x80 >> (i % 8));
       for (std::size_t i = 0; i < mask.bytes.size(); ++i) network.bytes[i] &= mask.bytes[i];
       broadcast = network;
       for (std::size_t i = 0; i < mask.bytes.size(); ++i) broadcast.bytes[i] |= static_cast<char>(~mask.bytes[i]);
       std::vector<std::pair<std::string_view, Node*>> fields = {{"prefix_mask", c.make_string(mask.text())},
                                                                 {"prefix_len", c.make_int(p->bits)},
                                                                 {"prefix_addr", c.make_string(network.text())}};
       if (network.is4()) fields.emplace_back("broadcast_addr", c.make_string(broadcast.text()));
       return c.make_struct(fields);
     }},
    {"InCIDR",
     {kTopKind, kTopKind},
     kBoolKind,
     [](CallContext& c) -> Node* {
       std::string error;
       std::optional<Address> a = address(c, 0, error);
       std::optional<Prefix> p = a ? prefix(c, 1, error) : std::nullopt;
       if (c.failed()) return nullptr;
       return p ? c.make_bool(p->contains(*a)) : c.error(error);
     }},
    {"CompareIP",
     {kTopKind, kTopKind},
     kIntKind,
     [](CallContext& c) -> Node* {
       std::string error;
       std::optional<Address> a = address(c, 0, error), b = a ? address(c, 1, error) : std::nullopt;
       if (c.failed()) return nullptr;
       if (!b) return c.error(error);
       if (a->bytes.size() != b->bytes.size()) return c.make_int(a->bytes.size() < b->bytes.size() ? -1 : 1);
       int r = std::memcmp(a->bytes.data(), b->bytes.data(), a->bytes.size());
       if (r == 0) r = a->zone.compare(b->zone);
       return c.make_int(r < 0 ? -1 : r > 0);
     }},
    {"PathEscape",
     {kStringKind},
     kStringKind,
     [](CallContext& c) -> Node* { return c.make_string(escape(c.string(0), false)); }},
    {"PathUnescape", {kStringKind}, kStringKind, unescaped<false>},
    {"QueryEscape",
     {kStringKind},
     kStringKind,
     [](CallContext& c) -> Node* { return c.make_string(escape(c.string(0), true)); }},
    {"QueryUnescape", {kStringKind}, kStringKind, unescaped<true>},
    {"URL",
     {kStringKind},
     kBoolKind,
     [](CallContext& c) -> Node* {
       bool absolute;
       std::string error = url_error(c.string(0), absolute);
       if (c.failed()) return nullptr;
       return error.empty() ? c.make_bool(true) : c.error(error);
     }},
    {"AbsURL",
     {kStringKind},
     kBoolKind,
     [](CallContext& c) -> Node* {
       bool absolute;
       std::string error = url_error(c.string(0), absolute);
       if (c.failed()) return nullptr;
       if (error.empty() && !absolute) error = "URL is not absolute";
       return error.empty() ? c.make_bool(true) : c.error(error);
     }},
};

const ConstantSpec kConstants[] = {{"IPv4len", "4"}, {"IPv6len", "16"}};

}  // namespace

void add_net() { add_package("net", kFunctions, kConstants); }

}  // namespace tutti::cue
