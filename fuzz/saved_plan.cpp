// layers: deploy
#include "deploy/record/saved_plan.h"

#include "deploy/record/encode.h"
#include "reader.h"

// A plan that somebody with the key has written, but not this program; and the same text as a tree of the record.
extern "C" int LLVMFuzzerTestOneInput(const tutti::u8* data, std::size_t size) {
  using namespace tutti;
  std::string text(reinterpret_cast<const char*>(data), size);
  store::Seal seal = store::Seal::with_key(std::string(32, 'k'));
  constexpr std::string_view kMark = R"({"tutti_plan":2,)";
  for (const std::string& saved :
       {text, std::string(kMark) + "\"signature\":\"" + seal.sign(std::string(kMark) + text) + "\"," + text + "\n"}) {
    Session session(fuzz_limits());
    try {
      if (!deploy::read_plan(session, saved, "fuzz.plan", seal) && session.diagnostics.ok()) __builtin_trap();
    } catch (const LimitError&) {
    }
  }
  Session session(fuzz_limits());
  try {
    if (auto tree = deploy::decode(session, "state", text, seal)) {
      auto again = deploy::decode(session, "again", deploy::encode(*tree, seal), seal);
      if (!again || deploy::fingerprint(*again, seal) != deploy::fingerprint(*tree, seal)) __builtin_trap();
    }
  } catch (const LimitError&) {
  }
  return 0;
}
