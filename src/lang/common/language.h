#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/sink.h"
#include "tree/path.h"
#include "tree/session.h"
#include "tree/steps.h"

namespace tutti {

// An option that a language or format adds to the verbs that read input: `--level LEVEL`. Shown in the verbs' help.
struct OptionSpec {
  std::string_view name;      // without the dashes
  std::string_view argument;  // "" for a flag
  std::string_view help;
  bool repeatable = false;
  char letter = 0;                // a short form, `-e`; few have one
  std::string_view choices = {};  // the only values it takes, with blanks between; empty: any value
};

// What the user gave for them, in order. A flag is there with an empty value.
class Options {
 public:
  void add(std::string name, std::string value) { values_[std::move(name)].push_back(std::move(value)); }
  bool has(std::string_view name) const { return values_.find(name) != values_.end(); }
  std::string get(std::string_view name, std::string_view otherwise = "") const {
    auto it = values_.find(name);
    return it == values_.end() ? std::string(otherwise) : it->second.back();
  }
  const auto& all() const { return values_; }
  std::vector<std::string> all(std::string_view name) const {
    auto it = values_.find(name);
    return it == values_.end() ? std::vector<std::string>{} : it->second;
  }

 private:
  std::map<std::string, std::vector<std::string>, std::less<>> values_;
};

struct Request {
  std::vector<std::string> files;  // paths as given, all of this language; "-" is standard input
  Options options;
  bool concrete = false;  // `export` and `vet`: what stays open is an error
  // The format of its own in which the language is going to write the result, when that is all that is asked of it:
  // it may then keep what the writer needs and make no tree.
  std::string_view output;
};

// A configuration language or data format: what every verb needs of it. Each is registered once, in cli/registry.cpp.
// Errors go to session.diagnostics; a function that reported any returns std::nullopt (or what could still be made).
class Language {
 public:
  virtual ~Language() = default;

  virtual std::string_view name() const = 0;                         // for --lang: "cue", "json"
  virtual std::span<const std::string_view> extensions() const = 0;  // with the dot: ".cue"
  virtual std::span<const OptionSpec> options() const { return {}; }
  virtual bool is_data() const { return false; }     // a data format: its files mean what they say
  virtual bool takes_data() const { return false; }  // evaluates data files together with its own

  // The tree that the files mean together.
  virtual std::optional<Value> evaluate(Session& session, const Request& request) const = 0;

  // The same by the rules as they were published, one by one: what --reference, `agree` and `step` run. Slow and
  // literal, and by itself: what the rules do not speak of is refused with a diagnostic, never left to evaluate().
  // `steps` may be nullptr.
  virtual bool has_rules() const { return false; }
  virtual std::optional<Value> by_rules(Session&, const Request&, Steps*) const { return std::nullopt; }
  // What evaluate() says of what the rules speak of: `agree` asks whether the two are equal, in the order of keys too
  // where the rules have one.
  virtual std::optional<Value> as_rules_say(Session& session, const Request& request) const {
    return evaluate(session, request);
  }
  virtual bool rules_have_order() const { return false; }

  // The text laid out in the language's style, comments kept. Idempotent. nullopt where it cannot be parsed.
  virtual bool can_format() const { return false; }
  virtual std::optional<std::string> format(Session& session, const Source& source) const;

  // Output formats that this language writes from a tree: `--out NAME`.
  virtual std::span<const std::string_view> outputs() const { return {}; }
  virtual bool write(Session& session, const Value& value, std::string_view output, const Options& options,
                     Sink& sink) const;

  // The tree as it goes to the common formats (json, yaml, ...): how kinds that only this language has are written as
  // data.
  virtual Value encode(Session&, const Value& value, std::string_view, const Options&) const { return value; }

  // Checks beyond evaluating (tutti vet); by default evaluating is all. True when nothing is wrong.
  virtual bool vet(Session& session, const Request& request) const;

  // Checks the tree of another language against the request's files (tutti vet schema.cue catalog.pp), for languages
  // whose files can be schemas. True when nothing is wrong.
  virtual bool checks_trees() const { return false; }
  virtual bool check(Session&, const Request&, const Value&) const { return true; }
  // The tree that the request's files and those trees mean together.
  virtual std::optional<Value> evaluate_with(Session&, const Request&, std::span<const Value>) const {
    return std::nullopt;
  }

  // The path that a name as the language's users say it (`Service[web]`) stands for in a tree of this language.
  struct NamedPath {
    Path path;
    std::string wrong;  // what there is not; the path is empty then
    std::string near;   // what may have been meant; "": nothing is near
  };
  virtual std::optional<NamedPath> named_path(const Value&, std::string_view) const { return std::nullopt; }

  // More lines for the story that `tutti why` tells of a path in a tree of this language, from what only the language
  // knows.
  virtual std::string explain(Session&, const Value&, const Path&, const Request&) const { return {}; }

  // What became of what is not at a path, where it was there while the files were evaluated: lines as of explain().
  virtual std::string explain_missing(Session&, const Path&, const Request&) const { return {}; }

  // Whether a folder can stand where files do; it is then among the files of a request.
  virtual bool reads_folder(const std::string&) const { return false; }
};

// Some tools have a command line of their own that users' scripts rely on (cue, puppet). A front end may claim a call
// before the verbs see it, and then does all of it: flags, output, exit code.
class FrontEnd {
 public:
  virtual ~FrontEnd() = default;
  virtual bool claims(std::span<const std::string> args) const = 0;  // args[0] is the verb
  virtual int run(std::span<const std::string> args) const = 0;

  // The verbs that are its alone, for the help and the completions. Each takes --help.
  struct OwnVerb {
    std::string_view name, summary;
  };
  virtual std::span<const OwnVerb> own_verbs() const = 0;
};

}  // namespace tutti
