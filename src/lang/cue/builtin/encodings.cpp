// encoding/base64, encoding/hex, encoding/csv, html and text/tabwriter.
#include "lang/cue/builtin/encodings.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/utf8.h"
#include "lang/cue/builtin/data.h"
#include "lang/cue/builtin/support.h"
#include "lang/cue/eval/print.h"
#include "lang/cue/format/tab_writer.h"

namespace tutti::cue {

namespace {
constexpr char kAlphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
}

std::string base64_encode(std::string_view b) {
  std::string out;
  out.reserve((b.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < b.size(); i += 3) {
    auto at = [&](std::size_t k) { return i + k < b.size() ? static_cast<unsigned char>(b[i + k]) : 0u; };
    unsigned v = at(0) << 16 | at(1) << 8 | at(2);
    out += kAlphabet[v >> 18];
    out += kAlphabet[v >> 12 & 63];
    out += i + 1 < b.size() ? kAlphabet[v >> 6 & 63] : '=';
    out += i + 2 < b.size() ? kAlphabet[v & 63] : '=';
  }
  return out;
}

std::optional<std::string> base64_decode(std::string_view s, std::string& error) {
  std::string out;
  unsigned v = 0;
  int n = 0;
  auto bad = [&](std::size_t at) {
    error = fmt::format("illegal base64 data at input byte {}", at);
    return std::nullopt;
  };
  std::size_t i = 0;
  for (; i < s.size(); ++i) {
    char c = s[i];
    if (c == '\n' || c == '\r') continue;
    if (c == '=') break;
    std::size_t d = std::string_view(kAlphabet, 64).find(c);
    if (d == std::string_view::npos) return bad(i);
    v = v << 6 | static_cast<unsigned>(d);
    if (++n == 4) {
      out += static_cast<char>(v >> 16);
      out += static_cast<char>(v >> 8);
      out += static_cast<char>(v);
      n = 0;
      v = 0;
    }
  }
  if (n == 0 && i >= s.size()) return out;
  if (n < 2) return bad(i);
  int need = 4 - n;
  for (; i < s.size(); ++i) {
    if (s[i] == '\n' || s[i] == '\r') continue;
    if (s[i] != '=' || need == 0) return bad(i);
    --need;
  }
  if (need != 0) return bad(s.size());
  v <<= 6 * (4 - n);
  out += static_cast<char>(v >> 16);
  if (n == 3) out += static_cast<char>(v >> 8);
  return out;
}

std::string html_escape(std::string_view s) {
  std::string out;
  for (char c : s) {
    switch (c) {
      case '&': out += "&amp;"; break;
      case '\'': out += "&#39;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '"': out += "&#34;"; break;
      default: out += c;
    }
  }
  return out;
}

namespace {

struct Entity {
  std::string_view name;
  char32_t code;
};
// The entities of HTML 4: what people write. Numeric ones need no table.
constexpr Entity kEntities[] = {
    {"amp", '&'},       {"lt", '<'},        {"gt", '>'},        {"quot", '"'},      {"apos", '\''},
    {"nbsp", 0xA0},     {"iexcl", 0xA1},    {"cent", 0xA2},     {"pound", 0xA3},    {"curren", 0xA4},
    {"yen", 0xA5},      {"brvbar", 0xA6},   {"sect", 0xA7},     {"uml", 0xA8},      {"copy", 0xA9},
    {"ordf", 0xAA},     {"laquo", 0xAB},    {"not", 0xAC},      {"shy", 0xAD},      {"reg", 0xAE},
    {"macr", 0xAF},     {"deg", 0xB0},      {"plusmn", 0xB1},   {"sup2", 0xB2},     {"sup3", 0xB3},
    {"acute", 0xB4},    {"micro", 0xB5},    {"para", 0xB6},     {"middot", 0xB7},   {"cedil", 0xB8},
    {"sup1", 0xB9},     {"ordm", 0xBA},     {"raquo", 0xBB},    {"frac14", 0xBC},   {"frac12", 0xBD},
    {"frac34", 0xBE},   {"iquest", 0xBF},   {"Agrave", 0xC0},   {"Aacute", 0xC1},   {"Acirc", 0xC2},
    {"Atilde", 0xC3},   {"Auml", 0xC4},     {"Aring", 0xC5},    {"AElig", 0xC6},    {"Ccedil", 0xC7},
    {"Egrave", 0xC8},   {"Eacute", 0xC9},   {"Ecirc", 0xCA},    {"Euml", 0xCB},     {"Igrave", 0xCC},
    {"Iacute", 0xCD},   {"Icirc", 0xCE},    {"Iuml", 0xCF},     {"ETH", 0xD0},      {"Ntilde", 0xD1},
    {"Ograve", 0xD2},   {"Oacute", 0xD3},   {"Ocirc", 0xD4},    {"Otilde", 0xD5},   {"Ouml", 0xD6},
    {"times", 0xD7},    {"Oslash", 0xD8},   {"Ugrave", 0xD9},   {"Uacute", 0xDA},   {"Ucirc", 0xDB},
    {"Uuml", 0xDC},     {"Yacute", 0xDD},   {"THORN", 0xDE},    {"szlig", 0xDF},    {"agrave", 0xE0},
    {"aacute", 0xE1},   {"acirc", 0xE2},    {"atilde", 0xE3},   {"auml", 0xE4},     {"aring", 0xE5},
    {"aelig", 0xE6},    {"ccedil", 0xE7},   {"egrave", 0xE8},   {"eacute", 0xE9},   {"ecirc", 0xEA},
    {"euml", 0xEB},     {"igrave", 0xEC},   {"iacute", 0xED},   {"icirc", 0xEE},    {"iuml", 0xEF},
    {"eth", 0xF0},      {"ntilde", 0xF1},   {"ograve", 0xF2},   {"oacute", 0xF3},   {"ocirc", 0xF4},
    {"otilde", 0xF5},   {"ouml", 0xF6},     {"divide", 0xF7},   {"oslash", 0xF8},   {"ugrave", 0xF9},
    {"uacute", 0xFA},   {"ucirc", 0xFB},    {"uuml", 0xFC},     {"yacute", 0xFD},   {"thorn", 0xFE},
    {"yuml", 0xFF},     {"OElig", 0x152},   {"oelig", 0x153},   {"Scaron", 0x160},  {"scaron", 0x161},
    {"Yuml", 0x178},    {"fnof", 0x192},    {"circ", 0x2C6},    {"tilde", 0x2DC},   {"Alpha", 0x391},
    {"Beta", 0x392},    {"Gamma", 0x393},   {"Delta", 0x394},   {"Omega", 0x3A9},   {"alpha", 0x3B1},
    {"beta", 0x3B2},    {"gamma", 0x3B3},   {"delta", 0x3B4},   {"epsilon", 0x3B5}, {"lambda", 0x3BB},
    {"mu", 0x3BC},      {"pi", 0x3C0},      {"sigma", 0x3C3},   {"omega", 0x3C9},   {"ensp", 0x2002},
    {"emsp", 0x2003},   {"thinsp", 0x2009}, {"zwnj", 0x200C},   {"zwj", 0x200D},    {"ndash", 0x2013},
    {"mdash", 0x2014},  {"lsquo", 0x2018},  {"rsquo", 0x2019},  {"sbquo", 0x201A},  {"ldquo", 0x201C},
    {"rdquo", 0x201D},  {"bdquo", 0x201E},  {"dagger", 0x2020}, {"Dagger", 0x2021}, {"bull", 0x2022},
    {"hellip", 0x2026}, {"permil", 0x2030}, {"prime", 0x2032},  {"Prime", 0x2033},  {"lsaquo", 0x2039},
    {"rsaquo", 0x203A}, {"euro", 0x20AC},   {"trade", 0x2122},  {"larr", 0x2190},   {"uarr", 0x2191},
    {"rarr", 0x2192},   {"darr", 0x2193},   {"harr", 0x2194},   {"forall", 0x2200}, {"part", 0x2202},
    {"exist", 0x2203},  {"empty", 0x2205},  {"nabla", 0x2207},  {"isin", 0x2208},   {"prod", 0x220F},
    {"sum", 0x2211},    {"minus", 0x2212},  {"radic", 0x221A},  {"infin", 0x221E},  {"and", 0x2227},
    {"or", 0x2228},     {"cap", 0x2229},    {"cup", 0x222A},    {"int", 0x222B},    {"asymp", 0x2248},
    {"ne", 0x2260},     {"equiv", 0x2261},  {"le", 0x2264},     {"ge", 0x2265},     {"spades", 0x2660},
    {"clubs", 0x2663},  {"hearts", 0x2665}, {"diams", 0x2666}};

}  // namespace

// What documents mean by the numbers of the second block of control characters (HTML5, 13.2.5.80).
constexpr char16_t kWindows1252[] = {0x20AC, 0x81,   0x201A, 0x192,  0x201E, 0x2026, 0x2020, 0x2021,
                                     0x2C6,  0x2030, 0x160,  0x2039, 0x152,  0x8D,   0x17D,  0x8F,
                                     0x90,   0x2018, 0x2019, 0x201C, 0x201D, 0x2022, 0x2013, 0x2014,
                                     0x2DC,  0x2122, 0x161,  0x203A, 0x153,  0x9D,   0x17E,  0x178};

std::string html_unescape(std::string_view s) {
  std::string out;
  for (std::size_t i = 0; i < s.size(); ++i) {
    if (s[i] != '&') {
      out += s[i];
      continue;
    }
    if (i + 2 < s.size() && s[i + 1] == '#') {
      std::size_t p = i + 2;
      bool hex = s[p] == 'x' || s[p] == 'X';
      if (hex) ++p;
      char32_t v = 0;
      std::size_t from = p;
      for (; p < s.size(); ++p) {
        char c = s[p];
        int d = c >= '0' && c <= '9'                            ? c - '0'
                : hex && (c | 0x20) >= 'a' && (c | 0x20) <= 'f' ? (c | 0x20) - 'a' + 10
                                                                : -1;
        if (d < 0) break;
        if (v < 0x200000) v = v * (hex ? 16 : 10) + static_cast<char32_t>(d);
      }
      if (p > from) {
        if (p < s.size() && s[p] == ';') ++p;
        if (v >= 0x80 && v < 0xA0) v = kWindows1252[v - 0x80];
        utf8::append(out, v == 0 || v > 0x10FFFF || (v >= 0xD800 && v < 0xE000) ? 0xFFFD : v);
        i = p - 1;
        continue;
      }
    } else {
      std::size_t p = i + 1;
      while (p < s.size() &&
             ((s[p] >= 'a' && s[p] <= 'z') || (s[p] >= 'A' && s[p] <= 'Z') || (s[p] >= '0' && s[p] <= '9')))
        ++p;
      std::string_view name = s.substr(i + 1, p - i - 1);
      bool closed = p < s.size() && s[p] == ';', found = false;
      for (const Entity& e : kEntities)
        if (e.name == name && (closed || e.code < 0x100)) {
          utf8::append(out, e.code);
          i = p - (closed ? 0 : 1);
          found = true;
          break;
        }
      if (found) continue;
      // Within a longer name the longest beginning counts that may stand without its semicolon.
      constexpr std::size_t kLongest = 6;
      for (std::size_t n = std::min(name.empty() ? 0 : name.size() - 1, kLongest); n > 1 && !found; --n)
        for (const Entity& e : kEntities)
          if (e.name == name.substr(0, n) && e.code < 0x100) {
            utf8::append(out, e.code);
            i += n;
            found = true;
            break;
          }
      if (found) continue;
    }
    out += '&';
  }
  return out;
}

namespace {

constexpr Kinds kData = kBytesKind | kStringKind;

bool no_encoding(CallContext& c) { return concrete_kind(plain(c.args[0])) == kNullKind; }
Node* unsupported(CallContext& c) {
  return c.error(fmt::format("base64: unsupported encoding: cannot use value {} (type {}) as null", compact(c.args[0]),
                             kinds_text(c.context.kinds(c.args[0]))));
}

const BuiltinSpec kBase64[] = {
    {"EncodedLen",
     {kTopKind, kIntKind},
     kIntKind,
     [](CallContext& c) -> Node* {
       i64 n = c.integer(1);
       if (c.failed()) return nullptr;
       return no_encoding(c) ? c.make_int((n + 2) / 3 * 4) : unsupported(c);
     }},
    {"DecodedLen",
     {kTopKind, kIntKind},
     kIntKind,
     [](CallContext& c) -> Node* {
       i64 n = c.integer(1);
       if (c.failed()) return nullptr;
       return no_encoding(c) ? c.make_int(n / 4 * 3) : unsupported(c);
     }},
    {"Encode",
     {kTopKind, kData},
     kStringKind,
     [](CallContext& c) -> Node* {
       std::string_view b = c.bytes(1);
       if (c.failed()) return nullptr;
       return no_encoding(c) ? c.make_string(base64_encode(b)) : unsupported(c);
     }},
    {"Decode",
     {kTopKind, kStringKind},
     kData,
     [](CallContext& c) -> Node* {
       std::string error;
       std::optional<std::string> b = base64_decode(c.string(1), error);
       if (c.failed()) return nullptr;
       if (!no_encoding(c)) return unsupported(c);
       return b ? c.make_bytes(*b) : c.error(error);
     }},
};

std::string hex_text(std::string_view b) {
  std::string out;
  for (char c : b) out += fmt::format("{:02x}", static_cast<unsigned char>(c));
  return out;
}

// As hexdump -C shows it.
std::string hex_dump(std::string_view b) {
  std::string out;
  for (std::size_t row = 0; row < b.size(); row += 16) {
    out += fmt::format("{:08x} ", row);
    std::string text;
    for (std::size_t i = 0; i < 16; ++i) {
      if (row + i < b.size()) {
        unsigned char c = static_cast<unsigned char>(b[row + i]);
        out += fmt::format(" {:02x}", c);
        text += c < 32 || c > 126 ? '.' : static_cast<char>(c);
      } else {
        out += "   ";
      }
      if (i == 7 || i == 15) out += ' ';
    }
    out += " |" + text + "|\n";
  }
  return out;
}

const BuiltinSpec kHex[] = {
    {"EncodedLen", {kIntKind}, kIntKind, [](CallContext& c) -> Node* { return c.make_int(c.integer(0) * 2); }},
    {"DecodedLen", {kIntKind}, kIntKind, [](CallContext& c) -> Node* { return c.make_int(c.integer(0) / 2); }},
    {"Decode",
     {kStringKind},
     kData,
     [](CallContext& c) -> Node* {
       std::string_view s = c.string(0);
       if (c.failed()) return nullptr;
       std::string out;
       auto hex = [](char ch) {
         return ch >= '0' && ch <= '9'                     ? ch - '0'
                : (ch | 0x20) >= 'a' && (ch | 0x20) <= 'f' ? (ch | 0x20) - 'a' + 10
                                                           : -1;
       };
       for (std::size_t i = 0; i < s.size(); ++i) {
         if (hex(s[i]) < 0)
           return c.error(
               fmt::format("encoding/hex: invalid byte: U+{:04X} '{}'", static_cast<unsigned char>(s[i]), s[i]));
         if (i % 2 == 1) out += static_cast<char>(hex(s[i - 1]) * 16 + hex(s[i]));
       }
       if (s.size() % 2 == 1) return c.error("encoding/hex: odd length hex string");
       return c.make_bytes(out);
     }},
    {"Dump", {kData}, kStringKind, [](CallContext& c) -> Node* { return c.make_string(hex_dump(c.bytes(0))); }},
    {"Encode", {kData}, kStringKind, [](CallContext& c) -> Node* { return c.make_string(hex_text(c.bytes(0))); }},
};

// What Unicode counts as a space, beyond ASCII.
bool starts_with_wide_space(std::string_view s) {
  constexpr std::string_view spaces[] = {"\u0085", "\u00a0", "\u1680", "\u2000", "\u2001", "\u2002", "\u2003",
                                         "\u2004", "\u2005", "\u2006", "\u2007", "\u2008", "\u2009", "\u200a",
                                         "\u2028", "\u2029", "\u202f", "\u205f", "\u3000"};
  return std::ranges::any_of(spaces, [&](std::string_view x) { return s.starts_with(x); });
}

std::string csv_field(std::string_view f) {
  bool quotes = f == "\\." || f.find_first_of("\",\r\n") != std::string_view::npos ||
                (!f.empty() && (f[0] == ' ' || (f[0] >= '\t' && f[0] <= '\r'))) || starts_with_wide_space(f);
  if (!quotes) return std::string(f);
  std::string out = "\"";
  for (char c : f) {
    if (c == '"') out += '"';
    out += c;
  }
  return out + "\"";
}

// Rows of a CSV text by RFC 4180; false with the error.
bool read_csv(std::string_view s, std::vector<std::vector<std::string>>& rows, std::string& error) {
  std::size_t i = 0, line = 1;
  auto wrong = [&](std::size_t start, std::size_t at, std::string_view what) {
    std::size_t before =
        at > 0 ? s.substr(0, at).rfind('\n', at - (at == s.size() && s[at - 1] == '\n' ? 2 : 1)) : s.npos;
    if (at == s.size() && s.ends_with('\n')) --line;  // the end is that of the last line
    std::size_t column = at - (before == s.npos ? 0 : before + 1) + 1;
    error = start == line ? "" : fmt::format("record on line {}; ", start);
    error += fmt::format("parse error on line {}, column {}: {}", line, column, what);
    return false;
  };
  while (i < s.size()) {
    if (s[i] == '\n' || (s[i] == '\r' && i + 1 < s.size() && s[i + 1] == '\n')) {  // an empty line
      i += s[i] == '\r' ? 2 : 1;
      ++line;
      continue;
    }
    std::vector<std::string> row;
    std::size_t start = line;
    for (bool more = true; more;) {
      std::string field;
      if (i < s.size() && s[i] == '"') {
        ++i;
        for (;;) {
          if (i >= s.size()) return wrong(start, i, "extraneous or missing \" in quoted-field");
          if (s[i] == '"') {
            if (i + 1 < s.size() && s[i + 1] == '"') {
              field += '"';
              i += 2;
              continue;
            }
            ++i;
            break;
          }
          if (s[i] == '\n') ++line;
          if (s[i] == '\r' && i + 1 < s.size() && s[i + 1] == '\n') {
            ++i;
            continue;
          }
          field += s[i++];
        }
        if (i < s.size() && s[i] != ',' && s[i] != '\n' && s[i] != '\r')
          return wrong(start, i - 1, "extraneous or missing \" in quoted-field");
      } else {
        while (i < s.size() && s[i] != ',' && s[i] != '\n') {
          if (s[i] == '"') return wrong(start, i, "bare \" in non-quoted-field");
          field += s[i++];
        }
        if (field.ends_with('\r')) field.pop_back();
      }
      row.push_back(std::move(field));
      more = i < s.size() && s[i] == ',';
      if (more) ++i;
    }
    if (i < s.size() && s[i] == '\r') ++i;
    if (i < s.size() && s[i] == '\n') ++i;
    ++line;
    if (!rows.empty() && row.size() != rows[0].size()) {
      error = fmt::format("record on line {}: wrong number of fields", start);
      return false;
    }
    rows.push_back(std::move(row));
  }
  return true;
}

const BuiltinSpec kCsv[] = {
    {"Encode",
     {kTopKind},
     kStringKind,
     [](CallContext& c) -> Node* {
       std::string out;
       for (Node* row : list_items(c, c.args[0])) {
         bool first = true;
         for (Node* cell : list_items(c, row)) {
           if (!first) out += ',';
           first = false;
           cell = plain(cell);
           if (concrete_kind(cell) == kStringKind)
             out += csv_field(to<String>(cell)->text);
           else
             out += csv_field(json_text(c, cell));
         }
         out += '\n';
       }
       return c.failed() ? nullptr : c.make_string(out);
     }},
    {"Decode",
     {kData},
     kListKind,
     [](CallContext& c) -> Node* {
       std::vector<std::vector<std::string>> rows;
       std::string error;
       bool good = read_csv(c.bytes(0), rows, error);
       if (c.failed()) return nullptr;
       if (!good) return c.error(error);
       std::vector<Node*> out;
       for (const auto& r : rows) out.push_back(strings_result(c, r));
       return c.make_list(out);
     }},
};

const BuiltinSpec kHtml[] = {
    {"Escape",
     {kStringKind},
     kStringKind,
     [](CallContext& c) -> Node* { return c.make_string(html_escape(c.string(0))); }},
    {"Unescape",
     {kStringKind},
     kStringKind,
     [](CallContext& c) -> Node* { return c.make_string(html_unescape(c.string(0))); }},
};

const BuiltinSpec kTabwriter[] = {
    {"Write",
     {kTopKind},
     kStringKind,
     [](CallContext& c) -> Node* {
       TabWriter::Options o;
       o.tab_width = 4;
       TabWriter w(o);
       Node* data = plain(c.args[0]);
       Kinds k = concrete_kind(data);
       if (k == kStringKind || k == kBytesKind) {
         w.write(c.bytes(0));
       } else if (k == kListKind) {
         for (Node* item : c.list(0)) {
           item = plain(item);
           Kinds ik = concrete_kind(item);
           if (ik == kStringKind)
             w.write(to<String>(item)->text);
           else if (ik == kBytesKind)
             w.write(to<Bytes>(item)->text);
           else
             return c.error("cannot use value as bytes");
           w.write("\n");
         }
       } else {
         return c.wrong_for_good("tabwriter.Write: unsupported type " + kinds_text(k));
       }
       return c.failed() ? nullptr : c.make_string(w.finish());
     }},
};

}  // namespace

void add_base64() { add_package("encoding/base64", kBase64); }
void add_hex() { add_package("encoding/hex", kHex); }
void add_csv() { add_package("encoding/csv", kCsv); }
void add_html() { add_package("html", kHtml); }
void add_tabwriter() { add_package("text/tabwriter", kTabwriter); }

}  // namespace tutti::cue
