#pragma once

#include "tree/value.h"

namespace tutti {

// A text may be secret because it is one, or because one was put into it (a password in a command): of the first
// nothing is shown, of the second all but what is known. The second has a tag of its own beside the mark.
inline Symbol made_of_secret_tag() {
  static const Symbol tag("made of a secret");
  return tag;
}

inline bool secret_itself(const Value& v) { return v.secret() && v.tag() != made_of_secret_tag(); }

inline Value made_of_secret(const Value& v) {
  if (v.secret()) return v;
  return v.is(Kind::kString) && v.tag().empty() ? v.as_secret().with_tag(made_of_secret_tag()) : v.as_secret();
}

// Marked as the other one is.
inline Value secret_like(const Value& v, const Value& other) {
  if (!other.secret()) return v;
  if (!secret_itself(other)) return made_of_secret(v);
  return v.tag() == made_of_secret_tag() ? v.as_secret().with_tag({}) : v.as_secret();
}

// What is in a secret map or list is as secret as that.
Value secret_throughout(const Value& value, const TreeBuilder& builder);

}  // namespace tutti
