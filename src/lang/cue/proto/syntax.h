#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "lang/cue/syntax/scanner.h"
#include "text/source.h"

// Protocol buffer definitions, proto2, proto3 and editions: what a .proto file says, comments included.
namespace tutti::cue {

struct ProtoToken {
  enum Kind { kEnd, kName, kInteger, kFloat, kString, kSymbol } kind = kEnd;
  std::string text;  // of a string: its value
  std::size_t at = 0, end = 0;
  int line = 0, end_line = 0;
  std::vector<std::string> doc;                 // comment lines that end on the line before
  std::vector<std::vector<std::string>> loose;  // comments above that, each with an empty line below it
  std::string trailing;                         // a comment behind it on its line
  bool is(std::string_view t) const { return (kind == kSymbol || kind == kName) && text == t; }
};

// The tokens of a file or of a text message (# begins a comment there). Errors are added to `errors`.
std::vector<ProtoToken> scan_proto(const Source& source, bool text_format, std::vector<SyntaxError>& errors);

struct ProtoOption {
  std::string name;  // "deprecated", "(cue.val)", "(cue.opt).required"
  ProtoToken value;
  std::vector<ProtoOption> fields;  // of { ... }
  bool aggregate = false;
};

struct ProtoNode {
  enum Kind { kMessage, kEnum, kField, kMap, kOneof, kGroup, kEnumValue } kind = kField;
  enum Label { kNone, kOptional, kRequired, kRepeated } label = kNone;
  std::string name, type, key;  // key: of a map
  std::string number;
  Pos pos;
  std::vector<std::string> doc;
  std::string trailing;
  std::vector<ProtoOption> options;
  std::vector<ProtoNode> children;
};

struct ProtoFile {
  const Source* source = nullptr;
  bool proto2 = true;
  std::string package, go_package;
  std::vector<std::vector<std::string>> docs;  // of the package statement, and those that are of no statement
  struct Import {
    std::string path;
    bool is_public = false;
    Pos pos;
  };
  std::vector<Import> imports;
  std::vector<ProtoNode> nodes;  // messages and enums
  std::vector<SyntaxError> errors;
};

ProtoFile parse_proto(const Source& source);

}  // namespace tutti::cue
