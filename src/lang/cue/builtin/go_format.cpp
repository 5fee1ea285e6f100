#include "lang/cue/builtin/go_format.h"

#include <utility>

#include "base/utf8.h"
#include "lang/cue/builtin/go_printer.h"
#include "lang/cue/eval/limits.h"

namespace tutti::cue {

namespace {

constexpr i64 kWidest = 1'000'000;

// One call of Sprintf.
class GoFormat {
 public:
  GoFormat(std::string_view format, std::span<const GoValue> args) : format_(format), args_(args) {}

  std::string run() {
    while (at_ < format_.size()) {
      std::size_t next = std::min(format_.find('%', at_), format_.size());
      print_.out += format_.substr(at_, next - at_);
      at_ = next + 1;
      if (next < format_.size() && !directive()) break;
      check_text(print_.out.size());
    }
    if (!reordered_ && arg_ < args_.size()) extra();
    return std::move(print_.out);
  }

 private:
  GoField& field() { return print_.field; }
  bool more() const { return at_ < format_.size(); }
  bool next_is(char c) const { return more() && format_[at_] == c; }

  bool directive() {
    field() = {};
    good_index_ = true;
    flags();
    bool after_index = index();
    if (next_is('*')) {
      ++at_;
      width_from_argument();
      after_index = false;
    } else {
      field().has_width = number(field().width);
      if (after_index && field().has_width) good_index_ = false;  // %[3]2d
    }
    if (at_ + 1 < format_.size() && format_[at_] == '.') {
      ++at_;
      if (after_index) good_index_ = false;  // %[3].2d
      after_index = index();
      if (next_is('*')) {
        ++at_;
        precision_from_argument();
        after_index = false;
      } else {
        number(field().precision);
        field().has_precision = true;
      }
    }
    if (!after_index) index();
    if (!more()) {
      print_.out += "%!(NOVERB)";
      return false;
    }
    verb();
    return true;
  }

  void flags() {
    for (; more(); ++at_) switch (format_[at_]) {
        case '#': field().sharp = true; break;
        case '0': field().zero = true; break;
        case '+': field().plus = true; break;
        case '-': field().minus = true; break;
        case ' ': field().space = true; break;
        default: return;
      }
  }

  void verb() {
    char32_t c = utf8::decode(format_, at_);
    if (c == utf8::kInvalid) c = 0xFFFD;
    if (c == '%') {
      print_.out += '%';
    } else if (!good_index_) {
      told(c, "(BADINDEX)");
    } else if (arg_ >= args_.size()) {
      told(c, "(MISSING)");
    } else {
      if (c == 'v' || c == 'w') {
        field().sharp_v = std::exchange(field().sharp, false);
        field().plus_v = std::exchange(field().plus, false);
      }
      print_.argument(args_[arg_++], c);
    }
  }

  void told(char32_t verb, std::string_view what) {
    print_.out += "%!";
    utf8::append(print_.out, verb);
    print_.out += what;
  }

  // Digits; a number that is too large takes the rest of the format with it.
  bool number(i64& n) {
    bool any = false;
    n = 0;
    for (; more() && format_[at_] >= '0' && format_[at_] <= '9'; ++at_) {
      if (n > kWidest) {
        n = 0;
        at_ = format_.size();
        return false;
      }
      n = n * 10 + (format_[at_] - '0');
      any = true;
    }
    return any;
  }

  // [n]: which argument comes next. Whether there was one.
  bool index() {
    if (!next_is('[')) return false;
    reordered_ = true;
    std::string_view rest = format_.substr(at_);
    std::size_t close = rest.size() < 3 ? std::string_view::npos : rest.find(']');
    if (close == std::string_view::npos) {
      good_index_ = false;
      ++at_;
      return false;
    }
    std::string_view digits = rest.substr(1, close - 1);
    at_ += close + 1;
    i64 n = 0;
    bool ok = !digits.empty();
    for (char c : digits) {
      if (c < '0' || c > '9' || n > kWidest) {
        ok = false;
        break;
      }
      n = n * 10 + (c - '0');
    }
    if (ok && n >= 1 && static_cast<u64>(n) <= args_.size()) {
      arg_ = static_cast<std::size_t>(n) - 1;
      return true;
    }
    good_index_ = false;
    return ok;
  }

  bool integer_argument(i64& n) {
    n = 0;
    if (arg_ >= args_.size()) return false;
    const GoValue& v = args_[arg_++];
    if (!v.is_integer() || v.integer > kWidest || v.integer < -kWidest) return false;
    n = v.integer;
    return true;
  }

  void width_from_argument() {
    GoField& f = field();
    f.has_width = integer_argument(f.width);
    if (!f.has_width) print_.out += "%!(BADWIDTH)";
    if (f.width < 0) {
      f.width = -f.width;
      f.minus = true;
      f.zero = false;
    }
  }

  void precision_from_argument() {
    GoField& f = field();
    f.has_precision = integer_argument(f.precision);
    if (f.precision < 0) {
      f.precision = 0;
      f.has_precision = false;
    }
    if (!f.has_precision) print_.out += "%!(BADPREC)";
  }

  void extra() {
    field() = {};
    print_.out += "%!(EXTRA ";
    for (std::size_t i = arg_; i < args_.size(); ++i) {
      if (i > arg_) print_.out += ", ";
      if (!args_[i].is_nil()) {
        print_.out += args_[i].type();
        print_.out += '=';
      }
      print_.argument(args_[i], 'v');
    }
    print_.out += ')';
  }

  std::string_view format_;
  std::span<const GoValue> args_;
  std::size_t at_ = 0, arg_ = 0;
  bool reordered_ = false, good_index_ = true;
  GoPrinter print_;
};

}  // namespace

std::string go_sprintf(std::string_view format, std::span<const GoValue> args) { return GoFormat(format, args).run(); }

std::string go_sprint(std::span<const GoValue> args) {
  GoPrinter p;
  bool after_string = false;
  for (std::size_t i = 0; i < args.size(); ++i) {
    bool is_string = args[i].kind == GoValue::kString;
    if (i > 0 && !is_string && !after_string) p.out += ' ';
    p.argument(args[i], 'v');
    after_string = is_string;
  }
  return std::move(p.out);
}

std::string go_sprintln(std::span<const GoValue> args) {
  GoPrinter p;
  for (std::size_t i = 0; i < args.size(); ++i) {
    if (i > 0) p.out += ' ';
    p.argument(args[i], 'v');
  }
  return std::move(p.out) + "\n";
}

std::string go_show(const GoValue& v, char verb) {
  GoPrinter p;
  p.argument(v, static_cast<char32_t>(static_cast<unsigned char>(verb)));
  return std::move(p.out);
}

}  // namespace tutti::cue
