#include "lang/cue/builtin/go_printer.h"

#include <string_view>
#include <utility>

#include "base/utf8.h"
#include "lang/cue/eval/limits.h"

namespace tutti::cue {

void GoPrinter::argument(const GoValue& v, char32_t verb) {
  if (v.is_nil()) {
    if (verb == 'T' || verb == 'v')
      field.padded(out, "<nil>");
    else
      bad_verb(v, verb);
  } else if (verb == 'T') {
    field.text(out, v.type());
  } else if (verb == 'p') {
    pointer(v);
  } else {
    value(v, verb, false);
  }
}

void GoPrinter::value(const GoValue& v, char32_t verb, bool inside) {
  check_text(out.size());
  if (verb == 'w' && v.kind >= GoValue::kList) return bad_verb(v, verb);  // wraps errors only
  switch (v.kind) {
    case GoValue::kNil: out += field.sharp_v ? "interface {}(nil)" : "<nil>"; break;
    case GoValue::kBool: truth(v, verb); break;
    case GoValue::kInt:
    case GoValue::kInt64:
    case GoValue::kUint8: integer(v, verb); break;
    case GoValue::kFloat: real(v, v.real, verb); break;
    case GoValue::kComplex: complex(v, verb); break;
    case GoValue::kString: string(v, verb); break;
    case GoValue::kBytes: bytes(v, verb, inside); break;
    case GoValue::kList: list(v, verb); break;
    case GoValue::kMap: map(v, verb); break;
    case GoValue::kBigInt: big_integer(v, verb); break;
    case GoValue::kBigFloat: big_real(v, verb); break;
  }
}

void GoPrinter::bad_verb(const GoValue& v, char32_t verb) {
  out += "%!";
  utf8::append(out, verb);
  out += '(';
  if (v.is_nil()) {
    out += "<nil>";
  } else {
    out += v.type();
    out += '=';
    value(v, 'v', true);
  }
  out += ')';
}

void GoPrinter::truth(const GoValue& v, char32_t verb) {
  if (verb != 't' && verb != 'v') return bad_verb(v, verb);
  field.padded(out, v.integer ? "true" : "false");
}

void GoPrinter::integer(const GoValue& v, char32_t verb) {
  u64 raw = static_cast<u64>(v.integer);
  GoField::Integer n{v.integer < 0 ? 0 - raw : raw, v.integer < 0};
  switch (verb) {
    case 'v':
      if (field.sharp_v && v.kind == GoValue::kUint8) return byte_in_go(raw);
      [[fallthrough]];
    case 'd': return field.integer(out, n, 10, verb);
    case 'b': return field.integer(out, n, 2, verb);
    case 'o':
    case 'O': return field.integer(out, n, 8, verb);
    case 'x':
    case 'X': return field.integer(out, n, 16, verb);
    case 'c': return field.character(out, raw, false);
    case 'q': return field.character(out, raw, true);
    case 'U': return field.unicode(out, raw);
    default: bad_verb(v, verb);
  }
}

void GoPrinter::byte_in_go(u64 b) {
  GoField f = field;
  f.sharp = true;
  f.integer(out, {b, false}, 16, 'x');
}

void GoPrinter::real(const GoValue& v, double d, char32_t verb) {
  switch (verb) {
    case 'v': return field.floating(out, d, 'g', -1);
    case 'b':
    case 'g':
    case 'G':
    case 'x':
    case 'X': return field.floating(out, d, static_cast<char>(verb), -1);
    case 'f':
    case 'e':
    case 'E': return field.floating(out, d, static_cast<char>(verb), 6);
    case 'F': return field.floating(out, d, 'f', 6);
    default: bad_verb(v, verb);
  }
}

void GoPrinter::complex(const GoValue& v, char32_t verb) {
  if (verb > 0x7F || std::string_view("vbgGxXfFeE").find(static_cast<char>(verb)) == std::string_view::npos)
    return bad_verb(v, verb);
  out += '(';
  real(v, v.real, verb);
  bool plus = std::exchange(field.plus, true);
  real(v, v.imaginary, verb);
  field.plus = plus;
  out += "i)";
}

void GoPrinter::string(const GoValue& v, char32_t verb) {
  switch (verb) {
    case 'v': return field.sharp_v ? field.quoted(out, v.text()) : field.text(out, v.text());
    case 's': return field.text(out, v.text());
    case 'x':
    case 'X': return field.hexadecimal(out, v.text(), verb == 'X');
    case 'q': return field.quoted(out, v.text());
    default: bad_verb(v, verb);
  }
}

void GoPrinter::bytes(const GoValue& v, char32_t verb, bool inside) {
  switch (verb) {
    case 's': return field.text(out, v.text());
    case 'x':
    case 'X': return field.hexadecimal(out, v.text(), verb == 'X');
    case 'q': return field.quoted(out, v.text());
    default: break;
  }
  bool source = field.sharp_v;
  if (source) out += inside ? "[]uint8" : "[]byte";
  out += source ? '{' : '[';
  bool first = true;
  for (char c : v.text()) {
    if (!std::exchange(first, false)) out += source ? ", " : " ";
    integer(GoValue::number(static_cast<unsigned char>(c), GoValue::kUint8), verb);
  }
  out += source ? '}' : ']';
}

void GoPrinter::list(const GoValue& v, char32_t verb) {
  if (field.sharp_v) out += v.type();
  out += field.sharp_v ? '{' : '[';
  for (std::size_t i = 0; i < v.size; ++i) {
    if (i > 0) out += field.sharp_v ? ", " : " ";
    value(v.item(i), verb, true);
  }
  out += field.sharp_v ? '}' : ']';
}

void GoPrinter::map(const GoValue& v, char32_t verb) {
  out += field.sharp_v ? std::string(v.type()) + "{" : "map[";
  bool first = true;
  for (const auto& [name, member] : *v.fields) {
    if (!std::exchange(first, false)) out += field.sharp_v ? ", " : " ";
    string(GoValue::string(name), verb);
    out += ':';
    value(member, verb, true);
  }
  out += field.sharp_v ? '}' : ']';
}

void GoPrinter::big_integer(const GoValue& v, char32_t verb) {
  int base = verb == 'b' ? 2 : verb == 'o' || verb == 'O' ? 8 : verb == 'x' || verb == 'X' ? 16 : 10;
  bool decimal = verb == 'd' || verb == 's' || verb == 'v';
  if (base == 10 && !decimal) {
    out += "%!";
    utf8::append(out, verb);
    out += "(big.Int=" + v.big->integer_text(10) + ")";
    return;
  }
  field.large(out, v.big->abs().integer_text(base, verb == 'X'), v.big->negative(), verb);
}

void GoPrinter::big_real(const GoValue& v, char32_t) {
  std::string s = v.big->reduced().text('e');
  if (field.plus && s[0] != '-') s.insert(0, 1, '+');
  field.padded_with_spaces(out, s);
}

// There are no addresses here: all are the same.
void GoPrinter::pointer(const GoValue& v) {
  if (v.kind != GoValue::kBytes && v.kind != GoValue::kList && v.kind != GoValue::kMap && !v.big)
    return bad_verb(v, 'p');
  GoField f = field;
  f.sharp = !field.sharp;
  f.integer(out, {0xc000000000, false}, 16, 'v');
}

}  // namespace tutti::cue
