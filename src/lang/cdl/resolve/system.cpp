#include "lang/cdl/resolve/system.h"

#include <fmt/format.h>

#include "base/near.h"

namespace tutti::cdl {

System::System(Session& session, const LoadOptions& options)
    : session_(session),
      library_(session, options),
      instances_(session, library_),
      resolver_(session, library_, instances_) {}

std::unique_ptr<System> System::load(Session& session, const std::string& path, const LoadOptions& options) {
  std::unique_ptr<System> system(new System(session, options));
  const Document* document = system->library_.load(path);
  return finish(std::move(system), document);
}

std::unique_ptr<System> System::load(Session& session, const Source& source, const LoadOptions& options) {
  std::unique_ptr<System> system(new System(session, options));
  const Document* document = system->library_.load(source);
  return finish(std::move(system), document);
}

std::unique_ptr<System> System::finish(std::unique_ptr<System> system, const Document* document) {
  Session& session = system->session_;
  if (!document || !session.diagnostics.ok()) return nullptr;
  system->document_ = document;
  if (document->system) {
    system->root_ = system->instances_.make_system(*document);
  } else if (document->configuration) {
    system->root_ = system->instances_.make_configuration(*document);
  } else {
    session.diagnostics.error("CDL-NOTHING", document->pos, "there is neither a cdl:system nor a cdl:configuration");
    return nullptr;
  }
  system->resolve();
  return system;
}

u64 System::resolve() {
  u64 before = resolver_.tries();
  resolver_.run();
  // Templates may be incomplete (3.2.2): only what the system needs must be there.
  if (document_->system && !root_->done && resolver_.stuck()) resolver_.explain(*root_);
  return resolver_.tries() - before;
}

const Node& System::configuration() {
  if (!document_->system) return *root_;
  if (!configuration_) {
    configuration_ = instances_.make_configuration(*document_);
    resolver_.run();
  }
  return *configuration_;
}

namespace {

bool matches(const Node& node, std::string_view step) {
  std::string_view local = node.name().local.text();
  if (local == step) return true;
  std::string_view prefix = node.source->prefix.text();
  return step.size() == prefix.size() + 1 + local.size() && step.starts_with(prefix) && step[prefix.size()] == ':' &&
         step.ends_with(local);
}

void collect_open(const Node& node, std::vector<const Node*>& out) {
  if (node.done) return;
  bool lazy = node.lazy;
  for (const Content& c : node.items()) {
    if (!c.node) continue;
    if (c.node->source->kind == ElementKind::kProperty) {
      collect_open(*c.node, out);
      continue;
    }
    lazy |= c.node->lazy && !c.node->settled;
    for (Task* t = c.node->wait->task; t; t = t->next_variable) lazy |= t->lazy && !t->resolved;
  }
  if (lazy) out.push_back(&node);
}

}  // namespace

Node* System::find(std::string_view path) {
  std::string_view rest = path;
  Node* at = root_;
  auto step = [&] {
    std::size_t slash = rest.find('/');
    std::string_view s = rest.substr(0, slash);
    rest = slash == std::string_view::npos ? std::string_view() : rest.substr(slash + 1);
    return s;
  };
  if (rest.starts_with('@')) {
    rest.remove_prefix(1);
    std::string_view name = step();
    at = nullptr;
    for (const auto& d : library_.documents()) {
      for (const Element* e : d->lists) {
        if (!at && e->name.local.text() == name) at = instances_.make_list(*library_.list_of(*e));
      }
    }
    if (!at) {
      session_.diagnostics.error("CDL-NO-SUCH-NODE", {}, fmt::format("there is no property list `{}`", name));
      return nullptr;
    }
  }
  while (!rest.empty()) {
    std::string_view name = step();
    if (name.empty()) continue;
    bool many = false;
    Node* next = resolver_.child(*at, {PathStep::kName, false, {{}, Symbol(name)}}, many);
    if (next) {
      at = next;
      continue;
    }
    std::vector<std::string_view> names;
    for (const Content& c : at->items()) {
      if (!c.node || c.node->source->kind != ElementKind::kProperty) continue;
      names.push_back(c.node->name().local.text());
      if (!next && matches(*c.node, name)) next = c.node;
    }
    if (!next) {
      session_.diagnostics
          .error("CDL-NO-SUCH-NODE", name_span(*at->source), fmt::format("`{}`: there is no `{}` here", path, name))
          .did_you_mean(nearest(name, names));
      return nullptr;
    }
    at = next;
  }
  return at;
}

bool System::set(std::string_view path, std::optional<std::string_view> value) {
  Node* node = find(path);
  return node && resolver_.supply(*node, value);
}

std::vector<std::string> System::open() const {
  std::vector<const Node*> nodes;
  collect_open(*root_, nodes);
  // Lists of the configuration that the system refers to.
  if (!configuration_) {
    for (const auto& d : library_.documents()) {
      for (const Element* e : d->lists) {
        const List* list = library_.list_of(*e);
        if (list && list->root) collect_open(*list->root, nodes);
      }
    }
  }
  std::vector<std::string> out;
  for (const Node* n : nodes) out.push_back(path_of(*n));
  return out;
}

Value System::value() { return to_value(session_, *root_); }

}  // namespace tutti::cdl
