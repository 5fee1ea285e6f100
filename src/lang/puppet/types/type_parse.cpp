#include "lang/puppet/types/type_parse.h"

#include <fmt/format.h>

#include "lang/puppet/syntax/parser.h"

namespace tutti::puppet {

Val literal_value(Arena& arena, const Node* n, const TypeFinder& find) {
  switch (n->kind) {
    case NodeKind::kUndef: return Val::undef();
    case NodeKind::kDefault: return Val::default_();
    case NodeKind::kBoolean: return Val::boolean(as<Literal>(n).boolean);
    case NodeKind::kInteger: return Val::integer(as<Literal>(n).integer);
    case NodeKind::kFloat: return Val::real(as<Literal>(n).real);
    case NodeKind::kString: return make_string(arena, as<Literal>(n).text);
    case NodeKind::kRegex: return Val::with_text(VK::kRegex, arena.copy(as<Literal>(n).text));
    case NodeKind::kName: return Val::string(as<Named>(n).name.text());
    case NodeKind::kParen: return literal_value(arena, as<Unary>(n).expr, find);
    case NodeKind::kNegate: {
      Val v = literal_value(arena, as<Unary>(n).expr, find);
      if (v.is(VK::kInt)) v.i = -v.i;
      if (v.is(VK::kFloat)) v.d = -v.d;
      return v;
    }
    case NodeKind::kArray: {
      std::vector<Val> items;
      for (const Node* i : as<Kids>(n).items) items.push_back(literal_value(arena, i, find));
      return make_array(arena, items);
    }
    case NodeKind::kHash: {
      HashDraft h;
      auto items = as<Kids>(n).items;
      for (std::size_t i = 0; i + 1 < items.size(); i += 2)
        h.set(literal_value(arena, items[i], find), literal_value(arena, items[i + 1], find));
      return h.build(arena);
    }
    case NodeKind::kTypeName:
    case NodeKind::kAccess: return Val::type(type_of_syntax(arena, n, find));
    default: throw TypeError("this expression is not a type");
  }
}

const Type* type_of_syntax(Arena& arena, const Node* n, const TypeFinder& find) {
  if (n->kind == NodeKind::kTypeName) {
    std::string_view name = as<Named>(n).name.text();
    if (const Type* t = plain_named(name)) return t;
    if (find)
      if (const Type* t = find(name)) return t;
    throw TypeError(fmt::format("the type `{}` is not known", name));
  }
  if (n->kind == NodeKind::kAccess) {
    auto items = as<Kids>(n).items;
    const Type* base = type_of_syntax(arena, items[0], find);
    std::vector<Val> args;
    for (std::size_t i = 1; i < items.size(); ++i) args.push_back(literal_value(arena, items[i], find));
    return parameterize(arena, base, args);
  }
  throw TypeError("this expression is not a type");
}

const Type* type_of_text(Arena& arena, std::string_view text, const TypeFinder& find) {
  // A reference as catalogs write it: Type[title] with the title bare.
  if (std::size_t open = text.find('['); open != std::string_view::npos && text.back() == ']') {
    std::string_view title = text.substr(open + 1, text.size() - open - 2);
    std::string_view name = text.substr(0, open);
    bool bare = !title.empty() && title[0] != '\'' && title[0] != '"' && title[0] != '[' &&
                !(title[0] >= 'A' && title[0] <= 'Z');
    if (bare && !plain_named(name)) return resource_type(arena, name, title);
    if (bare && name == "Class") return class_type(arena, title);
  }
  Sources sources;
  Diagnostics diagnostics;
  Budget budget;
  Arena* keep = &arena;
  auto source = sources.add("type", std::string(text));
  if (!source) throw TypeError("not a type");
  Arena syntax;
  const Node* n = parse_expression(**source, syntax, diagnostics, budget);
  if (!n) throw TypeError(fmt::format("`{}` is not a type", text));
  return type_of_syntax(*keep, n, find);
}

}  // namespace tutti::puppet
