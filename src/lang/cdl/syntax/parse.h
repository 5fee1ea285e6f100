#pragma once

#include "lang/cdl/syntax/document.h"
#include "tree/session.h"

namespace tutti::cdl {

// Reads one document with libxml2 and checks its structure (section 6 and appendix A). Document type declarations are
// refused, so there are no entities to expand and nothing is ever fetched. Problems go to the session's diagnostics;
// the result holds what could be read, and is null only when the text is no XML or no CDL at all. `schema_too`: an XML
// Schema is welcome as well (what is imported may be one).
Document* parse_document(Session& session, const Source& source, std::vector<std::unique_ptr<Document>>& into,
                         bool schema_too);

}  // namespace tutti::cdl
