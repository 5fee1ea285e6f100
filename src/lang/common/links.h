#pragma once

#include <string_view>
#include <vector>

#include "tree/value.h"

namespace tutti {

// References between values of one tree, for the conversion of one language into another (`--out cdl`, `--out sf`): a
// value of kind kReference (or kLazy, when it is only answered at run time) with this tag, whose text is the way to
// what it refers to. `../port` is `port` in the map around the one that holds the reference, `web/port` goes down from
// the map that holds it, `/web/port` from the root of the tree. A language leaves such values in its tree only when it
// is asked for the output of another language (the option "out"); its own users see resolved values.
inline Symbol link_tag() {
  static const Symbol tag("link");
  return tag;
}

// The tag of an open value (kLazy) that is nothing but a reference to a map of which only a part is open.
inline Symbol partly_open_tag() {
  static const Symbol tag("partly-open");
  return tag;
}

// What SmartFrog says of a value beside what it is, which conversions keep: the tag of a component that was written
// `extends DATA`, and the hidden entry of a component that holds the tags of its attributes.
inline Symbol data_tag() {
  static const Symbol tag("sf-data");
  return tag;
}
inline Symbol tags_key() {
  static const Symbol key("$TAGS");
  return key;
}

inline bool is_link(const Value& v) { return (v.is(Kind::kReference) || v.is(Kind::kLazy)) && v.tag() == link_tag(); }

struct LinkPath {
  bool from_root = false;
  std::size_t up = 0;  // so many `..` in front
  std::vector<Symbol> names;
};

inline LinkPath link_path(std::string_view text) {
  LinkPath path;
  if (text.starts_with('/')) {
    path.from_root = true;
    text.remove_prefix(1);
  }
  while (!text.empty()) {
    std::size_t slash = text.find('/');
    std::string_view step = text.substr(0, slash);
    if (step == ".." && path.names.empty())
      path.up++;
    else if (!step.empty() && step != ".")
      path.names.emplace_back(step);
    if (slash == std::string_view::npos) break;
    text.remove_prefix(slash + 1);
  }
  return path;
}

}  // namespace tutti
