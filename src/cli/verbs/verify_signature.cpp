// tutti verify-signature: whether files are signed with one of the keys, by the same check that --require-signature
// makes.
#include <fmt/format.h>

#include "base/file.h"
#include "base/minisign.h"
#include "cli/verb.h"

namespace tutti {
namespace {

constexpr OptionSpec kVerifySignatureOptions[] = {
    {"key", "PUBLIC-KEY", "a file with a public key of minisign, or the key itself; of several, one must fit", true},
};

int run_verify_signature(Call& call) {
  std::vector<std::string> keys = call.options.all("key");
  if (keys.empty()) {
    call.session.diagnostics.error("USE", {}, "there is no key to check with").suggest("--key PUBLIC-KEY");
    return exit_code::kError;
  }
  RequiredSignatures::require(keys);
  for (const std::string& path : call.arguments) {
    Result<std::string> bytes = read_file(path, call.session.budget.limits().input_bytes);
    if (bytes)
      call.out.put(fmt::format("Signed: {}\n", path));
    else
      call.session.diagnostics.error(bytes.error().code == kNotSigned ? std::string(kSignatureCode) : "IO-READ", {},
                                     bytes.error().message);
  }
  (void)call.out.commit();  // those that are signed, also where others are not
  return call.code();
}

}  // namespace

extern const Verb verify_signature_verb = {
    .name = "verify-signature",
    .group = "Configuration",
    .summary = "check that files are signed with a key",
    .arguments = "FILE...",
    .details = "Each file needs a FILE.minisig of one of the keys, made by `tutti sign` or by minisign.",
    .examples = "$ tutti verify-signature site.cue --key team.pub",
    .options = kVerifySignatureOptions,
    .run = run_verify_signature,
    .least = 1,
};

}  // namespace tutti
