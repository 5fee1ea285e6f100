#include "tree/layer.h"

#include "tree/secret_mark.h"

namespace tutti {

Value layered(const Value& under, const Value& over, const TreeBuilder& builder, Budget& budget) {
  Budget::Level level(budget);
  if (!under.is(Kind::kMap) || !over.is(Kind::kMap)) return over;
  MapDraft draft;
  for (const Entry& e : under.entries()) draft.set(e.key, e.value, e.field);
  for (const Entry& e : over.entries()) {
    Value* there = draft.find(e.key);
    draft.set(e.key, there ? layered(*there, e.value, builder, budget) : e.value, e.field);
  }
  Value both = draft.build(builder, over.origin());
  return secret_like(secret_like(both, under), over);
}

}  // namespace tutti
