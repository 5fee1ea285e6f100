#pragma once

#include "lang/cdl/resolve/expression.h"

namespace tutti::cdl {

enum class XPathOp : u8 {
  kOr,
  kAnd,
  kEqual,
  kNotEqual,
  kLess,
  kLessEqual,
  kGreater,
  kGreaterEqual,
  kAdd,
  kSubtract,
  kMultiply,
  kDivide,
  kModulo,
  kUnion,
  kNegate,
  kPredicate,
  kLiteral,
  kNumber,
  kVariable,
  kCall,
};

enum class XPathFunction : u8 {
  kLast,
  kPosition,
  kCount,
  kId,
  kLocalName,
  kNamespaceUri,
  kName,
  kString,
  kConcat,
  kStartsWith,
  kContains,
  kSubstringBefore,
  kSubstringAfter,
  kSubstring,
  kStringLength,
  kNormalizeSpace,
  kTranslate,
  kBoolean,
  kNot,
  kTrue,
  kFalse,
  kLang,
  kNumber,
  kSum,
  kFloor,
  kCeiling,
  kRound,
};

struct XPathFunctionInfo {
  std::string_view name;
  XPathFunction function;
  u8 least, most;
};
std::span<const XPathFunctionInfo> xpath_functions();

struct XPathNode {
  XPathOp op;
  XPathFunction function{};
  Symbol variable;
  double number = 0;
  std::string_view text;
  std::span<const XPathNode* const> arguments;
};

}  // namespace tutti::cdl
