#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "lang/cue/eval/context.h"

namespace tutti::cue {

// `pw: string @secret()`, wherever the field is said.
bool is_secret(const Vertex* field);

// The texts that an evaluated configuration keeps secret, also where a secret field is in error: what stands for them
// is shown instead in messages, excerpts and explanations. Short ones (up to three letters) are not looked for, as in
// tree/secret.h.
class SecretTexts {
 public:
  explicit SecretTexts(const Vertex* root) : root_(root) {}

  std::string mask(std::string text) const;
  bool in(std::string_view text) const;

 private:
  // Looked for when first asked: most configurations have no errors to show.
  const std::vector<std::string>& texts() const;

  const Vertex* root_;
  mutable std::vector<std::string> texts_;
  mutable bool looked_ = false;
};

}  // namespace tutti::cue
