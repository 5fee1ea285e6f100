#pragma once

#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
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
  // A tree with every text marked as secret that holds one: what is made of secrets is as secret as they are.
  Value marked(const Value& value, const TreeBuilder& builder) const;

 private:
  void collect(const Value& value, bool secret);
  void add(std::string_view word);
  // A secret, or a part that is as secret, also as programs write it in quotes and encoded (secret_forms.h).
  struct Form {
    std::string text;
    bool encoded = false, before = false, after = false;
  };
  void know(Form form);
  void look(std::string_view text, const std::function<void(std::size_t, std::size_t)>& found) const;
  std::vector<std::pair<std::size_t, std::size_t>> places(std::string_view text) const;

  std::unordered_map<u32, std::vector<Form>> forms_;  // by the first four bytes
  std::vector<bool> begins_;                          // which of those there may be, to pass over all others quickly
  std::set<std::string> whole_;                       // secret themselves
};

// A text for the shell that holds a secret of the parameters goes to it by the environment: everybody can see the words
// that a program was started with.
void hide_secrets(Command& command, const Value& parameters);

}  // namespace tutti::resource
