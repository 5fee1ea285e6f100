#include "lang/cue/builtin/go_time.h"

#include <fmt/format.h>

#include "lang/cue/builtin/support.h"

namespace tutti::cue {

const char kRfc3339Nano[] = "2006-01-02T15:04:05.999999999Z07:00";

namespace {

constexpr std::string_view kMonths[] = {"January", "February", "March",     "April",   "May",      "June",
                                        "July",    "August",   "September", "October", "November", "December"};
constexpr std::string_view kDays[] = {"Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"};

enum class Chunk {
  kNone,
  kLongMonth,
  kMonth,
  kNumMonth,
  kZeroMonth,
  kLongWeekDay,
  kWeekDay,
  kDay,
  kUnderDay,
  kZeroDay,
  kUnderYearDay,
  kZeroYearDay,
  kHour,
  kHour12,
  kZeroHour12,
  kMinute,
  kZeroMinute,
  kSecond,
  kZeroSecond,
  kLongYear,
  kYear,
  kPm,
  kpm,
  kTz,
  kIsoTz,          // Z0700
  kIsoSecondsTz,   // Z070000
  kIsoShortTz,     // Z07
  kIsoColonTz,     // Z07:00
  kIsoColonSecTz,  // Z07:00:00
  kNumTz,          // -0700
  kNumSecondsTz,   // -070000
  kNumShortTz,     // -07
  kNumColonTz,     // -07:00
  kNumColonSecTz,  // -07:00:00
  kFraction0,      // .000
  kFraction9,      // .999
};

struct Piece {
  std::string_view prefix;
  Chunk chunk = Chunk::kNone;
  int digits = 0;  // of a fraction
  char point = '.';
  std::string_view suffix;
};

bool lower_next(std::string_view s) { return !s.empty() && s[0] >= 'a' && s[0] <= 'z'; }

// The first part of a layout that stands for something.
Piece next_chunk(std::string_view layout) {
  auto hit = [&](std::size_t i, std::size_t n, Chunk c) {
    return Piece{layout.substr(0, i), c, 0, '.', layout.substr(i + n)};
  };
  for (std::size_t i = 0; i < layout.size(); ++i) {
    std::string_view s = layout.substr(i);
    switch (s[0]) {
      case 'J':
        if (s.starts_with("Jan")) {
          if (s.starts_with("January")) return hit(i, 7, Chunk::kLongMonth);
          if (!lower_next(s.substr(3))) return hit(i, 3, Chunk::kMonth);
        }
        break;
      case 'M':
        if (s.starts_with("Mon")) {
          if (s.starts_with("Monday")) return hit(i, 6, Chunk::kLongWeekDay);
          if (!lower_next(s.substr(3))) return hit(i, 3, Chunk::kWeekDay);
        }
        if (s.starts_with("MST")) return hit(i, 3, Chunk::kTz);
        break;
      case '0':
        if (s.size() >= 2 && s[1] >= '1' && s[1] <= '6') {
          constexpr Chunk k[] = {Chunk::kZeroMonth,  Chunk::kZeroDay,    Chunk::kZeroHour12,
                                 Chunk::kZeroMinute, Chunk::kZeroSecond, Chunk::kYear};
          return hit(i, 2, k[s[1] - '1']);
        }
        if (s.starts_with("002")) return hit(i, 3, Chunk::kZeroYearDay);
        break;
      case '1':
        if (s.starts_with("15")) return hit(i, 2, Chunk::kHour);
        return hit(i, 1, Chunk::kNumMonth);
      case '2':
        if (s.starts_with("2006")) return hit(i, 4, Chunk::kLongYear);
        return hit(i, 1, Chunk::kDay);
      case '_':
        if (s.starts_with("_2")) {
          if (s.starts_with("_2006"))
            return Piece{layout.substr(0, i + 1), Chunk::kLongYear, 0, '.', layout.substr(i + 5)};
          return hit(i, 2, Chunk::kUnderDay);
        }
        if (s.starts_with("__2")) return hit(i, 3, Chunk::kUnderYearDay);
        break;
      case '3': return hit(i, 1, Chunk::kHour12);
      case '4': return hit(i, 1, Chunk::kMinute);
      case '5': return hit(i, 1, Chunk::kSecond);
      case 'P':
        if (s.starts_with("PM")) return hit(i, 2, Chunk::kPm);
        break;
      case 'p':
        if (s.starts_with("pm")) return hit(i, 2, Chunk::kpm);
        break;
      case '-':
        if (s.starts_with("-070000")) return hit(i, 7, Chunk::kNumSecondsTz);
        if (s.starts_with("-07:00:00")) return hit(i, 9, Chunk::kNumColonSecTz);
        if (s.starts_with("-0700")) return hit(i, 5, Chunk::kNumTz);
        if (s.starts_with("-07:00")) return hit(i, 6, Chunk::kNumColonTz);
        if (s.starts_with("-07")) return hit(i, 3, Chunk::kNumShortTz);
        break;
      case 'Z':
        if (s.starts_with("Z070000")) return hit(i, 7, Chunk::kIsoSecondsTz);
        if (s.starts_with("Z07:00:00")) return hit(i, 9, Chunk::kIsoColonSecTz);
        if (s.starts_with("Z0700")) return hit(i, 5, Chunk::kIsoTz);
        if (s.starts_with("Z07:00")) return hit(i, 6, Chunk::kIsoColonTz);
        if (s.starts_with("Z07")) return hit(i, 3, Chunk::kIsoShortTz);
        break;
      case '.':
      case ',':
        if (s.size() > 1 && (s[1] == '0' || s[1] == '9')) {
          std::size_t n = 1;
          while (n < s.size() && s[n] == s[1]) ++n;
          if (n >= s.size() || s[n] < '0' || s[n] > '9')
            return Piece{layout.substr(0, i), s[1] == '0' ? Chunk::kFraction0 : Chunk::kFraction9,
                         static_cast<int>(n - 1), s[0], s.substr(n)};
        }
        break;
      default: break;
    }
  }
  return Piece{layout, Chunk::kNone, 0, '.', {}};
}

bool is_leap(i64 y) { return y % 4 == 0 && (y % 100 != 0 || y % 400 == 0); }

int days_in(int month, i64 year) {
  constexpr int k[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  return month == 2 && is_leap(year) ? 29 : k[month - 1];
}

std::string show_zone(int offset, Chunk c) {
  bool colon =
      c == Chunk::kIsoColonTz || c == Chunk::kIsoColonSecTz || c == Chunk::kNumColonTz || c == Chunk::kNumColonSecTz;
  bool seconds = c == Chunk::kIsoSecondsTz || c == Chunk::kNumSecondsTz || c == Chunk::kNumColonSecTz ||
                 c == Chunk::kIsoColonSecTz;
  bool minutes = c != Chunk::kNumShortTz && c != Chunk::kIsoShortTz;
  int a = offset < 0 ? -offset : offset;
  std::string out = fmt::format("{}{:02}", offset < 0 ? '-' : '+', a / 3600);
  if (minutes) out += fmt::format("{}{:02}", colon ? ":" : "", a / 60 % 60);
  if (seconds) out += fmt::format("{}{:02}", colon ? ":" : "", a % 60);
  return out;
}

}  // namespace

i64 days_from_civil(i64 y, int m, int d) {
  y -= m <= 2;
  i64 era = (y >= 0 ? y : y - 399) / 400;
  i64 yoe = y - era * 400;
  i64 doy = (153 * (m + (m > 2 ? -3 : 9)) + 2) / 5 + d - 1;
  return era * 146097 + yoe * 365 + yoe / 4 - yoe / 100 + doy - 719468;
}

CivilTime civil(const Time& t) {
  i64 local = t.seconds + t.offset;
  i64 days = local / 86400, rest = local % 86400;
  if (rest < 0) rest += 86400, --days;
  i64 z = days + 719468, era = (z >= 0 ? z : z - 146096) / 146097;
  i64 doe = z - era * 146097, yoe = (doe - doe / 1460 + doe / 36524 - doe / 146096) / 365;
  i64 doy = doe - (365 * yoe + yoe / 4 - yoe / 100), mp = (5 * doy + 2) / 153;
  CivilTime c{};
  c.day = static_cast<int>(doy - (153 * mp + 2) / 5 + 1);
  c.month = static_cast<int>(mp < 10 ? mp + 3 : mp - 9);
  c.year = yoe + era * 400 + (c.month <= 2);
  c.hour = static_cast<int>(rest / 3600);
  c.minute = static_cast<int>(rest / 60 % 60);
  c.second = static_cast<int>(rest % 60);
  c.weekday = static_cast<int>(((days % 7) + 11) % 7);
  c.yearday = static_cast<int>(days - days_from_civil(c.year, 1, 1)) + 1;
  return c;
}

std::string format_time(const Time& t, std::string_view layout) {
  CivilTime c = civil(t);
  std::string out;
  while (!layout.empty()) {
    Piece p = next_chunk(layout);
    out += p.prefix;
    layout = p.suffix;
    int hour12 = c.hour % 12 == 0 ? 12 : c.hour % 12;
    switch (p.chunk) {
      case Chunk::kNone: return out;
      case Chunk::kLongMonth: out += kMonths[c.month - 1]; break;
      case Chunk::kMonth: out += kMonths[c.month - 1].substr(0, 3); break;
      case Chunk::kNumMonth: out += fmt::format("{}", c.month); break;
      case Chunk::kZeroMonth: out += fmt::format("{:02}", c.month); break;
      case Chunk::kLongWeekDay: out += kDays[c.weekday]; break;
      case Chunk::kWeekDay: out += kDays[c.weekday].substr(0, 3); break;
      case Chunk::kDay: out += fmt::format("{}", c.day); break;
      case Chunk::kUnderDay: out += fmt::format("{:2}", c.day); break;
      case Chunk::kZeroDay: out += fmt::format("{:02}", c.day); break;
      case Chunk::kUnderYearDay: out += fmt::format("{:3}", c.yearday); break;
      case Chunk::kZeroYearDay: out += fmt::format("{:03}", c.yearday); break;
      case Chunk::kHour: out += fmt::format("{:02}", c.hour); break;
      case Chunk::kHour12: out += fmt::format("{}", hour12); break;
      case Chunk::kZeroHour12: out += fmt::format("{:02}", hour12); break;
      case Chunk::kMinute: out += fmt::format("{}", c.minute); break;
      case Chunk::kZeroMinute: out += fmt::format("{:02}", c.minute); break;
      case Chunk::kSecond: out += fmt::format("{}", c.second); break;
      case Chunk::kZeroSecond: out += fmt::format("{:02}", c.second); break;
      case Chunk::kLongYear: out += fmt::format("{:04}", c.year); break;
      case Chunk::kYear: out += fmt::format("{:02}", (c.year % 100 + 100) % 100); break;
      case Chunk::kPm: out += c.hour >= 12 ? "PM" : "AM"; break;
      case Chunk::kpm: out += c.hour >= 12 ? "pm" : "am"; break;
      case Chunk::kTz:
        if (!t.zone.empty())
          out += t.zone;
        else if (t.offset == 0)
          out += "UTC";
        else
          out += show_zone(t.offset, t.offset % 3600 == 0 ? Chunk::kNumShortTz : Chunk::kNumTz);
        break;
      case Chunk::kIsoTz:
      case Chunk::kIsoSecondsTz:
      case Chunk::kIsoShortTz:
      case Chunk::kIsoColonTz:
      case Chunk::kIsoColonSecTz: out += t.offset == 0 ? "Z" : show_zone(t.offset, p.chunk); break;
      case Chunk::kNumTz:
      case Chunk::kNumSecondsTz:
      case Chunk::kNumShortTz:
      case Chunk::kNumColonTz:
      case Chunk::kNumColonSecTz: out += show_zone(t.offset, p.chunk); break;
      case Chunk::kFraction0:
      case Chunk::kFraction9: {
        std::string f = fmt::format("{:09}", t.nanoseconds).substr(0, static_cast<std::size_t>(std::min(p.digits, 9)));
        if (p.chunk == Chunk::kFraction9) f.erase(f.find_last_not_of('0') + 1);
        if (!f.empty()) out += p.point + f;
        break;
      }
    }
  }
  return out;
}

namespace {

struct Reader {
  std::string_view whole_layout, whole_value, value, layout_part;
  std::string& error;

  bool fail() {
    error = fmt::format("parsing time {} as {}: cannot parse {} as {}", go_quote(whole_value), go_quote(whole_layout),
                        go_quote(value), go_quote(layout_part));
    return false;
  }
  bool range(std::string_view what) {
    error = fmt::format("parsing time {}: {} out of range", go_quote(whole_value), what);
    return false;
  }
  bool digit(std::size_t i) const { return i < value.size() && value[i] >= '0' && value[i] <= '9'; }
  bool number(int& n, bool fixed) {
    if (!digit(0)) return fail();
    if (!digit(1)) {
      if (fixed) return fail();
      n = value[0] - '0';
      value.remove_prefix(1);
      return true;
    }
    n = (value[0] - '0') * 10 + (value[1] - '0');
    value.remove_prefix(2);
    return true;
  }
  bool name(const std::string_view* names, int count, bool full, int& found) {
    for (int i = 0; i < count; ++i) {
      std::string_view w = full ? names[i] : names[i].substr(0, 3);
      if (value.size() < w.size()) continue;
      bool same = true;
      for (std::size_t k = 0; k < w.size(); ++k) same &= (value[k] | 0x20) == (w[k] | 0x20);
      if (same) {
        found = i;
        value.remove_prefix(w.size());
        return true;
      }
    }
    return fail();
  }
};

}  // namespace

std::optional<Time> parse_time(std::string_view layout, std::string_view text, std::string& error) {
  Reader r{layout, text, text, {}, error};
  int year = -1, month = -1, day = -1, yearday = -1, hour = 0, minute = 0, second = 0, zone = 0, weekday = 0;
  i32 nanos = 0;
  bool pm = false, am = false, zoned = false;
  std::string zone_name;
  auto fraction = [&](std::size_t n) {  // the point and the digits after it
    std::string d(r.value.substr(1, n - 1));
    d.resize(9, '0');
    nanos = static_cast<i32>(std::stol(d.substr(0, 9)));
    r.value.remove_prefix(n);
  };
  for (;;) {
    Piece p = next_chunk(layout);
    r.layout_part = layout.substr(p.prefix.size(), layout.size() - p.prefix.size() - p.suffix.size());
    std::string_view prefix = p.prefix;
    // Blanks of the layout stand for any number of blanks.
    while (!prefix.empty()) {
      if (prefix[0] == ' ') {
        if (!r.value.empty() && r.value[0] != ' ') {
          r.layout_part = p.prefix;
          r.fail();
          return std::nullopt;
        }
        while (!prefix.empty() && prefix[0] == ' ') prefix.remove_prefix(1);
        while (!r.value.empty() && r.value[0] == ' ') r.value.remove_prefix(1);
        continue;
      }
      if (r.value.empty() || r.value[0] != prefix[0]) {
        r.layout_part = p.prefix;
        r.fail();
        return std::nullopt;
      }
      prefix.remove_prefix(1);
      r.value.remove_prefix(1);
    }
    if (p.chunk == Chunk::kNone) {
      if (!r.value.empty()) {
        error = fmt::format("parsing time {}: extra text: {}", go_quote(text), go_quote(r.value));
        return std::nullopt;
      }
      break;
    }
    std::string_view std_layout = p.suffix;
    bool good = true;
    int n = 0;
    switch (p.chunk) {
      case Chunk::kYear:
        if (r.value.size() < 2 || !r.digit(0) || !r.digit(1)) {
          good = r.fail();
          break;
        }
        year = (r.value[0] - '0') * 10 + r.value[1] - '0';
        year += year >= 69 ? 1900 : 2000;
        r.value.remove_prefix(2);
        break;
      case Chunk::kLongYear:
        for (std::size_t i = 0; i < 4; ++i) good = good && r.digit(i);
        if (!good) {
          r.fail();
          break;
        }
        year = std::stoi(std::string(r.value.substr(0, 4)));
        r.value.remove_prefix(4);
        break;
      case Chunk::kMonth:
        good = r.name(kMonths, 12, false, n);
        month = n + 1;
        break;
      case Chunk::kLongMonth:
        good = r.name(kMonths, 12, true, n);
        month = n + 1;
        break;
      case Chunk::kNumMonth:
      case Chunk::kZeroMonth:
        good = r.number(month, p.chunk == Chunk::kZeroMonth);
        if (good && (month < 1 || month > 12)) good = r.range("month");
        break;
      case Chunk::kWeekDay: good = r.name(kDays, 7, false, weekday); break;
      case Chunk::kLongWeekDay: good = r.name(kDays, 7, true, weekday); break;
      case Chunk::kDay:
      case Chunk::kUnderDay:
      case Chunk::kZeroDay:
        if (p.chunk == Chunk::kUnderDay && !r.value.empty() && r.value[0] == ' ') r.value.remove_prefix(1);
        good = r.number(day, p.chunk == Chunk::kZeroDay);
        break;
      case Chunk::kUnderYearDay:
      case Chunk::kZeroYearDay:
        while (p.chunk == Chunk::kUnderYearDay && !r.value.empty() && r.value[0] == ' ') r.value.remove_prefix(1);
        yearday = 0;
        for (int i = 0; i < 3 && r.digit(0); ++i) {
          yearday = yearday * 10 + r.value[0] - '0';
          r.value.remove_prefix(1);
        }
        break;
      case Chunk::kHour:
        good = r.number(hour, false);
        if (good && hour > 23) good = r.range("hour");
        break;
      case Chunk::kHour12:
      case Chunk::kZeroHour12:
        good = r.number(hour, p.chunk == Chunk::kZeroHour12);
        if (good && hour > 12) good = r.range("hour");
        break;
      case Chunk::kMinute:
      case Chunk::kZeroMinute:
        good = r.number(minute, p.chunk == Chunk::kZeroMinute);
        if (good && minute > 59) good = r.range("minute");
        break;
      case Chunk::kSecond:
      case Chunk::kZeroSecond:
        good = r.number(second, p.chunk == Chunk::kZeroSecond);
        if (good && second > 59) good = r.range("second");
        // A fraction may follow although the layout has none.
        if (good && r.value.size() >= 2 && (r.value[0] == '.' || r.value[0] == ',') && r.digit(1)) {
          Piece next = next_chunk(std_layout);
          if (next.prefix.empty() && (next.chunk == Chunk::kFraction0 || next.chunk == Chunk::kFraction9)) break;
          std::size_t k = 2;
          while (r.digit(k)) ++k;
          fraction(k);
        }
        break;
      case Chunk::kPm:
      case Chunk::kpm: {
        std::string_view w = r.value.substr(0, 2);
        if (w == (p.chunk == Chunk::kPm ? "PM" : "pm"))
          pm = true;
        else if (w == (p.chunk == Chunk::kPm ? "AM" : "am"))
          am = true;
        else
          good = r.fail();
        if (good) r.value.remove_prefix(2);
        break;
      }
      case Chunk::kIsoTz:
      case Chunk::kIsoSecondsTz:
      case Chunk::kIsoShortTz:
      case Chunk::kIsoColonTz:
      case Chunk::kIsoColonSecTz:
      case Chunk::kNumTz:
      case Chunk::kNumSecondsTz:
      case Chunk::kNumShortTz:
      case Chunk::kNumColonTz:
      case Chunk::kNumColonSecTz: {
        zoned = true;
        bool iso = p.chunk >= Chunk::kIsoTz && p.chunk <= Chunk::kIsoColonSecTz;
        if (iso && r.value.starts_with('Z')) {
          r.value.remove_prefix(1);
          zone = 0;
          break;
        }
        bool colon = p.chunk == Chunk::kIsoColonTz || p.chunk == Chunk::kIsoColonSecTz ||
                     p.chunk == Chunk::kNumColonTz || p.chunk == Chunk::kNumColonSecTz;
        bool seconds = p.chunk == Chunk::kIsoSecondsTz || p.chunk == Chunk::kNumSecondsTz ||
                       p.chunk == Chunk::kNumColonSecTz || p.chunk == Chunk::kIsoColonSecTz;
        bool minutes = p.chunk != Chunk::kNumShortTz && p.chunk != Chunk::kIsoShortTz;
        std::string_view v = r.value;
        int parts[3] = {0, 0, 0};
        if (v.empty() || (v[0] != '+' && v[0] != '-')) {
          good = r.fail();
          break;
        }
        bool west = v[0] == '-';
        v.remove_prefix(1);
        for (int i = 0; i < 1 + minutes + seconds && good; ++i) {
          if (i > 0 && colon) {
            if (v.empty() || v[0] != ':')
              good = false;
            else
              v.remove_prefix(1);
          }
          if (good && v.size() >= 2 && v[0] >= '0' && v[0] <= '9' && v[1] >= '0' && v[1] <= '9') {
            parts[i] = (v[0] - '0') * 10 + v[1] - '0';
            v.remove_prefix(2);
          } else {
            good = false;
          }
        }
        if (!good) {
          r.fail();
          break;
        }
        if (parts[0] > 24) {
          good = r.range("time zone offset hour");
          break;
        }
        if (parts[1] > 60) {
          good = r.range("time zone offset minute");
          break;
        }
        if (parts[2] > 60) {
          good = r.range("time zone offset second");
          break;
        }
        zone = (parts[0] * 60 + parts[1]) * 60 + parts[2];
        if (west) zone = -zone;
        r.value = v;
        break;
      }
      case Chunk::kTz: {
        if (r.value.starts_with("UTC")) {
          zoned = true;
          zone_name = "UTC";
          r.value.remove_prefix(3);
          break;
        }
        std::size_t k = 0;
        while (k < r.value.size() && r.value[k] >= 'A' && r.value[k] <= 'Z') ++k;
        if (k < 3 || k > 5) {
          good = r.fail();
          break;
        }
        zone_name = r.value.substr(0, k);
        r.value.remove_prefix(k);
        zoned = true;
        break;
      }
      case Chunk::kFraction0: {
        std::size_t k = static_cast<std::size_t>(p.digits) + 1;
        good = r.value.size() >= k && (r.value[0] == '.' || r.value[0] == ',');
        for (std::size_t i = 1; i < k && good; ++i) good = r.digit(i);
        if (!good)
          r.fail();
        else
          fraction(k);
        break;
      }
      case Chunk::kFraction9:
        if (r.value.size() >= 2 && (r.value[0] == '.' || r.value[0] == ',') && r.digit(1)) {
          std::size_t k = 2;
          while (r.digit(k)) ++k;
          fraction(k);
        }
        break;
      default: break;
    }
    if (!good) return std::nullopt;
    layout = p.suffix;
  }
  if (pm && hour < 12) hour += 12;
  if (am && hour == 12) hour = 0;
  i64 y = year < 0 ? 0 : year;
  if (yearday >= 0) {
    i64 base = days_from_civil(y, 1, 1) + yearday - 1;
    Time t;
    t.seconds = base * 86400;
    CivilTime c = civil(t);
    if (month < 0) month = c.month;
    if (day < 0) day = c.day;
  }
  if (month < 0) month = 1;
  if (day < 0) day = 1;
  if (day < 1 || day > days_in(month, y)) {
    r.range("day");
    return std::nullopt;
  }
  Time t;
  t.nanoseconds = nanos;
  t.offset = zoned ? zone : 0;
  t.zone = zone_name;
  t.seconds = days_from_civil(y, month, day) * 86400 + hour * 3600 + minute * 60 + second - t.offset;
  return t;
}

std::string format_duration(i64 d) {
  if (d == 0) return "0s";
  bool negative = d < 0;
  u64 u = negative ? 0 - static_cast<u64>(d) : static_cast<u64>(d);
  auto fraction = [](u64 v, u64 unit) {
    std::string s = std::to_string(v / unit);
    u64 rest = v % unit;
    if (rest == 0) return s;
    std::string f = std::to_string(unit + rest).substr(1);
    f.erase(f.find_last_not_of('0') + 1);
    return s + "." + f;
  };
  std::string out;
  if (u < 1000)
    out = std::to_string(u) + "ns";
  else if (u < 1'000'000)
    out = fraction(u, 1000) + "\xC2\xB5s";
  else if (u < 1'000'000'000)
    out = fraction(u, 1'000'000) + "ms";
  else {
    u64 seconds = u / 1'000'000'000;
    u64 minutes = seconds / 60;
    out = fraction(u % 60'000'000'000, 1'000'000'000) + "s";
    if (minutes > 0) {
      out = std::to_string(minutes % 60) + "m" + out;
      if (minutes >= 60) out = std::to_string(minutes / 60) + "h" + out;
    }
  }
  return negative ? "-" + out : out;
}

std::optional<i64> parse_duration(std::string_view text, std::string& error) {
  auto bad = [&] {
    error = "time: invalid duration " + go_quote(text);
    return std::nullopt;
  };
  std::string_view s = text;
  bool negative = false;
  if (!s.empty() && (s[0] == '-' || s[0] == '+')) {
    negative = s[0] == '-';
    s.remove_prefix(1);
  }
  if (s == "0") return 0;
  if (s.empty()) return bad();
  Decimal total;
  while (!s.empty()) {
    std::size_t n = 0;
    bool point = false, digit = false;
    while (n < s.size() && ((s[n] >= '0' && s[n] <= '9') || (s[n] == '.' && !point))) {
      if (s[n] == '.')
        point = true;
      else
        digit = true;
      ++n;
    }
    if (!digit) return bad();
    Decimal value = *Decimal::parse(s.substr(0, n));
    s.remove_prefix(n);
    std::size_t u = 0;
    while (u < s.size() && s[u] != '.' && !(s[u] >= '0' && s[u] <= '9')) ++u;
    std::string_view unit = s.substr(0, u);
    if (unit.empty()) {
      error = "time: missing unit in duration " + go_quote(text);
      return std::nullopt;
    }
    i64 scale = unit == "ns"                                                 ? 1
                : unit == "us" || unit == "\xC2\xB5s" || unit == "\xCE\xBCs" ? 1000
                : unit == "ms"                                               ? 1'000'000
                : unit == "s"                                                ? 1'000'000'000
                : unit == "m"                                                ? 60'000'000'000
                : unit == "h"                                                ? 3'600'000'000'000
                                                                             : 0;
    if (scale == 0) {
      error = fmt::format("time: unknown unit {} in duration {}", go_quote(unit), go_quote(text));
      return std::nullopt;
    }
    s.remove_prefix(u);
    total = decimal::add(total, decimal::truncated(decimal::mul(value, Decimal(scale)).value)).value;
  }
  if (negative) total = -total;
  std::optional<i64> out = total.with_exponent_zero().to_i64();
  if (!out) return bad();
  return out;
}

}  // namespace tutti::cue
