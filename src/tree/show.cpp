#include "tree/show.h"

#include <fmt/format.h>

#include <unordered_set>

#include "base/utf8.h"

namespace tutti {
namespace {

std::string shortened(std::string_view text, std::size_t widest, bool quoted = false) {
  std::string out;
  std::size_t at = 0, shown = 0;
  while (at < text.size()) {
    if (shown >= widest) return out + "…";
    std::size_t start = at;
    char32_t c = utf8::decode(text, at);
    if (c == '\n') {
      out += "\\n";
    } else if (c == '\t') {
      out += "\\t";
    } else if (quoted && (c == '"' || c == '\\')) {
      out += '\\';
      out += static_cast<char>(c);
    } else if (quoted && (c < 0x20 || c == 0x7F)) {
      out += fmt::format("\\u{:04x}", static_cast<u32>(c));
    } else if (c == utf8::kInvalid || c < 0x20 || c == 0x7F) {
      out += '?';
    } else {
      out.append(text.substr(start, at - start));
    }
    shown++;
  }
  return out;
}

std::string_view plural(std::size_t n) { return n == 1 ? "" : "s"; }

// The end of the word that begins at a place: enough to underline what was written there.
Span word_at(const Sources& sources, Pos pos) {
  const Source* source = sources.find(pos);
  if (source == nullptr) return pos;
  std::string_view text = source->text;
  std::size_t from = source->offset(pos), to = from;
  if (from >= text.size()) return pos;
  char quote = text[from];
  if (quote == '"' || quote == '\'') {
    for (to = from + 1; to < text.size() && text[to] != quote && text[to] != '\n'; to++) {
      if (text[to] == '\\') to++;
    }
    to = std::min(to + 1, text.size());
  } else {
    while (to < text.size() && std::string_view(" \t\r\n,;]})").find(text[to]) == std::string_view::npos) to++;
    if (to == from) to++;
  }
  return source->span(from, to);
}

class Teller {
 public:
  // The lines in which a secret is written are not `quoted`.
  Teller(const Session& session, bool quoted, bool colour, std::size_t most)
      : session_(session), quoted_(quoted), colour_(colour), left_(most) {}

  void tell(Origin o, std::size_t indent) {
    for (;;) {
      if (left_ == 0) return line(indent, "... and further steps", {});
      left_--;
      if (!o) return line(indent, "where it comes from was not recorded", {});
      if (!o.is_step()) return line(indent, "written", o.pos());
      if (!told_.insert(o.step()).second) return line(indent, "as told above", {});
      const OriginStep& step = session_.origins[o];
      // "overridden at" and "written at" one place are one thing to a reader.
      bool same = step.how == How::kOverridden && !step.value.is_step() && step.value.pos() == step.at;
      line(indent, same ? "written" : phrase(step), step.at);
      if (step.other) {
        line(indent, step.how == How::kOverridden ? "  in place of what was" : "  together with what was", {});
        tell(step.other, indent + 4);
      }
      if (!step.value || same) return;
      o = step.value;
    }
  }

  std::string take() { return std::move(out_); }

 private:
  static std::string phrase(const OriginStep& step) {
    std::string_view name = step.name.text();
    auto named = [&](std::string_view with, std::string_view without) {
      return name.empty() ? std::string(without) : fmt::format("{} {}", with, name);
    };
    switch (step.how) {
      case How::kWritten: return named("written as", "written");
      case How::kData: return named("read as", "read");
      case How::kInherited: return named("inherited from", "inherited");
      case How::kReferenced: return named("taken through", "taken through a reference");
      case How::kPlaced: return named("placed by", "placed from outside");
      case How::kOverridden: return named("overridden by", "overridden");
      case How::kUnified: return named("unified with", "unified with another value");
      case How::kDefault: return named("the default of", "the default");
      case How::kComputed: return named("computed by", "computed");
      case How::kLookup: return named("found in", "found in the data");
      case How::kSupplied: return named("supplied by", "supplied from outside");
    }
    return {};
  }

  void line(std::size_t indent, std::string_view what, Pos at) {
    out_.append(indent, ' ');
    out_ += what;
    std::string place = session_.sources->show(at);
    if (!place.empty()) {
      out_ += what.empty() ? "" : " at ";
      out_ += place;
    }
    out_ += '\n';
    if (at && quoted_) append_excerpt(out_, *session_.sources, word_at(*session_.sources, at), indent + 2, colour_);
  }

  const Session& session_;
  bool quoted_, colour_;
  std::size_t left_;
  std::unordered_set<u32> told_;
  std::string out_;
};

}  // namespace

std::string show(const Value& v, std::size_t widest) {
  if (v.secret()) return "(secret)";
  switch (v.kind()) {
    case Kind::kNull: return "null";
    case Kind::kBool: return v.as_bool() ? "true" : "false";
    case Kind::kInt:
    case Kind::kDecimal: return shortened(v.number_text(), widest);
    case Kind::kString: return fmt::format("\"{}\"", shortened(v.text(), widest, true));
    case Kind::kBytes: return fmt::format("({} byte{})", v.text().size(), plural(v.text().size()));
    case Kind::kList: return v.size() == 0 ? "[]" : fmt::format("[{} value{}]", v.size(), plural(v.size()));
    case Kind::kMap: return v.size() == 0 ? "{}" : fmt::format("{{{} key{}}}", v.size(), plural(v.size()));
    case Kind::kResource: return fmt::format("{}[{}]", v.tag().text(), shortened(v.text(), widest));
    case Kind::kReference: return fmt::format("reference {}", shortened(v.text(), widest));
    case Kind::kLazy: return fmt::format("lazy {}", shortened(v.text(), widest));
    case Kind::kOpen: return shortened(v.text(), widest);
    case Kind::kError: return fmt::format("error: {}", shortened(v.text(), widest));
  }
  return {};
}

std::string story(const Session& session, const Value& value, bool colour, std::size_t most, std::size_t indent) {
  Teller teller(session, !value.secret(), colour, most);
  teller.tell(value.origin(), indent);
  return teller.take();
}

}  // namespace tutti
