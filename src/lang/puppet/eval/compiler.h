#pragma once

#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "lang/puppet/catalog/native_type.h"
#include "lang/puppet/catalog/resource.h"
#include "lang/puppet/environment.h"
#include "lang/puppet/eval/error.h"
#include "lang/puppet/eval/resource_index.h"
#include "lang/puppet/eval/scope.h"
#include "lang/puppet/functions/function.h"
#include "lang/puppet/types/type.h"

namespace tutti::puppet {

class Hiera;
class ModuleFacts;
class RubyForms;

struct NodeInfo {
  std::string name;
  Val facts;                     // a hash
  std::vector<Pair> parameters;  // from an external classifier: top-scope variables
  std::vector<Pair> classes;     // class name -> hash of parameters or undef
  Val trusted;                   // a hash
};

// A collector or a `realize`, kept until the rounds are over.
struct Collector {
  Symbol type;
  const Collect* syntax = nullptr;  // nullptr: a realize of `wanted`
  Scope* scope = nullptr;
  std::vector<const Type*> wanted;
  std::vector<Resource*> seen;  // collected before
  std::unordered_set<const Resource*> seen_set;
  std::vector<ResourceParam> overrides;
  Pos at;
  // What stands in a chain to the left of it, and takes its place when nothing is collected: a -> C <| |> -> b.
  std::vector<Val> empty_alternative;
  Collector* left_collector = nullptr;
  bool done = false;
  bool store_asked = false;
  bool related = false;                                   // it stands in a chain: what it found is asked for
  std::vector<std::pair<const Node*, Val>> query_values;  // the right side of each comparison
  Val wanted_value(const Node* comparison) const {
    for (const auto& [node, v] : query_values)
      if (node == comparison) return v;
    return {};
  }
  // Where it looks: what has the tag `key` or such an attribute (or title), what was added or changed since it `looked`
  // last, or all of its type, when what a query asks for may change without the resource.
  enum class Look : u8 { kText, kTag, kChanges, kAll } look = Look::kChanges;
  Symbol attribute;
  Val key;
  std::size_t looked = 0;
};

struct Relationship {
  Val source;                    // a reference, unless there is a collector
  std::span<const Val> targets;  // likewise
  Collector* source_collector = nullptr;
  Collector* target_collector = nullptr;
  bool notify = false;
  Pos at;
};

// Compiles the catalog of one node. The phases are in compiler.cpp, in the order of Puppet's own:
// main, node, classes of the classifier, rounds of collectors and defines, finish.
class Compiler {
 public:
  Compiler(Environment& environment, Session& session, NodeInfo node);
  ~Compiler();

  // False after an error, which is in the session's diagnostics.
  bool compile(std::span<const Program* const> manifests);
  Catalog& catalog() { return catalog_; }
  Environment& environment() { return environment_; }
  Session& session() { return session_; }
  Arena& arena() { return *arena_; }
  Budget& budget() { return budget_; }
  Diagnostics& diagnostics() { return session_.diagnostics; }
  const NodeInfo& node() const { return node_; }
  const Settings& settings() const { return environment_.settings(); }
  Scope& top() { return *top_; }
  Hiera& hiera() { return *hiera_; }
  bool asked_for_exported() const { return asked_for_exported_; }  // of other nodes

  // --- evaluation (eval_*.cpp)
  Val evaluate(const Node* n, Scope& scope);
  Val call_function(Symbol name, std::span<const Val> args, const Closure* block, Scope& scope, Pos at);
  bool function_exists(Symbol name);
  std::shared_ptr<RubyForms>& ruby_forms(Symbol function) { return ruby_forms_[function]; }  // empty: not read yet
  const Builtin* native_function(Symbol name);  // nullptr also where a module of the environment has its own, or none
  // Without `wanted` the body is run for its effects, and the answer means nothing.
  Val call_closure(const Closure& closure, std::span<const Val> args, Pos at, bool wanted = true);
  // A round of a loop that keeps nothing of it but whether the answer is true (false where it is not wanted). What the
  // round made is given back after it, where the body can have left none of it anywhere.
  bool call_round(const Closure& closure, std::span<const Val> args, Pos at, bool wanted);
  const Type* callable_type(const Closure& closure);  // Callable[Integer, 1, 2]
  // The value of a variable (`x`, `a::b::x`), nullptr when it is not set.
  const Val* find_variable(Scope& scope, Symbol local, Symbol scope_name, bool absolute);
  const Val* find_variable(Scope& scope, std::string_view name);
  bool set_variable(Scope& scope, Symbol name, const Val& value);  // false: set already
  // The variable `facts`, of which `name` is wanted ("": all of it). What modules bring is gathered when it is not
  // known otherwise and the facts are those of this host.
  static bool is_facts(const Node* n);
  const Val* facts_with(Scope& scope, std::string_view name);
  void gather_facts_named_in(std::string_view text);  // of a template, before it is rendered
  const Type* type_of_node(const Node* n, Scope& scope);
  const Type* find_type_name(std::string_view name, Pos at);  // alias, native type or define; nullptr: none
  Val access(const Val& base, std::span<const Val> keys, Scope& scope, Pos at);
  Val construct(const Type* type, std::span<const Val> args, Pos at);  // Type.new
  bool matches_option(const Val& value, const Val& option, Scope& scope, Pos at);
  bool match_regex(std::string_view text, std::string_view pattern, Scope& scope, Pos at);
  bool less(Op op, const Val& a, const Val& b, Pos at);
  bool contains(const Val& needle, const Val& haystack, Scope& scope, Pos at);
  // Renders an EPP program; `scope` sees what the template may see.
  std::string render_epp(const Program& program, std::span<const Pair> args, Scope& scope, Pos at);

  // --- resources (eval_resource.cpp)
  struct NewResource {
    Symbol type;  // as written, in any case
    std::string_view title;
    std::vector<ResourceParam> params;
    Form form = Form::kRegular;
    Pos at;
    Pos statement;  // where it begins, if elsewhere
    bool number_title = false;
  };
  Resource* create_resource(NewResource& wanted, Scope& scope);
  std::vector<Resource*> include_classes(std::span<const Val> names, Scope& scope, Pos at);
  Resource* include_class(Symbol name, Scope& scope, Pos at, bool evaluate = true);
  Symbol class_name_of(const Val& v, Pos at);  // a string, Class['x'] or Resource['class', 'x']
  void contain(Resource* container, Resource* inner);
  void realize(std::span<const Val> references, Scope& scope, Pos at);
  void add_relationship(const Val& left, const Val& right, bool notify, Pos at);
  void tag_scope(Scope& scope, std::span<const Val> tags, Pos at);
  Resource* find_resource(const Type* reference);
  const Val* resource_parameter(Resource& r, Symbol name);  // set, or by default; nullptr: not
  // The name of a resource type in the catalog, e.g. "File"; empty when there is no such type.
  Symbol resource_type_name(std::string_view name);
  // A type implemented in Ruby, as this environment has it; nullptr: there is none of that name.
  const NativeType* native(std::string_view type);
  Scope* class_scope(Symbol name);
  bool class_evaluated(Symbol name) { return class_scope(name) != nullptr; }
  // There is no such class: what else may have been meant.
  EvalError unknown_class(Symbol name, Pos at, std::string message = {});
  EvalError unknown_type(const Node* n);
  const std::vector<DefaultParam>* defaults_of(Scope& scope, Symbol type);

  // --- errors
  [[noreturn]] void fail(Span at, const std::string& message, std::string code = "PP-EVAL");
  // What the boundary refuses has its own code, and a way out.
  [[noreturn]] void fail_read(Span at, const Failure& failure, std::string_view code = "PP-FILE");
  // Fails where the path, unless it is "", leads out of what may be read.
  void need_inside(Span at, const std::string& path);
  // Fails where the project may not run code of its own: `what` needs it.
  void need_trust(Span at, const std::string& what);
  void warn(Span at, std::string message, std::string code = "PP-WARNING");
  // A warning, or an error where `strict` says so; nothing when it is off.
  void strict(Span at, const std::string& message, std::string code);
  // notice(), warning() and the like.
  void log(std::string_view level, const std::string& message, Scope& scope, Pos at);

 private:
  friend struct FunctionCall;
  // eval_expr.cpp
  Val block(const Kids& b, Scope& scope);
  void execute(const Node* n, Scope& scope);  // for its effects alone
  Val variable(const Named& v, Scope& scope);
  Val binary(const Binary& b, Scope& scope);
  Val arithmetic(Op op, Val a, Val b, Pos at);
  Val match(const Binary& b, Scope& scope);
  Val assign(const Binary& b, Scope& scope);
  void assign_to(const Node* target, const Val& value, Scope& scope);
  Val select(const Select& s, Scope& scope);
  Val if_then(const If& n, Scope& scope);
  Val hash_literal(const Kids& k, Scope& scope);
  void splat_into(std::vector<Val>& out, const Node* n, Scope& scope);
  Val call(const Call& c, Scope& scope);
  Val call_definition(const Definition& d, std::span<const Val> args, Scope& scope, Pos at);
  void bind_params(std::span<const Param> params, std::span<const Val> args, Scope& inner, std::string_view what,
                   Pos at);
  Val type_access(const Type* t, std::span<const Val> keys, Scope& scope, Pos at);
  Val run_body(const Node* body, Scope& scope, const Node* returns, std::string_view what);

  // eval_resource.cpp
  Val resource_expression(const ResourceDecl& r, Scope& scope, bool wanted);  // references to what was declared
  void attributes(std::span<const Attribute> list, Scope& scope, std::vector<ResourceParam>& out, bool may_repeat);
  void resource_defaults(const ResourceDecl& r, Scope& scope);
  Val resource_override(const ResourceDecl& r, Scope& scope);
  Val relation(const Binary& b, Scope& scope);
  void titles(const Val& v, std::vector<std::string_view>& out, Pos at);
  void add_to_catalog(Resource* r, Scope& scope);
  void check_native(Resource& r);
  void override_params(Resource& r, std::span<const ResourceParam> params, const Definition* source,
                       bool from_collector, Pos at);
  void override_param(Resource& r, const ResourceParam& p);
  void set_param(Resource& r, const ResourceParam& p);
  void tag_all(Resource& r, const Val& v, Pos at);
  void tag_if_valid(Resource& r, std::string_view name);
  bool child_of(const Definition* a, const Definition* b);

  // compiler.cpp
  void set_top_variables();
  bool gather_module_facts(std::string_view name);  // true: there are more facts now
  void add_facts(const Val& more);
  void evaluate_main(std::span<const Program* const> manifests);
  void evaluate_node();
  void evaluate_generators();
  void tell_other_wrong_names(std::span<const Program* const> manifests, const EvalError& first);  // wrong_names.cpp

  // collectors.cpp
  Val collect_expression(const Collect& c, Scope& scope);
  bool evaluate_collectors();
  bool evaluate_collector(Collector& c);
  void collect_from_store(Collector& c, std::vector<Resource*>& found);
  void query(Collector& c, std::vector<Resource*>& found);
  bool query_matches(const Collector& c, const Node* q, Resource& r);

  bool evaluate_definitions();
  void evaluate_resource(Resource& r);
  void evaluate_class(Resource& r);
  void evaluate_define(Resource& r);
  void set_resource_parameters(Resource& r, Scope& scope, const Definition& d);
  void merge_scope_tags(Resource& r);
  void relate();
  void finish();
  void finish_resource(Resource& r);
  void check_parameters(Resource& r);
  void add_aliases(Resource& r);
  void copy_metaparameters();
  void order_edges();
  void check_references();
  void check_unevaluated();
  void note_containers(EvalError& e, const Resource& r);  // the declarations that led to a resource
  Scope* new_scope(Scope::Kind kind, Scope* parent);
  Symbol module_name(const Source* source);  // empty: it is in none

  // eval_call.cpp
  bool leaves_nothing(const Lambda& lambda);
  bool leaves_nothing(const Node* n);

  // Where values are made, for as long as it lives: memory that is given back at its end, or (without) the session's
  // own, for what is kept although a round of a loop makes it.
  class Making {
   public:
    enum class Where : u8 { kRound, kSession };
    Making(Compiler& compiler, Where where);
    ~Making();
    Making(const Making&) = delete;
    Making& operator=(const Making&) = delete;

   private:
    Compiler& compiler_;
    Arena* before_;
    bool round_;
  };

  Environment& environment_;
  Session& session_;
  Arena* arena_;
  std::deque<Arena> round_arenas_;
  std::size_t rounds_ = 0;  // those in use
  std::unordered_map<const Lambda*, bool> leaves_nothing_;
  NodeInfo node_;
  Budget budget_;
  // While the default of a parameter is evaluated: the parameters from it on, which can be read where they were given.
  struct Unset {
    const Scope* scope;
    std::span<const Param> params;
    const Resource* given;  // nullptr: none of them was
    std::string_view what;
  };
  const Unset* unset_ = nullptr;
  Val default_of(const Param& p, Scope& scope, const Unset& unset);
  Catalog catalog_;
  ResourceIndex index_{catalog_};
  std::deque<Scope> scopes_;
  VarRoom var_room_;
  // A scope that ends with a call: its variables are given back.
  struct CallScope : Scope {
    explicit CallScope(VarRoom& room) : room_(room) {}
    CallScope(const CallScope&) = delete;
    CallScope& operator=(const CallScope&) = delete;
    ~CallScope() { vars.give_back(room_); }

   private:
    VarRoom& room_;
  };
  Scope* top_ = nullptr;
  Scope* node_scope_ = nullptr;
  std::unique_ptr<ModuleFacts> module_facts_;
  std::set<std::string, std::less<>> facts_asked_;  // of facter, one by one
  bool asked_for_exported_ = false;
  bool facter_asked_ = false;  // for all
  std::unordered_map<Symbol, Scope*> class_scopes_;
  std::unordered_map<Symbol, int> class_busy_;
  std::deque<Collector> collectors_;
  std::unordered_map<Symbol, std::size_t> realized_;    // how many of each type's events `Type <| |>` has seen
  std::vector<Resource*> unevaluated_;                  // defines and classes, in the order they were added
  std::unordered_set<u64> contained_;                   // by contain(): the numbers of container and class
  std::unordered_set<const Definition*> may_override_;  // where a collector with overrides has found something
  std::unordered_set<const Resource*> changed_late_;    // overridden after they were evaluated
  std::vector<Relationship> relationships_;
  struct PendingOverride {
    const Type* reference;
    std::vector<ResourceParam> params;
    const Definition* source;
    bool from_collector;
    Pos at;
    bool done = false;
  };
  std::deque<PendingOverride> overrides_;
  std::unordered_map<const Node*, const Type*> types_;  // types written without variables, evaluated once
  std::unordered_map<Symbol, const Type*> aliases_;
  std::unordered_map<Symbol, Symbol> type_names_;
  std::unordered_map<Symbol, const NativeType*> native_types_;
  std::unordered_map<Symbol, std::shared_ptr<RubyForms>> ruby_forms_;
  std::unordered_map<const Source*, Symbol> module_names_;
  std::unique_ptr<Hiera> hiera_;
  std::vector<std::string*> epp_out_;  // where rendered text goes, innermost last
  std::unordered_set<u64> warned_;
  Pos at_;  // what is being evaluated, for a limit that is met there
};

}  // namespace tutti::puppet
