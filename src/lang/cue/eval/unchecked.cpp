#include "lang/cue/eval/unchecked.h"

#include <fmt/format.h>

#include <algorithm>

namespace tutti::cue {

std::vector<std::string> only_definitions(const Vertex& schema) {
  std::vector<std::string> names;
  for (const KeptConjunct& c : schema.conjuncts) {
    const Node* written = expression_of(c.x);
    if (written->type != NodeType::kStruct) return {};
    for (const Node* part : to<StructLit>(written)->decls) {
      if (part->type == NodeType::kLetField) continue;
      if (part->type != NodeType::kField) return {};
      Label label = to<Field>(part)->label;
      if (label.is_hidden() && !label.is_def()) continue;
      if (!label.is_def()) return {};
      if (std::string name = label.text(); std::ranges::find(names, name) == names.end()) names.push_back(name);
    }
  }
  return names;
}

std::string unchecked_note(const Vertex& schema) {
  std::vector<std::string> names = only_definitions(schema);
  if (names.empty()) return {};
  constexpr std::size_t kShown = 5;
  std::string listed;
  for (std::size_t i = 0; i < std::min(names.size(), kShown); ++i) listed += (i ? ", " : "") + names[i];
  if (names.size() > kShown) listed += fmt::format(" and {} more", names.size() - kShown);
  return fmt::format(
      "nothing was checked: the schema has definitions only ({}), and nothing says which of them the data must be; "
      "name it with -d '{}'",
      listed, names[0]);
}

}  // namespace tutti::cue
