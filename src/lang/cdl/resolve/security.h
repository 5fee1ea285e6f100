#pragma once

#include <optional>
#include <string>

#include "lang/cdl/syntax/document.h"
#include "tree/session.h"

// Signed and encrypted descriptions (section 12), with the xmlsec library. It is loaded when a document needs it and
// not before: linking it would more than double the time the program takes to start.
namespace tutti::cdl {

// Whether the document's one enveloped signature covers all of it and is right. With a key (PEM, public key or
// certificate) it must be by that key's owner; without, the key that comes with the signature is used, which finds
// damage but proves no origin. Says what is wrong.
bool verify_signature(Session& session, const Document& document, const std::string& key_file);

struct Clear {
  std::string text;   // with all encrypted parts decrypted and marked as secret
  std::string shown;  // the same with stars in their place, as long, for diagnostics to quote from
};

// The document in clear. The key is a private key in PEM, for keys that
// are encrypted themselves, or the bytes of an AES key.
std::optional<Clear> decrypt(Session& session, const Document& document, const std::string& key_file);

}  // namespace tutti::cdl
