#pragma once

#include "lang/cue/syntax/ast.h"

namespace tutti::cue {

// Calls f for each child of a node that is there, in source order.
template <class F>
void for_children(ast::Node* n, F&& f) {
  using namespace ast;
  auto one = [&](Node* c) {
    if (c) f(c);
  };
  auto all = [&](Nodes list) {
    for (Node* c : list) one(c);
  };
  switch (n->kind) {
    case ast::Kind::kInterpolation:
      all(as<Interpolation>(n)->parts);
      break;
    case ast::Kind::kFunc:
      all(as<Func>(n)->args);
      one(as<Func>(n)->result);
      break;
    case ast::Kind::kStruct:
      all(as<Struct>(n)->elts);
      break;
    case ast::Kind::kList:
      all(as<List>(n)->elts);
      break;
    case ast::Kind::kEllipsis:
      one(as<Ellipsis>(n)->type);
      break;
    case ast::Kind::kComprehension:
      all(as<Comprehension>(n)->clauses);
      one(as<Comprehension>(n)->value);
      one(as<Comprehension>(n)->fallback);
      break;
    case ast::Kind::kParen:
      one(as<Paren>(n)->x);
      break;
    case ast::Kind::kSelector:
      one(as<Selector>(n)->x);
      one(as<Selector>(n)->sel);
      break;
    case ast::Kind::kIndex:
      one(as<Index>(n)->x);
      one(as<Index>(n)->index);
      break;
    case ast::Kind::kSlice:
      one(as<Slice>(n)->x);
      one(as<Slice>(n)->low);
      one(as<Slice>(n)->high);
      break;
    case ast::Kind::kCall:
      one(as<Call>(n)->fun);
      all(as<Call>(n)->args);
      break;
    case ast::Kind::kUnary:
      one(as<Unary>(n)->x);
      break;
    case ast::Kind::kBinary:
      one(as<Binary>(n)->x);
      one(as<Binary>(n)->y);
      break;
    case ast::Kind::kPostfix:
      one(as<Postfix>(n)->x);
      break;
    case ast::Kind::kAlias:
      one(as<Alias>(n)->ident);
      one(as<Alias>(n)->x);
      break;
    case ast::Kind::kPostfixAlias:
      one(as<PostfixAlias>(n)->label);
      one(as<PostfixAlias>(n)->field);
      break;
    case ast::Kind::kFor:
      one(as<ForClause>(n)->key);
      one(as<ForClause>(n)->value);
      one(as<ForClause>(n)->source);
      break;
    case ast::Kind::kIfClause:
      one(as<IfClause>(n)->condition);
      break;
    case ast::Kind::kLet:
      one(as<Let>(n)->ident);
      one(as<Let>(n)->x);
      break;
    case ast::Kind::kTryClause:
      one(as<TryClause>(n)->ident);
      one(as<TryClause>(n)->x);
      break;
    case ast::Kind::kFallbackClause:
      one(as<FallbackClause>(n)->body);
      break;
    case ast::Kind::kField:
      one(as<Field>(n)->label);
      one(as<Field>(n)->alias);
      one(as<Field>(n)->value);
      all(as<Field>(n)->attrs);
      break;
    case ast::Kind::kEmbed:
      one(as<Embed>(n)->x);
      break;
    case ast::Kind::kPackage:
      one(as<Package>(n)->name);
      break;
    case ast::Kind::kImport:
      all(as<Import>(n)->specs);
      break;
    case ast::Kind::kImportSpec:
      one(as<ImportSpec>(n)->name);
      one(as<ImportSpec>(n)->path);
      break;
    case ast::Kind::kFile:
      all(as<File>(n)->decls);
      break;
    default:
      break;
  }
}

}  // namespace tutti::cue
