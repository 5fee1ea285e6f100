// text/template: Go's templates over CUE values.
#include "lang/cue/builtin/support.h"
#include "lang/cue/builtin/template_functions.h"
#include "lang/cue/builtin/template_lexer.h"
#include "lang/cue/builtin/template_run.h"
#include "lang/cue/eval/context.h"

namespace tutti::cue {

namespace {

// The first value in it that is not decided; nullptr when all are. A field that is required and not there is not.
Node* undecided(Context& ctx, Node* n) {
  Level level(ctx);
  n = ctx.default_of(n);
  if (n->type == NodeType::kVertex) {
    Vertex* v = to<Vertex>(n)->deref_value();
    for (Vertex* a : v->arcs)
      if (a->label.is_regular() && (a->arc_type == ArcType::kMember || a->arc_type == ArcType::kRequired))
        if (Node* x = undecided(ctx, a)) return x;
    n = v->value();
  }
  return n && n->type != NodeType::kBottom && ctx.concreteness(n) > 1 ? n : nullptr;
}

Node* execute(CallContext& c) {
  std::string_view source = c.string(0);
  if (c.failed()) return nullptr;
  try {
    TemplateTrees trees = parse_template(c.context, source);
    if (c.args[1]->type == NodeType::kVertex) c.context.finalize(to<Vertex>(c.args[1]));
    if (const Node* n = undecided(c.context, c.args[1])) {
      c.context.add_errf(Code::kIncomplete, c.context.src, "error in call to {}: cannot convert non-concrete value {}",
                         std::string_view(c.builtin->qualified()), n);
      return nullptr;
    }
    return c.make_string(run_template(c.context, source, trees, go_value(c, c.args[1])));
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
