#pragma once

#include <libxml/tree.h>

#include <string>

// What of XML Signature and XML Encryption is accepted, said before any of it is given to xmlsec.
//
// In: an element as it was read. Out: what in it is not accepted, "" where all is. xmlsec would do what a document asks
// for: transforms that are programs (XSLT, XPath), keys to be fetched or computed, manifests that name other files,
// digests of the last century. A list of what is forbidden would have to know all of that, so this one says what is
// allowed: every element by its parent, and every algorithm by name. Whatever is not in it is an error, and nothing of
// the document has run.
namespace tutti::cdl {

// With `strict` (--require-signature) only what nobody can forge today; otherwise also SHA-1, which makes it `weak`.
std::string wrong_signature(xmlNode* signature, bool strict, bool& weak);
std::string wrong_encryption(xmlNode* data);

// The least size of the key for the method of a signature, in bits.
int least_key_size(xmlNode* signature);

}  // namespace tutti::cdl
