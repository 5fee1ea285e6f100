// Numbers as they are written.
#include <optional>

#include "lang/cue/format/literal.h"

namespace tutti::cue {

namespace {

struct Base {
  char letter;
  int base;
  const char* illegal;
};
constexpr Base kBases[] = {{'x', 16, "illegal hexadecimal number"},
                           {'X', 16, "illegal hexadecimal number"},
                           {'o', 8, "illegal octal number"},
                           {'b', 2, "illegal binary number"}};

constexpr std::string_view kUnits = "KMGTP";  // the n-th power of 1000, or with an i of 1024

class NumberReader {
 public:
  explicit NumberReader(std::string_view text) : text_(text), rest_(text) {}

  Number read() {
    if (rest_.starts_with('-')) number_ = "-";
    if (rest_.starts_with('-') || rest_.starts_with('+')) rest_.remove_prefix(1);
    if (rest_.empty()) return wrong("invalid number");
    if (rest_[0] == '0' && rest_.size() > 1)
      for (const Base& b : kBases)
        if (rest_[1] == b.letter) return based(b);
    return decimal_number();
  }

 private:
  Number wrong(const char* what) const {
    Number n;
    n.error = std::string(what) + " " + quote(text_);
    return n;
  }
  static Number misplaced() {
    Number n;
    n.error = "illegal '_' in number";
    return n;
  }

  // Digits with `_` between two of them; one in another place is noted.
  std::string digits(int base) {
    std::string out;
    bool after_digit = false;
    while (!rest_.empty()) {
      int d = digit_value(rest_[0]);
      bool digit = d >= 0 && d < base;
      if (!digit && rest_[0] != '_') break;
      if (digit)
        out += rest_[0];
      else if (!after_digit)
        misplaced_ = true;
      after_digit = digit;
      rest_.remove_prefix(1);
    }
    if (!after_digit) misplaced_ = true;
    return out;
  }

  bool next_is(std::string_view set) const { return !rest_.empty() && set.find(rest_[0]) != std::string_view::npos; }
  static constexpr std::string_view kDigits = "0123456789";

  Number based(const Base& b) {
    rest_.remove_prefix(2);
    std::string value = digits(b.base);
    if (value.empty()) return wrong(b.illegal);
    if (misplaced_) return misplaced();
    if (!rest_.empty()) return wrong("illegal number");
    Number n;
    n.value = *Decimal::parse_integer(number_ + value, b.base);
    return n;
  }

  Number decimal_number() {
    Number n;
    std::string whole;
    if (rest_[0] != '.') {
      whole = digits(10);
      if (whole.empty()) return wrong("illegal number start");
    }
    number_ += whole;
    if (rest_.starts_with('.')) {
      rest_.remove_prefix(1);
      bool fraction = next_is(kDigits);
      if (!fraction && whole.empty()) return wrong("illegal fraction");
      number_ += "." + (fraction ? digits(10) : std::string());
      n.integer = false;
    } else if (whole.size() > 1 && whole[0] == '0' && !next_is("eE")) {
      return wrong("illegal integer number");
    }
    if (misplaced_) return misplaced();
    if (next_is(kUnits)) return with_unit();
    if (next_is("eE")) {
      rest_.remove_prefix(1);
      number_ += 'e';
      if (next_is("+-")) {
        number_ += rest_[0];
        rest_.remove_prefix(1);
      }
      std::string exponent = digits(10);
      if (exponent.empty()) return wrong("illegal exponent");
      if (misplaced_) return misplaced();
      number_ += exponent;
      n.integer = false;
    }
    if (!rest_.empty()) return wrong("illegal number");
    std::optional<Decimal> value = Decimal::parse(number_);
    if (!value) return wrong("invalid number");
    n.value = *value;
    return n;
  }

  Number with_unit() {
    std::size_t power = kUnits.find(rest_[0]) + 1;
    rest_.remove_prefix(1);
    Decimal thousand(rest_.starts_with('i') ? 1024 : 1000);
    if (rest_.starts_with('i')) rest_.remove_prefix(1);
    if (!rest_.empty()) return wrong("illegal trailing characters in number");
    Decimal factor(1);
    while (power-- > 0) factor = decimal::int_mul(factor, thousand);
    Decimal product = decimal::mul(*Decimal::parse(number_), factor).value;
    Number n;
    if (product.is_integer())
      n.value = product.with_exponent_zero();
    else
      n.error = "number cannot be represented as int";
    return n;
  }

  std::string_view text_, rest_;
  std::string number_;  // as a plain decimal
  bool misplaced_ = false;
};

// Most are a few digits, perhaps with a point between them.
std::optional<Number> short_number(std::string_view text) {
  constexpr std::size_t kMost = 19;  // fit in 64 bits
  if (text.empty() || text.size() > kMost || (text[0] == '0' && text.size() > 1 && text[1] != '.')) return std::nullopt;
  u64 digits = 0;
  std::size_t point = text.size();
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] >= '0' && text[i] <= '9')
      digits = digits * 10 + static_cast<u64>(text[i] - '0');
    else if (text[i] == '.' && point == text.size() && i > 0 && i + 1 < text.size())
      point = i;
    else
      return std::nullopt;
  }
  bool integer = point == text.size();
  Number n;
  n.integer = integer;
  n.value = Decimal::from_u64(digits, integer ? 0 : -static_cast<i32>(text.size() - point - 1));
  return n;
}

}  // namespace

Number parse_number(std::string_view text) {
  if (std::optional<Number> n = short_number(text)) return *n;
  return NumberReader(text).read();
}

}  // namespace tutti::cue
