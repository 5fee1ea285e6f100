#pragma once

#include <string>

#include "model/deployment.h"
#include "model/reader.h"

namespace tutti::model {

// The settings of a component against what its type says of them: unknown ones and those of another kind are errors,
// defaults are filled in, secrets marked. `what` is who has them, for people; `where`, of the component.
class SettingsReader : public Reader {
 public:
  explicit SettingsReader(Session& session) : Reader(session), builder_(session.arena) {}
  Value read(const ComponentKind& kind, const Value& config, const std::string& what, const Value& where);

 private:
  Value read_one(const Entry& setting, const Value& description, const std::string& what);
  // As one of the kinds that the type allows.
  Value as_kind(const Entry& setting, const Value& kinds, const std::string& what);
  void fill_in(const ComponentKind& kind, const Value& fields, MapDraft& draft, const std::string& what,
               const Value& where);

  TreeBuilder builder_;
};

// Some languages have nothing but text (XML): what reads as a number or a truth is one where that is wanted.
Value from_text(const Value& v);

}  // namespace tutti::model
