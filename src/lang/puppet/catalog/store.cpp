// Exported resources of other nodes.
#include "lang/puppet/eval/compiler.h"

namespace tutti::puppet {

void Compiler::collect_from_store(Collector&, std::vector<Resource*>&) {}

}  // namespace tutti::puppet
