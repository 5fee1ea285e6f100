#include "lang/puppet/ruby/bridge.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <functional>
#include <memory>
#include <unordered_map>

#include "base/boundary.h"
#include "base/file.h"
#include "format/json.h"
#include "lang/puppet/erb/render.h"
#include "lang/puppet/eval/compiler.h"
#include "lang/puppet/hiera/context.h"
#include "lang/puppet/hiera/hiera.h"
#include "lang/puppet/ruby/forms.h"
#include "lang/puppet/ruby/process.h"
#include "lang/puppet/ruby/questions.h"
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
      : compiler_(compiler),
        scope_(scope),
        at_(at),
        questions_(compiler, scope, block, at, [this](i64 number, auto args) { return call_block(number, args); }) {}

  // `read` makes what is wanted of Ruby's answer, which goes when it returns.
  using Read = std::function<void(const Value& result)>;

  Val ask(const std::string& request, std::string_view what) {
    Val v;
    ask(request, what, [&](const Value& result) { v = from_wire(result, compiler_.arena(), &compiler_); });
    return v;
  }
  void ask(const std::string& request, std::string_view what, const Read& read) {
    const Nesting nesting;
    try {
      check_nesting(nesting.depth(), at_);
      converse(request, what, read);
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

  void converse(const std::string& request, std::string_view what, const Read& read) {
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
        read(result->value);
        return;
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
      reply = fmt::format("{{\"value\":{}}}", questions_.answer(question));
    } catch (const EvalError& e) {
      reply = fmt::format("{{\"error\":{}}}", quoted(e.what()));
    } catch (const TypeError& e) {
      reply = fmt::format("{{\"error\":{}}}", quoted(e.what()));
    }
    send(reply);
  }

  Val call_block(i64 number, std::span<const Val> args) {
    std::string request = fmt::format("{{\"op\":\"block\",\"number\":{},\"args\":{}}}", number,
                                      to_wire(make_array(compiler_.arena(), args)));
    return Conversation(compiler_, scope_, nullptr, at_).ask(request, "block");
  }

  Compiler& compiler_;
  Scope& scope_;
  Pos at_;
  Questions questions_;
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
  if (!text && is_refused(text.error())) compiler.fail_read(at, text.error());
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

// The folders in which Ruby code of modules finds its own libraries: `"libs":[...],` where this Ruby was not told of
// them yet, "" otherwise. A site has hundreds of modules, and makes thousands of calls.
std::string libraries(Environment& environment) {
  if (!process().first_told(environment.number())) return "";
  std::string folders;
  for (const Module* m : environment.modules()) folders += (folders.empty() ? "" : ",") + quoted(m->path + "/lib");
  return fmt::format("\"libs\":[{}],", folders);
}

}  // namespace

namespace {

const RubyForms& forms_of(Compiler& compiler, Scope& scope, std::string_view name, const std::string& file, Pos at) {
  std::shared_ptr<RubyForms>& known = compiler.ruby_forms(Symbol(name));
  if (known != nullptr) return *known;
  std::string request = fmt::format("{{\"op\":\"load\",{}\"name\":{},\"file\":{}}}", libraries(compiler.environment()),
                                    quoted(name), file);
  std::shared_ptr<RubyForms> made;
  Conversation(compiler, scope, nullptr, at).ask(request, fmt::format("{}()", name), [&](const Value& described) {
    made = std::make_shared<RubyForms>(compiler, described, at);
  });
  return *(compiler.ruby_forms(Symbol(name)) = std::move(made));
}

}  // namespace

Val call_ruby_function(Compiler& compiler, Scope& scope, const RubyFunction& f, std::string_view name,
                       std::span<const Val> args, const Closure* block, Pos at) {
  need_ruby(compiler,
            f.module != nullptr ? fmt::format("the function `{}` of the module `{}`", name, f.module->name.text())
                                : fmt::format("the function `{}`", name),
            at);
  const std::string what = fmt::format("{}()", name);
  const std::string file = f.file.empty() ? "null" : quoted(f.file);
  std::string dispatch;
  const RubyForms* forms = nullptr;
  std::size_t number = 0;
  if (!f.old) {
    forms = &forms_of(compiler, scope, name, file, at);
    number = forms->choose(compiler, name, args, block, at);
    dispatch = fmt::format("\"dispatch\":{},", number);
  }
  std::string request = fmt::format("{{\"op\":\"call\",\"name\":{},\"file\":{},{}{}\"block\":{},\"args\":{}}}",
                                    quoted(name), file, dispatch, libraries(compiler.environment()), block != nullptr,
                                    to_wire(make_array(compiler.arena(), args)));
  Val v = Conversation(compiler, scope, block, at).ask(request, what);
  if (forms != nullptr) forms->check_returned(compiler, name, number, v, at);
  return v;
}

namespace {

// What Ruby says in answer. A file that is only described is told nothing about any node.
std::optional<Value> answer_alone(Session& local, const std::string& request) {
  if (!process().send(request)) return std::nullopt;
  for (;;) {
    Result<std::string> line = process().receive();
    if (!line) return std::nullopt;
    Result<const Source*> source = local.sources->add("ruby", std::move(*line));
    std::optional<Value> message = source ? read_json(local, **source) : std::nullopt;
    if (!message || message->find("ask") == nullptr) return message;
    if (!process().send("{\"value\":null}")) return std::nullopt;
  }
}

}  // namespace

bool ruby_knows_function(Compiler&, Symbol name) {
  if (!process().running()) return false;
  Session local;
  std::optional<Value> message =
      answer_alone(local, fmt::format("{{\"op\":\"known\",\"name\":{}}}", quoted(name.text())));
  const Entry* result = message ? message->find("result") : nullptr;
  return result != nullptr && result->value.is(Kind::kBool) && result->value.as_bool();
}

std::optional<NativeType> describe_ruby_type(Environment& environment, const std::string& name,
                                             const std::string& file) {
  if (!may_run_code() || !RubyProcess::available()) return std::nullopt;
  Session local;
  std::optional<Value> message = answer_alone(local, fmt::format("{{\"op\":\"type\",{}\"name\":{},\"file\":{}}}",
                                                                 libraries(environment), quoted(name), quoted(file)));
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
