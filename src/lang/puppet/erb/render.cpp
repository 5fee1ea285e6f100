#include "lang/puppet/erb/render.h"

#include <algorithm>
#include <array>
#include <memory>
#include <unordered_map>

#include "lang/puppet/erb/machine.h"
#include "lang/puppet/eval/compiler.h"
#include "lang/puppet/eval/growth.h"
#include "lang/puppet/ruby/bridge.h"

namespace tutti::puppet::erb {
namespace {

constexpr std::size_t kSmall = std::size_t{1} << 20;

// Things of which a template sees a few methods only: the scope, all of its variables as a hash, and the text that is
// being written, which is what a piece of text has for a value in Ruby.
enum class Scoped : u8 { kBuffer, kScope, kHash };
Any scope_value(Scoped what) {
  Any v;
  v.kind = Kind::kScope;
  v.i = static_cast<i64>(what);
  return v;
}
bool is(const Any& v, Scoped what) { return v.is(Kind::kScope) && v.i == static_cast<i64>(what); }

// What a template may call here: functions that only compute. A call of anything else is left to Ruby before it is
// made.
constexpr std::array kPureFunctions = {"versioncmp",
                                       "apache::bool2httpd",
                                       "template",
                                       "str2bool",
                                       "bool2str",
                                       "fqdn_rotate",
                                       "fqdn_rand",
                                       "pick",
                                       "join",
                                       "empty",
                                       "flatten",
                                       "sort",
                                       "unique",
                                       "downcase",
                                       "upcase",
                                       "capitalize",
                                       "regsubst",
                                       "split",
                                       "merge",
                                       "to_json",
                                       "to_yaml",
                                       "shellquote",
                                       "strip",
                                       "any2array",
                                       "prefix",
                                       "suffix",
                                       "member",
                                       "has_key",
                                       "keys",
                                       "values",
                                       "size",
                                       "delete",
                                       "concat",
                                       "range",
                                       "enclose_ipv6",
                                       "dirname",
                                       "basename",
                                       "getvar",
                                       "is_service_default",
                                       "md5",
                                       "sha1",
                                       "sha256",
                                       "base64",
                                       "bool2num",
                                       "num2bool",
                                       "sprintf",
                                       "delete_undef_values",
                                       "is_array",
                                       "is_hash",
                                       "is_string",
                                       "pick_default",
                                       "to_json_pretty",
                                       "deep_merge"};

}  // namespace

Machine::Machine(Compiler& compiler, Scope& scope, Rendering& rendering, Pos at)
    : compiler_(compiler),
      scope_(scope),
      at_(at),
      budget_(compiler.budget()),
      rendering_(rendering),
      heap_(rendering.heap) {}

std::string Machine::run(const Template& t) {
  Frame frame;
  frame.slots.resize(t.slots);
  frame_ = &frame;
  evaluate(t.body);
  note_changes();
  return std::move(out_);
}

void Machine::note_changes() {
  for (const Variable& v : variables_) {
    if (v.set && rendering_.changed) throw Unsupported{"a change of a value and of a variable"};
    bool changed =
        (v.value.is(Kind::kArray) && v.value.list->changed) || (v.value.is(Kind::kHash) && v.value.map->changed);
    if (changed) rendering_.changes.emplace_back(v.name, v.value);
  }
}

void Machine::written() {
  if (out_.size() > kSmall) grown(budget_, out_.size());
}

Machine::Variable& Machine::variable(std::string_view name) {
  for (Variable& known : variables_)
    if (known.name == name) return known;
  const Val* v = compiler_.find_variable(scope_, name);
  Any value = v != nullptr ? heap_.from(*v) : Any{};
  if (value.is(Kind::kArray)) value.list->own_variable = true;
  if (value.is(Kind::kHash)) value.map->own_variable = true;
  return variables_.emplace_back(Variable{name, value});
}

std::string Machine::join_pieces(const Node& n) {
  std::string text;
  for (const Node* piece : n.kids) {
    if (piece->kind == NodeKind::kText)
      text += piece->text;
    else
      append_s(text, evaluate(piece));
  }
  grown(budget_, text.size());
  return text;
}

void Machine::list_items(const Node& n, std::size_t from, std::vector<Any>& out) {
  for (std::size_t i = from; i < n.kids.size(); i++) {
    if (n.kids[i]->kind != NodeKind::kSplat) {
      out.push_back(evaluate(n.kids[i]));
      continue;
    }
    Any all = evaluate(n.kids[i]->kids[0]);
    if (!all.is(Kind::kArray)) throw Unsupported{"* of what is no array"};
    out.insert(out.end(), all.list->items.begin(), all.list->items.end());
  }
}

Any Machine::evaluate(const Node* n) {
  budget_.step();
  Budget::Level level(budget_);
  switch (n->kind) {
    case NodeKind::kText:
      out_ += n->text;
      written();
      return scope_value(Scoped::kBuffer);
    case NodeKind::kShow: {
      Any v = evaluate(n->kids[0]);
      append_s(out_, v);
      written();
      return scope_value(Scoped::kBuffer);
    }
    case NodeKind::kSequence: {
      Any last;
      for (const Node* kid : n->kids) last = evaluate(kid);
      return last;
    }
    case NodeKind::kNil: return {};
    case NodeKind::kTrue: return Any::boolean(true);
    case NodeKind::kFalse: return Any::boolean(false);
    case NodeKind::kInt: return Any::integer(n->number);
    case NodeKind::kFloat: return Any::real(n->real);
    case NodeKind::kSymbol: return heap_.text(Kind::kSymbol, n->text);
    case NodeKind::kString: return heap_.string(n->kids.empty() ? n->text : join_pieces(*n));
    case NodeKind::kRegex: {
      std::string pattern = join_pieces(*n);
      return heap_.text(Kind::kRegex, n->text.empty() ? pattern : "(?" + n->text + ":" + pattern + ")");
    }
    case NodeKind::kArray: {
      std::vector<Any> items;
      list_items(*n, 0, items);
      return heap_.list(std::move(items));
    }
    case NodeKind::kHash: {
      Any m = heap_.map();
      for (std::size_t i = 0; i + 1 < n->kids.size(); i += 2) {
        Any key = evaluate(n->kids[i]);
        m.map->set(key, evaluate(n->kids[i + 1]));
      }
      return m;
    }
    case NodeKind::kRange: {
      Any from = evaluate(n->kids[0]);
      Any to = evaluate(n->kids[1]);
      Any r = heap_.list({from, to, Any::boolean(n->number != 0)});
      r.kind = Kind::kRange;
      return r;
    }
    case NodeKind::kVariable: return variable(n->text).value;
    case NodeKind::kSetVariable: {
      Any value = evaluate(n->kids[0]);
      Variable& v = variable(n->text);
      v.value = value;
      v.set = true;
      return value;
    }
    case NodeKind::kDefined: {
      const Variable& v = variable(n->text);
      return v.value.nil() && !v.set ? Any{} : heap_.string("instance-variable");
    }
    case NodeKind::kGroup: {
      std::size_t at = static_cast<std::size_t>(n->number) * 2;
      if (!matched_ || at + 1 >= groups_.size() || groups_[at] < 0) return {};
      return heap_.string(matched_text_.substr(static_cast<std::size_t>(groups_[at]),
                                               static_cast<std::size_t>(groups_[at + 1] - groups_[at])));
    }
    case NodeKind::kDefine: methods_.emplace_back(n->text, n->block); return heap_.text(Kind::kSymbol, n->text);
    case NodeKind::kReturn: throw Return{n->kids.empty() ? Any{} : evaluate(n->kids[0])};
    case NodeKind::kLocal:
    case NodeKind::kSetLocal: {
      Frame* frame = frame_;
      for (u32 i = 0; i < n->depth; i++) frame = frame->parent;
      if (n->kind == NodeKind::kSetLocal) {
        Any value = evaluate(n->kids[0]);
        frame->slots[n->slot] = value;
      }
      return frame->slots[n->slot];
    }
    case NodeKind::kConstant: {
      static constexpr std::array kClasses = {"Array",     "Hash",       "String",   "Integer", "Float", "Numeric",
                                              "TrueClass", "FalseClass", "NilClass", "Symbol",  "Regexp"};
      if (std::find(kClasses.begin(), kClasses.end(), n->text) == kClasses.end())
        throw Unsupported{"the constant " + n->text};
      return heap_.text(Kind::kClass, n->text);
    }
    case NodeKind::kSetIndex: {
      Any receiver = evaluate(n->kids[0]);
      Any index = evaluate(n->kids[1]);
      return set_index(receiver, index, evaluate(n->kids[2]));
    }
    case NodeKind::kAnd: {
      Any left = evaluate(n->kids[0]);
      return left.truthy() ? evaluate(n->kids[1]) : left;
    }
    case NodeKind::kOr: {
      Any left = evaluate(n->kids[0]);
      return left.truthy() ? left : evaluate(n->kids[1]);
    }
    case NodeKind::kNot: return Any::boolean(!evaluate(n->kids[0]).truthy());
    case NodeKind::kIf: {
      const Node* branch = n->kids[evaluate(n->kids[0]).truthy() ? 1 : 2];
      return branch != nullptr ? evaluate(branch) : Any{};
    }
    case NodeKind::kCase: return evaluate_case(*n);
    case NodeKind::kCall: return evaluate_call(*n);
    case NodeKind::kNext: throw Next{n->kids.empty() ? Any{} : evaluate(n->kids[0])};
    case NodeKind::kBreak:
      if (block_call_ == nullptr) throw Unsupported{"break outside of a block"};
      throw Break{block_call_, n->kids.empty() ? Any{} : evaluate(n->kids[0])};
    case NodeKind::kSplat:
    case NodeKind::kWhen: break;
  }
  throw Unsupported{"* where no list is"};
}

Any Machine::evaluate_case(const Node& n) {
  Any subject = n.kids[0] != nullptr ? evaluate(n.kids[0]) : Any{};
  for (std::size_t i = 1; i + 1 < n.kids.size(); i++) {
    const Node& when = *n.kids[i];
    for (std::size_t k = 1; k < when.kids.size(); k++) {
      if (when.kids[k]->kind == NodeKind::kSplat) throw Unsupported{"* in when"};
      Any option = evaluate(when.kids[k]);
      bool fits = n.kids[0] != nullptr ? matches(option, subject) : option.truthy();
      if (fits) return evaluate(when.kids[0]);
    }
  }
  return n.kids.back() != nullptr ? evaluate(n.kids.back()) : Any{};
}

Any Machine::evaluate_call(const Node& n) {
  const Node* receiver_node = n.kids[0];
  if (receiver_node == nullptr && n.text == "scope" && n.kids.size() == 1 && n.block == nullptr)
    return scope_value(Scoped::kScope);
  Any receiver = receiver_node != nullptr ? evaluate(receiver_node) : Any{};
  if (n.safe && receiver.nil()) return {};
  std::vector<Any> args;
  list_items(n, 1, args);
  if (receiver_node == nullptr) {
    if (n.block != nullptr) throw Unsupported{"the function " + n.text};
    return own_function(n.text, args);
  }
  if (is(receiver, Scoped::kHash) && args.size() == 1 && args[0].is(Kind::kString) && n.block == nullptr) {
    const Val* v = compiler_.find_variable(scope_, args[0].str());
    bool there = v != nullptr && !v->undefined() && args[0].str().find(':') == std::string::npos;
    if (n.text == "[]") return there ? heap_.from(*v) : Any{};
    if (n.text == "has_key?" || n.text == "key?" || n.text == "include?") return Any::boolean(there);
  }
  if (is(receiver, Scoped::kScope)) return scope_method(n.text, args);
  // The block of this call, until it is over.
  const auto outer = std::tuple(block_, block_call_, block_frame_);
  auto restore = [&] { std::tie(block_, block_call_, block_frame_) = outer; };
  block_ = n.block;
  block_call_ = n.block != nullptr ? &n : nullptr;
  block_frame_ = frame_;
  try {
    Any result = send(receiver, n.text, args);
    restore();
    return result;
  } catch (const Break& b) {
    restore();
    if (b.call != &n) throw;
    return b.value;
  } catch (...) {
    restore();
    throw;
  }
}

void Machine::bind(Frame& frame, std::span<const BlockParam> params, Args args) {
  std::size_t rest = static_cast<std::size_t>(
      std::find_if(params.begin(), params.end(), [](const BlockParam& p) { return p.rest; }) - params.begin());
  std::size_t after = rest < params.size() ? params.size() - rest - 1 : 0;
  auto set = [&](const BlockParam& p, const Any& value) {
    if (p.parts.empty()) {
      frame.slots[p.slot] = value;
    } else if (value.is(Kind::kArray)) {
      bind(frame, p.parts, Args(value.list->items));
    } else {
      bind(frame, p.parts, Args(&value, 1));
    }
  };
  for (std::size_t i = 0; i < params.size(); i++) {
    if (i < rest) {
      set(params[i], i < args.size() ? args[i] : Any{});
    } else if (i == rest) {
      std::size_t most = args.size() > rest + after ? args.size() - rest - after : 0;
      std::vector<Any> items;
      if (most != 0)
        items.assign(args.begin() + static_cast<std::ptrdiff_t>(rest),
                     args.begin() + static_cast<std::ptrdiff_t>(rest + most));
      frame.slots[params[i].slot] = heap_.list(std::move(items));
    } else {
      throw Unsupported{"a parameter after *"};
    }
  }
}

Any Machine::yield(Args args) {
  if (block_ == nullptr) throw Unsupported{"an enumerator"};
  if (!block_->method.empty()) {
    if (args.empty()) throw Unsupported{"& without a value"};
    const Block* block = std::exchange(block_, nullptr);
    Any result = send(args[0], block->method, args.subspan(1));
    block_ = block;
    return result;
  }
  const Block& block = *block_;
  const auto outer = std::tuple(block_, block_call_, block_frame_, frame_);
  Frame frame;
  frame.parent = block_frame_;
  frame.slots.resize(block.slots);
  bool many = block.params.size() > 1 || block.excess_comma;
  bool spread = many && args.size() == 1 && args[0].is(Kind::kArray);
  std::vector<Any> parts;
  if (spread) parts = args[0].list->items;
  bind(frame, block.params, spread ? Args(parts) : args);
  frame_ = &frame;
  Any result;
  auto restore = [&] { std::tie(block_, block_call_, block_frame_, frame_) = outer; };
  try {
    result = evaluate(block.body);
  } catch (const Next& next) {
    result = next.value;
  } catch (...) {
    restore();
    throw;
  }
  restore();
  return result;
}

Any Machine::set_index(const Any& receiver, const Any& index, const Any& value) {
  if (receiver.is(Kind::kHash)) {
    about_to_change(*receiver.map, Args(&value, 1));
    Any key = index.is(Kind::kString) ? heap_.text(Kind::kString, index.str()) : index;
    heap_.count(sizeof(std::pair<Any, Any>));
    receiver.map->set(key, value);
    return value;
  }
  if (receiver.is(Kind::kArray) && index.is(Kind::kInt)) {
    about_to_change(*receiver.list, Args(&value, 1));
    std::vector<Any>& items = receiver.list->items;
    i64 at = index.i < 0 ? index.i + static_cast<i64>(items.size()) : index.i;
    if (at < 0 || at > 10'000'000) throw Unsupported{"an index"};
    std::size_t place = static_cast<std::size_t>(at);
    if (place >= items.size()) {
      heap_.count((place + 1 - items.size()) * sizeof(Any));
      items.resize(place + 1);
    }
    items[place] = value;
    return value;
  }
  throw Unsupported{"an assignment to an element"};
}

Any Machine::puppet_function(std::string_view name, const Any& args) {
  if (std::find(kPureFunctions.begin(), kPureFunctions.end(), name) == kPureFunctions.end() || !args.is(Kind::kArray))
    throw Unsupported{"the function " + std::string(name)};
  std::vector<Val> values;
  for (const Any& a : args.list->items) values.push_back(Heap::to(a, compiler_.arena()));
  try {
    return heap_.from(compiler_.call_function(Symbol(name), values, nullptr, scope_, at_));
  } catch (const EvalError& e) {
    throw Unsupported{e.what()};
  } catch (const TypeError& e) {
    throw Unsupported{e.what()};
  }
}

Any Machine::scope_method(std::string_view name, Args args) {
  if (rendering_.changed) throw Unsupported{"the scope after a change of what it holds"};
  bool text = !args.empty() && args[0].is(Kind::kString);
  if ((name == "lookupvar" || name == "[]") && args.size() == 1 && text && !compiler_.settings().strict_variables) {
    std::string_view variable_name = args[0].str();
    for (const auto& [set, value] : rendering_.variables)
      if (set == variable_name) return value;
    if (variable_name.starts_with("::")) variable_name.remove_prefix(2);
    const Val* v = compiler_.find_variable(scope_, variable_name);
    return v != nullptr ? heap_.from(*v) : Any{};
  }
  if (name == "setvar" && args.size() == 2 && text) {
    auto& all = rendering_.variables;
    bool again = std::any_of(all.begin(), all.end(), [&](const auto& v) { return v.first == args[0].str(); });
    if (again || scope_.vars.find(Symbol(args[0].str())) != nullptr) throw Unsupported{"a variable that is set again"};
    all.emplace_back(args[0].str(), args[1]);
    return args[1];
  }
  if (name == "call_function" && args.size() == 2 && text) return puppet_function(args[0].str(), args[1]);
  if (name.starts_with("function_") && args.size() == 1) return puppet_function(name.substr(9), args[0]);
  if (name == "to_hash" && args.empty()) return scope_value(Scoped::kHash);
  throw Unsupported{"the method " + std::string(name) + " of the scope"};
}

bool Machine::method_call(std::string_view name, Args args, Any& out) {
  auto found = std::find_if(methods_.rbegin(), methods_.rend(), [&](const auto& m) { return m.first == name; });
  if (found == methods_.rend()) return false;
  const Block& method = *found->second;
  if (args.size() != method.params.size()) throw Unsupported{"a wrong number of arguments"};
  if (matched_) throw Unsupported{"a method after a match"};  // each method has its own $1
  const auto outer = std::tuple(block_, block_call_, block_frame_, frame_);
  auto restore = [&] { std::tie(block_, block_call_, block_frame_, frame_) = outer; };
  Frame frame;
  frame.slots.resize(method.slots);
  bind(frame, method.params, args);
  frame_ = &frame;
  block_ = nullptr;
  block_call_ = nullptr;
  try {
    out = evaluate(method.body);
  } catch (const Return& r) {
    out = r.value;
  } catch (...) {
    restore();
    throw;
  }
  matched_ = false;
  restore();
  return true;
}

Any Machine::own_function(std::string_view name, Args args) {
  if (Any result; method_call(name, args, result)) return result;
  if (args.size() == 1) {
    const Any& a = args[0];
    if (name == "Array") {
      if (a.is(Kind::kArray)) return a;
      if (a.is(Kind::kHash)) return heap_.list(pairs_of(a));
      if (a.nil()) return heap_.list({});
      if (!a.is(Kind::kRange)) return heap_.list({a});
    }
    if (name == "has_variable?" && a.is(Kind::kString) && !compiler_.settings().strict_variables) {
      const Val* v = compiler_.find_variable(scope_, a.str());
      return Any::boolean(v != nullptr && !v->undefined());
    }
    if (name == "String" && !a.is(Kind::kRange)) return a.is(Kind::kString) ? a : heap_.string(to_s(a));
    if (name == "Integer") {
      if (a.is(Kind::kInt)) return a;
      Val number;
      // Ruby reads signs, underscores and prefixes too; plain digits are what templates have.
      bool plain = a.is(Kind::kString) && !a.str().empty() && a.str().size() < 18 &&
                   a.str().find_first_not_of("0123456789") == std::string::npos &&
                   (a.str()[0] != '0' || a.str().size() == 1);
      if (plain && parse_number(a.str(), number)) return Any::integer(number.i);
    }
  }
  throw Unsupported{"the function " + std::string(name)};
}

namespace {

// Templates that were read before, by their text. A template that needs Ruby is kept as what it needs it for.
struct Known {
  std::shared_ptr<const Template> read;
  std::string needs;
};

Known known_template(Compiler& compiler, std::string_view text) {
  constexpr std::size_t kMost = 500;
  thread_local std::unordered_map<std::string, Known> all;
  auto found = all.find(std::string(text));
  if (found != all.end()) return found->second;
  Known known;
  auto read = std::make_shared<Template>();
  try {
    parse(text, compiler.budget(), *read);
    known.read = std::move(read);
  } catch (const Unsupported& u) {
    known.needs = u.what;
  }
  if (all.size() >= kMost) all.clear();
  return all.emplace(text, std::move(known)).first->second;
}

}  // namespace

std::string render(Compiler& compiler, Scope& scope, std::string_view text, Pos at) {
  thread_local Rendering* outer = nullptr;
  const Known known = known_template(compiler, text);
  if (!known.read) throw Unsupported{known.needs};
  if (outer != nullptr) return Machine(compiler, scope, *outer, at).run(*known.read);
  Rendering rendering(compiler.budget());
  struct Outermost {
    explicit Outermost(Rendering& r) { outer = &r; }
    ~Outermost() { outer = nullptr; }
    Outermost(const Outermost&) = delete;
    Outermost& operator=(const Outermost&) = delete;
  };
  const Outermost here(rendering);
  std::string out = Machine(compiler, scope, rendering, at).run(*known.read);
  // All values first: what cannot be told to the manifest is left to Ruby as long as nothing was told.
  std::vector<Val> set, changed;
  for (const auto& [name, value] : rendering.variables) set.push_back(Heap::to(value, compiler.arena(), true));
  for (const auto& [name, value] : rendering.changes) changed.push_back(Heap::to(value, compiler.arena()));
  for (std::size_t i = 0; i < set.size(); i++)
    compiler.set_variable(scope, Symbol(rendering.variables[i].first), set[i]);
  for (std::size_t i = 0; i < changed.size(); i++)
    change_variable(compiler, scope, Symbol(rendering.changes[i].first), changed[i]);
  return out;
}

}  // namespace tutti::puppet::erb
