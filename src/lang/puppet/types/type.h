#pragma once

#include <limits>
#include <stdexcept>

#include "lang/puppet/types/value.h"

namespace tutti::puppet {

enum class TK : u8 {
  kAny,
  kUnit,
  kUndef,
  kDefault,
  kBoolean,
  kInteger,
  kFloat,
  kNumeric,
  kString,
  kEnum,
  kPattern,
  kRegexp,
  kScalar,
  kScalarData,
  kData,
  kRichData,
  kRichDataKey,
  kCollection,
  kArray,
  kHash,
  kTuple,
  kStruct,
  kVariant,
  kOptional,
  kNotUndef,
  kType,
  kCallable,
  kIterable,
  kIterator,
  kSensitive,
  kBinary,
  kTimestamp,
  kTimespan,
  kSemVer,
  kSemVerRange,
  kUri,
  kResource,
  kClass,
  kCatalogEntry,
  kRuntime,
  kInit,
  kObject,
  kDeferred,
  kError,
  kTypeSet,
  kAlias,  // a named type; `inner` is what it stands for
};

constexpr i64 kNoMin = std::numeric_limits<i64>::min();
constexpr i64 kNoMax = std::numeric_limits<i64>::max();

struct Member {  // of a Struct, and an attribute of an Object
  std::string_view name;
  bool optional = false;  // the key may be missing
  const Type* type = nullptr;
  Val value;  // Object: the default
  bool has_value = false;
  bool explicit_key = false;  // Struct: written as Optional['key'] or NotUndef['key']
};

// A type. Made once, in an arena or as one of the plain ones that live for ever, then never changed.
struct Type {
  TK kind = TK::kAny;
  bool flag = false;   // Boolean: the only value allowed (when `sized`); Enum: without regard to case; Callable: sizes
                       // were written
  bool sized = false;  // a size, range or value was given
  i64 min = kNoMin, max = kNoMax;                          // Integer, Timespan, Timestamp range; sizes (0 ... kNoMax)
  double fmin = -std::numeric_limits<double>::infinity();  // Float
  double fmax = std::numeric_limits<double>::infinity();
  std::string_view
      name;  // Resource: "File"; Class: the class; alias, object, reference: the name; literal string's text
  std::string_view title;  // Resource: the title, when has_title
  bool has_title = false;
  std::span<const Type* const>
      types;                    // Variant, Tuple, Callable's parameters; Array, Hash, Optional, ...: their arguments
  std::span<const Val> values;  // Enum: strings; Pattern: regular expressions; SemVer: ranges; String: its one value
  std::span<const Member> members;
  mutable const Type* inner = nullptr;  // alias: what it stands for; Callable: what it returns; Object: its parent
  const Type* block = nullptr;          // Callable: the block it takes
  u32 weight = 1;                       // of how many types it is made, all uses counted; set by make_type
};

// Something wrong with a type's arguments.
class TypeError : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

const Type* plain(TK kind);  // without arguments
const Type* plain_named(std::string_view name);
std::span<const std::string_view> plain_type_names();  // "Integer" -> plain(kInteger); nullptr when not built in
const Type* make_type(Arena& arena, const Type& t);
const Type* integer_range(Arena& arena, i64 min, i64 max);
const Type* resource_type(Arena& arena, std::string_view name,
                          std::string_view title);               // File['/x']; capitalised inside
const Type* resource_type(Arena& arena, std::string_view name);  // File
const Type* class_type(Arena& arena, std::string_view name);
const Type* optional_of(Arena& arena, const Type* inner);
const Type* variant_of(Arena& arena, std::span<const Type* const> types);  // flattened, one alone is itself

// Type[args...], as `Integer[1, 10]` does. Throws TypeError.
const Type* parameterize(Arena& arena, const Type* base, std::span<const Val> args);

const Type* resolved(const Type* t);  // through aliases
bool is_endless(const Type* t);       // an alias that contains itself, so that all of it cannot be written
bool is_instance(const Type* t, const Val& v);
bool assignable(const Type* to, const Type* from);
bool same_type(const Type* a, const Type* b);
// The type of a value: exact (tuples, structs, ranges), reduced (arrays of what is common) or generalized (no ranges).
enum class Infer : u8 { kExact, kReduced, kGeneralized };
const Type* infer(Arena& arena, const Val& v, Infer how = Infer::kExact);
const Type* generalize(Arena& arena, const Type* t);
const Type* common_type(Arena& arena, const Type* a, const Type* b);

std::string type_text(const Type* t);        // Optional[Array[Integer]], File['/x']; aliases as `Name = type`
std::string type_text_short(const Type* t);  // aliases by name alone
// "expects an Integer value, got String" and the like, one entry per mismatch; `subject` is "parameter 'x'".
std::vector<std::string> describe_mismatch(const std::string& subject, const Type* expected, const Val& actual);

std::string capitalize_segments(std::string_view name);  // foo::bar -> Foo::Bar

// Text of the rich values.
std::string object_text(const Val& v);
// SemVer: negative, 0, positive; false from parse when it is none.
struct SemVer {
  i64 major = 0, minor = 0, patch = 0;
  std::string pre, build;
};
bool parse_semver(std::string_view text, SemVer& out);
int compare_semver(const SemVer& a, const SemVer& b);
bool parse_semver_range(std::string_view text);                       // whether it is one
bool semver_in_range(std::string_view range, const SemVer& version);  // the range must parse

}  // namespace tutti::puppet
