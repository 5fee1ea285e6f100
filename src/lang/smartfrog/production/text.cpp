#include <fmt/format.h>

#include <algorithm>

#include "base/utf8.h"
#include "lang/smartfrog/production/production.h"

// References, functions and values as the production compiler prints them, on one line.
namespace tutti::smartfrog::production {
namespace {

void write_string(std::string& out, std::string_view s) {
  out += '"';
  for (char c : s) {
    switch (c) {
      case '\n': out += "\\n"; break;
      case '\t': out += "\\t"; break;
      case '\b': out += "\\b"; break;
      case '\r': out += "\\r"; break;
      case '\f': out += "\\f"; break;
      case '\\': out += "\\\\"; break;
      case '"': out += "\\\""; break;
      default: out += c;
    }
  }
  out += '"';
}

bool plain_name(std::string_view s) {
  if (s.empty() || !(std::isalpha(static_cast<unsigned char>(s[0])) || s[0] == '_' || s[0] == '$' || (s[0] & 0x80)))
    return false;
  for (unsigned char c : s)
    if (!std::isalnum(c) && std::string_view("._-+@#~$%^&").find(static_cast<char>(c)) == std::string_view::npos &&
        c < 0x80)
      return false;
  return true;
}

}  // namespace

std::string Compiler::text_of(const Reference& r) {
  std::string out;
  for (std::size_t i = 0; i < r.parts.size(); i++) {
    const RefPart& p = r.parts[i];
    if (i > 0) out += ':';
    std::string_view name = p.name.text();
    switch (p.kind) {
      case Part::kAttrib:
        if (i > 0) out += "ATTRIB ";
        out += name;
        break;
      case Part::kHere:
        if (i == 0) out += "HERE ";
        out += name;
        break;
      case Part::kParent: out += "PARENT"; break;
      case Part::kRoot: out += "ROOT"; break;
      case Part::kThis: out += "THIS"; break;
      case Part::kProcess: out += "PROCESS"; break;
      case Part::kHost:
        out += "HOST ";
        if (!name.empty() && name[0] >= '0' && name[0] <= '9')
          write_string(out, name);
        else
          out += name;
        break;
      case Part::kProperty: out += "PROPERTY " + std::string(name); break;
      case Part::kIntProperty: out += "IPROPERTY " + std::string(name); break;
      case Part::kEnvProperty: out += "ENVPROPERTY " + std::string(name); break;
      case Part::kIntEnvProperty: out += "IENVPROPERTY " + std::string(name); break;
      case Part::kConstant: out += "CONSTANT " + std::string(name); break;
    }
  }
  return out;
}

// `marks`: with LAZY or DATA in front.
std::string Compiler::text_of(const Item& item, bool marks) {
  std::string out;
  bool link = item.is(What::kReference) || item.is(What::kApply) || item.is(What::kAssert);
  if (marks && link && item.lazy) out += "LAZY ";
  if (item.is(What::kReference)) {
    if (item.ref->optional) {
      out += "OPTIONAL ";
      if (item.ref->otherwise) {
        out += '(';
        write_item(out, make_item(*item.ref->otherwise, nullptr));
        out += ") ";
      }
    }
    if (marks && item.data) out += "DATA ";
    return out + text_of(*item.ref);
  }
  if (item.is(What::kApply) || item.is(What::kAssert)) {
    if (marks && item.data) out += "DATA ";
    out += item.is(What::kApply) ? "APPLY {" : "ASSERT {";
    write_slots(out, item.description);
    return out + "}";
  }
  write_item(out, item);
  return out;
}

void Compiler::write_slots(std::string& out, const Description* d) {
  Budget::Level level(session_.budget);
  for (const Slot& s : d->slots) {
    session_.budget.step();
    if (!s.tags.empty()) {
      out += "[ ";
      for (Symbol tag : s.tags) out += std::string(tag.text()) + " ";
      out += "] ";
    }
    std::string_view name = s.key.text();
    if (plain_name(name))
      out += name;
    else
      write_string(out, name);
    out += ' ';
    write_item(out, s.item);
    if (!s.item.is(What::kDescription)) out += ';';
    out += ' ';
  }
}

void Compiler::write_item(std::string& out, const Item& item) {
  session_.budget.step();
  switch (item.what) {
    case What::kReference:
    case What::kApply:
    case What::kAssert: out += text_of(item); return;
    case What::kTbd: out += "TBD"; return;
    case What::kVariable: out += "VAR" + item.basic.number_text(); return;
    case What::kTemporary: return;
    case What::kVector: {
      out += "[|";
      bool first = true;
      for (const Item& i : item.vector->items) {
        if (!first) out += ", ";
        first = false;
        write_item(out, i);
      }
      out += "|]";
      return;
    }
    case What::kDescription:
      out += item.description->data ? "extends DATA " : "extends ";
      if (item.description->slots.size == 0) {
        out += "{}";
        return;
      }
      out += "{ ";
      write_slots(out, item.description);
      out += "}";
      return;
    case What::kBasic: break;
  }
  const Value& v = item.basic;
  switch (v.kind()) {
    case Kind::kNull: out += "NULL"; return;
    case Kind::kBool: out += v.as_bool() ? "true" : "false"; return;
    case Kind::kString:
      if (v.tag().empty())
        write_string(out, v.text());
      else
        out += v.text();
      return;
    case Kind::kInt: out += v.number_text() + (v.tag().empty() ? "" : "L"); return;
    case Kind::kDecimal: out += v.number_text() + (v.tag().text() == "DOUBLE" ? "D" : ""); return;
    case Kind::kBytes:
      out += "#HEX#";
      for (unsigned char c : v.text()) out += fmt::format("{:02X}", c);
      out += '#';
      return;
    default: return;
  }
}

// The way to a component from the file, `sfConfig:web`; empty for the file itself.
std::string Compiler::name_of(const Description* d) {
  std::string name;
  for (const Description* p = d->parent; p; d = p, p = p->parent) {
    auto holds = [&](const Slot& s) { return s.item.is(What::kDescription) && s.item.description == d; };
    const Slot* s = std::find_if(p->slots.begin(), p->slots.end(), holds);
    if (s == p->slots.end()) break;
    name = name.empty() ? std::string(s->key.text()) : fmt::format("{}:{}", s->key.text(), name);
  }
  return name;
}

}  // namespace tutti::smartfrog::production
