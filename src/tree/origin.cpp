#include "tree/origin.h"

#include <cstdlib>

namespace tutti {

std::string_view how_word(How how) {
  switch (how) {
    case How::kWritten: return "written";
    case How::kData: return "read";
    case How::kInherited: return "inherited";
    case How::kReferenced: return "referenced";
    case How::kPlaced: return "placed";
    case How::kOverridden: return "overridden";
    case How::kUnified: return "unified";
    case How::kDefault: return "default";
    case How::kComputed: return "computed";
    case How::kLookup: return "looked up";
    case How::kSupplied: return "supplied";
  }
  return "";
}

Origins::Origins() {
  const char* wanted = std::getenv("TUTTI_PROVENANCE");
  recorded_ = !wanted || std::string_view(wanted) != "off";
}

// A step is added after what it refers to, so a chain always ends.
Pos Origins::written(Origin o) const {
  Pos last;
  while (o.is_step()) {
    const OriginStep& step = steps_[o.step()];
    if (step.at) last = step.at;
    if (!step.value) return last;
    o = step.value;
  }
  return o ? o.pos() : last;
}

Pos Origins::nearest(Origin o) const {
  while (o.is_step()) {
    const OriginStep& step = steps_[o.step()];
    if (step.at) return step.at;
    o = step.value;
  }
  return o.pos();
}

}  // namespace tutti
