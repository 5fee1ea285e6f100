#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "lang/cue/import/decode.h"
#include "lang/cue/proto/syntax.h"
#include "lang/cue/schema/build.h"

namespace tutti::cue {

struct ProtoOptions {
  std::vector<std::string> paths;  // where imports are looked for; absolute
  bool json_enums = false;         // enums as their names instead of their numbers
  std::string module;              // of the output: files of its packages are written beside each other
  std::string root;                // its folder
  std::string package;             // for the first file, instead of its own
  Sources* sources = nullptr;
};

// Definitions turned into CUE, with those they import.
class ProtoImporter {
 public:
  ProtoImporter(Arena& arena, ProtoOptions options) : arena_(arena), options_(std::move(options)) {}

  struct Output {
    ast::File* file = nullptr;
    std::string name;  // absolute, ends in _proto_gen.cue
  };
  // The file at `path` (absolute), and those it imports when they are not in the module's own folders yet.
  bool add(const Source& source);
  std::vector<Output>& outputs() { return outputs_; }
  std::vector<SyntaxError>& errors() { return errors_; }

 private:
  friend class ProtoConverter;
  struct Unit {
    ProtoFile file;
    std::string import_path;  // of the CUE package: "acme.test/api/mixer/v1"
    std::string name;         // of the CUE package
    std::vector<Unit*> imports;
    bool known = false;  // google/protobuf/...: built in
  };
  Unit* load(const Source& source);
  Unit* load_import(const ProtoFile::Import& i, const Unit& from);
  void emit(Unit& u, bool first);

  Arena& arena_;
  ProtoOptions options_;
  std::map<std::string, std::unique_ptr<Unit>> units_;
  std::set<const Unit*> emitted_;
  std::vector<Output> outputs_;
  std::vector<SyntaxError> errors_;
  int depth_ = 0;
};

}  // namespace tutti::cue
