// text/template: Go's templates over CUE values.
#include <optional>

#include "lang/cue/builtin/support.h"
#include "lang/cue/builtin/template_functions.h"
#include "lang/cue/builtin/template_lexer.h"
#include "lang/cue/builtin/template_run.h"
#include "lang/cue/eval/context.h"

namespace tutti::cue {

namespace {

// The first part of it that is wrong or not decided; nullptr when all is. A field that is required and not there is not
// decided.
Node* undecided(Context& ctx, Node* n) {
  Level level(ctx);
  Node* d = ctx.default_of(n);
  if (d->type == NodeType::kVertex) {
    Vertex* v = to<Vertex>(d)->deref_value();
    for (Vertex* a : v->arcs)
      if (a->label.is_regular() && (a->arc_type == ArcType::kMember || a->arc_type == ArcType::kRequired))
        if (Node* x = undecided(ctx, a)) return x;
    d = v->value();
  }
  if (!d) return nullptr;
  if (d->type == NodeType::kBottom) return to<Bottom>(d)->incomplete() ? n : d;
  return ctx.concreteness(d) > 1 ? n : nullptr;
}

Node* execute(CallContext& c) {
  std::string_view source = c.string(0);
  if (c.failed()) return nullptr;
  std::optional<TemplateTrees> trees;
  try {
    trees = parse_template(c.context, source);
  } catch (const TemplateError& e) {
    return c.wrong_for_good(e.what);
  }
  try {
    if (c.args[1]->type == NodeType::kVertex) c.context.finalize(to<Vertex>(c.args[1]));
    if (Node* n = undecided(c.context, c.args[1])) {
      if (n->type == NodeType::kBottom)
        c.report(to<Bottom>(n));
      else if (n == c.args[1])
        c.context.add_errf(Code::kIncomplete, c.context.src, "error in call to {}: non-concrete argument 1",
                           std::string_view(c.builtin->qualified()));
      else
        c.context.add_errf(Code::kIncomplete, c.context.src,
                           "error in call to {}: cannot convert non-concrete value {}",
                           std::string_view(c.builtin->qualified()), static_cast<const Node*>(n));
      return nullptr;
    }
    return c.make_string(run_template(c.context, source, *trees, go_value(c, c.args[1])));
  } catch (const TemplateError& e) {
    return c.error(e.what);
  }
}

const BuiltinSpec kFunctions[] = {
    {"Execute", {kStringKind, kTopKind}, kStringKind, execute},
    {"HTMLEscape",
     {kStringKind},
     kStringKind,
     [](CallContext& c) -> Node* { return c.make_string(template_html_escape(c.string(0))); }},
    {"JSEscape",
     {kStringKind},
     kStringKind,
     [](CallContext& c) -> Node* { return c.make_string(template_js_escape(c.string(0))); }},
};

}  // namespace

void add_template() { add_package("text/template", kFunctions); }

}  // namespace tutti::cue
