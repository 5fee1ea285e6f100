#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "text/source.h"

namespace tutti {

enum class Severity : u8 { kError, kWarning, kNote };

struct Label {
  Span span;
  std::string text;
};

// Something to tell the user about what they wrote. Codes are stable ("SF-4", "JSON-DUPLICATE-KEY"): tests, scripts and
// searches hold on to them, so a code is never given another meaning.
struct Diagnostic {
  Severity severity = Severity::kError;
  std::string code;
  std::string message;  // one sentence, lower case, no full stop
  Span where;
  std::vector<Label> related;      // other places that have to do with it
  std::vector<std::string> notes;  // what led here, one line each
  std::string help;                // what to do about it: "did you mean `port`?"

  // For writing one in a single expression: diags.error("X-1", span, "…").note("…").relate(span, "…");
  Diagnostic& note(std::string text) {
    notes.push_back(std::move(text));
    return *this;
  }
  Diagnostic& relate(Span span, std::string text) {
    related.push_back({span, std::move(text)});
    return *this;
  }
  Diagnostic& suggest(std::string text) {
    help = std::move(text);
    return *this;
  }
  Diagnostic& did_you_mean(std::string_view name);  // nothing when the name is empty
};

// What a request has to say, collected. Past `most` errors only the count goes on.
class Diagnostics {
 public:
  explicit Diagnostics(std::size_t most = 1000) : most_(most) {}

  // The reference is good until the next one is added.
  Diagnostic& add(Severity severity, std::string code, Span where, std::string message);
  Diagnostic& error(std::string code, Span where, std::string message) {
    return add(Severity::kError, std::move(code), where, std::move(message));
  }
  Diagnostic& warning(std::string code, Span where, std::string message) {
    return add(Severity::kWarning, std::move(code), where, std::move(message));
  }

  std::size_t errors() const { return errors_; }
  bool ok() const { return errors_ == 0; }
  std::size_t left_out() const { return left_out_; }
  const std::vector<Diagnostic>& all() const { return all_; }
  void clear();
  // Puts those from the given one on in the order of their places, which is the order in which a reader meets them;
  // what has no place comes last. For whoever finds mistakes in another order than that of the text.
  void sort_from(std::size_t first);

 private:
  std::size_t most_;
  std::size_t errors_ = 0;
  std::size_t left_out_ = 0;
  std::vector<Diagnostic> all_;
  Diagnostic over_;  // what is written past the limit goes here and is forgotten
};

enum class DiagnosticStyle : u8 {
  kExcerpt,  // with the line and a caret: for people
  kLine,     // file:line:col: error[CODE]: message, one line each: for editors and logs
  kJson,     // one JSON object a line
};

// The text of all diagnostics, in the order they were added.
std::string render(const Diagnostics& diagnostics, const Sources& sources, DiagnosticStyle style, bool colour);
std::string render(const Diagnostic& diagnostic, const Sources& sources, DiagnosticStyle style, bool colour);

// The line of a place with a mark under it, its line number after `indent` spaces. Nothing for no place.
void append_excerpt(std::string& out, const Sources& sources, Span span, std::size_t indent, bool colour);

}  // namespace tutti
