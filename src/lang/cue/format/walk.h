#pragma once

#include "lang/cue/syntax/ast.h"

namespace tutti::cue {

// Calls f for each child of a node that is there, in source order.
template <class F>
void for_children(ast::Node* n, F&& f) {
  auto one = [&](ast::Node* c) {
    if (c) f(c);
  };
  auto all = [&](ast::Nodes list) {
    for (ast::Node* c : list) one(c);
  };
  switch (n->kind) {
    case ast::Kind::kInterpolation: all(ast::as<ast::Interpolation>(n)->parts); break;
    case ast::Kind::kFunc:
      all(ast::as<ast::Func>(n)->args);
      one(ast::as<ast::Func>(n)->result);
      break;
    case ast::Kind::kStruct: all(ast::as<ast::Struct>(n)->elts); break;
    case ast::Kind::kList: all(ast::as<ast::List>(n)->elts); break;
    case ast::Kind::kEllipsis: one(ast::as<ast::Ellipsis>(n)->type); break;
    case ast::Kind::kComprehension:
      all(ast::as<ast::Comprehension>(n)->clauses);
      one(ast::as<ast::Comprehension>(n)->value);
      one(ast::as<ast::Comprehension>(n)->fallback);
      break;
    case ast::Kind::kParen: one(ast::as<ast::Paren>(n)->x); break;
    case ast::Kind::kSelector:
      one(ast::as<ast::Selector>(n)->x);
      one(ast::as<ast::Selector>(n)->sel);
      break;
    case ast::Kind::kIndex:
      one(ast::as<ast::Index>(n)->x);
      one(ast::as<ast::Index>(n)->index);
      break;
    case ast::Kind::kSlice:
      one(ast::as<ast::Slice>(n)->x);
      one(ast::as<ast::Slice>(n)->low);
      one(ast::as<ast::Slice>(n)->high);
      break;
    case ast::Kind::kCall:
      one(ast::as<ast::Call>(n)->fun);
      all(ast::as<ast::Call>(n)->args);
      break;
    case ast::Kind::kUnary: one(ast::as<ast::Unary>(n)->x); break;
    case ast::Kind::kBinary:
      one(ast::as<ast::Binary>(n)->x);
      one(ast::as<ast::Binary>(n)->y);
      break;
    case ast::Kind::kPostfix: one(ast::as<ast::Postfix>(n)->x); break;
    case ast::Kind::kAlias:
      one(ast::as<ast::Alias>(n)->ident);
      one(ast::as<ast::Alias>(n)->x);
      break;
    case ast::Kind::kPostfixAlias:
      one(ast::as<ast::PostfixAlias>(n)->label);
      one(ast::as<ast::PostfixAlias>(n)->field);
      break;
    case ast::Kind::kFor:
      one(ast::as<ast::ForClause>(n)->key);
      one(ast::as<ast::ForClause>(n)->value);
      one(ast::as<ast::ForClause>(n)->source);
      break;
    case ast::Kind::kIfClause: one(ast::as<ast::IfClause>(n)->condition); break;
    case ast::Kind::kLet:
      one(ast::as<ast::Let>(n)->ident);
      one(ast::as<ast::Let>(n)->x);
      break;
    case ast::Kind::kTryClause:
      one(ast::as<ast::TryClause>(n)->ident);
      one(ast::as<ast::TryClause>(n)->x);
      break;
    case ast::Kind::kFallbackClause: one(ast::as<ast::FallbackClause>(n)->body); break;
    case ast::Kind::kField:
      one(ast::as<ast::Field>(n)->label);
      one(ast::as<ast::Field>(n)->alias);
      one(ast::as<ast::Field>(n)->value);
      all(ast::as<ast::Field>(n)->attrs);
      break;
    case ast::Kind::kEmbed: one(ast::as<ast::Embed>(n)->x); break;
    case ast::Kind::kPackage: one(ast::as<ast::Package>(n)->name); break;
    case ast::Kind::kImport: all(ast::as<ast::Import>(n)->specs); break;
    case ast::Kind::kImportSpec:
      one(ast::as<ast::ImportSpec>(n)->name);
      one(ast::as<ast::ImportSpec>(n)->path);
      break;
    case ast::Kind::kFile: all(ast::as<ast::File>(n)->decls); break;
    default: break;
  }
}

}  // namespace tutti::cue
