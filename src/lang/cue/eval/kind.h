#pragma once

#include <string>

#include "base/types.h"

namespace tutti::cue {

// The kinds of value something may still have, as a set of bits. No bit: an error.
using Kinds = u16;
constexpr Kinds kNullKind = 1, kBoolKind = 2, kIntKind = 4, kFloatKind = 8, kStringKind = 16, kBytesKind = 32,
                kFuncKind = 64, kListKind = 128, kStructKind = 256;
constexpr Kinds kBottomKind = 0, kTopKind = 511, kNumberKind = kIntKind | kFloatKind,
                kScalarKinds = kNullKind | kBoolKind | kNumberKind | kStringKind | kBytesKind,
                kCompositeKinds = kListKind | kStructKind;

// As in messages: `string`, `(int|string)`, `_`, `_|_`.
std::string kinds_text(Kinds k);

enum class Op : u8 {
  kNone,
  kAnd,
  kOr,
  kAdd,
  kSub,
  kMul,
  kQuo,
  kLand,
  kLor,
  kEq,
  kNe,
  kLt,
  kLe,
  kGt,
  kGe,
  kMatch,
  kNotMatch,
  kNot
};
std::string_view op_text(Op op);

}  // namespace tutti::cue
