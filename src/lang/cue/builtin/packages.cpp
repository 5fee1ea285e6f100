#include "lang/cue/builtin/support.h"

namespace tutti::cue {

void register_packages() {
  add_strings();
  add_strconv();
  add_list();
  add_math();
  add_bits();
  add_struct();
  add_regexp();
  add_time();
  add_net();
  add_path();
  add_uuid();
  add_html();
  add_crypto();
  add_base64();
  add_hex();
  add_csv();
  add_json();
  add_yaml();
  add_toml();
  add_template();
  add_tabwriter();
  add_tool();
  add_openapi();
}

std::span<const std::string_view> builtin_package_paths() {
  static constexpr std::string_view kPaths[] = {"crypto/ed25519",
                                                "crypto/hmac",
                                                "crypto/md5",
                                                "crypto/sha1",
                                                "crypto/sha256",
                                                "crypto/sha512",
                                                "encoding/base64",
                                                "encoding/csv",
                                                "encoding/hex",
                                                "encoding/json",
                                                "encoding/openapi",
                                                "encoding/toml",
                                                "encoding/yaml",
                                                "html",
                                                "list",
                                                "math",
                                                "math/bits",
                                                "net",
                                                "path",
                                                "regexp",
                                                "strconv",
                                                "strings",
                                                "struct",
                                                "text/tabwriter",
                                                "text/template",
                                                "time",
                                                "uuid",
                                                "tool/cli",
                                                "tool/exec",
                                                "tool/file",
                                                "tool/http",
                                                "tool/os"};
  return kPaths;
}

std::string_view package_by_name(std::string_view name) {
  for (std::string_view p : builtin_package_paths())
    if (p.substr(p.rfind('/') + 1) == name) return p;
  return {};
}

}  // namespace tutti::cue
