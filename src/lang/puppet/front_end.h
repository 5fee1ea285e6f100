#pragma once

#include "lang/common/language.h"

namespace tutti::puppet {

// A call of puppet's own command line: --name value, --name=value, --name, --no-name; -e CODE.
struct Arguments {
  std::vector<std::string> words;
  Options options;    // flags only when they are on
  Options own;        // the original's settings, and those of puppet.conf, as ours
  Limits limits;      // --limit, TUTTI_LIMIT
  bool help = false;  // --help
  std::string wrong;  // an option that is not known, or lacks its value; "" when all is well
};
// `call`: apply, lookup, parser validate or catalog compile, whose options differ.
Arguments read_arguments(std::string_view call, std::span<const std::string> args);
std::string help_for(std::string_view call);
std::string wrong_use(std::string_view call, std::string_view what);  // as an error
std::string node_named(const Arguments& arguments);                   // "": none was
Options own_options(const Arguments& arguments);                      // what Arguments::own is
// The files given, folders as the manifests below them; when none is, those of the environment that was named.
std::vector<std::string> manifests_of(const Arguments& arguments);

// `tutti puppet ...`: the calls of puppet's own command line that need no agent: `parser validate`, `lookup
// [--explain]`, `catalog compile`, with the original's main flags. (`apply` is in cli/puppet_apply.h: it acts.)
class PuppetFrontEnd final : public FrontEnd {
 public:
  bool claims(std::span<const std::string> args) const override;
  int run(std::span<const std::string> args) const override;
  std::span<const OwnVerb> own_verbs() const override;
};

const FrontEnd& front_end();

}  // namespace tutti::puppet
