#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "lang/cue/cli/flags.h"
#include "lang/cue/compile/compile.h"
#include "lang/cue/eval/context.h"
#include "lang/cue/eval/print.h"
#include "lang/cue/eval/validate.h"
#include "lang/cue/export/export.h"
#include "lang/cue/load/packages.h"
#include "tree/session.h"

namespace tutti::cue {

// Ends a command: the errors are shown and the exit code is 1.
struct Stop {
  std::vector<LoadProblem> problems;
  bool silent = false;
};

// A value to work on: an instance, a document of a data file, or an expression in one of them.
struct Item {
  Vertex* value = nullptr;
  std::string id;             // shown when there are several
  std::string package;        // of its hidden fields
  ast::File* file = nullptr;  // when it is a document as it was read
  Pos data = {};              // where the document begins
};

// How a call answers, by the options that tutti has for every verb.
struct Answering {
  Limits limits;
  bool reads_only = true;  // and so has a limit of time
  bool as_cue = true;      // errors in cue's words; otherwise as diagnostics, in this style
  DiagnosticStyle style = DiagnosticStyle::kExcerpt;
  bool colour = false;
  bool named_cue = false;  // called as `cue`: nothing is said that it does not say
  bool hints = false;      // "did you mean" beside cue's words: for people, since scripts may compare the words

  // cue leaves out errors beside or behind others. Under its name so do we; else all are told, in whichever style.
  bool tells_all() const { return !as_cue || !named_cue; }
  // From the flags or the environment; "" or what is wrong.
  std::string read(const CommandFlags& flags);
};

// One call of the tool: what it loaded, the evaluator, and its output.
class Program {
 public:
  Program(const CommandSpec& command, CommandFlags flags, Answering answering, std::string dir);
  ~Program();

  int run();

  // ---- for the commands
  const CommandFlags& flags() const { return flags_; }
  const Answering& answering() const { return answering_; }
  Session& session() { return session_; }
  Sources& sources() { return *session_.sources; }
  Room& arena() { return arena_; }
  // For what is read: given back once it is compiled, when a command needs only values.
  Arena& syntax() { return syntax_; }
  void forget_syntax() { store_->forget_syntax(); }
  void drop_syntax();
  Context& context() { return *context_; }
  PackageLoader& loader() { return *loader_; }
  const std::string& dir() const { return dir_; }
  std::string absolute(const std::string& path) const { return loader_->absolute(path); }

  void make_loader(LoaderConfig config);
  [[noreturn]] void fail(std::string message, std::vector<Pos> places = {});
  [[noreturn]] void fail_write(const Failure& failure);
  [[noreturn]] void fail(const Bottom* b);
  [[noreturn]] void fail(std::vector<LoadProblem> problems);
  [[noreturn]] void fail_with_diagnostics();  // that are in the session
  // What fields with @secret() hold is shown by nothing that follows; called as `cue`, which has no secrets, we have
  // none.
  void keep_secrets_of(const Vertex* v);
  bool hides_secrets() const;
  bool marks_secrets() const { return !answering_.named_cue && session_.sources->has_secrets(); }
  void check(const LoadedPackage& p);                        // fails when it could not be loaded
  Vertex* build(LoadedPackage& p, bool with_tools = false);  // compiled; evaluated on demand
  Vertex* build_files(const std::vector<ast::File*>& files, const std::string& package, bool data = false);
  Vertex* build_expression(ast::Node* x, Vertex* scope, const std::string& package);
  Vertex* unify(Vertex* a, Vertex* b);
  Bottom* validate(Vertex* v, bool concrete, bool final, bool disallow_cycles = false, Pos data = {});
  ast::Node* parse_flag(const std::string& name, const std::string& text);  // an expression given to a flag
  std::vector<SyntaxError> parse_errors_;
  ast::File* file_of(ast::Node* expression);

  void print(std::string_view text);                           // to standard output, at the end
  static void say(std::string_view text);                      // to standard error, at once
  void warn(std::string code, std::string message);            // the same, of what cue has no words for
  void print_error(const std::vector<LoadProblem>& problems);  // now; the exit code becomes 1
  void print_error(const Bottom* b);
  std::vector<LoadProblem> problems_of(const Bottom* b);
  std::string show(const std::vector<LoadProblem>& problems) const;
  std::string show_diagnostics(const std::vector<LoadProblem>& problems) const;
  // Where the result goes: standard output or a file that is written when all went well.
  void write_output(const std::string& path, std::string text, bool force);

 private:
  std::string shown_place(Pos at) const;
  Vertex* package_source(const PackageTable& t);

  int limit_met(const std::string& code, Pos at, const std::string& what);

  const CommandSpec& command_;
  CommandFlags flags_;
  Answering answering_;
  std::string dir_;
  Session session_;
  Arena syntax_;
  Room arena_;
  std::unique_ptr<NodeStore> store_;
  std::unique_ptr<Budget> budget_;
  std::unique_ptr<Context> context_;
  std::unique_ptr<PackageLoader> loader_;
  std::map<std::string, Vertex*> packages_;
  std::map<const LoadedPackage*, Vertex*> nameless_;  // packages in no module
  std::unordered_map<Vertex*, Vertex*> referred_;     // an expression that only names a field: errors are told of that
  std::string out_;
  bool failed_ = false;
};

// The name of what is given to -e, in the places of errors.
constexpr std::string_view kExpressionFlag = "--expression";

// An output that cue does not have and tutti writes of every language.
constexpr std::string_view kLeaves = "leaves";

// The commands.
void run_eval(Program& p);
void run_export(Program& p);
void run_def(Program& p);
void run_vet(Program& p);
void run_fmt(Program& p);
void run_import(Program& p);
void run_trim(Program& p);
void run_cmd(Program& p);
void run_fix(Program& p);
void run_mod_edit(Program& p);
void run_mod_init(Program& p);
void run_mod_rename(Program& p);
void run_mod_tidy(Program& p);
void run_exp(Program& p);
void run_help_cmd(Program& p);

int print_help(std::span<const std::string> topic, bool as_cue);

}  // namespace tutti::cue
