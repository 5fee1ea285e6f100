#include <fmt/format.h>

#include <algorithm>
#include <ctime>

#include "lang/puppet/text/ruby_format.h"
#include "lang/puppet/types/time.h"
#include "lang/puppet/types/type.h"

namespace tutti::puppet {
namespace {

void append_type(std::string& out, const Type* t, bool names_only, int depth);

void append_list(std::string& out, std::span<const Type* const> types, int depth) {
  for (std::size_t n = 0; n < types.size(); ++n) {
    if (n) out += ", ";
    append_type(out, types[n], true, depth);
  }
}

std::string bound(i64 v) { return v == kNoMin || v == kNoMax ? "default" : std::to_string(v); }

void append_size(std::string& out, const Type* t, bool comma) {
  if (comma) out += ", ";
  out += t->max == kNoMax ? std::to_string(t->min) : fmt::format("{}, {}", t->min, t->max);
}

std::string regex_text(std::string_view pattern) {
  std::string out = "/";
  for (char c : pattern) {
    if (c == '/') out += '\\';
    out += c;
  }
  return out + "/";
}

void append_values(std::string& out, std::span<const Val> values) {
  for (std::size_t n = 0; n < values.size(); ++n) {
    if (n) out += ", ";
    out += values[n].is(VK::kRegex) ? regex_text(values[n].text()) : to_literal(values[n]);
  }
}

void append_object(std::string& out, const Type* t, int depth) {
  out += "Object[{";
  if (!t->name.empty()) out += fmt::format("name => '{}', ", t->name);
  out += "attributes => {";
  for (std::size_t n = 0; n < t->members.size(); ++n) {
    const Member& m = t->members[n];
    if (n) out += ", ";
    out += fmt::format("'{}' => ", m.name);
    if (m.has_value) out += "{type => ";
    append_type(out, m.type, true, depth);
    if (m.has_value) out += ", value => " + to_literal(m.value) + "}";
  }
  out += "}}]";
}

// What an alias stands for is spelled out with all aliases in it, but within itself an alias is a name.
void append_alias(std::string& out, const Type* t, bool names_only, int depth) {
  constexpr std::size_t kLongest = 16384;  // aliases of aliases may stand for any length of text
  thread_local std::vector<const Type*> open;
  out += t->name;
  bool spell_out = (!names_only || !open.empty()) && t->inner != nullptr && out.size() < kLongest &&
                   std::find(open.begin(), open.end(), t) == open.end();
  if (!spell_out) return;
  out += " = ";
  open.push_back(t);
  append_type(out, t->inner, true, depth);
  open.pop_back();
}

void append_type(std::string& out, const Type* t, bool names_only, int depth) {
  if (depth > 60) {
    out += "...";
    return;
  }
  ++depth;
  switch (t->kind) {
    case TK::kAlias: return append_alias(out, t, names_only, depth);
    case TK::kResource:
      if (t->name.empty()) {
        out += "Resource";
        return;
      }
      out += t->name;
      if (t->has_title) out += "['" + std::string(t->title) + "']";
      return;
    case TK::kClass:
      out += "Class";
      if (t->has_title) out += "[" + std::string(t->name) + "]";
      return;
    case TK::kObject:
      if (t->members.empty() && t->name == "Object") {
        out += "Object";
        return;
      }
      return append_object(out, t, depth);
    default: break;
  }
  for (TK k = t->kind;;) {
    out += plain(k)->name;
    break;
  }
  switch (t->kind) {
    case TK::kBoolean:
      if (t->sized) out += t->flag ? "[true]" : "[false]";
      return;
    case TK::kInteger:
      if (t->sized)
        out += t->max == kNoMax ? fmt::format("[{}]", bound(t->min))
                                : fmt::format("[{}, {}]", bound(t->min), bound(t->max));
      return;
    case TK::kTimespan:
    case TK::kTimestamp: {
      if (!t->sized) return;
      auto text = [&](i64 ns) {
        if (ns == kNoMin || ns == kNoMax) return std::string("default");
        return fmt::format("'{}'", t->kind == TK::kTimespan ? timespan_text(ns) : timestamp_text(ns));
      };
      bool one = t->max == kNoMax || t->max == t->min;
      out += one ? fmt::format("[{}]", text(t->min)) : fmt::format("[{}, {}]", text(t->min), text(t->max));
      return;
    }
    case TK::kFloat:
      if (t->sized)
        out += fmt::format("[{}, {}]",
                           t->fmin == -std::numeric_limits<double>::infinity() ? "default" : ruby_float(t->fmin),
                           t->fmax == std::numeric_limits<double>::infinity() ? "default" : ruby_float(t->fmax));
      return;
    case TK::kString:
      if (t->sized && t->values.empty()) out += "[", append_size(out, t, false), out += "]";
      return;
    case TK::kEnum:
    case TK::kPattern:
    case TK::kRegexp:
    case TK::kSemVer:
      if (t->values.empty()) return;
      out += '[';
      append_values(out, t->values);
      if (t->kind == TK::kEnum && t->flag) out += ", true";
      out += ']';
      return;
    case TK::kRuntime:
      if (!t->values.empty()) {
        out += fmt::format("[{}, ", t->values[0].text());  // the runtime stands without quotes
        append_values(out, t->values.subspan(1));
        out += "]";
      }
      return;
    case TK::kCollection:
      if (t->sized) out += "[", append_size(out, t, false), out += "]";
      return;
    case TK::kArray:
    case TK::kHash: {
      bool types = !t->types.empty() && !(t->kind == TK::kArray && t->types[0]->kind == TK::kUnit) &&
                   !(t->kind == TK::kHash && t->types[0]->kind == TK::kUnit);
      if (types && t->kind == TK::kArray && !t->sized && t->types[0]->kind == TK::kAny) types = false;
      if (!types && !t->sized) return;
      out += '[';
      if (types) append_list(out, t->types, depth);
      if (t->sized) append_size(out, t, types);
      out += ']';
      return;
    }
    case TK::kTuple:
      if (t->types.empty() && !t->sized) return;
      out += '[';
      append_list(out, t->types, depth);
      if (t->sized) append_size(out, t, !t->types.empty());
      out += ']';
      return;
    case TK::kStruct:
      if (t->members.empty()) return;
      out += "[{";
      for (std::size_t n = 0; n < t->members.size(); ++n) {
        const Member& m = t->members[n];
        if (n) out += ", ";
        bool lenient = is_instance(m.type, Val::undef());
        std::string key = fmt::format("'{}'", m.name);
        if (m.optional && !lenient) key = "Optional[" + key + "]";
        if (!m.optional && lenient) key = "NotUndef[" + key + "]";
        out += key + " => ";
        append_type(out, m.type, true, depth);
      }
      out += "}]";
      return;
    case TK::kCallable: {
      if (!t->sized) return;
      out += '[';
      if (t->inner) out += '[';
      append_list(out, t->types, depth);
      bool any = !t->types.empty();
      if (t->min != static_cast<i64>(t->types.size()) || t->max != static_cast<i64>(t->types.size()) || !any) {
        if (any) out += ", ";
        append_size(out, t, false);
      }
      if (t->block) {
        out += ", ";
        append_type(out, t->block, true, depth);
      }
      if (t->inner) {
        out += "], ";
        append_type(out, t->inner, true, depth);
      }
      out += ']';
      return;
    }
    case TK::kOptional:
    case TK::kNotUndef:
      if (!t->types.empty() && t->types[0]->kind == TK::kString && !t->types[0]->values.empty()) {
        out += "[" + to_literal(t->types[0]->values[0]) + "]";
        return;
      }
      [[fallthrough]];
    default:
      if (t->types.empty()) return;
      out += '[';
      append_list(out, t->types, depth);
      if (t->kind == TK::kInit && !t->values.empty()) {
        out += ", ";
        append_values(out, t->values);
      }
      out += ']';
  }
}

}  // namespace

std::string type_text(const Type* t) {
  std::string out;
  append_type(out, t, false, 0);
  return out;
}

std::string type_text_short(const Type* t) {
  std::string out;
  append_type(out, t, true, 0);
  return out;
}

std::string object_text(const Val& v) {
  std::string out = std::string(v.o->type ? v.o->type->name : "Deferred") + "({";
  for (std::size_t n = 0; n < v.o->fields.size(); ++n) {
    if (n) out += ", ";
    out += to_literal(v.o->fields[n].key) + " => " + to_literal(v.o->fields[n].value);
  }
  return out + "})";
}

}  // namespace tutti::puppet
