#pragma once

#include <string_view>

#include "base/symbol.h"
#include "lang/smartfrog/syntax/token.h"

// Names that the production language gives a meaning to.
namespace tutti::smartfrog::production {

inline constexpr std::string_view kPackage = "org.smartfrog.sfcore.languages.sf.";
inline constexpr std::string_view kFunctions = "org.smartfrog.sfcore.languages.sf.functions.";
inline constexpr std::string_view kConstructFunction = "org.smartfrog.sfcore.languages.sf.ConstructFunction";
inline constexpr std::string_view kConstructAssertions = "org.smartfrog.sfcore.languages.sf.ConstructAssertions";
inline constexpr std::string_view kConstructSchema = "org.smartfrog.sfcore.languages.sf.ConstructSchema";
inline constexpr std::string_view kCheckAssertions = "org.smartfrog.sfcore.languages.sf.functions.CheckAssertions";

struct Names {
  Symbol phase_function{"phase.function"}, function_class{"sfFunctionClass"}, function_lazy{"sfFunctionLazy"};
  Symbol assertion_phase{"sfAssertionPhase"}, schema_description{"sfSchemaDescription"}, name{"name"};
  Symbol config{"sfConfig"}, phase_list{"phaseList"}, is_component{"sfIsComponent"};
  Symbol final{"sfFinal"}, local{"sfLocal"}, override{"sfOverride"}, temporary{"sfTemp"}, ignore_link{"sfIgnoreLink"};
  Symbol type{"type"}, place{"place"}, function{"function"}, link{"link"}, print{"print"};
  Symbol left{"left"}, right{"right"}, data{"data"};
};

inline const Names& names() {
  static const Names all;
  return all;
}

// The class of the function that an operator stands for.
inline std::string_view function_of(Tok op) {
  switch (op) {
    case Tok::kPlus: return "org.smartfrog.sfcore.languages.sf.functions.Sum";
    case Tok::kMinus: return "org.smartfrog.sfcore.languages.sf.functions.Minus";
    case Tok::kTimes: return "org.smartfrog.sfcore.languages.sf.functions.Product";
    case Tok::kDivide: return "org.smartfrog.sfcore.languages.sf.functions.Divide";
    case Tok::kModulo: return "org.smartfrog.sfcore.languages.sf.functions.Mod";
    case Tok::kConcat: return "org.smartfrog.sfcore.languages.sf.functions.Concatenate";
    case Tok::kAppend: return "org.smartfrog.sfcore.languages.sf.functions.Append";
    case Tok::kEqual: return "org.smartfrog.sfcore.languages.sf.functions.EQ";
    case Tok::kNotEqual: return "org.smartfrog.sfcore.languages.sf.functions.NE";
    case Tok::kGreaterEqual: return "org.smartfrog.sfcore.languages.sf.functions.GE";
    case Tok::kLessEqual: return "org.smartfrog.sfcore.languages.sf.functions.LE";
    case Tok::kGreater: return "org.smartfrog.sfcore.languages.sf.functions.GT";
    case Tok::kLess: return "org.smartfrog.sfcore.languages.sf.functions.LT";
    case Tok::kAnd: return "org.smartfrog.sfcore.languages.sf.functions.And";
    case Tok::kOr: return "org.smartfrog.sfcore.languages.sf.functions.Or";
    case Tok::kXor: return "org.smartfrog.sfcore.languages.sf.functions.Xor";
    case Tok::kNot: return "org.smartfrog.sfcore.languages.sf.functions.Not";
    case Tok::kImplies: return "org.smartfrog.sfcore.languages.sf.functions.Implies";
    case Tok::kIf: return "org.smartfrog.sfcore.languages.sf.functions.IfThenElse";
    case Tok::kSwitch: return "org.smartfrog.sfcore.languages.sf.functions.Switch";
    default: return "org.smartfrog.sfcore.languages.sf.functions.Vector";
  }
}

}  // namespace tutti::smartfrog::production
