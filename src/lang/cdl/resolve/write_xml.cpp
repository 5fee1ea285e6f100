#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "lang/cdl/resolve/system.h"
#include "lang/cdl/syntax/path.h"

// The resolved document as XML. Names keep the prefixes they were written with where these still mean the same; paths
// and names in attributes are written anew where they have moved to other namespaces (appendix B).
namespace tutti::cdl {
namespace {

void escape(std::string& out, std::string_view text, bool attribute) {
  for (char c : text) {
    switch (c) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '\r': out += "&#13;"; break;
      case '"': out += attribute ? "&quot;" : "\""; break;
      case '\n': out += attribute ? "&#10;" : "\n"; break;
      case '\t': out += attribute ? "&#9;" : "\t"; break;
      default: out += c;
    }
  }
}

class Writer {
 public:
  // `within`: the namespaces in force where the element is put; `depth`: how far in it stands there.
  Writer(const System& system, const Node& root, const Binding* within, std::size_t depth, bool compact, bool reveal)
      : system_(system), root_(root), within_(within), depth_(depth), compact_(compact), reveal_(reveal) {
    scope_ = root.source->scope;
    default_ = default_namespace(scope_);
    cdl_ = system.document().cdl_ns;
  }

  // With the documentation that stands between its lists, for which the element declares what its own tag declared.
  void keep_documentation() {
    const Document& document = system_.document();
    for (const Documentation& d : document.documentation) {
      if (d.in == root_.source) documentation_.push_back(&d);
    }
    if (documentation_.empty()) return;
    used_default_ = true;
    for (const Binding* b = scope_; b && b != document.scope; b = b->outer) {
      if (!b->prefix.empty() && find_prefix(scope_, b->prefix) == b) prefix(b->uri, b->prefix);
    }
  }

  std::string run() {
    const Node& root = root_;
    std::string body;
    std::size_t lists = 0, told = 0;
    auto tell = [&] {
      for (; told < documentation_.size() && documentation_[told]->before <= lists; told++) {
        line(body, depth_ + 1);
        Stretch text = documentation_[told]->text;
        body += std::string_view(system_.document().source->text).substr(text.from, text.to - text.from);
      }
    };
    for (const Content& c : root.items()) {
      if (!c.node) continue;
      tell();
      node(body, *c.node, depth_ + 1, default_);
      lists++;
    }
    lists = static_cast<std::size_t>(-1);
    tell();
    std::string attributes;
    for (const Attribute& a : root.attrs()) attribute(attributes, a, default_);
    std::string name = fmt::format("{}:{}", prefix(cdl_, Symbol("cdl")).text(), root.name().local.text());
    std::string out = "<" + name;
    if (used_default_ && default_ != default_namespace(within_)) declare(out, Symbol(), default_);
    for (const auto& [uri, p] : prefixes_) {
      const Binding* there = find_prefix(within_, p);
      if (p.text() != "xml" && (!there || there->uri != uri)) declare(out, p, uri);
    }
    out += attributes;
    if (body.empty()) {
      out += "/>";
    } else {
      out += ">" + body;
      line(out, depth_);
      out += "</" + name + ">";
    }
    return out;
  }

 private:
  static void declare(std::string& out, Symbol prefix, Symbol uri) {
    out += prefix.empty() ? " xmlns=\"" : fmt::format(" xmlns:{}=\"", prefix.text());
    escape(out, uri.text(), true);
    out += '"';
  }

  void line(std::string& out, std::size_t depth) const {
    if (compact_) return;
    out += '\n';
    out.append(2 * depth, ' ');
  }

  // The prefix for a namespace: that of the system's own document, else the one it was written with, else a new one.
  Symbol prefix(Symbol uri, Symbol hint) {
    for (const auto& [u, p] : prefixes_) {
      if (u == uri) return p;
    }
    auto free = [&](Symbol p) {
      if (p.empty()) return false;
      for (const auto& [u, taken] : prefixes_) {
        if (taken == p) return false;
      }
      return true;
    };
    Symbol chosen;
    for (const Binding* b = scope_; b; b = b->outer) {
      if (b->uri == uri && !b->prefix.empty() && find_prefix(scope_, b->prefix) == b && free(b->prefix))
        chosen = b->prefix;
    }
    if (chosen.empty() && free(hint) && !own(hint)) chosen = hint;
    for (int i = 1; chosen.empty(); i++) {
      Symbol p(fmt::format("ns{}", i));
      if (free(p) && !own(p)) chosen = p;
    }
    prefixes_.emplace_back(uri, chosen);
    return chosen;
  }

  bool own(Symbol p) const { return find_prefix(scope_, p) != nullptr; }

  // A prefix under which the namespace was known where something was written.
  static Symbol hint(const Binding* scope, Symbol uri) {
    for (const Binding* b = scope; b; b = b->outer) {
      if (b->uri == uri && !b->prefix.empty()) return b->prefix;
    }
    return {};
  }

  // A name inside a value (cdl:type, cdl:refroot, a path), where an unprefixed one is in the default namespace.
  void qname(std::string& out, QName name, const Binding* scope, Symbol now_default) {
    if (!name.ns.empty() && name.ns != now_default) {
      Symbol wanted = hint(scope, name.ns);
      if (wanted.empty()) wanted = document_hint(name.ns);
      out += prefix(name.ns, wanted).text();
      out += ':';
    } else {
      used_default_ |= !name.ns.empty() && name.ns == default_;
    }
    out += name.local.text();
  }

  // A namespace that was only a default where it was written: some prefix that a document of the library gives it.
  Symbol document_hint(Symbol uri) const {
    for (const auto& d : system_.library().documents()) {
      Symbol p = hint(d->scope, uri);
      if (!p.empty()) return p;
    }
    return {};
  }

  void attribute(std::string& out, const Attribute& a, Symbol now_default) {
    out += ' ';
    if (!a.name.ns.empty()) {
      out += prefix(a.name.ns, a.prefix).text();
      out += ':';
    }
    out += a.name.local.text();
    out += "=\"";
    static const Symbol kType("type");
    if (is_cdl_namespace(a.name.ns) && a.name.local == kType) {
      std::size_t colon = a.value.find(':');
      const Binding* b =
          find_prefix(a.scope, colon == std::string_view::npos ? Symbol() : Symbol(a.value.substr(0, colon)));
      std::string_view local = colon == std::string_view::npos ? a.value : a.value.substr(colon + 1);
      qname(out, {b ? b->uri : Symbol(), Symbol(local)}, a.scope, now_default);
    } else {
      escape(out, a.value, true);
    }
    out += '"';
  }

  // An absolute path that has been inherited is shown as the relative one that it stands for (7.3.3).
  void path(std::string& out, const Reference& r, const Node& place, Symbol now_default) {
    bool absolute = r.path.absolute || r.rooted;
    // With the property, or by it from what it extends; a list itself is where its paths begin.
    bool inherited = place.inherited || (r.at != place.source && place.parent);
    bool first = true;
    auto separate = [&] {
      if (!first) out += '/';
      first = false;
    };
    if (absolute && (r.rooted || !inherited)) {
      out += '/';
    } else if (absolute) {
      u32 depth = r.at->depth;
      if (depth <= 1) {
        separate();
        depth == 1 ? void(out += '.') : qname(out, place.name(), place.source->scope, now_default);
      }
      for (u32 i = 1; i < depth; i++) {
        separate();
        out += "..";
      }
    }
    for (const PathStep& s : r.path.steps) {
      separate();
      if (s.kind == PathStep::kName) {
        qname(out, s.name, r.scope, now_default);
      } else {
        out += s.kind == PathStep::kUp ? ".." : ".";
      }
    }
  }

  void reference(std::string& out, const Reference& r, const Node& place, bool qualified, Symbol now_default) {
    std::string p = qualified ? fmt::format("{}:", prefix(cdl_, Symbol("cdl")).text()) : std::string();
    if (r.rooted) {
      out += fmt::format(" {}refroot=\"", p);
      qname(out, r.root.name, r.scope, now_default);
      out += '"';
    }
    out += fmt::format(" {}ref=\"", p);
    path(out, r, place, now_default);
    out += '"';
  }

  void expression(std::string& out, const Node& n, Symbol now_default) {
    std::string p = fmt::format("{}:", prefix(cdl_, Symbol("cdl")).text());
    out += fmt::format("<{}expression value-of=\"", p);
    escape(out, n.place()->secret && !reveal_ ? "(secret)" : n.source->value_of, true);
    out += "\">";
    for (const Reference& v : n.source->variables) {
      out += fmt::format("<{}variable name=\"{}\"", p, v.variable.text());
      reference(out, v, *n.place(), false, now_default);
      const Task* t = n.wait->task;
      while (t && t->ref != &v) t = t->next_variable;
      if (t ? t->lazy : v.lazy) out += fmt::format(" {}lazy=\"true\"", p);
      out += "/>";
    }
    out += fmt::format("</{}expression>", p);
  }

  void node(std::string& out, const Node& n, std::size_t depth, Symbol now_default) {
    Budget::Level level(system_.session().budget);
    bool mixed = false, elements = false;
    for (const Content& c : n.items()) (c.node && !gives_text(*c.node) ? elements : mixed) = true;
    line(out, depth);
    bare_node(out, n, depth, now_default, elements && !mixed);
  }

  // An insertion that is resolved, in a property that waits for something else, is written as what it gave.
  static bool gives_text(const Node& n) {
    return n.source->kind != ElementKind::kProperty && n.settled &&
           std::any_of(n.items().begin(), n.items().end(), [](const Content& c) { return !c.node; });
  }

  void bare_node(std::string& out, const Node& n, std::size_t depth, Symbol now_default, bool indent) {
    if (out.size() > (std::size_t{1} << 30)) throw LimitError("LIMIT-OUTPUT", "the resolved document is too large");
    system_.session().budget.node();
    std::string name;
    Symbol ns = n.name().ns;
    bool redeclare = false;
    if (ns == now_default) {
      used_default_ |= ns == default_;
    } else if (ns.empty()) {
      redeclare = true;
    } else {
      Symbol wanted = n.source->prefix.empty() ? hint(n.source->scope, ns) : n.source->prefix;
      if (wanted.empty()) wanted = document_hint(ns);
      name = fmt::format("{}:", prefix(ns, wanted).text());
    }
    name += n.name().local.text();
    out += '<' + name;
    if (redeclare) {
      declare(out, Symbol(), Symbol());
      now_default = Symbol();
      used_default_ = true;
    }
    for (Attribute a : n.attrs()) {
      if (is_resolved_laziness(n, a)) continue;
      if (n.secret && !reveal_ && !is_cdl_namespace(a.name.ns) && a.name.ns.text() != kSecretNamespace)
        a.value = "(secret)";
      attribute(out, a, now_default);
    }
    bool around = in_secret_;
    if (made_of_secrets(n))
      out += fmt::format(" {}:secret=\"true\"", prefix(Symbol(kSecretNamespace), Symbol("s")).text());
    if (n.ref) reference(out, *n.ref, n, true, now_default);
    if (n.content_size == 0) {
      out += "/>";
      return;
    }
    out += '>';
    in_secret_ |= n.secret;
    for (const Content& c : n.items()) {
      if (!c.node) {
        text(out, n, c.text, now_default);
      } else if (c.node->source->kind == ElementKind::kProperty) {
        if (indent) {
          node(out, *c.node, depth + 1, now_default);
        } else {
          bare_node(out, *c.node, depth + 1, now_default, false);
        }
      } else {
        if (indent && !c.node->settled) line(out, depth + 1);
        insertion(out, *c.node, depth, now_default, indent);
      }
    }
    in_secret_ = around;
    if (indent) line(out, depth);
    out += "</" + name + ">";
  }

  // A name in a value is written with the prefix that its namespace has here.
  void text(std::string& out, const Node& n, std::string_view words, Symbol now_default) {
    NameProblem problem = NameProblem::kNone;
    if (n.secret && !reveal_) {
      out += "(secret)";
    } else if (n.content_size != 1 || !has_type(n, "QName")) {
      escape(out, words, false);
    } else if (WrittenName name = parse_qname(trim(words), n.text_scope(), problem); problem != NameProblem::kNone) {
      escape(out, words, false);
    } else {
      qname(out, name.name, n.text_scope(), now_default);
    }
  }

  // Secret by what it was made of: nothing says so in the document it was written in, and the result has to.
  bool made_of_secrets(const Node& n) const {
    static const QName kSecret{Symbol(kSecretNamespace), Symbol("secret")};
    if (!n.secret || n.content_size == 0 || in_secret_) return false;
    return std::none_of(n.attrs().begin(), n.attrs().end(), [](const Attribute& a) { return a.name == kSecret; });
  }

  // cdl:lazy="true" goes away when the laziness is resolved (7.5.2.1).
  static bool is_resolved_laziness(const Node& n, const Attribute& a) {
    return !n.lazy && a.name.local.text() == "lazy" && is_cdl_namespace(a.name.ns) &&
           (a.value == "true" || a.value == "1");
  }

  // In a property at that depth.
  void insertion(std::string& out, const Node& n, std::size_t depth, Symbol now_default, bool indent) {
    if (n.settled) {  // resolved, while another one beside it is not
      for (const Content& c : n.items()) {
        if (c.node && indent) {
          node(out, *c.node, depth + 1, now_default);
        } else if (c.node) {
          bare_node(out, *c.node, 0, now_default, false);
        } else {
          escape(out, n.secret && !reveal_ ? "(secret)" : c.text, false);
        }
      }
      return;
    }
    if (n.source->kind == ElementKind::kExpression) return expression(out, n, now_default);
    out += fmt::format("<{}:ref", prefix(cdl_, Symbol("cdl")).text());
    reference(out, *n.source->ref, *n.place(), false, now_default);
    for (const Attribute& a : n.attrs()) {
      if (!is_resolved_laziness(n, a)) attribute(out, a, now_default);
    }
    out += "/>";
  }

  const System& system_;
  const Node& root_;
  const Binding* within_;
  std::size_t depth_;
  bool compact_;
  bool reveal_;
  const Binding* scope_ = nullptr;
  Symbol default_;
  Symbol cdl_;
  bool used_default_ = false;
  bool in_secret_ = false;                           // what is being written is in an element that is secret
  std::vector<std::pair<Symbol, Symbol>> prefixes_;  // namespace, prefix, in order of first use
  std::vector<const Documentation*> documentation_;
};

}  // namespace

std::string to_xml(const System& system, bool compact, bool reveal) {
  return Writer(system, system.root(), nullptr, 0, compact, reveal).run() + '\n';
}

std::string to_document(System& system, bool compact, bool reveal) {
  const Document& document = system.document();
  std::string_view text = document.source->text;
  auto resolved = [&](const Node& root) {
    Writer writer(system, root, document.scope, 1, compact, reveal);
    writer.keep_documentation();
    return writer.run();
  };
  std::map<std::size_t, std::pair<std::size_t, std::string>> changed;  // by where it begins: its end, what it becomes
  auto change = [&](Stretch s, std::string to) { changed[s.from] = {s.to, std::move(to)}; };
  if (document.configuration) change(document.configuration_text, resolved(system.configuration()));
  if (document.system) change(document.system_text, resolved(system.root()));
  if (document.signature) change(document.signature_text, {});
  // What was in another encoding has been read as UTF-8, and is written so.
  std::size_t declaration = text.starts_with("<?xml") ? text.find("?>") : 0;
  if (std::size_t encoding = text.substr(0, declaration).find("encoding"); encoding != std::string_view::npos) {
    std::size_t open = std::min(text.find_first_of("\"'", encoding), declaration);
    change({open + 1, std::min(text.find(text[open], open + 1), declaration)}, "UTF-8");
  }
  std::string out;
  std::size_t at = 0;
  for (const auto& [from, what] : changed) {
    out += text.substr(at, from - at);
    out += what.second;
    at = what.first;
  }
  out += text.substr(at);
  if (!out.ends_with('\n')) out += '\n';
  return out;
}

}  // namespace tutti::cdl
