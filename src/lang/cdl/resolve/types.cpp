#include "lang/cdl/resolve/types.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

#include "base/libxml2.h"
#include "lang/cdl/resolve/schemas.h"
#include "lang/cdl/syntax/path.h"

namespace tutti::cdl {
namespace {

QName type_of(const Node& node) {
  for (const Attribute& a : node.attrs()) {
    if (a.name.local.text() != "type" || !is_cdl_namespace(a.name.ns)) continue;
    std::size_t colon = a.value.find(':');
    const Binding* b =
        find_prefix(a.scope, colon == std::string_view::npos ? Symbol() : Symbol(a.value.substr(0, colon)));
    return {b ? b->uri : Symbol(), Symbol(colon == std::string_view::npos ? a.value : a.value.substr(colon + 1))};
  }
  return {};
}

// Numbers of XML Schema have no bound, but libxml2 knows them up to 24 digits only.
bool is_long_number(std::string_view type, std::string_view text) {
  constexpr std::string_view kDigits = "0123456789";
  bool whole = type == "integer" || type.ends_with("Integer");
  if (text.size() <= 24 || (!whole && type != "decimal")) return false;
  bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.remove_prefix(1);
  std::string_view fraction;
  if (std::size_t point = text.find('.'); !whole && point != std::string_view::npos) {
    fraction = text.substr(point + 1);
    text = text.substr(0, point);
  }
  auto digits = [&](std::string_view t) { return t.find_first_not_of(kDigits) == std::string_view::npos; };
  if (!digits(text) || !digits(fraction) || (text.empty() && fraction.empty())) return false;
  bool zero = text.find_first_not_of('0') == std::string_view::npos;
  if (type == "positiveInteger") return !negative && !zero;
  if (type == "nonNegativeInteger") return !negative || zero;
  if (type == "negativeInteger") return negative && !zero;
  if (type == "nonPositiveInteger") return negative || zero;
  return true;
}

class Checker {
 public:
  Checker(System& system, bool required_too)
      : system_(system), session_(system.session()), required_too_(required_too) {}

  TypeReport run() {
    report_.at_runtime = system_.open();
    if (system_.checked().empty()) return std::move(report_);
    std::size_t errors = session_.diagnostics.errors();
    walk(system_.root());
    check_own_types();
    report_.fits = session_.diagnostics.errors() == errors;
    return std::move(report_);
  }

 private:
  void walk(const Node& node) {
    Budget::Level level(session_.budget);
    // Templates lack values by their nature (3.2.2): it is their user who must give them (7.4.1).
    if (node.required && node.settled && node.empty() && system_.has_system()) missing(node);
    if (node.typed && node.settled && node.done && !node.empty()) check(node);
    if (node.content_size == 0 || !seen_.insert(node.content).second) return;
    for (const Content& c : node.items()) {
      if (c.node && c.node->source->kind == ElementKind::kProperty) walk(*c.node);
    }
  }

  void missing(const Node& node) {
    report_.missing.push_back(&node);
    if (!required_too_) return;
    Diagnostic& d = session_.diagnostics.error("CDL-REQUIRED", name_span(*node.source),
                                               fmt::format("`{}` needs a value (cdl:use=\"required\")", path_of(node)));
    const Node* user = &node;
    while (user->inherited && user->parent) user = user->parent;
    if (user != &node) d.relate(name_span(*user->source), "inherited here");
  }

  void check(const Node& node) {
    QName type = type_of(node);
    if (!is_schema_namespace(type.ns)) {
      own_.push_back({&node, type});
      return;
    }
    xmlSchemaType* built_in =
        libxml2().xmlSchemaGetPredefinedType(reinterpret_cast<const xmlChar*>(std::string(type.local.text()).c_str()),
                                             reinterpret_cast<const xmlChar*>(kSchemaNamespace.data()));
    if (!built_in) {
      session_.diagnostics.error("CDL-UNKNOWN-TYPE", attribute_span(*node.source, "type"),
                                 fmt::format("XML Schema has no type `{}`", type.local.text()));
      return;
    }
    if (type.local.text() == "anyType") return;
    if (node.has_elements()) {
      against(node, type, "it has elements");
      return;
    }
    std::string text;
    append_text(text, node);
    NameProblem problem = NameProblem::kNone;  // libxml2 knows a QName's prefixes from a document only
    if (type.local.text() == "QName") parse_qname(trim(text), node.text_scope(), problem);
    if (problem == NameProblem::kUnknownPrefix) {
      against(node, type, "its prefix is not declared");
    } else if (libxml2().xmlSchemaValidatePredefinedType(built_in, reinterpret_cast<const xmlChar*>(text.c_str()),
                                                         nullptr) != 0 &&
               !is_long_number(type.local.text(), trim(text))) {
      against(node, type, {});
    }
  }

  Diagnostic& against(const Node& node, QName type, const std::string& why) {
    std::string text;
    append_text(text, node);
    if (text.size() > 40) text = text.substr(0, 40) + "...";
    std::string message;
    if (node.secret_below)  // what is wrong with it would tell what it is
      message = fmt::format("`{}`, a secret, is not of type {}", path_of(node), type.local.text());
    else if (why.empty())
      message = fmt::format("`{}` is \"{}\", which is not of type {}", path_of(node), text, type.local.text());
    else
      message = fmt::format("`{}` is not of type {}: {}", path_of(node), type.local.text(), why);
    Diagnostic& d = session_.diagnostics.error("CDL-TYPE", name_span(*node.source), message);
    Pos written = session_.origins.written(node.origin);
    // The line that is shown with a place would tell it too.
    if (written && written != node.source->pos && !node.secret_below) d.relate(written, "the value is from here");
    return d;
  }

  void unknown(const Node& node, QName type) {
    session_.diagnostics.error("CDL-UNKNOWN-TYPE", attribute_span(*node.source, "type"),
                               fmt::format("there is no type {}", type.text()));
  }

  void check_own_types() {
    if (own_.empty()) return;
    Schemas schemas(session_, system_.library());
    std::vector<QName> types;
    std::vector<std::pair<const Node*, std::size_t>> todo;
    std::unordered_set<u64> told;
    for (const auto& [node, type] : own_) {
      Schemas::Known known = schemas.known(type);
      if (known != Schemas::Known::kYes) {
        if (!told.insert(type.key()).second) continue;
        if (known == Schemas::Known::kNo) {
          unknown(*node, type);
        } else {
          session_.diagnostics.warning("CDL-UNKNOWN-TYPE", attribute_span(*node->source, "type"),
                                       fmt::format("no schema for the type {}: values are not checked", type.text()));
        }
        continue;
      }
      auto at = static_cast<std::size_t>(std::find(types.begin(), types.end(), type) - types.begin());
      if (at == types.size()) types.push_back(type);
      todo.emplace_back(node, at);
    }
    const std::vector<QName> wanted = types;
    if (todo.empty() || !schemas.compile(types)) return;
    xmlSchemaValidCtxt* context = libxml2().xmlSchemaNewValidCtxt(schemas.schema());
    libxml2().xmlSchemaSetValidStructuredErrors(context, heard, this);
    for (const auto& [node, at] : todo) {
      if (!types[at].local.empty()) {
        validate(context, *node, types[at], at);
      } else if (told.insert(wanted[at].key()).second) {
        unknown(*node, wanted[at]);
      }
    }
    libxml2().xmlSchemaFreeValidCtxt(context);
  }

  void validate(xmlSchemaValidCtxt* context, const Node& node, QName type, std::size_t at) {
    xmlDoc* doc = libxml2().xmlNewDoc(reinterpret_cast<const xmlChar*>("1.0"));
    xmlNode* root = libxml2().xmlNewDocNode(doc, nullptr,
                                            reinterpret_cast<const xmlChar*>(fmt::format("t{}", at).c_str()), nullptr);
    root->_private = const_cast<Node*>(&node);
    libxml2().xmlDocSetRootElement(doc, root);
    copy(root, node);
    heard_.clear();
    libxml2().xmlSchemaValidateOneElement(context, root);
    const Node* last = nullptr;
    Diagnostic* d = nullptr;
    for (const auto& [bad, said] : heard_) {
      const Node* where = bad ? bad : &node;
      std::string message = where->secret_below ? "a secret that does not fit" : said;
      if (where == last && d) {
        if (where->secret_below) continue;
        d->note(message);
      } else {
        d = where == &node ? &against(node, type, message)
                           : &session_.diagnostics.error("CDL-TYPE", name_span(*where->source),
                                                         fmt::format("`{}`: {}", path_of(*where), message));
        last = where;
      }
    }
    libxml2().xmlFreeDoc(doc);
  }

  // The value as a tree of libxml2's, each element with the node it stands for.
  void copy(xmlNode* to, const Node& node) {
    Budget::Level level(session_.budget);
    for (const Attribute& a : node.attrs()) {
      if (is_cdl_namespace(a.name.ns)) continue;
      xmlNs* ns = a.name.ns.empty() ? nullptr : declare(to, a.name.ns);
      libxml2().xmlSetNsProp(to, ns, reinterpret_cast<const xmlChar*>(std::string(a.name.local.text()).c_str()),
                             reinterpret_cast<const xmlChar*>(std::string(a.value).c_str()));
    }
    for (const Content& c : node.items()) {
      if (!c.node) {
        libxml2().xmlAddChild(to, libxml2().xmlNewDocTextLen(to->doc, reinterpret_cast<const xmlChar*>(c.text.data()),
                                                             static_cast<int>(c.text.size())));
        continue;
      }
      xmlNode* child = libxml2().xmlNewDocNode(
          to->doc, nullptr, reinterpret_cast<const xmlChar*>(std::string(c.node->name().local.text()).c_str()),
          nullptr);
      child->_private = c.node;
      libxml2().xmlAddChild(to, child);
      if (!c.node->name().ns.empty()) libxml2().xmlSetNs(child, declare(child, c.node->name().ns));
      copy(child, *c.node);
    }
  }

  static xmlNs* declare(xmlNode* node, Symbol uri) {
    std::string text(uri.text());
    if (xmlNs* ns = libxml2().xmlSearchNsByHref(node->doc, node, reinterpret_cast<const xmlChar*>(text.c_str()));
        ns && ns->prefix)
      return ns;
    return libxml2().xmlNewNs(node, reinterpret_cast<const xmlChar*>(text.c_str()),
                              reinterpret_cast<const xmlChar*>(fmt::format("n{}", uri.id()).c_str()));
  }

  // "Element 't0': [facet 'enumeration'] The value ..." without what only we know about.
  static void heard(void* self, xmlError* error) {
    std::string message = error && error->message ? error->message : "";
    while (!message.empty() && (message.back() == '\n' || message.back() == '.')) message.pop_back();
    if (message.starts_with("Element '")) {
      std::size_t end = message.find("': ");
      if (end != std::string::npos) message.erase(0, end + 3);
    }
    if (message.starts_with("[facet")) {
      std::size_t end = message.find("] ");
      if (end != std::string::npos) message.erase(0, end + 2);
    }
    if (!message.empty()) message[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(message[0])));
    auto* node = error ? static_cast<xmlNode*>(error->node) : nullptr;
    if (node && node->type != XML_ELEMENT_NODE) node = node->parent;
    static_cast<Checker*>(self)->heard_.emplace_back(node ? static_cast<const Node*>(node->_private) : nullptr,
                                                     message);
  }

  System& system_;
  Session& session_;
  bool required_too_;
  TypeReport report_;
  std::unordered_set<const Content*> seen_;
  std::vector<std::pair<const Node*, QName>> own_;
  std::vector<std::pair<const Node*, std::string>> heard_;
};

}  // namespace

TypeReport check_types(System& system, bool required_too) { return Checker(system, required_too).run(); }

}  // namespace tutti::cdl
