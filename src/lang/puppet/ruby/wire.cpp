#include <fmt/format.h>

#include <charconv>

#include "base/base64.h"
#include "lang/puppet/eval/compiler.h"
#include "lang/puppet/hiera/context.h"
#include "lang/puppet/hiera/hiera.h"
#include "lang/puppet/ruby/bridge.h"
#include "lang/puppet/text/ruby_format.h"
#include "lang/puppet/types/type_parse.h"

namespace tutti::puppet {
namespace {

void put_text(std::string& out, std::string_view s) {
  out += '"';
  for (char ch : s) {
    if (ch == '"' || ch == '\\') {
      out += '\\';
      out += ch;
    } else if (static_cast<u8>(ch) < 0x20) {
      out += fmt::format("\\u{:04x}", static_cast<u8>(ch));
    } else {
      out += ch;
    }
  }
  out += '"';
}

void put_named(std::string& out, std::string_view what, std::string_view text) {
  out += fmt::format("{{\"$\":\"{}\",\"text\":", what);
  put_text(out, text);
  out += '}';
}

void put(std::string& out, const Val& v) {
  switch (v.kind) {
    case VK::kUndef: out += "null"; break;
    case VK::kDefault: out += "{\"$\":\"default\"}"; break;
    case VK::kBool: out += v.b ? "true" : "false"; break;
    case VK::kInt: out += fmt::format("{}", v.i); break;
    case VK::kFloat: out += ruby_float(v.d); break;
    case VK::kString: put_text(out, v.text()); break;
    case VK::kRegex: put_named(out, "regexp", v.text()); break;
    case VK::kBinary: put_named(out, "binary", base64_encode(v.text())); break;
    case VK::kType: put_named(out, "type", type_text_short(v.t)); break;
    case VK::kSensitive:
      out += "{\"$\":\"sensitive\",\"value\":";
      put(out, *v.box);
      out += '}';
      break;
    case VK::kArray:
      out += '[';
      for (std::size_t i = 0; i < v.items().size(); i++) {
        if (i > 0) out += ',';
        put(out, v.items()[i]);
      }
      out += ']';
      break;
    case VK::kHash: {
      bool plain = true;
      for (const Pair& p : v.entries()) plain = plain && p.key.is(VK::kString) && p.key.text() != "$";
      out += plain ? "{" : "{\"$\":\"hash\",\"pairs\":[";
      bool first = true;
      for (const Pair& p : v.entries()) {
        if (!first) out += ',';
        first = false;
        if (!plain) out += '[';
        put(out, p.key);
        out += plain ? ':' : ',';
        put(out, p.value);
        if (!plain) out += ']';
      }
      out += plain ? "}" : "]}";
      break;
    }
    case VK::kObject:
      if (v.o->type == LookupContext::type()) {
        const auto* context = static_cast<const LookupContext*>(v.o->methods);
        out +=
            fmt::format("{{\"$\":\"context\",\"number\":{},\"memory\":{}", context->number(), context->memory_number());
        for (const Pair& p : v.o->fields) {
          out += ',';
          put(out, p.key);
          out += ':';
          put(out, p.value);
        }
        out += '}';
        break;
      }
      if (v.o->type == nullptr) {
        out += "{\"$\":\"deferred\",\"fields\":{";
        for (const Pair& p : v.o->fields) {
          if (&p != v.o->fields.data()) out += ',';
          put(out, p.key);
          out += ':';
          put(out, p.value);
        }
        out += "}}";
        break;
      }
      [[fallthrough]];
    default: put_text(out, to_text(v));
  }
}

}  // namespace

std::string to_wire(const Val& v) {
  std::string out;
  put(out, v);
  return out;
}

namespace {

// What Ruby says is data, whatever it has become there: a part that is missing, or is something else, is nothing.
const Value& part(const Value& v, std::string_view key) {
  static const Value none = Value::null();
  const Entry* e = v.find(key);
  return e ? e->value : none;
}
std::string_view words(const Value& v) { return v.is(Kind::kString) ? v.text() : std::string_view(); }

}  // namespace

Val from_wire(const Value& v, Arena& arena, Compiler* compiler) {
  switch (v.kind()) {
    case Kind::kBool: return Val::boolean(v.as_bool());
    case Kind::kInt:
      if (v.fits_i64()) return Val::integer(v.as_i64());
      [[fallthrough]];
    case Kind::kDecimal: {
      std::string text = v.number_text();
      double d = 0;
      std::from_chars(text.data(), text.data() + text.size(), d);
      return Val::real(d);
    }
    case Kind::kString: return make_string(arena, v.text());
    case Kind::kList: {
      std::vector<Val> items;
      for (const Value& item : v.items()) items.push_back(from_wire(item, arena, compiler));
      return make_array(arena, items);
    }
    case Kind::kMap: {
      const Entry* special = v.find("$");
      if (special == nullptr) {
        HashDraft draft;
        for (const Entry& e : v.entries()) draft.set(Val::string(e.key.text()), from_wire(e.value, arena, compiler));
        return draft.build(arena);
      }
      std::string_view what = words(special->value), text = words(part(v, "text"));
      if (what == "default") return Val::default_();
      if (what == "sensitive")
        return make_sensitive(arena, from_wire(part(v, "value"), arena, compiler), *compiler->session().sources);
      if (what == "regexp") return Val::with_text(VK::kRegex, arena.copy(text));
      if (what == "context") {
        const Value& number = part(v, "number");
        return compiler->hiera().context(number.fits_i64() ? number.as_i64() : -1);
      }
      if (what == "symbol") return make_string(arena, text);
      if (what == "deferred") {
        Val fields = from_wire(part(v, "fields"), arena, compiler);
        std::vector<Val> args;
        for (const char* name : {"name", "arguments"})
          if (const Val* given = fields.is(VK::kHash) ? fields.get(name) : nullptr) args.push_back(*given);
        return compiler->construct(plain(TK::kDeferred), args, {});
      }
      if (what == "binary") {
        std::string bytes;
        bytes = base64_decode(text).value_or("");
        return Val::with_text(VK::kBinary, arena.copy(bytes));
      }
      if (what == "hash") {
        HashDraft draft;
        const Value& pairs = part(v, "pairs");
        for (std::size_t i = 0; pairs.is(Kind::kList) && i < pairs.size(); i++) {
          const Value& pair = pairs.items()[i];
          if (!pair.is(Kind::kList) || pair.size() != 2) continue;
          draft.set(from_wire(pair.items()[0], arena, compiler), from_wire(pair.items()[1], arena, compiler));
        }
        return draft.build(arena);
      }
      if (what == "type") {
        std::string_view name = text;
        try {
          return Val::type(type_of_text(arena, arena.copy(name), [&](std::string_view n) {
            return compiler != nullptr ? compiler->find_type_name(n, {}) : nullptr;
          }));
        } catch (const TypeError&) {
        }
        return make_string(arena, name);
      }
      return {};
    }
    default: return {};
  }
}

}  // namespace tutti::puppet
