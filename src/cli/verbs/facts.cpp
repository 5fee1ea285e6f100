
#include "cli/doors/puppet.h"
#include "cli/output.h"
#include "cli/verb.h"
#include "format/write.h"

namespace tutti {
namespace {

constexpr OptionSpec kFactsOptions[] = {
    {"out", "FORMAT", "json (the default), yaml, toml, xml or leaves", false, 0, "json yaml toml xml leaves"},
    {"external-dir", "DIR", "a folder of external facts (.txt, .json, .yaml, programs), before /etc/facter/facts.d"},
    {"modulepath", "DIRS",
     "with the facts that these modules bring, separated by colons; those in Ruby through facter"},
    {"legacy", "", "the flat facts of old, too: osfamily, ipaddress, ..."},
};

int run_facts(Call& call) {
  Value facts = puppet::gather_facts(call.session, call.options.has("legacy"), call.options.all("external-dir"));
  if (call.options.has("modulepath"))
    facts = puppet::with_module_facts(call.session, facts, call.options.get("modulepath"));
  Path path;
  if (!call.arguments.empty()) {
    std::optional<Path> parsed = Path::parse(call.arguments[0]);
    const Value* found = parsed ? find(facts, *parsed) : nullptr;
    if (found == nullptr) {
      call.session.diagnostics.error("FACT-UNKNOWN", {}, "this host has no fact `" + call.arguments[0] + "`");
      return exit_code::kError;
    }
    facts = *found;
  }
  bool ok = write_tree(call.session, facts, call.options.get("out", "json"), {}, call.out);
  return ok ? call.code() : exit_code::kError;
}

}  // namespace

extern const Verb facts_verb;
const Verb facts_verb = {
    .name = "facts",
    .group = "Configuration",
    .summary = "facts of this host, as Puppet manifests know them",
    .arguments = "[PATH]",
    .details =
        "Gathered natively, without Ruby or facter: os, kernel, networking, memory, processors, disks, "
        "identity and the like. With a path, only what is there.",
    .examples = "$ tutti facts os.family\n$ tutti facts --out yaml > facts/web1.yaml\n",
    .options = kFactsOptions,
    .run = run_facts,
    .most = 1,
};

}  // namespace tutti
