// campaign: not part of the short pass
// layers: lang/puppet
#include "lang/puppet/eval/compiler.h"
#include "lang/puppet/ruby/bridge.h"
#include "reader.h"

// What a Ruby process says is data: whatever it is, it is a value, an error, or neither, and goes back as it came.
extern "C" int LLVMFuzzerTestOneInput(const tutti::u8* data, std::size_t size) {
  using namespace tutti;
  Session session(fuzz_limits());
  try {
    auto source = session.sources->add("answer", std::string(reinterpret_cast<const char*>(data), size));
    std::optional<Value> answer = source ? read_json(session, **source) : std::nullopt;
    if (!answer) return 0;
    puppet::Environment environment({}, session.sources, session.budget.limits());
    puppet::NodeInfo node;
    node.name = "fuzz";
    node.facts = puppet::make_hash(session.arena, {});
    puppet::Compiler compiler(environment, session, std::move(node));
    puppet::to_wire(puppet::from_wire(*answer, session.arena, &compiler));
  } catch (const LimitError&) {
  } catch (const puppet::EvalError&) {
  }
  return 0;
}
