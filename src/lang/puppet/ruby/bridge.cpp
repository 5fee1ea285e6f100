#include "lang/puppet/ruby/bridge.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <memory>
#include <unordered_map>

#include "base/boundary.h"
#include "base/file.h"
#include "format/json.h"
#include "lang/puppet/erb/render.h"
#include "lang/puppet/eval/compiler.h"
#include "lang/puppet/hiera/context.h"
#include "lang/puppet/hiera/hiera.h"
#include "lang/puppet/ruby/process.h"
#include "lang/puppet/types/signature.h"
#include "lang/puppet/types/type_parse.h"

namespace tutti::puppet {
namespace {

RubyProcess& process() {
  thread_local RubyProcess one;
  return one;
}

void tell_lacking(Diagnostics& diagnostics, const std::string& lacking) {
  if (!lacking.empty())
    diagnostics.add(Severity::kNote, "SANDBOX", {},
                    fmt::format("Ruby runs less confined than it should: there is no {} here", lacking));
}

std::string quoted(std::string_view s) { return to_wire(Val::string(s)); }

void check_nesting(int depth, Pos at) {
  constexpr int kMostNested = 100;
  if (depth > kMostNested)
    throw LimitError("LIMIT-DEPTH",
                     fmt::format("templates and functions in Ruby call one another more than {} deep", kMostNested),
                     at.at);
}

// One request and whatever Ruby asks before it answers.
class Conversation {
 public:
  Conversation(Compiler& compiler, Scope& scope, const Closure* block, Pos at)
      : compiler_(compiler), scope_(scope), block_(block), at_(at) {}

  Val ask(const std::string& request, std::string_view what) {
    const Nesting nesting;
    try {
      check_nesting(nesting.depth(), at_);
      return converse(request, what);
    } catch (const LimitError&) {
      process().stop();  // it is in the middle of something that nobody waits for any more
      throw;
    }
  }

 private:
  // How many requests of this thread are open: a template may ask for another one.
  class Nesting {
   public:
    Nesting() { ++open_; }
    ~Nesting() { --open_; }
    Nesting(const Nesting&) = delete;
    Nesting& operator=(const Nesting&) = delete;
    int depth() const { return open_; }

   private:
    inline static thread_local int open_ = 0;
  };

  Val converse(const std::string& request, std::string_view what) {
    send(request);
    for (;;) {
      Result<std::string> line = process().receive([&] { compiler_.budget().step(4096); });
      if (!line) fail(line.error().message);
      Session local;
      Result<const Source*> source = local.sources->add("ruby", std::move(*line));
      std::optional<Value> message = source ? read_json(local, **source) : std::nullopt;
      if (!message) fail("ruby gave an answer that cannot be read");
      if (message->find("absent") != nullptr) throw BackendHasNoSuchKey{};
      if (const Entry* result = message->find("result")) {
        Val v = from_wire(result->value, compiler_.arena(), &compiler_);
        check_returned(*message, v, what.substr(0, what.find("()")));
        return v;
      }
      if (const Entry* error = message->find("error")) {
        std::string place;
        const Entry* file = message->find("file");
        const Entry* number = message->find("line");
        if (file != nullptr && file->value.is(Kind::kString)) {
          place =
              fmt::format(" (file: {}, line: {})", file->value.text(), number != nullptr ? number->value.as_i64() : 0);
        } else if (number != nullptr && number->value.is(Kind::kInt)) {
          place = fmt::format(" (line {} of the template)", number->value.as_i64());
        }
        if (const Entry* refused = message->find("refused");
            refused != nullptr && refused->value.is(Kind::kBool) && refused->value.as_bool())
          compiler_.fail(at_, std::string(error->value.text()), "PP-ARGUMENTS");
        fail(fmt::format("{}: {}{}", what, error->value.text(), place));
      }
      answer(*message);
    }
  }

  [[noreturn]] void fail(const std::string& text) { compiler_.fail(at_, text, "PP-RUBY"); }

  void send(const std::string& line) {
    if (Result<void> sent = process().send(line); !sent) fail(sent.error().message);
    tell_lacking(compiler_.diagnostics(), process().take_lacking());
  }

  void answer(const Value& question) {
    std::string reply;
    try {
      reply = fmt::format("{{\"value\":{}}}", value_of(question));
    } catch (const EvalError& e) {
      const Entry* asked = question.find("ask");
      bool refused = e.code == "PP-ARGUMENTS" && asked != nullptr && asked->value.text() == "dispatch";
      reply = fmt::format("{{\"error\":{},\"refused\":{}}}", quoted(e.what()), refused);
    } catch (const TypeError& e) {
      reply = fmt::format("{{\"error\":{}}}", quoted(e.what()));
    }
    send(reply);
  }

  std::vector<Val> args_of(const Value& question) {
    std::vector<Val> args;
    if (const Entry* given = question.find("args")) {
      for (const Value& v : given->value.items()) args.push_back(from_wire(v, compiler_.arena(), &compiler_));
    }
    return args;
  }

  std::string value_of(const Value& question) {
    auto text = [&](std::string_view key) {
      const Entry* e = question.find(key);
      return e != nullptr ? e->value.text() : std::string_view{};
    };
    std::string_view what = text("ask");
    if (what == "var") {
      const Val* v = compiler_.find_variable(scope_, text("name"));
      return v != nullptr ? to_wire(*v) : "null";
    }
    if (what == "vars") {
      HashDraft found;
      for (const Value& name : question.find("names")->value.items()) {
        const Val* v = compiler_.find_variable(scope_, name.text());
        if (v != nullptr && !v->undefined()) found.set(make_string(compiler_.arena(), name.text()), *v);
      }
      return to_wire(found.build(compiler_.arena()));
    }
    if (what == "all") {
      HashDraft all;
      std::vector<const Scope*> chain;
      for (const Scope* s = &scope_; s != nullptr; s = s->parent) chain.push_back(s);
      for (auto it = chain.rbegin(); it != chain.rend(); ++it) {
        for (const Vars::Entry& e : (*it)->vars.all()) all.set(Val::string(e.name.text()), e.value);
      }
      return to_wire(all.build(compiler_.arena()));
    }
    if (what == "call")
      return to_wire(compiler_.call_function(Symbol(text("name")), args_of(question), nullptr, scope_, at_));
    if (what == "yield") {
      if (block_ == nullptr) compiler_.fail(at_, "no block was given", "PP-RUBY");
      return to_wire(compiler_.call_closure(*block_, args_of(question), at_));
    }
    if (what == "dispatch") return dispatch(question);
    if (what == "instance")
      return is_instance(Types(compiler_, at_, nullptr).of(text("type")), args_of(question)[0]) ? "true" : "false";
    if (what == "method") {
      Val context = compiler_.hiera().context(question.find("number")->value.as_i64());
      if (!context.is(VK::kObject)) compiler_.fail(at_, "there is no such context", "PP-RUBY");
      std::vector<Val> args = args_of(question);
      if (text("name") != "explain")
        return to_wire(context.o->methods->call(text("name"), args, nullptr).value_or(Val::undef()));
      static_cast<const LookupContext*>(context.o->methods)->tell(to_text(args[0]));
      return "null";
    }
    if (what == "defaults") {
      HashDraft found;
      if (const auto* params = compiler_.defaults_of(scope_, compiler_.resource_type_name(text("type")))) {
        for (const DefaultParam& p : *params) found.set(Val::string(p.name.text()), p.value);
      }
      return to_wire(found.build(compiler_.arena()));
    }
    if (what == "resource") {
      std::string_view ref = text("ref");
      std::size_t open = ref.find('[');
      if (open == std::string_view::npos || !ref.ends_with(']')) return "null";
      Arena& arena = compiler_.arena();
      Resource* r = compiler_.find_resource(resource_type(arena, arena.copy(ref.substr(0, open)),
                                                          arena.copy(ref.substr(open + 1, ref.size() - open - 2))));
      if (r == nullptr) return "null";
      HashDraft params;
      for (const ResourceParam& p : r->params) params.set(Val::string(p.name.text()), p.value);
      return to_wire(params.build(arena));
    }
    if (what == "context") return context();
    if (what == "set") {
      std::string_view name = text("name");
      if (!compiler_.set_variable(scope_, Symbol(name),
                                  from_wire(question.find("value")->value, compiler_.arena(), &compiler_)))
        compiler_.fail(at_, fmt::format("Cannot reassign variable '${}'", name), "PP-RUBY");
      return "null";
    }
    if (what == "changed") {
      for (const Entry& e : question.find("values")->value.entries()) {
        change_variable(compiler_, scope_, e.key, from_wire(e.value, compiler_.arena(), &compiler_));
      }
      return "null";
    }
    if (what == "log") {
      std::string level(text("level"));
      if (level != "debug" && level != "info") compiler_.log(level, std::string(text("text")), scope_, at_);
      return "null";
    }
    return "null";
  }

  std::string context() {
    HashDraft c;
    std::vector<Val> classes, tags, tags_of_catalog, path;
    for (Symbol s : compiler_.catalog().classes) classes.push_back(Val::string(s.text()));
    if (scope_.resource != nullptr) {
      for (Symbol s : scope_.resource->tags) tags.push_back(Val::string(s.text()));
      c.set("resource", make_string(compiler_.arena(), scope_.resource->ref()));
    }
    for (const std::string& p : compiler_.settings().modulepath) path.push_back(Val::string(p));
    tags_of_catalog.push_back(Val::string("settings"));
    for (Symbol s : compiler_.catalog().tags) tags_of_catalog.push_back(Val::string(s.text()));
    c.set("catalog_tags", make_array(compiler_.arena(), tags_of_catalog));
    c.set("classes", make_array(compiler_.arena(), classes));
    c.set("tags", make_array(compiler_.arena(), tags));
    c.set("modulepath", make_array(compiler_.arena(), path));
    c.set("environment", Val::string(compiler_.settings().environment_name));
    c.set("module", Val::string(scope_.module.text()));
    c.set("class", Val::string(scope_.name.text()));
    const NodeInfo& node = compiler_.node();
    c.set("node", Val::string(node.name));
    c.set("node_parameters", make_hash(compiler_.arena(), node.parameters));
    c.set("node_classes", make_hash(compiler_.arena(), node.classes));
    return to_wire(c.build(compiler_.arena()));
  }

  // A type as a function's file writes it, with the aliases of that file.
  class Types {
   public:
    Types(Compiler& compiler, Pos at, const Entry* aliases) : compiler_(compiler), at_(at), aliases_(aliases) {}
    const Type* of(std::string_view text) {
      return type_of_text(compiler_.arena(), text, [this](std::string_view name) { return named(name); });
    }

   private:
    const Type* named(std::string_view name) {
      const Entry* written = aliases_ != nullptr ? aliases_->value.find(name) : nullptr;
      if (written == nullptr) return compiler_.find_type_name(name, at_);
      const Type*& known = known_[std::string(name)];
      if (known != nullptr) return known;
      Type alias;
      alias.kind = TK::kAlias;
      alias.name = compiler_.arena().copy(name);
      const Type* made = known = make_type(compiler_.arena(), alias);  // before its body, which may name it
      made->inner = of(written->value.text());
      return made;
    }
    Compiler& compiler_;
    Pos at_;
    const Entry* aliases_;
    std::unordered_map<std::string, const Type*> known_;
  };

  // The number of the first signature that takes the arguments. Those after the `usual` ones are not told of.
  std::string dispatch(const Value& question) {
    std::vector<Val> args = args_of(question);
    Types types(compiler_, at_, question.find("aliases"));
    const Type* block = block_ != nullptr ? compiler_.callable_type(*block_) : nullptr;
    std::vector<Signature> signatures;
    for (const Value& written : question.find("signatures")->value.items()) {
      signatures.push_back(signature(written, types));
      if (accepts(signatures.back(), args, block)) return fmt::format("{}", signatures.size() - 1);
    }
    if (const Entry* usual = question.find("usual"))
      signatures.resize(std::min(signatures.size(), static_cast<std::size_t>(usual->value.as_i64())));
    compiler_.fail(at_, describe_call(question.find("name")->value.text(), signatures, args, block), "PP-ARGUMENTS");
  }

  static Signature signature(const Value& written, Types& types) {
    auto truth = [&](const char* key) {
      const Entry* e = written.find(key);
      return e != nullptr && e->value.is(Kind::kBool) && e->value.as_bool();
    };
    Signature s;
    for (const Value& t : written.find("params")->value.items()) s.types.push_back(types.of(t.text()));
    if (const Entry* names = written.find("names"))
      for (const Value& n : names->value.items()) s.names.emplace_back(n.text());
    s.least = written.find("required")->value.as_i64();
    s.most = truth("repeated") ? kNoMax : static_cast<i64>(s.types.size());
    if (const Entry* block = written.find("block"); block != nullptr && block->value.is(Kind::kString)) {
      s.block = types.of(block->value.text());
      s.block_optional = truth("block_optional");
      s.block_name = written.find("block_name")->value.text();
    }
    return s;
  }

  // What a function gave back is to be what its dispatch promised.
  void check_returned(const Value& message, const Val& v, std::string_view function) {
    const Entry* written = message.find("returns");
    if (written == nullptr || !written->value.is(Kind::kString)) return;
    const Type* promised = Types(compiler_, at_, message.find("aliases")).of(written->value.text());
    if (is_instance(promised, v)) return;
    fail(fmt::format("value returned from function '{}' has wrong type, {}", function,
                     describe_mismatch("", promised, v)[0]));
  }

  Compiler& compiler_;
  Scope& scope_;
  const Closure* block_;
  Pos at_;
};

void need_ruby(Compiler& compiler, std::string_view what, Pos at) {
  compiler.need_trust(at, fmt::format("{} needs Ruby", what));
  if (RubyProcess::available()) return;
  throw [&] {
    EvalError e("PP-NO-RUBY", at, fmt::format("{} needs Ruby, which is not installed", what));
    e.help = "install the package `ruby`";
    return e;
  }();
}

}  // namespace

namespace {

// Here if that can be done, by Ruby if not. A template within one that is rendered here and needs Ruby takes the outer
// one with it: nothing of it has been done yet that would then be done twice.
template <typename Ruby>
std::string render_erb(Compiler& compiler, Scope& scope, std::string_view text, Pos at, Ruby&& by_ruby) {
  thread_local int rendering = 0;
  struct Rendering {
    Rendering() { ++rendering; }
    ~Rendering() { --rendering; }
    Rendering(const Rendering&) = delete;
    Rendering& operator=(const Rendering&) = delete;
  };
  try {
    const Rendering here;
    check_nesting(rendering, at);
    compiler.gather_facts_named_in(text);
    return erb::render(compiler, scope, text, at);
  } catch (const erb::Unsupported& u) {
    if (rendering != 0) throw;
    return by_ruby(u.what);
  }
}

}  // namespace

void change_variable(Compiler& compiler, Scope& scope, Symbol name, const Val& value) {
  const Val* there = compiler.find_variable(scope, name.text());
  if (there == nullptr) return;
  if (scope.resource != nullptr) {
    ResourceParam* p = scope.resource->find(name);
    if (p != nullptr && p->value.kind == there->kind && p->value.list == there->list)
      p->value = value.with_origin(p->value.origin);
  }
  *const_cast<Val*>(there) = value.with_origin(there->origin);  // NOLINT: the one way in which a variable changes
}

std::string render_erb_file(Compiler& compiler, Scope& scope, const std::string& path, Pos at) {
  Result<std::string> text = read_file(path, compiler.budget().limits().input_bytes);
  if (!text && text.error().code == kOutside) compiler.fail_read(at, text.error());
  return render_erb(compiler, scope, text ? std::string_view(*text) : "<%", at, [&](const std::string& why) {
    need_ruby(compiler, fmt::format("the template {} ({})", path, why), at);
    return to_text(Conversation(compiler, scope, nullptr, at)
                       .ask(fmt::format("{{\"op\":\"template\",\"file\":{}{}}}", quoted(path),
                                        text ? ",\"text\":" + quoted(*text) : ""),
                            "Failed to parse template " + path));
  });
}

std::string render_erb_text(Compiler& compiler, Scope& scope, std::string_view text, Pos at) {
  return render_erb(compiler, scope, text, at, [&](const std::string& why) {
    need_ruby(compiler, fmt::format("inline_template ({})", why), at);
    return to_text(
        Conversation(compiler, scope, nullptr, at)
            .ask(fmt::format("{{\"op\":\"inline\",\"text\":{}}}", quoted(text)), "Failed to parse inline template"));
  });
}

namespace {

// The folders in which Ruby code of modules finds its own libraries.
std::string libraries(Compiler& compiler) {
  std::string out;
  for (const Module* m : compiler.environment().modules()) out += (out.empty() ? "" : ",") + quoted(m->path + "/lib");
  return out;
}

}  // namespace

Val call_ruby_function(Compiler& compiler, Scope& scope, const RubyFunction& f, std::string_view name,
                       std::span<const Val> args, const Closure* block, Pos at) {
  need_ruby(compiler, fmt::format("the function `{}` of the module `{}`", name, f.module->name.text()), at);
  std::string request =
      fmt::format("{{\"op\":\"call\",\"name\":{},\"file\":{},\"api\":\"{}\",\"libs\":[{}],\"block\":{},\"args\":{}}}",
                  quoted(name), quoted(f.file), f.old ? "3x" : "4x", libraries(compiler), block != nullptr,
                  to_wire(make_array(compiler.arena(), args)));
  return Conversation(compiler, scope, block, at).ask(request, fmt::format("{}()", name));
}

std::optional<NativeType> describe_ruby_type(Compiler& compiler, const std::string& file) {
  std::string request = fmt::format("{{\"op\":\"type\",\"file\":{},\"libs\":[{}]}}", quoted(file), libraries(compiler));
  if (!may_run_code() || !RubyProcess::available() || !process().send(request)) return std::nullopt;
  Result<std::string> line = process().receive();
  if (!line) return std::nullopt;
  Session local;
  Result<const Source*> source = local.sources->add("ruby", std::move(*line));
  std::optional<Value> message = source ? read_json(local, **source) : std::nullopt;
  const Entry* result = message ? message->find("result") : nullptr;
  if (result == nullptr) return std::nullopt;
  NativeType out;
  auto names = [](const Value& list) {
    std::vector<Symbol> all;
    for (const Value& v : list.items()) all.emplace_back(v.text());
    return all;
  };
  for (auto [key, into] : {std::pair{"attributes", &out.attributes}, std::pair{"namevars", &out.namevars}})
    if (const Entry* list = result->value.find(key)) *into = names(list->value);
  if (const Entry* list = result->value.find("patterns"))
    for (const Value& p : list->value.items())
      out.patterns.push_back({Symbol(p.items()[0].text()).text(), names(p.items()[1])});
  auto truth = [&](const char* key) {
    const Entry* e = result->value.find(key);
    return e != nullptr && e->value.is(Kind::kBool) && e->value.as_bool();
  };
  out.isomorphic = truth("isomorphic");
  out.open = !truth("whole");
  return out;
}

}  // namespace tutti::puppet
