#include "cli/other_words.h"

#include <algorithm>
#include <iterator>

namespace tutti {
namespace {

struct Word {
  std::string_view theirs, ours;
};

constexpr Word kVerbs[] = {
    {"validate", "vet"},     {"check", "vet"},        {"lint", "vet"},        {"test", "vet"},
    {"deploy", "apply"},     {"up", "apply"},         {"converge", "apply"},  {"install", "apply"},
    {"preview", "plan"},     {"dry-run", "plan"},     {"whatif", "plan"},     {"convert", "export"},
    {"render", "export"},    {"build", "export"},     {"template", "export"}, {"json", "export"},
    {"yaml", "export"},      {"format", "fmt"},       {"print", "eval"},      {"cat", "eval"},
    {"explain", "why"},      {"blame", "why"},        {"trace", "why"},       {"origin", "why"},
    {"compare", "diff"},     {"delete", "destroy"},   {"down", "destroy"},    {"remove", "destroy"},
    {"undeploy", "destroy"}, {"undo", "rollback"},    {"back", "rollback"},   {"revert", "rollback"},
    {"refresh", "drift"},    {"inventory", "status"}, {"state", "status"},    {"list", "status"},
    {"ls", "status"},        {"ps", "status"},        {"get", "show"},        {"describe", "show"},
    {"log", "history"},      {"logs", "history"},     {"runs", "history"},    {"continue", "resume"},
    {"recover", "resume"},   {"unlock", "resume"},    {"draw", "graph"},      {"dot", "graph"},
    {"prove", "verify"},     {"facter", "facts"},     {"setup", "facts"},     {"allow", "trust"},
};

constexpr Word kOptions[] = {
    {"format", "out"},
    {"to", "out"},
    {"type", "out"},
    {"target", "only"},
    {"limit-hosts", "only"},
    {"file", "output"},
    {"language", "lang"},
    {"from", "lang"},
    {"auto-approve", "yes"},
    {"force", "yes"},
    {"check", "dry-run"},
    {"noop", "dry-run"},
    {"preview", "dry-run"},
    {"forks", "parallel"},
    {"parallelism", "parallel"},
    {"jobs", "parallel"},
    {"colour", "color"},
    {"timeout", "lock-timeout"},
    {"show-secrets", "reveal"},
    {"detailed-exitcodes", "detailed-exitcode"},
};

std::string_view ours(const Word* first, const Word* last, std::string_view theirs) {
  const Word* found = std::find_if(first, last, [&](const Word& w) { return w.theirs == theirs; });
  return found == last ? std::string_view() : found->ours;
}

}  // namespace

std::string_view our_verb(std::string_view word) { return ours(std::begin(kVerbs), std::end(kVerbs), word); }

std::string_view our_option(std::string_view name) { return ours(std::begin(kOptions), std::end(kOptions), name); }

}  // namespace tutti
