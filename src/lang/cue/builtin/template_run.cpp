#include "lang/cue/builtin/template_run.h"

#include <fmt/format.h>

#include <algorithm>

#include "lang/cue/builtin/go_format.h"
#include "lang/cue/builtin/support.h"
#include "lang/cue/builtin/template_functions.h"
#include "lang/cue/builtin/template_lexer.h"
#include "lang/cue/eval/context.h"
#include "lang/cue/eval/limits.h"

namespace tutti::cue {

namespace {

constexpr u64 kStepsOfNode = 4;  // of the evaluator, for one node of a template
constexpr std::size_t kDeepestTemplate = 10'000;

class TemplateRun {
  using N = TemplateNode;
  using Words = std::vector<N::Own>;

 public:
  TemplateRun(Context& context, std::string_view source, const TemplateTrees& trees)
      : context_(context), source_(source), trees_(trees) {}

  std::string run(const GoValue& data) {
    variables_.push_back({"$", data});
    walk(data, *trees_.by_name.find("")->second);
    return std::move(out_);
  }

 private:
  enum class Flow : u8 { kOn, kContinue, kBreak };

  // ---- errors tell the node at which they came up
  void at(const N& n) { at_ = &n; }
  [[noreturn]] void fail(std::string_view what) {
    std::string_view before = source_.substr(0, at_->at);
    auto line = 1 + std::count(before.begin(), before.end(), '\n');
    std::size_t column = before.size() - (line == 1 ? 0 : before.rfind('\n') + 1);
    throw TemplateError{
        fmt::format("template: :{}:{}: executing {} at <{}>: {}", line, column, go_quote(name_), at_->written(), what)};
  }

  // ---- actions
  Flow walk(const GoValue& dot, const N& n) {
    Level level(context_);
    context_.budget.step(kStepsOfNode);
    check_text(out_.size());
    at(n);
    switch (n.kind) {
      case N::kText: out_ += n.text; return Flow::kOn;
      case N::kBreak: return Flow::kBreak;
      case N::kContinue: return Flow::kContinue;
      case N::kIf:
      case N::kWith: return branch(dot, n);
      case N::kRange: return range(dot, n);
      case N::kTemplate: call_template(dot, n); return Flow::kOn;
      case N::kList:
        for (const auto& part : n.parts)
          if (Flow f = walk(dot, *part); f != Flow::kOn) return f;
        return Flow::kOn;
      default: break;
    }
    GoValue v = pipeline(dot, *n.pipe);
    if (n.pipe->declared.empty()) out_ += v.is_valid() ? go_show(v) : "<no value>";
    return Flow::kOn;
  }

  Flow branch(const GoValue& dot, const N& n) {
    std::size_t scope = variables_.size();
    GoValue v = pipeline(dot, *n.pipe);
    Flow f = Flow::kOn;
    if (v.truth())
      f = walk(n.kind == N::kWith ? v : dot, *n.body);
    else if (n.otherwise)
      f = walk(dot, *n.otherwise);
    variables_.resize(scope);
    return f;
  }

  Flow range(const GoValue& dot, const N& n) {
    std::size_t scope = variables_.size();
    GoValue over = pipeline(dot, *n.pipe);
    bool any = false;
    // One round; whether there is to be another.
    auto round = [&](const GoValue& key, const GoValue& value) {
      any = true;
      return one_round(n, key, value);
    };
    switch (over.kind) {
      case GoValue::kNil: break;
      case GoValue::kInt:
      case GoValue::kInt64:
      case GoValue::kUint8:
        if (n.pipe->declared.size() > 1)
          fail(fmt::format("can't use {} to iterate over more than one variable", over.integer));
        for (i64 i = 0; i < over.integer && round({}, GoValue::number(i, over.kind)); ++i) {
        }
        break;
      case GoValue::kBytes:
      case GoValue::kList:
        for (std::size_t i = 0, end = over.length(); i < end; ++i) {
          GoValue item = over.kind == GoValue::kList
                             ? over.item(i)
                             : GoValue::number(static_cast<unsigned char>(over.text()[i]), GoValue::kUint8);
          if (!round(GoValue::number(static_cast<i64>(i)), item)) break;
        }
        break;
      case GoValue::kMap:
        for (const auto& [name, value] : *over.fields)
          if (!round(GoValue::string(name), value)) break;
        break;
      default: fail("range can't iterate over " + go_show(over));
    }
    Flow f = !any && n.otherwise ? walk(dot, *n.otherwise) : Flow::kOn;
    variables_.resize(scope);
    return f;
  }

  bool one_round(const N& n, const GoValue& key, const GoValue& value) {
    const auto& declared = n.pipe->declared;
    std::size_t scope = variables_.size();
    if (n.pipe->assigns) {
      if (!declared.empty()) set(declared[0]->names[0], declared.size() > 1 ? key : value);
      if (declared.size() > 1) set(declared[1]->names[0], value);
    } else {
      if (!declared.empty()) variables_[scope - 1].second = value;
      if (declared.size() > 1) variables_[scope - 2].second = key;
    }
    Flow f = walk(value, *n.body);
    variables_.resize(scope);
    return f != Flow::kBreak;
  }

  void call_template(const GoValue& dot, const N& n) {
    auto it = trees_.by_name.find(n.text);
    if (it == trees_.by_name.end()) fail(fmt::format("template {} not defined", go_quote(n.text)));
    if (depth_ == kDeepestTemplate) fail(fmt::format("exceeded maximum template depth ({})", kDeepestTemplate));
    GoValue inner = n.pipe ? pipeline(dot, *n.pipe) : GoValue();
    auto variables = std::exchange(variables_, {{"$", inner}});
    std::string name = std::exchange(name_, n.text);
    ++depth_;
    walk(inner, *it->second);
    --depth_;
    name_ = std::move(name);
    variables_ = std::move(variables);
  }

  // ---- variables
  GoValue& variable(const std::string& name) {
    for (std::size_t i = variables_.size(); i-- > 0;)
      if (variables_[i].first == name) return variables_[i].second;
    fail("undefined variable: " + name);
  }
  void set(const std::string& name, const GoValue& v) { variable(name) = v; }

  // ---- pipelines
  GoValue pipeline(const GoValue& dot, const N& pipe) {
    Level level(context_);
    at(pipe);
    GoValue v;
    bool first = true;
    for (const auto& c : pipe.parts) v = command(dot, *c, std::exchange(first, false) ? nullptr : &v).unboxed();
    for (const auto& d : pipe.declared) {
      if (pipe.assigns)
        set(d->names[0], v);
      else
        variables_.push_back({d->names[0], v});
    }
    return v;
  }

  void not_a_function(const Words& words, const GoValue* last) {
    if (words.size() > 1 || last) fail("can't give argument to non-function " + words[0]->written());
  }

  GoValue command(const GoValue& dot, const N& c, const GoValue* last) {
    const N& first = *c.parts[0];
    bool arguments = c.parts.size() > 1 || last;
    switch (first.kind) {
      case N::kField:
      case N::kChain: return fields_of(dot, first, arguments);
      case N::kIdentifier: return call(dot, first, c, {c.parts.data() + 1, c.parts.size() - 1}, last);
      case N::kVariable:
        at(first);
        if (first.names.size() == 1) not_a_function(c.parts, last);
        return fields_of(dot, first, arguments);
      case N::kPipe: not_a_function(c.parts, last); return pipeline(dot, first);
      default: break;
    }
    at(first);
    not_a_function(c.parts, last);
    if (first.kind == N::kNil) fail("nil is not a command");
    return first.kind == N::kDot ? dot : constant(first);
  }

  GoValue constant(const N& n) {
    at(n);
    if (n.overflows) fail(n.text + " overflows int");
    return n.constant;
  }

  // .a.b, $a.b, (...).b
  GoValue fields_of(const GoValue& dot, const N& n, bool arguments) {
    at(n);
    GoValue v;
    std::size_t from = 0;
    if (n.kind == N::kField) {
      v = dot;
    } else if (n.kind == N::kVariable) {
      v = variable(n.names[0]);
      from = 1;
    } else {
      v = argument(dot, *n.parts[0], Type::kAny);
    }
    for (std::size_t i = from; i < n.names.size(); ++i) v = member(v, n.names[i], arguments && i + 1 == n.names.size());
    return v;
  }

  GoValue member(const GoValue& of, const std::string& name, bool arguments) {
    if (!of.is_valid()) return {};
    if (of.is_nil()) fail("nil pointer evaluating interface {}." + name);
    if (of.kind != GoValue::kMap) fail(fmt::format("can't evaluate field {} in type {}", name, of.outer_type()));
    if (arguments) fail(name + " is not a method but has arguments");
    auto it = of.fields->find(name);
    return it == of.fields->end() ? GoValue() : it->second;
  }

  // ---- functions
  enum class Type : u8 { kAny, kString };

  GoValue checked(GoValue v, Type type) {
    if (type == Type::kAny || v.kind == GoValue::kString) return v;
    if (!v.is_valid()) fail("invalid value; expected string");
    fail(fmt::format("wrong type for value; expected string; got {}", v.is_nil() ? v.outer_type() : v.type()));
  }

  GoValue argument(const GoValue& dot, const N& n, Type type) {
    at(n);
    switch (n.kind) {
      case N::kDot: return checked(dot, type);
      case N::kNil:
        if (type == Type::kString) fail("cannot assign nil to string");
        return {};
      case N::kField:
      case N::kVariable:
      case N::kChain: return checked(fields_of(dot, n, false), type);
      case N::kPipe: return checked(pipeline(dot, n), type);
      case N::kIdentifier: return checked(call(dot, n, n, {}, nullptr), type);
      default: break;
    }
    if (type == Type::kString && n.kind != N::kString) fail("expected string; found " + n.written());
    return constant(n);
  }

  // `whole` is the command, for errors of the function itself.
  GoValue call(const GoValue& dot, const N& name, const N& whole, std::span<const N::Own> words, const GoValue* last) {
    at(name);
    const TemplateFunction& f = *find_template_function(name.text);
    std::size_t count = words.size() + (last ? 1 : 0);
    if (f.more && count < f.least)
      fail(fmt::format("wrong number of args for {}: want at least {} got {}", f.name, f.least, words.size()));
    if (!f.more && count != f.least)
      fail(fmt::format("wrong number of args for {}: want {} got {}", f.name, f.least, count));
    if (f.name == "and" || f.name == "or") return first_that(dot, f.name == "or", words, last);
    GoValue::List args;
    auto type = [&] { return f.takes == TemplateFunction::kFormat && args.empty() ? Type::kString : Type::kAny; };
    for (const auto& w : words) args.push_back(argument(dot, *w, type()));
    if (last) args.push_back(checked(*last, type()));
    if (f.takes != TemplateFunction::kBoxed)
      for (GoValue& a : args) a.boxed = false;
    try {
      if (!f.run) not_callable(args[0], words);
      return f.run(args);
    } catch (const TemplateError& e) {
      at(whole);
      fail(fmt::format("error calling {}: {}", f.name, e.what));
    }
  }

  // and, or: the first value that decides, the rest is not looked at.
  GoValue first_that(const GoValue& dot, bool holds, std::span<const N::Own> words, const GoValue* last) {
    GoValue v;
    for (const auto& w : words) {
      v = argument(dot, *w, Type::kAny);
      if (v.truth() == holds) return v;
    }
    return last ? *last : v;
  }

  // Data has no functions.
  [[noreturn]] static void not_callable(const GoValue& v, std::span<const N::Own> words) {
    if (v.is_nil()) throw TemplateError{"call of nil"};
    std::string name = !words.empty()               ? words[0]->written()
                       : v.kind == GoValue::kString ? std::string(v.text())
                                                    : fmt::format("<{} Value>", v.type());
    throw TemplateError{fmt::format("non-function {} of type {}", name, v.type())};
  }

  Context& context_;
  std::string_view source_;
  const TemplateTrees& trees_;
  std::string out_, name_;  // of the template that runs
  std::vector<std::pair<std::string, GoValue>> variables_;
  const N* at_ = nullptr;
  std::size_t depth_ = 0;
};

}  // namespace

std::string run_template(Context& context, std::string_view source, const TemplateTrees& trees, const GoValue& data) {
  return TemplateRun(context, source, trees).run(data);
}

}  // namespace tutti::cue
