// campaign: not part of the short pass
// layers: lang/puppet
#include "lang/puppet/erb/render.h"
#include "lang/puppet/eval/compiler.h"
#include "reader.h"

// Renders as an ERB template with a few variables, without Ruby, twice: the second time it has been read before.
extern "C" int LLVMFuzzerTestOneInput(const tutti::u8* data, std::size_t size) {
  using namespace tutti;
  Session session(fuzz_limits());
  std::string_view text(reinterpret_cast<const char*>(data), size);
  if (text.find("template") != std::string_view::npos) return 0;  // reads this machine's files
  puppet::Environment environment({}, session.sources, session.budget.limits());
  puppet::NodeInfo node;
  node.name = "fuzz";
  node.facts = puppet::make_hash(session.arena, {});
  puppet::Compiler compiler(environment, session, std::move(node));
  compiler.compile({});
  auto set = [&](std::string_view name, const puppet::Val& v) {
    compiler.set_variable(compiler.top(), Symbol(name), v);
  };
  using puppet::Pair, puppet::Val;
  const Val words[] = {Val::string("b"), Val::string("été"), Val::undef(), Val::integer(3)};
  const Pair pairs[] = {{Val::string("k"), Val::string("v")}, {Val::string("l"), make_array(session.arena, words)}};
  set("n", Val::integer(-7));
  set("s", Val::string("a.b-c"));
  set("a", make_array(session.arena, words));
  set("h", make_hash(session.arena, pairs));
  for (int i = 0; i < 2; i++) {
    try {
      puppet::erb::render(compiler, compiler.top(), text, {});
    } catch (const puppet::erb::Unsupported&) {
    } catch (const LimitError&) {
      return 0;
    }
  }
  return 0;
}
