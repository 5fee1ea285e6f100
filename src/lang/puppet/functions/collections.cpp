// Functions on arrays and hashes.
#include "lang/puppet/functions/function.h"

namespace tutti::puppet {
namespace {

Val f_keys(const FunctionCall& c) {
  std::vector<Val> out;
  for (const Pair& p : c.arg(0).entries()) out.push_back(p.key);
  return c.array(out);
}

Val f_values(const FunctionCall& c) {
  std::vector<Val> out;
  for (const Pair& p : c.arg(0).entries()) out.push_back(p.value);
  return c.array(out);
}

}  // namespace

void add_collection_functions(Functions& f) {
  f.add("keys", {{"Hash", f_keys}});
  f.add("values", {{"Hash", f_values}});
}

}  // namespace tutti::puppet
