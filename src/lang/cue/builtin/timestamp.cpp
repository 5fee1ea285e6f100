#include "lang/cue/builtin/timestamp.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <vector>

#include "base/ascii.h"
#include "lang/cue/builtin/support.h"

namespace tutti::cue {

const char kRfc3339Nano[] = "2006-01-02T15:04:05.999999999Z07:00";

namespace {

constexpr std::array<std::string_view, 12> kMonths = {"January",   "February", "March",    "April",
                                                      "May",       "June",     "July",     "August",
                                                      "September", "October",  "November", "December"};
constexpr std::array<std::string_view, 7> kDays = {"Sunday",   "Monday", "Tuesday", "Wednesday",
                                                   "Thursday", "Friday", "Saturday"};

// ---- the calendar: 400 years are a whole number of days, and std::chrono knows those between

constexpr i64 kDaysPer400Years = 146097, kSecondsPerDay = 86400;

i64 floor_div(i64 a, i64 b) { return a / b - (a % b < 0 ? 1 : 0); }

i64 days_since_1970(i64 year, int month, int day) {
  namespace ch = std::chrono;
  i64 cycle = floor_div(year - 1970, 400);
  ch::year_month_day d{ch::year(static_cast<int>(year - cycle * 400)), ch::month(static_cast<unsigned>(month)),
                       ch::day(static_cast<unsigned>(day))};
  return cycle * kDaysPer400Years + ch::sys_days(d).time_since_epoch().count();
}

bool leap(i64 year) { return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0); }
int days_of_month(i64 year, int month) {
  return month == 2 ? (leap(year) ? 29 : 28) : month == 4 || month == 6 || month == 9 || month == 11 ? 30 : 31;
}

// ---- layouts

enum class What : u8 {
  kLiteral,
  kYear,
  kMonth,
  kDay,
  kYearDay,
  kWeekday,
  kHour,
  kHour12,
  kMinute,
  kSecond,
  kHalf,
  kZone,
  kFraction
};
enum class How : u8 {
  kNumber,   // as many digits as needed
  kPadded,   // zeros before it
  kSpaced,   // spaces before it
  kName,     // in full
  kShort,    // the first three letters; of a year the last two digits; of a zone its abbreviation
  kUpper,    // PM
  kLower,    // pm
  kOffset,   // always a number
  kOffsetZ,  // Z for UTC
  kZeros,    // of a fraction: all digits
  kNines     // without the zeros at the end
};

struct Element {
  std::string_view text;
  What what;
  How how;
  u8 size = 0;  // digits of a fraction; parts of an offset, plus 4 with colons between
};

// Longer ones first where one begins like another.
constexpr Element kElements[] = {
    {"January", What::kMonth, How::kName},
    {"Jan", What::kMonth, How::kShort},
    {"Monday", What::kWeekday, How::kName},
    {"Mon", What::kWeekday, How::kShort},
    {"MST", What::kZone, How::kShort},
    {"2006", What::kYear, How::kPadded},
    {"002", What::kYearDay, How::kPadded},
    {"__2", What::kYearDay, How::kSpaced},
    {"_2", What::kDay, How::kSpaced},
    {"15", What::kHour, How::kNumber},
    {"01", What::kMonth, How::kPadded},
    {"02", What::kDay, How::kPadded},
    {"03", What::kHour12, How::kPadded},
    {"04", What::kMinute, How::kPadded},
    {"05", What::kSecond, How::kPadded},
    {"06", What::kYear, How::kShort},
    {"1", What::kMonth, How::kNumber},
    {"2", What::kDay, How::kNumber},
    {"3", What::kHour12, How::kNumber},
    {"4", What::kMinute, How::kNumber},
    {"5", What::kSecond, How::kNumber},
    {"PM", What::kHalf, How::kUpper},
    {"pm", What::kHalf, How::kLower},
    {"-07:00:00", What::kZone, How::kOffset, 7},
    {"-070000", What::kZone, How::kOffset, 3},
    {"-07:00", What::kZone, How::kOffset, 6},
    {"-0700", What::kZone, How::kOffset, 2},
    {"-07", What::kZone, How::kOffset, 1},
    {"Z07:00:00", What::kZone, How::kOffsetZ, 7},
    {"Z070000", What::kZone, How::kOffsetZ, 3},
    {"Z07:00", What::kZone, How::kOffsetZ, 6},
    {"Z0700", What::kZone, How::kOffsetZ, 2},
    {"Z07", What::kZone, How::kOffsetZ, 1},
};

// The element at the beginning of a layout; a literal for none.
Element element_at(std::string_view layout) {
  if ((layout[0] == '.' || layout[0] == ',') && layout.size() > 1 && (layout[1] == '0' || layout[1] == '9')) {
    std::size_t end = std::min(layout.find_first_not_of(layout[1], 1), layout.size());
    if ((end == layout.size() || !is_digit(layout[end])) && end < 256)
      return {layout.substr(0, end), What::kFraction, layout[1] == '0' ? How::kZeros : How::kNines,
              static_cast<u8>(end - 1)};
  }
  if (layout.starts_with("_2006")) return {layout.substr(0, 1), What::kLiteral, How::kNumber};
  for (const Element& e : kElements) {
    if (!layout.starts_with(e.text)) continue;
    // "Mon" is not in "Month".
    bool word = e.how == How::kShort && e.what != What::kZone && e.what != What::kYear;
    if (word && layout.size() > 3 && layout[3] >= 'a' && layout[3] <= 'z') continue;
    return e;
  }
  return {layout.substr(0, 1), What::kLiteral, How::kNumber};
}

// Many values have one layout: that of the last is kept.
const std::vector<Element>& elements(std::string_view wanted) {
  thread_local std::string layout;
  thread_local std::vector<Element> out;
  if (layout == wanted) return out;
  layout = wanted;
  out.clear();
  for (std::size_t at = 0; at < layout.size();) {
    Element e = element_at(std::string_view(layout).substr(at));
    if (e.what == What::kLiteral && !out.empty() && out.back().what == What::kLiteral) {
      std::string_view& t = out.back().text;
      t = std::string_view(t.data(), t.size() + 1);
    } else {
      out.push_back(e);
    }
    at += e.text.size();
  }
  return out;
}

// ---- writing

std::string number(i64 n, How how, int width) {
  if (how == How::kNumber) return std::to_string(n);
  return how == How::kSpaced ? fmt::format("{:{}}", n, width)
         : n < 0             ? fmt::format("-{:0{}}", -n, width)
                             : fmt::format("{:0{}}", n, width);
}

std::string offset_text(i32 offset, int size) {
  i32 s = std::abs(offset);
  std::string out = fmt::format("{}{:02}", offset < 0 ? '-' : '+', s / 3600);
  const char* colon = size & 4 ? ":" : "";
  if ((size & 3) > 1) out += fmt::format("{}{:02}", colon, s / 60 % 60);
  if ((size & 3) > 2) out += fmt::format("{}{:02}", colon, s % 60);
  return out;
}

std::string written(const Element& e, const Time& t, const CivilTime& c) {
  auto name = [&](std::string_view full) { return std::string(e.how == How::kShort ? full.substr(0, 3) : full); };
  switch (e.what) {
    case What::kLiteral: break;
    case What::kYear:
      return e.how == How::kShort ? number(std::abs(c.year) % 100, How::kPadded, 2) : number(c.year, e.how, 4);
    case What::kMonth:
      if (e.how == How::kName || e.how == How::kShort) return name(kMonths[static_cast<std::size_t>(c.month - 1)]);
      return number(c.month, e.how, 2);
    case What::kWeekday: return name(kDays[static_cast<std::size_t>(c.weekday)]);
    case What::kDay: return number(c.day, e.how, 2);
    case What::kYearDay: return number(c.yearday, e.how, 3);
    case What::kHour: return number(c.hour, How::kPadded, 2);
    case What::kHour12: return number((c.hour + 11) % 12 + 1, e.how, 2);
    case What::kMinute: return number(c.minute, e.how, 2);
    case What::kSecond: return number(c.second, e.how, 2);
    case What::kHalf: return e.how == How::kUpper ? (c.hour < 12 ? "AM" : "PM") : (c.hour < 12 ? "am" : "pm");
    case What::kZone:
      if (e.how == How::kOffsetZ && t.offset == 0) return "Z";
      if (e.how != How::kShort) return offset_text(t.offset, e.size);
      if (!t.zone.empty()) return t.zone;
      return t.offset == 0 ? "UTC" : offset_text(t.offset, 2);
    case What::kFraction: {
      std::string digits = fmt::format("{:09}", t.nanoseconds);
      digits.resize(e.size, '0');
      if (e.how == How::kNines) digits.erase(digits.find_last_not_of('0') + 1);
      return digits.empty() ? "" : e.text[0] + digits;
    }
  }
  return std::string(e.text);
}

// ---- reading

class Reader {
 public:
  Reader(std::string_view layout, std::string_view value) : layout_(layout), value_(value), rest_(value) {}

  std::optional<Time> run(std::string& error) {
    const std::vector<Element>& list = elements(layout_);
    for (std::size_t i = 0; i < list.size(); ++i) {
      const Element& e = list[i];
      std::string_view before = rest_;
      bool ok = e.what == What::kLiteral ? literal(e.text) : read(e);
      if (ok && e.what == What::kSecond && (i + 1 == list.size() || list[i + 1].what != What::kFraction))
        spare_fraction();
      if (!range_.empty()) return fail(error, range_ + " out of range");
      if (ok) continue;
      std::string_view at = e.what == What::kLiteral ? literal_rest_ : before;
      error = fmt::format("parsing time {} as {}: cannot parse {} as {}", go_quote(value_), go_quote(layout_),
                          go_quote(at), go_quote(e.text));
      return std::nullopt;
    }
    if (!rest_.empty()) return fail(error, "extra text: " + go_quote(rest_));
    return result(error);
  }

 private:
  std::nullopt_t fail(std::string& error, const std::string& what) const {
    error = fmt::format("parsing time {}: {}", go_quote(value_), what);
    return std::nullopt;
  }

  // Any number of spaces stands for any other, except none within the text.
  bool literal(std::string_view text) {
    while (!text.empty()) {
      literal_rest_ = rest_;
      if (text[0] == ' ') {
        if (!rest_.empty() && rest_[0] != ' ') return false;
        skip_spaces(text);
        skip_spaces(rest_);
      } else {
        if (rest_.empty() || rest_[0] != text[0]) return false;
        text.remove_prefix(1);
        rest_.remove_prefix(1);
      }
    }
    return true;
  }
  static void skip_spaces(std::string_view& s) { s.remove_prefix(std::min(s.find_first_not_of(' '), s.size())); }

  // At least `least` and at most `most` digits.
  bool digits(int least, int most, int& out) {
    int n = 0;
    out = 0;
    while (n < most && static_cast<std::size_t>(n) < rest_.size() && is_digit(rest_[static_cast<std::size_t>(n)]))
      out = out * 10 + (rest_[static_cast<std::size_t>(n++)] - '0');
    if (n < least) return false;
    rest_.remove_prefix(static_cast<std::size_t>(n));
    return true;
  }

  bool two(const Element& e, int& out) {
    if (e.how == How::kSpaced && rest_.starts_with(' ')) rest_.remove_prefix(1);
    return digits(e.how == How::kPadded ? 2 : 1, 2, out);
  }

  bool in_range(int n, int low, int high, const char* what) {
    if (n < low || n > high) range_ = what;
    return true;
  }

  template <std::size_t N>
  bool name(const std::array<std::string_view, N>& names, How how, int& out) {
    auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
    for (std::size_t i = 0; i < N; ++i) {
      std::string_view n = how == How::kShort ? names[i].substr(0, 3) : names[i];
      if (rest_.size() < n.size()) continue;
      if (!std::equal(n.begin(), n.end(), rest_.begin(), [&](char a, char b) { return lower(a) == lower(b); }))
        continue;
      rest_.remove_prefix(n.size());
      out = static_cast<int>(i);
      return true;
    }
    return false;
  }

  bool read(const Element& e) {
    switch (e.what) {
      case What::kLiteral: return false;
      case What::kYear:
        if (e.how != How::kShort) return digits(4, 4, year_);
        if (!digits(2, 2, year_)) return false;
        year_ += year_ >= 69 ? 1900 : 2000;
        return true;
      case What::kMonth:
        if (e.how == How::kName || e.how == How::kShort) {
          bool ok = name(kMonths, e.how, month_);
          ++month_;
          return ok;
        }
        return two(e, month_) && in_range(month_, 1, 12, "month");
      case What::kWeekday: {
        int ignored;
        return name(kDays, e.how, ignored);
      }
      case What::kDay: return two(e, day_);
      case What::kYearDay:
        if (e.how == How::kSpaced)
          for (int i = 0; i < 2 && rest_.starts_with(' '); ++i) rest_.remove_prefix(1);
        return digits(e.how == How::kPadded ? 3 : 1, 3, yearday_);
      case What::kHour: return two(e, hour_) && in_range(hour_, 0, 23, "hour");
      case What::kHour12: return two(e, hour_) && in_range(hour_, 0, 12, "hour");
      case What::kMinute: return two(e, minute_) && in_range(minute_, 0, 59, "minute");
      case What::kSecond: return two(e, second_) && in_range(second_, 0, 59, "second");
      case What::kHalf: {
        bool upper = e.how == How::kUpper;
        half_ = rest_.starts_with(upper ? "AM" : "am") ? 1 : rest_.starts_with(upper ? "PM" : "pm") ? 2 : 0;
        if (half_) rest_.remove_prefix(2);
        return half_ != 0;
      }
      case What::kZone: return e.how == How::kShort ? zone_name() : zone_offset(e);
      case What::kFraction: return fraction(e);
    }
    return false;
  }

  bool fraction(const Element& e) {
    bool there = rest_.size() > 1 && (rest_[0] == '.' || rest_[0] == ',') && is_digit(rest_[1]);
    if (e.how == How::kNines) {
      if (there) spare_fraction();
      return true;
    }
    if (!there || rest_.size() < e.text.size()) return false;
    for (std::size_t i = 1; i < e.text.size(); ++i)
      if (!is_digit(rest_[i])) return false;
    take_fraction(e.text.size() - 1);
    return true;
  }

  // A fraction after the seconds is read even where the layout has none.
  void spare_fraction() {
    if (rest_.size() < 2 || (rest_[0] != '.' && rest_[0] != ',') || !is_digit(rest_[1])) return;
    std::size_t n = 1;
    while (n < rest_.size() && is_digit(rest_[n])) ++n;
    take_fraction(n - 1);
  }
  void take_fraction(std::size_t n) {
    std::string nine(rest_.substr(1, std::min<std::size_t>(n, 9)));
    nine.resize(9, '0');
    nanoseconds_ = static_cast<i32>(std::strtol(nine.c_str(), nullptr, 10));
    rest_.remove_prefix(n + 1);
  }

  bool zone_offset(const Element& e) {
    if (e.how == How::kOffsetZ && rest_.starts_with('Z')) {
      rest_.remove_prefix(1);
      utc_ = true;
      return true;
    }
    if (rest_.empty() || (rest_[0] != '+' && rest_[0] != '-')) return false;
    bool west = rest_[0] == '-';
    rest_.remove_prefix(1);
    int part[3] = {0, 0, 0};
    for (int i = 0; i < (e.size & 3); ++i) {
      if (i > 0 && e.size & 4) {
        if (!rest_.starts_with(':')) return false;
        rest_.remove_prefix(1);
      }
      if (!digits(2, 2, part[i])) return false;
    }
    in_range(part[0], 0, 24, "time zone offset hour");
    in_range(part[1], 0, 59, "time zone offset minute");
    in_range(part[2], 0, 59, "time zone offset second");
    offset_ = (part[0] * 60 + part[1]) * 60 + part[2];
    if (west) offset_ = -*offset_;
    return true;
  }

  // Three capitals, or four or five that end in T; UTC is known, GMT may have hours after it, others have no offset.
  bool zone_name() {
    if (rest_.starts_with("UTC")) {
      rest_.remove_prefix(3);
      utc_ = true;
      return true;
    }
    std::size_t n = 0;
    while (n < rest_.size() && n < 6 && rest_[n] >= 'A' && rest_[n] <= 'Z') ++n;
    if (rest_.starts_with("ChST") || rest_.starts_with("MeST") || rest_.starts_with("WITA"))
      n = 4;
    else if (rest_.starts_with("GMT"))
      n = 3;
    else if (n < 3 || n == 6 || (n > 3 && rest_[n - 1] != 'T'))
      return false;
    zone_ = rest_.substr(0, n);
    rest_.remove_prefix(n);
    if (zone_ != "GMT" || rest_.empty() || (rest_[0] != '+' && rest_[0] != '-')) return true;
    std::string_view sign = rest_;
    rest_.remove_prefix(1);
    int hours;
    if (!digits(1, 2, hours) || hours > 23) {
      rest_ = sign;
      return true;
    }
    zone_ += sign.substr(0, sign.size() - rest_.size());
    offset_ = (sign[0] == '-' ? -hours : hours) * 3600;
    return true;
  }

  std::optional<Time> result(std::string& error) {
    if (half_ == 2 && hour_ < 12) hour_ += 12;
    if (half_ == 1 && hour_ == 12) hour_ = 0;
    if (yearday_ >= 0) {
      if (yearday_ < 1 || yearday_ > (leap(year_) ? 366 : 365)) return fail(error, "day-of-year out of range");
      int month = 1, day = yearday_;
      while (day > days_of_month(year_, month)) day -= days_of_month(year_, month++);
      if ((month_ >= 0 && month_ != month) || (day_ >= 0 && day_ != day))
        return fail(error, month_ >= 0 && month_ != month ? "day-of-year does not match month"
                                                          : "day-of-year does not match day");
      month_ = month;
      day_ = day;
    }
    if (month_ < 0) month_ = 1;
    if (day_ < 0) day_ = 1;
    if (day_ < 1 || day_ > days_of_month(year_, month_)) return fail(error, "day out of range");
    Time t;
    t.seconds = days_since_1970(year_, month_, day_) * kSecondsPerDay + hour_ * 3600 + minute_ * 60 + second_;
    t.nanoseconds = nanoseconds_;
    if (utc_) return t;
    t.offset = offset_.value_or(0);
    t.seconds -= t.offset;
    t.zone = zone_;
    return t;
  }

  std::string_view layout_, value_, rest_, literal_rest_;
  std::string range_;  // what is out of range
  int year_ = 0, month_ = -1, day_ = -1, yearday_ = -1, hour_ = 0, minute_ = 0, second_ = 0, half_ = 0;
  i32 nanoseconds_ = 0;
  bool utc_ = false;
  std::optional<i32> offset_;
  std::string zone_;
};

}  // namespace

CivilTime civil(const Time& t) {
  namespace ch = std::chrono;
  i64 local = t.seconds + t.offset;
  i64 days = floor_div(local, kSecondsPerDay);
  int second = static_cast<int>(local - days * kSecondsPerDay);
  i64 cycle = floor_div(days, kDaysPer400Years);
  ch::sys_days day{ch::days(static_cast<int>(days - cycle * kDaysPer400Years))};
  ch::year_month_day d(day);
  CivilTime c;
  c.year = static_cast<int>(d.year()) + cycle * 400;
  c.month = static_cast<int>(static_cast<unsigned>(d.month()));
  c.day = static_cast<int>(static_cast<unsigned>(d.day()));
  c.hour = second / 3600;
  c.minute = second / 60 % 60;
  c.second = second % 60;
  c.weekday = static_cast<int>(ch::weekday(day).c_encoding());
  c.yearday = static_cast<int>((day - ch::sys_days(d.year() / ch::January / 1)).count()) + 1;
  return c;
}

std::string format_time(const Time& t, std::string_view layout) {
  CivilTime c = civil(t);
  std::string out;
  for (const Element& e : elements(layout)) out += written(e, t, c);
  return out;
}

std::optional<Time> parse_time(std::string_view layout, std::string_view value, std::string& error) {
  return Reader(layout, value).run(error);
}

}  // namespace tutti::cue
