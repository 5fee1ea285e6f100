#pragma once

#include "lang/cue/cli/program.h"
#include "lang/cue/import/decode_file.h"

namespace tutti::cue {

// Which data files `import` takes, and as what.
struct ImportMode {
  std::string filter;  // of names in directories
  std::string encoding, interpretation;
  bool override_type = false;  // the mode says what the files are, not their names
  bool force_interpretation = false;
};

// What eval, export, def, vet and import do with their arguments: which instances there are, which data files, how they
// are put together.
class Plan {
 public:
  enum class Mode { kInput, kEval, kExport, kDef };

  Plan(Program& p, Mode mode, bool merge = true, bool importing = false);

  // Loads everything the arguments name.
  void load(const std::vector<std::string>& args);

  // Calls f for each value to work on; f may end it by throwing.
  void each(const std::function<void(Item&)>& f);

  // A data file on its own: its documents as files of CUE, in order.
  struct Orphan {
    DataFile file;
    std::vector<ast::File*> documents;
    std::vector<ast::Node*> originals;  // before a schema was read from them
    std::string interpretation;
  };
  std::vector<Orphan> orphans;  // not merged into an instance
  std::vector<LoadedPackage*> instances;
  std::vector<ast::Node*> expressions;
  std::vector<std::string> expression_texts;
  Vertex* schema = nullptr;  // data documents are unified with it
  Vertex* schema_instance = nullptr;
  std::string schema_package;
  DataFile output;  // what and where to write
  struct Imported {
    ast::File* file;
    std::string name;  // of the .cue file to write
  };
  std::vector<Imported> imported;
  ImportMode import_mode;

  bool keep_syntax = true;  // values are shown as they were written

  bool placed() const { return per_file || use_list || !path.empty(); }
  bool per_file = false, use_list = false, use_context = false;
  std::vector<ast::Node*> path;  // labels of -l; a Paren is an expression

  // For import: the files of one set of data files, placed as the flags ask.
  std::vector<Imported> place(const std::vector<Orphan>& list, const std::string& package,
                              const std::string& package_flag);
  Orphan decode(const DataFile& f);
  Vertex* place_value(Vertex* v);

 private:
  ast::Node* flag_expression(std::string_view flag, const std::string& text);
  void parse_placement();
  void field_path(const std::string& text);
  ast::Node* computed(ast::Node* x, const std::string& text);  // as it was given
  DataFile retyped(DataFile file) const;
  void import_directory(const LoadedPackage& package);
  void load_files();
  void guide(const DataFile& from, ast::File* data, Vertex* by);
  Item document_item(const Orphan& from, ast::File* document, bool last);
  Item joined_item();  // all files together
  Item instance_item(LoadedPackage& package);
  ast::File* gather(const Orphan& o, std::size_t from, std::size_t count, const std::string& package);
  std::vector<ast::Node*> labels_in(Vertex* scope);
  std::string computed_label(ast::Node* x, Vertex* scope);

  Program& p_;
  Mode mode_;
  bool merge_, importing_;
  ast::Node* schema_expr_ = nullptr;
  std::vector<ast::File*> placed_files_;
  LoadedPackage* user_ = nullptr;
};

// Writes values in the format that the flags ask for.
class Encoder {
 public:
  Encoder(Program& p, const Plan& plan, Plan::Mode mode);
  bool concrete() const { return concrete_; }
  bool is_cue() const { return output_.encoding == "cue" && output_.interpretation.empty(); }
  void value(Item& item);                            // checked first; throws when it is wrong
  void file(ast::File* f, const std::string& name);  // CUE as it is
  bool has_values() const { return written_ > 0; }
  void close();

 private:
  void cue(ast::File* f, const std::string& name, bool simplify);
  void tree(const Value& tree);

  Program& p_;
  Plan::Mode mode_;
  const DataFile& output_;
  bool concrete_ = true, stream_ = false, separate_ = false;
  int written_ = 0;
  std::string out_;
  std::string package_flag_;
};

// fmt, fix: the paths of the CUE files that arguments name.
std::vector<std::string> cue_files(Program& p, const std::vector<std::string>& args);

// import: writes a file of CUE, or says that it is there already.
void write_imported(Program& p, ast::File* imported, const std::string& name);
// import of .proto files; false when none are meant.
bool import_protobuf(Program& p);

// Files and types of the command line: "json:", "a", "yaml+jsonschema:b".
bool parse_file_args(const std::vector<std::string>& args, std::vector<std::string>& packages,
                     std::vector<DataFile>& files, std::string& error);
// What --out and --outfile say together; `otherwise` is the type for standard output.
std::optional<DataFile> output_file(const std::string& out, const std::string& outfile, const char* otherwise,
                                    std::string& error);

}  // namespace tutti::cue
