#pragma once

#include <string>
#include <string_view>

#include "lang/cue/builtin/go_value.h"
#include "lang/cue/builtin/template_tree.h"

namespace tutti::cue {

// What a template makes of the data. Throws TemplateError.
std::string run_template(Context& context, std::string_view source, const TemplateTrees& trees, const GoValue& data);

}  // namespace tutti::cue
