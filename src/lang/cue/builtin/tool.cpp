// tool/*: what tasks of `cmd` look like. They are schemas only; the command runs them. Each package is one source, so
// that errors can name the line of a schema: a constant without a name stands for all of them.
#include "lang/cue/builtin/support.h"

namespace tutti::cue {

namespace {

constexpr ConstantSpec kCli[] = {{"", R"({
	Print: {
		$id: _id, _id: *"tool/cli.Print" | "print"
		// what is printed, with a line break after it
		text: string
	}
	Ask: {
		$id: _id, _id: "tool/cli.Ask"
		// what is printed, and what is answered: text, or yes or no
		prompt:   string
		response: string | bool
	}
})"}};

constexpr ConstantSpec kExec[] = {{"", R"({
	Run: {
		$id: _id, _id: *"tool/exec.Run" | "exec"
		// the program with its arguments, in one text or each by itself
		cmd: string | [string, ...string]
		dir?: string
		// names and values, or a list of NAME=VALUE
		env: *{[string]: string} | [...=~"="]
		// null is the terminal; a type asks for what was printed
		stdout: *null | string | bytes
		stderr: *null | string | bytes
		stdin:  *null | string | bytes
		success:     bool
		mustSucceed: bool | *true
	}
})"}};

constexpr ConstantSpec kFile[] = {{"", R"({
	Read: {
		$id: _id, _id: "tool/file.Read"
		// the type asks for text or bytes
		filename: !=""
		contents: *bytes | string
	}
	Append: {
		$id: _id, _id: "tool/file.Append"
		// made with these permissions where there is none
		filename:    !=""
		permissions: int | *0o666
		contents:    bytes | string
	}
	Create: {
		$id: _id, _id: "tool/file.Create"
		// what was there before is gone
		filename:    !=""
		permissions: int | *0o666
		contents:    bytes | string
	}
	Symlink: {
		$id: _id, _id: "tool/file.Symlink"
		filename: !=""
		target:   !=""
	}
	Glob: {
		$id: _id, _id: "tool/file.Glob"
		glob: !=""
		files: [...string]
	}
	Mkdir: {
		$id: _id, _id: "tool/file.Mkdir"
		path:          string
		createParents: bool | *false
		permissions:   int | *0o777
	}
	MkdirAll: Mkdir & {createParents: true, ...}
	MkdirTemp: {
		$id: _id, _id: "tool/file.MkdirTemp"
		dir:     string | *""
		pattern: string | *""
		path:    string
	}
	RemoveAll: {
		$id: _id, _id: "tool/file.RemoveAll"
		path:    string
		success: bool
	}
})"}};

constexpr ConstantSpec kHttp[] = {{"", R"({
	Do: {
		$id: _id, _id: *"tool/http.Do" | "http"
		method: string
		url:    string
		followRedirects: *true | bool
		tls: {
			verify:  *true | bool
			caCert?: bytes | string
		}
		request: {
			body?: bytes | string
			header: [string]:  string | [...string]
			trailer: [string]: string | [...string]
		}
		response: {
			status:     string
			statusCode: int
			body:       *bytes | string
			header: [string]:  string | [...string]
			trailer: [string]: string | [...string]
		}
	}
	Get:    Do & {method: "GET", ...}
	Post:   Do & {method: "POST", ...}
	Put:    Do & {method: "PUT", ...}
	Delete: Do & {method: "DELETE", ...}
})"}};

constexpr ConstantSpec kOs[] = {{"", R"({
	Value: bool | number | *string | null
	Name:  !="" & !~"^[$]"
	Setenv: {
		$id: _id, _id: "tool/os.Setenv"
		{[Name]: Value}
	}
	Getenv: {
		$id: _id, _id: "tool/os.Getenv"
		{[Name]: Value}
	}
	Environ: {
		$id: _id, _id: "tool/os.Environ"
		{[Name]: Value}
	}
	Clearenv: {$id: _id, _id: "tool/os.Clearenv"}
})"}};

}  // namespace

void add_tool() {
  add_package("tool/cli", {}, kCli);
  add_package("tool/exec", {}, kExec);
  add_package("tool/file", {}, kFile);
  add_package("tool/http", {}, kHttp);
  add_package("tool/os", {}, kOs);
}

}  // namespace tutti::cue
