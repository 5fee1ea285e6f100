#pragma once

#include <cstring>
#include <type_traits>

#include "lang/cue/eval/node.h"
#include "lang/cue/eval/room.h"

namespace tutti::cue {

struct Vertex;
struct State;
struct ArcIndex;

// What has been looked up for a let in this scope; see LetRef.
struct LetCache {
  Ref<const Node> expr;
  Ref<Vertex> arc;
  Ref<Vertex> result;
  bool again = false;
  Ref<LetCache> next;
};

// Where the references of an expression look: one vertex a scope.
struct Environment {
  Ref<Environment> up;
  Ref<Vertex> vertex;
  Label dynamic_label;
  u32 comp_id = 0;  // of the run of the innermost comprehension around this scope
  Ref<LetCache> lets;
};

enum class Cycle : u8 { kNone, kOptional, kMaybe, kCyclic };

// One reference followed on the way to a conjunct: how structural cycles are found.
struct RefNode {
  Ref<const Node> ref;
  Ref<Vertex> arc;   // what it refers to
  Ref<Vertex> node;  // where it was evaluated
  Ref<RefNode> next;
  i32 depth;
};

using DefId = u32;

// How a conjunct came here, for closedness and cycles.
struct CloseInfo {
  DefId def = 0;    // the reference, embedding or literal it came through
  DefId embed = 0;  // the innermost embedding around it
  DefId outer = 0;  // the struct literal that embeddings would close
  bool from_embed : 1 = false;
  bool from_def : 1 = false;
  bool top_def : 1 = false;
  bool opened : 1 = false;
  bool conjunct_opened : 1 = false;
  u8 unused : 3 = 0;
  Cycle cycle = Cycle::kNone;
  signed char priority = 0;
  u8 unused_too = 0;
  Ref<RefNode> refs;
  bool is_cyclic() const { return cycle == Cycle::kCyclic; }
  // Asked for every conjunct: all bytes count.
  friend bool operator==(const CloseInfo& a, const CloseInfo& b) { return std::memcmp(&a, &b, sizeof a) == 0; }
};
static_assert(std::has_unique_object_representations_v<CloseInfo>);

struct Conjunct {
  Environment* env = nullptr;
  Node* x = nullptr;  // Field, Pattern, ... or an expression
  CloseInfo ci;
};

// As a vertex keeps it. How it came is the same for most fields of a literal, and kept once for them.
struct KeptConjunct {
  Ref<Environment> env;
  Ref<Node> x;
  Ref<const CloseInfo> ci;
  operator Conjunct() const { return {env, x, *ci}; }
};

// A growing list in an arena, for what lives as long as the evaluation. 8 bytes; the items are behind how many there is
// room for. A copy is of the same items in the same place, until one of the two grows.
template <class T>
class Grow {
 public:
  static_assert(alignof(T) <= alignof(u32));
  Grow() = default;
  Grow(const Grow& o) : items_(o.items_), size_(o.size_), shared_(1), full_(1) { o.shared_ = 1; }
  Grow& operator=(const Grow& o) {
    if (this == &o) return *this;
    o.shared_ = 1;
    items_ = o.items_, size_ = o.size_, shared_ = full_ = 1;
    return *this;
  }

  u32 size() const { return size_; }
  bool empty() const { return size_ == 0; }
  T* begin() { return items_; }
  T* end() { return begin() + size_; }
  const T* begin() const { return items_; }
  const T* end() const { return begin() + size_; }
  T& operator[](std::size_t i) { return items_.operator->()[i]; }
  const T& operator[](std::size_t i) const { return items_.operator->()[i]; }
  T& back() { return (*this)[size_ - 1]; }
  void push(Room& room, const T& v) {
    if (size_ == capacity()) {
      T one = v;  // may be one of ours
      reserve(room, size_ ? size_ * 2 : 1);
      (*this)[size_++] = one;
      return;
    }
    (*this)[size_++] = v;
  }
  void reserve(Room& room, u32 n) {
    if (n <= capacity()) return;
    auto* place = static_cast<u32*>(room.take(bytes(n)));
    *place = n;
    T* bigger = reinterpret_cast<T*>(place + 1);
    for (u32 i = 0; i < size_; ++i) new (bigger + i) T((*this)[i]);
    if (items_ && !shared_) room.give(head(), bytes(capacity()));
    items_ = bigger;
    shared_ = full_ = 0;
  }
  void resize_down(u32 n) { size_ = n; }
  void forget() { *this = Grow(); }
  void give_back(Room& room) {
    if (items_ && !shared_ && !full_) room.give(head(), bytes(capacity()));
    forget();
  }

 private:
  static constexpr std::size_t bytes(u32 n) { return sizeof(u32) + n * sizeof(T); }
  u32* head() const { return reinterpret_cast<u32*>(items_.get()) - 1; }
  u32 capacity() const { return full_ ? u32{size_} : items_ ? *head() : 0; }

  Ref<T> items_;
  u32 size_ : 30 = 0;
  mutable u32 shared_ : 1 = 0;  // the place is that of another, too
  u32 full_ : 1 = 0;            // what is behind the items is another's
};

class Conjuncts : public Grow<KeptConjunct> {
 public:
  void push(Room& room, const Conjunct& c) { Grow::push(room, {Ref(c.env), Ref(c.x), Ref(room.keep(c.ci))}); }
};

struct PatternConstraint {
  Ref<Node> pattern;
  Ref<Vertex> constraint;  // its conjuncts are what the pattern demands
};
struct Patterns {
  Grow<PatternConstraint> pairs;
};

// A struct literal that became part of a vertex, for the order of fields.
struct StructInfo {
  Ref<StructLit> lit;
  u32 comp_id : 31;
  u32 direct : 1;  // written here rather than brought in by a reference
};

enum class Status : u8 { kUnprocessed, kEvaluating, kPartial, kConjuncts, kFinalized };

struct StructMarker : Node {
  StructMarker() : Node(NodeType::kStructMarker) {}
};
struct ListMarker : Node {
  bool open;
  explicit ListMarker(bool o) : Node(NodeType::kListMarker), open(o) {}
};

struct Bottom;

// What few vertices have.
struct Rare {
  Ref<Bottom> child_errors;
  Ref<ArcIndex> index;  // of the arcs by label, once there are many
  Ref<Patterns> patterns;
  Grow<StructInfo> structs;
};

// A node of the result: what it is called, what was said about it (conjuncts), and what came out (value and arcs).
struct Vertex : Node {
  Vertex() : Node(NodeType::kVertex) {}

  Status status = Status::kUnprocessed;
  ArcType arc_type = ArcType::kMember;
  bool is_data : 1 = false;
  bool closed_recursive : 1 = false;
  bool closed_once : 1 = false;  // by close()
  bool opened_shared : 1 = false;
  bool has_ellipsis : 1 = false;
  bool multi_let : 1 = false;
  bool is_dynamic : 1 = false;  // has no place in the result
  bool is_pattern : 1 = false;
  bool non_rooted : 1 = false;
  bool anonymous : 1 = false;
  bool is_disjunct : 1 = false;
  bool is_shared : 1 = false;
  bool begun : 1 = false;           // has taken over from its parent whether it is closed
  bool has_plain_part : 1 = false;  // a conjunct that is on no cycle
  bool taken_in : 1 = false;        // its only value was there before a disjunct was tried
  bool is_leaf : 1 = false;         // settled without a state; see leaf.cpp

  Label label;
  Ref<Vertex> overlay;  // its copy while a disjunct is being made
  Ref<Vertex> parent;
  Ref<State> state;
  Ref<Node> base;  // a value, a marker, or another vertex that stands for this one
  Grow<Ref<Vertex>> arcs;
  Conjuncts conjuncts;
  Ref<Rare> rare;

  Rare& make_rare(Room& room) {
    if (!rare) rare = room.make<Rare>();
    return *rare;
  }
  Bottom* child_errors() const { return rare ? rare->child_errors.get() : nullptr; }
  Patterns* patterns() const { return rare ? rare->patterns.get() : nullptr; }
  std::span<const StructInfo> structs() const {
    return rare ? std::span<const StructInfo>(rare->structs.begin(), rare->structs.end())
                : std::span<const StructInfo>{};
  }
  void set_child_errors(Room& room, Bottom* b) {
    if (b || rare) make_rare(room).child_errors = b;
  }

  Node* only_value() const;  // all that is said about it, and not looked at yet; nullptr when that is not a plain value
  bool rooted() const { return !non_rooted && !label.is_let() && !is_dynamic; }
  bool says_nothing() const;     // is `_`, as far as is known
  bool told_where_used() const;  // see Field
  bool is_data_value() const { return is_data || conjuncts.empty(); }
  bool is_constraint() const { return arc_type == ArcType::kOptional || arc_type == ArcType::kRequired; }
  bool is_list() const { return base && base->type == NodeType::kListMarker; }
  Vertex* find_raw(Label l) const;
  void add_arc(Room& room, Vertex* arc);
  void reindex(Room& room);
  void forget_arcs() {
    arcs.forget();
    if (rare) rare->index = nullptr;
  }
  Vertex* copy(NodeStore& store) const;  // with the same arcs and conjuncts

  bool stands_for(const Vertex* other) const;  // perhaps through others
  Vertex* deref_value() {                      // what it ultimately stands for
    Vertex* v = this;
    while (v->base && v->base->type == NodeType::kVertex) v = to<Vertex>(v->base);
    return v;
  }
  Vertex* deref_disjunct() {
    Vertex* v = this;
    while (v->base && v->base->type == NodeType::kVertex && to<Vertex>(v->base)->is_disjunct) v = to<Vertex>(v->base);
    return v;
  }
  Vertex* deref_non_disjunct();
  Vertex* deref_non_rooted();
  Vertex* deref_non_shared();
  const Vertex* deref_value() const { return const_cast<Vertex*>(this)->deref_value(); }

  Node* value() {  // itself for structs and lists, nullptr when not known
    if (!base) return nullptr;
    return base->type == NodeType::kStructMarker || base->type == NodeType::kListMarker ? this : base.get();
  }
  Bottom* bottom();
  bool is_err() { return bottom() != nullptr; }
  bool is_open_struct();
  bool is_closed_struct();
  bool will_be_closed() const;  // as far as its conjuncts are known
  bool is_closed_list() const { return is_list() && !static_cast<const ListMarker*>(base.get())->open; }
};

// ---- errors

// Ordered: of two errors the lower one is the worse and is kept.
enum class Code : u8 { kEval, kUser, kLegacyUser, kStructuralCycle, kIncomplete, kCycle };

// A message whose text is put together only when it is shown: most errors are those of disjuncts that are dropped.
struct ErrorArg {
  enum Kind : u8 { kNode, kLabel, kText, kKinds, kInt, kOp } kind;
  union {
    const Node* node;
    u32 bits;
    i64 integer;
    struct {
      const char* data;
      u32 size;
    } text;
  };
};

struct Error {
  const char* format = "";  // {} for each argument
  std::span<ErrorArg> args;
  const Vertex* node = nullptr;  // where it happened, for its path
  std::span<Label> path;         // set instead when the path is not that of the node
  Pos pos;
  std::span<Pos> others;
  Error* wrapped = nullptr;       // the cause
  const Vertex* among = nullptr;  // whose fields the one that is not there may have been meant to be
  // a list of errors instead of one:
  Error *left = nullptr, *right = nullptr;
};

struct Bottom : Node {
  Code code = Code::kEval;
  bool has_recursive = false, child_error = false, close_check = false;
  bool told_elsewhere = false;  // a reference to an ancestor: the cycle is shown there
  Error* error = nullptr;
  Vertex* node = nullptr;
  explicit Bottom(Code c, Error* e = nullptr, Vertex* n = nullptr)
      : Node(NodeType::kBottom), code(c), error(e), node(n) {}
  bool incomplete() const { return code == Code::kIncomplete || code == Code::kCycle; }
};

inline Bottom* Vertex::bottom() {
  Vertex* v = deref_value();
  return v->base && v->base->type == NodeType::kBottom ? to<Bottom>(v->base) : nullptr;
}

}  // namespace tutti::cue
