#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "base/terminal.h"
#include "base/utf8.h"
#include "text/diagnostic.h"

namespace tutti {
namespace {

constexpr std::size_t kWidest = 160;  // of an excerpt; a longer line is cut around the caret

struct Paint {
  bool on;
  std::string_view red() const { return on ? "\x1b[1;31m" : ""; }
  std::string_view yellow() const { return on ? "\x1b[1;33m" : ""; }
  std::string_view blue() const { return on ? "\x1b[1;34m" : ""; }
  std::string_view bold() const { return on ? "\x1b[1m" : ""; }
  std::string_view off() const { return on ? "\x1b[0m" : ""; }
};

std::string_view word(Severity s) {
  return s == Severity::kError ? "error" : s == Severity::kWarning ? "warning" : "note";
}

// Tabs become one space and bytes that would disturb a terminal a question mark, so that the caret stands right.
std::string printable(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t start = at;
    char32_t c = utf8::decode(text, at);
    if (c == '\t') {
      out += ' ';
    } else if (c == utf8::kInvalid || disturbs_terminal(c) || c == '\n') {
      out += '?';
    } else {
      out.append(text.substr(start, at - start));
    }
  }
  return out;
}

// Words of a diagnostic may hold what the user wrote, and that may be meant for the terminal: only line ends stay.
std::string safe(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = std::min(text.find('\n', at), text.size());
    out += printable(text.substr(at, end - at));
    if (end < text.size()) out += '\n';
    at = end + 1;
  }
  return out;
}

void excerpt(std::string& out, const Sources& sources, Span span, std::string_view label, char mark, const Paint& paint,
             std::string_view colour, std::size_t gutter) {
  Location from = sources.locate(span.begin);
  if (from.line == 0) return;
  std::string shown = sources.masked_line(span.begin);
  std::string_view line = shown;
  std::size_t column = std::min<std::size_t>(from.byte - 1, line.size());
  std::size_t marked = span.end > span.begin ? span.end.at - span.begin.at : 1;
  marked = std::max<std::size_t>(1, std::min(marked, line.size() - column));
  bool cut_left = false, cut_right = false;
  if (line.size() > kWidest) {
    std::size_t start = column > kWidest / 2 ? column - kWidest / 2 : 0;
    // To the beginning of a character, of which there may be none where the text is not UTF-8.
    for (int i = 0; i < 3 && start > 0 && (static_cast<u8>(line[start]) & 0xC0) == 0x80; i++) start--;
    cut_left = start > 0;
    line.remove_prefix(start);
    column -= start;
    if (line.size() > kWidest) {
      std::size_t end = kWidest;
      for (int i = 0; i < 3 && (static_cast<u8>(line[end]) & 0xC0) == 0x80; i++) end--;
      cut_right = true;
      line = line.substr(0, end);
    }
    column = std::min(column, line.size());
    marked = std::max<std::size_t>(1, std::min(marked, line.size() - column));
  }
  std::size_t before = utf8::width(printable(line.substr(0, column))) + (cut_left ? 3 : 0);
  std::size_t under = std::max<std::size_t>(1, utf8::width(printable(line.substr(column, marked))));
  fmt::format_to(std::back_inserter(out), "{}{:>{}} |{} {}{}{}\n", paint.blue(), from.line, gutter, paint.off(),
                 cut_left ? "..." : "", printable(line), cut_right ? "..." : "");
  fmt::format_to(std::back_inserter(out), "{}{:>{}} |{} {:>{}}{}{}{}{}{}\n", paint.blue(), "", gutter, paint.off(), "",
                 before, colour, std::string(under, mark), label.empty() ? "" : " ", label, paint.off());
}

std::string with_excerpt(const Diagnostic& d, const Sources& sources, bool colour) {
  Paint paint{colour};
  std::string out;
  auto to = std::back_inserter(out);
  std::string_view tint = d.severity == Severity::kError ? paint.red() : paint.yellow();
  fmt::format_to(to, "{}{}{}{}: {}{}{}\n", tint, word(d.severity), d.code.empty() ? "" : "[" + d.code + "]",
                 paint.off(), paint.bold(), safe(d.message), paint.off());
  u32 last_line = sources.locate(d.where.begin).line;
  for (const Label& r : d.related) last_line = std::max(last_line, sources.locate(r.span.begin).line);
  std::size_t gutter = fmt::formatted_size("{}", last_line);
  if (d.where.begin) {
    fmt::format_to(to, "{}{:>{}}-->{} {}\n", paint.blue(), "", gutter, paint.off(), safe(sources.show(d.where.begin)));
    excerpt(out, sources, d.where, "", '^', paint, tint, gutter);
  }
  for (const Label& r : d.related) {
    fmt::format_to(to, "{}{:>{}}:::{} {}\n", paint.blue(), "", gutter, paint.off(), safe(sources.show(r.span.begin)));
    excerpt(out, sources, r.span, safe(r.text), '-', paint, paint.blue(), gutter);
  }
  for (const std::string& n : d.notes) fmt::format_to(to, "{:>{}} = note: {}\n", "", gutter, safe(n));
  if (!d.help.empty()) fmt::format_to(to, "{:>{}} = help: {}\n", "", gutter, safe(d.help));
  return out;
}

std::string as_line(const Diagnostic& d, const Sources& sources) {
  std::string place = sources.show(d.where.begin);
  std::string out = fmt::format("{}{}{}{}: {}", place, place.empty() ? "" : ": ", word(d.severity),
                                d.code.empty() ? "" : "[" + d.code + "]", d.message);
  for (const Label& r : d.related)
    out += fmt::format("; {}{}{}", sources.show(r.span.begin), r.text.empty() ? "" : ": ", r.text);
  if (!d.help.empty()) out += "; " + d.help;
  std::replace(out.begin(), out.end(), '\n', ' ');
  return printable(out) + '\n';
}

void json_text(std::string& out, std::string_view text) {
  out += '"';
  for (std::size_t at = 0; at < text.size();) {
    std::size_t start = at;
    char32_t c = utf8::decode(text, at);
    if (c == utf8::kInvalid) {
      out += "\\ufffd";
    } else if (c == '"' || c == '\\') {
      out += '\\';
      out += static_cast<char>(c);
    } else if (c < 0x20 || c == 0x7F) {
      out += fmt::format("\\u{:04x}", static_cast<u32>(c));
    } else {
      out.append(text.substr(start, at - start));
    }
  }
  out += '"';
}

void json_place(std::string& out, const Sources& sources, Span span) {
  Location from = sources.locate(span.begin), to = sources.locate(span.end);
  out += "\"file\":";
  json_text(out, from.file);
  out += fmt::format(",\"line\":{},\"column\":{},\"endLine\":{},\"endColumn\":{}", from.line, from.column, to.line,
                     to.column);
}

std::string as_json(const Diagnostic& d, const Sources& sources) {
  std::string out = fmt::format("{{\"severity\":\"{}\",\"code\":", word(d.severity));
  json_text(out, d.code);
  out += ",\"message\":";
  json_text(out, d.message);
  if (d.where.begin) {
    out += ',';
    json_place(out, sources, d.where);
  }
  out += ",\"related\":[";
  for (std::size_t i = 0; i < d.related.size(); i++) {
    out += i == 0 ? "{" : ",{";
    if (d.related[i].span.begin) {
      json_place(out, sources, d.related[i].span);
      out += ',';
    }
    out += "\"message\":";
    json_text(out, d.related[i].text);
    out += '}';
  }
  out += "],\"notes\":[";
  for (std::size_t i = 0; i < d.notes.size(); i++) {
    if (i > 0) out += ',';
    json_text(out, d.notes[i]);
  }
  out += "],\"help\":";
  json_text(out, d.help);
  return out + "}\n";
}

}  // namespace

void append_excerpt(std::string& out, const Sources& sources, Span span, std::size_t indent, bool colour) {
  Location from = sources.locate(span.begin);
  if (from.line == 0) return;
  Paint paint{colour};
  std::size_t gutter = indent + fmt::formatted_size("{}", from.line);
  excerpt(out, sources, span, "", '^', paint, paint.blue(), gutter);
}

std::string render(const Diagnostic& told, const Sources& sources, DiagnosticStyle style, bool colour) {
  Diagnostic without;
  if (sources.has_secrets()) {
    without = told;
    without.message = sources.masked(told.message);
    for (Label& r : without.related) r.text = sources.masked(r.text);
    for (std::string& n : without.notes) n = sources.masked(n);
    without.help = sources.masked(told.help);
  }
  const Diagnostic& d = sources.has_secrets() ? without : told;
  switch (style) {
    case DiagnosticStyle::kExcerpt: return with_excerpt(d, sources, colour);
    case DiagnosticStyle::kLine: return as_line(d, sources);
    case DiagnosticStyle::kJson: return as_json(d, sources);
  }
  return {};
}

std::string render(const Diagnostics& diagnostics, const Sources& sources, DiagnosticStyle style, bool colour) {
  std::string out;
  for (const Diagnostic& d : diagnostics.all()) out += render(d, sources, style, colour);
  if (diagnostics.left_out() > 0) {
    Diagnostic more;
    more.severity = Severity::kNote;
    more.code = "LIMIT-ERRORS";
    more.message = fmt::format("{} more are not shown (--limit errors=N)", diagnostics.left_out());
    out += render(more, sources, style, colour);
  }
  return out;
}

}  // namespace tutti
