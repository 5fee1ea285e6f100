#include "lang/cdl/resolve/library.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <charconv>
#include <climits>
#include <cstdlib>

#include "base/boundary.h"
#include "base/near.h"
#include "lang/cdl/resolve/builtin.h"
#include "lang/cdl/resolve/expression.h"
#include "lang/cdl/resolve/security.h"
#include "lang/cdl/syntax/parse.h"
#include "lang/cdl/syntax/path.h"

namespace tutti::cdl {
namespace {

std::string canonical(const std::string& path) {
  char buffer[PATH_MAX];
  return realpath(path.c_str(), buffer) ? std::string(buffer) : path;
}

std::string directory(const std::string& path) {
  std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? std::string() : path.substr(0, slash + 1);
}

bool is_file(const std::string& path) {
  struct stat info {};
  return stat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode);
}

// With the bytes that %HH stands for.
std::string without_escapes(std::string_view uri) {
  std::string out;
  for (std::size_t i = 0; i < uri.size(); i++) {
    unsigned byte = 0;
    const char* hex = uri.data() + i + 1;
    if (uri[i] == '%' && i + 2 < uri.size() && std::from_chars(hex, hex + 2, byte, 16).ptr == hex + 2) {
      out += static_cast<char>(byte);
      i += 2;
    } else {
      out += uri[i];
    }
  }
  return out;
}

// `scheme` of `scheme:rest`, or "".
std::string_view scheme_of(std::string_view location) {
  std::size_t colon = location.find(':');
  if (colon == std::string_view::npos || colon < 2) return {};
  for (char c : location.substr(0, colon)) {
    if (!std::isalnum(static_cast<unsigned char>(c)) && c != '+' && c != '-' && c != '.') return {};
  }
  return location.substr(0, colon);
}

}  // namespace

const Document* Library::load(const std::string& path) {
  const Source* source = session_.open(path);
  return source ? load(*source) : nullptr;
}

const Document* Library::load(const Source& source) {
  root_directory_ = source.path == "-" ? std::string() : directory(source.path);
  if (!load_catalog()) return nullptr;
  const Document* root = load_source(source, canonical(source.path), {}, false);
  if (root) link();
  if (root && !session_.diagnostics.ok()) tell_expressions();
  return root;
}

const Document* Library::load_source(const Source& source, const std::string& key, Pos wanted_at, bool imported) {
  Document* document = parse_document(session_, source, documents_, imported);
  by_path_[key] = document;
  if (!document) return nullptr;
  bool must = !options_.signature_key.empty() && !document->is_schema && !builtin_document(key);
  if ((must || document->signature) && !verify_signature(session_, *document, options_.signature_key)) return nullptr;
  if (document->encrypted) {
    std::optional<Clear> clear = decrypt(session_, *document, options_.decryption_key);
    if (!clear) return nullptr;
    // Places are those of a text that shows stars, so that no diagnostic or story quotes a secret.
    Result<const Source*> shown = session_.sources->add(source.name + " (decrypted)", std::move(clear->shown));
    if (!shown) return nullptr;
    Source decrypted;
    decrypted.text = std::move(clear->text);
    decrypted.first = (*shown)->first;
    documents_.pop_back();  // as it was encrypted: what is in it comes again
    document = parse_document(session_, decrypted, documents_, false);
    by_path_[key] = document;
    if (!document) return nullptr;
    document->source = *shown;
    document->directory = directory(source.path);
  }
  if (document->directory.empty()) document->directory = directory(source.path);
  loading_.push_back({key, wanted_at});
  load_imports(*document);
  loading_.pop_back();
  name_lists(*document);
  return document;
}

std::string Library::locate(const Document& from, std::string_view location, std::string& why) const {
  std::string wanted(trim(location));
  if (auto it = catalog_.find(wanted); it != catalog_.end()) return it->second;
  for (const auto& [start, prefix] : rewrites_) {
    if (wanted.starts_with(start)) return prefix + wanted.substr(start.size());
  }
  std::string scheme(scheme_of(wanted));
  std::transform(scheme.begin(), scheme.end(), scheme.begin(), [](unsigned char c) { return std::tolower(c); });
  std::vector<std::string> tried;
  if (scheme == "classpath") {
    std::string_view rest = std::string_view(wanted).substr(scheme.size() + 1);
    while (rest.starts_with('/')) rest.remove_prefix(1);
    for (const std::string& d : options_.includes) tried.push_back(fmt::format("{}/{}", d, rest));
    tried.push_back(fmt::format("{}lib/{}", root_directory_, rest));
    tried.push_back(fmt::format("{}{}", root_directory_, rest));
  } else if (scheme == "file") {
    std::string_view rest = std::string_view(wanted).substr(scheme.size() + 1);
    if (rest.starts_with("//localhost/")) rest.remove_prefix(11);
    if (rest.starts_with("///")) rest.remove_prefix(2);
    tried.push_back(std::string(rest));
  } else if (!scheme.empty()) {
    why = "nothing is ever fetched: map the location to a file in a catalog (--catalog)";
    return {};
  } else {
    tried.push_back(wanted.starts_with('/') ? wanted : from.directory + wanted);
    for (const std::string& d : options_.includes) tried.push_back(fmt::format("{}/{}", d, wanted));
  }
  for (const std::string& path : tried) {
    // Of places that may not be looked at nothing is told, not even whether something is there: opening refuses.
    if (is_file(path) || !may_look_at(path)) return path;
    // A location is a URI (appendix A: xsd:anyURI), in which a blank is %20.
    if (std::string plain = without_escapes(path); is_file(plain)) return plain;
  }
  why = "looked for";
  for (const std::string& path : tried) why += fmt::format("{} `{}`", path == tried.front() ? "" : ",", path);
  return {};
}

void Library::load_imports(Document& document) {
  std::unordered_map<u64, std::pair<std::string, Pos>> declared;
  for (Import& import : document.imports) {
    if (import.has_ns && !document.target_ns.empty() && import.ns == document.target_ns) {
      imports_failed_ = true;
      session_.diagnostics.error("CDL-IMPORT-OWN-NAMESPACE", import.pos,
                                 "an import cannot be for the document's own target namespace");
      continue;
    }
    std::optional<std::string_view> builtin = builtin_document(import.location);
    std::string why;
    std::string path = builtin ? std::string(import.location) : locate(document, import.location, why);
    if (path.empty()) {
      imports_failed_ = true;
      session_.diagnostics
          .error("CDL-IMPORT-NOT-FOUND", import.pos, fmt::format("there is no `{}` to import", import.location))
          .note(why);
      continue;
    }
    std::string key = builtin ? path : canonical(path);
    if (import.has_ns) {
      auto [it, fresh] = declared.try_emplace(import.ns.id(), key, import.pos);
      if (!fresh && it->second.first != key) {
        session_.diagnostics
            .error("CDL-IMPORT-NAMESPACE-CLASH", import.pos,
                   fmt::format("the namespace {} is imported from two locations", import.ns.text()))
            .relate(it->second.second, "the other one");
        continue;
      }
    }
    import.location = session_.arena.copy(std::string_view(key));
    auto open = std::find_if(loading_.begin(), loading_.end(), [&](const Loading& l) { return l.path == key; });
    if (open != loading_.end()) {
      Diagnostic& d = session_.diagnostics.error("CDL-RECURSIVE-IMPORT", import.pos, "a document imports itself");
      for (++open; open != loading_.end(); ++open) d.relate(open->import, "through this import");
      continue;
    }
    if (by_path_.count(key)) continue;
    Result<const Source*> source = builtin ? session_.sources->add(path, std::string(*builtin))
                                           : session_.sources->open(path, session_.budget.limits().input_bytes);
    if (source) {
      imports_failed_ |= load_source(**source, key, import.pos, true) == nullptr;
    } else {
      imports_failed_ = true;
      session_.diagnostics
          .error(std::string(read_failure_code(source.error(), "CDL-IMPORT-NOT-FOUND")), import.pos,
                 source.error().message)
          .suggest(read_failure_help(source.error()));
    }
  }
}

void Library::add(const Document& document, QName name, const List* list, Pos at) {
  auto [it, fresh] = names_[&document].known.try_emplace(name.key(), list);
  if (fresh || it->second == list) return;
  session_.diagnostics
      .error("CDL-DUPLICATE-PROTOTYPE", at, fmt::format("there are two property lists called {}", name.text()))
      .relate(name_span(*it->second->element), "the other one");
}

void Library::name_lists(const Document& document) {
  Names& names = names_[&document];
  for (const Element* e : document.lists) {
    lists_.push_back(std::make_unique<List>());
    List* list = lists_.back().get();
    list->element = e;
    list->document = &document;
    by_element_[e] = list;
    Pos at = name_span(*e).begin;
    add(document, e->name, list, at);
    QName global = e->name;
    if (e->name.ns.empty()) {
      names.plain.push_back(list);
      if (document.target_ns.empty()) continue;
      global = {document.target_ns, e->name.local};
      if (names.known.at(e->name.key()) == list) add(document, global, list, at);
    }
    auto [it, fresh] = global_.try_emplace(global.key(), list);
    if (!fresh && it->second->document != &document) {
      session_.diagnostics
          .error("CDL-DUPLICATE-PROTOTYPE", at, fmt::format("there are two property lists called {}", global.text()))
          .relate(name_span(*it->second->element), "the other one");
    }
  }
  for (const Import& import : document.imports) {
    auto it = by_path_.find(std::string(import.location));
    if (it == by_path_.end() || !it->second) continue;
    auto other = names_.find(it->second);
    if (other == names_.end()) continue;
    std::vector<const List*> plain = other->second.plain;
    for (const List* list : plain) {
      if (import.has_ns) {
        add(document, {import.ns, list->element->name.local}, list, import.pos);
        continue;
      }
      // Two libraries may have a list of one name: an error where it is used without saying of which (11.2.1).
      auto [known, first] = names.known.try_emplace(QName{Symbol(), list->element->name.local}.key(), list);
      bool others = !first && known->second != list && !list->document->target_ns.empty();
      if (others && known->second && known->second->document != &document) {
        known->second = nullptr;
        names.several.insert(list->element->name.local.id());
        continue;
      }
      if (!first && !others) add(document, {Symbol(), list->element->name.local}, list, import.pos);
      if (std::find(names.plain.begin(), names.plain.end(), list) == names.plain.end()) names.plain.push_back(list);
    }
  }
}

const List* Library::find(const Document& from, const WrittenName& written) const {
  auto look = [&](QName name) -> const List* {
    auto names = names_.find(&from);
    if (names != names_.end()) {
      if (auto it = names->second.known.find(name.key()); it != names->second.known.end()) return it->second;
    }
    if (name.ns.empty()) return nullptr;
    auto it = global_.find(name.key());
    return it == global_.end() ? nullptr : it->second;
  };
  if (const List* list = look(written.name)) return list;
  if (written.prefixed || written.name.ns.empty()) return nullptr;
  return look({Symbol(), written.name.local});
}

const List* Library::list_of(const Element& element) const {
  auto it = by_element_.find(&element);
  return it == by_element_.end() ? nullptr : it->second;
}

Symbol Library::similar(const Document& from, Symbol local) const {
  std::vector<std::string_view> names;
  auto own = names_.find(&from);
  if (own != names_.end()) {
    for (const auto& [key, list] : own->second.known)
      if (list) names.push_back(list->element->name.local.text());
  }
  for (const auto& [key, list] : global_) names.push_back(list->element->name.local.text());
  std::sort(names.begin(), names.end());
  return Symbol(nearest(local.text(), names));
}

void Library::link_element(const Element& root, std::vector<const List*>* targets) {
  std::vector<const Element*> open{&root};
  while (!open.empty()) {
    const Element* e = open.back();
    open.pop_back();
    session_.budget.step();
    if (e->extends && !e->extends->target) {
      const List* list = find(*e->document, e->extends->name);
      // What could not be imported may have it: that has been told.
      bool missed = imports_failed_ && e->extends->name.prefixed && e->extends->name.name.ns != e->document->target_ns;
      if (list) {
        e->extends->target = list;
        if (targets) targets->push_back(list);
      } else if (!missed) {
        if (e->extends->name.name.ns.empty() && names_[e->document].several.count(e->extends->name.name.local.id())) {
          session_.diagnostics
              .error("CDL-DUPLICATE-PROTOTYPE", attribute_span(*e, "extends"),
                     fmt::format("there are several property lists called {}", e->extends->name.name.text()))
              .suggest("say of which namespace");
          continue;
        }
        Diagnostic& d = session_.diagnostics.error(
            "CDL-UNKNOWN-PROTOTYPE", attribute_span(*e, "extends"),
            fmt::format("there is no property list {} to extend", e->extends->name.name.text()));
        d.note("only children of cdl:configuration can be extended");
        if (session_.diagnostics.left_out() == 0)  // nobody will see what is said of the others
          d.did_you_mean(similar(*e->document, e->extends->name.name.local).text());
      }
    }
    for (std::size_t i = e->items.size(); i-- > 0;) {
      const Element* child = e->items[i].element;
      if (child && child->kind == ElementKind::kProperty) open.push_back(child);
    }
  }
}

// What is wrong with expressions is found where they are evaluated, which a document with other mistakes never comes
// to.
void Library::tell_expressions() {
  std::vector<const Element*> open;
  for (const auto& document : documents_) {
    open.insert(open.end(), document->lists.begin(), document->lists.end());
    if (document->system) open.push_back(document->system);
  }
  while (!open.empty()) {
    const Element* e = open.back();
    open.pop_back();
    if (e->kind == ElementKind::kExpression) compile_expression(session_, *e);
    for (const Item& item : e->items)
      if (item.element) open.push_back(item.element);
  }
}

void Library::link() {
  for (const auto& list : lists_) link_element(*list->element, &edges_[list.get()]);
  for (const auto& document : documents_) {
    if (document->system) link_element(*document->system, nullptr);
  }
  find_cycles();
}

// A list that extends itself, directly, over others or from within would be infinite (unlike in SmartFrog, where a
// prototype is a copy of what there is so far). Depth first over the lists; a way back to a list still open is a loop.
void Library::find_cycles() {
  enum : u8 { kNew, kOpen, kDone };
  std::unordered_map<const List*, u8> state;
  struct Step {
    const List* list;
    std::size_t next;
  };
  for (const auto& start : lists_) {
    if (state[start.get()] != kNew) continue;
    std::vector<Step> stack{{start.get(), 0}};
    state[start.get()] = kOpen;
    while (!stack.empty()) {
      Step& top = stack.back();
      const std::vector<const List*>& targets = edges_[top.list];
      if (top.next == targets.size()) {
        state[top.list] = kDone;
        stack.pop_back();
        continue;
      }
      const List* to = targets[top.next++];
      if (state[to] == kNew) {
        state[to] = kOpen;
        stack.push_back({to, 0});
      } else if (state[to] == kOpen) {
        auto from = std::find_if(stack.begin(), stack.end(), [&](const Step& s) { return s.list == to; });
        std::string loop;
        for (auto s = from; s != stack.end(); ++s) loop += fmt::format("{} -> ", s->list->element->name.local.text());
        loop += to->element->name.local.text();
        Diagnostic& d = session_.diagnostics.error(
            "CDL-RECURSIVE-EXTENDS", name_span(*to->element),
            fmt::format("the property list {} extends itself", to->element->name.local.text()));
        d.note("the loop: " + loop);
        for (auto s = from + 1; s < stack.end(); ++s) d.relate(name_span(*s->list->element), "part of the loop");
      }
    }
  }
}

}  // namespace tutti::cdl
