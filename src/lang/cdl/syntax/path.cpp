#include "lang/cdl/syntax/path.h"

#include "base/utf8.h"

namespace tutti::cdl {
namespace {

// The productions NameStartChar and NameChar of XML 1.0 (fifth edition), without the colon.
bool name_start(char32_t c) {
  if (c < 0x80) return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
  return (c >= 0xC0 && c <= 0x2FF && c != 0xD7 && c != 0xF7) || (c >= 0x370 && c <= 0x1FFF && c != 0x37E) ||
         (c >= 0x200C && c <= 0x200D) || (c >= 0x2070 && c <= 0x218F) || (c >= 0x2C00 && c <= 0x2FEF) ||
         (c >= 0x3001 && c <= 0xD7FF) || (c >= 0xF900 && c <= 0xFDCF) || (c >= 0xFDF0 && c <= 0xFFFD) ||
         (c >= 0x10000 && c <= 0xEFFFF);
}

bool name_char(char32_t c) {
  return name_start(c) || (c >= '0' && c <= '9') || c == '-' || c == '.' || c == 0xB7 || (c >= 0x300 && c <= 0x36F) ||
         c == 0x203F || c == 0x2040;
}

}  // namespace

std::string_view trim(std::string_view text) {
  std::size_t from = text.find_first_not_of(kSpace);
  if (from == std::string_view::npos) return {};
  return text.substr(from, text.find_last_not_of(kSpace) - from + 1);
}

bool is_ncname(std::string_view text) {
  if (text.empty()) return false;
  std::size_t at = 0;
  if (!name_start(utf8::decode(text, at))) return false;
  while (at < text.size()) {
    if (!name_char(utf8::decode(text, at))) return false;
  }
  return true;
}

WrittenName parse_qname(std::string_view text, const Binding* scope, NameProblem& problem) {
  problem = NameProblem::kNone;
  text = trim(text);
  WrittenName result;
  std::size_t colon = text.find(':');
  if (colon == std::string_view::npos) {
    if (!is_ncname(text)) problem = NameProblem::kMalformed;
    result.name = {default_namespace(scope), Symbol(text)};
    return result;
  }
  std::string_view prefix = text.substr(0, colon), local = text.substr(colon + 1);
  result.prefixed = true;
  result.name.local = Symbol(local);
  if (!is_ncname(prefix) || !is_ncname(local)) {
    problem = NameProblem::kMalformed;
    return result;
  }
  const Binding* b = find_prefix(scope, Symbol(prefix));
  if (!b || b->uri.empty()) {
    problem = NameProblem::kUnknownPrefix;
    return result;
  }
  result.name.ns = b->uri;
  return result;
}

std::optional<RefPath> parse_path(Arena& arena, std::string_view text, const Binding* scope, NameProblem& problem,
                                  std::string_view& bad) {
  problem = NameProblem::kMalformed;
  text = trim(text);
  bad = text;
  RefPath path;
  path.text = text;
  if (text.empty()) return std::nullopt;
  std::string_view rest = text;
  if (rest.front() == '/') {
    path.absolute = true;
    rest.remove_prefix(1);
  }
  if (!rest.empty() && rest.back() == '/') rest.remove_suffix(1);
  std::vector<PathStep> steps;
  if (rest.empty() && text != "/") return std::nullopt;
  while (!rest.empty()) {
    std::size_t slash = rest.find('/');
    std::string_view step = rest.substr(0, slash);
    if (step == ".") {
      steps.push_back({PathStep::kHere});
    } else if (step == "..") {
      steps.push_back({PathStep::kUp});
    } else {
      bad = step;
      WrittenName name = parse_qname(step, scope, problem);
      if (step.empty() || trim(step) != step || problem != NameProblem::kNone) {
        if (problem == NameProblem::kNone) problem = NameProblem::kMalformed;
        return std::nullopt;
      }
      steps.push_back({PathStep::kName, name.prefixed, name.name});
    }
    if (slash == std::string_view::npos) break;
    rest.remove_prefix(slash + 1);
    if (rest.empty()) {
      problem = NameProblem::kMalformed;
      return std::nullopt;
    }
  }
  problem = NameProblem::kNone;
  path.steps = arena.copy(std::span<const PathStep>(steps));
  return path;
}

}  // namespace tutti::cdl
