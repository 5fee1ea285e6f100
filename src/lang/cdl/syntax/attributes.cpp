#include <fmt/format.h>

#include <algorithm>

#include "base/near.h"
#include "lang/cdl/syntax/sax.h"

// The second half of the DocumentBuilder: what the attributes of the cdl namespace mean.
namespace tutti::cdl {

const DocumentBuilder::Raw* DocumentBuilder::raw(std::string_view local, bool cdl) const {
  for (const Raw& a : raw_) {
    if ((cdl ? is_cdl_namespace(a.name.ns) : a.name.ns.empty()) && a.name.local.text() == local) return &a;
  }
  return nullptr;
}

// Attributes of other namespaces are anybody's (appendix A); without one or in that of CDL they are known or mistakes.
void DocumentBuilder::refuse_unknown(Pos pos, std::string_view element, std::span<const std::string_view> known) {
  Element at;
  at.pos = pos;
  at.document = &document_;
  for (const Raw& a : raw_) {
    std::string_view local = a.name.local.text();
    if ((!a.name.ns.empty() && !is_cdl_namespace(a.name.ns)) ||
        std::find(known.begin(), known.end(), local) != known.end())
      continue;
    session_.diagnostics
        .warning("CDL-UNKNOWN-ATTRIBUTE", attribute_span(at, local),
                 fmt::format("{}{} means nothing of cdl:{}", a.name.ns.empty() ? "" : "cdl:", local, element))
        .did_you_mean(nearest(local, known));
  }
}

void DocumentBuilder::read_import(Pos pos) {
  static constexpr std::string_view kKnown[] = {"namespace", "location"};
  refuse_unknown(pos, "import", kKnown);
  Import import;
  import.pos = pos;
  if (const Raw* ns = raw("namespace", false)) {
    import.ns = Symbol(ns->value);
    import.has_ns = true;
  }
  const Raw* location = raw("location", false);
  if (!location) {
    session_.diagnostics.error("CDL-IMPORT-NO-LOCATION", pos, "cdl:import needs a location");
    return;
  }
  import.location = location->value;
  document_.imports.push_back(import);
}

bool DocumentBuilder::read_boolean(const Element& e, std::string_view value, bool& out) {
  value = trim(value);
  if (value == "true" || value == "1") return out = true;
  if (value == "false" || value == "0") {
    out = false;
    return true;
  }
  session_.diagnostics.error("CDL-BAD-LAZY", attribute_span(e, "lazy"),
                             fmt::format("cdl:lazy is true, false, 1 or 0, not \"{}\"", value));
  return false;
}

bool DocumentBuilder::read_name(const Element& e, std::string_view text, std::string_view attribute, WrittenName& out) {
  NameProblem problem;
  out = parse_qname(text, e.scope, problem);
  if (problem == NameProblem::kMalformed) {
    session_.diagnostics.error("CDL-BAD-QNAME", attribute_span(e, attribute),
                               fmt::format("\"{}\" is not a name", text));
  } else if (problem == NameProblem::kUnknownPrefix) {
    session_.diagnostics.error("CDL-UNKNOWN-PREFIX", attribute_span(e, attribute),
                               fmt::format("the prefix of \"{}\" is not declared here", text));
  }
  return problem == NameProblem::kNone;
}

const Reference* DocumentBuilder::read_reference(Element& at, std::string_view text, const Raw* root, Pos) {
  NameProblem problem;
  std::string_view bad;
  std::optional<RefPath> path = parse_path(session_.arena, text, at.scope, problem, bad);
  if (!path) {
    if (problem == NameProblem::kUnknownPrefix) {
      session_.diagnostics.error("CDL-UNKNOWN-PREFIX", attribute_span(at, "ref"),
                                 fmt::format("the prefix of \"{}\" is not declared here", bad));
    } else {
      session_.diagnostics
          .error("CDL-BAD-PATH", attribute_span(at, "ref"),
                 text.empty() ? "the path is empty" : fmt::format("\"{}\" is not a path", text))
          .note(
              "a path is names, `.` and `..` with `/` between them: predicates, `*`, `@` and axes have no place in it");
    }
    return nullptr;
  }
  Reference* r = session_.arena.make<Reference>();
  r->path = *path;
  r->at = &at;
  r->scope = at.scope;
  if (root) {
    r->rooted = true;
    if (!read_name(at, root->value, "refroot", r->root)) return nullptr;
  }
  return r;
}

void DocumentBuilder::property_attributes(Element& e) {
  kept_.clear();
  const Raw *ref = nullptr, *root = nullptr;
  for (const Raw& a : raw_) {
    if (!is_cdl_namespace(a.name.ns)) {
      static constexpr std::string_view kMeant[] = {"extends", "ref", "refroot", "lazy"};
      std::string_view local = a.name.local.text();
      if (a.name.ns.empty() && std::find(std::begin(kMeant), std::end(kMeant), local) != std::end(kMeant)) {
        session_.diagnostics
            .warning("CDL-UNPREFIXED", attribute_span(e, local),
                     fmt::format("`{}` means nothing without a prefix", local))
            .suggest(fmt::format("write cdl:{}", local));
      }
      if (a.name.ns.text() == kSecretNamespace && local == "secret") {
        // A misspelt mark must not show what it was to hide.
        std::string_view value = trim(a.value);
        if (value != "true" && value != "1" && value != "false" && value != "0")
          session_.diagnostics.error("CDL-BAD-SECRET", attribute_span(e, local),
                                     fmt::format("secret is true, false, 1 or 0, not \"{}\"", value));
        kept_.push_back({a.name, a.prefix, value, e.scope});
        continue;
      }
      kept_.push_back({a.name, a.prefix, a.value, e.scope});
      continue;
    }
    std::string_view local = a.name.local.text(), value = a.value;
    if (local == "extends") {
      WrittenName name;
      if (read_name(e, a.value, local, name)) e.extends = session_.arena.make<Extends>(name, a.value);
    } else if (local == "ref") {
      ref = &a;
    } else if (local == "refroot") {
      root = &a;
    } else {
      if (local == "lazy") {
        value = trim(value);
        e.lazy_written = read_boolean(e, value, e.lazy);
      } else if (local == "use") {
        if (a.value != "required" && a.value != "optional") {
          session_.diagnostics.error("CDL-BAD-USE", attribute_span(e, local),
                                     fmt::format("cdl:use is required or optional, not \"{}\"", a.value));
        }
        e.required = a.value == "required";
      } else if (local == "type") {
        WrittenName name;
        value = trim(value);
        read_name(e, value, local, name);
      } else {
        static constexpr std::string_view kKnown[] = {"extends", "ref", "refroot", "lazy", "use", "type"};
        session_.diagnostics
            .warning("CDL-UNKNOWN-ATTRIBUTE", attribute_span(e, local), fmt::format("cdl:{} means nothing", local))
            .did_you_mean(nearest(local, kKnown));
      }
      kept_.push_back({a.name, a.prefix, value, e.scope});
    }
  }
  if (ref) e.ref = read_reference(e, ref->value, root, e.pos);
  if (root && !ref) {
    session_.diagnostics.error("CDL-REFROOT-WITHOUT-REF", attribute_span(e, "refroot"), "cdl:refroot needs a cdl:ref");
  }
  e.attributes = session_.arena.copy(std::span<const Attribute>(kept_));
}

void DocumentBuilder::insertion_attributes(Element& e) {
  kept_.clear();
  for (const Raw& a : raw_) {
    if (a.name.local == Symbol("lazy") && (a.name.ns.empty() || is_cdl_namespace(a.name.ns))) {
      e.lazy_written = read_boolean(e, a.value, e.lazy);
    } else if (is_cdl_namespace(a.name.ns)) {
      std::string_view local = a.name.local.text();
      Diagnostic& d = session_.diagnostics.error("CDL-MISPLACED-ATTRIBUTE", attribute_span(e, local),
                                                 fmt::format("cdl:{} means nothing of a cdl:ref element", local));
      if (local == "ref" || local == "refroot") d.suggest(fmt::format("of a cdl:ref element it is `{}`", local));
    }
    if (a.name.ns.empty() && (a.name.local == Symbol("ref") || a.name.local == Symbol("refroot"))) continue;
    kept_.push_back({a.name, a.prefix, a.value, e.scope});
  }
  e.attributes = session_.arena.copy(std::span<const Attribute>(kept_));
  const Raw* ref = raw("ref", false);
  if (!ref) {
    session_.diagnostics.error("CDL-BAD-PATH", name_span(e), "a cdl:ref element needs a ref");
    return;
  }
  e.ref = read_reference(e, ref->value, raw("refroot", false), e.pos);
}

void DocumentBuilder::expression_attributes(Element& e) {
  if (raw("lazy", true)) {
    session_.diagnostics.error("CDL-MISPLACED-ATTRIBUTE", attribute_span(e, "lazy"), "an expression itself is not lazy")
        .suggest("write cdl:lazy with the cdl:variable that is to wait");
  }
  const Raw* value = raw("value-of", false);
  if (!value) {
    session_.diagnostics.error("CDL-BAD-EXPRESSION", name_span(e), "a cdl:expression needs a value-of");
    return;
  }
  e.value_of = value->value;
}

void DocumentBuilder::read_variable(Frame& expression, Pos pos, const Binding* scope) {
  Element* at = session_.arena.make<Element>();
  at->pos = pos;
  at->document = &document_;
  at->scope = scope;
  at->parent = expression.element;
  at->depth = expression.element->depth;
  const Raw *name = raw("name", false), *ref = raw("ref", false);
  if (!name || !is_ncname(name->value)) {
    session_.diagnostics.error("CDL-BAD-QNAME", attribute_span(*at, "name"), "a cdl:variable needs a name");
    return;
  }
  if (!ref) {
    session_.diagnostics.error("CDL-BAD-PATH", name_span(*at), "a cdl:variable needs a ref");
    return;
  }
  const Reference* r = read_reference(*at, ref->value, raw("refroot", false), pos);
  if (!r) return;
  Reference variable = *r;
  variable.variable = Symbol(name->value);
  const Raw* lazy = raw("lazy", true);
  if (!lazy) lazy = raw("lazy", false);
  if (lazy) read_boolean(*at, lazy->value, variable.lazy);
  if (auto [first, fresh] = variable_names_.try_emplace(variable.variable.id(), variables_.size()); !fresh) {
    const Reference& other = variables_[first->second];
    session_.diagnostics
        .error("CDL-DUPLICATE-VARIABLE", attribute_span(*at, "name"),
               fmt::format("there are two variables `{}`", name->value))
        .relate(attribute_span(*other.at, "name"), "the first");
    return;
  }
  variables_.push_back(variable);
}

}  // namespace tutti::cdl
