#include "lang/cdl/reference/reference.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "lang/cdl/reference/xml.h"

namespace tutti::cdl::reference {
namespace {

class Resolver {
 public:
  Resolver(xmlDoc* doc, Steps* steps) : doc_(doc), steps_(steps) {}

  Outcome run() {
    Outcome out;
    out.outside = find_parts();
    if (!out.outside.empty()) return out;
    if (configuration_) prepare(configuration_);
    prepare(system_);
    if (configuration_) {
      for (xmlNode* list : children(configuration_, is_property)) lists_.push_back(list);
    }
    find_recursion();
    tell("start", nullptr, "the document, names in attributes written out");
    if (errors_.empty()) resolve_prototypes();
    if (errors_.empty()) resolve_values();
    if (errors_.empty()) explain();
    for (const auto& [code, node] : errors_)
      if (steps_) tell("error", node, code);
    for (const auto& [code, node] : errors_)
      out.errors[code] = node ? static_cast<int>(libxml2().xmlGetLineNo(node)) : 0;
    if (!errors_.empty()) return out;
    canonical(system_, out.text);
    restore(system_);
    if (configuration_) restore(configuration_);
    xmlChar* text = nullptr;
    int size = 0;
    libxml2().xmlDocDumpMemoryEnc(doc_, &text, &size, "UTF-8");
    out.document.assign(reinterpret_cast<const char*>(text), static_cast<std::size_t>(size));
    libxml2().xmlFree(text);
    return out;
  }

 private:
  // What sections 7 and 11 work on; or what is there that they do not speak of.
  std::string find_parts() {
    xmlNode* root = libxml2().xmlDocGetRootElement(doc_);
    if (!root || !is_cdl(root, "cdl")) return "documents whose root is not cdl:cdl";
    for (xmlNode* n : children(root, [](xmlNode* m) { return m->type == XML_ELEMENT_NODE; })) {
      if (is_cdl(n, "import")) return "imports (section 9)";
      xmlNode*& part = is_cdl(n, "system") ? system_ : configuration_;
      if (!is_cdl(n, "configuration") && !is_cdl(n, "system")) continue;
      if (part) return "documents with two of one kind of part";
      part = n;
    }
    return system_ ? "" : "documents without cdl:system";
  }

  // The first place of each kind of mistake.
  void wrong(const char* code, xmlNode* at) { errors_.emplace(code, at); }

  void tell(const char* rule, xmlNode* at, const std::string& what) {
    if (!steps_) return;
    std::string path = at ? path_of(at) : "";
    steps_->step({rule, path, {}, what}, [this] {
      Steps::Cells cells;
      if (configuration_) cells.emplace_back("configuration", shown(configuration_));
      cells.emplace_back("system", shown(system_));
      return cells;
    });
  }

  // References that stay open, as they were written: the result is a document again.
  void restore(xmlNode* top) {
    each(top, [&](xmlNode* n) {
      bool inner = is_special(n) || is_cdl(n, "variable");
      auto plain = [&](const std::string& name) {
        std::string full = name.substr(name[0] == '?'), uri = full.substr(1, full.find('}') - 1);
        std::string local = full.substr(full.find('}') + 1);
        if (name[0] == '?' || uri.empty()) return local;
        xmlNs* ns = libxml2().xmlSearchNsByHref(doc_, n, x(uri));
        if (!ns || !ns->prefix) ns = libxml2().xmlNewNs(n, x(uri), x("q" + std::to_string(++prefixes_)));
        return str(ns->prefix) + ":" + local;
      };
      if (auto v = get(n, "ref", !inner)) set(n, "ref", written_path(n, *v), !inner);
      if (auto v = get(n, "refroot", !inner)) set(n, "refroot", plain(*v), !inner);
      if (auto v = get(n, "type")) set(n, "type", plain(*v));
    });
  }

  // Section 10 and layout: documentation, comments and white space are no data. Names in attributes are written out, so
  // that they mean the same wherever they are copied to.
  void prepare(xmlNode* top) {
    std::function<void(xmlNode*)> go = [&](xmlNode* n) {
      for (xmlNode* c : children(n, [](xmlNode*) { return true; })) {
        if (is_cdl(c, "documentation") || c->type == XML_COMMENT_NODE || c->type == XML_PI_NODE) remove(c);
      }
      bool elements = !children(n, is_property).empty();
      for (xmlNode* c : children(n, is_text)) {
        std::string t = str(c->content);
        if (blank(t) &&
            (elements || n == top || t.find('\n') != std::string::npos || get(n, "extends") || get(n, "ref")))
          remove(c);
      }
      for (const char* a : {"extends", "refroot", "type"}) {
        if (auto v = get(n, a)) set(n, a, clark(n, *v));
      }
      bool inner = is_special(n) || is_cdl(n, "variable");
      if (inner) {
        if (auto v = get(n, "refroot", false)) set(n, "refroot", clark(n, *v), false);
      }
      if (auto v = get(n, "ref", !inner)) set(n, "ref", expand_path(n, *v), !inner);
      if (get(n, "ref") && !children(n, is_special).empty()) wrong("CDL-REF-WITH-CHILDREN", n);
      if (get(n, "ref") && elements) wrong("CDL-REF-WITH-CHILDREN", n);
      for (xmlNode* c : children(n, [](xmlNode* m) { return m->type == XML_ELEMENT_NODE; })) go(c);
    };
    go(top);
  }

  // `p:n` as {uri}n; `n` as ?{default}n, which is looked up in the default namespace and then in none.
  static std::string clark(xmlNode* n, const std::string& qname) {
    std::size_t colon = qname.find(':');
    xmlNs* ns = libxml2().xmlSearchNs(n->doc, n, colon == std::string::npos ? nullptr : x(qname.substr(0, colon)));
    std::string uri = ns ? str(ns->href) : "";
    return (colon == std::string::npos ? "?" : "") + ("{" + uri + "}") +
           (colon == std::string::npos ? qname : qname.substr(colon + 1));
  }
  static std::string expand_path(xmlNode* n, const std::string& path) {
    std::string out, step;
    std::string rest = path;
    if (!rest.empty() && rest[0] == '/') {
      out = "/";
      rest.erase(0, 1);
    }
    std::size_t at = 0;
    while (at < rest.size()) {
      std::size_t end = std::min(rest.find('/', at), rest.size());
      step = rest.substr(at, end - at);
      out += (step == "." || step == ".." ? step : clark(n, step)) + "|";
      at = end + 1;
    }
    return out;
  }

  // 7.1: by name, then without a namespace.
  xmlNode* list(const std::string& name) const {
    bool loose = name[0] == '?';
    std::string full = loose ? name.substr(1) : name;
    std::string local = full.substr(full.find('}') + 1);
    if (full.starts_with("{}")) full = local;
    for (const std::string& wanted : {full, loose ? local : full}) {
      for (xmlNode* l : lists_) {
        if (name_of(l) == wanted) return l;
      }
      std::string target = get(libxml2().xmlDocGetRootElement(doc_), "targetNamespace", false).value_or("");
      for (xmlNode* l : lists_) {
        if (!target.empty() && name_of(l) == str(l->name) && "{" + target + "}" + str(l->name) == wanted) return l;
      }
    }
    return nullptr;
  }

  // A list that leads back to itself by what is extended anywhere in it is recursive.
  void find_recursion() {
    std::map<xmlNode*, std::set<xmlNode*>> leads;
    auto targets = [&](xmlNode* top, std::set<xmlNode*>& out) {
      each(top, [&](xmlNode* n) {
        auto e = get(n, "extends");
        if (!e) return;
        if (xmlNode* to = list(*e)) {
          out.insert(to);
        } else {
          wrong("CDL-UNKNOWN-PROTOTYPE", n);
        }
      });
    };
    std::set<xmlNode*> ignored;
    targets(system_, ignored);
    for (xmlNode* l : lists_) targets(l, leads[l]);
    for (std::size_t i = 0; i < lists_.size(); i++) {
      for (auto& [l, to] : leads) {
        for (xmlNode* t : std::set<xmlNode*>(to)) to.insert(leads[t].begin(), leads[t].end());
      }
    }
    for (auto& [l, to] : leads) {
      if (to.count(l)) wrong("CDL-RECURSIVE-EXTENDS", l);
    }
    std::set<std::string> names;
    for (xmlNode* l : lists_) {
      if (!names.insert(name_of(l)).second) wrong("CDL-DUPLICATE-PROTOTYPE", l);
    }
  }

  static bool extends_below(xmlNode* n) {
    bool found = false;
    each(n, [&](xmlNode* m) { found |= m != n && get(m, "extends").has_value(); });
    return found;
  }

  // 11.2, step 1, inner ones first.
  void resolve_prototypes() {
    for (xmlNode* l : lists_) relative_paths(l);
    for (bool again = true; again;) {
      again = false;
      Nodes all;
      for (xmlNode* l : lists_) each(l, [&](xmlNode* n) { all.push_back(n); });
      each(system_, [&](xmlNode* n) { all.push_back(n); });
      for (xmlNode* n : all) {
        auto name = get(n, "extends");
        if (!name || extends_below(n)) continue;
        xmlNode* prototype = list(*name);
        if (get(prototype, "extends") || extends_below(prototype)) continue;
        extend(n, prototype);
        again = true;
        break;
      }
    }
  }

  // 7.3.3: before prototype resolution absolute paths become relative ones: as many `..` as the property is deep, less
  // one.
  void relative_paths(xmlNode* l) {
    std::function<void(xmlNode*, int)> go = [&](xmlNode* n, int depth) {
      bool inner = is_special(n) || is_cdl(n, "variable");
      auto path = get(n, "ref", !inner);
      if (path && path->starts_with("/") && !get(n, "refroot", !inner)) {
        std::string relative = depth == 0 ? "self|" : depth == 1 ? ".|" : "";
        for (int i = 1; i < depth; i++) relative += "..|";
        set(n, "ref", relative + path->substr(1), !inner);
        tell("7.3.3", n, fmt::format("the absolute path becomes {}", written_path(n, relative + path->substr(1))));
      }
      for (xmlNode* c : children(n, [](xmlNode* m) { return m->type == XML_ELEMENT_NODE; })) {
        go(c, is_property(c) && !is_cdl(c, "variable") ? depth + 1 : depth);
      }
    };
    go(l, 0);
  }

  void extend(xmlNode* n, xmlNode* prototype) {
    bool own_ref = get(n, "ref").has_value();
    bool own_content = n->children != nullptr;
    // 7.2.2.1
    Nodes own = children(n, [](xmlNode*) { return true; }), result;
    bool own_lists = std::any_of(own.begin(), own.end(), is_property);
    bool own_value = !own_lists && std::any_of(own.begin(), own.end(), [](xmlNode* c) { return !is_cdl(c, "ref"); });
    if (!own_value && !own_ref) {
      for (xmlNode* e : children(prototype, [](xmlNode*) { return true; })) {
        if (!is_property(e)) {
          bool insertion = is_cdl(e, "ref");
          if (insertion || !own_content) result.push_back(libxml2().xmlDocCopyNode(e, doc_, 1));
          continue;
        }
        bool overridden = false;
        for (xmlNode* mine : own) {
          if (!is_property(mine) || name_of(mine) != name_of(e)) continue;
          overridden = true;
          if (std::find(result.begin(), result.end(), mine) == result.end()) result.push_back(mine);
          inherit_attributes(e, mine, false);
        }
        if (!overridden) result.push_back(libxml2().xmlDocCopyNode(e, doc_, 1));
      }
    }
    for (xmlNode* mine : own) {
      if (std::find(result.begin(), result.end(), mine) == result.end()) result.push_back(mine);
    }
    for (xmlNode* mine : own) libxml2().xmlUnlinkNode(mine);
    for (xmlNode* c : result) libxml2().xmlAddChild(n, c);
    libxml2().xmlReconciliateNs(doc_, n);
    inherit_attributes(prototype, n, !own_content && !own_ref);
    unset(n, "extends");
    tell("7.2.2", n, fmt::format("inherits what {} has", path_of(prototype)));
  }

  // 7.2.2.2, where reference and laziness belong to the value: they come only to an element without one.
  void inherit_attributes(xmlNode* from, xmlNode* to, bool with_value) {
    for (xmlAttr* a = from->properties; a; a = a->next) {
      std::string local = str(a->name);
      bool cdl = a->ns && str(a->ns->href) == kCdl;
      if (cdl && local == "extends") continue;
      if (cdl && (local == "ref" || local == "refroot" || local == "lazy") && !with_value) continue;
      const xmlChar* uri = a->ns ? a->ns->href : nullptr;
      if (uri ? libxml2().xmlHasNsProp(to, a->name, uri) != nullptr
              : libxml2().xmlHasNsProp(to, a->name, nullptr) != nullptr)
        continue;
      xmlChar* value = libxml2().xmlNodeListGetString(doc_, a->children, 1);
      xmlNs* ns = uri ? libxml2().xmlSearchNsByHref(doc_, to, uri) : nullptr;
      if (uri && (!ns || !ns->prefix)) ns = libxml2().xmlNewNs(to, uri, x("q" + std::to_string(++prefixes_)));
      libxml2().xmlSetNsProp(to, ns, a->name, value ? value : x(""));
      libxml2().xmlFree(value);
    }
  }

  // ---- values

  enum class Status { kFound, kBlocked, kMissing, kAmbiguous, kUnknownRoot };
  struct Place {
    Status status;
    xmlNode* node = nullptr;  // found, or what blocks
  };

  static bool unsettled(xmlNode* n) { return get(n, "ref") || lazy(n) || !children(n, is_special).empty(); }

  xmlNode* root_of(xmlNode* n) const {
    while (n && n->parent != configuration_ && n != system_) n = n->parent;
    return n;
  }

  // 7.3.1. `self` is the reference, `holder` the property it is at. An insertion may lead through its own holder, where
  // nothing else is open.
  Place evaluate(xmlNode* self, xmlNode* holder, const std::string& path,
                 const std::optional<std::string>& refroot) const {
    xmlNode* at;
    std::string rest = path;
    if (refroot) {
      at = list(*refroot);
      if (!at) return {Status::kUnknownRoot};
      if (rest.starts_with("/")) rest.erase(0, 1);
    } else if (rest.starts_with("/")) {
      at = root_of(holder);
      rest.erase(0, 1);
    } else if (rest.starts_with("self|")) {
      at = holder;
      rest.erase(0, 5);
    } else {
      at = holder->parent == configuration_ || holder == system_ ? nullptr : holder->parent;
    }
    if (!at) return {Status::kMissing};
    while (!rest.empty()) {
      std::string step = rest.substr(0, rest.find('|'));
      rest.erase(0, step.size() + 1);
      if (step == ".") continue;
      if (step == "..") {
        at = at == system_ || at->parent == configuration_ ? nullptr : at->parent;
        if (!at) return {Status::kMissing};
        continue;
      }
      bool only_self = !get(at, "ref") && !lazy(at) && children(at, is_special) == Nodes{self};
      if (unsettled(at) && !only_self) return {Status::kBlocked, at};
      bool loose = step[0] == '?';
      std::string full = loose ? step.substr(1) : step, local = full.substr(full.find('}') + 1);
      if (full.starts_with("{}")) full = local;
      Nodes found;
      for (const std::string& wanted : {full, local}) {
        if (wanted != full && !loose) break;
        found = children(at, [&](xmlNode* c) { return is_property(c) && name_of(c) == wanted; });
        if (!found.empty()) break;
      }
      if (found.empty()) return {Status::kMissing};
      if (found.size() > 1) return {Status::kAmbiguous};
      at = found[0];
    }
    return {Status::kFound, at};
  }

  // 11.2.2, third condition.
  static bool open_below(xmlNode* n) {
    bool open = false;
    each(n, [&](xmlNode* m) { open |= is_special(m) || (is_property(m) && (get(m, "ref") || lazy(m))); });
    return open;
  }

  bool resolve_one(xmlNode* n) {
    if (lazy(n)) return false;
    if (is_cdl(n, "expression")) return resolve_expression(n);
    bool element = is_cdl(n, "ref");
    auto path = get(n, "ref", !element);
    if (!path) return false;
    Place p = evaluate(n, element ? n->parent : n, *path, get(n, "refroot", !element));
    if (p.status != Status::kFound || open_below(p.node)) return false;
    Nodes values;
    for (xmlNode* c : children(p.node, [](xmlNode*) { return true; }))
      values.push_back(libxml2().xmlDocCopyNode(c, doc_, 1));
    if (element) {  // 7.3.5.1
      xmlNode* holder = n->parent;
      for (xmlNode* v : values) libxml2().xmlAddPrevSibling(n, v);
      remove(n);
      libxml2().xmlReconciliateNs(doc_, holder);
      tidy(holder);
      tell("7.3.5.1", holder, fmt::format("the value of {} stands for the reference", path_of(p.node)));
      return true;
    }
    for (xmlNode* c : children(n, [](xmlNode*) { return true; })) remove(c);
    for (xmlNode* v : values) libxml2().xmlAddChild(n, v);
    libxml2().xmlReconciliateNs(doc_, n);
    unset(n, "ref");
    unset(n, "refroot");
    tell("7.3.2", n, fmt::format("has the value of {}", path_of(p.node)));
    return true;
  }

  // Text on both sides of an insertion becomes one; white space beside elements is layout, also when these came by
  // insertion.
  static void tidy(xmlNode* n) {
    for (xmlNode* c = n->children; c && c->next;) {
      if (is_text(c) && is_text(c->next)) {
        libxml2().xmlNodeAddContent(c, c->next->content);
        remove(c->next);
      } else {
        c = c->next;
      }
    }
    if (!children(n, is_special).empty() || children(n, is_property).empty()) return;
    for (xmlNode* c : children(n, is_text)) {
      if (blank(str(c->content))) remove(c);
    }
  }

  // "MUST NOT contain any location path" (7.3.6): a name that is neither a function nor an operator, or a sign that
  // only paths have.
  static bool has_location_path(const std::string& e) {
    bool operand = false;  // what is before ends one: then `*` and `and` are operators
    auto letter = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '-' || c < 0; };
    for (std::size_t i = 0; i < e.size();) {
      char c = e[i];
      std::size_t end = i + 1;
      if (c == '"' || c == '\'') {
        end = std::min(e.find(c, i + 1), e.size() - 1) + 1;
        operand = true;
      } else if (c == '$' || std::isdigit(static_cast<unsigned char>(c)) ||
                 (c == '.' && end < e.size() && std::isdigit(static_cast<unsigned char>(e[end])))) {
        while (end < e.size() && (letter(e[end]) || e[end] == '.' || e[end] == ':')) ++end;
        operand = true;
      } else if (letter(c) && c != '-') {
        while (end < e.size() && (letter(e[end]) || e[end] == ':')) ++end;
        std::size_t next = e.find_first_not_of(" \t\r\n", end);
        if (!operand && (next == std::string::npos || e[next] != '(')) return true;
        operand = false;
      } else if (c == '/' || c == '@' || c == '.' || (c == '*' && !operand)) {
        return true;
      } else if (c != ' ' && c != '\t' && c != '\n' && c != '\r') {
        operand = c == ')' || c == ']';
      }
      i = end;
    }
    return false;
  }

  // 7.3.6.1
  bool resolve_expression(xmlNode* n) {
    if (has_location_path(*get(n, "value-of", false))) {
      wrong("CDL-EXPRESSION-LOCATION-PATH", n);
      return false;
    }
    Nodes variables = children(n, [](xmlNode* c) { return is_cdl(c, "variable"); });
    std::vector<xmlNode*> targets;
    for (xmlNode* v : variables) {
      if (lazy(v)) return false;
      Place p = evaluate(n, n->parent, *get(v, "ref", false), get(v, "refroot", false));
      if (p.status != Status::kFound || open_below(p.node)) return false;
      targets.push_back(p.node);
    }
    xmlXPathContext* context = libxml2().xmlXPathNewContext(doc_);
    context->node = nullptr;
    for (std::size_t i = 0; i < variables.size(); i++) {
      xmlNodeSet* set = libxml2().xmlXPathNodeSetCreate(nullptr);
      for (xmlNode* c : children(targets[i], [](xmlNode*) { return true; })) libxml2().xmlXPathNodeSetAddUnique(set, c);
      libxml2().xmlXPathRegisterVariable(context, x(*get(variables[i], "name", false)),
                                         libxml2().xmlXPathWrapNodeSet(set));
    }
    xmlXPathObject* value = libxml2().xmlXPathEvalExpression(x(*get(n, "value-of", false)), context);
    std::string text;
    if (value) {
      xmlChar* s = libxml2().xmlXPathCastToString(value);
      text = str(s);
      libxml2().xmlFree(s);
      libxml2().xmlXPathFreeObject(value);
    } else {
      wrong("CDL-BAD-EXPRESSION", n);
    }
    libxml2().xmlXPathFreeContext(context);
    xmlNode* holder = n->parent;
    if (!text.empty()) libxml2().xmlAddPrevSibling(n, libxml2().xmlNewDocText(doc_, x(text)));
    remove(n);
    tidy(holder);
    tell("7.3.6.1", holder, fmt::format("the expression is \"{}\"", text));
    return true;
  }

  // 11.2, step 2.
  void resolve_values() {
    for (bool again = true; again;) {
      again = false;
      Nodes all;
      for (xmlNode* l : lists_) each(l, [&](xmlNode* n) { all.push_back(n); });
      each(system_, [&](xmlNode* n) { all.push_back(n); });
      for (xmlNode* n : all) {
        if (resolve_one(n)) {
          again = true;
          break;
        }
      }
    }
  }

  // What is left in the system must wait for something lazy.
  void explain() {
    Nodes left;
    each(system_, [&](xmlNode* n) {
      if (get(n, "ref") || is_special(n)) left.push_back(n);
    });
    std::set<xmlNode*> seen;
    for (xmlNode* n : left) blame(n, seen, {});
  }

  void blame(xmlNode* n, std::set<xmlNode*>& seen, std::set<std::pair<xmlNode*, int>> way) {
    if (is_cdl(n, "expression")) {
      for (xmlNode* v : children(n, [](xmlNode* c) { return is_cdl(c, "variable"); })) blame(v, seen, way);
      return;
    }
    if (lazy(n)) return;
    if (way.count({n, 0})) {
      wrong("CDL-CYCLIC-REFERENCE", n);
      return;
    }
    if (!seen.insert(n).second) return;
    way.insert({n, 0});
    bool variable = is_cdl(n, "variable"), element = is_cdl(n, "ref");
    xmlNode* holder = variable ? n->parent->parent : element ? n->parent : n;
    bool inner = variable || element;
    Place p = evaluate(variable ? n->parent : n, holder, *get(n, "ref", !inner), get(n, "refroot", !inner));
    switch (p.status) {
      case Status::kMissing: wrong("CDL-NO-SUCH-NODE", n); return;
      case Status::kAmbiguous: wrong("CDL-AMBIGUOUS-REFERENCE", n); return;
      case Status::kUnknownRoot: wrong("CDL-UNKNOWN-REFROOT", n); return;
      case Status::kBlocked: blame_content(p.node, false, seen, way); return;
      case Status::kFound: blame_content(p.node, true, seen, way); return;
    }
  }

  // What keeps a node from being settled, or all below it from being resolved.
  void blame_content(xmlNode* n, bool deep, std::set<xmlNode*>& seen, const std::set<std::pair<xmlNode*, int>>& way) {
    auto go = [&](xmlNode* m) {
      // A reference that is on the way here closes a loop even when it has been looked at before.
      if (is_cdl(m, "expression")) {
        for (xmlNode* v : children(m, [](xmlNode* c) { return is_cdl(c, "variable"); })) {
          if (way.count({v, 0})) wrong("CDL-CYCLIC-REFERENCE", v);
        }
      } else if (way.count({m, 0})) {
        wrong("CDL-CYCLIC-REFERENCE", m);
      }
      blame(m, seen, way);
    };
    if (get(n, "ref")) go(n);
    for (xmlNode* c : children(n, is_special)) go(c);
    if (!deep) return;
    for (xmlNode* c : children(n, is_property)) blame_content(c, true, seen, way);
  }

  // The form of canonical_text() in resolve/canonical.h.
  void canonical(xmlNode* n, std::string& out) const {
    out += "<" + name_of(n);
    std::map<std::string, std::string> attributes;
    for (xmlAttr* a = n->properties; a; a = a->next) {
      std::string name = a->ns ? "{" + str(a->ns->href) + "}" + str(a->name) : str(a->name);
      xmlChar* v = libxml2().xmlNodeListGetString(doc_, a->children, 1);
      attributes[name] = str(v);
      libxml2().xmlFree(v);
    }
    for (const auto& [name, value] : attributes) {
      std::string local = name.substr(name.find('}') + 1);
      if (local == "ref" || local == "refroot") continue;
      if (local == "type" && name != local) {
        out += " " + name + "=" + (value[0] == '?' ? value.substr(1) : value);
      } else {
        out += " " + name + "=" + value;
      }
    }
    if (get(n, "ref") || is_special(n)) out += " open";
    out += ">";
    for (xmlNode* c = n->children; c; c = c->next) {
      if (c->type == XML_ELEMENT_NODE) {
        if (is_special(c)) {
          out += is_cdl(c, "ref") ? "<ref/>" : "<expression/>";
        } else {
          canonical(c, out);
        }
      } else {
        out += str(c->content);
      }
    }
    out += "</>";
  }

  xmlDoc* doc_;
  xmlNode* configuration_ = nullptr;
  xmlNode* system_ = nullptr;
  Nodes lists_;
  Steps* steps_;
  std::map<std::string, xmlNode*> errors_;
  int prefixes_ = 0;
};

}  // namespace

Outcome resolve(std::string_view document, Steps* steps) {
  xmlDoc* doc = libxml2().xmlReadMemory(document.data(), static_cast<int>(document.size()), nullptr, nullptr,
                                        XML_PARSE_NONET | XML_PARSE_NOERROR | XML_PARSE_NOWARNING);
  if (!doc) return {{{"CDL-NOT-WELL-FORMED", 0}}, "", "", ""};
  std::unique_ptr<xmlDoc, void (*)(xmlDoc*)> kept(doc, libxml2().xmlFreeDoc);  // a watcher may have seen enough
  return Resolver(doc, steps).run();
}

}  // namespace tutti::cdl::reference
