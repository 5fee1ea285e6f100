// `fmt -s`: labels without the quotes they do not need, unless an identifier of that name would then be caught by them.
#include <map>
#include <string>
#include <vector>

#include "lang/cue/format/format.h"
#include "lang/cue/format/literal.h"
#include "lang/cue/format/walk.h"

namespace tutti::cue {

using namespace ast;

namespace {

struct Scope {
  Scope* parent;
  std::map<std::string, bool, std::less<>> names;  // false once something refers to it
};

void mark(Node* n, Scope* scope);

void mark_label(Node* n, Scope& scope) {
  switch (n->kind) {
    case ast::Kind::kLit:
      if (as<Lit>(n)->text.starts_with('"') && !as<Lit>(n)->text.starts_with("\"\"\"")) {
        Unquoted u = unquote(as<Lit>(n)->text);
        if (u.ok() && !label_needs_quotes(u.text)) scope.names.emplace(u.text, true);
      }
      break;
    case ast::Kind::kIdent: scope.names.emplace(as<Ident>(n)->name.text(), true); break;
    case ast::Kind::kList:
    case ast::Kind::kInterpolation: break;
    default: for_children(n, [&](Node* c) { mark_label(c, scope); });
  }
}

void process(Nodes decls, Scope* parent) {
  Scope scope{parent, {}};
  for (Node* d : decls)
    if (d->kind == ast::Kind::kField) mark_label(as<Field>(d)->label, scope);
  for (Node* d : decls) {
    if (d->kind == ast::Kind::kField) {
      if (as<Field>(d)->value) mark(as<Field>(d)->value, &scope);
    } else {
      mark(d, &scope);
    }
  }
  for (Node* d : decls) {
    if (d->kind != ast::Kind::kField || as<Field>(d)->label->kind != ast::Kind::kLit) continue;
    auto* label = as<Lit>(as<Field>(d)->label);
    if (!label->text.starts_with('"') || label->text.starts_with("\"\"\"")) continue;
    Unquoted u = unquote(label->text);
    auto it = u.ok() ? scope.names.find(u.text) : scope.names.end();
    if (it == scope.names.end() || !it->second || label_needs_quotes(u.text)) continue;
    label->text = label->text.substr(1, label->text.size() - 2);
    label->pos = {};  // a new name, for the layout
  }
}

void mark(Node* n, Scope* scope) {
  switch (n->kind) {
    case ast::Kind::kFile: return process(as<File>(n)->decls, scope);
    case ast::Kind::kStruct: return process(as<Struct>(n)->elts, scope);
    case ast::Kind::kSelector: return mark(as<Selector>(n)->x, scope);
    case ast::Kind::kIdent:
      for (Scope* s = scope; s; s = s->parent)
        if (auto it = s->names.find(as<Ident>(n)->name.text()); it != s->names.end()) {
          it->second = false;
          return;
        }
      return;
    default: for_children(n, [&](Node* c) { mark(c, scope); });
  }
}

}  // namespace

void simplify_labels(Node* node) {
  Scope top{nullptr, {}};
  mark(node, &top);
}

}  // namespace tutti::cue
