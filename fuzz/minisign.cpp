// layers: base
#include "base/minisign.h"

// A key and a signature, one after the other: nothing is accepted that was not signed, and no damaged key opens.
extern "C" int LLVMFuzzerTestOneInput(const tutti::u8* data, std::size_t size) {
  using namespace tutti;
  std::string_view text(reinterpret_cast<const char*>(data), size);
  std::string_view rest = text.substr(text.find('|') == text.npos ? size : text.find('|') + 1);
  SignatureKey none{};
  Result<SignatureKey> key = public_signature_key(text);
  std::vector<SignatureKey> keys{key ? *key : none};
  (void)verify_signature("hello\n", rest, keys);
  (void)SigningKey::open(text, [] { return Result<std::string>(failure("nobody is there")); });
  return 0;
}
