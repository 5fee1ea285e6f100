#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "transport/host.h"
#include "tree/value.h"

namespace tutti::resource {

// What a command prints may hold the secrets it was given. Everything that is shown or written down goes through this.
class Scrubber {
 public:
  explicit Scrubber(const Value& parameters) { collect(parameters, false); }
  std::string clean(std::string_view text) const;
  bool has_secret(std::string_view text) const;
  bool is_secret(std::string_view text) const;  // as a whole, and not for another one that is in it
  // A tree with every text marked as secret that holds one: what is made of secrets is as secret as they are.
  Value marked(const Value& value, const TreeBuilder& builder) const;

 private:
  void collect(const Value& value, bool secret);
  void add(std::string_view word);
  std::vector<std::string> words_;  // and parts of them that are as secret, also as programs write them in quotes
  std::vector<std::string> whole_;
};

// A text for the shell that holds a secret of the parameters goes to it by the environment: everybody can see the words
// that a program was started with.
void hide_secrets(Command& command, const Value& parameters);

}  // namespace tutti::resource
