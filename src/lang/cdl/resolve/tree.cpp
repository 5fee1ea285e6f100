#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "base/utf8.h"
#include "lang/cdl/resolve/system.h"
#include "lang/cdl/syntax/path.h"
#include "lang/common/links.h"

namespace tutti::cdl {
namespace {

// A number of XML Schema as all formats write one: without a plus, needless zeros in front or a bare point ("+5",
// "007", "1.", ".5"). Nothing for what is no number, or none that others have a word for (INF, NaN).
std::optional<std::string> plain_number(std::string_view text) {
  std::string out;
  auto digits = [&] {
    std::size_t end = std::min(text.find_first_not_of("0123456789"), text.size());
    std::string_view found = text.substr(0, end);
    text.remove_prefix(end);
    return found;
  };
  if (text.starts_with('-')) out = "-";
  if (text.starts_with('-') || text.starts_with('+')) text.remove_prefix(1);
  std::string_view whole = digits(), fraction;
  if (text.starts_with('.')) {
    text.remove_prefix(1);
    fraction = digits();
  }
  if (whole.empty() && fraction.empty()) return std::nullopt;
  whole.remove_prefix(std::min(whole.find_first_not_of('0'), whole.size()));
  out += whole.empty() ? "0" : whole;
  if (!fraction.empty()) (out += '.') += fraction;
  if (text.starts_with('e') || text.starts_with('E')) {
    out += 'e';
    text.remove_prefix(1);
    if (text.starts_with('-')) out += '-';
    if (text.starts_with('-') || text.starts_with('+')) text.remove_prefix(1);
    std::string_view power = digits();
    if (power.empty()) return std::nullopt;
    out += power;
  }
  if (!text.empty()) return std::nullopt;
  return out;
}

enum class Basic : u8 { kText, kNumber, kBoolean };

// The type of XML Schema that a cdl:type names, or "".
Symbol schema_type(const Node& node) {
  static const Symbol kType("type");
  for (const Attribute& a : node.attrs()) {
    if (a.name.local != kType || !is_cdl_namespace(a.name.ns)) continue;
    std::size_t colon = a.value.find(':');
    Symbol prefix = colon == std::string_view::npos ? Symbol() : Symbol(a.value.substr(0, colon));
    const Binding* b = find_prefix(a.scope, prefix);
    if (!b || !is_schema_namespace(b->uri)) return {};
    return Symbol(colon == std::string_view::npos ? a.value : a.value.substr(colon + 1));
  }
  return {};
}

// What a cdl:type of XML Schema says about the text.
Basic basic_type(const Node& node) {
  static const Symbol kBoolean("boolean");
  static const Symbol kNumbers[] = {Symbol("decimal"),
                                    Symbol("integer"),
                                    Symbol("long"),
                                    Symbol("int"),
                                    Symbol("short"),
                                    Symbol("byte"),
                                    Symbol("unsignedInt"),
                                    Symbol("unsignedShort"),
                                    Symbol("unsignedByte"),
                                    Symbol("unsignedLong"),
                                    Symbol("positiveInteger"),
                                    Symbol("nonNegativeInteger"),
                                    Symbol("double"),
                                    Symbol("float"),
                                    Symbol("negativeInteger"),
                                    Symbol("nonPositiveInteger")};
  Symbol type = schema_type(node);
  if (type == kBoolean) return Basic::kBoolean;
  return std::find(std::begin(kNumbers), std::end(kNumbers), type) != std::end(kNumbers) ? Basic::kNumber
                                                                                         : Basic::kText;
}

Value scalar(Session& session, const Node& node, const Content& c, Origin origin) {
  Basic basic = c.text_kind == Kind::kDecimal ? Basic::kNumber
                : c.text_kind == Kind::kBool  ? Basic::kBoolean
                : node.typed                  ? basic_type(node)
                                              : Basic::kText;
  std::string_view text = trim(c.text);
  if (basic == Basic::kNumber) {
    if (auto number = plain_number(text))
      return Value::number(text == *number ? text : session.arena.copy(std::string_view(*number)), origin);
  }
  if (basic == Basic::kBoolean && (text == "true" || text == "1")) return Value::boolean(true, origin);
  if (basic == Basic::kBoolean && (text == "false" || text == "0")) return Value::boolean(false, origin);
  return Value::string(c.text, origin);
}

// Whether a reference that is not lazy leads to something that is there but has open parts.
bool waits_for_parts(const Node& node) {
  const Task* t = node.wait && node.ref ? node.wait->task : nullptr;
  return t && !t->lazy && t->blocked && t->blocked_until_done && t->blocked->settled;
}

enum class Marked : u8 { kNot, kMap, kList, kText, kEscaped, kReference };

Marked marked_kind(const Node& node) {
  static const QName kKind{Symbol(kKindNamespace), Symbol("kind")};
  for (const Attribute& a : node.attrs()) {
    if (a.name != kKind) continue;
    return a.value == "map"         ? Marked::kMap
           : a.value == "list"      ? Marked::kList
           : a.value == "text"      ? Marked::kText
           : a.value == "bytes"     ? Marked::kText
           : a.value == "escaped"   ? Marked::kEscaped
           : a.value == "reference" ? Marked::kReference
           : a.value == "link"      ? Marked::kReference
                                    : Marked::kNot;
  }
  return Marked::kNot;
}

// Text with what XML cannot hold in it, as write_tree.cpp wrote it.
std::string unescaped(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); i++) {
    u32 code = 0;
    if (text[i] != '\\' || i + 1 == text.size()) {
      out += text[i];
    } else if (text[i + 1] == 'u' && i + 5 < text.size() &&
               std::from_chars(text.data() + i + 2, text.data() + i + 6, code, 16).ptr == text.data() + i + 6) {
      out += static_cast<char>(code);
      i += 5;
    } else {
      out += text[++i];
    }
  }
  return out;
}

// Children by local name; a second name that differs only in its namespace is told apart by its prefix, or by its
// namespace in braces where it has none.
class MapMaker {
 public:
  explicit MapMaker(Session& session) : session_(session) {}

  void add(const Node& child, const Value& value) {
    Symbol key = plain_name(child.name().local);
    Entry* entry = find(key);
    if (entry && node_of(*entry)->name() != child.name()) {
      const Node& first = *node_of(*entry);
      if (first.inherited && !child.inherited) {
        session_.diagnostics
            .warning("CDL-OTHER-NAMESPACE", name_span(*child.source),
                     fmt::format("this is not the inherited property {}: their namespaces differ", first.name().text()))
            .relate(name_span(*first.source), "the inherited one, which stays as it is");
      }
      std::string_view prefix = child.source->prefix.text();
      key = Symbol(prefix.empty() ? fmt::format("{{{}}}{}", child.name().ns.text(), key.text())
                                  : fmt::format("{}:{}", prefix, key.text()));
      entry = find(key);
    }
    if (!entry) {
      index_.emplace(key.id(), entries_.size());
      entries_.push_back({key, Field::kPlain, value});
      nodes_.push_back(&child);
      return;
    }
    auto at = static_cast<std::size_t>(entry - entries_.data());
    auto& list = repeated_[at];
    if (list.empty()) list.push_back(entry->value);
    list.push_back(value);
  }

  Value build(Origin origin) {
    TreeBuilder builder = session_.builder();
    for (auto& [at, values] : repeated_) entries_[at].value = builder.list(values, values.front().origin());
    return builder.map(entries_, origin);
  }
  void add_text(const Value& text) {
    entries_.push_back({Symbol("#text"), Field::kPlain, text});
    nodes_.push_back(nullptr);
  }

 private:
  const Node* node_of(const Entry& entry) const { return nodes_[static_cast<std::size_t>(&entry - entries_.data())]; }

  Entry* find(Symbol key) {
    if (entries_.size() <= 8) {
      for (Entry& e : entries_) {
        if (e.key == key) return &e;
      }
      return nullptr;
    }
    auto it = index_.find(key.id());
    return it == index_.end() ? nullptr : &entries_[it->second];
  }

  Session& session_;
  std::vector<Entry> entries_;
  std::vector<const Node*> nodes_;  // of each entry the first
  std::unordered_map<u32, std::size_t> index_;
  std::unordered_map<std::size_t, std::vector<Value>> repeated_;
};

// What a property that is still open waits for.
const Node& awaited(const Node& node) {
  const Node* at = &node;
  for (int i = 0; i < 1000; i++) {
    const Node* next = nullptr;
    auto look = [&](const Task* t) {
      for (; t; t = t->next_variable) {
        if (!t->resolved && t->blocked && !next) next = t->blocked;
      }
    };
    if (at->lazy) return *at;
    if (at->wait && at->ref) look(at->wait->task);
    for (const Content& c : at->items()) {
      if (!c.node || next) continue;
      if (c.node->source->kind != ElementKind::kProperty) {
        look(c.node->wait ? c.node->wait->task : nullptr);
      } else if (!c.node->done) {
        next = c.node;
      }
    }
    if (!next) return *at;
    at = next;
  }
  return *at;
}

std::string quoted(std::string_view text) {
  char mark = text.find('\'') == std::string_view::npos ? '\'' : '"';
  return fmt::format("{}{}{}", mark, text, mark);
}

// The property whose value a reference will have, as a path: as far as it is known, and from there as it is written.
std::string awaited_path(const Task& task, const Node& owner) {
  const Task* t = &task;
  const Node* at = &owner;
  for (int i = 0; i < 1000; i++) {
    if (t->lazy || !t->blocked) return path_of(*at);
    at = t->blocked;
    if (!t->blocked_until_done) {
      std::span<const PathStep> steps = t->ref->path.steps;
      std::size_t next = steps.size();
      while (next > 0 && steps[next - 1].kind == PathStep::kName && steps[next - 1].name.local != at->name().local)
        next--;
      std::string path = path_of(*at);
      for (const PathStep& step : steps.subspan(next)) path += fmt::format("/{}", step.name.local.text());
      return path;
    }
    if (at->lazy || at->settled || !at->ref || !at->wait || !at->wait->task) break;
    t = at->wait->task;
  }
  return path_of(*at);
}

// Where a lazy reference will lead, as far as its path says: it is not followed before its time.
std::string written_path(const Reference& ref, const Node& place) {
  std::vector<std::string> steps;
  if (ref.rooted) {
    steps.push_back(fmt::format("@{}", ref.root.name.local.text()));
  } else {
    const Node* start = ref.path.absolute ? &place : place.parent;
    for (u32 i = ref.path.absolute ? ref.at->depth : 0; i > 0 && start; i--) start = start->parent;
    if (std::string from = start ? path_of(*start) : std::string(); !from.empty()) steps.push_back(from);
  }
  for (const PathStep& step : ref.path.steps) {
    if (step.kind == PathStep::kName) {
      steps.emplace_back(step.name.local.text());
    } else if (step.kind == PathStep::kUp) {
      steps.emplace_back("..");
    }
  }
  return fmt::format("{}", fmt::join(steps, "/"));
}

// A variable stands for a value, or for the property that will have it.
std::string variable_words(const Node& expression, std::string_view name) {
  const Task* t = expression.wait ? expression.wait->task : nullptr;
  while (t && t->ref->variable.text() != name) t = t->next_variable;
  if (!t) return fmt::format("${}", name);
  if (t->lazy) return written_path(*t->ref, *expression.place());
  if (!t->resolved) return awaited_path(*t, *expression.place());
  const Node& target = *t->target;
  if (target.content_size == 1 && !target.content[0].node && !target.secret)
    return quoted(trim(target.content[0].text));
  return path_of(target);
}

std::string expression_words(const Node& node) {
  std::string_view text = node.source->value_of;
  std::string out;
  for (std::size_t i = 0; i < text.size();) {
    std::size_t end = i + 1;
    if (text[i] == '\'' || text[i] == '"') {
      end = std::min(text.find(text[i], end), text.size() - 1) + 1;
    } else if (text[i] == '$') {
      end = std::min(text.find_first_of(" \t\r\n,()[]+*=<>!|/'\"", end), text.size());
      out += variable_words(node, text.substr(i + 1, end - i - 1));
      i = end;
      continue;
    }
    out += text.substr(i, end - i);
    i = end;
  }
  // What is more than a call or a variable stands in parentheses, so that it does not look like a path.
  bool alone = trim(text).ends_with(')') || trim(text).find_first_of(" +-*|=<>'\"/") == std::string_view::npos;
  return alone ? out : fmt::format("({})", out);
}

// What the value of an open property will be made of: the path of another one, or an expression over paths. Two
// properties that wait for the same are told apart by it.
std::string open_words(const Node& node) {
  if (node.lazy) return path_of(node);
  if (node.ref && node.wait && node.wait->task) return awaited_path(*node.wait->task, node);
  std::vector<std::string> pieces;
  for (const Content& c : node.items()) {
    if (!c.node) {
      if (!trim(c.text).empty()) pieces.push_back(quoted(c.text));
    } else if (c.node->source->kind == ElementKind::kExpression && !c.node->settled) {
      pieces.push_back(expression_words(*c.node));
    } else if (c.node->source->kind != ElementKind::kProperty && c.node->wait && c.node->wait->task) {
      pieces.push_back(awaited_path(*c.node->wait->task, node));
    } else {
      pieces.push_back(path_of(*c.node));
    }
  }
  return pieces.size() == 1 ? pieces[0] : fmt::format("concat({})", fmt::join(pieces, ", "));
}

bool is_lazy(const Node& node) {
  if (node.lazy) return true;
  for (const Content& c : node.items()) {
    if (!c.node || c.node->source->kind == ElementKind::kProperty || !c.node->wait) continue;
    for (const Task* t = c.node->wait->task; t; t = t->next_variable) {
      if (t->lazy) return true;
    }
  }
  return false;
}

}  // namespace

bool has_type(const Node& node, std::string_view local) { return node.typed && schema_type(node).text() == local; }

bool stays_reference(const Node& node) { return marked_kind(node) == Marked::kReference; }

// A name written as SQL/XML does, _xHHHH_ for what cannot stand in one, as it was.
Symbol plain_name(Symbol name) {
  std::string_view t = name.text();
  if (t.find("_x") == std::string_view::npos) return name;
  if (t == kEmptyName) return {};
  std::string out;
  for (std::size_t i = 0; i < t.size();) {
    u32 code = 0;
    std::size_t end = t.substr(i, 2) == "_x" ? t.find('_', i + 2) : std::string_view::npos;
    bool digits = end != std::string_view::npos && (end == i + 6 || end == i + 10) &&
                  std::from_chars(t.data() + i + 2, t.data() + end, code, 16).ptr == t.data() + end;
    if (digits && code < 0x110000 && (code < 0xD800 || code > 0xDFFF)) {
      utf8::append(out, code);
      i = end + 1;
    } else {
      out += t[i++];
    }
  }
  return Symbol(out);
}

Value to_value(Session& session, Node& node) {
  if (node.valued) return node.value;
  Budget::Level level(session.budget);
  Value value;
  if (!node.settled) {
    value = is_lazy(awaited(node))
                ? Value::lazy(session.arena.copy(std::string_view(node.secret ? path_of(node) : open_words(node))),
                              node.origin)
                      .with_tag(waits_for_parts(node) ? partly_open_tag() : Symbol())
                : Value::error("the reference cannot be resolved", Symbol("error"), node.origin);
  } else if (Marked marked = marked_kind(node); marked == Marked::kList) {
    std::vector<Value> items;
    for (const Content& c : node.items())
      if (c.node) items.push_back(to_value(session, *c.node));
    value = session.builder().list(items, node.origin);
  } else if (node.content_size == 0) {
    value = marked == Marked::kText                         ? Value::string("", node.origin)
            : node.source->parent && marked != Marked::kMap ? Value::null(node.origin)
                                                            : session.builder().map({}, node.origin);
  } else if (node.content_size == 1 && !node.content[0].node) {
    value = marked == Marked::kEscaped ? session.builder().string(unescaped(node.content[0].text), node.origin)
                                       : scalar(session, node, node.content[0], node.origin);
    if (node.secret) value = value.as_secret();
  } else {
    MapMaker map(session);
    std::string text;
    for (const Content& c : node.items()) {
      if (c.node) {
        map.add(*c.node, to_value(session, *c.node));
      } else {
        text += c.text;
      }
    }
    if (!text.empty()) map.add_text(session.builder().string(text, node.origin));
    value = map.build(node.origin);
  }
  if (node.done) {
    node.value = value;
    node.valued = true;
  }
  return value;
}

}  // namespace tutti::cdl
