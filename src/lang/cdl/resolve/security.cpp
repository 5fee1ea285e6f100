#include "lang/cdl/resolve/security.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <xmlsec/xmlsec.h>
// xmlsec.h must come first.
#include <xmlsec/errors.h>
#include <xmlsec/io.h>
#include <xmlsec/keysmngr.h>
#include <xmlsec/openssl/app.h>
#include <xmlsec/openssl/crypto.h>
#include <xmlsec/xmldsig.h>
#include <xmlsec/xmlenc.h>

#include <algorithm>
#include <mutex>

#include "base/file.h"
#include "base/libxml2.h"
#include "lang/cdl/resolve/security_forms.h"

namespace tutti::cdl {
namespace {

const xmlChar* x(const char* s) { return reinterpret_cast<const xmlChar*>(s); }
std::string str(const xmlChar* s) { return s ? reinterpret_cast<const char*>(s) : ""; }

// The functions of xmlsec that we call, with the types of its headers.
struct XmlSec {
#define TUTTI_XMLSEC(F)                      \
  F(xmlSecInit)                              \
  F(xmlSecIOCleanupCallbacks)                \
  F(xmlSecErrorsSetCallback)                 \
  F(xmlSecOpenSSLInit)                       \
  F(xmlSecOpenSSLAppInit)                    \
  F(xmlSecOpenSSLAppKeyLoadMemory)           \
  F(xmlSecOpenSSLAppDefaultKeysMngrInit)     \
  F(xmlSecOpenSSLAppDefaultKeysMngrAdoptKey) \
  F(xmlSecOpenSSLKeyDataAesGetKlass)         \
  F(xmlSecKeyReadMemory)                     \
  F(xmlSecKeyDestroy)                        \
  F(xmlSecKeyGetValue)                       \
  F(xmlSecKeyDataGetSize)                    \
  F(xmlSecKeyDuplicate)                      \
  F(xmlSecKeysMngrCreate)                    \
  F(xmlSecKeysMngrDestroy)                   \
  F(xmlSecDSigCtxCreate)                     \
  F(xmlSecDSigCtxDestroy)                    \
  F(xmlSecDSigCtxVerify)                     \
  F(xmlSecEncCtxCreate)                      \
  F(xmlSecEncCtxDestroy)                     \
  F(xmlSecEncCtxDecrypt)
#define F(name) decltype(&::name) name = nullptr;
  TUTTI_XMLSEC(F)
#undef F
  std::string problem;
};

void be_quiet(const char*, int, const char*, const char*, const char*, int, const char*) {}

const XmlSec& library() {
  static const XmlSec loaded = [] {
    XmlSec s;
    void* core = dlopen("libxmlsec1.so.1", RTLD_NOW | RTLD_GLOBAL);
    void* crypto = core ? dlopen("libxmlsec1-openssl.so.1", RTLD_NOW | RTLD_GLOBAL) : nullptr;
    if (!crypto) {
      s.problem = fmt::format("the xmlsec library is not installed ({})", dlerror());
      return s;
    }
    auto find = [&](const char* name) {
      void* f = dlsym(crypto, name);
      if (!f) f = dlsym(core, name);
      if (!f && s.problem.empty()) s.problem = fmt::format("the xmlsec library has no {}", name);
      return f;
    };
#define F(name) s.name = reinterpret_cast<decltype(&::name)>(find(#name));
    TUTTI_XMLSEC(F)
#undef F
    if (!s.problem.empty()) return s;
    if (s.xmlSecInit() < 0 || s.xmlSecOpenSSLAppInit(nullptr) < 0 || s.xmlSecOpenSSLInit() < 0) {
      s.problem = "the xmlsec library cannot be started";
    }
    s.xmlSecErrorsSetCallback(be_quiet);
    s.xmlSecIOCleanupCallbacks();  // nothing is ever fetched, from no network and no file
    return s;
  }();
  return loaded;
}

xmlDoc* read(const Source& source) {
  return libxml2().xmlReadMemory(source.text.data(), static_cast<int>(source.text.size()), nullptr, "UTF-8",
                                 XML_PARSE_NONET | XML_PARSE_NOERROR | XML_PARSE_NOWARNING | XML_PARSE_HUGE);
}

bool is(xmlNode* n, const xmlChar* local, const xmlChar* ns) {
  return n->type == XML_ELEMENT_NODE && libxml2().xmlStrEqual(n->name, local) && n->ns &&
         libxml2().xmlStrEqual(n->ns->href, ns);
}

xmlNode* child(xmlNode* n, const char* local) {
  for (xmlNode* c = n ? n->children : nullptr; c; c = c->next) {
    if (is(c, x(local), x("http://www.w3.org/2000/09/xmldsig#"))) return c;
  }
  return nullptr;
}

std::string attribute(xmlNode* n, const char* name) {
  xmlChar* value = libxml2().xmlGetNoNsProp(n, x(name));
  std::string text = str(value);
  if (value) libxml2().xmlFree(value);
  return text;
}

// Exclusive canonical form leaves out declarations of namespaces that no element or attribute is in. In CDL names in
// values need them (cdl:extends, cdl:ref, cdl:type), so all that the document has must be named as included.
std::string covers_namespaces(xmlNode* transform, xmlNode* root, xmlNode* signature) {
  std::string included = " ";
  for (xmlNode* c = transform->children; c; c = c->next) {
    if (is(c, x("InclusiveNamespaces"), x("http://www.w3.org/2001/10/xml-exc-c14n#")))
      included += attribute(c, "PrefixList") + " ";
  }
  std::replace_if(
      included.begin(), included.end(), [](char c) { return c == '\t' || c == '\n' || c == '\r'; }, ' ');
  std::vector<xmlNode*> open{root};
  while (!open.empty()) {
    xmlNode* n = open.back();
    open.pop_back();
    for (xmlNs* ns = n->nsDef; ns; ns = ns->next) {
      std::string prefix = ns->prefix ? str(ns->prefix) : "#default";
      if (included.find(fmt::format(" {} ", prefix)) == std::string::npos)
        return fmt::format(
            "it does not cover the declaration of {} (exclusive canonical form, and InclusiveNamespaces does not name "
            "it)",
            ns->prefix ? fmt::format("the prefix `{}`", prefix) : "the default namespace");
    }
    for (xmlNode* c = n->children; c; c = c->next)
      if (c->type == XML_ELEMENT_NODE && c != signature) open.push_back(c);
  }
  return {};
}

// A signature may cover anything, and elements can be moved around it. We want the one kind that covers the whole
// document: one reference to it, with nothing left out but the signature itself.
std::string covers_all(xmlNode* root, xmlNode* signature) {
  xmlNode* info = child(signature, "SignedInfo");
  xmlNode* reference = child(info, "Reference");
  if (!reference) return "it signs nothing";
  for (xmlNode* c = reference->next; c; c = c->next) {
    if (c->type == XML_ELEMENT_NODE) return "it has several references";
  }
  bool whole = libxml2().xmlHasProp(reference, x("URI")) && attribute(reference, "URI").empty();
  if (!whole) return "it does not sign the whole document (URI=\"\")";
  xmlNode* transforms = child(reference, "Transforms");
  for (xmlNode* t = transforms ? transforms->children : nullptr; t; t = t->next) {
    if (t->type != XML_ELEMENT_NODE) continue;
    std::string name = attribute(t, "Algorithm");
    if (name.starts_with("http://www.w3.org/2001/10/xml-exc-c14n#")) {
      if (std::string problem = covers_namespaces(t, root, signature); !problem.empty()) return problem;
      continue;
    }
    bool known = name == "http://www.w3.org/2000/09/xmldsig#enveloped-signature" ||
                 name.starts_with("http://www.w3.org/TR/2001/REC-xml-c14n-20010315") ||
                 name.starts_with("http://www.w3.org/2006/12/xml-c14n11");
    if (!known) return fmt::format("it leaves something out by the transform {}", name);
  }
  return {};
}

// Keys and encrypted bytes are in the document, or nowhere.
void stay_inside(xmlSecKeyInfoCtx& keys) {
  keys.retrievalMethodCtx.enabledUris = xmlSecTransformUriTypeEmpty | xmlSecTransformUriTypeSameDocument;
}

// Of RSA fewer bits than this can be factored. 0 where the size is not known.
bool is_short(const XmlSec& sec, xmlSecKey* key, xmlNode* signature) {
  xmlSecKeyData* value = key ? sec.xmlSecKeyGetValue(key) : nullptr;
  xmlSecSize bits = value ? sec.xmlSecKeyDataGetSize(value) : 0;
  return bits < static_cast<xmlSecSize>(least_key_size(signature));
}

xmlSecKey* load_key(const XmlSec& sec, const std::string& file, std::string& problem) {
  Result<std::string> bytes = read_own_file(file, u64{1} << 20);  // the user names it, and trusts it
  if (!bytes) {
    problem = bytes.error().message;
    return nullptr;
  }
  const auto* data = reinterpret_cast<const xmlSecByte*>(bytes->data());
  auto size = static_cast<xmlSecSize>(bytes->size());
  xmlSecKey* key = nullptr;
  if (bytes->find("-----BEGIN") != std::string::npos) {
    bool certificate = bytes->find("-----BEGIN CERTIFICATE") != std::string::npos;
    key = sec.xmlSecOpenSSLAppKeyLoadMemory(
        data, size, certificate ? xmlSecKeyDataFormatCertPem : xmlSecKeyDataFormatPem, nullptr, nullptr, nullptr);
  } else if (size == 16 || size == 24 || size == 32) {
    key = sec.xmlSecKeyReadMemory(sec.xmlSecOpenSSLKeyDataAesGetKlass(), data, size);
  }
  if (!key) problem = fmt::format("`{}` holds no key that can be used", file);
  return key;
}

std::string dump(xmlDoc* doc) {
  xmlChar* text = nullptr;
  int size = 0;
  libxml2().xmlDocDumpMemoryEnc(doc, &text, &size, "UTF-8");
  std::string out(reinterpret_cast<const char*>(text), static_cast<std::size_t>(size));
  libxml2().xmlFree(text);
  return out;
}

// A property is secret with all below it; what only holds properties (cdl:configuration) has them marked one by one.
void mark_secret(xmlDoc* doc, xmlNode* node) {
  bool holds = node->ns && is_cdl_namespace(Symbol(str(node->ns->href)));
  for (xmlNode* c = holds ? node->children : nullptr; c; c = c->next)
    if (c->type == XML_ELEMENT_NODE) mark_secret(doc, c);
  if (holds && str(node->name) != "system") return;
  xmlNs* ns = libxml2().xmlSearchNsByHref(doc, node, x(kSecretNamespace.data()));
  if (!ns) ns = libxml2().xmlNewNs(node, x(kSecretNamespace.data()), x("tutti-secret"));
  libxml2().xmlSetNsProp(node, ns, x("secret"), x("true"));
}

// Stars for all text and all values of attributes below, as many as their characters take when written.
void put_stars(xmlNode* node) {
  for (xmlAttr* a = node->properties; a; a = a->next) {
    bool ours = a->ns && (str(a->ns->href) == kSecretNamespace || is_cdl_namespace(Symbol(str(a->ns->href))));
    if (ours || !a->children || a->children->next || !a->children->content) continue;
    std::string value = str(a->children->content);
    if (value.find_first_of("&<>\"\r\n\t") == std::string::npos)
      libxml2().xmlNodeSetContent(a->children, x(std::string(value.size(), '*').c_str()));
  }
  for (xmlNode* c = node->children; c; c = c->next) {
    if (c->type == XML_ELEMENT_NODE) put_stars(c);
    if (c->type != XML_TEXT_NODE && c->type != XML_CDATA_SECTION_NODE) continue;
    std::string stars;
    for (const xmlChar* t = c->content; t && *t; t++) {
      bool escaped = c->type == XML_TEXT_NODE;
      std::size_t size = !escaped ? 1 : *t == '&' || *t == '\r' ? 5 : *t == '<' || *t == '>' ? 4 : 1;
      stars.append(size, *t == '\n' ? '\n' : '*');
    }
    libxml2().xmlNodeSetContent(c, x(stars.c_str()));
  }
}

}  // namespace

bool verify_signature(Session& session, const Document& document, const std::string& key_file) {
  auto wrong = [&](const std::string& message) {
    session.diagnostics.error("CDL-SIGNATURE", document.signature ? document.signature : document.pos, message);
    return false;
  };
  if (!document.signature) return wrong("the document is not signed");
  const XmlSec& sec = library();
  if (!sec.problem.empty()) {
    if (!key_file.empty()) return wrong("the signature cannot be verified: " + sec.problem);
    session.diagnostics.warning("CDL-SIGNATURE", document.signature, "the signature is not verified: " + sec.problem);
    return true;
  }
  xmlDoc* doc = read(*document.source);
  xmlNode* root = doc ? libxml2().xmlDocGetRootElement(doc) : nullptr;
  xmlNode* signature = child(root, "Signature");
  std::string problem = signature ? covers_all(root, signature) : "the document is not signed";
  const bool strict = !key_file.empty();
  bool no_key = false, weak = false;
  if (problem.empty()) {
    problem = wrong_signature(signature, strict, weak);
    if (!problem.empty()) problem = "the signature is not verified: " + problem;
  }
  if (problem.empty()) {
    xmlSecKeysMngr* manager = sec.xmlSecKeysMngrCreate();
    sec.xmlSecOpenSSLAppDefaultKeysMngrInit(manager);
    xmlSecDSigCtx* context = sec.xmlSecDSigCtxCreate(key_file.empty() ? manager : nullptr);
    stay_inside(context->keyInfoReadCtx);
    context->enabledReferenceUris = xmlSecTransformUriTypeEmpty;
    context->flags |= XMLSEC_DSIG_FLAGS_IGNORE_MANIFESTS;
    if (!key_file.empty()) {
      context->signKey = load_key(sec, key_file, problem);
      if (problem.empty() && is_short(sec, context->signKey, signature))
        problem = fmt::format("the key in `{}` is shorter than {} bits", key_file, least_key_size(signature));
    } else {
      context->keyInfoReadCtx.flags |= XMLSEC_KEYINFO_FLAGS_X509DATA_DONT_VERIFY_CERTS;
      no_key = !child(signature, "KeyInfo");
    }
    if (problem.empty() && !no_key) {
      int result = sec.xmlSecDSigCtxVerify(context, signature);
      if (result < 0 || context->status != xmlSecDSigStatusSucceeded) {
        problem = key_file.empty()
                      ? "the signature is wrong: the document was changed after it was signed"
                      : fmt::format("the signature is not one of the document as it is by the key in `{}`", key_file);
      }
    }
    const bool short_key = problem.empty() && !no_key && is_short(sec, context->signKey, signature);
    if (short_key)
      session.diagnostics.warning("CDL-WEAK-SIGNATURE", document.signature,
                                  fmt::format("the signer's key is shorter than {} bits", least_key_size(signature)));
    sec.xmlSecDSigCtxDestroy(context);
    sec.xmlSecKeysMngrDestroy(manager);
  }
  if (problem.empty() && weak) {
    session.diagnostics.warning("CDL-WEAK-SIGNATURE", document.signature,
                                "the signature is made with SHA-1, by which others can be forged");
  }
  libxml2().xmlFreeDoc(doc);
  if (no_key) {
    session.diagnostics.warning("CDL-SIGNATURE", document.signature, "the signature is not verified: no key is known")
        .suggest("give the signer's key with --require-signature");
  }
  return problem.empty() || wrong(problem);
}

std::optional<Clear> decrypt(Session& session, const Document& document, const std::string& key_file) {
  auto wrong = [&](const std::string& message) {
    session.diagnostics.error("CDL-ENCRYPTED", document.encrypted, message);
    return std::nullopt;
  };
  if (key_file.empty()) return wrong("this part is encrypted: give the key with --decrypt-key");
  const XmlSec& sec = library();
  if (!sec.problem.empty()) return wrong(sec.problem);
  std::string problem;
  xmlSecKey* key = load_key(sec, key_file, problem);
  if (!key) return wrong(problem);
  xmlSecKeysMngr* manager = sec.xmlSecKeysMngrCreate();
  sec.xmlSecOpenSSLAppDefaultKeysMngrInit(manager);
  sec.xmlSecOpenSSLAppDefaultKeysMngrAdoptKey(manager, sec.xmlSecKeyDuplicate(key));
  xmlDoc* doc = read(*document.source);
  std::vector<xmlNode*> found;
  std::vector<xmlNode*> open;
  if (doc) open.push_back(libxml2().xmlDocGetRootElement(doc));
  while (!open.empty()) {
    xmlNode* n = open.back();
    open.pop_back();
    if (is(n, x("EncryptedData"), x("http://www.w3.org/2001/04/xmlenc#"))) {
      found.push_back(n);
      continue;
    }
    for (xmlNode* c = n->children; c; c = c->next) {
      if (c->type == XML_ELEMENT_NODE) open.push_back(c);
    }
  }
  std::vector<xmlNode*> secrets;
  for (xmlNode* n : found) {
    xmlNode *parent = n->parent, *before = n->prev;
    if (problem = wrong_encryption(n); !problem.empty()) {
      problem = "the encrypted part is not read: " + problem;
      break;
    }
    bool content = attribute(n, "Type").ends_with("#Content");
    xmlSecEncCtx* context = sec.xmlSecEncCtxCreate(manager);
    stay_inside(context->keyInfoReadCtx);
    context->transformCtx.enabledUris = xmlSecTransformUriTypeEmpty | xmlSecTransformUriTypeSameDocument;
    bool wrapped = false;
    for (xmlNode* c = n->children; c; c = c->next)
      wrapped |= is(c, x("KeyInfo"), x("http://www.w3.org/2000/09/xmldsig#"));
    if (!wrapped) context->encKey = sec.xmlSecKeyDuplicate(key);
    if (sec.xmlSecEncCtxDecrypt(context, n) < 0 || !context->resultReplaced) {
      problem = fmt::format("a part cannot be decrypted with the key in `{}`", key_file);
    }
    sec.xmlSecEncCtxDestroy(context);
    if (!problem.empty()) break;
    xmlNode* secret = content ? parent : before ? before->next : parent->children;
    while (secret && secret->type != XML_ELEMENT_NODE) secret = secret->next;
    if (secret) {
      secrets.push_back(secret);
      mark_secret(doc, secret);
    }
  }
  Clear out;
  if (problem.empty()) {
    out.text = dump(doc);
    for (xmlNode* secret : secrets) put_stars(secret);
    out.shown = dump(doc);
    if (out.shown.size() != out.text.size()) out.shown.assign(out.text.size(), '*');
  }
  libxml2().xmlFreeDoc(doc);
  sec.xmlSecKeysMngrDestroy(manager);
  sec.xmlSecKeyDestroy(key);
  if (!problem.empty()) return wrong(problem);
  return out;
}

}  // namespace tutti::cdl
