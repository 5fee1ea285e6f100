#pragma once

#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "lang/cdl/syntax/document.h"
#include "tree/session.h"

namespace tutti::cdl {

struct Shape;
struct Node;

// A top level property list: what can be extended and referred to by name.
struct List {
  const Element* element = nullptr;
  const Document* document = nullptr;
  mutable const Shape* shape = nullptr;  // as extended by others (resolve/instances.h), made when first wanted
  mutable Node* root = nullptr;          // as referred to with cdl:refroot, made when first wanted
};

struct LoadOptions {
  std::string signature_key;   // every document must be signed by its owner; "" asks for no signature
  std::string decryption_key;  // for what is encrypted, or ""
  std::string catalog;         // a file that maps locations to files, or ""
  std::vector<std::string>
      includes;  // where `classpath:` locations, and relative ones not found elsewhere, are looked up
};

// The document to resolve with all it imports, and the names that are known in each (7.1, 9).
//
// A list whose element has a namespace is known by it everywhere. One without is known by its plain name in its own
// document, where that is imported without a namespace, and qualified by its document's target namespace; an import
// with a namespace makes it known by that one in the importing document.
class Library {
 public:
  Library(Session& session, LoadOptions options) : session_(session), options_(std::move(options)) {}

  // Loads the document and its imports, and links every cdl:extends. Null when the document itself could not be read.
  const Document* load(const std::string& path);
  const Document* load(const Source& source);

  const List* find(const Document& from, const WrittenName& name) const;
  const std::vector<std::unique_ptr<Document>>& documents() const { return documents_; }
  const List* list_of(const Element& element) const;
  // For "did you mean".
  Symbol similar(const Document& from, Symbol local) const;

 private:
  struct Names {
    std::unordered_map<u64, const List*> known;
    std::vector<const List*> plain;  // unqualified ones that an importer sees
    std::set<u32> several;           // plain names that imported lists have more than once
  };
  struct Loading {
    std::string path;
    Pos import;
  };

  const Document* load_source(const Source& source, const std::string& key, Pos wanted_at, bool imported);
  void load_imports(Document& document);
  std::string locate(const Document& from, std::string_view location, std::string& why) const;
  void name_lists(const Document& document);
  void add(const Document& document, QName name, const List* list, Pos at);
  void link();
  void link_element(const Element& element, std::vector<const List*>* targets);
  void find_cycles();
  void tell_expressions();

  Session& session_;
  LoadOptions options_;
  std::vector<std::unique_ptr<Document>> documents_;
  std::unordered_map<std::string, const Document*> by_path_;
  std::vector<Loading> loading_;
  std::unordered_map<const Document*, Names> names_;
  std::unordered_map<u64, const List*> global_;
  std::vector<std::unique_ptr<List>> lists_;
  std::unordered_map<const Element*, const List*> by_element_;
  std::unordered_map<const List*, std::vector<const List*>> edges_;
  std::unordered_map<std::string, std::string> catalog_;
  std::vector<std::pair<std::string, std::string>> rewrites_;
  std::string root_directory_;
  bool imports_failed_ = false;

  bool load_catalog();
};

}  // namespace tutti::cdl
