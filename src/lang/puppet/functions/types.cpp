// Functions on types: type, assert_type, new.
#include <fmt/format.h>

#include "lang/puppet/eval/compiler.h"
#include "lang/puppet/functions/function.h"
#include "lang/puppet/types/type_parse.h"

namespace tutti::puppet {
namespace {

Val f_type(const FunctionCall& c) {
  Infer how = Infer::kExact;
  if (c.args.size() > 1) {
    std::string_view s = c.text(1);
    if (s == "reduced")
      how = Infer::kReduced;
    else if (s == "generalized")
      how = Infer::kGeneralized;
  }
  return Val::type(infer(c.arena(), c.arg(0), how));
}

Val f_assert_type(const FunctionCall& c) {
  const Type* t = nullptr;
  if (c.arg(0).is(VK::kString)) {
    try {
      t = type_of_text(c.arena(), c.text(0), [&](std::string_view n) { return c.compiler.find_type_name(n, c.at); });
    } catch (const TypeError& e) {
      c.fail(e.what());
    }
  } else {
    t = c.arg(0).t;
  }
  if (is_instance(t, c.arg(1))) return c.arg(1);
  if (c.block) return c.yield(Val::type(t), Val::type(infer(c.arena(), c.arg(1), Infer::kReduced)));
  auto wrong = describe_mismatch("assert_type():", t, c.arg(1));
  std::string all;
  for (const std::string& w : wrong) all += (all.empty() ? "" : "\n  ") + w;
  c.compiler.fail(c.at, all, "PP-TYPE-MISMATCH");
}

Val f_new(const FunctionCall& c) {
  Val made = c.compiler.construct(c.arg(0).t, c.args.subspan(1), c.at);
  return c.block ? c.yield(made) : made;
}

}  // namespace

void add_type_functions(Functions& f) {
  f.add("type", {{"Any, Enum[detailed, reduced, generalized]?", f_type}});
  f.add("assert_type",
        {{"Type, Any, &?Callable[2, 2]", f_assert_type}, {"String, Any, &?Callable[2, 2]", f_assert_type}});
  f.add("new", {{"Type, Any*, &?Callable", f_new}});
}

}  // namespace tutti::puppet
