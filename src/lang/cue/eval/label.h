#pragma once

#include <string>
#include <string_view>

#include "base/symbol.h"

namespace tutti::cue {

enum class LabelKind : u8 { kNone, kString, kInt, kDefinition, kHidden, kHiddenDefinition, kLet };

// The name of an arc as one number: what kind of field, and an interned name or a list position. Hidden names carry
// their package and lets a number of their own, so that equal labels are equal fields and nothing else is.
class Label {
 public:
  constexpr Label() = default;
  static Label string(std::string_view text) { return make(Symbol(text).id(), LabelKind::kString); }
  static Label string(Symbol s) { return make(s.id(), LabelKind::kString); }
  static Label integer(u32 i) { return make(i, LabelKind::kInt); }
  // An identifier as written in a file of the package.
  static Label ident(std::string_view name, std::string_view package);
  static Label let(std::string_view name, u32 number);

  LabelKind kind() const { return static_cast<LabelKind>(bits_ & 7); }
  bool valid() const { return bits_ != 0; }
  bool is_string() const { return kind() == LabelKind::kString; }
  bool is_int() const { return kind() == LabelKind::kInt; }
  bool is_regular() const { return is_string() || is_int(); }
  bool is_def() const { return kind() == LabelKind::kDefinition || kind() == LabelKind::kHiddenDefinition; }
  bool is_hidden() const { return kind() == LabelKind::kHidden || kind() == LabelKind::kHiddenDefinition; }
  bool is_let() const { return kind() == LabelKind::kLet; }
  u32 index() const { return bits_ >> 3; }
  Symbol symbol() const { return Symbol::from_id(index()); }
  std::string_view name() const;  // without package or number; of a list position only through text()
  std::string text() const;       // as a selector: quoted where it must be
  std::string plain() const;      // never quoted
  u32 bits() const { return bits_; }
  friend constexpr bool operator==(Label, Label) = default;

 private:
  static Label make(u32 id, LabelKind k) {
    Label l;
    l.bits_ = id << 3 | static_cast<u32>(k);
    return l;
  }
  u32 bits_ = 0;
};

// An identifier that needs no quotes as a label of a regular field.
bool plain_label(std::string_view text);

}  // namespace tutti::cue
