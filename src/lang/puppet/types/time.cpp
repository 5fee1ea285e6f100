#include "lang/puppet/types/time.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <ctime>
#include <utility>
#include <vector>

#include "base/ascii.h"
#include "lang/puppet/types/regex.h"
#include "lang/puppet/types/type.h"

namespace tutti::puppet {
namespace {

bool letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool blank(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

i64 narrowed(__int128 ns) {
  if (ns > kNoMax || ns < kNoMin) throw TypeError("the time is out of range");
  return static_cast<i64>(ns);
}

// --- spans

struct SpanSegment {
  char unit = 0;  // 0: literal text
  std::string text;
  char pad = '0';  // 0: none
  std::optional<std::size_t> width;
  bool total = false;

  std::size_t natural_width() const { return unit == 'D' ? 1 : unit == 'L' ? 3 : unit == 'N' ? 9 : 2; }
  bool fraction() const { return unit == 'L' || unit == 'N'; }

  std::string pattern() const {
    if (unit == 0) return "(" + escaped(text) + ")";
    if (!width && total) return pad == ' ' ? "\\s*([0-9]+)" : "([0-9]+)";
    std::string_view each = pad == ' ' ? "[0-9\\s]" : "[0-9]";
    bool exactly = width && pad != 0;
    return fmt::format("({}{{{}{}}})", each, exactly ? "" : "1,", width.value_or(natural_width()));
  }
  static std::string escaped(std::string_view text) {
    std::string out;
    for (char c : text) {
      if (std::string_view(".*?+^$|\\()[]{}-/#").find(c) != std::string_view::npos) out += '\\';
      out += c;
    }
    return out;
  }

  __int128 nanoseconds(std::string_view digits) const {
    __int128 n = 0;
    for (char c : digits) n = std::min<__int128>(n * 10 + (c - '0'), __int128{1} << 100);
    if (fraction()) {
      if (total)
        throw TypeError(
            "Format specifiers %L and %N denotes fractions and must be used together with a specifier of higher "
            "magnitude");
      for (std::size_t places = digits.size(); places < 9; ++places) n *= 10;
      return n;
    }
    return n * (unit == 'D' ? 86400 : unit == 'H' ? 3600 : unit == 'M' ? 60 : 1) * kSecond;
  }

  void write(std::string& out, u64 ns) const {
    u64 n = 0;
    switch (unit) {
      case 0: out += text; return;
      case 'D': n = ns / (86'400 * u64{kSecond}); break;
      case 'H': n = ns / (3'600 * u64{kSecond}) % (total ? ~u64{0} : 24); break;
      case 'M': n = ns / (60 * u64{kSecond}) % (total ? ~u64{0} : 60); break;
      case 'S': n = ns / u64{kSecond} % (total ? ~u64{0} : 60); break;
      case 'L': n = ns / 1'000'000 % (total ? ~u64{0} : 1'000); break;
      default: {
        u64 scale = 1;
        std::size_t places = std::min<std::size_t>(width.value_or(9), 9);
        for (std::size_t p = places; p < 9; ++p) scale *= 10;
        n = ns / scale;
        if (!total) n %= u64{kSecond} / scale;
      }
    }
    // Zeros at the end of a fraction say nothing.
    while (fraction() && !total && pad != '0' && n != 0 && n % 10 == 0) n /= 10;
    std::string digits = fmt::format("{}", n);
    std::size_t want = pad == 0 ? 0 : width.value_or(natural_width());
    if (digits.size() < want) {
      if (fraction())
        digits.append(want - digits.size(), ' ');
      else
        digits.insert(0, want - digits.size(), pad);
    }
    out += digits;
  }
};

std::vector<SpanSegment> span_format(std::string_view format) {
  constexpr std::string_view kUnits = "NLSMHD";
  std::vector<SpanSegment> out;
  std::size_t highest = std::string_view::npos;
  for (std::size_t at = 0; at < format.size(); ++at) {
    auto literal = [&](char c) {
      if (out.empty() || out.back().unit != 0) out.emplace_back();
      out.back().text += c;
    };
    if (format[at] != '%') {
      literal(format[at]);
      continue;
    }
    std::size_t start = at++;
    auto bad = [&] {
      return TypeError(fmt::format("Bad format specifier '{}' in '{}', at position {}",
                                   format.substr(start, at - start), format, std::min(at, format.size() - 1)));
    };
    SpanSegment s;
    if (at < format.size() && (format[at] == '-' || format[at] == '_'))
      s.pad = format[at++] == '-' ? '\0' : ' ';
    else if (at < format.size() && format[at] == '0')
      at++;
    while (at < format.size() && is_digit(format[at]))
      s.width = std::min<std::size_t>(s.width.value_or(0) * 10 + static_cast<std::size_t>(format[at++] - '0'), 1000);
    if (at == format.size()) throw bad();
    if (format[at] == '%') {
      literal('%');
      continue;
    }
    std::size_t unit = kUnits.find(format[at]);
    if (unit == std::string_view::npos) throw bad();
    s.unit = format[at];
    if (highest == std::string_view::npos || unit > highest) highest = unit;
    out.push_back(std::move(s));
  }
  for (SpanSegment& s : out) {
    if (highest == std::string_view::npos || s.unit != kUnits[highest]) continue;
    s.total = true;
    break;
  }
  return out;
}

std::optional<i64> read_span(std::string_view text, std::string_view format) {
  std::vector<SpanSegment> segments = span_format(format);
  std::string pattern = "\\A-?";
  for (const SpanSegment& s : segments) pattern += s.pattern();
  const Regex* regex = Regex::get(pattern + "\\z", nullptr);
  Groups groups;
  if (regex == nullptr || !regex->search(text, 0, &groups)) return std::nullopt;
  __int128 ns = 0;
  for (std::size_t n = 0; n < segments.size(); ++n) {
    if (segments[n].unit == 0) continue;
    i32 from = groups[2 * n + 2], to = groups[2 * n + 3];
    std::string_view part = text.substr(static_cast<std::size_t>(from), static_cast<std::size_t>(to - from));
    while (!part.empty() && blank(part[0])) part.remove_prefix(1);
    if (part.empty() || !std::all_of(part.begin(), part.end(), is_digit)) return std::nullopt;
    ns += segments[n].nanoseconds(part);
  }
  return narrowed(text.starts_with('-') ? -ns : ns);
}

// --- points in time

constexpr std::array<std::string_view, 5> kUsualTimes = {"%FT%T.%N", "%FT%T", "%F %T.%N", "%F %T", "%F"};
constexpr std::array<std::string_view, 5> kUsualZonedTimes = {"%FT%T.%N %Z", "%FT%T %Z", "%F %T.%N %Z", "%F %T %Z",
                                                              "%F %Z"};
constexpr std::string_view kMonths[] = {"january", "february", "march",     "april",   "may",      "june",
                                        "july",    "august",   "september", "october", "november", "december"};
constexpr std::string_view kDays[] = {"sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"};

// What strptime finds, with Ruby's rules on how many digits each field takes.
class TimeReader {
 public:
  explicit TimeReader(std::string_view text) : text_(text) {}

  bool read(std::string_view format) { return fields(format) && at_ == text_.size(); }

  std::optional<i64> year, month, day, hour, minute, second, hour12;
  std::optional<bool> afternoon;
  i64 fraction = 0;
  std::string_view zone;

 private:
  bool fields(std::string_view format) {
    for (std::size_t f = 0; f < format.size(); ++f) {
      char c = format[f];
      if (blank(c)) {
        while (at_ < text_.size() && blank(text_[at_])) at_++;
        continue;
      }
      if (c != '%' || f + 1 == format.size()) {
        if (at_ == text_.size() || text_[at_] != c) return false;
        at_++;
        continue;
      }
      f++;
      while (f + 1 < format.size() && std::string_view("-0^#_:").find(format[f]) != std::string_view::npos) f++;
      std::size_t width = 0;
      while (f + 1 < format.size() && is_digit(format[f]))
        width = width * 10 + static_cast<std::size_t>(format[f++] - '0');
      bool digits_follow = f + 1 < format.size() &&
                           (is_digit(format[f + 1]) ||
                            (format[f + 1] == '%' && f + 2 < format.size() &&
                             std::string_view("CDdeFGgHIjkLlMmNQRrSsTUuVvWwXxYy0123456789").find(format[f + 2]) !=
                                 std::string_view::npos));
      if (!field(format[f], width, digits_follow)) return false;
    }
    return true;
  }

  bool field(char what, std::size_t width, bool digits_follow) {
    switch (what) {
      case 'Y': return number(year, width > 0 ? width : digits_follow ? 4 : 18, -9999999, 9999999, true);
      case 'y':
        if (!number(year, 2, 0, 99)) return false;
        *year += *year >= 69 ? 1900 : 2000;
        return true;
      case 'm': return number(month, 2, 1, 12);
      case 'd':
      case 'e':
        if (at_ < text_.size() && text_[at_] == ' ') at_++;
        return number(day, 2, 1, 31);
      case 'H':
      case 'k':
        if (at_ < text_.size() && text_[at_] == ' ') at_++;
        return number(hour, 2, 0, 24);
      case 'I':
      case 'l':
        if (at_ < text_.size() && text_[at_] == ' ') at_++;
        return number(hour12, 2, 1, 12);
      case 'M': return number(minute, 2, 0, 59);
      case 'S': return number(second, 2, 0, 60);
      case 'L':
      case 'N': return fraction_digits(width > 0 ? width : digits_follow ? (what == 'L' ? 3 : 9) : 1000);
      case 'p':
      case 'P': return half_day();
      case 'B':
      case 'b':
      case 'h': return name(kMonths, month, 1);
      case 'A':
      case 'a': {
        std::optional<i64> ignored;
        return name(kDays, ignored, 0);
      }
      case 'Z':
      case 'z': return zone_name();
      case 'F': return fields("%Y-%m-%d");
      case 'T':
      case 'X': return fields("%H:%M:%S");
      case 'R': return fields("%H:%M");
      case 'r': return fields("%I:%M:%S %p");
      case 'D':
      case 'x': return fields("%m/%d/%y");
      case 'c': return fields("%a %b %e %H:%M:%S %Y");
      case 'n':
      case 't': return fields(" ");
      case '%':
        if (at_ == text_.size() || text_[at_] != '%') return false;
        at_++;
        return true;
      default: return false;
    }
  }

  bool number(std::optional<i64>& into, std::size_t most, i64 low, i64 high, bool sign = false) {
    std::size_t start = at_;
    bool negative = sign && at_ < text_.size() && text_[at_] == '-';
    if (sign && at_ < text_.size() && (text_[at_] == '-' || text_[at_] == '+')) at_++;
    i64 n = 0;
    std::size_t digits = 0;
    while (at_ < text_.size() && digits < most && is_digit(text_[at_])) n = n * 10 + (text_[at_++] - '0'), digits++;
    if (negative) n = -n;
    if (digits == 0 || n < low || n > high) {
      at_ = start;
      return false;
    }
    into = n;
    return true;
  }

  bool fraction_digits(std::size_t most) {
    std::size_t digits = 0;
    i64 unit = kSecond / 10;
    fraction = 0;
    for (; at_ < text_.size() && digits < most && is_digit(text_[at_]); at_++, digits++, unit /= 10)
      fraction += (text_[at_] - '0') * unit;
    return digits > 0;
  }

  bool half_day() {
    std::string_view rest = text_.substr(at_);
    for (std::string_view word : {"a.m.", "p.m.", "am", "pm"}) {
      if (downcase(rest.substr(0, word.size())) != word) continue;
      afternoon = word[0] == 'p';
      at_ += word.size();
      return true;
    }
    return false;
  }

  bool name(std::span<const std::string_view> names, std::optional<i64>& into, i64 first) {
    std::string rest = downcase(text_.substr(at_, 9));
    for (std::size_t n = 0; n < names.size(); ++n) {
      if (!rest.starts_with(names[n].substr(0, 3))) continue;
      into = first + static_cast<i64>(n);
      at_ += rest.starts_with(names[n]) ? names[n].size() : 3;
      return true;
    }
    return false;
  }

  // A name, or an offset with or without GMT or UTC before it.
  bool zone_name() {
    std::size_t start = at_;
    while (at_ < text_.size() && letter(text_[at_])) at_++;
    std::string word = downcase(text_.substr(start, at_ - start));
    if (at_ < text_.size() && (text_[at_] == '+' || text_[at_] == '-') &&
        (word.empty() || word == "utc" || word == "gmt")) {
      at_++;
      while (at_ < text_.size() && (is_digit(text_[at_]) || text_[at_] == ':')) at_++;
    } else if (downcase(text_.substr(at_, 4)) == " dst") {
      at_ += 4;
    }
    zone = text_.substr(start, at_ - start);
    return at_ > start;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

i64 known_offset(std::string_view zone) {
  std::optional<i64> offset = zone_offset(zone);
  if (!offset) throw TypeError(fmt::format("Illegal timezone '{}'", zone));
  return *offset;
}

}  // namespace

std::string timestamp_text(i64 ns) { return format_time(ns, "%FT%T.%N UTC", ""); }
std::string timespan_text(i64 ns) { return format_span(ns, "%D-%H:%M:%S.%-N"); }

double seconds_of(i64 ns) {
  // Correctly rounded, as the quotient of two integers is in Ruby.
  return static_cast<double>(static_cast<long double>(ns) / static_cast<long double>(kSecond));
}
i64 floor_seconds(i64 ns) { return ns / kSecond - (ns % kSecond < 0 ? 1 : 0); }

std::optional<i64> zone_offset(std::string_view zone) {
  std::string name = downcase(zone);
  if (name == "current") {
    std::time_t now = std::time(nullptr);
    std::tm t{};
    localtime_r(&now, &t);
    return t.tm_gmtoff;
  }
  std::string_view rest = name;
  if (rest.size() > 3 && (rest.starts_with("utc") || rest.starts_with("gmt"))) rest.remove_prefix(3);
  if (rest.size() > 1 && (rest[0] == '+' || rest[0] == '-')) {
    std::string digits;
    bool colon = rest.find(':') != std::string_view::npos;
    i64 hours = 0, minutes = 0;
    for (char c : rest.substr(1)) {
      if (!is_digit(c) && c != ':') return std::nullopt;
      digits += c;
    }
    if (std::size_t at = digits.find(':'); colon && at != std::string::npos) {
      hours = std::atoll(digits.substr(0, at).c_str());
      minutes = std::atoll(digits.substr(at + 1, 2).c_str());
    } else {
      if (digits.size() % 2 == 1) digits.insert(0, 1, '0');
      hours = std::atoll(digits.substr(0, 2).c_str());
      minutes = digits.size() > 2 ? std::atoll(digits.substr(2, 2).c_str()) : 0;
    }
    if (hours > 23 || minutes > 59) return std::nullopt;
    return (hours * 60 + minutes) * (rest[0] == '-' ? -60 : 60);
  }
  bool summer = name.ends_with(" dst");
  if (summer) name.resize(name.size() - 4);
  // The letters of the military, then the usual names, in minutes.
  if (name.size() == 1 && letter(name[0]) && name[0] != 'j') {
    char c = name[0];
    if (c == 'z') return 0;
    i64 hours = c <= 'i' ? c - 'a' + 1 : c <= 'm' ? c - 'a' : -(c - 'n' + 1);
    return (hours + (summer ? 1 : 0)) * 3600;
  }
  static constexpr std::pair<std::string_view, i64> kZones[] = {
      {"utc", 0},     {"gmt", 0},    {"wet", 0},     {"est", -300},  {"edt", -240}, {"cst", -360},  {"cdt", -300},
      {"mst", -420},  {"mdt", -360}, {"pst", -480},  {"pdt", -420},  {"at", -120},  {"brst", -120}, {"ndt", -90},
      {"art", -180},  {"adt", -180}, {"brt", -180},  {"clst", -180}, {"nst", -150}, {"ast", -240},  {"clt", -240},
      {"akdt", -480}, {"ydt", -480}, {"akst", -540}, {"hadt", -540}, {"hdt", -540}, {"yst", -540},  {"ahst", -600},
      {"hast", -600}, {"nt", -660},  {"sst", -660},  {"bst", 60},    {"cet", 60},   {"fwt", 60},    {"met", 60},
      {"mewt", 60},   {"mez", 60},   {"swt", 60},    {"wat", 60},    {"west", 60},  {"cest", 120},  {"eet", 120},
      {"fst", 120},   {"mest", 120}, {"mesz", 120},  {"sast", 120},  {"cat", 120},  {"wast", 120},  {"bt", 180},
      {"eat", 180},   {"eest", 180}, {"msk", 180},   {"idt", 180},   {"irst", 210}, {"msd", 240},   {"pkt", 300},
      {"ist", 330},   {"npt", 345},  {"ict", 420},   {"wib", 420},   {"sgt", 480},  {"hkt", 480},   {"jst", 540},
      {"kst", 540},   {"acst", 570}, {"aest", 600},  {"aedt", 660},  {"nzst", 720}, {"nzt", 720},   {"idle", 720},
      {"nzdt", 780},  {"idlw", -720}};
  for (auto [known, minutes] : kZones)
    if (known == name) return (minutes + (summer ? 60 : 0)) * 60;
  return std::nullopt;
}

std::string format_time(i64 ns, std::string_view format, std::string_view zone) {
  std::time_t seconds = static_cast<std::time_t>(ns / kSecond);
  i64 rest = ns % kSecond;
  if (rest < 0) rest += kSecond, seconds--;
  std::tm t{};
  i64 east = zone.empty() ? 0 : known_offset(zone);
  std::time_t there = seconds + east;
  gmtime_r(&there, &t);
  std::string offset =
      fmt::format("{}{:02}{:02}", east < 0 ? '-' : '+', std::abs(east) / 3600, std::abs(east) / 60 % 60);
  std::string out;
  for (std::size_t i = 0; i < format.size(); i++) {
    if (format[i] != '%' || i + 1 == format.size()) {
      out += format[i];
      continue;
    }
    std::size_t start = i++;
    bool plain = false, upper = false, colon = false;
    char fill = 0;
    for (; i < format.size(); i++) {
      if (format[i] == '-')
        plain = true;
      else if (format[i] == '^')
        upper = true;
      else if (format[i] == '0' || format[i] == '_')
        fill = format[i] == '_' ? ' ' : '0';
      else if (format[i] == ':')
        colon = true;
      else
        break;
    }
    std::size_t width = 0;
    while (i < format.size() && is_digit(format[i]))
      width = std::min<std::size_t>(width * 10 + static_cast<std::size_t>(format[i++] - '0'), 1000);
    if (i == format.size()) {
      out += format.substr(start);
      break;
    }
    std::string piece;
    char what = format[i];
    switch (what) {
      case 'L':
      case 'N':
        piece = fmt::format("{:09}", rest).substr(0, width > 0 ? std::min<std::size_t>(width, 9) : what == 'L' ? 3 : 9);
        width = 0;
        break;
      case 's': piece = fmt::format("{}", seconds); break;
      case 'z': piece = colon ? offset.substr(0, 3) + ":" + offset.substr(3) : offset; break;
      case 'Z': piece = zone.empty() ? "UTC" : ""; break;
      case 'P': piece = t.tm_hour < 12 ? "am" : "pm"; break;
      case '%': piece = "%"; break;
      case 'n': piece = "\n"; break;
      case 't': piece = "\t"; break;
      default: {
        char spec[3] = {'%', what, 0};
        char buffer[256];
        std::size_t n = std::string_view("aAbBcCdDeFgGhHIjklmMpQrRSTuUvVwWxXyY").find(what) == std::string_view::npos
                            ? 0
                            : std::strftime(buffer, sizeof buffer, spec, &t);
        piece = n > 0 ? std::string(buffer, n) : std::string(format.substr(start, i - start + 1));
      }
    }
    if (plain) {
      std::size_t first = piece.find_first_not_of("0 ");
      piece = first == std::string::npos ? piece.substr(piece.size() > 0 ? piece.size() - 1 : 0) : piece.substr(first);
    } else if (fill != 0 && !piece.empty()) {
      for (std::size_t k = 0; k + 1 < piece.size() && (piece[k] == '0' || piece[k] == ' '); k++) piece[k] = fill;
    }
    if (upper) piece = upcase(piece);
    if (piece.size() < width) piece.insert(0, width - piece.size(), fill != 0 ? fill : '0');
    out += piece;
  }
  return out;
}

i64 parse_time(std::string_view text, std::span<const std::string_view> formats, std::string_view zone) {
  std::vector<std::string_view> usual;
  bool one = formats.size() == 1;
  if (formats.empty()) {
    if (zone.empty()) usual.assign(kUsualZonedTimes.begin(), kUsualZonedTimes.end());
    usual.insert(usual.end(), kUsualTimes.begin(), kUsualTimes.end());
    formats = usual;
  }
  for (std::string_view format : formats) {
    TimeReader r(text);
    if (!r.read(format)) continue;
    if (!zone.empty() && !r.zone.empty()) {
      if (one)
        throw TypeError(
            "Using a Timezone designator in format specification is mutually exclusive to providing an explicit "
            "timezone argument");
      continue;
    }
    if (!r.year) throw TypeError("can't convert nil into an exact number");
    std::tm tm{};
    tm.tm_year = static_cast<int>(*r.year - 1900);
    tm.tm_mon = static_cast<int>(r.month.value_or(1) - 1);
    tm.tm_mday = static_cast<int>(r.day.value_or(1));
    tm.tm_hour =
        static_cast<int>(r.hour12 ? *r.hour12 % 12 + (r.afternoon.value_or(false) ? 12 : 0) : r.hour.value_or(0));
    tm.tm_min = static_cast<int>(r.minute.value_or(0));
    tm.tm_sec = static_cast<int>(r.second.value_or(0));
    std::string_view where = zone.empty() ? r.zone : zone;
    i64 seconds = timegm(&tm) - (where.empty() ? 0 : known_offset(where));
    return narrowed(__int128{seconds} * kSecond + r.fraction);
  }
  throw TypeError(
      one ? fmt::format("Unable to parse '{}' using format '{}'", text, formats[0])
          : fmt::format("Unable to parse '{}' using any of the formats {}", text, fmt::join(formats, ", ")));
}

std::string format_span(i64 ns, std::string_view format) {
  std::string out = ns < 0 ? "-" : "";
  u64 size = ns < 0 ? u64{0} - static_cast<u64>(ns) : static_cast<u64>(ns);
  for (const SpanSegment& s : span_format(format)) s.write(out, size);
  return out;
}

i64 parse_span(std::string_view text, std::span<const std::string_view> formats) {
  static constexpr std::array<std::string_view, 8> kUsual = {"%D-%H:%M:%S.%-N", "%H:%M:%S.%-N", "%M:%S.%-N", "%S.%-N",
                                                             "%D-%H:%M:%S",     "%H:%M:%S",     "%D-%H:%M",  "%S"};
  bool one = formats.size() == 1;
  if (formats.empty()) formats = kUsual;
  for (std::string_view format : formats)
    if (std::optional<i64> ns = read_span(text, format)) return *ns;
  throw TypeError(
      one ? fmt::format("Unable to parse '{}' using format '{}'", text, formats[0])
          : fmt::format("Unable to parse '{}' using any of the formats {}", text, fmt::join(formats, ", ")));
}

}  // namespace tutti::puppet
