#include <fmt/format.h>

#include <unordered_map>

#include "base/base64.h"
#include "base/libxml2.h"
#include "base/utf8.h"
#include "base/xml_tags.h"
#include "format/xml.h"

namespace tutti {
namespace {

constexpr u32 kDeepest = 2000;

// Elements as libxml2 reports them, put together by ourselves: no document tree, and no recursion.
class XmlReader {
 public:
  XmlReader(Session& session, const Source& source)
      : session_(session), source_(source), text_(source.text), builder_(session.arena) {}

  std::optional<Value> read() {
    if (std::size_t bad = utf8::first_invalid(text_); bad != std::string_view::npos) {
      session_.diagnostics
          .error("TEXT-UTF8", source_.span(bad, bad + 1),
                 fmt::format("byte 0x{:02x} is not UTF-8", static_cast<u8>(text_[bad])))
          .note("XML is read in UTF-8 only");
      return std::nullopt;
    }
    xmlSAXHandler handler{};
    handler.initialized = XML_SAX2_MAGIC;
    handler.startElementNs = [](void* self, const xmlChar* local, const xmlChar* prefix, const xmlChar* uri,
                                int namespaces, const xmlChar** declared, int attributes, int, const xmlChar** values) {
      static_cast<XmlReader*>(self)->guard(
          [&](XmlReader& r) { r.start(local, prefix, uri, namespaces, declared, attributes, values); });
    };
    handler.endElementNs = [](void* self, const xmlChar*, const xmlChar*, const xmlChar*) {
      static_cast<XmlReader*>(self)->guard([](XmlReader& r) { r.end(); });
    };
    handler.characters = handler.cdataBlock = [](void* self, const xmlChar* s, int n) {
      static_cast<XmlReader*>(self)->guard([&](XmlReader& r) {
        r.characters({reinterpret_cast<const char*>(s), static_cast<std::size_t>(n)});
      });
    };
    handler.internalSubset = [](void* self, const xmlChar*, const xmlChar*, const xmlChar*) {
      static_cast<XmlReader*>(self)->guard([](XmlReader& r) { r.refuse_doctype(); });
    };
    handler.serror = [](void* self, xmlErrorPtr e) {
      static_cast<XmlReader*>(self)->guard([&](XmlReader& r) { r.report(*e); });
    };
    check_attribute_counts(text_, source_.first.at);
    context_ = libxml2().xmlCreatePushParserCtxt(&handler, this, nullptr, 0, nullptr);
    if (context_ == nullptr) throw std::bad_alloc();
    // HUGE takes away libxml2's own limits, for which ours stand: there are no entities to multiply, and depth is
    // counted.
    libxml2().xmlCtxtUseOptions(context_, XML_PARSE_NONET | XML_PARSE_NOENT | XML_PARSE_BIG_LINES | XML_PARSE_HUGE);
    // In pieces, so that a place can be told from how much was used, and a hostile document ends early.
    constexpr std::size_t kPiece = 1 << 20;
    for (std::size_t at = 0; at < text_.size() && !stopped_; at += kPiece) {
      std::size_t n = std::min(kPiece, text_.size() - at);
      libxml2().xmlParseChunk(context_, text_.data() + at, static_cast<int>(n), 0);
    }
    if (!stopped_) libxml2().xmlParseChunk(context_, nullptr, 0, 1);
    libxml2().xmlFreeParserCtxt(context_);
    if (thrown_) std::rethrow_exception(thrown_);
    if (!failed_ && !root_) error(text_.size(), "XML-SYNTAX", "there is no element");
    return failed_ ? std::nullopt : root_;
  }

 private:
  struct Frame {
    std::size_t at;
    std::string name;
    std::string text;
    std::string type, of;
    std::string key;  // of a typed document: what the entry is called
    bool typed = false;
    std::vector<Entry> attributes;
    std::vector<Entry> children;  // in order; the same key may be there several times
  };

  // Nothing may be thrown through libxml2.
  template <class F>
  void guard(F f) {
    if (stopped_) return;
    try {
      f(*this);
    } catch (...) {
      thrown_ = std::current_exception();
      stop();
    }
  }

  void stop() {
    stopped_ = true;
    libxml2().xmlStopParser(context_);
  }

  // Where the tag that was just read begins: its `<` is the last one before the place reached.
  std::size_t tag_start() const {
    long used = libxml2().xmlByteConsumed(context_);
    std::size_t end = used < 0 ? last_ : std::min(static_cast<std::size_t>(used), text_.size());
    std::size_t open = end == 0 ? std::string_view::npos : text_.rfind('<', end - 1);
    return open == std::string_view::npos ? 0 : open;
  }

  void error(std::size_t at, std::string code, std::string message) {
    failed_ = true;
    session_.diagnostics.error(std::move(code), source_.pos(std::min(at, text_.size())), std::move(message));
  }

  void report(const xmlError& e) {
    std::string message = e.message == nullptr ? "this is not XML" : e.message;
    while (!message.empty() && (message.back() == '\n' || message.back() == ' ')) message.pop_back();
    if (e.level == XML_ERR_WARNING) return;
    if (e.code == XML_ERR_DOCUMENT_EMPTY || blank(text_)) message = "there is no element";
    long used = libxml2().xmlByteConsumed(context_);
    error(used < 0 ? last_ : static_cast<std::size_t>(used), "XML-SYNTAX", message);
    if (session_.diagnostics.errors() > 50) stop();
  }

  void refuse_doctype() {
    error(tag_start(), "XML-DOCTYPE", "a document type is not accepted");
    stop();
  }

  static std::string_view view(const xmlChar* s) {
    return s == nullptr ? std::string_view{} : reinterpret_cast<const char*>(s);
  }

  static std::string qualified(const xmlChar* prefix, const xmlChar* local) {
    return prefix == nullptr ? std::string(view(local)) : fmt::format("{}:{}", view(prefix), view(local));
  }

  void start(const xmlChar* local, const xmlChar* prefix, const xmlChar* uri, int namespaces, const xmlChar** declared,
             int attributes, const xmlChar** values) {
    session_.budget.node();
    std::size_t at = tag_start();
    last_ = at;
    u32 deepest = std::min(session_.budget.limits().depth, kDeepest);
    if (frames_.size() >= deepest) {
      throw LimitError("LIMIT-DEPTH", fmt::format("nested deeper than {} levels", deepest), source_.pos(at).at);
    }
    Frame frame;
    frame.at = at;
    frame.name = qualified(prefix, local);
    frame.typed = frames_.empty() ? view(uri) == kXmlDataNamespace : frames_.back().typed;
    frame.key = frame.name;
    Pos place = source_.pos(at);
    if (!frame.typed) {
      for (int i = 0; i < namespaces; i++) {
        std::string name = declared[2 * i] == nullptr ? "@xmlns" : fmt::format("@xmlns:{}", view(declared[2 * i]));
        frame.attributes.push_back({Symbol(name), Field::kPlain, builder_.string(view(declared[2 * i + 1]), place)});
      }
    }
    for (int i = 0; i < attributes; i++) {
      const xmlChar** a = values + static_cast<std::ptrdiff_t>(5) * i;
      std::string_view value{reinterpret_cast<const char*>(a[3]), static_cast<std::size_t>(a[4] - a[3])};
      std::string name = qualified(a[1], a[0]);
      if (frame.typed) {
        if (name == "type") frame.type = value;
        if (name == "of") frame.of = value;
        if (name == "key") frame.key = value;
        if (name == "key64") frame.key = base64_decode(value).value_or(std::string{});
        continue;
      }
      session_.budget.node();
      frame.attributes.push_back({Symbol("@" + name), Field::kPlain, builder_.string(value, place)});
    }
    frames_.push_back(std::move(frame));
  }

  void characters(std::string_view s) {
    if (!frames_.empty()) frames_.back().text += s;
  }

  void end() {
    Frame frame = std::move(frames_.back());
    frames_.pop_back();
    Value value = frame.typed ? typed(frame) : generic(frame);
    if (!frames_.empty()) {
      frames_.back().children.push_back({Symbol(frame.key), Field::kPlain, value});
      return;
    }
    if (frame.typed) {
      root_ = value;
    } else {
      Entry entry{Symbol(frame.key), Field::kPlain, value};
      root_ = builder_.map({&entry, 1}, value.origin());
    }
  }

  static bool blank(std::string_view s) { return s.find_first_not_of(" \t\r\n") == std::string_view::npos; }

  static std::string_view trimmed(std::string_view s) {
    std::size_t from = s.find_first_not_of(" \t\r\n");
    if (from == std::string_view::npos) return {};
    return s.substr(from, s.find_last_not_of(" \t\r\n") - from + 1);
  }

  Value generic(Frame& frame) {
    Origin origin = source_.pos(frame.at);
    if (frame.attributes.empty() && frame.children.empty()) return builder_.string(frame.text, origin);
    std::vector<Entry> entries = std::move(frame.attributes);
    // Elements of one name become a list at the place of the first.
    std::unordered_map<u32, std::size_t> where;
    std::vector<std::vector<Value>> groups;
    std::size_t first_child = entries.size();
    for (const Entry& child : frame.children) {
      auto [it, fresh] = where.emplace(child.key.id(), groups.size());
      if (fresh) {
        groups.emplace_back();
        entries.push_back({child.key, Field::kPlain, {}});
      }
      groups[it->second].push_back(child.value);
    }
    for (std::size_t i = 0; i < groups.size(); i++) {
      entries[first_child + i].value =
          groups[i].size() == 1 ? groups[i][0] : builder_.list(groups[i], groups[i][0].origin());
    }
    if (!blank(frame.text))
      entries.push_back({Symbol("#text"), Field::kPlain, builder_.string(trimmed(frame.text), origin)});
    return builder_.map(entries, origin);
  }

  Value typed(Frame& frame) {
    Origin origin = source_.pos(frame.at);
    const std::string& type = frame.type;
    std::string_view text = frame.text;
    if (type == "list") {
      std::vector<Value> items;
      for (const Entry& child : frame.children) items.push_back(child.value);
      return builder_.list(items, origin);
    }
    if (type == "map" || !frame.children.empty()) {
      std::unordered_map<u32, bool> seen;
      for (const Entry& child : frame.children) {
        if (!seen.emplace(child.key.id(), true).second) {
          error(frame.at, "XML-DUPLICATE-KEY", fmt::format("the key \"{}\" is there twice", child.key.text()));
        }
      }
      return builder_.map(frame.children, origin);
    }
    if (type.empty()) return builder_.string(text, origin);
    if (type == "null") return Value::null(origin);
    if (type == "boolean" && (text == "true" || text == "false")) return Value::boolean(text == "true", origin);
    if ((type == "integer" || type == "decimal") && is_number(text)) return number(text, origin);
    if (type == "bytes" || type == "string64") {
      if (std::optional<std::string> bytes = base64_decode(text)) {
        std::string_view kept = session_.arena.copy(std::string_view(*bytes));
        if (type == "bytes") return Value::bytes(kept, origin);
        if (utf8::first_invalid(kept) == std::string_view::npos) return Value::string(kept, origin);
      }
    }
    std::string_view kept = session_.arena.copy(text);
    if (type == "reference") return Value::reference(kept, origin);
    if (type == "lazy") return Value::lazy(kept, origin);
    if (type == "open") return Value::open(kept, origin);
    if (type == "error") return Value::error(kept, Symbol("error"), origin);
    if (type == "resource") return Value::resource(Symbol(frame.of), kept, origin);
    error(frame.at, "XML-TYPE", fmt::format("`{}` is no {}", text.substr(0, 80), type));
    return {};
  }

  // XML Schema takes leading zeros, which no other format writes.
  Value number(std::string_view text, Origin origin) {
    std::size_t digits = text.starts_with('-') ? 1 : 0, zeros = digits;
    while (zeros + 1 < text.size() && text[zeros] == '0' && text[zeros + 1] >= '0' && text[zeros + 1] <= '9') zeros++;
    if (zeros == digits) return builder_.number(text, origin);
    return builder_.number(std::string(text.substr(0, digits)).append(text.substr(zeros)), origin);
  }

  static bool is_number(std::string_view s) {
    std::size_t i = 0;
    auto digits = [&] {
      std::size_t from = i;
      while (i < s.size() && s[i] >= '0' && s[i] <= '9') i++;
      return i > from;
    };
    if (s.starts_with('-')) i++;
    if (!digits()) return false;
    if (i < s.size() && s[i] == '.') {
      i++;
      if (!digits()) return false;
    }
    if (i < s.size() && (s[i] == 'e' || s[i] == 'E')) {
      i++;
      if (i < s.size() && (s[i] == '+' || s[i] == '-')) i++;
      if (!digits()) return false;
    }
    return i == s.size();
  }

  Session& session_;
  const Source& source_;
  std::string_view text_;
  TreeBuilder builder_;
  xmlParserCtxtPtr context_ = nullptr;
  bool failed_ = false, stopped_ = false;
  std::exception_ptr thrown_;
  std::size_t last_ = 0;
  std::vector<Frame> frames_;
  std::optional<Value> root_;
};

}  // namespace

std::optional<Value> read_xml(Session& session, const Source& source) { return XmlReader(session, source).read(); }

}  // namespace tutti
