#include "lang/smartfrog/production/environment.h"

#include <sys/utsname.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <limits>

#include "lang/smartfrog/syntax/java_number.h"

namespace tutti::smartfrog::production {

std::optional<std::string> property(const std::string& name, const std::map<std::string, std::string>& given) {
  if (auto it = given.find(name); it != given.end()) return it->second;
  auto env = [](const char* variable) -> std::optional<std::string> {
    const char* v = std::getenv(variable);
    return v ? std::optional<std::string>(v) : std::nullopt;
  };
  if (name == "file.separator") return "/";
  if (name == "path.separator") return ":";
  if (name == "line.separator") return "\n";
  if (name == "file.encoding") return "UTF-8";
  if (name == "java.io.tmpdir") return env("TMPDIR").value_or("/tmp");
  if (name == "user.dir") {
    std::error_code ec;
    return std::filesystem::current_path(ec).string();
  }
  if (name == "user.home") return env("HOME").value_or("/");
  if (name == "user.name") {
    if (auto v = env("USER")) return v;
    return geteuid() == 0 ? "root" : std::to_string(geteuid());
  }
  if (name == "java.home") return env("JAVA_HOME");
  utsname u{};
  if (name.starts_with("os.") && uname(&u) == 0) {
    if (name == "os.name") return u.sysname;
    if (name == "os.arch") return std::string(u.machine) == "x86_64" ? "amd64" : u.machine;
    if (name == "os.version") return u.release;
  }
  return std::nullopt;
}

std::optional<Value> java_constant(std::string_view name, Arena& arena) {
  static const Symbol kLong("LONG");
  for (std::string_view phases :
       {"org.smartfrog.sfcore.languages.sf.PhaseNames.", "org.smartfrog.sfcore.parser.PhaseNames."}) {
    if (!name.starts_with(phases)) continue;
    std::string_view field = name.substr(phases.size());
    if (field == "TYPE") return Value::string("type");
    if (field == "PLACE") return Value::string("place");
    if (field == "SFCONFIG") return Value::string("sfConfig");
    if (field == "LINK") return Value::string("link");
    if (field == "FUNCTION") return Value::string("function");
    if (field == "PRINT") return Value::string("print");
    if (field == "PHASE_LIST" && phases.find("parser") != std::string_view::npos) return Value::string("predicate");
  }
  if (name == "java.lang.Integer.MAX_VALUE") return Value::integer(std::numeric_limits<i32>::max());
  if (name == "java.lang.Integer.MIN_VALUE") return Value::integer(std::numeric_limits<i32>::min());
  if (name == "java.lang.Long.MAX_VALUE") return Value::integer(std::numeric_limits<i64>::max()).with_tag(kLong);
  if (name == "java.lang.Long.MIN_VALUE") return Value::integer(std::numeric_limits<i64>::min()).with_tag(kLong);
  if (name == "java.lang.Math.PI") return java_double(3.141592653589793, arena);
  if (name == "java.lang.Math.E") return java_double(2.718281828459045, arena);
  if (name == "java.lang.Boolean.TRUE") return Value::boolean(true);
  if (name == "java.lang.Boolean.FALSE") return Value::boolean(false);
  if (name == "java.io.File.separator") return Value::string("/");
  if (name == "java.io.File.pathSeparator") return Value::string(":");
  return std::nullopt;
}

}  // namespace tutti::smartfrog::production
