#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "base/base64.h"
#include "base/near.h"
#include "base/utf8.h"
#include "format/write.h"
#include "format/yaml.h"
#include "format/yaml/parser.h"
#include "tree/secret_mark.h"

namespace tutti {
namespace {

constexpr u32 kDeepest = 1000;  // of lists and maps within each other: the parser calls itself for each

// What a document means, from what it consists of.
class YamlReader : private yaml::Handler {
 public:
  YamlReader(Session& session, const Source& source)
      : session_(session),
        source_(source),
        builder_(session.arena),
        skipped_(source.text.starts_with("\xEF\xBB\xBF") ? 3 : 0),
        text_(std::string_view(source.text).substr(skipped_)) {}

  std::optional<Value> stream() {
    if (std::size_t bad = utf8::first_invalid(source_.text); bad != std::string_view::npos) {
      session_.diagnostics.error("TEXT-UTF8", source_.span(bad, bad + 1),
                                 fmt::format("byte 0x{:02x} is not UTF-8", static_cast<u8>(source_.text[bad])));
      return std::nullopt;
    }
    if (auto problem = yaml::Parser(text_, *this).parse()) return syntax_error(*problem);
    if (failed_) return std::nullopt;
    if (documents_.empty()) return Value::null(source_.first);
    return documents_.size() == 1 ? documents_[0] : documents_of(builder_, documents_, source_.first);
  }

 private:
  // A value with the number of values it has when written out, aliases followed.
  struct Node {
    Value value;
    u64 size = 1;
    bool failed = false;  // stands for something that has been reported
  };
  struct Frame {
    bool map;
    bool key_next;  // of a map: the next node is a key
    bool merge = false;
    std::size_t base;
    Pos at;
    std::string anchor;
    Symbol tag;
    u64 size = 1;
    std::vector<Value> merged;  // of `<<`, in order
  };
  struct Anchor {
    Node node;
    Pos at;
    bool open = true;
  };

  void on(const yaml::Item& e) override {
    switch (e.event) {
      case yaml::Event::kDocumentStart: anchors_.clear(); break;
      case yaml::Event::kDocumentEnd: documents_.push_back(root_.value); break;
      case yaml::Event::kAlias: alias(e); break;
      case yaml::Event::kScalar: scalar(e); break;
      case yaml::Event::kListStart: open(e, false); break;
      case yaml::Event::kMapStart: open(e, true); break;
      case yaml::Event::kListEnd:
      case yaml::Event::kMapEnd: close(); break;
    }
  }

  Pos pos(std::size_t offset) const { return source_.pos(skipped_ + offset); }
  Span span(const yaml::Item& e) const { return {pos(e.start), pos(e.end)}; }

  Diagnostic& error(std::string code, Span where, std::string message) {
    failed_ = true;
    return session_.diagnostics.error(std::move(code), where, std::move(message));
  }

  std::nullopt_t syntax_error(const yaml::Problem& problem) {
    Diagnostic& d = error("YAML-SYNTAX", pos(std::min(problem.at, text_.size())), std::string(problem.what));
    if (problem.opened != std::string_view::npos) d.relate(pos(problem.opened), "opened here");
    if (!problem.help.empty()) d.suggest(std::string(problem.help));
    return std::nullopt;
  }

  static Symbol own_tag(std::string_view tag) {
    constexpr std::string_view kYaml = "tag:yaml.org,2002:";
    if (tag.empty() || tag == "!" || tag.starts_with(kYaml)) return {};
    return Symbol(tag);
  }

  // `!secret` is a mark of ours; others are kept as they are.
  Value tagged(const Value& value, Symbol tag) const {
    return (tag.text() == "!secret" ? secret_throughout(value, builder_) : value).with_tag(tag);
  }

  void scalar(const yaml::Item& e) {
    session_.budget.node();
    std::string_view raw = e.value, tag = e.tag;
    Pos at = pos(e.start);
    bool plain = e.plain;
    if (!frames_.empty() && frames_.back().map && frames_.back().key_next) {
      // A key is its text, whatever it would mean as a value.
      if (plain && raw == "<<" && tag.empty()) {
        frames_.back().merge = true;
        frames_.back().key_next = false;
      } else {
        key(raw, at, span(e));
      }
      if (!e.anchor.empty()) anchors_[std::string(e.anchor)] = {{builder_.string(raw, at)}, at, false};
      return;
    }
    Value value = scalar_value(raw, tag, plain, at, span(e));
    Symbol own = own_tag(tag);
    if (!own.empty()) value = tagged(value, own);
    if (!e.anchor.empty()) anchors_[std::string(e.anchor)] = {{value}, at, false};
    put({value}, span(e));
  }

  // Text that is in the source as it is need not be copied.
  std::string_view kept(std::string_view raw, Pos at) {
    std::size_t offset = source_.offset(at);
    if (std::string_view(source_.text).substr(offset).starts_with(raw))
      return std::string_view(source_.text).substr(offset, raw.size());
    return session_.arena.copy(raw);
  }

  Value scalar_value(std::string_view raw, std::string_view tag, bool plain, Pos at, Span where) {
    constexpr std::string_view kYaml = "tag:yaml.org,2002:";
    if (tag.starts_with(kYaml)) {
      std::string_view type = tag.substr(kYaml.size());
      if (type == "str") return Value::string(kept(raw, at), at);
      if (type == "binary") {
        if (std::optional<std::string> bytes = base64_decode(raw)) {
          return Value::bytes(session_.arena.copy(std::string_view(*bytes)), at);
        }
        error("YAML-TAG", where, "this is not base64, as !!binary wants");
        return {};
      }
      if (type == "null" || type == "bool" || type == "int" || type == "float") {
        std::optional<Value> value = yaml_plain(kept(raw, at), builder_, at);
        bool fits =
            value && (type == "null"   ? value->is(Kind::kNull)
                      : type == "bool" ? value->is(Kind::kBool)
                      : type == "int"  ? value->is(Kind::kInt)
                                      : value->is(Kind::kInt) || value->is(Kind::kDecimal) || value->is(Kind::kString));
        if (!fits) {
          error("YAML-TAG", where, fmt::format("`{}` is no {}", raw.substr(0, 80), type));
          return {};
        }
        if (type == "float" && value->is(Kind::kInt)) return builder_.number(value->number_text() + ".0", at);
        return *value;
      }
      if (type == "timestamp" || type == "value") return Value::string(kept(raw, at), at).with_tag(Symbol(type));
      error("YAML-TAG", where, fmt::format("the tag !!{} is not known for a scalar", type));
      return {};
    }
    std::string_view text = kept(raw, at);
    if (!plain || tag == "!") return Value::string(text, at);
    if (std::optional<Value> value = yaml_plain(text, builder_, at)) return *value;
    return Value::string(text, at);
  }

  void alias(const yaml::Item& e) {
    std::string name(e.value);
    auto it = anchors_.find(name);
    if (it == anchors_.end()) {
      error("YAML-ALIAS", span(e), fmt::format("there is no anchor `{}` before this", name))
          .did_you_mean(nearest_anchor(name));
      put({.value = Value::null(pos(e.start)), .failed = true}, span(e));
      return;
    }
    if (it->second.open) {
      error("YAML-ALIAS", span(e), fmt::format("`*{}` is inside what it names", name))
          .relate(it->second.at, "named here");
      put({.value = Value::null(pos(e.start)), .failed = true}, span(e));
      return;
    }
    Node node = it->second.node;
    expanded_ += node.size;
    written_++;
    // Sharing makes a bomb of aliases cheap to hold, but nobody could write it out: refused when far more than was
    // written.
    if (expanded_ > 1'000'000 && expanded_ / 100 > written_) {
      throw LimitError("YAML-ALIAS-BOMB",
                       fmt::format("aliases multiply this document to more than {} values", expanded_),
                       pos(e.start).at);
    }
    session_.budget.node(node.size);
    if (!frames_.empty() && frames_.back().map && frames_.back().key_next) {
      if (node.value.is(Kind::kString)) {
        key(node.value.text(), pos(e.start), span(e));
      } else {
        bad_key(span(e), "an alias of something else");
      }
      return;
    }
    node.value = node.value.with_origin(
        session_.origins.add(How::kReferenced, pos(e.start), node.value.origin(), {}, Symbol("*" + name)));
    put(node, span(e));
  }

  std::string_view nearest_anchor(std::string_view name) {
    std::vector<std::string_view> names;
    for (const auto& [n, a] : anchors_) names.push_back(n);
    std::sort(names.begin(), names.end());
    return session_.arena.copy(nearest(name, names));
  }

  void open(const yaml::Item& e, bool map) {
    session_.budget.node();
    u32 deepest = std::min(session_.budget.limits().depth, kDeepest);
    if (frames_.size() >= deepest) {
      throw LimitError("LIMIT-DEPTH", fmt::format("nested deeper than {} levels", deepest), pos(e.start).at);
    }
    if (!frames_.empty() && frames_.back().map && frames_.back().key_next) {
      bad_key(span(e), map ? "a map" : "a list");
    }
    Frame frame{
        map, map, false, map ? entries_.size() : items_.size(), pos(e.start), std::string(e.anchor), own_tag(e.tag),
        1,   {}};
    if (!e.anchor.empty()) anchors_[frame.anchor] = {{}, frame.at, true};
    frames_.push_back(std::move(frame));
  }

  void close() {
    Frame frame = std::move(frames_.back());
    frames_.pop_back();
    Node node;
    node.size = frame.size;
    if (frame.map) {
      if (!frame.merged.empty()) merge(frame);
      node.value = builder_.map(std::span(entries_).subspan(frame.base), frame.at);
      entries_.resize(frame.base);
      key_at_.resize(frame.base);
    } else {
      node.value = builder_.list(std::span(items_).subspan(frame.base), frame.at);
      items_.resize(frame.base);
    }
    if (!frame.tag.empty()) node.value = tagged(node.value, frame.tag);
    if (!frame.anchor.empty()) anchors_[frame.anchor] = {node, frame.at, false};
    put(node, frame.at);
  }

  // Keys written here win over merged ones, and what is merged first over what is merged later.
  void merge(const Frame& frame) {
    constexpr std::size_t kMerged = SIZE_MAX;
    std::unordered_map<u32, std::size_t> there;
    for (std::size_t i = frame.base; i < entries_.size(); i++) there[entries_[i].key.id()] = i;
    for (const Value& from : frame.merged) {
      for (const Entry& e : from.entries()) {
        Origin inherited = session_.origins.add(How::kInherited, session_.origins.nearest(from.origin()),
                                                e.value.origin(), {}, merge_name(from));
        auto [it, fresh] = there.emplace(e.key.id(), kMerged);
        if (fresh) {
          entries_.push_back({e.key, e.field, e.value.with_origin(inherited)});
          key_at_.push_back({});
        } else if (it->second != kMerged) {
          Value& own = entries_[it->second].value;
          Origin over =
              session_.origins.add(How::kOverridden, session_.origins.nearest(own.origin()), own.origin(), inherited);
          own = own.with_origin(over);
          it->second = kMerged;
        }
      }
    }
  }

  Symbol merge_name(const Value& from) const {
    return from.origin().is_step() ? session_.origins[from.origin()].name : Symbol{};
  }

  // A finished node goes into the list or map it stands in.
  void put(const Node& node, Span where) {
    written_++;
    if (frames_.empty()) {
      root_ = node;
      return;
    }
    Frame& top = frames_.back();
    top.size += node.size;
    if (!top.map) {
      items_.push_back(node.value);
      return;
    }
    if (top.key_next) {  // a list or map used as key, reported when it began
      top.key_next = false;
      entries_.push_back({Symbol{}, Field::kPlain, {}});
      key_at_.push_back(where.begin);
      return;
    }
    top.key_next = true;
    if (!top.merge) {
      entries_.back().value = node.value;
      return;
    }
    top.merge = false;
    if (node.value.is(Kind::kMap)) {
      top.merged.push_back(node.value);
    } else if (node.value.is(Kind::kList) && all_maps(node.value)) {
      top.merged.insert(top.merged.end(), node.value.items().begin(), node.value.items().end());
    } else if (!node.failed) {
      error("YAML-MERGE", where, "`<<` takes a map or a list of maps");
    }
  }

  static bool all_maps(const Value& list) {
    for (const Value& item : list.items()) {
      if (!item.is(Kind::kMap)) return false;
    }
    return true;
  }

  void bad_key(Span where, std::string_view what) {
    error("YAML-KEY", where, fmt::format("a key must be text, and this is {}", what))
        .suggest("make it a value: - {key: ..., value: ...}");
  }

  void key(std::string_view name, Pos at, Span where) {
    Frame& top = frames_.back();
    Symbol symbol(name);
    // Repeated keys: small maps are scanned, in large ones each name remembers where it was met last.
    std::size_t n = entries_.size() - top.base;
    if (n < 16) {
      for (std::size_t i = top.base; i < entries_.size(); i++) {
        if (entries_[i].key != symbol) continue;
        repeated(symbol, where, key_at_[i]);
        break;
      }
    } else {
      auto& index = large_[frames_.size()];
      if (index.base != top.at.at) {
        index.base = top.at.at;
        index.keys.clear();
        for (std::size_t i = top.base; i < entries_.size(); i++) index.keys.emplace(entries_[i].key.id(), key_at_[i]);
      }
      auto [it, fresh] = index.keys.emplace(symbol.id(), at);
      if (!fresh) repeated(symbol, where, it->second);
    }
    entries_.push_back({symbol, Field::kPlain, {}});
    key_at_.push_back(at);
    top.key_next = false;
  }

  void repeated(Symbol name, Span where, Pos first) {
    error("YAML-DUPLICATE-KEY", where, fmt::format("the key \"{}\" is there twice", name.text()))
        .relate(first, "first here");
  }

  struct LargeMap {
    u32 base = 0;  // place of the map it is about
    std::unordered_map<u32, Pos> keys;
  };

  Session& session_;
  const Source& source_;
  TreeBuilder builder_;
  std::size_t skipped_;
  std::string_view text_;
  bool failed_ = false;
  std::vector<Value> documents_;
  Node root_;
  std::vector<Frame> frames_;
  std::vector<Value> items_;
  std::vector<Entry> entries_;
  std::vector<Pos> key_at_;
  std::unordered_map<std::size_t, LargeMap> large_;  // by depth
  std::unordered_map<std::string, Anchor> anchors_;
  u64 expanded_ = 0, written_ = 0;
};

}  // namespace

std::optional<Value> read_yaml(Session& session, const Source& source) { return YamlReader(session, source).stream(); }

}  // namespace tutti
