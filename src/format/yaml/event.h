#pragma once

#include <cstddef>
#include <string_view>

#include "base/types.h"

// What a YAML text consists of, in the order in which it stands there. The texts of an event last until the call that
// hands it over returns.
namespace tutti::yaml {

enum class Event : u8 { kDocumentStart, kDocumentEnd, kScalar, kAlias, kListStart, kListEnd, kMapStart, kMapEnd };

struct Item {
  Event event = Event::kScalar;
  bool plain = false;              // a scalar without quotes, which may mean a number
  std::string_view value;          // of a scalar, or the name of an alias
  std::string_view tag;            // written out; "": none
  std::string_view anchor;         // "": none
  std::size_t start = 0, end = 0;  // bytes
};

class Handler {
 public:
  virtual ~Handler() = default;
  virtual void on(const Item& item) = 0;
};

// Why a text is no YAML.
struct Problem {
  std::size_t at = 0;
  std::string_view what;
  std::string_view help;                        // a way out, where there is one
  std::size_t opened = std::string_view::npos;  // the bracket around it
};

}  // namespace tutti::yaml
