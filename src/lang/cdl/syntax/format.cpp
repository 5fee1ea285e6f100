#include "lang/cdl/syntax/format.h"

#include <algorithm>
#include <vector>

#include "lang/cdl/syntax/parse.h"
#include "lang/cdl/syntax/path.h"

namespace tutti::cdl {
namespace {

constexpr std::size_t kWidth = 100;

struct Token {
  enum class Kind : u8 { kText, kData, kComment, kInstruction, kOpen, kClose, kEmpty } kind;
  std::size_t begin, end;
  std::size_t match = 0;  // of an opening tag: its closing one
  bool inside = false;    // of an opening tag: it holds elements, and no text
  bool foreign = false;   // of a tag: an extensibility element, which is left as it is to the byte
};

// Cuts a well-formed document without a document type into its parts. Knows nothing of what they mean.
std::vector<Token> cut(std::string_view text) {
  std::vector<Token> tokens;
  auto up_to = [&](std::string_view what, std::size_t from) {
    std::size_t at = text.find(what, from);
    return at == std::string_view::npos ? text.size() : at + what.size();
  };
  for (std::size_t at = 0; at < text.size();) {
    std::size_t from = at;
    Token::Kind kind = Token::Kind::kText;
    std::string_view rest = text.substr(at);
    if (rest[0] != '<') {
      at = std::min(text.find('<', at), text.size());
    } else if (rest.starts_with("<!--")) {
      kind = Token::Kind::kComment;
      at = up_to("-->", at + 4);
    } else if (rest.starts_with("<![CDATA[")) {
      kind = Token::Kind::kData;
      at = up_to("]]>", at);
    } else if (rest.starts_with("<?")) {
      kind = Token::Kind::kInstruction;
      at = up_to("?>", at);
    } else {
      char quote = 0;
      while (at < text.size() && (quote || text[at] != '>')) {
        if (quote ? text[at] == quote : text[at] == '"' || text[at] == '\'') quote = quote ? 0 : text[at];
        at++;
      }
      at = std::min(at + 1, text.size());
      kind = rest.starts_with("</") ? Token::Kind::kClose
             : text[at - 2] == '/'  ? Token::Kind::kEmpty
                                    : Token::Kind::kOpen;
    }
    tokens.push_back({kind, from, at});
  }
  return tokens;
}

class Printer {
 public:
  explicit Printer(std::string_view text) : text_(text), tokens_(cut(text)) { match(); }

  std::string print() {
    for (std::size_t i = 0; i < tokens_.size(); i++) {
      const Token& t = tokens_[i];
      switch (t.kind) {
        case Token::Kind::kText:
        case Token::Kind::kData: {  // only white space: text is inside of what is copied whole
          lines_ = static_cast<std::size_t>(std::count(text_.begin() + static_cast<std::ptrdiff_t>(t.begin),
                                                       text_.begin() + static_cast<std::ptrdiff_t>(t.end), '\n'));
          continue;
        }
        case Token::Kind::kComment:
          if (lines_ == 0 && !out_.empty()) {
            if (out_.back() != '\n') out_ += ' ';
          } else {
            line();
          }
          out_ += of(t);
          break;
        case Token::Kind::kInstruction:
        case Token::Kind::kEmpty:
          line();
          t.kind == Token::Kind::kEmpty && !t.foreign ? tag(t) : void(out_ += of(t));
          break;
        case Token::Kind::kOpen:
          line();
          if (t.foreign) {
            i = t.match;
            out_ += text_.substr(t.begin, tokens_[i].end - t.begin);
            break;
          }
          tag(t);
          if (t.inside) {
            depth_++;
            first_ = true;
            lines_ = 0;
            continue;
          }
          out_ += text_.substr(t.end, tokens_[t.match].begin - t.end);
          i = t.match;
          close(tokens_[i]);
          break;
        case Token::Kind::kClose:
          depth_--;
          first_ = true;  // no empty line before it
          line();
          close(t);
          break;
      }
      first_ = false;
      lines_ = 0;
    }
    if (!out_.empty() && out_.back() != '\n') out_ += '\n';
    return std::move(out_);
  }

 private:
  std::string_view of(const Token& t) const { return text_.substr(t.begin, t.end - t.begin); }

  void match() {
    // White space is nothing beside elements; alone, or with a comment, it may be a value.
    struct Open {
      std::size_t at;
      bool text = false, parts = false;
    };
    std::vector<Open> open;
    for (std::size_t i = 0; i < tokens_.size(); i++) {
      Token& t = tokens_[i];
      if (t.kind == Token::Kind::kClose && !open.empty()) {
        Token& opening = tokens_[open.back().at];
        opening.match = i;
        opening.inside = open.back().parts && !open.back().text && !keeps_space(of(opening));
        open.pop_back();
        continue;
      }
      if (!open.empty()) {
        if (t.kind == Token::Kind::kData) open.back().text = true;
        if (t.kind == Token::Kind::kText) open.back().text |= of(t).find_first_not_of(kSpace) != std::string_view::npos;
        if (t.kind == Token::Kind::kOpen || t.kind == Token::Kind::kEmpty) open.back().parts = true;
      }
      bool begins = t.kind == Token::Kind::kOpen || t.kind == Token::Kind::kEmpty;
      if (begins && open.size() == 1) t.foreign = prefix(t) != prefix(tokens_[open[0].at]);
      if (t.kind == Token::Kind::kOpen) open.push_back({i});
    }
  }

  // What stands before the colon of a tag's name.
  std::string_view prefix(const Token& t) const {
    std::string_view name = of(t).substr(1);
    name = name.substr(0, name.find_first_of(" \t\r\n/>"));
    std::size_t colon = name.find(':');
    return colon == std::string_view::npos ? std::string_view() : name.substr(0, colon);
  }

  static bool keeps_space(std::string_view tag) {
    return tag.find("xml:space") != std::string_view::npos && tag.find("preserve") != std::string_view::npos;
  }

  void line() {
    if (!out_.empty() && out_.back() != '\n') out_ += '\n';
    if (!first_ && lines_ > 1 && !out_.empty()) out_ += '\n';
    out_.append(depth_ * 2, ' ');
  }

  void close(const Token& t) {
    std::string_view s = of(t);
    std::size_t end = s.find_first_of(" \t\r\n>");
    out_ += s.substr(0, end);
    out_ += '>';
  }

  void tag(const Token& t) {
    std::string_view s = of(t);
    std::size_t at = std::min(s.find_first_of(" \t\r\n/>"), s.size());
    std::string_view name = s.substr(0, at);
    std::vector<std::string> attributes;
    std::size_t width = depth_ * 2 + name.size() + 2;
    for (;;) {
      at = s.find_first_not_of(kSpace, at);
      if (at == std::string_view::npos || s[at] == '>' || (s[at] == '/' && at + 2 == s.size())) break;
      std::size_t equals = s.find('=', at);
      if (equals == std::string_view::npos) break;
      std::size_t quote = s.find_first_of("\"'", equals);
      std::size_t end =
          quote == std::string_view::npos ? s.size() : std::min(s.find(s[quote], quote + 1), s.size() - 1) + 1;
      std::string_view key = s.substr(at, equals - at);
      key = key.substr(0, key.find_last_not_of(kSpace) + 1);
      attributes.push_back(std::string(key) + "=" +
                           std::string(s.substr(std::min(quote, s.size()), end - std::min(quote, s.size()))));
      width += attributes.back().size() + 1;
      at = end;
    }
    out_ += name;
    bool broken = width > kWidth && attributes.size() > 1;
    for (const std::string& a : attributes) {
      if (broken) {
        out_ += '\n';
        out_.append(depth_ * 2 + 4, ' ');
      } else {
        out_ += ' ';
      }
      out_ += a;
    }
    out_ += t.kind == Token::Kind::kEmpty ? "/>" : ">";
  }

  std::string_view text_;
  std::vector<Token> tokens_;
  std::string out_;
  std::size_t depth_ = 0, lines_ = 0;
  bool first_ = true;
};

}  // namespace

std::optional<std::string> format_document(Session& session, const Source& source) {
  std::vector<std::unique_ptr<Document>> documents;
  std::size_t errors = session.diagnostics.errors();
  const Document* document = parse_document(session, source, documents, false);
  if (!document || session.diagnostics.errors() > errors) return std::nullopt;
  std::string_view text = source.text;
  if (document->signature) {
    session.diagnostics.warning("CDL-SIGNED", document->signature,
                                "the document is signed and stays as it is: laid out otherwise it would be another");
    return std::string(text);
  }
  if (text.find('\0') != std::string_view::npos)
    return std::string(text);  // two bytes a character: nothing here would find its way
  std::string unix_lines;
  std::string_view mark = text.starts_with("\xEF\xBB\xBF") ? text.substr(0, 3) : "";
  for (std::size_t i = mark.size(); i < text.size(); i++)
    if (text[i] != '\r' || i + 1 == text.size() || text[i + 1] != '\n') unix_lines += text[i];
  return std::string(mark) + Printer(unix_lines).print();
}

}  // namespace tutti::cdl
