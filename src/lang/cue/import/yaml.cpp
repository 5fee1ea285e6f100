// YAML to syntax. Places, line breaks and comments are worked out from the text.
#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <map>
#include <set>

#include "base/utf8.h"
#include "format/yaml_events.h"
#include "lang/cue/builtin/encodings.h"
#include "lang/cue/format/literal.h"
#include "lang/cue/import/decode.h"
#include "lang/cue/import/yaml_scalar.h"

namespace tutti::cue {

namespace {

using namespace ast;

constexpr int kMaxAliasNodes = 50'000;
constexpr int kDeepestYaml = 5'000;

struct YamlComments {
  std::vector<std::string> head;   // above
  std::string trail;               // behind
  std::vector<std::string> below;  // of the last entry of a block; they stand above it, since nothing can follow it
  std::vector<std::string> foot;
};

// Small, since there are as many as values: documents may be large, and all of one is read before any of it is made.
struct YamlNode {
  enum Kind : u8 { kScalar, kMap, kList, kAlias } kind = kScalar;
  bool plain = true, quoted = false, flow = false;
  u32 line = 0, end_line = 0;  // from 0
  u32 at = 0, end = 0;         // byte offsets
  std::string_view tag, value;
  std::span<YamlNode*> children;
  YamlNode* target = nullptr;  // of an alias
  YamlComments* comments = nullptr;
};

class YamlReader {
 public:
  YamlReader(const Source& source, Arena& arena, Decoded& out)
      : source_(source), text_(source.text), arena_(arena), out_(out), events_(text_, YAML_ANY_ENCODING) {
    lines_.push_back(0);
    for (std::size_t i = text_.find('\n'); i != std::string_view::npos; i = text_.find('\n', i + 1))
      lines_.push_back(i + 1);
    u8 all = 0;
    for (char c : text_) all |= static_cast<u8>(c);
    ascii_ = all < 0x80;
  }

  void run() {
    bool any = false;
    YamlEvent e;
    while (next(e) && e.type != YAML_STREAM_END_EVENT) {
      if (e.type != YAML_DOCUMENT_START_EVENT) continue;
      any = true;
      anchors_.clear();
      YamlNode* n = next(e) ? node(e, 0) : nullptr;
      if (!n) break;
      documents_.push_back(n);
    }
    if (!out_.ok()) return;
    if (!any) {
      // An empty stream: anything, null unless something else is said.
      TokenPos pos{source_.pos(0), Rel::kNone, false};
      auto* null = arena_.make<Lit>(Tok::kNull, pos, "null");
      auto* marked = arena_.make<Unary>(pos, Tok::kMul, null);
      out_.documents.push_back(arena_.make<Binary>(marked, pos, Tok::kOr, make_ident(arena_, "_", pos)));
      return;
    }
    find_comments();
    for (YamlNode* d : documents_) {
      last_ = -1;
      pending_.clear();
      if (d->comments) pending_.swap(d->comments->head);
      Node* n = extract(*d, 0);
      if (!n || !out_.ok()) return;
      out_.documents.push_back(n);
    }
  }

 private:
  bool next(YamlEvent& e) {
    if (events_.next(e)) return true;
    const yaml_parser_t& parser = events_.parser();
    std::size_t line = parser.problem_mark.line + 1;
    std::string what = parser.problem ? parser.problem : "cannot be read";
    if (parser.context && parser.problem_mark.line == 0 && parser.context_mark.line > 0)
      line = parser.context_mark.line + 1;
    fail(fmt::format("{}:{}: {}", source_.name, line, what));
    return false;
  }

  void fail(std::string message) {
    if (out_.ok()) out_.errors.push_back({{}, std::move(message)});
  }
  void fail(const YamlNode& n, std::string message) {
    fail(fmt::format("{}:{}: {}", source_.name, n.line + 1, message));
  }

  std::size_t line_end(std::size_t line) const {
    return line + 1 < lines_.size() ? lines_[line + 1] - 1 : text_.size();
  }

  std::size_t offset(const yaml_mark_t& m) const {
    if (m.line >= lines_.size()) return text_.size();
    std::size_t at = lines_[m.line];
    if (ascii_) return std::min(at + m.column, line_end(m.line));
    for (std::size_t i = 0; i < m.column && at < text_.size() && text_[at] != '\n'; ++i) utf8::decode(text_, at);
    return at;
  }

  std::string_view short_tag(const char* t) {
    if (!t) return {};
    std::string_view s = t;
    std::string_view prefix = "tag:yaml.org,2002:";
    return nodes_.copy(s.starts_with(prefix) ? s.substr(prefix.size()) : s);
  }

  // The text of a scalar, which mostly is as it stands in the source.
  std::string_view scalar_text(const YamlNode& n, std::string_view value) {
    std::size_t from = n.at + (n.quoted ? 1 : 0);
    std::string_view here = text_.substr(std::min(from, text_.size()), value.size());
    return here == value ? here : nodes_.copy(value);
  }

  YamlComments& comments(YamlNode* n) {
    if (!n->comments) n->comments = &comments_.emplace_back();
    return *n->comments;
  }

  // `e` is its first event, and its last one in the end.
  YamlNode* node(YamlEvent& e, int depth) {
    auto* n = nodes_.make<YamlNode>();
    n->line = static_cast<u32>(e.start.line);
    n->end_line = static_cast<u32>(e.end.line);
    n->at = static_cast<u32>(offset(e.start));
    n->end = static_cast<u32>(offset(e.end));
    n->tag = short_tag(e.tag);
    if (e.anchor) anchors_[e.anchor] = n;
    if (depth > kDeepestYaml) {
      fail(*n, "nested too deeply");
      return nullptr;
    }
    switch (e.type) {
      case YAML_ALIAS_EVENT: {
        n->kind = YamlNode::kAlias;
        n->value = nodes_.copy(e.value);
        auto it = anchors_.find(std::string(n->value));
        if (it == anchors_.end()) {
          fail(fmt::format("{}: unknown anchor '{}' referenced", source_.name, n->value));
          return nullptr;
        }
        n->target = it->second;
        return n;
      }
      case YAML_SCALAR_EVENT:
        n->plain = e.style == YAML_PLAIN_SCALAR_STYLE;
        n->quoted = e.style == YAML_SINGLE_QUOTED_SCALAR_STYLE || e.style == YAML_DOUBLE_QUOTED_SCALAR_STYLE;
        n->value = scalar_text(*n, e.value);
        return n;
      case YAML_SEQUENCE_START_EVENT:
      case YAML_MAPPING_START_EVENT: {
        n->kind = e.type == YAML_MAPPING_START_EVENT ? YamlNode::kMap : YamlNode::kList;
        n->flow = e.flow;
        std::size_t first = open_.size();
        for (;;) {
          if (!next(e)) return nullptr;
          if (e.type == YAML_SEQUENCE_END_EVENT || e.type == YAML_MAPPING_END_EVENT) {
            n->end = static_cast<u32>(offset(e.end));
            n->end_line = static_cast<u32>(e.end.line);
            n->children = nodes_.copy(std::span<YamlNode* const>(open_).subspan(first));
            open_.resize(first);
            return n;
          }
          YamlNode* child = node(e, depth + 1);
          if (!child) return nullptr;
          open_.push_back(child);
        }
      }
      default: return nullptr;
    }
  }

  // ---- comments

  struct Place {
    YamlNode* node;  // a key, an item or a document
    YamlNode* value;
  };

  void starts(YamlNode& n, std::multimap<std::size_t, YamlNode*>& out, bool top) {
    if (top) out.emplace(n.line, &n);
    if (n.kind == YamlNode::kMap)
      for (std::size_t i = 0; i + 1 < n.children.size(); i += 2) {
        out.emplace(n.children[i]->line, n.children[i]);
        starts(*n.children[i + 1], out, false);
      }
    else if (n.kind == YamlNode::kList)
      for (YamlNode* c : n.children) {
        std::size_t dash = n.flow ? c->line : dash_line(*c);
        out.emplace(dash, c);
        if (dash != c->line && c->children.empty()) out.emplace(c->line, c);
        starts(*c, out, false);
      }
  }

  // The line of the `-` of an item, which may stand alone, or with a comment, above the item.
  std::size_t dash_line(const YamlNode& item) const {
    std::size_t from = lines_[item.line];
    if (text_.substr(from, item.at - from).find_first_not_of(" \t\r") != std::string_view::npos) return item.line;
    for (std::size_t line = item.line; line-- > 0;) {
      std::string_view s = content_of(line);
      if (s.empty() || s[0] == '#') continue;
      return s.find_first_not_of("- ") == std::string_view::npos || s.starts_with("- #") ? line : item.line;
    }
    return item.line;
  }
  // A line without the white space around it.
  std::string_view content_of(std::size_t line) const {
    std::string_view s = text_.substr(lines_[line], line_end(line) - lines_[line]);
    std::size_t first = s.find_first_not_of(" \t\r\n"), last = s.find_last_not_of(" \t\r\n");
    return first == std::string_view::npos ? std::string_view() : s.substr(first, last - first + 1);
  }

  void ends(YamlNode& n, std::map<std::size_t, YamlNode*>& out) {
    if (n.kind == YamlNode::kScalar || n.kind == YamlNode::kAlias || n.flow) {
      if (!(n.kind == YamlNode::kScalar && !n.plain && !n.quoted))
        out[n.kind == YamlNode::kScalar || n.flow || n.kind == YamlNode::kAlias ? n.end_line : n.line] = &n;
      return;
    }
    for (std::size_t i = 0; i < n.children.size(); ++i) {
      if (n.kind == YamlNode::kMap && i % 2 == 0) {
        out[n.children[i]->line] = n.children[i];  // until a value on the same line takes it
        continue;
      }
      ends(*n.children[i], out);
    }
  }

  // The comment at the end of a line, given where its content ends.
  std::string trailing(std::size_t from) const {
    std::size_t i = from;
    while (i < text_.size() && text_[i] != '\n' && text_[i] != '#') {
      char c = text_[i];
      if (c != ' ' && c != '\t' && c != ':' && c != ',' && c != ']' && c != '}' && c != '\r' && c != '-') return {};
      ++i;
    }
    if (i >= text_.size() || text_[i] != '#' || (i > 0 && text_[i - 1] != ' ' && text_[i - 1] != '\t')) return {};
    std::size_t end = std::min(text_.find('\n', i), text_.size());
    std::string s(text_.substr(i, end - i));
    while (!s.empty() && s.back() == '\r') s.pop_back();
    return s;
  }

  void find_comments() {
    if (text_.find('#') == std::string_view::npos) return;
    std::multimap<std::size_t, YamlNode*> start;
    std::map<std::size_t, YamlNode*> end;
    std::set<std::size_t> inside;  // lines of block scalars
    for (auto& d : documents_) {
      starts(*d, start, d->kind == YamlNode::kScalar || d->kind == YamlNode::kAlias);
      ends(*d, end);
      block_lines(*d, inside);
    }
    for (auto& [line, n] : end)
      if (std::string c = trailing(n->end); !c.empty()) comments(n).trail = std::move(c);
    std::vector<CommentLine> block;
    for (std::size_t line = 0; line < lines_.size(); ++line) {
      std::size_t from = lines_[line], to = line + 1 < lines_.size() ? lines_[line + 1] - 1 : text_.size();
      std::string_view s = text_.substr(from, to - from);
      std::size_t first = s.find_first_not_of(" \t\r");
      if (first != std::string_view::npos && s[first] == '#' && !inside.count(line)) {
        std::string c(s.substr(first));
        while (!c.empty() && c.back() == '\r') c.pop_back();
        block.push_back({line, first, std::move(c)});
        continue;
      }
      auto it = start.find(line);
      if (it != start.end()) {
        // The outermost thing that begins on the line has the comments above it that are not of a block before it.
        YamlNode* n = it->second;
        give_to_blocks(block, line, first);
        if (!block.empty()) {
          auto& head = comments(n).head;
          for (CommentLine& c : block) head.push_back(std::move(c.text));
        }
        block.clear();
        // `- # of what stands below`
        if (n->line > line)
          if (std::size_t mark = s.find('#'); mark != std::string_view::npos)
            block.push_back({line, mark, std::string(content_of(line).substr(mark - first))});
      }
    }
    give_to_blocks(block, lines_.size() + 1, 0);
    if (!block.empty() && !documents_.empty())
      for (CommentLine& c : block) comments(documents_.back()).foot.push_back(std::move(c.text));
  }

  struct CommentLine {
    std::size_t line, column;
    std::string text;
  };

  // Takes out the comments that belong to what stands above them: those further in than what follows, at `next`, and
  // those that follow an entry of a map at once and have an empty line below them.
  void give_to_blocks(std::vector<CommentLine>& block, std::size_t next, std::size_t column) {
    std::size_t taken = 0;
    while (taken < block.size()) {
      std::size_t end = taken + 1;  // of lines without an empty one in between
      while (end < block.size() && block[end].line == block[end - 1].line + 1 &&
             block[end].column == block[taken].column)
        ++end;
      const CommentLine& c = block[taken];
      std::size_t after = end < block.size() ? block[end].line : next;
      bool close = c.line > 0 && !is_empty_line(c.line - 1) && block[end - 1].line + 1 < after && next < lines_.size();
      YamlNode* n = c.column > column ? last_entry(c, column + 1) : close ? last_entry(c, 0) : nullptr;
      if (!n) break;
      for (std::size_t i = taken; i < end; ++i) comments(n).below.push_back(std::move(block[i].text));
      taken = end;
    }
    block.erase(block.begin(), block.begin() + static_cast<std::ptrdiff_t>(taken));
  }

  bool is_empty_line(std::size_t line) const { return content_of(line).empty(); }

  // The last entry above a comment in the innermost block that begins at its column or before it, but not before
  // `least`.
  YamlNode* last_entry(const CommentLine& c, std::size_t least) {
    auto above = [&](const YamlNode* n) { return n->line < c.line; };
    auto doc = std::partition_point(documents_.begin(), documents_.end(), above);
    YamlNode* found = nullptr;
    for (YamlNode* n = doc == documents_.begin() ? nullptr : *(doc - 1); n && !n->flow && !n->children.empty();) {
      auto child = std::partition_point(n->children.begin(), n->children.end(), above);
      if (child == n->children.begin()) break;
      std::size_t i = static_cast<std::size_t>(child - n->children.begin()) - 1, column = n->at - lines_[n->line];
      bool list = n->kind == YamlNode::kList;
      if (column <= c.column && column >= least) found = list ? n->children[i] : n->children[i - i % 2];
      if (list && least == 0) found = nullptr;  // between items it is of the next
      n = list ? n->children[i] : n->children[i - i % 2 + 1];
    }
    // Below the items of a list it is of the last field of the last one.
    while (found && found->kind == YamlNode::kMap && !found->flow && !found->children.empty())
      found = found->children[found->children.size() - 2];
    return found;
  }

  void block_lines(YamlNode& n, std::set<std::size_t>& out) {
    if (n.kind == YamlNode::kScalar && (!n.plain || n.end_line > n.line))
      for (std::size_t l = n.line + 1; l < n.end_line; ++l) out.insert(l);
    for (YamlNode* c : n.children) block_lines(*c, out);
  }

  // ---- syntax

  // From 1. Mostly the same line as asked for before, or the next.
  std::size_t line_of(std::size_t at) {
    auto on = [&](std::size_t line) {
      return lines_[line] <= at && (line + 1 == lines_.size() || at < lines_[line + 1]);
    };
    if (!on(line_)) {
      if (line_ + 1 < lines_.size() && on(line_ + 1))
        ++line_;
      else
        line_ = static_cast<std::size_t>(std::upper_bound(lines_.begin(), lines_.end(), at) - lines_.begin()) - 1;
    }
    return line_ + 1;
  }

  TokenPos place(std::size_t at) {
    TokenPos p{source_.pos(at), Rel::kNone, false};
    if (force_newline_) {
      force_newline_ = false;
      p.rel = Rel::kNewline;
    } else if (last_ >= 0) {
      std::size_t was = static_cast<std::size_t>(last_);
      if (at < was) return {};
      std::size_t lines = line_of(at) - line_of(was);
      p.rel = lines >= 2 ? Rel::kNewSection : lines == 1 ? Rel::kNewline : at > was ? Rel::kBlank : Rel::kNoSpace;
    }
    last_ = static_cast<long>(at);
    return p;
  }

  void take_head(YamlNode& n) {
    if (!n.comments) return;
    const auto& head = n.comments->head;
    bool first = pending_.empty() && !head.empty();
    if (first && last_ >= 0) {
      pending_section_ = n.line + 1 >= head.size() + line_of(static_cast<std::size_t>(last_)) + 2;
    }
    pending_.insert(pending_.end(), head.begin(), head.end());
  }

  CommentGroup group(const std::vector<std::string>& lines, bool section = false) {
    std::vector<Comment> list;
    for (const std::string& l : lines) list.push_back({TokenPos{}, arena_.copy("//" + l.substr(1))});
    if (section && !list.empty()) list[0].slash.rel = Rel::kNewSection;
    CommentGroup g;
    g.list = arena_.copy(std::span<const Comment>(list));
    return g;
  }

  void add_comments(Node* n, YamlNode& y, signed char line_position) {
    if (y.comments) pending_.insert(pending_.end(), y.comments->below.begin(), y.comments->below.end());
    if (!pending_.empty()) {
      CommentGroup g = group(pending_, pending_section_);
      g.doc = true;
      add_comment(arena_, n, g);
      pending_.clear();
      pending_section_ = false;
    }
    if (!y.comments) return;
    if (!y.comments->trail.empty()) {
      CommentGroup g = group({y.comments->trail});
      g.line = true;
      g.position = line_position;
      add_comment(arena_, n, g);
    }
    if (!y.comments->foot.empty()) {
      CommentGroup g = group(y.comments->foot);
      g.position = 100;
      add_comment(arena_, n, g);
    }
  }

  Node* extract(YamlNode& y, int alias_depth) {
    if (alias_depth > 0 && ++alias_nodes_ > kMaxAliasNodes) {
      fail(y, fmt::format("aliases expand to more than {} nodes", kMaxAliasNodes));
      return nullptr;
    }
    take_head(y);
    Node* n = nullptr;
    switch (y.kind) {
      case YamlNode::kScalar: n = scalar(y); break;
      case YamlNode::kMap: n = map(y, alias_depth); break;
      case YamlNode::kList: n = list(y, alias_depth); break;
      case YamlNode::kAlias:
        if (expanding_.count(y.target)) {
          fail(y, fmt::format("anchor {} value contains itself", quote(y.value)));
          return nullptr;
        }
        expanding_.insert(y.target);
        n = extract(*y.target, alias_depth + 1);
        expanding_.erase(y.target);
        break;
    }
    if (n) add_comments(n, y, 1);
    return n;
  }

  Node* signed_literal(TokenPos pos, std::string_view text, Tok kind) {
    bool negative = text.starts_with('-');
    if (negative || text.starts_with('+')) text.remove_prefix(1);
    Node* lit = make_lit(arena_, kind, text, pos);
    return negative ? arena_.make<Unary>(pos, Tok::kSub, lit) : lit;
  }

  // The tag of a scalar, given or found out.
  static std::string_view tag_of(const YamlNode& y) {
    if (y.tag == "!" || (y.tag.empty() && !y.plain)) return "str";
    if (!y.tag.empty()) return y.tag;
    switch (yaml_scalar(y.value)) {
      case YamlScalar::kNull: return "null";
      case YamlScalar::kBool: return "bool";
      case YamlScalar::kInt: return "int";
      case YamlScalar::kFloat: return "float";
      case YamlScalar::kTimestamp: return "timestamp";
      case YamlScalar::kMerge: return "merge";
      case YamlScalar::kString: break;
    }
    return "str";
  }

  // What each tag makes of a text.
  Node* scalar(YamlNode& y) {
    using Make = Node* (YamlReader::*)(YamlNode&, TokenPos, std::string_view tag);
    static constexpr std::pair<std::string_view, Make> kMakers[] = {
        {"str", &YamlReader::text_scalar},      {"timestamp", &YamlReader::text_scalar},
        {"binary", &YamlReader::binary_scalar}, {"bool", &YamlReader::word_scalar},
        {"null", &YamlReader::word_scalar},     {"int", &YamlReader::number_scalar},
        {"float", &YamlReader::number_scalar},
    };
    std::string_view tag = tag_of(y);
    for (const auto& [name, make] : kMakers)
      if (name == tag) return (this->*make)(y, place(y.at), tag);
    std::string shown(tag);
    return fail(y, fmt::format("cannot unmarshal tag {}", quote(tag.starts_with('!') ? shown : "!!" + shown))), nullptr;
  }

  // In quotes. What is in double quotes in the source, and means itself, is taken from there.
  std::string_view quoted(std::string_view value, const QuoteStyle& style) {
    bool simple =
        std::all_of(value.begin(), value.end(), [](char c) { return c >= 0x20 && c < 0x7f && c != '"' && c != '\\'; });
    if (!simple) return arena_.copy(quote(value, style));
    auto from = static_cast<std::size_t>(value.data() - text_.data());
    bool ours = value.data() > text_.data() && from + value.size() < text_.size();
    if (ours && text_[from - 1] == '"' && text_[from + value.size()] == '"')
      return text_.substr(from - 1, value.size() + 2);
    char* out = arena_.array<char>(value.size() + 2);
    out[0] = out[value.size() + 1] = '"';
    std::copy(value.begin(), value.end(), out + 1);
    return {out, value.size() + 2};
  }

  Node* text_scalar(YamlNode& y, TokenPos pos, std::string_view tag) {
    QuoteStyle style;
    if (tag == "str") style.tabs = 1;
    return arena_.make<Lit>(Tok::kString, pos, quoted(y.value, style));
  }

  Node* binary_scalar(YamlNode& y, TokenPos pos, std::string_view) {
    std::string error;
    std::optional<std::string> data = base64_decode(y.value, error);
    if (!data) return fail(y, "!!binary value contains invalid base64 data"), nullptr;
    return make_bytes(arena_, *data, pos);
  }

  Node* word_scalar(YamlNode& y, TokenPos pos, std::string_view tag) {
    if (tag == "null") {
      pos.rel = Rel::kBlank;
      return make_lit(arena_, Tok::kNull, "null", pos);
    }
    bool yes = !y.value.empty() && (y.value[0] == 't' || y.value[0] == 'T');
    return make_lit(arena_, yes ? Tok::kTrue : Tok::kFalse, yes ? "true" : "false", pos);
  }

  Node* number_scalar(YamlNode& y, TokenPos pos, std::string_view tag) {
    auto cannot = [&](std::string_view shown, std::string_view why) {
      return fail(y, fmt::format("cannot decode {} as !!{}: {}", quote(shown), tag, why)), nullptr;
    };
    std::string text(y.value);
    // 017 is octal.
    bool zero = text.size() > 1 && text[0] == '0' && text[1] >= '0' && text[1] <= '9';
    if (zero) text.insert(1, "o");
    bool whole = text.find_first_of(".eE") == std::string::npos;
    if (tag == "float" && text.find_first_of("nN") != std::string::npos) return cannot(y.value, "not a number of CUE");
    Number n = parse_number(text);
    if (!n.ok()) return cannot(text, n.error);
    if (tag == "int" && !n.integer) return cannot(text, "not a literal number");
    // An integer that says it is a float may be either.
    if (tag == "float" && !y.tag.empty() && whole)
      return arena_.make<Binary>(make_ident(arena_, "number", pos), pos, Tok::kAnd,
                                 signed_literal(pos, text, Tok::kInt));
    return signed_literal(pos, text, tag == "int" ? Tok::kInt : Tok::kFloat);
  }

  Node* list(YamlNode& y, int alias_depth) {
    TokenPos open{source_.pos(y.at), Rel::kBlank, false};
    if (static_cast<long>(y.at) >= last_) last_ = static_cast<long>(y.at);
    bool lines = !y.children.empty() && y.line < y.children.back()->line, close_same = true;
    std::vector<Node*> items;
    for (YamlNode* c : y.children) {
      force_newline_ = lines;
      Node* n = extract(*c, alias_depth);
      if (!n) return nullptr;
      if (TokenPos* p = first_ref(n)) p->comma = true;
      items.push_back(n);
      close_same = n->kind == ast::Kind::kStruct;
    }
    TokenPos close = open;
    if (!items.empty() || y.flow) {
      close = {source_.pos(y.end > 0 ? y.end - 1 : 0), !y.flow && lines && !close_same ? Rel::kNewline : Rel::kBlank,
               true};
      if (y.flow) last_ = static_cast<long>(y.end);
    }
    if (items.size() == 1 && !lines) close.comma = true;
    return arena_.make<List>(open, make_nodes(arena_, items), close);
  }

  Node* map(YamlNode& y, int alias_depth) {
    TokenPos open{source_.pos(y.at), Rel::kBlank, false};
    bool lines = !y.children.empty() && y.line < y.children[y.children.size() - 1]->line;
    std::vector<Node*> fields;
    if (!insert(y, fields, lines, false, alias_depth)) return nullptr;
    TokenPos close = open;
    if (!y.children.empty() || y.flow) {
      close = {source_.pos(y.end > 0 ? y.end - 1 : 0), !y.flow && lines ? Rel::kNewline : Rel::kBlank, false};
      if (y.flow) last_ = static_cast<long>(y.end);
    }
    return arena_.make<Struct>(open, make_nodes(arena_, fields), close);
  }

  bool merge(YamlNode& y, std::vector<Node*>& fields, bool lines, int alias_depth) {
    if (y.kind == YamlNode::kMap) return insert(y, fields, lines, true, alias_depth);
    if (y.kind == YamlNode::kAlias && y.target->kind == YamlNode::kMap)
      return insert(*y.target, fields, lines, true, alias_depth + 1);
    if (y.kind == YamlNode::kList) {
      for (std::size_t i = y.children.size(); i-- > 0;)
        if (!merge(*y.children[i], fields, lines, alias_depth)) return false;
      return true;
    }
    fail(y, "map merge requires map or sequence of maps as the value");
    return false;
  }

  bool insert(YamlNode& y, std::vector<Node*>& fields, bool lines, bool replace, int alias_depth) {
    for (std::size_t i = 0; i + 1 < y.children.size(); i += 2) {
      if (lines) force_newline_ = true;
      YamlNode &k = *y.children[i], &v = *y.children[i + 1];
      take_head(k);
      if (k.kind == YamlNode::kScalar && k.plain && k.tag.empty() && k.value == "<<") {
        replace = true;
        if (!merge(v, fields, lines, alias_depth)) return false;
        continue;
      }
      YamlNode* key = k.kind == YamlNode::kAlias ? k.target : &k;
      if (key->kind != YamlNode::kScalar) {
        fail(k, fmt::format("invalid map key: {}", key->kind == YamlNode::kMap ? "!!map" : "!!seq"));
        return false;
      }
      TokenPos pos = place(k.at);
      std::string_view name = key->value;
      if (tag_of(*key) != "str") {
        long saved = last_;
        Node* lit = scalar(*key);
        last_ = saved;
        if (!lit) return false;
        if (lit->kind == ast::Kind::kLit && as<Lit>(lit)->tok != Tok::kString) name = as<Lit>(lit)->text;
      }
      Node* label = make_label(arena_, name, pos);
      Field* field = arena_.make<Field>(label);
      // On the line of a key whose value follows on others it stands before that value.
      bool below = !v.flow && (v.kind == YamlNode::kMap || v.kind == YamlNode::kList);
      std::string above;
      if (below && k.comments) std::swap(above, k.comments->trail);
      add_comments(field, k, 2);
      Node* value = nullptr;
      Field* existing = nullptr;
      if (replace)
        for (Node* f : fields) {
          if (label_name(as<Field>(f)->label) == name) existing = as<Field>(f);
        }
      value = extract(v, alias_depth);
      if (!value) return false;
      if (!above.empty()) {
        CommentGroup g = group({above});
        g.line = true;
        add_comment(arena_, value, g);
      }
      if (existing) {
        existing->value = value;
        continue;
      }
      field->value = value;
      fields.push_back(field);
    }
    return true;
  }

  const Source& source_;
  std::string_view text_;
  Arena& arena_;
  Decoded& out_;
  YamlEvents events_;
  std::vector<std::size_t> lines_;
  std::size_t line_ = 0;  // last asked for
  bool ascii_;
  std::map<std::string, YamlNode*> anchors_;
  Arena nodes_;  // until all is made
  std::deque<YamlComments> comments_;
  std::vector<YamlNode*> documents_, open_;
  std::set<YamlNode*> expanding_;
  std::vector<std::string> pending_;
  bool pending_section_ = false, force_newline_ = false;
  long last_ = -1;
  int alias_nodes_ = 0;
};

}  // namespace

Decoded decode_yaml(const Source& source, Arena& arena) {
  Decoded d;
  YamlReader(source, arena, d).run();
  return d;
}

}  // namespace tutti::cue
