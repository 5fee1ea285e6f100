#pragma once

#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lang/puppet/types/value.h"
#include "tree/session.h"

namespace tutti::puppet {

// Facts that modules bring: in Ruby (lib/facter/*.rb), or as files and programs (facts.d). Those in Ruby take as long
// as facter takes, which is why nobody asks before a manifest wants a fact that is not known otherwise.
class ModuleFacts {
 public:
  explicit ModuleFacts(std::span<const std::string> modules);  // their folders

  // Whether the Ruby code of some module seems to make a fact of this name. Names are read from the calls of
  // Facter.add, of computed ones what they begin with.
  bool promises(std::string_view name) const;
  const std::set<std::string, std::less<>>& names() const { return names_; }
  bool none() const { return ruby_.empty() && external_.empty(); }
  std::span<const std::string> external() const { return external_; }

  // What facter gives with these modules, through the system's Ruby: the fact `name` as a hash of one, or all ("").
  // nullopt (and a warning) when it cannot be asked.
  std::optional<Val> ask_facter(Session& session, std::string_view name) const;

 private:
  void read_names(std::string_view code);

  std::vector<std::string> ruby_, external_;  // folders
  std::set<std::string, std::less<>> names_;
  std::vector<std::string> beginnings_;
};

// Facts of this host and, where they say nothing, those that the modules in these folders (separated by colons) bring.
Value with_module_facts(Session& session, const Value& facts, std::string_view modulepath);

}  // namespace tutti::puppet
