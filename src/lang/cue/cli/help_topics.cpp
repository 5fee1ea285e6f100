// `cue help TOPIC`: what is not a verb.
#include "lang/cue/cli/help_topics.h"

namespace tutti::cue {

namespace {

constexpr HelpTopic kTopics[] = {
    {"commands", "user-defined commands",
     R"(A command is a field of `command` in a file whose name ends in _tool.cue. What it has as fields are tasks: structs
that are unified with one of the definitions of tool/cli, tool/exec, tool/file, tool/http or tool/os.

	package site

	import "tool/cli"

	command: hello: {
		name: cli.Ask & {prompt: "Who?", response: string}
		say: cli.Print & {text: "Hello, \(name.response)!"}
	}

`cue cmd hello` runs it. A task runs once all tasks that it refers to are done; `$after: other` makes it wait for one it
does not refer to. Tasks that do not depend on each other run side by side. $short and $long, or the comment before a
command, are what its help says. Files ending in _tool.cue are not read by other verbs.
)"},
    {"embed", "file embedding",
     R"(With @extern(embed) before its package clause a file may take in others of its module:

	@extern(embed)
	package site

	users: _ @embed(file="users.json")
	all:   _ @embed(glob="data/*.yaml")
	note:  _ @embed(file="note.txt", type=text)

A glob gives a struct with the names of the files as fields. The type comes from the name, or is said with `type`.
Paths are relative to the file, use slashes and do not lead out of its folder's module.
)"},
    {"environment", "environment variables",
     R"(CUE_EXPERIMENT     experiments to turn on, with commas between them
CUE_REGISTRY       where modules are fetched from (`cue help registryconfig`)
CUE_CACHE_DIR      where modules are kept; $XDG_CACHE_HOME/cue or ~/.cache/cue without it
CUE_CONFIG_DIR     where logins.json lies; $XDG_CONFIG_HOME/cue or ~/.config/cue without it
DOCKER_CONFIG      where Docker's config.json lies, with names and passwords of registries
TUTTI_LIMIT        limits, as --limit sets them: nodes=1000,time=500
)"},
    {"experiments", "experimental language features",
     R"(@experiment(NAME, ...) at the top of a file turns on, for that file:

aliasv2        aliases behind a label: a~X, a~(K,V)
explicitopen   definitions stay closed where they are embedded; x... opens them
shortcircuit   && and || do not evaluate what they need not
try            try and else clauses, references with ?
)"},
    {"filetypes", "supported file types and qualifiers",
     R"(The type of a file follows from its name, or from a word and a colon before it, which also holds for the files behind
it: `cue vet schema.cue json: settings.conf`. `-` is the standard input. --out takes the same words.

cue          .cue
json         .json
jsonl        .jsonl, .ndjson: one value a line
yaml         .yaml, .yml
toml         .toml
xml+koala    .xml
jsonschema   a schema in JSON or YAML; jsonschema+strict refuses keywords that no draft has
openapi      the schemas of an OpenAPI document
proto        .proto: protocol buffers
textproto    .textproto: data, read with a schema
json+pb      JSON in the mapping of protocol buffers, read with a schema
text         .txt: a string
binary       bytes
)"},
    {"flags", "common flags for composing packages",
     R"(Data files beside CUE are unified with it, or become its values at a place:

-l, --path       the place, one expression for each label: -l kind -l 'strings.ToLower(name)', or a path: -l '"a": "b":'
    --list       all values of one place as a list
    --with-context  the expressions of -l see `data`, `filename`, `index` and `recordCount`
    --files      a file for each value (import)
-R, --recursive  strings that hold JSON or YAML become what they hold (import)
-p, --package    the name of the package of files that have none
-d, --schema     the expression that each value must match
-n, --name       a pattern for the names of files in a folder
    --merge=false  values are checked one by one
)"},
    {"injection", "inject files or values into specific fields for a build",
     R"(A field with @tag(name) takes a value from the command line: with `env: string @tag(env)`, `-t env=prod`.

@tag(env,short=prod|test)  also takes `-t prod`
@tag(n,type=int)           int, number or bool instead of a string
@tag(at,var=now)           with -T a value of the system: now, os, arch, cwd, username, hostname, rand
@if(test)                  before a package clause: the file is there with `-t test` only

Build attributes may be combined: @if(test && !fast). Tagged fields must not lie in lists, comprehensions or optional
fields.
)"},
    {"inputs", "package list, patterns, and files",
     R"(cue VERB [packages] [files]

A package is a folder (`./web`), a folder and all below it (`./...`), or an import path (`mod.test/web`), with `:name`
where a folder has several. No argument is `.`. The files of a folder are read that have the package's name; files of
folders above it, up to the module, belong to it too when they have the same name.

Files are CUE or data (`cue help filetypes`). CUE files without packages beside them are one package of their own.
A folder of data is `./data/*.json`, or with -n a pattern.
)"},
    {"modules", "module support",
     R"(A module is a folder with cue.mod/module.cue, which `cue mod init PATH` makes:

	module: "example.com/site@v0"
	language: version: "v0.17.0"

Its folders are imported as example.com/site/FOLDER. What lies in cue.mod/pkg/PATH, cue.mod/gen/PATH and cue.mod/usr/PATH
is imported by that path.

Packages of other modules are found in those that `deps` names, each in the smallest version that satisfies all
who need it. They are kept in the cache that `cue` uses too, and fetched from a registry when they are not there:

	deps: "example.com/lib@v0": v: "v0.1.0"

`cue mod tidy` writes that list, `cue mod get` adds to it, `cue mod publish` publishes a module. In
cue.mod/local-module.cue a folder or another module may stand for one of them, for this module alone:

	deps: "example.com/lib@v0": replaceWith: "./lib"
)"},
    {"registryconfig", "module registry configuration",
     R"(CUE_REGISTRY says which registry has which modules: registry.cue.works has all of them unless it says otherwise.

It is a list with commas of HOST[:PORT][/REPOSITORY], for all modules, and PREFIX=HOST[:PORT][/REPOSITORY] for those
whose path begins with PREFIX; the longest one counts. `none` stands for a registry without modules. +insecure and
+secure at the end choose http or https; without them this machine is asked by http and all others by https.

file:NAME and inline:TEXT are CUE:

	defaultRegistry: registry: "registry.example"
	moduleRegistries: "example.com": {
		registry:      "other.example/modules"
		pathEncoding:  "path"    // or hashAsRepo, hashAsTag
		prefixForTags: ""
		stripPrefix:   false
	}

Names and passwords are read from Docker's config.json (auths) and from cue's logins.json.
)"},
};

}  // namespace

std::span<const HelpTopic> help_topics() { return kTopics; }

}  // namespace tutti::cue
