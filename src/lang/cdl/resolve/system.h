#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "lang/cdl/resolve/resolver.h"
#include "lang/common/language.h"

namespace tutti::cdl {

// A document resolved as far as it can be before run time (11.2), which goes on resolving as lazy values arrive (11.3).
// What a deployment service observes is value() or xml() after each round.
class System {
 public:
  // Null when the document could not be read. Errors are in the session's diagnostics.
  static std::unique_ptr<System> load(Session& session, const std::string& path, const LoadOptions& options);
  static std::unique_ptr<System> load(Session& session, const Source& source, const LoadOptions& options);

  // A lazy property or reference by its path from the system, `DB/hostname`, each step a name with or without its
  // prefix; a path beginning with `@LIST/` is in a list of the configuration. Null (and a diagnostic) when there is
  // none.
  Node* find(std::string_view path);
  // Gives it a value, or without one ends its laziness. All that was set is taken up by the next resolve().
  bool set(std::string_view path, std::optional<std::string_view> value);
  // Resolves what can be now; says what is wrong with what can not. Returns the number of references looked at.
  u64 resolve();

  const std::vector<Node*>& changed() const { return resolver_.changed(); }  // by the last round
  // Paths of lazy properties and lazy references that nothing has been supplied for yet, in document order, as set()
  // takes them.
  std::vector<std::string> open() const;
  bool has_system() const { return document_->system != nullptr; }

  Node& root() { return *root_; }
  const Node& root() const { return *root_; }
  // The cdl:configuration with every list of it resolved as far as it can be, which only a whole document shows.
  const Node& configuration();
  const Document& document() const { return *document_; }
  const Library& library() const { return library_; }
  const std::vector<Node*>& checked() const { return instances_.checked(); }
  Session& session() const { return session_; }

  Value value();

 private:
  System(Session& session, const LoadOptions& options);
  static std::unique_ptr<System> finish(std::unique_ptr<System> system, const Document* document);

  Session& session_;
  Library library_;
  Instances instances_;
  Resolver resolver_;
  const Document* document_ = nullptr;
  Node* root_ = nullptr;
  Node* configuration_ = nullptr;
};

// What the options of the language say about loading.
LoadOptions load_options(const Options& options);

// The value of a node in the common tree: text as a string (or as what its cdl:type or expression says), no value as
// null, elements as a map by local name, repeated ones as a list, what is still lazy as a lazy value.
Value to_value(Session& session, Node& node);
bool has_type(const Node& node, std::string_view local);  // its cdl:type is that type of XML Schema
bool stays_reference(const Node& node);  // text that another language wrote for a reference (kKindNamespace)
Symbol plain_name(Symbol name);          // with _xHHHH_ as what it stands for
inline constexpr std::string_view kEmptyName = "_x0000_";

// The same tree with references within it kept as links (lang/common/links.h), for another language to write.
Value with_links(Session& session, const System& system, const Value& value);

// Warns of properties that a list of the system has more than once.
void warn_about_repeated(const System& system);

// The resolved cdl:system (or cdl:configuration) as XML, namespaces declared on its root.
// Secret values are written as (secret) unless revealed.
std::string to_xml(const System& system, bool compact, bool reveal);

// The whole document, with its cdl:configuration and cdl:system resolved and all else (imports, types, documentation,
// extensibility elements, comments) as it was written; only a signature, which would not be right any more, is left
// out.
std::string to_document(System& system, bool compact, bool reveal);

// Any tree as a CDL document with one cdl:system.
std::string tree_to_cdl(const Value& value, bool compact, bool reveal);

}  // namespace tutti::cdl
