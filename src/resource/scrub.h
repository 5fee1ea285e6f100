#pragma once

#include <set>
#include <string>
#include <string_view>

#include "text/secret_words.h"
#include "transport/host.h"
#include "tree/value.h"

namespace tutti::resource {

// What a command prints may hold the secrets it was given. Everything that is shown or written down goes through this.
class Scrubber {
 public:
  explicit Scrubber(const Value& parameters) { collect(parameters, false); }
  std::string clean(std::string_view text) const { return words_.hidden(text); }
  bool has_secret(std::string_view text) const { return words_.in(text); }
  // A tree with every text marked as secret that holds one: what is made of secrets is as secret as they are.
  Value marked(const Value& value, const TreeBuilder& builder) const;

 private:
  void collect(const Value& value, bool secret);

  SecretWords words_;
  std::set<std::string> whole_;  // secret themselves
};

// A text for the shell that holds a secret of the parameters goes to it by the environment: everybody can see the words
// that a program was started with.
void hide_secrets(Command& command, const Value& parameters);

}  // namespace tutti::resource
