#include "lang/cdl/resolve/security_forms.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string_view>
#include <vector>

namespace tutti::cdl {
namespace {

constexpr std::string_view kSignature = "http://www.w3.org/2000/09/xmldsig#",
                           kSignature11 = "http://www.w3.org/2009/xmldsig11#",
                           kEncryption = "http://www.w3.org/2001/04/xmlenc#",
                           kEncryption11 = "http://www.w3.org/2009/xmlenc11#",
                           kExclusive = "http://www.w3.org/2001/10/xml-exc-c14n#";

// Which element may stand in which, by the prefixes that everybody uses.
constexpr std::string_view kSignatureForm[] = {
    "ds:Signature/ds:SignedInfo",
    "ds:Signature/ds:SignatureValue",
    "ds:Signature/ds:KeyInfo",
    "ds:SignedInfo/ds:CanonicalizationMethod",
    "ds:SignedInfo/ds:SignatureMethod",
    "ds:SignedInfo/ds:Reference",
    "ds:Reference/ds:Transforms",
    "ds:Reference/ds:DigestMethod",
    "ds:Reference/ds:DigestValue",
    "ds:Transforms/ds:Transform",
    "ds:Transform/ec:InclusiveNamespaces",
    "ds:CanonicalizationMethod/ec:InclusiveNamespaces",
    "ds:KeyInfo/ds:KeyName",
    "ds:KeyInfo/ds:KeyValue",
    "ds:KeyInfo/ds:X509Data",
    "ds:KeyValue/ds:RSAKeyValue",
    "ds:RSAKeyValue/ds:Modulus",
    "ds:RSAKeyValue/ds:Exponent",
    "ds:KeyValue/dsig11:ECKeyValue",
    "dsig11:ECKeyValue/dsig11:NamedCurve",
    "dsig11:ECKeyValue/dsig11:PublicKey",
    "ds:X509Data/ds:X509Certificate",
    "ds:X509Data/ds:X509IssuerSerial",
    "ds:X509Data/ds:X509SubjectName",
    "ds:X509Data/ds:X509SKI",
    "ds:X509IssuerSerial/ds:X509IssuerName",
    "ds:X509IssuerSerial/ds:X509SerialNumber",
};
constexpr std::string_view kEncryptionForm[] = {
    "xenc:EncryptedData/xenc:EncryptionMethod",
    "xenc:EncryptedData/ds:KeyInfo",
    "xenc:EncryptedData/xenc:CipherData",
    "xenc:EncryptedKey/xenc:EncryptionMethod",
    "xenc:EncryptedKey/ds:KeyInfo",
    "xenc:EncryptedKey/xenc:CipherData",
    "xenc:EncryptedKey/xenc:CarriedKeyName",
    "xenc:EncryptionMethod/xenc:KeySize",
    "xenc:EncryptionMethod/xenc:OAEPparams",
    "xenc:EncryptionMethod/ds:DigestMethod",
    "xenc:EncryptionMethod/xenc11:MGF",
    "xenc:CipherData/xenc:CipherValue",
    "ds:KeyInfo/xenc:EncryptedKey",
    "ds:KeyInfo/ds:KeyName",
    "ds:KeyInfo/ds:X509Data",
    "ds:X509Data/ds:X509Certificate",
    "ds:X509Data/ds:X509IssuerSerial",
    "ds:X509Data/ds:X509SubjectName",
    "ds:X509Data/ds:X509SKI",
    "ds:X509IssuerSerial/ds:X509IssuerName",
    "ds:X509IssuerSerial/ds:X509SerialNumber",
};

struct Accepted {
  std::string_view element;
  std::string_view algorithm;
};
constexpr std::string_view kC14n = "http://www.w3.org/TR/2001/REC-xml-c14n-20010315",
                           kC14nComments = "http://www.w3.org/TR/2001/REC-xml-c14n-20010315#WithComments",
                           kC14n11 = "http://www.w3.org/2006/12/xml-c14n11",
                           kC14n11Comments = "http://www.w3.org/2006/12/xml-c14n11#WithComments",
                           kExclusiveComments = "http://www.w3.org/2001/10/xml-exc-c14n#WithComments";
constexpr Accepted kAccepted[] = {
    {"ds:CanonicalizationMethod", kC14n},
    {"ds:CanonicalizationMethod", kC14nComments},
    {"ds:CanonicalizationMethod", kC14n11},
    {"ds:CanonicalizationMethod", kC14n11Comments},
    {"ds:CanonicalizationMethod", kExclusive},
    {"ds:CanonicalizationMethod", kExclusiveComments},
    {"ds:Transform", "http://www.w3.org/2000/09/xmldsig#enveloped-signature"},
    {"ds:Transform", kC14n},
    {"ds:Transform", kC14nComments},
    {"ds:Transform", kC14n11},
    {"ds:Transform", kC14n11Comments},
    {"ds:Transform", kExclusive},
    {"ds:Transform", kExclusiveComments},
    {"ds:DigestMethod", "http://www.w3.org/2001/04/xmlenc#sha256"},
    {"ds:DigestMethod", "http://www.w3.org/2001/04/xmldsig-more#sha384"},
    {"ds:DigestMethod", "http://www.w3.org/2001/04/xmlenc#sha512"},
    {"ds:DigestMethod", "http://www.w3.org/2007/05/xmldsig-more#sha3-256"},
    {"ds:DigestMethod", "http://www.w3.org/2007/05/xmldsig-more#sha3-384"},
    {"ds:DigestMethod", "http://www.w3.org/2007/05/xmldsig-more#sha3-512"},
    {"ds:SignatureMethod", "http://www.w3.org/2001/04/xmldsig-more#rsa-sha256"},
    {"ds:SignatureMethod", "http://www.w3.org/2001/04/xmldsig-more#rsa-sha384"},
    {"ds:SignatureMethod", "http://www.w3.org/2001/04/xmldsig-more#rsa-sha512"},
    {"ds:SignatureMethod", "http://www.w3.org/2007/05/xmldsig-more#sha256-rsa-MGF1"},
    {"ds:SignatureMethod", "http://www.w3.org/2007/05/xmldsig-more#sha384-rsa-MGF1"},
    {"ds:SignatureMethod", "http://www.w3.org/2007/05/xmldsig-more#sha512-rsa-MGF1"},
    {"ds:SignatureMethod", "http://www.w3.org/2001/04/xmldsig-more#ecdsa-sha256"},
    {"ds:SignatureMethod", "http://www.w3.org/2001/04/xmldsig-more#ecdsa-sha384"},
    {"ds:SignatureMethod", "http://www.w3.org/2001/04/xmldsig-more#ecdsa-sha512"},
};
constexpr Accepted kWeak[] = {
    {"ds:DigestMethod", "http://www.w3.org/2000/09/xmldsig#sha1"},
    {"ds:SignatureMethod", "http://www.w3.org/2000/09/xmldsig#rsa-sha1"},
    {"ds:SignatureMethod", "http://www.w3.org/2001/04/xmldsig-more#ecdsa-sha1"},
};
// To decrypt is to have the key: what is old is refused by whoever encrypts. (SHA-1 in OAEP is what everybody has.)
constexpr Accepted kOfEncryption[] = {
    {"xenc:EncryptionMethod", "http://www.w3.org/2001/04/xmlenc#aes128-cbc"},
    {"xenc:EncryptionMethod", "http://www.w3.org/2001/04/xmlenc#aes192-cbc"},
    {"xenc:EncryptionMethod", "http://www.w3.org/2001/04/xmlenc#aes256-cbc"},
    {"xenc:EncryptionMethod", "http://www.w3.org/2009/xmlenc11#aes128-gcm"},
    {"xenc:EncryptionMethod", "http://www.w3.org/2009/xmlenc11#aes192-gcm"},
    {"xenc:EncryptionMethod", "http://www.w3.org/2009/xmlenc11#aes256-gcm"},
    {"xenc:EncryptionMethod", "http://www.w3.org/2001/04/xmlenc#kw-aes128"},
    {"xenc:EncryptionMethod", "http://www.w3.org/2001/04/xmlenc#kw-aes192"},
    {"xenc:EncryptionMethod", "http://www.w3.org/2001/04/xmlenc#kw-aes256"},
    {"xenc:EncryptionMethod", "http://www.w3.org/2001/04/xmlenc#rsa-oaep-mgf1p"},
    {"xenc:EncryptionMethod", "http://www.w3.org/2009/xmlenc11#rsa-oaep"},
    {"xenc:EncryptionMethod", "http://www.w3.org/2001/04/xmlenc#rsa-1_5"},
    {"ds:DigestMethod", "http://www.w3.org/2000/09/xmldsig#sha1"},
    {"ds:DigestMethod", "http://www.w3.org/2001/04/xmlenc#sha256"},
    {"ds:DigestMethod", "http://www.w3.org/2001/04/xmldsig-more#sha384"},
    {"ds:DigestMethod", "http://www.w3.org/2001/04/xmlenc#sha512"},
    {"xenc11:MGF", "http://www.w3.org/2009/xmlenc11#mgf1sha1"},
    {"xenc11:MGF", "http://www.w3.org/2009/xmlenc11#mgf1sha256"},
    {"xenc11:MGF", "http://www.w3.org/2009/xmlenc11#mgf1sha384"},
    {"xenc11:MGF", "http://www.w3.org/2009/xmlenc11#mgf1sha512"},
};

std::string_view text_of(const xmlChar* s) { return s != nullptr ? reinterpret_cast<const char*>(s) : ""; }

// `ds:Reference`; `?:NAME` for a namespace that has no place here.
std::string form_name(const xmlNode* n) {
  std::string_view ns = n->ns != nullptr ? text_of(n->ns->href) : "";
  std::string_view prefix = ns == kSignature      ? "ds"
                            : ns == kSignature11  ? "dsig11"
                            : ns == kEncryption   ? "xenc"
                            : ns == kEncryption11 ? "xenc11"
                            : ns == kExclusive    ? "ec"
                                                  : "?";
  return fmt::format("{}:{}", prefix, text_of(n->name));
}

std::string algorithm_of(const xmlNode* n) {
  for (const xmlAttr* a = n->properties; a != nullptr; a = a->next)
    if (text_of(a->name) == "Algorithm" && a->children != nullptr) return std::string(text_of(a->children->content));
  return {};
}

template <class List>
bool is_in(const List& list, std::string_view element, std::string_view algorithm) {
  return std::any_of(std::begin(list), std::end(list),
                     [&](const Accepted& a) { return a.element == element && a.algorithm == algorithm; });
}
template <class List>
bool names(const List& list, std::string_view element) {
  return std::any_of(std::begin(list), std::end(list), [&](const Accepted& a) { return a.element == element; });
}

// Goes over all elements below; `judge` says what is wrong with one.
template <class Form, class Judge>
std::string wrong_form(xmlNode* top, const Form& form, Judge&& judge) {
  std::vector<xmlNode*> open{top};
  while (!open.empty()) {
    xmlNode* n = open.back();
    open.pop_back();
    std::string name = form_name(n);
    if (std::string wrong = judge(n, name); !wrong.empty()) return wrong;
    for (xmlNode* c = n->children; c != nullptr; c = c->next) {
      if (c->type == XML_ENTITY_REF_NODE) return fmt::format("an entity in `{}` is not accepted", text_of(n->name));
      if (c->type != XML_ELEMENT_NODE) continue;
      if (std::find(std::begin(form), std::end(form), name + "/" + form_name(c)) == std::end(form))
        return fmt::format("`{}` in `{}` is not accepted", text_of(c->name), text_of(n->name));
      open.push_back(c);
    }
  }
  return {};
}

}  // namespace

std::string wrong_signature(xmlNode* signature, bool strict, bool& weak) {
  weak = false;
  return wrong_form(signature, kSignatureForm, [&](const xmlNode* n, const std::string& name) -> std::string {
    if (!names(kAccepted, name)) return {};
    std::string algorithm = algorithm_of(n);
    if (is_in(kAccepted, name, algorithm)) return {};
    if (is_in(kWeak, name, algorithm)) {
      weak = true;
      return strict ? "it is made with SHA-1, by which others can be forged" : "";
    }
    return fmt::format("the {} `{}` is not accepted", text_of(n->name), algorithm);
  });
}

std::string wrong_encryption(xmlNode* data) {
  return wrong_form(data, kEncryptionForm, [&](const xmlNode* n, const std::string& name) -> std::string {
    if (!names(kOfEncryption, name)) return {};
    std::string algorithm = algorithm_of(n);
    if (is_in(kOfEncryption, name, algorithm)) return {};
    return fmt::format("the {} `{}` is not accepted", text_of(n->name), algorithm);
  });
}

int least_key_size(xmlNode* signature) {
  constexpr int kRsa = 2048, kCurve = 256;
  for (xmlNode* info = signature->children; info != nullptr; info = info->next) {
    if (form_name(info) != "ds:SignedInfo") continue;
    for (xmlNode* method = info->children; method != nullptr; method = method->next)
      if (form_name(method) == "ds:SignatureMethod")
        return algorithm_of(method).find("#ecdsa") != std::string::npos ? kCurve : kRsa;
  }
  return kRsa;
}

}  // namespace tutti::cdl
