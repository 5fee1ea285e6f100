// tool/*: what tasks of `cmd` look like. They are schemas only; the command runs them.
#include "lang/cue/builtin/support.h"

namespace tutti::cue {

namespace {

#define TUTTI_HTTP_DO                                                                                                  \
  "{$id: _id, _id: *\"tool/http.Do\" | \"http\", method: string, url: string, followRedirects: *true | bool, "         \
  "tls: {verify: *true | bool, caCert?: bytes | string}, request: {body?: bytes | string, header: [string]: string | " \
  "[...string], trailer: [string]: string | [...string]}, response: {status: string, statusCode: int, body: *bytes | " \
  "string, header: [string]: string | [...string], trailer: [string]: string | [...string]}}"
#define TUTTI_MKDIR \
  "{$id: _id, _id: \"tool/file.Mkdir\", path: string, createParents: bool | *false, permissions: int | *0o777}"
#define TUTTI_ENV_FIELDS "{[!=\"\" & !~\"^[$]\"]: bool | number | *string | null}"

const ConstantSpec kCli[] = {
    {"Print", "{$id: _id, _id: *\"tool/cli.Print\" | \"print\", text: string}"},
    {"Ask", "{$id: _id, _id: \"tool/cli.Ask\", prompt: string, response: string | bool}"},
};
const ConstantSpec kExec[] = {
    {"Run",
     "{$id: _id, _id: *\"tool/exec.Run\" | \"exec\", cmd: string | [string, ...string], dir?: string, "
     "env: *{[string]: string} | [...=~\"=\"], stdout: *null | string | bytes, stderr: *null | string | bytes, "
     "stdin: *null | string | bytes, success: bool, mustSucceed: bool | *true}"},
};
const ConstantSpec kFile[] = {
    {"Read", "{$id: _id, _id: \"tool/file.Read\", filename: !=\"\", contents: *bytes | string}"},
    {"Append",
     "{$id: _id, _id: \"tool/file.Append\", filename: !=\"\", permissions: int | *0o666, contents: bytes | string}"},
    {"Create",
     "{$id: _id, _id: \"tool/file.Create\", filename: !=\"\", permissions: int | *0o666, contents: bytes | string}"},
    {"Symlink", "{$id: _id, _id: \"tool/file.Symlink\", filename: !=\"\", target: !=\"\"}"},
    {"Glob", "{$id: _id, _id: \"tool/file.Glob\", glob: !=\"\", files: [...string]}"},
    {"Mkdir", TUTTI_MKDIR},
    {"MkdirAll", TUTTI_MKDIR " & {createParents: true, ...}"},
    {"MkdirTemp",
     "{$id: _id, _id: \"tool/file.MkdirTemp\", dir: string | *\"\", pattern: string | *\"\", path: string}"},
    {"RemoveAll", "{$id: _id, _id: \"tool/file.RemoveAll\", path: string, success: bool}"},
};
const ConstantSpec kHttp[] = {
    {"Do", TUTTI_HTTP_DO},
    {"Get", TUTTI_HTTP_DO " & {method: \"GET\", ...}"},
    {"Post", TUTTI_HTTP_DO " & {method: \"POST\", ...}"},
    {"Put", TUTTI_HTTP_DO " & {method: \"PUT\", ...}"},
    {"Delete", TUTTI_HTTP_DO " & {method: \"DELETE\", ...}"},
};
const ConstantSpec kOs[] = {
    {"Value", "bool | number | *string | null"},
    {"Name", "!=\"\" & !~\"^[$]\""},
    {"Setenv", "{$id: _id, _id: \"tool/os.Setenv\", " TUTTI_ENV_FIELDS "}"},
    {"Getenv", "{$id: _id, _id: \"tool/os.Getenv\", " TUTTI_ENV_FIELDS "}"},
    {"Environ", "{$id: _id, _id: \"tool/os.Environ\", " TUTTI_ENV_FIELDS "}"},
    {"Clearenv", "{$id: _id, _id: \"tool/os.Clearenv\"}"},
};

}  // namespace

void add_tool() {
  add_package("tool", {}, {});
  add_package("tool/cli", {}, kCli);
  add_package("tool/exec", {}, kExec);
  add_package("tool/file", {}, kFile);
  add_package("tool/http", {}, kHttp);
  add_package("tool/os", {}, kOs);
}

}  // namespace tutti::cue
