#pragma once

#include <memory>
#include <string>
#include <unordered_map>
#include <unordered_set>

#include "base/budget.h"
#include "base/stack.h"
#include "lang/cue/builtin/registry.h"
#include "lang/cue/eval/id_map.h"
#include "lang/cue/eval/state.h"

namespace re2 {
class RE2;
}

namespace tutti::cue {

class Evidence;

// The evaluator. One belongs to one evaluation of an instance with all its imports; not for several threads.
class Context {
 public:
  Context(NodeStore& store, Budget& budget);
  ~Context();

  // ---- for users
  Vertex* new_root(std::span<StructLit* const> files);
  void finalize(Vertex* v);
  // The package an import refers to, or nullptr; set by the loader. Packages of builtins are found without it.
  std::function<Vertex*(Symbol path)> import_package;
  Sources* sources = nullptr;  // where texts that functions read have their places

  NodeStore& store;
  Room& arena;
  Budget& budget;

  // ---- where evaluation is
  u32 levels = 0;
  const char* stack_floor = nullptr;  // of the thread that evaluates
  [[noreturn]] void too_deep() const;
  struct Frame {
    Environment* env;
    Bottom* err;
    Pos src;
    CloseInfo ci;
  };
  Environment* e = nullptr;
  CloseInfo ci;
  Pos src;
  Bottom* errs = nullptr;
  Vertex* vertex = nullptr;
  int eval_depth = 0, in_validator = 0, in_detached = 0;
  bool is_validator = false, pending_parent = false;
  bool every_error = false;    // a field that is not allowed is told beside others that are wrong
  bool settles_leaves = true;  // false: all is evaluated in full, which must come to the same
  std::vector<Task*> stack, blocking;
  std::vector<State*> free_scope;
  std::vector<Label> alt_path;
  bool use_alt_path = false;

  Frame push_state(Environment* env, Pos at) {
    Frame f{e, errs, src, ci};
    errs = nullptr;
    if (at) src = at;
    e = env;
    return f;
  }
  Frame push_conjunct(const Conjunct& c);
  Bottom* pop_state(const Frame& f) {
    Bottom* b = errs;
    e = f.env, errs = f.err, src = f.src, ci = f.ci;
    return b;
  }
  Task* current() { return stack.empty() ? nullptr : stack.back(); }

  // ---- vertices and scopes
  Vertex* new_vertex() {
    if (free_vertices_.empty()) return store.make<Vertex>();
    Vertex* v = free_vertices_.back();
    free_vertices_.pop_back();
    return new (v) Vertex;
  }
  Vertex* inline_vertex(Node* base, const Conjunct* c);
  State* bare_state(Vertex* v);
  void begin(Vertex* v);
  bool settle_leaf(Vertex* v);  // leaf.cpp
  // As Vertex::only_value: a field of a disjunct that is no more than that is not evaluated before the disjunct is
  // whole, since there is nothing to find out.
  Node* only_value(const Vertex* v) const { return settles_leaves ? v->only_value() : nullptr; }
  State* state(Vertex* v);  // with its conjuncts scheduled; nullptr when finalized
  void free_state(State* s);
  void reclaim(Vertex* v);      // after v was finalized
  void reclaim_arc(Vertex* a);  // of a vertex that no longer needs what its arcs hold
  void reclaim_all(Vertex* v);  // v is no longer needed
  Environment* new_env(Environment* up, Vertex* v);
  Environment* env_up(u32 n);
  Vertex* env_vertex(Environment* env) { return overlays.empty() ? env->vertex : overlay_root(env->vertex); }
  Vertex* rel_node(u32 up) { return env_vertex(env_up(up)); }
  void clear_arcs(Vertex* v);

  struct Overlay {
    const Copies* copies;
    Vertex* root;
    Vertex* orig;                  // what the disjunct is tried for
    std::vector<Task*>* blocking;  // what waited before it was
  };
  std::vector<Overlay> overlays;
  Vertex* overlay_root(Vertex* v);

  // ---- evaluation (unify.cpp, lookup.cpp, expr.cpp)
  bool unify(Vertex* v, Flags f);
  void complete_arcs(Vertex* v);
  void complete_arcs_only(Vertex* v);
  Vertex* lookup(Vertex* v, Pos pos, Label l, Flags f);
  Vertex* part_of(Vertex* n, Pos pos, Label l, Flags f);
  bool parents_done(Vertex* v);  // all conjuncts that v's children may get are known
  void update_arc_type(Vertex* v, ArcType t);
  bool is_defined(Vertex* v);
  void insert_conjunct(Vertex* v, Conjunct c, const CloseInfo& id, ArcType mode, bool check, bool* added);
  Node* eval(Node* x, Flags f);
  Node* eval_ci(Node* x, Flags f, CloseInfo* out);
  Node* value(Node* x, Flags f);
  Node* evaluate(Node* x, Flags f);   // an expression that is not a reference
  Vertex* resolve(Node* x, Flags f);  // a reference
  Node* evaluate_vertex(Vertex* v, Node* ref, Flags f);
  Node* unify_node(Node* x, Flags f);
  void wait_while_tried(Vertex* v);
  const Overlay* trying_elsewhere(Vertex* v);
  Vertex* node(Node* orig, Node* x, bool scalar, Flags f);
  Node* concrete(Environment* env, Node* x, Op op);
  Node* get_default(Node* v, bool* ok);
  Node* default_of(Node* v);  // never fails: a disjunction stays one
  Node* chosen(Node* v);      // the same, without making vertices: an open list stays open
  Node* unwrap(Node* v);
  Label label_from(Node* src, Node* v);
  Vertex* for_source(Node* x);
  Bottom* yield_clauses(Vertex* node, Environment* env, Comprehension* c, std::vector<Environment*>& out);
  bool has_depth_cycle(Vertex* v);
  bool shared_target_in_cycle(Vertex* w);
  bool leads_back(Vertex* w);
  Vertex* unify_values(Node* a, Node* b);
  Vertex* to_data(Vertex* v);

  // ---- operators and values (binop.cpp, bounds.cpp, equal.cpp)
  Node* binop(Op op, Node* left, Node* right);
  bool binop_bool(Op op, Node* left, Node* right);
  Node* simplify_bounds(Kinds k, Bound* x, Bound* y);
  bool equal(Node* a, Node* b, bool structural, bool regular_only = false);
  const Node* as_it_is(Node* v);
  Bottom* validate(const Conjunct& check, Node* v);  // a bound or validator against a value
  bool match_pattern(Node* pattern, Label l);
  const re2::RE2* regexp(Node* v);
  Kinds kinds(const Node* v);
  int concreteness(const Node* v);
  bool is_concrete(const Node* v) { return v && concreteness(v) <= 1; }
  bool accept(Vertex* v, Label l);
  Node* label_value(Label l);
  Node* from_index(u32 i);                      // >=i
  std::string to_text(Node* v, Kinds allowed);  // for interpolation
  bool bool_value(Node* v, Op as = Op::kNone);
  Num* num(Node* v, Op as);
  i64 uint(Node* v, std::string_view as);
  Node* call(Call* c, Flags f);
  Node* call_builtin(const Builtin* b, const Call* c, std::vector<Node*> args, bool validating);
  Bottom* undecided_argument(const Builtin* b, std::span<Node* const> args, bool validating);
  Bottom* what_is_open(Node* v);
  Node* open_while_arguments_are(const Builtin* b, std::span<Node* const> args, Node* said);
  Bottom* in_call(const Builtin* b, const Call* x, const Bottom* cause);  // "error in call to NAME: " before it
  // A check of a value against schemas that is being made: the same one of the same value again would have no end, one
  // of a part of the value has.
  struct Check {
    Check(Context& c, const Call* x) : context(c), call(x), at(c.vertex), outer(c.checking_) { c.checking_ = this; }
    ~Check() { context.checking_ = outer; }
    Check(const Check&) = delete;
    Check& operator=(const Check&) = delete;
    Context& context;
    const Call* call;
    const Vertex* at;
    const Check* outer;
  };
  bool in_same_check(const Call* x) const;
  Node* make_bool(bool b);
  Node* make_string(std::string_view s) { return store.make<String>(store.keep(s)); }
  Node* make_bytes(std::string_view s) { return store.make<Bytes>(store.keep(s)); }
  Vertex* new_list(std::span<Node* const> values);
  // Lists that only a call saw whose result is a scalar are given back: `list.Sum(list.Slice(l, 0, i))` for every i
  // would else take memory for all of them.
  static bool made_by_function(Node* v);
  void give_back_arguments(const Call* x, std::span<Node* const> args, Node* result);

  // ---- errors (errors.cpp)
  Bottom* combine(Bottom* a, Bottom* b);
  Bottom* as_bottom(Node* v);  // unwrapped
  Error* join(Error* a, Error* b);
  template <class... A>
  Error* error_at(Pos pos, const char* format, const A&... args) {
    std::array<ErrorArg, sizeof...(A) + 1> list{arg(args)..., ErrorArg{}};
    return make_error(pos, format, std::span<const ErrorArg>(list.data(), sizeof...(A)));
  }
  template <class... A>
  Bottom* bottom(Code code, Pos pos, const char* format, const A&... args) {
    return store.make<Bottom>(code, error_at(pos, format, args...), vertex);
  }
  template <class... A>
  Bottom* fail(const char* format, const A&... args) {  // NewErrf
    return bottom(Code::kEval, src, format, args...);
  }
  template <class... A>
  void add_errf(Code code, Pos pos, const char* format, const A&... args) {
    add_bottom(bottom(code, pos, format, args...));
  }
  void add_bottom(Bottom* b) { errs = combine(errs, b); }
  bool has_err() const { return errs != nullptr; }
  Bottom* take_err() {
    Bottom* b = errs;
    errs = nullptr;
    return b;
  }
  Bottom* field_error(Vertex* v, Pos pos, Label l, const char* int_format, const char* format);
  void index_error(Vertex* v, Pos pos, Label l) {
    field_error(v, pos, l, "index out of range [{}] with length {}", "undefined field: {}");
  }
  void add_child_error(State* n, Bottom* b);
  bool is_cycle(Node* v);  // the placeholder, also through vertices
  Bottom* const cycle;     // what a vertex holds before anything is known
  Vertex* const empty_node;
  Node* const struct_marker;

  ErrorArg arg(const Node* n) { return {ErrorArg::kNode, {.node = n}}; }
  ErrorArg arg(Label l) { return {ErrorArg::kLabel, {.bits = l.bits()}}; }
  ErrorArg arg(Op op) { return {ErrorArg::kOp, {.bits = static_cast<u32>(op)}}; }
  ErrorArg arg(Kinds k) { return {ErrorArg::kKinds, {.bits = k}}; }
  ErrorArg arg(int i) { return {ErrorArg::kInt, {.integer = i}}; }
  ErrorArg arg(i64 i) { return {ErrorArg::kInt, {.integer = i}}; }
  ErrorArg arg(u32 i) { return {ErrorArg::kInt, {.integer = i}}; }
  ErrorArg arg(std::string_view s);
  Error* make_error(Pos pos, const char* format, std::span<const ErrorArg> args);

  // ---- closedness (close.cpp)
  struct Containment {
    DefId id;
    Pos pos;
  };
  std::vector<Containment> containments{{0, {}}};
  DefId next_def(const Node* n);
  // used within one check
  std::vector<DefId> todo;
  std::vector<const ConjunctInfo*> by_id;
  IdMap reached, reached_embed, requirement_at, required_at, visited, flags_in, struct_in, ellipsis_in;
  void not_allowed(Vertex* arc, Bottom** out);
  Evidence& evidence();

  u32 next_comp = 0;
  u64 cyclic_conjuncts = 0;  // how many came by
  // References are followed however often they come by, until the value is too deep to have an end; see unfold.cpp.
  bool unfolding = false;
  u64 doubts = 0;        // how often something was found that unfolding may find otherwise
  u64 met_again = 0;     // how often a disjunct led to what is being evaluated; see any_order.cpp
  bool by_name = false;  // fields are evaluated in the order of their names, conjuncts in that of their text
  void count_cyclic();
  Task* new_task();
  void free_task(Task* t) { task_pool_.push_back(t); }

 private:
  friend struct State;

 public:
  State* bare_copy(Vertex* v) { return new_state(v); }
  State& leaf_view() { return *leaf_view_; }

 private:
  friend class Unfolding;
  void start_again(Vertex* v);                // unfold.cpp
  void take_any_order(Vertex* v, u64 steps);  // any_order.cpp
  State* new_state(Vertex* v);
  void reclaim_rec(Vertex* v, bool force);
  void yield_from(Comprehension* c, std::size_t i, u32 comp, std::vector<Environment*>& out);
  u64 scopes_kept_ = 0;  // grows whenever something may have kept the scope it was evaluated in
  Vertex* package_vertex(Symbol path, Pos at);
  Vertex* literal_operand(StructLit* x);  // operand.cpp
  bool same_scopes(const Environment* a, const Environment* b, u64 used);
  bool same_conjunct(const Conjunct& a, const Conjunct& b);
  u64 scopes_of(const Node* x);  // those its references lead to

  // The operands made of a literal, the last ones, by the scope it stood in.
  struct Operand {
    Environment* env;
    Vertex* value;
    const Vertex* made_for;
  };
  std::unordered_map<const StructLit*, std::vector<Operand>> operands_;
  std::unordered_map<const Node*, u64> scopes_used_;

  std::vector<Task*> task_pool_;
  std::vector<std::pair<const Call*, Node*>> active_calls_;  // functions being called, with their first arguments
  void give_back_list(Vertex* v);
  std::vector<Vertex*> free_vertices_;
  std::array<std::pair<Vertex*, Vertex*>, 8> made_of_{};  // the last lists of functions, and those they were made of
  std::size_t next_made_of_ = 0;
  const Check* checking_ = nullptr;
  std::unique_ptr<Evidence> evidence_;
  const Vertex* may_unfold_ = nullptr;               // what is evaluated, as long as it may be left to unfolding
  std::unordered_set<const Vertex*> leads_nowhere_;  // all they hold is final; see leads_back
  State* free_states_ = nullptr;
  std::vector<State*> states_;
  std::unique_ptr<State> leaf_view_;  // see State::leaf_view
  std::vector<Node*> from_index_;
  std::unordered_map<std::string_view, std::unique_ptr<re2::RE2>> regexps_;
  std::unordered_map<Symbol, Vertex*> packages_;
};

struct ArcScope {
  ArcScope(Context& c, Vertex* v) : context(c), saved(c.vertex) { c.vertex = v; }
  ~ArcScope() { context.vertex = saved; }
  ArcScope(const ArcScope&) = delete;
  ArcScope& operator=(const ArcScope&) = delete;
  Context& context;
  Vertex* saved;
};

struct EvalScope {
  EvalScope(Context& c, Environment* env, Pos at) : context(c), frame(c.push_state(env, at)) {}
  EvalScope(Context& c, const Conjunct& x) : context(c), frame(c.push_conjunct(x)) {}
  ~EvalScope() {
    if (open) context.pop_state(frame);
  }
  EvalScope(const EvalScope&) = delete;
  EvalScope& operator=(const EvalScope&) = delete;
  Bottom* pop() {
    open = false;
    return context.pop_state(frame);
  }
  Context& context;
  Context::Frame frame;
  bool open = true;
};

// One level of evaluation for as long as it lives. Ends the request where the user's limit is met, and before the
// stack is used up, whatever limit was asked for.
class Level {
 public:
  explicit Level(Context& c) : context_(c) {
    if (c.levels == 0) c.stack_floor = tutti::stack_floor();
    if (c.levels >= c.budget.limits().depth || reinterpret_cast<const char*>(this) < c.stack_floor) c.too_deep();
    c.levels++;
  }
  ~Level() { --context_.levels; }
  Level(const Level&) = delete;
  Level& operator=(const Level&) = delete;

 private:
  Context& context_;
};

template <class T>
struct Restore {
  explicit Restore(T& v) : ref(v), saved(v) {}
  Restore(T& v, T now) : ref(v), saved(v) { v = now; }
  ~Restore() { ref = saved; }
  Restore(const Restore&) = delete;
  Restore& operator=(const Restore&) = delete;
  T& ref;
  T saved;
};

inline CloseInfo sub_field(CloseInfo ci) {
  ci.from_embed = false;
  ci.priority = 0;
  return ci;
}
inline void set_optional(CloseInfo& ci) {
  if (ci.cycle == Cycle::kNone) ci.cycle = Cycle::kOptional;
}
inline Vertex* deref(Vertex* v) {
  if (v->base && v->base->type == NodeType::kVertex) v = v->deref_value();
  return v->state ? v->state->underlying : v;
}
bool lies_within(const Vertex* v, const Vertex* outer);  // or is it
inline bool equal_deref(Vertex* a, Vertex* b) { return deref(a) == deref(b); }
bool allowed_in_closed(Label l);
inline bool literal_bottom(const Node* n) {
  return n->type == NodeType::kBottom && to<Bottom>(n)->code == Code::kLegacyUser;
}

}  // namespace tutti::cue
