#pragma once

#include <libxml/encoding.h>
#include <libxml/parser.h>
#include <libxml/parserInternals.h>
#include <libxml/tree.h>
#include <libxml/uri.h>
#include <libxml/xmlschemas.h>
#include <libxml/xmlschemastypes.h>
#include <libxml/xpath.h>
#include <libxml/xpathInternals.h>

namespace tutti {

// The functions of libxml2 that we call, with the types of its headers. It is loaded when the first of them is wanted:
// with what it needs in turn (ICU), loading it takes longer than most small runs do, and few of them read XML.
struct LibXml2 {
#define TUTTI_LIBXML2(F)                \
  F(xmlAddChild)                        \
  F(xmlAddPrevSibling)                  \
  F(xmlBufferAdd)                       \
  F(xmlBufferContent)                   \
  F(xmlBufferCreate)                    \
  F(xmlBufferFree)                      \
  F(xmlBufferLength)                    \
  F(xmlByteConsumed)                    \
  F(xmlCharEncCloseFunc)                \
  F(xmlCharEncInFunc)                   \
  F(xmlCreateMemoryParserCtxt)          \
  F(xmlCreatePushParserCtxt)            \
  F(xmlCtxtUseOptions)                  \
  F(xmlDetectCharEncoding)              \
  F(xmlDictCreate)                      \
  F(xmlDictFree)                        \
  F(xmlDictLookup)                      \
  F(xmlDictSize)                        \
  F(xmlDocCopyNode)                     \
  F(xmlDocDumpMemory)                   \
  F(xmlDocDumpMemoryEnc)                \
  F(xmlDocGetRootElement)               \
  F(xmlDocSetRootElement)               \
  F(xmlFindCharEncodingHandler)         \
  F(xmlFreeDoc)                         \
  F(xmlFreeNode)                        \
  F(xmlFreeParserCtxt)                  \
  F(xmlGetCharEncodingHandler)          \
  F(xmlGetExternalEntityLoader)         \
  F(xmlGetLineNo)                       \
  F(xmlGetNoNsProp)                     \
  F(xmlGetNsList)                       \
  F(xmlGetNsProp)                       \
  F(xmlHasNsProp)                       \
  F(xmlHasProp)                         \
  F(xmlNewDoc)                          \
  F(xmlNewDocNode)                      \
  F(xmlNewDocText)                      \
  F(xmlNewDocTextLen)                   \
  F(xmlNewNs)                           \
  F(xmlNewStringInputStream)            \
  F(xmlNodeAddContent)                  \
  F(xmlNodeGetBase)                     \
  F(xmlNodeListGetString)               \
  F(xmlNodeSetContent)                  \
  F(xmlParseCharEncoding)               \
  F(xmlParseChunk)                      \
  F(xmlParseDocument)                   \
  F(xmlReadMemory)                      \
  F(xmlReconciliateNs)                  \
  F(xmlSchemaFree)                      \
  F(xmlSchemaFreeParserCtxt)            \
  F(xmlSchemaFreeValidCtxt)             \
  F(xmlSchemaGetPredefinedType)         \
  F(xmlSchemaNewMemParserCtxt)          \
  F(xmlSchemaNewValidCtxt)              \
  F(xmlSchemaParse)                     \
  F(xmlSchemaSetParserStructuredErrors) \
  F(xmlSchemaSetValidStructuredErrors)  \
  F(xmlSchemaValidateOneElement)        \
  F(xmlSchemaValidatePredefinedType)    \
  F(xmlSearchNs)                        \
  F(xmlSearchNsByHref)                  \
  F(xmlSetExternalEntityLoader)         \
  F(xmlSetNs)                           \
  F(xmlSetNsProp)                       \
  F(xmlSetProp)                         \
  F(xmlSetStructuredErrorFunc)          \
  F(xmlStopParser)                      \
  F(xmlStrEqual)                        \
  F(xmlStrdup)                          \
  F(xmlURIEscapeStr)                    \
  F(xmlURIUnescapeString)               \
  F(xmlUnlinkNode)                      \
  F(xmlUnsetNsProp)                     \
  F(xmlUnsetProp)                       \
  F(xmlXPathCastToString)               \
  F(xmlXPathEvalExpression)             \
  F(xmlXPathFreeContext)                \
  F(xmlXPathFreeObject)                 \
  F(xmlXPathNewContext)                 \
  F(xmlXPathNodeSetAddUnique)           \
  F(xmlXPathNodeSetCreate)              \
  F(xmlXPathRegisterVariable)           \
  F(xmlXPathWrapNodeSet)
#define F(name) decltype(&::name) name = nullptr;
  TUTTI_LIBXML2(F)
#undef F
  void xmlFree(void* p) const { (*free_function)(p); }
  xmlFreeFunc* free_function = nullptr;
};

// Throws LimitError where the library is not installed: without it nothing can be said of the document.
const LibXml2& libxml2();

}  // namespace tutti
