#pragma once

#include <array>
#include <memory>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "lang/cue/eval/list_index.h"
#include "lang/cue/eval/vertex.h"

// What a vertex needs while it is being evaluated: the tasks still to run, what is known already, and what the
// conjuncts seen so far say about its value. Made when the evaluation of a vertex begins, given back when its parent is
// done.
namespace tutti::cue {

class Context;
struct State;

// What can be known about a vertex. Most are known when the number of tasks that could still change them is zero.
using Cond = u16;
constexpr Cond kAncestorsDone = 1, kArcTypeKnown = 2, kValueKnown = 4, kScalarKnown = 8, kFieldConjunctsKnown = 16,
               kFieldSetKnown = 32, kTasksDone = 64, kSubFieldsDone = 128, kDisjunctionTask = 256,
               kChildConjunctsDone = 512;
constexpr Cond kAllKnown = 0x7fff, kNever = 0x8000;
constexpr Cond kCounted = kArcTypeKnown | kValueKnown | kFieldConjunctsKnown | kTasksDone | kDisjunctionTask;
constexpr Cond kGenericConjunct = kTasksDone | kScalarKnown | kValueKnown | kFieldConjunctsKnown;
constexpr Cond kFieldConjunct = kTasksDone | kFieldConjunctsKnown | kValueKnown;
constexpr Cond kScalarValue = kScalarKnown | kDisjunctionTask;
constexpr Cond kNeedFieldConjuncts = kFieldConjunctsKnown | kAncestorsDone;
constexpr Cond kNeedFieldSet = kFieldSetKnown | kAncestorsDone;
constexpr Cond kNeedTasksDone = kAncestorsDone | kTasksDone;
constexpr int kConditions = 10, kFieldConjunctsIndex = 4, kTasksIndex = 6;

// How to go on when something is not known: not at all, as far as possible, by waiting, or by taking it as decided.
enum class Mode : u8 { kNone, kIgnore, kAttempt, kYield, kFinalize };

struct Flags {
  Status status = Status::kUnprocessed;
  Cond condition = 0;
  Mode mode = Mode::kNone;
  bool check_typos = false;
  bool concrete = false;
};

constexpr Flags kWholeValue{Status::kFinalized, kAllKnown, Mode::kFinalize, true};

enum class TaskState : u8 { kReady, kRunning, kWaiting, kSuccess, kFailed, kCancelled };
enum class TaskKind : u8 { kExpr, kResolver, kDynamic, kPattern, kComprehension, kListLit, kListVertex, kDisjunctions };
enum class SchedState : u8 { kReady, kRunning, kSuccess, kFailed };

Cond task_completes(TaskKind k);

struct Task {
  TaskKind run;
  TaskState state = TaskState::kReady;
  Cond completes = 0, block_cond = kNever;
  bool defunct = false, unblocked = false, retry = false;
  Vertex* for_tried = nullptr;  // waits until it is decided which of its disjuncts this is
  State* blocked_on = nullptr;
  Bottom* err = nullptr;
  State* node = nullptr;
  Environment* env = nullptr;
  CloseInfo id;
  Node* x = nullptr;
};

// Where lists are gone through, so many count as one step of the budget.
constexpr std::size_t kLookedAtInAStep = 16;

// Thrown to leave a task that has to wait.
struct Yield {};

enum class Default : u8 { kMaybe, kIs, kNot };

struct DisjunctArm {
  Node* expr;
  Bottom* err = nullptr;
  Default mode;
};
Disjunction* make_disjunction(NodeStore& store, std::span<const DisjunctArm> arms);  // leaf.cpp
struct PendingDisjunction {
  Environment* env;
  CloseInfo ci;
  Node* src;
  std::vector<DisjunctArm> arms;
};

enum class DefKind : u8 { kUnknown, kEmbedding, kReference, kStruct };

// Something unified into the vertex whose fields it may have to agree with.
struct RefInfo {
  Vertex* v;
  DefId id, parent, embed;
  bool ignore;
  DefKind kind;
  bool recursive;
  bool conjunct_opened;
};
struct ReplaceId {
  DefId from, to;
  friend auto operator<=>(const ReplaceId&, const ReplaceId&) = default;
};
constexpr u8 kHasEllipsis = 1, kHasTop = 2, kHasStruct = 4, kHasOpenValidator = 8;
// Everything a number is contained in, ascending.
struct Ancestry {
  DefId of;
  std::vector<DefId> all;
};
struct ConjunctInfo {
  DefId id, embed;
  Kinds kind;
  u8 flags;
};
struct ReqSet {
  DefId id, parent, embed;
  DefKind kind;
  bool once, ignored, removed, conjunct_opened;
};

struct Receiver {
  Vertex* v;
  CloseInfo ci;
};
struct CyclicConjunct {
  Conjunct c;
  Vertex* arc;
};
struct PostCheck {
  Environment* env;
  Node* expr;
  bool expect_error;
};

enum class EmbedClosed : u8 { kNone, kOnce, kRecursive };

// The part that a copy for a disjunct takes over as it is.
struct StateFlags {
  bool* try_skip = nullptr;
  int completing = 0;
  int eval_depth = 0;
  bool initialized = false, to_complete = false;
  EmbedClosed embed_closedness = EmbedClosed::kNone;
  Mode run_mode = Mode::kNone;
  bool has_top = false, has_any_cyclic = false, has_ancestor_cycle = false, has_non_cycle = false,
       has_non_cyclic = false;
  bool has_struct = false, is_def = false;
  bool drop_parent_requirements = false, computed_close_info = false, computed_flat = false;
  bool is_shared = false, no_sharing = false, share_decremented = false;
  Cycle share_cycle = Cycle::kNone;
  Default default_mode = Default::kMaybe, orig_default = Default::kMaybe;
  bool has_field_value = false;
  bool a_struct = false;
  bool list_closed = false;
  Kinds kind = kTopKind;
  i32 depth = 0;
  int max_list = 0;
  DefId kind_id = 0, scalar_id = 0;
  Conjunct shared;
  Node* orig_base = nullptr;
  Vertex* default_attempt = nullptr;
  Node* kind_expr = nullptr;
  Node* scalar = nullptr;
  Node* max_node = nullptr;
  Bound *lower = nullptr, *upper = nullptr;
  Bottom* errs = nullptr;
};

// Which vertices were copied for a disjunct, after those that were copied for the one it is made of.
struct Copies {
  struct Pair {
    Vertex *of, *copy;
  };
  std::shared_ptr<const Copies> before;
  List<Pair> pairs;               // by address, once all are in
  Vertex* last(Vertex* v) const;  // nullptr when there is no copy of it

 private:
  Vertex* find(Vertex* v) const;
};

// Disjuncts by their prints, once there are many.
using Alike = std::unordered_map<u64, std::vector<State*>>;

// A state that may be given back in the meantime.
struct Kept {
  State* state;
  u32 life;
  bool alive() const;
};

struct State : StateFlags {
  explicit State(Context& c) : ctx(c) {}

  Context& ctx;
  Vertex* node = nullptr;
  Vertex* underlying = nullptr;
  Vertex* link_parent = nullptr;  // where a value without a place will be put
  State* next_free = nullptr;
  int refs = 0;
  u32 life = 0;  // how often it was given back
  bool is_disjunct = false;
  bool has_disjunction = false;
  bool held_up = false;  // cannot be finished before it is decided which disjunct something is

  // scheduler
  SchedState sched = SchedState::kReady;
  Cond completed = 0, needs = 0, provided = 0, frozen = 0;
  bool is_frozen = false;
  std::array<i32, kConditions> counters{};
  u32 first_ready = 0;                    // no task before this one is ready
  u32 comprehensions = 0, inserting = 0;  // tasks that run: comprehensions, and those of them that know what they bring
  List<Task*> tasks, parent_tasks, blocking;
  List<Vertex*> deferred;

  List<Vertex*> to_free, arc_map;
  List<Receiver> notify;
  List<CloseInfo> shared_ids;
  List<CyclicConjunct> cyclic;
  List<RefInfo> reqs;
  List<ReplaceId> replaces, flat_replaces;
  DefId min_flat_to = 0;
  u32 containment_queries = 0;
  u32 shape_of = 0;  // so many conjuncts gave the shape (cycle.cpp)
  u64 shape = 0;
  std::vector<Ancestry> ancestries;  // by conjunct, once there are many queries
  List<ConjunctInfo> infos;
  std::unique_ptr<ListIndex> reqs_index, infos_index, arc_index;  // by vertex, number, vertex
  List<ReqSet> req_sets;
  List<Conjunct> checks;
  List<PostCheck> post_checks;
  std::vector<PendingDisjunction> disjunctions;
  List<Kept> disjuncts;
  Disjunction* settled = nullptr;  // found without copies
  u64 print = 0;                   // of a disjunct: different for different values, mostly
  List<Bottom*> disjunct_errs, user_errs;
  std::shared_ptr<const Copies> copies;           // of a disjunct: what it is a copy of
  std::unique_ptr<std::unordered_set<u64>> keys;  // of the first `keyed` conjuncts, once there are many
  u32 keyed = 0;

  // While one lives, the state is not given back.
  struct Hold {
    explicit Hold(State* s) : state(s) { ++s->refs; }
    ~Hold() { --state->refs; }
    Hold(const Hold&) = delete;
    Hold& operator=(const Hold&) = delete;
    State* state;
  };

  // schedule.cpp
  bool meets(Cond c) const {
    if (sched != SchedState::kReady) c &= provided;
    return (completed & c) == c;
  }
  bool process(Cond c, Mode mode);
  void signal(Cond c);
  void freeze(Cond c);
  void block_on(Cond c) { provided |= c; }
  Task* schedule_task(TaskKind k, Environment* env, Node* x, const CloseInfo& ci);
  static void run_task(Task* t, Mode mode);
  // t waits for this state, in the list of those to go on when nothing else can; does not return to the task
  void wait_for(Task* t, Cond c, std::vector<Task*>& list);
  std::size_t first_not_started();
  bool all_tasks_started() { return first_not_started() == tasks.size(); }
  bool all_tasks_finished() const;
  bool has_active_parent_task() const;
  Vertex* waits_for_tried() const;  // a task of it does
  bool process_ancestors(Mode mode);
  Cond completions();
  Cond defer_field_set(Cond c);
  void increment(Cond c);
  void decrement(Cond c);
  void complete_tasks(Mode mode);

  // conjunct.cpp
  void schedule_conjuncts();
  void schedule_conjunct(Conjunct c, CloseInfo id);
  bool followed_already(Environment* env, Node* ref, const CloseInfo& id);
  void schedule_struct(Environment* env, StructLit* s, CloseInfo ci);
  void schedule_vertex(Conjunct c, Vertex* arc, CloseInfo ci);
  void insert_value(Environment* env, Node* v, CloseInfo id);
  void add_notify(Vertex* v, const CloseInfo& ci);
  bool update_kind(Kinds k, Node* v, const CloseInfo& id);
  void set_embed_closedness(Vertex* arc);
  void flush_deferred_cyclic();

  // fields.cpp
  bool may_have(const Conjunct& c);
  Vertex* get_arc(Label l, ArcType mode, bool* added = nullptr);
  Vertex* insert_arc(Label l, ArcType mode, const Conjunct& c, const CloseInfo& id, bool check);
  void insert_pattern(Node* pattern, const Conjunct& c);
  bool insert_constraint(Node* pattern, const Conjunct& c);
  void add_constraint(Vertex* arc, ArcType mode, Conjunct c, bool check);
  void update_list(Node* list, const CloseInfo& id, bool closed);

  // tasks.cpp
  void run_list_lit(Task* t, Mode mode);
  void run_list_vertex(Task* t);
  void run_resolver(Task* t, Mode mode);
  void run_dynamic(Task* t, Mode mode);
  void run_pattern(Task* t);
  void run_comprehension(Task* t);

  // disjunction.cpp
  void schedule_disjunction(PendingDisjunction d);
  Bottom* run_disjunctions();
  bool settle(const std::vector<PendingDisjunction>& all);
  void decided_first(std::vector<PendingDisjunction>& all);
  bool impossible(Environment* env, Node* x, int follow);
  void cross_product(std::vector<State*>& dst, std::vector<State*>& cross, PendingDisjunction& d, Mode mode,
                     bool to_the_end);
  State* do_disjunct(Conjunct c, Default m, Mode mode, Vertex* orig, Bottom** err);
  void append_disjunct(Alike& alike, std::vector<State*>& a, State* x);
  void finalize_disjunctions();
  Bottom* collect_errors(std::span<const PendingDisjunction> tried);
  Error* disjunct_error();
  Bottom* get_error();
  Bottom* get_error_all();

  // unify.cpp
  void update_scalar();
  bool held_up_by(Vertex* shared);
  bool complete_arcs(Cond c, Mode mode, bool check_typos);
  void eval_arc_types(Mode mode);
  void validate_value();
  Node* validators();
  void trail(std::vector<Pos>& out, DefId id) const;
  void report_conflict(Node* a, Node* b, Kinds ka, Kinds kb, DefId from_a, DefId from_b);
  void report_field_mismatch(Vertex* arc);

  // cycle.cpp
  bool detect_cycle(Vertex* arc, Environment* env, Node* ref, CloseInfo& ci);
  void mark_non_cyclic(const CloseInfo& id) {
    if (id.cycle == Cycle::kNone || id.cycle == Cycle::kOptional) has_non_cyclic = true;
  }
  bool mark_cyclic(Vertex* arc, Environment* env, Node* ref, CloseInfo& ci);
  bool mark_cyclic_path(Vertex* arc, Environment* env, Node* ref, CloseInfo& ci);
  bool has_ancestor(Vertex* arc);
  bool only_cyclic() const { return (has_ancestor_cycle && !has_non_cycle) || (has_any_cyclic && !has_non_cyclic); }
  void update_cyclic(const CloseInfo& ci);
  bool assert_structural_cycle();
  bool unfolds_for_ever() const;
  void report_cycle();

  // share.cpp
  void unshare();
  void finalize_sharing();
  void add_shared(const CloseInfo& id);
  void count_shared();
  void share(const Conjunct& c, Vertex* arc, const CloseInfo& id);
  bool share_if_possible(const Conjunct& c, Vertex* arc, const CloseInfo& id);

  // close.cpp
  void add_replacement(ReplaceId r);
  void update_info(Kinds k, const CloseInfo& id, u8 flags);
  CloseInfo add_resolver(Node* p, Vertex* v, CloseInfo id, bool force_ignore);
  CloseInfo new_req(Node* p, CloseInfo id, DefKind kind);
  CloseInfo inject_embed(Node* x, bool explicit_open, CloseInfo id);
  CloseInfo split_struct(StructLit* s, CloseInfo id);
  void check_typos();
  State& leaf_view(Vertex* leaf, bool first);
  List<ReqSet>& required();
  bool evidence_for_all(List<ReqSet>& a, const List<ConjunctInfo>& infos);
  bool evidence_for_one(List<ReqSet>& a, std::size_t i, const List<ConjunctInfo>& infos);
  bool contains(DefId node, DefId child);
  const Ancestry& ancestry(DefId child);
  void flatten_replaces();
  template <class F>
  void walk_out(DefId child, F each);
  bool evidence_for_many(List<ReqSet>& a, const List<ConjunctInfo>& infos);
  void find_flags();
  void find_ellipses(const List<ConjunctInfo>& infos, const List<ReqSet>& all);
  void filter_top(List<ReqSet>& a, const List<ConjunctInfo>& parent);

  // errors
  void add_bottom(Bottom* b);
  void add_error(Error* e);
  bool has_err();
  Bottom* get_err();
};

inline bool Kept::alive() const { return state->life == life; }

}  // namespace tutti::cue
