// When a resource may be looked at: Puppet's `schedule`.
#include "resource/schedule.h"

#include <fmt/format.h>

#include <array>
#include <cstdio>

#include "resource/params.h"

namespace tutti::resource {
namespace {

struct Period {
  std::string_view name;
  double seconds;
};
constexpr std::array<Period, 4> kPeriods{
    {{"hourly", 3600}, {"daily", 86400}, {"weekly", 604800}, {"monthly", 2592000}}};

const Period* period_named(std::string_view name) {
  for (const Period& p : kPeriods)
    if (p.name == name) return &p;
  return nullptr;
}

std::tm local(std::time_t t) {
  std::tm out{};
  ::localtime_r(&t, &out);
  return out;
}

// "2 - 4:30" or "22:00:00 - 04:00"; seconds of the day.
bool read_range(const std::string& text, int (&ends)[2], std::string* why = nullptr) {
  std::size_t dash = text.find('-');
  if (dash == std::string::npos) return false;
  auto wrong = [&](const char* what, int number) {
    if (why) *why = fmt::format("Munging failed for value \"{}\" in class range: Invalid {} '{}'", text, what, number);
    return false;
  };
  for (int k = 0; k < 2; ++k) {
    int h = 0, m = 0, s = 0;
    std::string side = k ? text.substr(dash + 1) : text.substr(0, dash);
    if (std::sscanf(side.c_str(), " %d:%d:%d", &h, &m, &s) < 1) return false;
    if (h < 0 || h > 23) return wrong("hour", h);
    if (m < 0 || m > 59) return wrong("minute", m);
    if (s < 0 || s > 59) return wrong("second", s);
    ends[k] = h * 3600 + m * 60 + s;
  }
  return true;
}

// The day whose weekday counts: after midnight a range that goes over it still belongs to the day before.
bool in_ranges(const std::vector<std::string>& ranges, const std::tm& now, bool& day_before) {
  int at = now.tm_hour * 3600 + now.tm_min * 60 + now.tm_sec;
  for (const std::string& r : ranges) {
    int ends[2];
    if (!read_range(r, ends)) continue;
    if (ends[0] <= ends[1] ? at >= ends[0] && at <= ends[1] : at >= ends[0] || at <= ends[1]) {
      day_before = ends[0] > ends[1] && at <= ends[1];
      return true;
    }
  }
  return false;
}

int weekday_named(const std::string& word) {
  static constexpr std::string_view kDays[] = {"sun", "mon", "tue", "wed", "thu", "fri", "sat"};
  if (word.size() == 1 && word[0] >= '0' && word[0] <= '6') return word[0] - '0';
  std::string low;
  for (char c : word.substr(0, 3)) low += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  for (int d = 0; d < 7; ++d)
    if (kDays[d] == low) return d;
  return -1;
}

}  // namespace

std::optional<Value> common_schedule(std::string_view name, const TreeBuilder& b) {
  std::vector<Entry> p;
  if (name == "puppet") {
    p = {{Symbol("period"), Field::kPlain, Value::string("hourly")},
         {Symbol("repeat"), Field::kPlain, Value::integer(2)}};
  } else if (name == "never" || period_named(name)) {
    p = {{Symbol("period"), Field::kPlain, b.string(name)}};
  } else {
    return std::nullopt;
  }
  return b.map(p);
}

std::string wrong_schedule(const Value& schedule) {
  Params p(schedule);
  std::string period = p.text("period");
  if (!period.empty() && period != "never" && !period_named(period)) return fmt::format("invalid period {}", period);
  for (auto& r : p.list("range")) {
    int ends[2];
    std::string why = fmt::format("Invalid range value '{}'", r);
    if (!read_range(r, ends, &why)) return "range: " + why;
  }
  for (auto& d : p.list("weekday"))
    if (weekday_named(d) < 0) return fmt::format("invalid day of the week {}", d);
  std::string match = p.text("periodmatch", "distance");
  if (match != "distance" && match != "number") return fmt::format("invalid periodmatch {}", match);
  if (p.number("repeat", 1) != 1 && match == "number") return "repeat must be 1 when periodmatch is number";
  return "";
}

bool is_due(const Value& schedule, std::time_t now, std::time_t last) {
  Params p(schedule);
  std::string period = p.text("period");
  if (period == "never") return false;
  std::tm at = local(now);
  bool day_before = false;
  if (p.has("range") && !in_ranges(p.list("range"), at, day_before)) return false;
  if (p.has("weekday")) {
    int today = (at.tm_wday + (day_before ? 6 : 0)) % 7;
    bool fits = false;
    for (auto& d : p.list("weekday")) fits = fits || weekday_named(d) == today;
    if (!fits) return false;
  }
  const Period* often = period_named(period);
  if (!often || last == 0) return true;
  if (p.text("periodmatch", "distance") == "distance")
    return static_cast<double>(now - last) >= often->seconds / std::max(1.0, p.number("repeat", 1));
  std::tm then = local(last);
  auto week = [](const std::tm& t) {
    char text[8];
    std::strftime(text, sizeof text, "%U", &t);
    return std::string(text);
  };
  if (period == "hourly") return at.tm_hour != then.tm_hour;
  if (period == "daily") return at.tm_mday != then.tm_mday;
  if (period == "weekly") return week(at) != week(then);
  return at.tm_mon != then.tm_mon;
}

}  // namespace tutti::resource
