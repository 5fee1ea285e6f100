#pragma once

#include <span>
#include <string>
#include <string_view>

#include "lang/cue/builtin/go_value.h"

namespace tutti::cue {

// A function that templates can call.
struct TemplateFunction {
  std::string_view name;
  std::size_t least;                                    // arguments
  bool more;                                            // any number may follow
  enum Takes : u8 { kBoxed, kUnboxed, kFormat } takes;  // kFormat: a string first
  GoValue (*run)(std::span<const GoValue> args);        // nullptr for those the run itself knows; throws TemplateError
};

const TemplateFunction* find_template_function(std::string_view name);

std::string template_html_escape(std::string_view s);
std::string template_js_escape(std::string_view s);

}  // namespace tutti::cue
