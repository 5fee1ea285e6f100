// K-CUE's door to the command line: --reference, `step` and `agree`.
#include "lang/cue/language.h"

#include "lang/cue/load/instance.h"
#include "lang/cue/reference/from_syntax.h"

namespace tutti::cue {

std::optional<Value> Cue::by_rules(Session& session, const Request& request, Steps* steps) const {
  if (!request.options.all("tag").empty()) {
    session.diagnostics.error("REF-OUTSIDE", {}, "K-CUE has no tags").suggest("leave out --tag");
    return std::nullopt;
  }
  Instance instance(session);
  LoadOptions load;
  load.files = request.files;
  if (!instance.load(load)) {
    report(session, instance.errors());
    return std::nullopt;
  }
  kcue::TermPtr program = kcue::from_syntax(session, instance.files());
  if (!program) return std::nullopt;
  kcue::Outcome out = kcue::run(program, 200, 200'000, steps);
  if (out.end == kcue::End::kEndless) {
    session.diagnostics.error("REF-ENDLESS", {}, "the rules go on for ever: fields within fields without end");
    return std::nullopt;
  }
  if (out.end == kcue::End::kUnknown) {
    session.diagnostics
        .error("REF-UNDECIDED", {}, fmt::format("the rules came to no fix point in {} passes", out.steps))
        .suggest("leave out --reference: the evaluator does not write terms out");
    return std::nullopt;
  }
  std::optional<Value> value = kcue::to_tree(session, out.value);
  return value;
}

}  // namespace tutti::cue
