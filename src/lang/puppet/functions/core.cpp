// Logging, failing, and what a function may ask of its surroundings.
#include <fmt/format.h>

#include "lang/puppet/eval/compiler.h"
#include "lang/puppet/functions/function.h"

namespace tutti::puppet {
namespace {

Val log_at(const FunctionCall& c, std::string_view level) {
  std::string text;
  for (const Val& v : c.args) {
    if (!text.empty() || &v != c.args.data()) text += ' ';
    append_text(text, v);
  }
  c.compiler.log(level, text, c.scope, c.at);
  return Val::undef();
}
Val f_debug(const FunctionCall& c) { return log_at(c, "debug"); }
Val f_info(const FunctionCall& c) { return log_at(c, "info"); }
Val f_notice(const FunctionCall& c) { return log_at(c, "notice"); }
Val f_warning(const FunctionCall& c) { return log_at(c, "warning"); }
Val f_err(const FunctionCall& c) { return log_at(c, "err"); }
Val f_alert(const FunctionCall& c) { return log_at(c, "alert"); }
Val f_crit(const FunctionCall& c) { return log_at(c, "crit"); }
Val f_emerg(const FunctionCall& c) { return log_at(c, "emerg"); }

Val f_fail(const FunctionCall& c) {
  std::string text;
  for (const Val& v : c.args) {
    if (&v != c.args.data()) text += ' ';
    append_text(text, v);
  }
  c.compiler.fail(c.at, text, "PP-FAIL");
}

Val f_call(const FunctionCall& c) {
  return c.compiler.call_function(Symbol(c.text(0)), c.args.subspan(1), c.block, c.scope, c.at);
}

}  // namespace

void add_core_functions(Functions& f) {
  f.keeping_nothing(true);
  f.add("debug", {{"Any*", f_debug}});
  f.add("info", {{"Any*", f_info}});
  f.add("notice", {{"Any*", f_notice}});
  f.add("warning", {{"Any*", f_warning}});
  f.add("err", {{"Any*", f_err}});
  f.add("alert", {{"Any*", f_alert}});
  f.add("crit", {{"Any*", f_crit}});
  f.add("emerg", {{"Any*", f_emerg}});
  f.add3x("fail", f_fail);
  f.keeping_nothing(false);
  f.add("call", {{"String, Any*, &?Callable", f_call}});
}

}  // namespace tutti::puppet
