#pragma once

#include <vector>

#include "lang/puppet/syntax/ast.h"
#include "lang/puppet/types/value.h"

namespace tutti::puppet {

struct Resource;

class VarRoom;

// Variables of one scope: a few are scanned, many are indexed.
class Vars {
 public:
  const Val* find(Symbol name) const;
  void add(VarRoom& room, Symbol name, const Val& value);  // the name must be new
  void give_back(VarRoom& room);                           // none are left
  struct Entry {
    Symbol name;
    Val value;
  };
  std::span<const Entry> all() const { return {entries_, size_}; }

 private:
  Entry* entries_ = nullptr;
  u32* slots_ = nullptr;
  u32 size_ = 0, capacity_ = 0, mask_ = 0;
};

// Memory for variables, from an arena. What a lambda's or a define's scope gives back when its body is done serves the
// next one: a site calls lambdas and declares defines by the ten thousand.
class VarRoom {
 public:
  explicit VarRoom(Arena& arena) : arena_(arena) {}
  Vars::Entry* take(u32 capacity);  // a power of two, 8 or more
  void give_back(Vars::Entry* entries, u32 capacity);
  Arena& arena() { return arena_; }

 private:
  Arena& arena_;
  std::vector<Vars::Entry*> spare_[4];  // of 8, 16, 32, 64
};

struct DefaultParam {
  Symbol name;
  Val value;
  Pos at;
  const Definition* source = nullptr;  // the class or define that states it (nullptr: main)
};
struct TypeDefaults {
  Symbol type;
  std::vector<DefaultParam> params;
};

// Where variables live. A name not found goes to the parent: local -> (class it inherits from) -> node -> top. What a
// resource belongs to and whose defaults apply follow `resource` and `dynamic`, which are other chains: a class sees
// the defaults of the code that first included it but none of its variables.
struct Scope {
  enum class Kind : u8 { kTop, kNode, kClass, kDefine, kFunction, kLocal };
  Kind kind = Kind::kTop;
  Scope* parent = nullptr;
  Scope* real = nullptr;               // the scope that is not local to a lambda: itself, or the one around it
  Scope* dynamic = nullptr;            // who declared it: for resource defaults
  Resource* resource = nullptr;        // what contains the resources declared here
  const Definition* source = nullptr;  // the class, define or node; nullptr for main
  Symbol name;                         // class scopes: the class
  Symbol module;                       // the module the code is from
  Vars vars;
  std::span<const Val> match;  // $0, $1, ... of the last match
  std::vector<TypeDefaults> defaults;
  bool in_node = false;  // lies within the node's scope
};

}  // namespace tutti::puppet
