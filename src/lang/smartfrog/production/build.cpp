#include <fmt/format.h>

#include <algorithm>

#include "lang/smartfrog/production/names.h"
#include "lang/smartfrog/production/production.h"

namespace tutti::smartfrog::production {

Description* Compiler::make_description(Pos begin, Pos end, Description* parent) {
  session_.budget.node();
  Description* d = arena_.make<Description>();
  d->begin = begin;
  d->end = end;
  d->parent = parent;
  return d;
}

Slot* Compiler::put(Description* d, Symbol key, const Item& item, Pos at) {
  bool added;
  Slot* s = d->slots.put(arena_, key, added);
  if (added) s->placed = at;
  s->item = item;
  return s;
}

void Compiler::put_text(Description* d, Symbol key, std::string_view text) {
  Item item;
  item.basic = Value::string(text, d->begin);
  put(d, key, item, d->begin);
}

// The union of both, sorted.
void Compiler::set_tags(Slot* s, std::span<const Symbol> tags) {
  if (tags.empty()) return;
  if (s->tags.empty()) {
    s->tags = tags;
    return;
  }
  std::vector<Symbol> all(s->tags.begin(), s->tags.end());
  all.insert(all.end(), tags.begin(), tags.end());
  std::sort(all.begin(), all.end(), [](Symbol a, Symbol b) { return a.text() < b.text(); });
  all.erase(std::unique(all.begin(), all.end()), all.end());
  s->tags = arena_.copy(std::span<const Symbol>(all));
}

void Compiler::mark_places(Description* d) {
  for (; d && !d->places; d = d->parent) d->places = true;
}

void Compiler::fill(Description* d, const Body& body) {
  Budget::Level level(session_.budget);
  for (const Attribute& a : body.attributes) add(d, a);
  if (!body.orders.empty()) d->orders = body.orders;
}

void Compiler::add(Description* d, const Attribute& a) {
  session_.budget.step();
  Symbol key = a.path[0];
  if (a.placement()) {
    std::string name = "\x01";
    for (Symbol part : a.path) {
      name += part.text();
      name += ':';
    }
    key = Symbol(name);
    mark_places(d);
  }
  Item item = make_item(a.value, d);
  Slot* s = put(d, key, item, a.begin);
  if (a.placement()) s->path = a.path;
  if (!a.tags.empty()) s->tags = a.tags;
}

Item Compiler::make_item(const Expr& e, Description* parent) {
  Item item;
  item.basic = e.literal.with_origin(e.begin);
  switch (e.kind) {
    case ExprKind::kNothing: item.basic = Value::null(e.begin); break;
    case ExprKind::kLiteral: break;
    case ExprKind::kTbd: item.what = What::kTbd; break;
    case ExprKind::kVar:
      item.what = What::kVariable;
      item.basic = Value::integer(++variables_, e.begin);
      break;
    case ExprKind::kReference:
      item.what = What::kReference;
      item.ref = e.ref;
      item.lazy = e.ref->lazy;
      item.data = e.ref->data;
      break;
    case ExprKind::kComponent: {
      const Component& c = *e.component;
      item.what = What::kDescription;
      Description* d = item.description = make_description(c.begin, c.end, parent);
      d->data = c.data;
      std::vector<Type> types;
      for (const Prototype& p : c.prototypes)
        if (p.ref || p.body) types.push_back({p.ref, p.body, nullptr, p.merge});
      if (types.size() == 1 && types[0].body && !types[0].merge) {
        fill(d, *types[0].body);
        break;
      }
      d->types = arena_.copy(std::span<const Type>(types));
      break;
    }
    case ExprKind::kList: {
      item.what = What::kVector;
      std::vector<Item> items;
      for (const Expr& i : e.list()) items.push_back(make_item(i, parent));
      item.vector = arena_.make<Vector>();
      item.vector->items = arena_.copy(std::span<const Item>(items));
      break;
    }
    case ExprKind::kApply:
    case ExprKind::kAssert:
      item.what = e.kind == ExprKind::kApply ? What::kApply : What::kAssert;
      item.lazy = e.lazy;
      item.data = e.data;
      item.description = make_description(e.begin, e.end, parent);
      item.description->data = true;
      fill(item.description, *e.body);
      break;
    default: return make_function(e, parent);
  }
  return item;
}

// Vectors, operators, IF and SWITCH are components with a function phase, as if the user had written them so.
Item Compiler::make_function(const Expr& e, Description* parent) {
  Item item;
  item.what = What::kDescription;
  item.basic = Value::null(e.begin);
  Description* d = item.description = make_description(e.begin, e.end, parent);
  d->data = d->expression = true;
  std::string_view function = function_of(e.kind == ExprKind::kVector   ? Tok::kLeftBracket
                                          : e.kind == ExprKind::kIf     ? Tok::kIf
                                          : e.kind == ExprKind::kSwitch ? Tok::kSwitch
                                                                        : e.op);
  auto argument = [&](std::string_view name, const Expr& value) {
    Item made = make_item(value, d);
    put(d, Symbol(name), made, value.begin);
  };
  auto phase = [&] {
    put_text(d, names().phase_function, kConstructFunction);
    put_text(d, names().function_class, function);
  };
  if (e.kind == ExprKind::kIf) {
    phase();
    argument("if", e.items[0]);
    argument("then", e.items[1]);
    argument("else", e.items[2]);
    return item;
  }
  if (e.kind == ExprKind::kSwitch) {
    phase();
    if (e.body) fill(d, *e.body);
    for (u32 i = 0; i + 2 < e.count; i += 3) {
      i64 n = e.items[i].literal.as_i64();
      argument(fmt::format("IF{}", n), e.items[i + 1]);
      argument(fmt::format("THEN{}", n), e.items[i + 2]);
    }
    return item;
  }
  bool nary = e.kind == ExprKind::kVector;
  switch (e.op) {
    case Tok::kNot: argument("data", e.items[0]); break;
    case Tok::kPlus:
    case Tok::kTimes:
    case Tok::kConcat:
    case Tok::kAppend:
    case Tok::kAnd:
    case Tok::kOr:
    case Tok::kXor:
    case Tok::kImplies: nary = true; break;
    default:
      if (nary) break;
      argument("left", e.items[0]);
      argument("right", e.items[1]);
  }
  if (nary)
    for (u32 i = 0; i < e.count; i++) argument(fmt::format("unique{}", e.unique + i), e.items[i]);
  phase();
  return item;
}

// ---- copies

Item Compiler::copy(const Item& item, Description* parent) {
  Item made = item;
  if (item.is(What::kDescription) && item.description->plain && !copies_all_) return made;
  if (item.is(What::kDescription) || item.is(What::kApply) || item.is(What::kAssert))
    made.description = copy(item.description, parent);
  return made;
}

Description* Compiler::copy(const Description* d, Description* parent) {
  Budget::Level level(session_.budget);
  session_.budget.step(d->slots.size + 1);
  session_.budget.node(d->slots.size + 1);
  Description* made = arena_.make<Description>(*d);
  made->parent = parent;
  made->types_busy = made->types_within = made->links_busy = made->links_done = made->finished = false;
  made->plain = false;
  made->types = arena_.copy(std::span<const Type>(d->types));
  copy_slots(made, d->slots, 2);
  return made;
}

void Compiler::copy_slots(Description* to, const TableOf<Slot>& from, u32 spare) {
  to->slots = {};
  to->slots.copy_from(from, arena_, spare);
  for (Slot& s : to->slots) {
    s.resolving = false;
    s.failed = 0;
    s.item = copy(s.item, to);
    if (!s.path.empty() || (s.item.is(What::kDescription) && s.item.description->places)) mark_places(to);
  }
}

}  // namespace tutti::smartfrog::production
