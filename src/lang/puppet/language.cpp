#include "lang/puppet/language.h"

#include <fmt/format.h>

#include "lang/puppet/catalog/named_path.h"
#include "lang/puppet/catalog/output.h"
#include "lang/puppet/catalog/texts.h"
#include "lang/puppet/eval/compiler.h"
#include "lang/puppet/format.h"
#include "lang/puppet/request.h"
#include "text/secret_words.h"

namespace tutti::puppet {
namespace {
// What is kept when the catalog itself is all that is wanted: it is written from here, without a tree.
struct Compiled {
  std::unique_ptr<Compiler> compiler;
};
}  // namespace

std::span<const std::string_view> Puppet::extensions() const {
  static constexpr std::string_view kExtensions[] = {".pp"};
  return kExtensions;
}

std::span<const OptionSpec> Puppet::options() const {
  static constexpr OptionSpec kOptions[] = {
      {"node", "NAME", "the node to compile for (default: the fact `fqdn`)"},
      {"facts", "FILE", "its facts, YAML or JSON (default: those of this host)"},
      {"environment", "DIR", "the environment: its modules, functions, types and Hiera data"},
      {"modulepath", "DIRS", "where modules are, separated by colons", true},
      {"strict-variables", "", "reading a variable that is not set is an error"},
      {"strict", "LEVEL", "off, warning or error: what doubtful constructs are"},
      {"all-nodes", "DIR", "compile all nodes whose facts are in this folder (NAME.yaml, NAME.json), in parallel"},
      {"enc", "WHAT",
       "an external node classifier: a program, called with the node's name, a YAML file or a folder of NAME.yaml"},
      {"hiera-config", "FILE", "the hiera.yaml of the global layer, which is asked before the environment's"},
      {"storeconfigs", "", "exported resources are collected, the node's own also without --exported"},
      {"exported", "FILE", "exported resources of other nodes, for <<| |>> (JSON)"},
  };
  return kOptions;
}

std::optional<Value> Puppet::evaluate(Session& session, const Request& request) const {
  auto settings = settings_of(session, request.options);
  if (!settings) return std::nullopt;
  auto environment = std::make_shared<Environment>(*settings, session.sources, session.budget.limits());
  std::vector<const Program*> programs;
  bool good = true;
  for (const std::string& file : request.files) {
    const Source* source = session.open(file);
    if (!source) return std::nullopt;
    const Program* p = environment->add_manifest(*source, session.diagnostics);
    if (p)
      programs.push_back(p);
    else
      good = false;
  }
  if (!good) return std::nullopt;
  bool as_catalog = request.output == "catalog";
  std::optional<Value> tree;
  if (request.options.has("all-nodes")) {
    tree = compile_all(session, *environment, programs, request.options.get("all-nodes"), as_catalog,
                       request.options.has("reveal"));
  } else {
    auto facts = read_facts(session, request.options.get("facts"));
    if (!facts) return std::nullopt;
    std::string node = request.options.get("node");
    if (as_catalog) {
      auto compiled = std::make_shared<Compiled>();
      compiled->compiler = compile_catalog(session, *environment, programs, node, *facts);
      if (!compiled->compiler) return std::nullopt;
      tree = stand_in(session);
      session.attach(*tree, compiled);
    } else {
      tree = compile_node(session, *environment, programs, node, *facts);
    }
  }
  if (tree) session.attach(*tree, environment);  // the tree's text may be in it
  return tree;
}

std::span<const std::string_view> Puppet::outputs() const {
  static constexpr std::string_view kOutputs[] = {"catalog"};
  return kOutputs;
}

bool Puppet::write(Session& session, const Value& value, std::string_view output, const Options& options,
                   Sink& sink) const {
  if (output != "catalog") return false;
  bool reveal = options.has("reveal");
  const SecretWords words = session.sources->said_secrets();
  const SecretWords* hidden = reveal ? nullptr : &words;
  static const Symbol catalogs("catalogs");
  if (const Compiled* compiled = session.attached<Compiled>(value)) {
    write_catalog(*compiled->compiler, sink, reveal);
    sink.put('\n');
  } else if (const CatalogTexts* texts = session.attached<CatalogTexts>(value)) {
    if (!texts->write(sink)) {
      session.diagnostics.error("IO-READ", {}, "the file in which the catalogs waited cannot be read any more");
      return false;
    }
  } else if (value.tag() == catalogs) {  // all nodes of a site: one catalog a line
    for (const Entry& e : value.entries()) write_catalog(e.value, sink, hidden), sink.put('\n');
  } else {
    write_catalog(value, sink, hidden);
    sink.put('\n');
  }
  return true;
}

namespace {
// References as catalogs write them: Package[nginx].
Value references_as_text(const TreeBuilder& b, const Value& v) {
  switch (v.kind()) {
    case Kind::kResource: return b.string(fmt::format("{}[{}]", v.tag().text(), v.text()), v.origin());
    case Kind::kList: {
      std::vector<Value> items(v.items().begin(), v.items().end());
      for (Value& i : items) i = references_as_text(b, i);
      return b.list(items, v.origin());
    }
    case Kind::kMap: {
      std::vector<Entry> entries(v.entries().begin(), v.entries().end());
      for (Entry& e : entries) e.value = references_as_text(b, e.value);
      return b.map(entries, v.origin()).with_tag(v.tag());
    }
    default: return v;
  }
}
}  // namespace

Value Puppet::encode(Session& session, const Value& value, std::string_view, const Options&) const {
  return references_as_text(session.builder(), value);
}

std::optional<std::string> Puppet::format(Session& session, const Source& source) const {
  return format_manifest(session, source);
}

bool Puppet::vet(Session& session, const Request& request) const {
  return evaluate(session, request).has_value() && session.diagnostics.ok();
}

std::optional<Language::NamedPath> Puppet::named_path(const Value& value, std::string_view text) const {
  return puppet::named_path(value, text);
}

const Language& language() {
  static const Puppet puppet;
  return puppet;
}

}  // namespace tutti::puppet
