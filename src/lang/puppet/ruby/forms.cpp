#include "lang/puppet/ruby/forms.h"

#include <fmt/format.h>

#include <unordered_map>

#include "lang/puppet/eval/compiler.h"
#include "lang/puppet/types/type_parse.h"

namespace tutti::puppet {
namespace {

bool flag(const Value& written, std::string_view key) {
  const Entry* e = written.find(key);
  return e != nullptr && e->value.is(Kind::kBool) && e->value.as_bool();
}

// A type as a function's file writes it, with the aliases of that file.
class WrittenTypes {
 public:
  WrittenTypes(Compiler& compiler, Pos at, const Entry* aliases)
      : compiler_(compiler), arena_(compiler.session().arena), at_(at), aliases_(aliases) {}
  Arena& arena() { return arena_; }
  const Type* of(std::string_view text) {
    return type_of_text(arena_, text, [this](std::string_view name) { return named(name); });
  }

 private:
  const Type* named(std::string_view name) {
    const Entry* written = aliases_ != nullptr ? aliases_->value.find(name) : nullptr;
    if (written == nullptr) return compiler_.find_type_name(name, at_);
    const Type*& known = known_[std::string(name)];
    if (known != nullptr) return known;
    Type alias;
    alias.kind = TK::kAlias;
    alias.name = arena_.copy(name);
    const Type* made = known = make_type(arena_, alias);  // before its body, which may name it
    made->inner = of(written->value.text());
    return made;
  }
  Compiler& compiler_;
  Arena& arena_;  // the session's: types are kept
  Pos at_;
  const Entry* aliases_;
  std::unordered_map<std::string, const Type*> known_;
};

Signature ruby_signature(const Value& written, WrittenTypes& types) {
  Signature s;
  for (const Value& t : written.find("params")->value.items()) s.types.push_back(types.of(t.text()));
  if (const Entry* names = written.find("names"))
    for (const Value& n : names->value.items()) s.names.emplace_back(n.text());
  s.least = written.find("required")->value.as_i64();
  s.most = flag(written, "repeated") ? kNoMax : static_cast<i64>(s.types.size());
  if (const Entry* block = written.find("block"); block != nullptr && block->value.is(Kind::kString)) {
    s.block = types.of(block->value.text());
    s.block_optional = flag(written, "block_optional");
    s.block_name = types.arena().copy(written.find("block_name")->value.text());
  }
  return s;
}

}  // namespace

RubyForms::RubyForms(Compiler& compiler, const Value& described, Pos at) {
  WrittenTypes types(compiler, at, described.find("aliases"));
  for (const Value& written : described.find("signatures")->value.items())
    forms_.push_back(ruby_signature(written, types));
  for (const Value& written : described.find("returns")->value.items())
    returns_.push_back(written.is(Kind::kString) ? types.of(written.text()) : nullptr);
  usual_ = static_cast<std::size_t>(described.find("usual")->value.as_i64());
}

std::size_t RubyForms::choose(Compiler& compiler, std::string_view function, std::span<const Val> args,
                              const Closure* block, Pos at) const {
  const Type* type = block != nullptr ? compiler.callable_type(*block) : nullptr;
  for (std::size_t n = 0; n < forms_.size(); ++n)
    if (accepts(forms_[n], args, type)) return n;
  compiler.fail(at, describe_call(function, std::span(forms_).first(std::min(usual_, forms_.size())), args, type),
                "PP-ARGUMENTS");
}

void RubyForms::check_returned(Compiler& compiler, std::string_view function, std::size_t number, const Val& v,
                               Pos at) const {
  const Type* promised = number < returns_.size() ? returns_[number] : nullptr;
  if (promised == nullptr || is_instance(promised, v)) return;
  compiler.fail(at,
                fmt::format("value returned from function '{}' has wrong type, {}", function,
                            describe_mismatch("", promised, v)[0]),
                "PP-RUBY");
}

}  // namespace tutti::puppet
