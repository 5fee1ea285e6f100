#pragma once

#include <libxml/xmlschemas.h>

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "lang/cdl/resolve/library.h"

namespace tutti::cdl {

// All XML Schemas that the documents of a library hold or import, compiled by libxml2 into one that has an element t0,
// t1, ... for each type asked for. Nothing is fetched: schemas may include local files only.
class Schemas {
 public:
  Schemas(Session& session, const Library& library);
  ~Schemas();
  Schemas(const Schemas&) = delete;
  Schemas& operator=(const Schemas&) = delete;

  enum class Known : u8 { kYes, kNo, kNoSchema };
  Known known(QName type) const;
  // False (with a diagnostic) where the schemas are wrong. A type that turns out not to be there becomes an empty name.
  bool compile(std::vector<QName>& types);
  xmlSchema* schema() const { return schema_; }

 private:
  struct Part {
    std::string location;  // a name of our own, or the path of a file
    std::string text;      // of the former
    Symbol ns;
    Pos pos;
    bool whole = true;  // its types are all in `names`: it includes no others
  };
  bool compile(const std::vector<QName>& types, std::vector<std::string>& complaints);
  void add_inline(const Document& document, const TypesPart& part);
  void add_file(const Document& document);
  void note_names(struct _xmlNode* schema, Part& part);

  Session& session_;
  std::vector<Part> parts_;
  std::map<u64, bool> names_;
  std::set<u32> open_namespaces_;  // of which not all types are known by name
  std::vector<std::string> texts_;
  xmlSchema* schema_ = nullptr;
};

}  // namespace tutti::cdl
