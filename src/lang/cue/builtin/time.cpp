#include "lang/cue/builtin/support.h"
#include "lang/cue/builtin/timestamp.h"

namespace tutti::cue {

namespace {

Node* check_time(CallContext& c, std::string_view layout) {
  std::string error;
  std::string_view s = c.string(0);
  if (c.failed()) return nullptr;
  if (!parse_time(layout, s, error)) return c.error("invalid time " + go_quote(s));
  return c.make_bool(true);
}

// Reads argument i as RFC 3339; an error is reported.
std::optional<Time> instant(CallContext& c, std::size_t i, Node*& failed) {
  std::string error;
  std::string_view s = c.string(i);
  if (c.failed()) {
    failed = nullptr;
    return std::nullopt;
  }
  std::optional<Time> t = parse_time(kRfc3339Nano, s, error);
  if (!t) failed = c.error(error);
  return t;
}

const BuiltinSpec kFunctions[] = {
    {"Duration",
     {kStringKind},
     kBoolKind,
     [](CallContext& c) -> Node* {
       std::string error;
       bool good = parse_duration(c.string(0), error).has_value();
       if (c.failed()) return nullptr;
       return good ? c.make_bool(true) : c.error(error);
     }},
    {"FormatDuration",
     {kIntKind},
     kStringKind,
     [](CallContext& c) -> Node* {
       i64 d = c.integer(0);
       return c.failed() ? nullptr : c.make_string(format_duration(d));
     }},
    {"ParseDuration",
     {kStringKind},
     kIntKind,
     [](CallContext& c) -> Node* {
       std::string error;
       std::optional<i64> d = parse_duration(c.string(0), error);
       if (c.failed()) return nullptr;
       return d ? c.make_int(*d) : c.error(error);
     }},
    {"Time", {kStringKind}, kBoolKind, [](CallContext& c) -> Node* { return check_time(c, kRfc3339Nano); }},
    {"Format",
     {kStringKind, kStringKind},
     kBoolKind,
     [](CallContext& c) -> Node* { return check_time(c, c.string(1)); }},
    {"FormatString",
     {kStringKind, kStringKind},
     kStringKind,
     [](CallContext& c) -> Node* {
       Node* failed = nullptr;
       std::optional<Time> t = instant(c, 1, failed);
       return t ? c.make_string(format_time(*t, c.string(0))) : failed;
     }},
    {"Parse",
     {kStringKind, kStringKind},
     kStringKind,
     [](CallContext& c) -> Node* {
       std::string error;
       std::optional<Time> t = parse_time(c.string(0), c.string(1), error);
       if (c.failed()) return nullptr;
       if (!t) return c.error(error);
       t->offset = 0;
       t->zone.clear();
       return c.make_string(format_time(*t, kRfc3339Nano));
     }},
    {"Unix",
     {kIntKind, kIntKind},
     kStringKind,
     [](CallContext& c) -> Node* {
       i64 sec = c.integer(0), nsec = c.integer(1);
       if (c.failed()) return nullptr;
       Time t;
       t.seconds = sec + nsec / 1'000'000'000;
       nsec %= 1'000'000'000;
       if (nsec < 0) nsec += 1'000'000'000, --t.seconds;
       t.nanoseconds = static_cast<i32>(nsec);
       return c.make_string(format_time(t, kRfc3339Nano));
     }},
    {"ToUnix",
     {kStringKind},
     kIntKind,
     [](CallContext& c) -> Node* {
       Node* failed = nullptr;
       std::optional<Time> t = instant(c, 0, failed);
       return t ? c.make_int(t->seconds) : failed;
     }},
    {"ToUnixNano",
     {kStringKind},
     kIntKind,
     [](CallContext& c) -> Node* {
       Node* failed = nullptr;
       std::optional<Time> t = instant(c, 0, failed);
       return t ? c.make_int(static_cast<i64>(static_cast<u64>(t->seconds) * 1'000'000'000u +
                                              static_cast<u64>(t->nanoseconds)))
                : failed;
     }},
    {"Split",
     {kStringKind},
     kStructKind,
     [](CallContext& c) -> Node* {
       Node* failed = nullptr;
       std::optional<Time> t = instant(c, 0, failed);
       if (!t) return failed;
       CivilTime v = civil(*t);
       std::pair<std::string_view, Node*> fields[] = {
           {"year", c.make_int(v.year)},
           {"month", c.make_int(v.month)},
           {"day", c.make_int(v.day)},
           {"hour", c.make_int(v.hour)},
           {"minute", c.make_int(v.minute)},
           {"second", c.make_int(v.second)},
           {"nanosecond", c.make_int(t->nanoseconds)},
       };
       return c.make_struct(fields);
     }},
};

const ConstantSpec kConstants[] = {
    {"Nanosecond", "1"},
    {"Microsecond", "1000"},
    {"Millisecond", "1000000"},
    {"Second", "1000000000"},
    {"Minute", "60000000000"},
    {"Hour", "3600000000000"},
    {"ANSIC", "\"Mon Jan _2 15:04:05 2006\""},
    {"UnixDate", "\"Mon Jan _2 15:04:05 MST 2006\""},
    {"RubyDate", "\"Mon Jan 02 15:04:05 -0700 2006\""},
    {"RFC822", "\"02 Jan 06 15:04 MST\""},
    {"RFC822Z", "\"02 Jan 06 15:04 -0700\""},
    {"RFC850", "\"Monday, 02-Jan-06 15:04:05 MST\""},
    {"RFC1123", "\"Mon, 02 Jan 2006 15:04:05 MST\""},
    {"RFC1123Z", "\"Mon, 02 Jan 2006 15:04:05 -0700\""},
    {"RFC3339", "\"2006-01-02T15:04:05Z07:00\""},
    {"RFC3339Nano", "\"2006-01-02T15:04:05.999999999Z07:00\""},
    {"RFC3339Date", "\"2006-01-02\""},
    {"Kitchen", "\"3:04PM\""},
    {"Kitchen24", "\"15:04\""},
    {"January", "1"},
    {"February", "2"},
    {"March", "3"},
    {"April", "4"},
    {"May", "5"},
    {"June", "6"},
    {"July", "7"},
    {"August", "8"},
    {"September", "9"},
    {"October", "10"},
    {"November", "11"},
    {"December", "12"},
    {"Sunday", "0"},
    {"Monday", "1"},
    {"Tuesday", "2"},
    {"Wednesday", "3"},
    {"Thursday", "4"},
    {"Friday", "5"},
    {"Saturday", "6"},
};

}  // namespace

void add_time() { add_package("time", kFunctions, kConstants); }

}  // namespace tutti::cue
