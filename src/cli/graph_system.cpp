#include "cli/graph_system.h"

#include "cli/system_input.h"
#include "engine/report/drawing.h"
#include "engine/report/summary.h"

namespace tutti {

bool draws_system(std::string_view type) {
  return type == "assembly" || type == "nets" || type == "dependencies" || type == "summary";
}

int graph_system(Call& call, std::string_view type, std::string_view output) {
  auto in = read_system_input(call, call.arguments);
  if (!in) return exit_code::kError;
  if (type == "summary") {
    for (const auto& t : in->system.types) call.out.put(engine::summary_text(*t));
    return exit_code::kOk;
  }
  if (output != "dot" && output != "svg") {
    call.session.diagnostics.error("USE", {}, "a system is drawn as dot or svg");
    return exit_code::kError;
  }
  engine::Drawing drawing = type == "assembly" ? engine::draw_assembly(in->system)
                            : type == "nets"   ? engine::draw_nets(in->system)
                                               : engine::draw_dependencies(engine::Graph(in->system));
  call.out.put(output == "svg" ? engine::to_svg(drawing) : engine::to_dot(drawing));
  return exit_code::kOk;
}

}  // namespace tutti
